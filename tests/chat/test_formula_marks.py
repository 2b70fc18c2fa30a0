r"""Formulas are taken as they are written: whatever their marks, no backslash is lost."""

from __future__ import annotations

from time import thread_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.chat.markdown import make_parser
from paceline.chat.syntax import maths
from paceline.chat.syntax.formulas import GROWS

ALIGN = "\\begin{align}\na &= b\\\\\nc &= d\n\\end{align}"


def formulas(text: str, *, grows: bool = False) -> list[tuple[str, str]]:
    """Kind and source of each formula."""
    return [
        (child.type, child.content)
        for token in make_parser().parse(text, {GROWS: grows})
        for child in token.children or ()
        if child.type in {"math", "open_math"}
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (ALIGN, ALIGN),
        (f"Then:\n{ALIGN}\nwhere *c* holds.", ALIGN),
        ("```math\nx^2\n```", "```math\nx^2\n```"),
        ("~~~~ math\nx\\\\y\n~~~~", "~~~~ math\nx\\\\y\n~~~~"),
        ("So $`x^2`$ holds", "$`x^2`$"),
        ("\\begin{align}\na\\\\\n\nb\n\\end{align}", "\\begin{align}\na\\\\\n\nb\n\\end{align}"),
        (
            "\\begin{cases}\\begin{cases} 1 \\end{cases}\\\\ 2 \\end{cases} so",
            "\\begin{cases}\\begin{cases} 1 \\end{cases}\\\\ 2 \\end{cases}",
        ),
    ],
)
def test_formulas_without_dollars_are_set(text: str, found: str) -> None:
    assert formulas(text) == [("math", found)]
    assert maths.outline(found) is not None


@pytest.mark.parametrize(
    "source",
    [
        "$\\text{如果}$",
        "$\\ce{\\foo}$",
        "\\begin{cases} x & \\text{如果} \\\\ y \\end{cases}",
        "\\begin{itemize}\n\\item a \\\\ *b*\n\\end{itemize}",
        "\\begin{rcases} a \\\\ b \\end{rcases}",
        "```math\n\\ce{\\foo}\\\\\n```",
        "\\begin{equation} a & b \\end{equation}",
    ],
)
def test_what_cannot_be_set_is_source_as_it_stands(source: str) -> None:
    assert formulas(source) == [("math", source)]
    assert maths.outline(source) is None


def test_a_reply_that_was_cut_keeps_its_source() -> None:
    for text in (ALIGN[:-3], "\\[\na \\\\ b", "$$\na \\\\ b"):
        assert formulas(text) == [("open_math", text)]


@pytest.mark.parametrize(
    "text",
    [
        "Use \\begin{align} and \\end{align} around it",
        "Open it by \\begin{align} and *close* it",
        "`\\begin{align}` is $`",
        "```mathematica\nx^2\n```",
        "```math\n\n```",
        "```math\nx^2",
        "    \\begin{align}\n    a &= b\n    \\end{align}",
    ],
)
def test_what_is_no_formula(text: str) -> None:
    assert formulas(text) == []


@pytest.mark.parametrize(
    "name", ["align", "gather*", "multline", "alignat", "alignedat", "pmatrix", "dcases"]
)
def test_rows_stand_below_each_other(name: str) -> None:
    extra = "{2}" if name.endswith("at") else ""
    one = maths.outline(f"\\begin{{{name}}}{extra} a = b \\end{{{name}}}")
    two = maths.outline(f"\\begin{{{name}}}{extra} a = b \\\\ c = d \\end{{{name}}}")
    assert one is not None
    assert two is not None
    assert two.ascent + two.descent > 1.5 * (one.ascent + one.descent)


ENVIRONMENTS = st.sampled_from(
    ("align", "align*", "equation", "gather", "pmatrix", "cases", "array", "CD", "itemize")
)
BODY = st.lists(
    st.sampled_from(
        (
            "a",
            "&=",
            "\\\\",
            "\\\\[2pt]",
            "b_1",
            "*c*",
            "\n",
            "\n- ",
            "\n# ",
            "\\%",
            "\\{",
            "如",
            "`",
        )
    ),
    min_size=1,
    max_size=12,
).map(" ".join)


@given(ENVIRONMENTS, BODY, st.sampled_from(("{}", "Then:\n{}\nso", "- {}", "> {}", "| {} |\n|-|")))
def test_no_backslash_is_lost(name: str, body: str, frame: str) -> None:
    prefix = {"-": "  ", ">": "> ", "|": None}.get(frame[0], "")
    source = f"\\begin{{{name}}}{body} = 1\\\\\n\\end{{{name}}}"
    if prefix is None:
        source = source.replace("\n", " ")
    text = frame.format(source.replace("\n", f"\n{prefix}"))
    found = [content for kind, content in formulas(text) if kind == "math"]
    squeezed = ["".join(content.split()) for content in found]
    assert squeezed == ["".join(source.split())]


@given(BODY, st.sampled_from(("```", "````", "~~~")), st.sampled_from(("", "> ", "  ")))
def test_a_fence_named_math_is_a_formula_whole(body: str, fence: str, prefix: str) -> None:
    source = f"{fence}math\nx {body}\n{fence}"
    text = "\n".join(prefix + line for line in source.split("\n"))
    found = [content for _, content in formulas(f"- {text[2:]}" if prefix == "  " else text)]
    assert ["".join(content.split()) for content in found] == ["".join(source.split())]


@pytest.mark.grid(short=3)
@pytest.mark.parametrize(
    "text",
    [
        "\\begin{a}" * 7_000,
        "\\begin{a}\n" * 1_900,
        "\\begin{a}\n\n" * 990,
        "x \\begin{a} " * 4_000 + "\\end{a}",
        "\\begin{a}\n\n" * 900 + "\\end{a}",
        "".join(f"\\begin{{{'a' * (n % 400)}b}}" for n in range(250)),
        "$`" * 30_000,
        "```math\n" * 1_900,
        "```math\nx\n```\n" * 600,
    ],
)
def test_marks_without_end_take_no_time(text: str) -> None:
    began_s = thread_time()
    formulas(text)
    formulas(text, grows=True)
    assert thread_time() - began_s < 2
