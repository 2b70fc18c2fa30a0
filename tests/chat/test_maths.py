"""Formulas: what models write is laid out whole, and anything else is refused in short time."""

from __future__ import annotations

import time
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paceline.chat.syntax import maths

FORMULAS = (Path(__file__).parent / "formulas.txt").read_text("utf-8").splitlines()
REFUSED = (
    r"\foo{x}",
    r"\href{javascript:alert(1)}{x}",
    r"\style{color:red}{x}",
    r"\colorbox{yellow}{x}",
    r"\newcommand{\a}{\a\a}\a",
    r"\input{/etc/passwd}",
    r"\alpha \foo \fooo",
    r"\begin{array}{c:c} a & b \end{array}",
    r"\begin{array}{c@{}c} a & b \end{array}",
    r"a\hspace{\textwidth}b",
    r"\ce{$x$}",
    r"\ce{A <=>[x] B}",
    r"\text{a\b}",
    r"\text{如果}",
    r"\frac{a",
    r"\left( x",
    r"x^2^3^",
    r"\begin{pmatrix} a",
    "",
    "   ",
)
ENDLESS = (
    "x+" * 999,
    "{" * 900 + "x" + "}" * 900,
    r"\sqrt{" * 30 + "x" + "}" * 30,
    r"\left(" * 12 + "x" + r"\right)" * 12,
    r"\begin{cases}" * 8 + "x" + r"\end{cases}" * 8,
    r"\begin{pmatrix}" + r"1\\" * 600 + r"\end{pmatrix}",
    r"\hat" * 300 + "x",
    r"\sum_{a}^{b}" * 160,
    r"\rule{99999999em}{99999999em}",
    "x" * 100_000,
)


@pytest.mark.grid(short=20)
@pytest.mark.parametrize("latex", FORMULAS)
def test_what_models_write_is_laid_out(latex: str) -> None:
    for source in (f"$${latex}$$", f"\\({latex}\\)"):
        outline = maths.outline(source)
        assert outline is not None
        assert outline.shapes
        assert outline.width > 0
        assert outline.ascent + outline.descent > 0


@pytest.mark.parametrize("latex", REFUSED)
def test_what_would_not_be_whole_is_refused(latex: str) -> None:
    assert maths.outline(f"$${latex}$$") is None


@pytest.mark.grid(short=4)
@pytest.mark.parametrize("latex", ENDLESS)
def test_what_is_endless_is_given_up(latex: str) -> None:
    began_s = time.thread_time()
    maths.outline(f"\\[{latex}\\]")
    assert time.thread_time() - began_s < 4 * maths.MAX_LAYOUT_S


@settings(max_examples=60)
@given(st.text(st.sampled_from(r"\{}[]()^_&$#%x1 +frac sqrt left right begin end cases text")))
def test_no_text_breaks_it(latex: str) -> None:
    maths.outline(f"\\({latex}\\)")


def root_of(source: str) -> ET.Element:
    """The MathML of a formula that is laid out."""
    root = maths.mathml(source)
    assert root is not None
    return root


def test_numbers_and_labels_of_equations() -> None:
    numbered = root_of(r"$$E = mc^2 \tag{7} \label{eq:e}$$")
    assert "".join(numbered.itertext()).endswith("(7)")
    rows = root_of(r"\[\begin{align} a &= b \\ c &= d \nonumber \end{align}\]")
    assert "(1)" not in "".join(rows.itertext())


def test_colours_are_the_theme_s() -> None:
    root = root_of(r"$\color{white}{x} + \textcolor{black}{y}$")
    assert "color" not in ET.tostring(root, encoding="unicode")


def test_text_in_a_formula_stays_text() -> None:
    root = root_of(r"$\text{<b>if a<b \& c</b>}$")
    assert "<b>" not in ET.tostring(root, encoding="unicode")
    assert "".join(root.itertext()).replace("\xa0", " ") == "<b>if a<b & c</b>"


def test_one_unknown_command_shows_itself() -> None:
    root = root_of(r"$x + \foo{y} = 1$")
    assert "".join(root.itertext()).replace("\xa0", " ") == "x+\\foo y=1"
    assert maths.outline(r"$x + \foo{y} = 1$") is not None


def n_lines(latex: str) -> int:
    """Count the lines and boxes that are drawn, which are no letters."""
    outline = maths.outline(f"$${latex}$$")
    assert outline is not None
    return sum(shape.line > 0 or shape.path.count("L") == 3 for shape in outline.shapes)


@pytest.mark.parametrize(
    ("columns", "rows", "n"),
    [
        ("cc", r"a & b \\ c & d", 0),
        ("c|c", r"a & b \\ c & d", 1),
        ("cc|c", r"1 & 2 & 3 \\ 4 & 5 & 6", 1),
        ("c||c|c", r"1 & 2 & 3", 2),
        ("cc", r"a & b \\ \hline c & d", 1),
        ("c|c", r"a & b \\ \hline c & d \\ e & f", 2),
        ("c|c", r"a \\ c & d", 1),
    ],
)
def test_lines_of_an_array_are_drawn(columns: str, rows: str, n: int) -> None:
    assert n_lines(rf"\begin{{array}}{{{columns}}} {rows} \end{{array}}") == n


def test_outer_lines_of_an_array_are_signs_around_it() -> None:
    plain = n_lines(r"\begin{array}{c|c} a & b \end{array}")
    assert n_lines(r"\begin{array}{|c|c|} \hline a & b \\ \hline \end{array}") == plain + 1, "a box"
    assert n_lines(r"\begin{array}{c|c} \hline a & b \end{array}") > plain
    bars = root_of(r"$\begin{array}{|c|c|} a & b \end{array}$")
    assert "".join(bars.itertext()) == "|ab|"
