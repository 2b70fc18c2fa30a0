"""A reply on the screen: reasoning, folded, with its time, above the answer; colours in both."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QToolButton

from gui.chat_help import committed, finished, settle, shown_body, shown_chat, token
from gui.clocks import let_pass
from paceline.chat.reasoning import Known
from paceline.gui.chat.markdown.code_buttons import CopyButton
from paceline.gui.chat.markdown.found import Hits, any_word, hits_in, phrase
from paceline.gui.chat.markdown.provenance import Provenance
from paceline.gui.chat.markdown.view import MessageView
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
def known_tokens() -> Provenance:
    return Provenance()


@pytest.fixture
def body(qtbot: QtBot, known_tokens: Provenance) -> Iterator[ReplyBody]:
    yield from shown_body(qtbot, known_tokens)


@pytest.fixture
def chat(qtbot: QtBot) -> Iterator[ChatView]:
    yield from shown_chat(qtbot)


def grow(body: ReplyBody, tokens: Provenance, text: str, seconds: float = 0.5) -> None:
    """Show a text word by word, one step each."""
    end = 0
    for step, part in enumerate(re.findall(r"\s*\S+|\s+$", text)):
        end += len(part)
        source = "draft" if step % 2 else "target"
        trace = token(end, source, 0 if step % 2 else -1)
        tokens.add(committed("", trace, step=step, n_drafted=1, seconds=seconds))
        body.show_source(text[:end])


# --------------------------------------------------------------------------------- reasoning


def test_reasoning_is_folded_and_shows_its_time(body: ReplyBody, known_tokens: Provenance) -> None:
    grow(body, known_tokens, "<think>\nFirst the **file**.")
    (block,) = body.reasoning
    growing = block.header.text()
    assert "2 s" in growing
    assert not block.is_open
    assert block.view is None, "what is folded is not rendered"
    assert body.answer.isHidden()
    body.show_source(TEXT)
    assert "2.0 s" in block.header.text()
    body.show_source(TEXT, is_final=True)
    assert body.reasoning == (block,)
    assert not block.is_open
    assert body.plain_text == "Use tomllib."
    assert body.answer_text == "Use `tomllib`."
    assert body.reasoning_text == "First the **file**."


@pytest.mark.parametrize(("seconds", "words"), [(40, "3 min 20 s"), (0, "")])
def test_the_time_counts_up_to_the_closing_mark_where_steps_tell_it(
    body: ReplyBody, known_tokens: Provenance, seconds: int, words: str
) -> None:
    grow(body, known_tokens, TEXT, seconds)
    body.show_source(TEXT, is_final=True)
    # "<think>", "First", "the", "**file**." and the mark itself; the answer's steps do not count.
    told = body.reasoning[0].header.text()
    assert words in told
    assert any(char.isdigit() for char in told) == bool(words)


def test_it_unfolds_by_the_keyboard_and_stays_so(
    body: ReplyBody, known_tokens: Provenance, qtbot: QtBot
) -> None:
    grow(body, known_tokens, TEXT)
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


@pytest.mark.parametrize("n_clicks", [0, 2])
def test_a_reply_of_reasoning_alone_is_unfolded_unless_the_user_folded_it(
    body: ReplyBody, known_tokens: Provenance, qtbot: QtBot, n_clicks: int
) -> None:
    grow(body, known_tokens, "<think>\nNever ends")
    for _ in range(n_clicks):
        qtbot.mouseClick(body.reasoning[0].header, Qt.MouseButton.LeftButton)
    assert not body.reasoning[0].is_open
    body.show_source("<think>\nNever ends", is_final=True)
    assert body.reasoning[0].is_open == (not n_clicks)
    assert body.answer_text == ""


def test_both_have_their_colours_and_tell_where_they_came_from(
    body: ReplyBody, known_tokens: Provenance
) -> None:
    grow(body, known_tokens, TEXT)
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


JSON = '{"name": "Oslo *x* ```",\n\n  "n": [1, 2]}\n'


def test_json_by_a_schema_is_code_and_stays_what_it_is(
    body: ReplyBody, known_tokens: Provenance
) -> None:
    known = Known(has_marks=True, is_json=True)
    text = f"<think>\n*Hm*\n</think>\n\n{JSON}"
    known_tokens.add(committed("", token(len(text) - 1), token(len(text)), step=1))
    for end in range(len(text)):
        body.show_source(text[:end], known=known)
    for is_final in (False, True):
        body.show_source(text, is_final=is_final, known=known)
        (mark,) = body.answer.content.marks
        assert (mark.kind, mark.label) == ("code_block", "json")
        assert mark.code == (JSON.removesuffix("\n") if is_final else None)
        assert body.answer.toPlainText().strip("\n") == JSON.strip("\n")
    assert body.answer_text.strip() == JSON.strip()
    formats = [each.charFormat() for each in fragments(body.answer.document())]
    colours = {each.foreground().color().name() for each in formats}
    assert len(colours) > 2, "names, strings and numbers"
    assert marked(body.answer, hits_in(text, phrase("Oslo"))) == ["Oslo"]
    body.show_source(text, is_final=True, known=Known(has_marks=True))
    assert "x" in body.answer.toPlainText()
    assert "*x*" not in body.answer.toPlainText(), "without a schema it is Markdown"


def marked(view: MessageView, hits: Hits) -> list[str]:
    """Return what is found in a view, as it is shown there."""
    spans = [span for hit in hits.spans if (span := view.content.place_of(*hit)) is not None]
    signs = view.document().characterAt
    texts = ["".join(signs(place) for place in range(span.start, span.end)) for span in spans]
    return [text for text in texts if text]


def test_another_text_takes_its_place_and_the_caret_is_where_it_grows(
    body: ReplyBody, known_tokens: Provenance
) -> None:
    grow(body, known_tokens, TEXT)
    body.set_caret(True)
    with_caret = body.answer.grab().toImage()
    body.set_caret(False)
    assert body.answer.grab().toImage() != with_caret
    body.show_source("No reasoning here.", is_final=True)
    assert body.reasoning == ()
    assert body.plain_text == body.answer_text == "No reasoning here."


def test_countless_turns_of_thought_are_a_few_sections(body: ReplyBody) -> None:
    body.show_source("<think>\na\n</think>\nb\n" * 200, is_final=True)
    assert len(body.reasoning) <= MAX_SECTIONS
    assert body.plain_text.count("b") == 200
    body.show_source("")
    assert body.plain_text == ""
    assert body.height() == 0


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


def test_the_reasoning_can_be_copied_by_itself(body: ReplyBody) -> None:
    body.show_source(TEXT, is_final=True)
    block = body.reasoning[0]
    (button,) = [b for b in block.findChildren(CopyButton) if b.parent() is block]
    assert button.isHidden()
    block.header.click()
    assert button.isVisibleTo(block)
    button.click()
    assert QGuiApplication.clipboard().text() == "First the **file**."
    let_pass(button)


def test_what_was_found_is_marked(body: ReplyBody) -> None:
    text = "<think>\nA lamp 🎉 in the house\n</think>\n\nTOML files and *tomllib*, `x &amp; y`"
    body.show_source(text, is_final=True)
    for pattern, found in (
        (any_word(["toml"]), ["TOML", "toml"]),
        (phrase("files and  TOMLLIB"), ["files and tomllib"]),
        (any_word(["house"]), []),
    ):
        hits = hits_in(text, pattern)
        body.mark(hits)
        assert marked(body.answer, hits) == found
    assert not body.reasoning[0].is_open, "the user is not there"
    body.mark(hits_in(text, any_word(["house"]), 0))
    assert body.reasoning[0].is_open
    view = body.reasoning[0].view
    assert view is not None
    assert marked(view, hits_in(text, any_word(["house"]))) == ["house"]
    before = view.grab().toImage()
    body.mark(hits_in(text, None))
    assert view.grab().toImage() != before


# ------------------------------------------------------------------------------------ in the chat


def test_code_is_saved_by_the_view_above(chat: ChatView, qtbot: QtBot) -> None:
    reply = finished(chat, "```python\nx = 1\n```\n\n<b>x</b>")
    settle(qtbot)
    assert reply.text.startswith("```python")
    names = {b.accessibleName(): b for b in reply.body.findChildren(QToolButton)}
    with qtbot.waitSignal(chat.requests.code_save_requested) as caught:
        names["Save the code to a file"].click()
    assert caught.args == ["python", "x = 1"]


def test_pictures_are_shown_by_their_description(chat: ChatView, qtbot: QtBot) -> None:
    reply = finished(chat, "![A *loop* `x`](https://a.org/x.png) ![](file:///etc/passwd)")
    settle(qtbot)
    assert reply.plain_text.split() == ["A", "loop", "x"]
    assert reply.body.tool_tip_at(QPoint(30, 8)).endswith("\nhttps://a.org/x.png")
