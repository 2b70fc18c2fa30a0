"""Notices that come and go with loads, questions about links, and what waits for what."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget

from gui.clocks import let_pass
from gui.fake_client import STATS, FakeClient
from paceline.chat.pair import Pair
from paceline.gui.chat.messages.reply_view import ReplyView
from paceline.gui.kit.labels import without_soft_breaks
from paceline.gui.kit.layouts import column_of
from paceline.gui.kit.notices import Action, ErrorBar, Notice
from paceline.messages import (
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


@pytest.mark.qt_log_ignore("This plugin does not support")
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


# ------------------------------------------------------------------------------- the bar by itself


LARGE = Pair(ModelParams("/models/large.gguf"))
