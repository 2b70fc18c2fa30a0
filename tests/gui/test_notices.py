"""Notices that come and go with loads, questions about links, and what waits for what."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QToolButton, QWidget

from gui.clocks import let_pass
from gui.fake_client import STATS, FakeClient
from paceline.chat.pair import Pair
from paceline.gui.chat.messages.reply_view import ReplyView
from paceline.gui.kit.labels import without_soft_breaks
from paceline.gui.kit.layouts import column_of
from paceline.gui.kit.notices import Action, ErrorBar, Notice
from paceline.messages import (
    LoadProgressed,
    StartTurn,
    Tune,
    TurnFinished,
)
from paceline.params import ModelParams, Strategy

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from paceline.gui.program import Program
    from paceline.messages import FinishReason


def test_a_reply_that_waits_for_another_target_takes_a_strategy_that_fits(
    program: Program, client: FakeClient
) -> None:
    program.models.load_models(LARGE)
    program.chat.send("Hello?")
    client.finish_load()  # without the demo pair's draft model
    wanted = Strategy.of(program.speculation.usual("lookup"))
    assert client.last(StartTurn).strategy == wanted
    assert program.speculation.group == "lookup"
    reply = program.session.active
    assert reply is not None
    assert reply.strategy == wanted
    let_pass(program.panel)
    assert client.all(Tune) == []


def test_models_that_are_opened_during_a_reply_wait_for_it(
    program: Program, client: FakeClient
) -> None:
    pill = program.window.model_bar.pill
    program.chat.send("Hello?")
    client.start_turn()
    program.models.load_models(LARGE)
    waiting = pill.text()
    client.finish_turn("Hi")
    assert pill.text() != waiting
    client.finish_load()
    program.chat.send("Hello?")
    client.start_turn()
    program.models.load_demo_pair()
    assert pill.text() == waiting
    client.emit(LoadProgressed("target", 0.1))
    assert "10 %" in pill.text(), "a load that has begun waits for nothing"


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


def test_a_reply_that_is_stopped_while_it_waits_says_so(program: Program) -> None:
    program.models.reload()
    program.chat.send("Hello?")
    waiting = last_reply(program).status_text
    program.session.stop()
    assert last_reply(program).status_text not in ("", waiting)


@pytest.mark.parametrize(
    ("reason", "words"),
    [("length", "1,024"), ("context", "."), ("cancelled", "."), ("eog", ""), ("stop", "")],
)
def test_a_reply_that_was_cut_says_why_below_its_text(
    program: Program, client: FakeClient, reason: FinishReason, words: str
) -> None:
    program.chat.send("Hello?")
    client.start_turn()
    client.step("A", 0)
    client.emit(TurnFinished(reason, "A", (1,), 7, Strategy.of("off"), STATS))
    view = last_reply(program)
    note = view.note.text() if view.note is not None else ""
    assert words in note
    assert bool(words) == bool(note)


def last_reply(program: Program) -> ReplyView:
    """Return the last reply of the shown path, with everything that came so far."""
    path = program.shown.conversation.path()
    view = program.window.chat_pane.chat.reply_view(path[-1].message_id)
    assert view is not None
    view.flush()
    return view


def act(view: ReplyView, name: str) -> None:
    """Press the button of this name below a reply."""
    (button,) = (b for b in view.findChildren(QToolButton) if b.accessibleName() == name)
    button.click()


def test_a_reply_continues_by_button_menu_and_key(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    go_on = program.window.actions_.continue_reply
    assert not go_on.isEnabled()
    program.chat.send("Hello?")
    client.reply("One")
    assert go_on.isEnabled()
    qtbot.keyClick(program.window, Qt.Key.Key_G, Qt.KeyboardModifier.ControlModifier)
    assert client.last(StartTurn).begun_text == "One"
    assert last_reply(program).text == "One", "what is there is shown at once"
    assert not go_on.isEnabled()
    client.start_turn()
    client.step(" two", 0)
    client.finish_turn("One two")
    qtbot.waitUntil(lambda: last_reply(program).text == "One two")
    act(last_reply(program), "Let the model write on from where this reply ends")
    assert client.last(StartTurn).begun_text == "One two"


def test_a_message_is_deleted_and_brought_back(program: Program, client: FakeClient) -> None:
    program.chat.send("Hello?")
    client.reply("One")
    chat, errors = program.window.chat_pane.chat, program.window.chat_pane.errors
    question = program.shown.conversation.path()[0].message_id
    chat.delete_requested.emit(question)
    assert program.shown.conversation.path() == ()
    assert "2" in errors.text.text(), "so many messages"
    errors.action.click()
    assert [m.text for m in program.shown.conversation.path()] == ["Hello?", "One"]
    chat.delete_requested.emit(question)
    program.shown.new(private=True)
    assert errors.isHidden(), "it goes with the chat"


def test_a_reply_is_edited_where_it_stands(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    program.chat.send("Hello?")
    client.reply("One")
    view = last_reply(program)
    act(view, "Change the text of this reply")
    assert view.unsaved == "One"
    assert view.editor is not None
    qtbot.keyClick(view.editor.field, Qt.Key.Key_Escape)
    assert view.unsaved is None
    assert not view.parts.isHidden()
    act(view, "Change the text of this reply")
    assert view.editor is not None
    view.editor.field.setPlainText("Two")
    qtbot.keyClick(view.editor.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert program.shown.conversation.path()[-1].text == "Two"
    shown = last_reply(program)
    assert (shown.text, shown.note is not None) == ("Two", True), "a note says that it was edited"


# ------------------------------------------------------------------------------- the bar by itself


@pytest.fixture
def bar(qtbot: QtBot) -> Iterator[ErrorBar]:
    window, made = QWidget(), ErrorBar()
    column_of(made, None, on=window)
    qtbot.addWidget(window)
    window.resize(600, 400)
    window.show()
    yield made
    window.close()


NEWS = Notice("info", "Imported “A chat”.")


def test_good_news_leaves_by_itself_and_what_asks_for_something_stays(bar: ErrorBar) -> None:
    bar.show_notice(NEWS)
    assert bar.isVisible()
    assert let_pass(bar) == 1
    assert bar.isHidden()
    bar.show_notice(Notice("info", "It is downloaded.", action=Action("Load pair", str)))
    bar.show_notice(Notice("warning", "Something is odd."))
    assert let_pass(bar) == 0
    bar.show_notice(Notice("error", "It failed.", "Try again."))
    bar.show_notice(NEWS)
    assert "It failed." in bar.text.text(), "an error stays until it is dismissed"
    bar.close_button.click()
    bar.show_notice(NEWS)
    assert bar.isVisible()
    assert bar.text.text() == NEWS.message


def test_a_notice_is_one_line_that_unfolds(bar: ErrorBar, qtbot: QtBot) -> None:
    bar.show_notice(Notice("warning", "It is so.", "Do this."))
    assert bar.more.isHidden()
    assert bar.text.isVisible()
    one_line = bar.height()
    long = "It is so, and there is much that could be said about it. " * 4
    bar.show_notice(Notice("warning", long, "Do this.", Action("Do it", list)))
    qtbot.waitUntil(lambda: bar.height() == one_line)
    assert not bar.text.isVisible()
    assert bar.accessibleName().endswith("Do this."), "all of it is read aloud"
    bar.more.click()
    assert bar.text.isVisible()
    qtbot.waitUntil(lambda: bar.height() > one_line)
    bar.show_notice(Notice("error", long))
    assert not bar.text.isVisible(), "another notice is folded again"


LARGE = Pair(ModelParams("/models/large.gguf"))
