"""The document is the same whether the text came at once or bit by bit, and it is harmless."""

from __future__ import annotations

import random
import re
from itertools import pairwise
from time import perf_counter
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtGui import QTextDocument, QTextTable

from paceline.gui.theme import DARK, LIGHT
from paceline.gui.widgets.markdown_stream import MAX_SHOWN_CHARS, MarkdownDocument
from paceline.messages import TokenTrace

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.usefixtures("qapp")

BLOCKS = (
    "# Heading\n",
    "a paragraph of some words\n",
    "\n",
    "- item alpha beta gamma\n",
    "  - nested item and so on\n",
    "1. number one\n",
    "7) seven\n",
    "```python\ndef f(x):\n    return x\n\n\n```\n",
    "```\nraw\n",
    "```\n",
    "> a quote that is long enough\n",
    "| a | b |\n|---|:-:|\n| c | `d` |\n",
    "**bold** and *it* `code` ~~gone~~ 🎉\n",
    "[link](https://example.org/a) and https://example.org/b?c=1.\n",
    "---\n",
    "===\n",
    "R&D &amp; \\*escaped\\* <b>html</b>\n",
    "- [ ] to do\n- [x] done\n",
    "    indented code\n",
    "\tTab\n",
    "word " * 30 + "\n",
    "![picture](file:///etc/passwd)\n",
    "hard  \nbreak\n",
    "* loose\n\n* list\n",
    "odd\u2028signs\u2029here\r\nand\x0bthere\0\n",
)


class Sheet:
    """A document under test."""

    def __init__(self) -> None:
        self.document = QTextDocument()
        self.content = MarkdownDocument(self.document, LIGHT)

    @property
    def text(self) -> str:
        return self.document.toPlainText()

    def check(self) -> None:
        """What stands at a mapped position is what the source has there."""
        segments = self.content._map.segments
        for segment in segments:
            if segment.width != segment.length:
                continue
            shown = [self.document.characterAt(segment.position + n) for n in range(segment.width)]
            end = segment.offset + segment.length
            expected = self.content.source[segment.offset : end]
            assert re.sub("[\u2028\u2029]", "\n", "".join(shown)) == expected
        for one, other in pairwise(segments):
            assert one.position + one.width <= other.position
            assert one.offset + one.length <= other.offset
        for mark in self.content.marks:
            assert 0 <= mark.start <= mark.end <= self.document.characterCount()


def finished(text: str) -> Sheet:
    sheet = Sheet()
    sheet.content.finish(text)
    return sheet


def bits(text: str, seed: int) -> Iterator[str]:
    rnd = random.Random(seed)
    at = 0
    while at < len(text):
        at += rnd.choice((1, 2, 3, 5, 8, 20))
        yield text[:at]


@given(blocks=st.lists(st.sampled_from(BLOCKS), max_size=12), seed=st.integers(0, 999))
def test_streaming_shows_what_the_whole_text_shows(blocks: list[str], seed: int) -> None:
    text = "".join(blocks)
    sheet = Sheet()
    for part in bits(text, seed):
        sheet.content.write(part)
        sheet.check()
    whole = finished(text)
    whole.check()
    assert sheet.text.rstrip("\n") == whole.text.rstrip("\n")
    sheet.content.finish(text)
    assert sheet.text == whole.text
    assert sheet.content.marks == whole.content.marks


@given(text=st.text(alphabet="ab \n*_`[]()<>#-+.1|~\\!&;:/\u202e🎉\ufdd0\ufffc", max_size=120))
def test_no_text_breaks_the_document(text: str) -> None:
    sheet = Sheet()
    for part in bits(text, len(text)):
        sheet.content.write(part)
    sheet.check()
    sheet.content.finish(text)
    sheet.check()


def test_blocks_look_like_what_they_are() -> None:
    sheet = finished(
        "# Title\n\ntext **bold**\n\n> quote\n\n---\n\n3. three\n4. four\n\n- [x] done\n- dot\n\n"
        "```py\nx = 1\n```\n\n| a | b |\n|--|--|\n| 1 | 2 |\n"
    )
    kinds = [(mark.kind, mark.label) for mark in sheet.content.marks]
    assert kinds == [
        ("quote", ""),
        ("rule", ""),
        ("item", "3."),
        ("item", "4."),
        ("item", "tick"),
        ("item", ""),
        ("code_block", "py"),
    ]
    assert sheet.content.marks[-1].code == "x = 1"
    tables = [f for f in sheet.document.rootFrame().childFrames() if isinstance(f, QTextTable)]
    assert [(t.rows(), t.columns()) for t in tables] == [(2, 2)]
    assert "done" in sheet.text
    assert "[x]" not in sheet.text


def test_an_open_fence_is_raw_until_it_closes() -> None:
    sheet = Sheet()
    sheet.content.write("Look:\n\n```python\ndef f():\n    pa")
    assert sheet.content.marks[-1].code is None
    sheet.content.write("Look:\n\n```python\ndef f():\n    pass\n\nx = 1\n")
    assert sheet.text == "Look:\ndef f():\n    pass\n\nx = 1"
    assert sheet.content.marks[-1].end == sheet.document.characterCount() - 1
    sheet.content.write("Look:\n\n```python\ndef f():\n    pass\n\nx = 1\n```\n")
    assert sheet.content.marks[-1].code == "def f():\n    pass\n\nx = 1"


