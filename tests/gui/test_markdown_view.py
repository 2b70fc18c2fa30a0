"""A reply on the screen: links, copies, token colours, and how long streaming takes."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QByteArray, QPoint, QUrl
from PySide6.QtGui import QGuiApplication, QTextCursor, QTextDocument
from PySide6.QtWidgets import QLabel

from gui.chat_help import begin_reply, committed, say, settle, shown_chat, token
from gui.clocks import let_pass
from paceline.gui.chat.markdown.code_buttons import CopyButton
from paceline.gui.chat.markdown.format import CODE_HEADER
from paceline.gui.chat.markdown.paint import text_pieces
from paceline.gui.chat.markdown.view import MessageView
from paceline.gui.look.colours import DARK
from paceline.gui.look.current import look

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from paceline.gui.chat.messages.reply_view import ReplyView
    from paceline.gui.chat.view import ChatView


@pytest.fixture
def chat(qtbot: QtBot) -> Iterator[ChatView]:
    yield from shown_chat(qtbot)


# ------------------------------------------------------------------------- links, copies, colours


def test_no_address_in_a_text_is_asked_for(
    chat: ChatView, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    load = MessageView.loadResource

    def spy(view: MessageView, kind: int, name: QUrl | str) -> QByteArray:
        asked.append(str(name))
        return load(view, kind, name)

    monkeypatch.setattr(MessageView, "loadResource", spy)
    picture = tmp_path / "picture.png"
    os.mkfifo(picture)  # opening it waits for ever
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        web = f"http://127.0.0.1:{server.getsockname()[1]}/x.png"
        for address in (
            picture.as_uri(), str(picture), web, "//server/share/x.png",
            "\\\\server\\share\\x.png", "data:image/png;base64,iVBORw0KGgo=", "qrc:/x.png",
        ):  # fmt: skip
            text = (
                f"![a]({address}) ![b](<{address}>) <img src='{address}'>\n\n"
                f"<link rel=stylesheet href='{address}'>\n\n> - ![c]({address} \"title\")\n\n"
                f"|a|\n|-|\n|![d]({address})|\n\n![e][1]\n\n[1]: {address}\n"
            )
            for end in (len(text) // 2, len(text)):
                replied(chat, text[:end]).grab()
            say(chat, text).grab()
        settle(qtbot)
        with pytest.raises(BlockingIOError):
            server.accept()
    assert asked == []


@pytest.mark.parametrize("text", ["```python\nx = 1\n", "    x = 1\n"])
def test_a_block_of_code_has_a_header_from_which_it_is_copied_once_it_is_complete(
    chat: ChatView, qtbot: QtBot, text: str
) -> None:
    reply = replied(chat, text, is_final=False)
    settle(qtbot)
    (copy,) = reply.findChildren(CopyButton)
    if text.startswith("```"):
        assert not copy.isVisible()
    reply.finish(f"{text}```\n" if text.startswith("```") else text)
    reply.flush()
    settle(qtbot)
    assert copy.isVisible()
    assert copy.y() >= 0
    body = reply.body
    assert body.cursorRect(body.document().find("x = 1")).top() >= CODE_HEADER
    before = copy.text()
    copy.click()
    assert QGuiApplication.clipboard().text() == "x = 1"
    assert copy.text() != before, "it says so"
    assert let_pass(copy)
    assert copy.text() == before


def test_a_selection_survives_growth_and_copies_text_only(chat: ChatView) -> None:
    reply = replied(chat, "Some **bold** words", is_final=False)
    cursor = reply.body.textCursor()
    cursor.setPosition(5)
    cursor.setPosition(9, QTextCursor.MoveMode.KeepAnchor)
    reply.body.setTextCursor(cursor)
    reply.append(committed(" and *more*\n\nof them, with another paragraph"))
    reply.flush()
    assert reply.body.textCursor().selectedText() == "bold"
    reply.finish(reply.text)
    data = reply.body.createMimeDataFromSelection()
    assert data.text() == "bold"
    assert not data.hasHtml()


def test_another_theme_keeps_text_colours_and_links(chat: ChatView) -> None:
    say(chat, "Hi")
    replies = [begin_reply(chat) for _ in range(2)]
    for reply in replies:
        reply.append(committed("Some `code`", token(2), token(4, position=1), step=1))
    replies[0].finish("Some `code`")
    replies[0].set_stats("<em>1.9×</em>")
    look.set_mode("dark")
    for reply in replies:
        assert reply.plain_text == "Some code"
        assert coloured(reply) == [("Some", "draft")]
    stats = next(label for label in replies[0].findChildren(QLabel) if "1.9" in label.text())
    assert DARK.accent in stats.text()
    words = replied(chat, "[a](https://a.org)", is_final=False)
    link = words.body.document().begin().begin().fragment().charFormat()
    assert link.foreground().color().name().upper() == DARK.accent


def coloured(reply: ReplyView) -> list[tuple[str, str]]:
    text = reply.body.toPlainText()
    return [(text[span.start : span.end], span.kind) for span in reply.body.content.spans]


def test_tokens_are_coloured_by_their_source(chat: ChatView, qtbot: QtBot) -> None:
    reply = begin_reply(chat)
    # The text lags behind: the last token's text comes with the next step.
    first = token(4, "target", -1), token(7), token(8, position=1)
    reply.append(committed("One ", *first, step=1, n_drafted=3))
    reply.flush()
    assert coloured(reply) == []
    lookups = token(10, "prompt-lookup"), token(13, "prompt-lookup", 1)
    reply.append(committed("two three", *lookups, step=2, n_drafted=4))
    reply.flush()
    assert coloured(reply) == [("two ", "draft"), ("three", "lookup")]
    reply.finish("One two three")
    assert coloured(reply) == [("two ", "draft"), ("three", "lookup")]
    qtbot.waitUntil(lambda: reply.body.document().textWidth() > 300)
    pieces = list(text_pieces(reply.body.document(), reply.body.content.spans, 0, 99))
    draft, lookup = pieces
    assert (draft.kind, lookup.kind) == ("draft", "lookup")
    assert 0 < draft.rect.left() < draft.rect.right() < lookup.rect.left()
    at = lookup.rect.center().toPoint()
    told = "right guess · prompt-lookup · 2nd of 4 · confidence 0.50 · step 2"
    assert reply.body.tool_tip_at(at) == told
    own = "the model's own · step 1 · after a wrong guess"
    assert reply.body.tool_tip_at(QPoint(2, 8)) == own
    look.set_token_colours(False)
    assert reply.body.tool_tip_at(at) == ""
    look.set_token_colours(True)
    assert reply.body.tool_tip_at(at) == told


def test_spans_are_found_across_lines_and_blocks(chat: ChatView, qtbot: QtBot) -> None:
    text = "\n\n".join("many words in a row " * 30 for _ in range(3))
    reply = begin_reply(chat)
    reply.append(committed(text, *(token(end) for end in range(4, len(text) + 4, 4)), step=1))
    reply.finish(text)
    reply.flush()
    qtbot.waitUntil(lambda: reply.body.height() > 150)
    document, spans = reply.body.document(), reply.body.content.spans
    lines = sum(
        document.findBlockByNumber(n).layout().lineCount() for n in range(document.blockCount())
    )
    assert len(list(text_pieces(document, spans, 0, document.characterCount()))) == lines
    middle = document.findBlockByNumber(1)
    some = list(text_pieces(document, spans, middle.position(), middle.position() + 5))
    assert len(some) == 1


# ------------------------------------------------------------------------------------ benchmark


def replied(chat: ChatView, text: str, *, is_final: bool = True) -> ReplyView:
    """Show a reply of this text."""
    reply = begin_reply(chat)
    reply.append(committed(text))
    if is_final:
        reply.finish(text)
    reply.flush()
    return reply


def test_only_web_addresses_leave_the_view_and_are_shown_before(
    chat: ChatView, qtbot: QtBot
) -> None:
    reply = replied(
        chat, "[a](https://example.org/x) [b](javascript:alert(1)) ![c](file:///etc/passwd)"
    )
    settle(qtbot)
    assert reply.body.tool_tip_at(QPoint(5, 8)) == "https://example.org/x"
    with qtbot.waitSignal(chat.requests.link_activated) as caught:
        reply.body.anchorClicked.emit(QUrl("https://example.org/x"))
    assert caught.args == ["https://example.org/x"]
    with qtbot.assertNotEmitted(chat.requests.link_activated):
        for address in ("javascript:alert(1)", "file:///etc/passwd", "x:y", ""):
            reply.body.anchorClicked.emit(QUrl(address))
    assert reply.body.source().isEmpty()
    for kind in (QTextDocument.ResourceType.ImageResource, QTextDocument.ResourceType.HtmlResource):
        loaded = reply.body.document().resource(kind.value, QUrl("file:///etc/passwd"))
        assert loaded == QByteArray(), "nothing is ever loaded"
