"""A reply on the screen: reasoning, folded, with its time, above the answer; colours in both."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication

from gui.chat_help import begin_reply, committed, finished, settle, shown_body, shown_chat, token
from paceline.chat.reasoning import Known
from paceline.gui.chat.markdown.code_buttons import CopyButton
from paceline.gui.chat.markdown.found import any_word, hits_in, phrase
from paceline.gui.chat.messages.reply_body import MAX_SECTIONS
from paceline.gui.look.current import look

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PySide6.QtGui import QTextDocument, QTextFragment
    from pytestqt.qtbot import QtBot

    from paceline.gui.chat.messages.reply_body import ReplyBody
    from paceline.gui.chat.view import ChatView

TEXT = "<think>\nFirst the **file**.\n</think>\n\nUse `tomllib`."


@pytest.fixture
def body(qtbot: QtBot) -> Iterator[ReplyBody]:
    yield from shown_body(qtbot)


@pytest.fixture
def chat(qtbot: QtBot) -> Iterator[ChatView]:
    yield from shown_chat(qtbot)


def grow(body: ReplyBody, text: str, seconds: float = 0.5) -> None:
    """Show a text word by word, one step each."""
    end = 0
    for step, part in enumerate(re.findall(r"\s*\S+|\s+$", text)):
        end += len(part)
        source = "draft" if step % 2 else "target"
        trace = token(end, source, 0 if step % 2 else -1)
        body._provenance.add(committed("", trace, step=step, n_drafted=1, seconds=seconds))
        body.show_source(text[:end])


# --------------------------------------------------------------------------------- reasoning


def test_reasoning_is_folded_and_tells_its_time(body: ReplyBody) -> None:
    grow(body, "<think>\nFirst the **file**.")
    (block,) = body.reasoning
    assert block.header.text() == "Thinking… 2 s"
    assert not block.is_open
    assert block.view is None, "what is folded is not rendered"
    assert body.answer.isHidden()
    body.show_source(TEXT)
    assert block.header.text() == "Thought for 2.0 s"
    body.show_source(TEXT, is_final=True)
    assert body.reasoning == (block,)
    assert not block.is_open
    assert body.plain_text == "Use tomllib."
    assert body.answer_text == "Use `tomllib`."
    assert body.reasoning_text == "First the **file**."


def test_the_time_counts_up_to_the_closing_mark(body: ReplyBody) -> None:
    grow(body, TEXT, seconds=40)
    body.show_source(TEXT, is_final=True)
    # "<think>", "First", "the", "**file**." and the mark itself; the answer's steps do not count.
    assert body.reasoning[0].header.text() == "Thought for 3 min 20 s"


def test_without_steps_nobody_knows_the_time(body: ReplyBody) -> None:
    body.show_source(TEXT, is_final=True)
    assert body.reasoning[0].header.text() == "Reasoning"


def test_it_unfolds_by_the_keyboard_and_stays_so(body: ReplyBody, qtbot: QtBot) -> None:
    grow(body, TEXT)
    (block,) = body.reasoning
    folded = body.height()
    assert block.header.focusPolicy() & Qt.FocusPolicy.TabFocus
    qtbot.keyClick(block.header, Qt.Key.Key_Space)
    assert block.is_open
    assert block.view is not None
    assert block.view.toPlainText().strip() == "First the file."
    assert body.height() > folded + 15
    body.show_source(TEXT, is_final=True)
    look.set_mode("dark")
    body.renew()
    assert body.reasoning == (block,)
    assert block.is_open
    qtbot.keyClick(block.header, Qt.Key.Key_Space)
    assert not block.is_open
    assert body.height() == folded


def test_a_reply_of_reasoning_alone_is_unfolded(body: ReplyBody) -> None:
    grow(body, "<think>\nNever ends")
    assert not body.reasoning[0].is_open
    body.show_source("<think>\nNever ends", is_final=True)
    assert body.reasoning[0].is_open
    assert body.answer_text == ""


def test_what_the_user_folded_stays_folded(body: ReplyBody, qtbot: QtBot) -> None:
    grow(body, "<think>\nNever ends")
    for _ in range(2):
        qtbot.mouseClick(body.reasoning[0].header, Qt.MouseButton.LeftButton)
    body.show_source("<think>\nNever ends", is_final=True)
    assert not body.reasoning[0].is_open


def test_the_template_opened_the_reasoning(body: ReplyBody) -> None:
    body.show_source("First the file.")
    assert body.plain_text == "First the file."
    body.show_source("First the file.\n</think>\n\nUse")
    (block,) = body.reasoning
    assert body.plain_text == "Use"
    block.header.click()
    assert block.view is not None
    assert block.view.toPlainText() == "First the file."
    body.show_source("First the file.\n</think>\n\nUse it.", is_final=True)
    assert body.plain_text == "Use it."


def test_both_have_their_colours_and_tell_where_they_came_from(body: ReplyBody) -> None:
    grow(body, TEXT)
    body.show_source(TEXT, is_final=True)
    body.reasoning[0].unfold()
    view = body.reasoning[0].view
    assert view is not None
    shown = view.toPlainText()
    spans = [shown[span.start : span.end].strip() for span in view.content.spans]
    assert spans == ["First the file."]
    for word, step, source in (("file", 3, "draft"), ("the", 2, "target")):
        record = view.content.record_at(shown.index(word))
        assert record is not None
        assert (record.step.step, record.trace.source) == (step, source)
    assert [body.answer.toPlainText()[s.start : s.end] for s in body.answer.content.spans] == [
        "Use"
    ]


JSON = '{"name": "Oslo *x* ```",\n\n  "n": [1, 2]}\n'


def test_json_by_a_schema_is_code_and_stays_what_it_is(body: ReplyBody) -> None:
    known = Known(has_marks=True, is_json=True)
    text = f"<think>\n*Hm*\n</think>\n\n{JSON}"
    body._provenance.add(committed("", token(len(text) - 1), token(len(text)), step=1))
    for end in range(len(text)):
        body.show_source(text[:end], known=known)
    for is_final in (False, True):
        body.show_source(text, is_final=is_final, known=known)
        (mark,) = body.answer.content.marks
        assert (mark.kind, mark.label) == ("code_block", "json")
        assert mark.code == (JSON.removesuffix("\n") if is_final else None)
        assert body.answer.toPlainText().strip("\n") == JSON.strip("\n")
    assert body.answer_text.strip() == JSON.strip()
    colours = {
        fragment.charFormat().foreground().color().name()
        for fragment in fragments(body.answer.document())
    }
    assert len(colours) > 2, "names, strings and numbers"
    body.mark(hits_in(text, phrase("Oslo"), 0))
    cursor = body.answer.document().find("Oslo")
    (span,) = body.answer._current
    assert (span.start, span.end) == (cursor.selectionStart(), cursor.selectionEnd())
    body.show_source(text, is_final=True, known=Known(has_marks=True))
    assert "x" in body.answer.toPlainText()
    assert "*x*" not in body.answer.toPlainText(), "without a schema it is Markdown"


def fragments(document: QTextDocument) -> Iterator[QTextFragment]:
    block = document.begin()
    while block.isValid():
        for each in block:
            yield each.fragment()
        block = block.next()


def test_reasoning_between_two_answers_stays_between_them(body: ReplyBody) -> None:
    text = "One.\n<think>\nHm\n</think>\nTwo.\n<think>\nHm\n</think>\nThree."
    for end in range(len(text)):
        body.show_source(text[:end])
    body.show_source(text, is_final=True)
    assert body.plain_text == "One.\nTwo.\nThree."
    assert len(body.reasoning) == 2
    assert body.answer_text == "One.\n\nTwo.\n\nThree."
    tops = [child.y() for child in (body.answer, *body.reasoning)]
    assert tops == sorted(tops)


def test_sections_are_bounded(body: ReplyBody) -> None:
    text = "<think>\na\n</think>\nb\n" * 200
    body.show_source(text, is_final=True)
    assert len(body.reasoning) <= MAX_SECTIONS
    assert body.plain_text.count("b") == 200


def test_another_text_takes_its_place(body: ReplyBody) -> None:
    grow(body, TEXT)
    body.show_source("No reasoning here.", is_final=True)
    assert body.reasoning == ()
    assert body.plain_text == body.answer_text == "No reasoning here."
    body.show_source("")
    assert body.plain_text == ""
    assert body.height() == 0


def test_the_caret_is_where_the_text_grows(body: ReplyBody) -> None:
    body.set_caret(True)
    body.show_source("<think>\nFirst")
    assert not body.answer._has_caret
    body.show_source(TEXT)
    assert body.answer._has_caret
    body.set_caret(False)
    assert not body.answer._has_caret


def test_the_reasoning_can_be_copied_by_itself(body: ReplyBody, qtbot: QtBot) -> None:
    body.show_source(TEXT, is_final=True)
    block = body.reasoning[0]
    (button,) = [b for b in block.findChildren(CopyButton) if b.parent() is block]
    assert button.isHidden()
    block.header.click()
    assert button.isVisibleTo(block)
    button.click()
    assert QGuiApplication.clipboard().text() == "First the **file**."
    button._confirm.stop()


def test_what_was_found_is_marked(body: ReplyBody) -> None:
    text = "<think>\nA lamp 🎉 in the house\n</think>\n\nTOML files and *tomllib*, `x &amp; y`"
    body.show_source(text, is_final=True)
    body.mark(hits_in(text, any_word(["toml"])))
    shown = body.answer.toPlainText()
    assert [shown[span.start : span.end] for span in body.answer._marked] == ["TOML", "toml"]
    body.mark(hits_in(text, phrase("files and  TOMLLIB")))
    (span,) = body.answer._marked
    assert shown[span.start : span.end] == "files and tomllib"
    body.mark(hits_in(text, any_word(["house"])))
    assert body.answer._marked == []
    assert not body.reasoning[0].is_open, "the user is not there"
    body.mark(hits_in(text, any_word(["house"]), 0))
    assert body.reasoning[0].is_open
    view = body.reasoning[0].view
    assert view is not None
    (span,) = view._marked
    assert [view.document().characterAt(p) for p in range(span.start, span.end)] == list("house")
    before = view.grab().toImage()
    body.mark(hits_in(text, None))
    assert view.grab().toImage() != before


def test_the_frame_of_a_hit_hides_no_full_stop(body: ReplyBody) -> None:
    text = "This was answer 50."
    body.show_source(text, is_final=True)
    body.mark(hits_in(text, phrase("answer 50"), 0))
    end = body.answer.cursorRect(body.answer.document().find("."))
    picture = body.answer.viewport().grab().toImage()
    column = [picture.pixelColor(end.left() - 2, y) for y in range(end.top(), end.bottom())]
    dark = [colour for colour in column if colour.alpha() > 128 and colour.lightness() < 100]
    assert 0 < len(dark) < 5, "a stop, and no line from top to bottom"


# ------------------------------------------------------------------------------------ in the chat


def test_a_copy_of_a_reply_is_without_its_reasoning(chat: ChatView, qtbot: QtBot) -> None:
    reply = finished(chat, TEXT)
    assert reply.text == TEXT
    assert reply.answer_text == "Use `tomllib`."
    assert reply.plain_text == "Use tomllib."


def test_unfolding_moves_what_stands_below(chat: ChatView, qtbot: QtBot) -> None:
    reply = finished(chat, "<think>\n" + "A thought.\n\n" * 8 + "</think>\n\nYes")
    settle(qtbot)
    before = reply.height()
    reply.parts.reasoning[0].header.click()
    qtbot.waitUntil(lambda: reply.height() > before + 100)
    reply.parts.reasoning[0].header.click()
    qtbot.waitUntil(lambda: reply.height() == before)


def test_code_is_saved_by_the_view_above(chat: ChatView, qtbot: QtBot) -> None:
    reply = finished(chat, "```python\nx = 1\n```\n\n<b>x</b>")
    settle(qtbot)
    kind = type(reply.body._codes.cards[0].buttons._save)
    buttons = {b.text(): b for b in reply.body.findChildren(kind)}
    with qtbot.waitSignal(chat.requests.code_save_requested) as caught:
        buttons["Save"].click()
    assert caught.args == ["python", "x = 1"]
    assert buttons["Save"].accessibleName() == "Save the code to a file"


def test_pictures_are_told_by_their_description(chat: ChatView, qtbot: QtBot) -> None:
    reply = finished(chat, "![A *loop* `x`](https://a.org/x.png) ![](file:///etc/passwd)")
    settle(qtbot)
    assert reply.plain_text.split() == ["A", "loop", "x"]
    told = reply.body.tool_tip_at(QPoint(30, 8))
    assert told == "Image not loaded\nhttps://a.org/x.png"
    begin_reply(chat)