def test_the_last_fence_of_a_final_text_is_complete() -> None:
    sheet = finished("```python\ndef f():\n    pa")
    assert sheet.content.marks[-1].code == "def f():\n    pa"


def test_closed_blocks_are_not_touched_again() -> None:
    sheet = Sheet()
    text = "First paragraph.\n\nSecond paragraph that is open"
    sheet.content.write(text)
    sheet.content.write(text + " and *goes* on")
    assert sheet.content.changed_from >= len("First paragraph.")
    sheet.content.write(text + " and *goes* on for some more words")
    before = sheet.document.characterCount() - 1
    sheet.content.write(text + " and *goes* on for some more words still")
    assert sheet.content.changed_from == before, "plain text is added without parsing"


def test_another_theme_shows_the_same() -> None:
    sheet = Sheet()
    for text in ("A [link](https://a.org) and `code`\n", "B\n\n```py\nx = 1"):
        sheet.content.write(text)
        shown = sheet.text
        sheet.content.set_theme(DARK)
        assert sheet.text == shown


# ------------------------------------------------------------------------------- token colours


def test_wide_signs_are_coloured_whole() -> None:
    sheet = Sheet()
    sheet.content.provenance.add((TokenTrace(1, "draft", 0, None, 1),), 1, 1)
    sheet.content.finish("🎉🎉")
    assert [(span.start, span.end) for span in sheet.content.spans] == [(0, 2)]


def traced(text: str, sheet: Sheet) -> None:
    """Every second word from the draft model."""
    end = 0
    for step, token in enumerate(re.findall(r"\s*\S+|\s+$", text)):
        end += len(token)
        source = "draft" if step % 2 else "target"
        sheet.content.provenance.add((TokenTrace(1, source, 0, 0.5, end),), step, 1)


@pytest.mark.parametrize("by_bits", [False, True])
def test_colours_follow_the_text_through_markup(by_bits: bool) -> None:
    text = "one **two** three `four` five\n\n- six seven\n- eight nine ten\n"
    sheet = Sheet()
    traced(text, sheet)
    if by_bits:
        for part in bits(text, 1):
            sheet.content.write(part)
    else:
        sheet.content.finish(text)
    shown = sheet.text
    assert shown.isascii(), "so that document and text count alike"
    words = " ".join(shown[span.start : span.end] for span in sheet.content.spans).split()
    assert words == ["two", "four", "seven", "eight", "ten"]
    record = sheet.content.record_at(shown.index("four"))
    assert record is not None
    assert (record.trace.source, record.step) == ("draft", 3)


# --------------------------------------------------------------------------------- harmless


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>\n\n<img src=x onerror=y> <b>bold</b>",
        "![](file:///etc/passwd) ![a](http://x.org/y.png)",
        "[a](javascript:x) [b](file:///x) <javascript:x> [c](\\\\server\\x)",
    ],
)
def test_html_and_pictures_stay_text(text: str) -> None:
    html = finished(text).document.toHtml()
    assert "<img" not in html
    assert "<script" not in html
    assert "javascript:" not in re.findall('href="([^"]*)"', html)
    for address in re.findall('href="([^"]*)"', html):
        assert address.startswith("http")


N = 60_000
BOMBS = {
    "brackets": "[" * N,
    "links": "[a](" * (N // 4),
    "pictures": "![" * (N // 2),
    "stars": "*a " * (N // 3),
    "mixed emphasis": "*_" * (N // 2),
    "quotes": "> " * (N // 2),
    "lazy quote": ">" * 20 + "a\n" + "b\n" * (N // 2),
    "lists in lists": "- " * (N // 2),
    "steps": "\n".join(" " * (2 * n) + "- a" for n in range(240)),
    "items": "- a\n" * (N // 4),
    "wide table": "|a" * 1000 + "\n" + "|-" * 1000 + "\n" + ("|b" * 1000 + "\n") * 28,
    "long table": "a|b\n-|-\n" + "x|y\n" * (N // 4),
    "fences": "```\n" * (N // 4),
    "references": "[a]: http://x\n\n" + "[a] " * (N // 4),
    "newlines": "\n" * N,
    "one word": "x" * 200_000,
    "lines": "some line of text\n" * 20_000,
    "backticks": "".join("`" * (n % 300 + 1) + " " for n in range(400)),
    "emoji": "🎉" * 30_000,
}


@pytest.mark.parametrize("name", BOMBS)
def test_no_text_holds_the_window_up(name: str) -> None:
    text = BOMBS[name]
    sheet = Sheet()
    sheet.document.setTextWidth(700)
    slowest = 0.0
    for write, part in [
        *((sheet.content.write, text[: len(text) * n // 8]) for n in range(1, 9)),
        (sheet.content.finish, text),
    ]:
        start = perf_counter()
        write(part)
        sheet.document.size()
        slowest = max(slowest, perf_counter() - start)
    assert slowest < 2.0, "ten times what is allowed"


def test_what_is_too_long_to_show_is_cut() -> None:
    sheet = finished("word " * (MAX_SHOWN_CHARS // 4))
    assert sheet.document.characterCount() < MAX_SHOWN_CHARS * 1.01
