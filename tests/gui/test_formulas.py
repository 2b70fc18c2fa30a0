"""Formulas in replies: painted, and in everything else their source."""

from __future__ import annotations

import random
from time import thread_time
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QColor, QTextCursor

from gui.chat_help import begin_reply, committed, finished, settle, token
from gui.test_markdown_document import BLOCKS, Sheet
from paceline.gui.chat.markdown.formulas import OBJECT, formula_rect, shared_formulas
from paceline.gui.chat.markdown.found import hits_in, phrase
from paceline.gui.chat.markdown.paint import formula_pieces, marked_rects
from paceline.gui.chat.markdown.sideways import SideBar
from paceline.gui.look.current import look

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from paceline.gui.chat.markdown.view import MessageView
    from paceline.gui.chat.view import ChatView

pytestmark = pytest.mark.usefixtures("qapp")

MATHS = (
    "inline $a^2 + b^2$ and \\(\\frac{1}{2}\\), not $5 or $10\n",
    "$$\\sum_{i=1}^{n} i$$\n",
    "\\[\nx = a\n- b\n+ c\n\\]\n",
    "Words before\n\\[ y \\] and after\n",
    "- item $x_1$\n  $$\n  - z\n  $$\n",
    "> quoted $q$\n> \\[\n> r\n> \\]\n",
    "| $t$ | `$code$` |\n|---|---|\n| \\(u\\) | v |\n",
    "open \\(x_1 + *y*\n",
    "unknown $\\foo{x}$ stays\n",
    "# Title $E = mc^2$\n",
    "\\begin{align}\na &= b\\\\\n\n- c &= d\n\\end{align}\n",
    "- so\n  \\begin{gather}\n  x\\\\\n  y_1\n  \\end{gather} and $`z`$\n",
    "M = \\begin{pmatrix} 1 & 2 \\end{pmatrix} is one\n",
    "```math\n\\frac{1}{2}\n```\n",
    "> ~~~math\n> x\\\\\n> ~~~\n",
    "\\begin{cases}\n",
    "\\end{align}\n",
    "$$\n",
    "\\]\n",
)


def know(qtbot: QtBot, *sources: str) -> None:
    """Have these formulas laid out."""
    for source in sources:
        shared_formulas().is_known(source)
    qtbot.waitUntil(lambda: all(map(shared_formulas().is_known, sources)), timeout=20_000)


def shown(qtbot: QtBot, chat: ChatView, text: str) -> MessageView:
    """A whole reply with its formulas."""
    view = finished(chat, text).body
    qtbot.waitUntil(lambda: not view.content._awaited, timeout=20_000)
    qtbot.waitUntil(lambda: view.document().textWidth() > 300)
    return view


def sources(view: MessageView) -> list[str]:
    return [placed.source for placed in view.content.formulas]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("an escaped \\[bracket and \\(another", []),
        ("one $x$ two", ["$x$"]),
        ("one \\(x\\) two", ["\\(x\\)"]),
        ("one $$x$$ two", ["$$x$$"]),
        ("$x$-th, $y$, ($z$)", ["$x$", "$y$", "$z$"]),
        ("| $x$ |\n|---|\n| \\(y\\) |", ["$x$", "\\(y\\)"]),
        ("**bold $x_1 * y_1$**", ["$x_1 * y_1$"]),
        ("It costs $5 and $10.", []),
        ("from $5 to 10$ each", []),
        ("$HOME/$USER and ${A}:${B}", []),
        ("US$5, then US$6", []),
        ("pay $20/month, i.e. 240$ a year", []),
        ("`$x$` and\n\n```\n$$x$$\n\\(y\\)\n```", []),
        ("unfinished $$x", []),
        ("unfinished \\(x", []),
        ("a price \\$5 and \\$6", []),
        ("$\\foo{x}$", []),
        ("> ```math\n> x^2\n> ```", ["```math\nx^2\n```"]),
    ],
)
def test_what_is_a_formula(qtbot: QtBot, chat: ChatView, text: str, found: list[str]) -> None:
    view = shown(qtbot, chat, text)
    assert sources(view) == found
    assert view.toPlainText().count(OBJECT) == len(found)


