"""Tables in a reply: what stands below, their columns, the tokens' colours in their head."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtGui import QTextTable

from gui.chat_help import committed, settle, shown_body, token
from paceline.gui.chat.markdown.provenance import Provenance
from paceline.gui.kit.labels import ZERO_WIDTH_SPACE
from paceline.gui.look.colours import LIGHT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot

    from paceline.gui.chat.messages.reply_body import ReplyBody


TABLE = """\
| Name | Value | What it is about |
|------|-------|------------------|
| a | `none` | a sentence that is too long for a column, so that it has to break twice or more |
| b | none | a_word_without_any_place_to_break_that_is_longer_than_a_column_can_be |
"""


@pytest.fixture
def known_tokens() -> Provenance:
    return Provenance()


@pytest.fixture
def body(qtbot: QtBot, known_tokens: Provenance) -> Iterator[ReplyBody]:
    yield from shown_body(qtbot, known_tokens)


def table_of(body: ReplyBody) -> QTextTable:
    frames = body.answer.document().rootFrame().childFrames()
    (table,) = (frame for frame in frames if isinstance(frame, QTextTable))
    return table


NAMES = """\
| Class | Constant |
|-------|----------|
| `collections.abc.AsyncGenerator` | `GGML_CUDA_FORCE_MMQ_EVERYWHERE` |
"""


@pytest.mark.parametrize("width", [280, 420])
def test_long_code_in_a_cell_breaks_between_its_words(body: ReplyBody, width: int) -> None:
    body.resize(width, 1)
    body.show_source(NAMES, is_final=True)
    codes = NAMES.split("`")[1::2]
    for column, code in enumerate(codes):
        block = table_of(body).cellAt(1, column).firstCursorPosition().block()
        layout = block.layout()
        lines = [layout.lineAt(number) for number in range(layout.lineCount())]
        ends = [line.textStart() + line.textLength() for line in lines]
        assert len(ends) > 1
        assert all(block.text()[:end].rstrip(ZERO_WIDTH_SPACE)[-1] in "._" for end in ends[:-1])
        first, last = block.position(), block.position() + block.length() - 1
        assert body.answer.content.copied(first, last) == code
        start = NAMES.index(code)
        assert body.answer.content.place_of(start, start + len(code)) == (first, last, "lookup")
    assert body.plain_text == "Class\tConstant\n" + "\t".join(codes)


def test_code_breaks_after_signs_and_in_cells_alone(body: ReplyBody) -> None:
    code = "a.b_c#d:e,f&g?h(i.jk"
    body.show_source(f"`{code}`\n\n| a |\n|---|\n| `{code}` |\n", is_final=True)
    assert body.answer.document().firstBlock().text() == code
    cell = table_of(body).cellAt(1, 0).firstCursorPosition().block().text()
    assert cell == "a.|b_|c#|d:|e,|f&|g?|h(|i.|jk".replace("|", ZERO_WIDTH_SPACE)


def test_places_to_break_that_a_text_has_are_copied(body: ReplyBody) -> None:
    own = ["\u0e01\u200b\u0e02", "emoji\U0001f642\u200bend"]
    names = "`collections.abc.AsyncGenerator`"
    body.show_source(f"{own[0]}\n\n|`os.path`|\n|-|\n|{own[1]} {names} {own[0]}|\n", is_final=True)
    names = names.strip("`")
    assert ZERO_WIDTH_SPACE in body.answer.document().find("collections").block().text()
    assert body.answer.document().find("os").block().text() == "os.path", "it is short"
    whole = f"{own[0]}\nos.path\n{own[1]} {names} {own[0]}"
    assert body.plain_text == whole
    body.answer.selectAll()
    assert body.answer.createMimeDataFromSelection().text().split() == whole.split()


def test_tokens_have_their_colour_in_the_head_of_a_table(
    body: ReplyBody, known_tokens: Provenance, qtbot: QtBot
) -> None:
    end = TABLE.index(" |")
    tokens = token(2, "target", -1), token(3), token(end, position=1)
    known_tokens.add(committed("", *tokens, step=1, n_drafted=2))
    body.show_source(TABLE, is_final=True)
    settle(qtbot)
    cell = table_of(body).cellAt(0, 0).firstCursorPosition()
    place = body.answer.cursorRect(cell)
    image = body.grab().toImage()
    colours = {
        image.pixelColor(x, y).name()
        for x in range(place.left(), place.left() + 12)
        for y in range(place.top(), place.bottom())
    }
    assert LIGHT.accent_soft.lower() in colours


def test_plain_text_has_what_is_only_painted(body: ReplyBody) -> None:
    body.show_source(
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n- x\n  - y\n- [x] z\n\n3. three\n\nend", is_final=True
    )
    assert body.plain_text == "a\tb\n1\t2\n- x\n  - y\n[x] z\n3. three\nend"
