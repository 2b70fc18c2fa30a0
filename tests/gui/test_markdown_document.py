"""The document is the same whether the text came at once or bit by bit, and it is harmless."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtGui import QTextCharFormat, QTextCursor, QTextDocument, QTextTable

from gui.chat_help import committed
from paceline.gui.chat.markdown.document import MAX_SHOWN_CHARS, MarkdownDocument
from paceline.gui.look.current import look
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
    "| a<br>b | c |\n|---|---|\n| d <br/>e | `f<br>` |\n",
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
        self.content = MarkdownDocument(self.document)

    @property
    def text(self) -> str:
        return self.document.toPlainText()

    def check(self) -> None:
        """Compare each character that has a place in the source with what stands there."""
        source, last = self.content.source, 0
        for position in range(self.document.characterCount()):
            shown = re.sub("[\u2028\u2029]", "\n", self.document.characterAt(position))
            place = self.content.source_of(position, position + 1)
            if place is None:
                continue
            offset, written = place[0], source[place[0]]
            assert offset >= last
            last = offset
            is_entity = written == ";" and "&" in source[:offset]
            is_code = (shown, written) == (" ", "\n")
            is_break = (shown, written) == ("\n", ">")
            is_object = shown == "\ufffc" or written > "\uffff"  # a formula, half of a wide sign
            assert shown == written or is_entity or is_code or is_break or is_object
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
    for number, part in enumerate(bits(text, seed)):
        sheet.content.write(part)
        if number % 6 == seed % 6:
            sheet.check()
    whole = finished(text)
    whole.check()
    assert sheet.text.rstrip("\n") == whole.text.rstrip("\n")
    sheet.content.finish(text)
    assert sheet.text == whole.text
    assert sheet.content.marks == whole.content.marks


def test_an_open_fence_is_raw_until_it_closes_or_the_text_ends() -> None:
    sheet = Sheet()
    sheet.content.write("Look:\n\n```python\ndef f():\n    pa")
    assert sheet.content.marks[-1].code is None
    sheet.content.write("Look:\n\n```python\ndef f():\n    pass\n\nx = 1\n")
    assert sheet.text == "Look:\ndef f():\n    pass\n\nx = 1"
    assert sheet.content.marks[-1].end == sheet.document.characterCount() - 1
    sheet.content.write("Look:\n\n```python\ndef f():\n    pass\n\nx = 1\n```\n")
    assert sheet.content.marks[-1].code == "def f():\n    pass\n\nx = 1"
    assert finished("```python\ndef f():\n    pa").content.marks[-1].code == "def f():\n    pa"


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
        ("table_head", "above"),
    ]
    assert sheet.content.marks[-2].code == "x = 1"
    tables = [f for f in sheet.document.rootFrame().childFrames() if isinstance(f, QTextTable)]
    assert [(t.rows(), t.columns()) for t in tables] == [(2, 2)]
    assert "done" in sheet.text
    assert "[x]" not in sheet.text


def colours(sheet: Sheet) -> list[tuple[str, str]]:
    """The text in pieces of one colour."""
    pieces = []
    block = sheet.document.begin()
    while block.isValid():
        pieces += [
            (text_range.format.foreground().color().name(), block.text()[a : a + n])
            for text_range in block.textFormats()
            for a, n in [(text_range.start, text_range.length)]
        ]
        block = block.next()
    return [(colour, text) for colour, text in pieces if text.strip()]


def test_open_code_is_coloured_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "Look:\n\n```python\ndef f(x):\n    return 'é🎉' # why\n\n    x = 1\n"
    whole = finished(f"{code}```\n")
    sheet = Sheet()
    for part in bits(code, 3):
        sheet.content.write(part)
    assert colours(sheet) != colours(whole), "not before it is time"
    monkeypatch.setattr("paceline.gui.chat.markdown.build.INTERVAL_S", 0.0)
    monkeypatch.setattr("paceline.gui.chat.markdown.build.BUDGET_S", 60.0)  # on a busy machine, too
    sheet.content.renew()
    for part in bits(code, 3):
        sheet.content.write(part)
        sheet.check()
    assert colours(sheet) == colours(whole)
    sheet.content.write(code + "   ")  # written again
    assert colours(sheet) == colours(whole), "the colours stay"
    monkeypatch.setattr("paceline.gui.chat.markdown.build.BUDGET_S", 0.0)
    sheet.content.write(code + "    def g(): pass\n    def h(")
    slow = colours(sheet)
    sheet.content.write(code + "    def g(): pass\n    def h(): pass")
    assert len(colours(sheet)) <= len(slow) + 1, "it took too long once"


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
        look.set_mode("dark")
        sheet.content.renew()
        assert sheet.text == shown


# ------------------------------------------------------------------------------- token colours


def test_indices_stand_below_and_above_the_line() -> None:
    sheet = finished(
        "H<sub>2</sub>O, x<SUP>n</SUP> and <sub>a <b>b</b></sub> <sub></sub> `<sub>a</sub>`"
    )
    assert sheet.text == "H2O, xn and <sub>a <b>b</b></sub> <sub></sub> <sub>a</sub>"
    side = QTextCharFormat.VerticalAlignment
    cursor = QTextCursor(sheet.document)
    found = {}
    for place in range(7):
        cursor.setPosition(place + 1)
        found[place] = cursor.charFormat().verticalAlignment()
    assert found == dict.fromkeys(range(7), side.AlignNormal) | {
        1: side.AlignSubScript,
        6: side.AlignSuperScript,
    }


def traced(text: str, sheet: Sheet) -> None:
    """Two words from the target and two from the draft model in turn."""
    end = 0
    for step, token in enumerate(re.findall(r"\s*\S+|\s+$", text)):
        end += len(token)
        source = "draft" if step % 4 in (1, 2) else "target"
        sheet.content.provenance.add(committed("", TokenTrace(1, source, 0, 0.5, end), step=step))


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
    assert words == ["two", "three", "six", "eight", "nine"]
    record = sheet.content.record_at(shown.index("three"))
    assert record is not None
    assert (record.trace.source, record.step.step) == ("draft", 2)


# --------------------------------------------------------------------------------- harmless


def test_the_one_tag_that_models_need_breaks_the_line() -> None:
    sheet = finished("| a<br>b | c<BR />d |\n|---|---|\n| `e<br>` | <brr> <b>f</b> |\n")
    sheet.check()
    cells = [line for line in re.split("[\u2029\n]", sheet.text) if line]
    assert cells == ["a", "b", "c", "d", "e<br>", "<brr> <b>f</b>"]


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
    assert all(address.startswith("http") for address in re.findall('href="([^"]*)"', html))


@pytest.mark.grid(short=2)
@pytest.mark.parametrize(
    "text",
    [
        "- an item\n" * 2_500,
        "A paragraph of *some* words.\n\n" * 3_000,
        "Words.\n\n```python\n" + "x = 1\n" * 2_500 + "```\nThe end.\n",
    ],
    ids=["list", "paragraphs", "code"],
)
def test_what_outgrows_markdown_ends_as_it_would_in_one_go_and_is_not_built_again(
    text: str,
) -> None:
    whole, grown = finished(text), Sheet()
    for end in range(0, len(text), 3_000):
        grown.content.write(text[:end])
    n_before = grown.document.characterCount()
    grown.content.finish(text)
    assert grown.content.changed_from >= n_before - 2
    assert grown.text == whole.text
    assert grown.content.marks == whole.content.marks
    grown.content.renew()
    assert grown.text == whole.text


def test_what_is_too_long_to_show_is_cut() -> None:
    sheet = finished("word " * (MAX_SHOWN_CHARS // 4))
    assert sheet.document.characterCount() < MAX_SHOWN_CHARS * 1.01