@pytest.mark.grid(short=6)
@pytest.mark.parametrize("seed", range(16))
def test_streaming_shows_what_the_whole_text_shows(qtbot: QtBot, seed: int) -> None:
    rnd = random.Random(seed)
    text = "".join(rnd.choice((*MATHS, *MATHS, *BLOCKS, "\n", "\n")) for _ in range(16))
    whole = Sheet()
    whole.content.finish(text)
    know(qtbot, *whole.content._awaited)
    whole.content.finish(text)
    sheet = Sheet()
    at = 0
    while at < len(text):
        at += rnd.choice((1, 2, 3, 5, 8, 20))
        sheet.content.write(text[:at])
        sheet.check()
        if rnd.random() < 0.1:  # what was asked for meanwhile comes at any time
            know(qtbot, *sheet.content._awaited)
            sheet.content.draw_formulas()
            sheet.check()
    know(qtbot, *sheet.content._awaited)
    sheet.content.draw_formulas()
    at_once = Sheet()
    at_once.content.write(text)
    assert sheet.text.rstrip("\n") == at_once.text.rstrip("\n")
    sheet.content.finish(text)
    know(qtbot, *sheet.content._awaited)
    sheet.content.draw_formulas()
    assert sheet.text == whole.text
    assert sheet.content.marks == whole.content.marks
    assert sheet.content.formulas == whole.content.formulas


def test_a_copy_has_the_source(qtbot: QtBot, chat: ChatView) -> None:
    text = "One $a^2$ two\n\n$$\nb\n$$\n\nthree \\(c\\)."
    view = shown(qtbot, chat, text)
    view.selectAll()
    assert view.createMimeDataFromSelection().text() == "One $a^2$ two\n$$\nb\n$$\nthree \\(c\\)."
    cursor = QTextCursor(view.document())
    cursor.setPosition(view.toPlainText().rindex(OBJECT))
    cursor.movePosition(QTextCursor.MoveOperation.Right, QTextCursor.MoveMode.KeepAnchor, 2)
    view.setTextCursor(cursor)
    assert view.createMimeDataFromSelection().text() == "\\(c\\)."
    assert view.content.plain_text == "One $a^2$ two\n$$\nb\n$$\nthree \\(c\\)."
    assert view.accessibleDescription().endswith("$a^2$; $$ b $$; \\(c\\)")


def test_a_hit_in_the_source_marks_the_formula(qtbot: QtBot, chat: ChatView) -> None:
    text = "Words \\(\\frac{alpha}{2}\\) and more alpha."
    view = shown(qtbot, chat, text)
    view.mark(hits_in(text, phrase("alpha"), 0))
    spans = [(span.start, span.end) for span in view._marked]
    plain = view.toPlainText()
    assert spans == [(6, 7), (plain.index("alpha"), plain.index("alpha") + 5)]
    assert plain[6] == OBJECT
    assert view.current_top() is not None
    (placed,) = view.content.formulas
    letters, words, formula = marked_rects(
        view.document(), view._marked, view.content.formulas, 0, len(plain)
    )
    assert formula == formula_rect(view.document(), placed)
    assert formula.height() > letters.height() == words.height(), "a fraction's"


