"""Responsiveness of the window: long replies come in pieces, and a refresh is painted once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtGui import QTextDocument

from gui.chat_help import begin_reply, committed, settle, shown_chat, token
from paceline.gui.chat.markdown.document import MarkdownDocument
from paceline.gui.chat.messages.message_item import ShownMessage
from paceline.gui.chat.messages.reply_view import PIECE_CHARS, ReplyView
from paceline.gui.state.live import TICKS_PER_REFRESH, LiveFigures
from paceline.gui.state.sources import Sources

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot

    from paceline.gui.chat.view import ChatView
    from paceline.gui.program import Program

PARAGRAPH = "Some **bold** words and `code` in a paragraph that has a number: {}.\n\n"
LONG = "".join(PARAGRAPH.format(number) for number in range(600)) + "The end."


@pytest.fixture
def chat(qtbot: QtBot) -> Iterator[ChatView]:
    yield from shown_chat(qtbot)


def test_a_long_reply_is_opened_in_pieces(chat: ChatView, qtbot: QtBot) -> None:
    question = ShownMessage("question", "user", "Tell me everything.")
    chat.show_path([question, ShownMessage("reply", "assistant", LONG)])
    reply = chat.reply_view("reply")
    assert reply is not None
    lengths = [len(reply.body.toPlainText())]
    assert 0 < lengths[0] <= PIECE_CHARS
    assert reply.is_partly_shown
    qtbot.waitUntil(lambda: not reply.is_partly_shown, timeout=20_000)
    assert reply.body.toPlainText().endswith("The end.")
    at_once = begin_reply(chat, "other")
    at_once.finish(LONG)
    at_once.flush()
    assert reply.body.toPlainText() == at_once.body.toPlainText()
    assert reply.body.content.marks == at_once.body.content.marks


def test_what_needs_the_whole_text_gets_it(chat: ChatView) -> None:
    chat.show_path([ShownMessage("reply", "assistant", LONG)])
    reply = chat.reply_view("reply")
    assert reply is not None
    assert reply.is_partly_shown
    assert reply.plain_text.endswith("The end.")
    assert not reply.is_partly_shown


def test_a_reply_that_ended_otherwise_is_shown_anew(chat: ChatView, qtbot: QtBot) -> None:
    reply = begin_reply(chat)
    reply.append(committed("Something else. " * 40))
    reply.flush()
    reply.finish(LONG)
    assert not reply.is_partly_shown, "nothing of this text is shown yet"
    reply.flush_piece()
    assert reply.is_partly_shown
    assert reply.body.toPlainText().startswith("Some bold words")
    qtbot.waitUntil(lambda: not reply.is_partly_shown, timeout=20_000)
    assert reply.body.toPlainText().endswith("The end.")


def test_leaving_a_chat_ends_its_pieces(chat: ChatView, qtbot: QtBot) -> None:
    chat.show_path([ShownMessage("reply", "assistant", LONG)])
    chat.show_path([ShownMessage("other", "assistant", "Short.")])
    settle(qtbot)
    other = chat.reply_view("other")
    assert isinstance(other, ReplyView)
    assert other.plain_text == "Short."
    assert chat.reply_view("reply") is None


@pytest.mark.grid(short=2)
@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize("unit", [PARAGRAPH, "a line of code {}\n", "- item {} and more words\n"])
def test_beyond_the_caps_pieces_and_the_whole_look_the_same(unit: str) -> None:
    text = "".join(unit.format(number) for number in range(2_600)) + "x" * 70_000
    traces = [token(end) for end in range(10, len(text), 10)]
    documents = [QTextDocument(), QTextDocument()]
    pieces, whole = (MarkdownDocument(document) for document in documents)
    for content in (pieces, whole):
        content.provenance.add(committed("", *traces, step=1))
    for end in range(0, len(text), 16_000):
        pieces.write(text[:end])
    pieces.finish(text)
    whole.finish(text)
    assert documents[0].toPlainText() == documents[1].toPlainText()
    assert pieces.marks == whole.marks
    assert pieces.spans == whole.spans


@pytest.mark.usefixtures("qapp")
def test_only_new_text_is_cleaned_and_nothing_is_mixed_up() -> None:
    document = QTextDocument()
    content = MarkdownDocument(document)
    content.write("one\x0btwo")
    content.write("one\x0btwo three\x0bfour")
    assert document.toPlainText() == "one two three four"
    content.finish("ONE\x0bTWO THREE\x0bFOUR")
    content.write("one\x0btwo three\x0bfour five")
    assert document.toPlainText() == "one two three four five"


def test_figures_come_slower_than_the_plot(program: Program) -> None:
    figures = LiveFigures(Sources(), program.settings.setting("n_replies"), program)
    (clock,) = figures.findChildren(QTimer)
    told: list[str] = []
    figures.moved.connect(lambda: told.append("plot"))
    figures.refreshed.connect(lambda: told.append("all"))
    for _ in range(2 * TICKS_PER_REFRESH):
        clock.timeout.emit()
    assert told == [*["plot"] * (TICKS_PER_REFRESH - 1), "all"] * 2
