"""Notices that come and go with loads, questions about links, and what waits for what."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QPaintEvent, QRegion, QShowEvent
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from gui.fake_client import STATS, FakeClient
from paceline.gui.chat.messages.message_actions import Act
from paceline.gui.chat.messages.reply_view import ReplyView
from paceline.gui.kit.labels import without_soft_breaks
from paceline.gui.kit.layouts import column_of
from paceline.gui.kit.notices import Action, ErrorBar, Notice
from paceline.gui.panel import TUNE_AFTER_MS
from paceline.messages import (
    LoadFailed,
    LoadPair,
    LoadProgressed,
    StartTurn,
    Tune,
    TurnFinished,
)
from paceline.params import Strategy

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from paceline.gui.program import Program
    from paceline.messages import FinishReason


@pytest.fixture
def gguf(tmp_path: Path) -> str:
    path = tmp_path / "large.gguf"
    path.write_bytes(b"GGUF" + bytes(200))
    return str(path)


def open_target(program: Program, client: FakeClient, path: str, qtbot: QtBot) -> None:
    n_loads = len(client.all(LoadPair))
    program.models.open_target(path)
    qtbot.waitUntil(lambda: len(client.all(LoadPair)) > n_loads)


def test_a_reply_that_waits_for_another_target_takes_a_strategy_that_fits(
    program: Program, client: FakeClient, gguf: str, qtbot: QtBot
) -> None:
    open_target(program, client, gguf, qtbot)
    program.chat.send("Hello?")
    client.finish_load()  # without the demo pair's draft model
    assert client.last(StartTurn).strategy == Strategy.of(program.speculation.usual("lookup"))
    assert program.speculation.group == "lookup"
    reply = program.session.active
    assert reply is not None
    assert reply.strategy == Strategy.of(program.speculation.usual("lookup"))
    qtbot.wait(TUNE_AFTER_MS + 60)
    assert client.all(Tune) == []


def test_a_notice_about_a_file_goes_when_another_is_loaded(
    program: Program, client: FakeClient, gguf: str, tmp_path: Path, qtbot: QtBot
) -> None:
    errors = program.window.chat_pane.errors
    program.models.open_target(str(tmp_path / "missing.gguf"))
    qtbot.waitUntil(lambda: not errors.isHidden())
    open_target(program, client, gguf, qtbot)
    assert errors.isHidden()


def test_a_notice_about_a_load_outlives_the_fallback_but_not_the_next_load(
    program: Program, client: FakeClient, gguf: str, qtbot: QtBot
) -> None:
    errors = program.window.chat_pane.errors
    open_target(program, client, gguf, qtbot)
    client.emit(LoadFailed("broken", "Broken.", ""))
    client.finish_load()
    assert "Broken." in errors.text.text()
    assert not errors.isHidden()
    program.window.actions_.demo_pair.trigger()
    assert errors.isHidden()


def test_other_errors_outlive_a_load(program: Program) -> None:
    program.notices.error("It failed.")
    program.window.actions_.demo_pair.trigger()
    assert not program.window.chat_pane.errors.isHidden()


def test_models_that_are_opened_during_a_reply_wait_for_it(
    program: Program, client: FakeClient, gguf: str, qtbot: QtBot
) -> None:
    program.chat.send("Hello?")
    client.start_turn()
    open_target(program, client, gguf, qtbot)
    pill = program.window.model_bar.pill
    assert pill.text() == "waits for the reply"
    client.finish_turn("Hi")
    assert "loading" in pill.text()


def test_a_load_that_has_begun_waits_for_nothing(
    program: Program, client: FakeClient, gguf: str, qtbot: QtBot
) -> None:
    program.chat.send("Hello?")
    client.start_turn()
    open_target(program, client, gguf, qtbot)
    client.emit(LoadProgressed("target", 0.1))
    assert "10 %" in program.window.model_bar.pill.text()


def test_a_link_is_opened_only_after_a_question(
    program: Program, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[QUrl] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", opened.append)
    chat, errors = program.window.chat_pane.chat, program.window.chat_pane.errors
    for address in ("mailto:a@example.org", "file:///etc/passwd", "javascript:1"):
        chat.requests.link_activated.emit(address)
        assert errors.isHidden()
    program.notices.error("It failed.")
    chat.requests.link_activated.emit("https://example.org/a?b=c")
    assert without_soft_breaks(errors.text.text()) == "Open https://example.org/a?b=c?"
    assert opened == []
    qtbot.mouseClick(errors.action, Qt.MouseButton.LeftButton)
    assert opened == [QUrl("https://example.org/a?b=c")]
    assert errors.isHidden()


def test_a_reply_that_is_stopped_while_it_waits_says_so(
    program: Program, client: FakeClient
) -> None:
    program.window.actions_.reload.trigger()
    program.chat.send("Hello?")
    program.session.stop()
    view = program.window.chat_pane.chat.findChild(ReplyView)
    assert view is not None
    view.flush()
    assert view.status_text == "Stopped."


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("length", "Cut off at the limit of 1,024 tokens."),
        ("context", "Cut off: the context is full."),
        ("cancelled", "Stopped before its end."),
        ("eog", ""),
        ("stop", ""),
    ],
)
def test_a_reply_that_was_cut_says_why_below_its_text(
    program: Program, client: FakeClient, reason: FinishReason, words: str
) -> None:
    client.finish_load()
    program.chat.send("Hello?")
    client.start_turn()
    client.step("A", 0)
    client.emit(TurnFinished(reason, "A", (1,), 7, Strategy.of("off"), STATS))
    view = program.window.chat_pane.chat.findChild(ReplyView)
    assert view is not None
    view.flush()
    assert (view.note.text() if view.note is not None else "") == words


def test_a_reply_goes_on_by_button_menu_and_key(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    client.finish_load()
    go_on = program.window.actions_.continue_reply
    chat = program.window.chat_pane.chat
    assert not go_on.isEnabled()
    program.chat.send("Hello?")
    client.reply("One")
    assert go_on.isEnabled()
    qtbot.keyClick(program.window, Qt.Key.Key_G, Qt.KeyboardModifier.ControlModifier)
    assert client.last(StartTurn).begun_text == "One"
    view = chat.findChildren(ReplyView)[-1]
    view.flush()
    assert view.text == "One", "what is there is shown at once"
    assert not go_on.isEnabled()
    client.start_turn()
    client.step(" two", 0)
    client.finish_turn("One two")
    last = program.shown.conversation.path()[-1]
    assert last.text == "One two"
    shown = chat.reply_view(last.message_id)
    assert shown is not None
    shown._need_actions()._actions[Act.CONTINUE].trigger()
    assert client.last(StartTurn).begun_text == "One two"


def test_a_message_is_deleted_and_brought_back(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    client.finish_load()
    program.chat.send("Hello?")
    client.reply("One")
    chat, errors = program.window.chat_pane.chat, program.window.chat_pane.errors
    question = program.shown.conversation.path()[0].message_id
    chat.delete_requested.emit(question)
    assert program.shown.conversation.path() == ()
    assert "2 messages were deleted" in without_soft_breaks(errors.text.text())
    qtbot.mouseClick(errors.action, Qt.MouseButton.LeftButton)
    assert [m.text for m in program.shown.conversation.path()] == ["Hello?", "One"]
    chat.delete_requested.emit(question)
    program.shown.new(private=True)
    assert errors.isHidden(), "it goes with the chat"


def test_a_reply_is_edited_where_it_stands(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    client.finish_load()
    program.chat.send("Hello?")
    client.reply("One")
    chat = program.window.chat_pane.chat
    view = chat.reply_view(program.shown.conversation.path()[-1].message_id)
    assert view is not None
    view.flush()
    view._on_acted(Act.EDIT)
    assert view.unsaved == "One"
    view._on_cancelled()
    assert view.unsaved is None
    assert not view.parts.isHidden()
    view._on_acted(Act.EDIT)
    assert view.editor is not None
    view.editor.field.setPlainText("Two")
    qtbot.keyClick(view.editor.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    last = program.shown.conversation.path()[-1]
    assert last.text == "Two"
    shown = chat.reply_view(last.message_id)
    assert shown is not None
    shown.flush()
    assert shown.note is not None
    assert (shown.text, shown.note.text()) == ("Two", "Edited by you.")


def test_the_welcome_promises_nothing_that_the_strategy_does_not_do(program: Program) -> None:
    labels = program.window.chat_pane.chat.findChildren(QLabel)
    texts = [label.text() for label in labels if label.isVisible()]
    assert "What shall we write?" in texts
    assert not any("draft" in text or "fewer steps" in text for text in texts)


def test_good_news_leaves_by_itself_and_what_asks_for_something_stays(
    program: Program, qtbot: QtBot
) -> None:
    bar = program.window.chat_pane.errors
    bar._leave.setInterval(30)
    program.notices.inform("Imported “A chat”.")
    assert bar.isVisible()
    qtbot.waitUntil(bar.isHidden)
    program.notices.inform("The pair is downloaded.", action=Action("Load pair", str))
    program.notices.warn("Something is odd.")
    qtbot.wait(100)
    assert bar.isVisible()


def test_an_error_gives_way_to_news_once_it_was_dismissed(program: Program) -> None:
    bar = program.window.chat_pane.errors
    program.notices.error("It failed.", "Try again.")
    program.notices.inform("Imported “A chat”.")
    assert "It failed." in bar.text.text()
    bar.close_button.click()
    program.notices.inform("Imported “A chat”.")
    assert bar.isVisible()
    assert bar.text.text() == "Imported “A chat”."


def test_what_lies_around_a_notice_is_painted_with_it(program: Program, qtbot: QtBot) -> None:
    """X11 shows it before it is laid out, as wide as the window, and messages scroll with it."""
    pane = program.window.chat_pane
    painted = QRegion()

    class Painted(QObject):
        def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
            nonlocal painted
            if isinstance(event, QPaintEvent) and isinstance(watched, QWidget):
                painted += event.region().translated(watched.mapTo(pane, QPoint()))
            return False

    watch, bar = Painted(), pane.errors
    program.notices.inform("Something was done.", action=Action("Undo", str))
    qtbot.wait(50)
    for widget in (pane, *pane.findChildren(QWidget)):
        widget.installEventFilter(watch)
    QApplication.sendEvent(bar, QShowEvent())
    qtbot.wait(50)
    assert QRegion(pane.chat.geometry()).subtracted(painted).isEmpty()


# ------------------------------------------------------------------------------- the bar by itself


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_a_notice_is_one_line_that_unfolds(qtbot: QtBot) -> None:
    window, bar = QWidget(), ErrorBar()
    column_of(bar, None, on=window)
    qtbot.addWidget(window)
    window.resize(600, 400)
    window.show()
    bar.show_notice(Notice("warning", "It is so.", "Do this."))
    assert bar.more.isHidden()
    assert bar.text.isVisible()
    one_line = bar.height()
    long = "It is so, and there is much that could be said about it. " * 4
    bar.show_notice(Notice("warning", long, "Do this.", Action("Do it", list)))
    qtbot.waitUntil(lambda: bar.height() == one_line)
    assert not bar.text.isVisible()
    assert bar.accessibleName().endswith("Do this."), "all of it is read aloud"
    qtbot.mouseClick(bar.more, Qt.MouseButton.LeftButton)
    assert bar.text.isVisible()
    qtbot.waitUntil(lambda: bar.height() > one_line)
    bar.show_notice(Notice("error", long))
    assert not bar.text.isVisible(), "another notice is folded again"
    window.resize(3000, 400)
    qtbot.waitUntil(bar.more.isHidden)
    assert bar.text.isVisible()
    one, other = Action("Load without 192.168.1.5:50052", list), Action("Start it again", list)
    bar.show_notice(Notice("error", long, action=one, other=other))
    assert bar.other.isVisible()
    window.resize(420, 400)
    qtbot.waitUntil(bar.other.isHidden)
    assert bar.action.isVisible(), "and some words stay before it"
    window.resize(900, 400)
    qtbot.waitUntil(bar.other.isVisible)