def test_the_tokens_of_a_formula_are_shown_and_coloured(qtbot: QtBot, chat: ChatView) -> None:
    text = "So $abcdefgh$."
    know(qtbot, "$abcdefgh$")
    reply = begin_reply(chat)
    reply.append(
        committed(
            text,
            token(4, "target", -1),
            token(6, "draft", 0),
            token(8, "draft", 1),
            token(9, "prompt-lookup", 2),
            token(11, "prompt-lookup", 3),
            token(14, "target", -1),
            step=3,
            n_drafted=4,
        )
    )
    reply.finish(text)
    view = reply.body
    qtbot.waitUntil(lambda: view.document().textWidth() > 300)
    (placed,) = view.content.formulas
    parts = list(view.content.formula_spans(0, 99))
    assert [(start, end, kind) for _, (start, end, kind) in parts] == [
        (1, 5, "draft"),
        (5, 8, "lookup"),
    ]
    draft, lookup = formula_pieces(view.document(), parts)
    whole = formula_rect(view.document(), placed)
    assert draft.rect.width() == pytest.approx(whole.width() * 4 / 10)
    assert draft.rect.right() == pytest.approx(lookup.rect.left())
    assert "draft" in view.tool_tip_at(draft.rect.center().toPoint())
    told = view.tool_tip_at(lookup.rect.center().toPoint()).split("\n")
    assert told[0] == "$abcdefgh$"
    assert "prompt-lookup · 4th of 4" in told[1]
    look.set_token_colours(False)
    assert view.tool_tip_at(lookup.rect.center().toPoint()) == "$abcdefgh$"


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_a_formula_has_the_colour_of_text(qtbot: QtBot, chat: ChatView, mode: str) -> None:
    look.set_mode(mode)  # type: ignore[arg-type]
    view = shown(qtbot, chat, "$\\blacksquare$ $x$")
    view.renew()
    rect = formula_rect(view.document(), view.content.formulas[0])

    def nearest(ink: QColor) -> int:
        """Return how much lighter or darker than this colour the nearest point is."""
        image = view.grab().toImage()
        ratio = image.devicePixelRatio()
        return min(
            abs(image.pixelColor(round(ratio * x), round(ratio * y)).lightness() - ink.lightness())
            for x in range(round(rect.left()), round(rect.right()))
            for y in range(round(rect.top()), round(rect.bottom()))
        )

    ink, ground = QColor(look.theme.text), QColor(look.theme.window)
    assert nearest(ink) < 20
    assert abs(ink.lightness() - ground.lightness()) > 150
    view.selectAll()
    assert nearest(view.palette().highlightedText().color()) < 20, "also when it is selected"


def test_a_formula_stands_on_the_line_and_follows_the_size_of_text(
    qtbot: QtBot, chat: ChatView
) -> None:
    view = shown(qtbot, chat, "word $x$ and $\\frac{a}{b}$")
    document = view.document()
    line = document.begin().layout().lineAt(0)
    baseline = document.documentLayout().blockBoundingRect(document.begin()).top() + line.ascent()
    rects = [formula_rect(document, placed) for placed in view.content.formulas]
    for placed, rect in zip(view.content.formulas, rects, strict=True):
        size = rect.width() / placed.formula.width
        assert rect.bottom() - size * placed.formula.descent == pytest.approx(baseline)
    assert rects[1].bottom() <= line.height() + 6, "and it has room below"
    look.set_font_px(look.font_px * 2)
    view.renew()
    settle(qtbot)
    for placed, before in zip(view.content.formulas, rects, strict=True):
        height = formula_rect(document, placed).height()
        assert height / before.height() == pytest.approx(2, rel=0.15)


WIDE = " + ".join(f"x_{{{n}}}" for n in range(60))


def bars(view: MessageView) -> list[SideBar]:
    return sorted(view.findChildren(SideBar), key=lambda bar: bar.y())


@pytest.mark.parametrize("text", [f"Words ${WIDE}$ go on.", f"- a\n  $${WIDE}$$\n\nb"])
def test_a_wide_formula_keeps_its_size_and_is_scrolled(
    qtbot: QtBot, chat: ChatView, text: str
) -> None:
    view = shown(qtbot, chat, f"{text}\n\nThen $x_{{0}}$.\n\n| a |\n|---|\n| ${WIDE}$ |\n")
    document = view.document()
    wide, small, in_cell = view.content.formulas
    rect, usual = formula_rect(document, wide), formula_rect(document, small)
    assert formula_rect(document, in_cell).width() <= document.textWidth(), "made to fit"
    assert rect.width() / wide.formula.width == pytest.approx(
        usual.width() / small.formula.width, rel=0.01
    )
    assert rect.width() > document.textWidth()
    (bar,) = bars(view)
    assert bar.isVisible()
    assert rect.bottom() < bar.y() < bar.geometry().bottom() < usual.top()
    left, right = bar.x() + 2, bar.geometry().right() - 2
    middle = round(rect.center().y())
    assert view.tool_tip_at(QPoint(left, middle)).startswith("$")
    area = QRect(0, round(rect.top()), view.width(), round(rect.height()))
    before = view.grab(area).toImage()
    bar.setValue(bar.maximum())
    assert bar.maximum() == pytest.approx(rect.width() - bar.width(), abs=2)
    assert view.grab(area).toImage() != before
    assert view.tool_tip_at(QPoint(right, middle)).startswith("$")


def test_a_hostile_formula_holds_up_neither_the_window_nor_the_others(
    qtbot: QtBot, chat: ChatView
) -> None:
    slow = "\\(" + "\\sqrt{" * 40 + "x" + "}" * 40 + "\\)"
    view = finished(chat, f"{slow} and $q+q$").body
    qtbot.waitUntil(lambda: not view.content._awaited, timeout=20_000)
    assert sources(view) == ["$q+q$"]
    assert "\\sqrt{" in view.toPlainText()


@pytest.mark.grid(short=3)
@pytest.mark.parametrize(
    "text",
    [
        "$" * 60_000,
        "\\(" * 30_000,
        "$a" * 30_000,
        "$\\" * 20_000,
        ("$" + "a" * 1_900 + "$ ") * 30,
        ("$" + "word " * 390 + "x$ ") * 30,
        "$$\n" * 1_900,
        "\\[\n" * 1_900,
        "> \\[ x\n" * 1_900,
    ],
)
def test_dollars_without_end_take_no_time(text: str) -> None:
    sheet = Sheet()
    began_s = thread_time()
    sheet.content.finish(text)
    sheet.content.write(text[: len(text) // 2])
    sheet.content.write(text)
    assert thread_time() - began_s < 3
    shared_formulas().close()


def test_a_message_has_so_many_formulas(
    qtbot: QtBot, chat: ChatView, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paceline.gui.chat.markdown.inline.MAX_FORMULAS", 5)
    monkeypatch.setattr("paceline.gui.chat.markdown.formulas._MAX_CACHED", 3)
    text = " ".join(f"$m_{{{n}}}$" for n in range(9))
    view = shown(qtbot, chat, text)
    assert len(sources(view)) == 5
    assert view.toPlainText().count("$") == 8


@pytest.mark.parametrize("is_backwards", [False, True])
def test_a_selection_stays_on_its_words_when_formulas_come(
    qtbot: QtBot, chat: ChatView, *, is_backwards: bool
) -> None:
    """Select text after formulas that are still laid out, as in a continued stored reply."""
    reply = begin_reply(chat)
    new = 31 + is_backwards
    text = f"First $k^2+{new}$, then $k^3+{new}$: these words and $k^4+{new}$ more."
    reply.append(committed(text))
    reply.flush()
    view = reply.body
    assert not view.content.formulas, "they are not known yet"
    cursor = view.document().find(f"these words and $k^4+{new}$")
    ends = sorted((cursor.selectionStart(), cursor.selectionEnd()), reverse=is_backwards)
    cursor.setPosition(ends[0])
    cursor.setPosition(ends[1], QTextCursor.MoveMode.KeepAnchor)
    view.setTextCursor(cursor)
    qtbot.waitUntil(lambda: len(view.content.formulas) == 3, timeout=20_000)
    assert view.textCursor().selectedText() == f"these words and {OBJECT}"
    assert (view.textCursor().anchor() > view.textCursor().position()) == is_backwards
    reply.append(committed(f" And $k^5+{new}$."))
    reply.flush()
    qtbot.waitUntil(lambda: len(view.content.formulas) == 4, timeout=20_000)
    assert view.createMimeDataFromSelection().text() == f"these words and $k^4+{new}$"
