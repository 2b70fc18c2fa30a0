r"""Formulas in Markdown, taken as they are: emphasis and escapes would maim them.

They are written as `$…$`, `` $`…`$ ``, `$$…$$`, `\(…\)`, `\[…\]`, as an environment of LaTeX
(`\begin{align}…\end{align}`) or as a fence named `math`. A token "math" holds one with its marks;
`chat.maths` says whether it can be set. A token "open_math" has no end.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from paceline.chat.syntax.maths import MAX_FORMULA_CHARS

if TYPE_CHECKING:
    from collections.abc import Callable

    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline

    BlockRule = Callable[[StateBlock, int, int, bool], bool]

GROWS = "grows"
"""Key of the parser's environment: more text is to come, so a formula may still find its end."""

# A dollar sign in prose is mostly money or a variable of a shell: "$5 and $10", "$HOME/$USER".
_DOLLARS = re.compile(
    r"\$\$(?:[^$`\\]|\\.)+\$\$"
    r"|\$`[^`]+`\$"
    r"|\$(?=[^\s$`])(?:[^$\n`\\]|\\.)*(?<![\s/:=,])\$(?![\dA-Z_{(])",
    re.DOTALL,
)
_COMMANDS = re.compile(r"\\[A-Za-z]+\s*(?:\{[^{}]*\})?")
_PROSE = re.compile(
    r"\d[\d.,]*(?:\s+(?:to|and|or|per|a)\b|.*\b[A-Za-z]{4})|.*\b[A-Za-z]{3,}\s+[A-Za-z]{3,}\b"
)
_MAX_JUDGED_CHARS = 200
"""Upper bound of the characters that decide between prose and formula; the pattern is quadratic in
them."""
_BEGIN = re.compile(r"\\begin\{([A-Za-z]+\*?)\}")
_MAX_NESTING = 10
_NO_PROSE = re.compile(r"[&=^_\\\d+<>]")
_FENCE = re.compile(r"(`{3,}|~{3,})[ \t]*math\b[^\n]*\n.*\n {0,3}\1[`~]*", re.DOTALL)
_OPEN = re.compile(r"\\[(\[]|\$\$(?=\S)|\\begin\{")
_OPEN_LINE = re.compile(r"(?:\\\[|\$\$)[ \t]*\n|\\begin\{")
"""Nothing but a formula begins a line like this, even where it has no end: a reply was cut."""
_BLOCK = re.compile(r"\\\[|\$\$(?=\S|$)|\\begin\{[A-Za-z]+\*?\}", re.MULTILINE)


def take_formula(state: StateInline, silent: bool) -> bool:  # noqa: FBT001  as called
    """Take a formula of running text.

    One that has no end yet, in text that grows, is as it is written to the end of the text.
    """
    start, src = state.pos, state.src
    if src[start] not in "$\\`~":
        return False
    last = min(state.posMax, start + MAX_FORMULA_CHARS + 4)
    end = _end_of_formula(state, start, last)
    kind = "math"
    if end < 0:
        grows = last == state.posMax and state.env.get(GROWS) and _OPEN.match(src, start)
        if not grows and not (_begins_line(src, start) and _OPEN_LINE.match(src, start)):
            return False
        end, kind = state.posMax, "open_math"
    if not silent:
        token = state.push(kind, "", 0)
        token.content = src[start:end]
    state.pos = end
    return True


def _end_of_formula(state: StateInline, start: int, last: int) -> int:
    """Return where a formula that begins here ends; -1 if none does before `last`."""
    src = state.src
    if src[start] in "`~":
        return state.posMax if not start and _FENCE.fullmatch(src) else -1
    if src[start] == "$":
        found = _DOLLARS.match(src, start, last)
        is_sure = src[start + 1 : start + 2] in ("$", "`")
        if found is None or not (is_sure or _is_formula(src, start, found.end())):
            return -1
        return found.end()
    if begin := _BEGIN.match(src, start):
        end = _end_of_environment(src, begin, state.posMax)
        n_end = len(begin[0]) - len("begin") + len("end")
        return end if _NO_PROSE.search(src, begin.end(), max(0, end - n_end)) else -1
    if src[start + 1 : start + 2] not in ("(", "["):
        return -1
    end = src.find("\\)" if src[start + 1] == "(" else "\\]", start + 2, last)
    return end + 2 if end > start + 2 else -1


def _end_of_environment(src: str, begin: re.Match[str], last: int) -> int:
    r"""Return where the `\end` of a `\begin` ends, past others of its name; -1 if none does."""
    if src.find(f"\\end{{{begin[1]}}}", begin.end(), last) < 0:
        return -1
    depth = 1
    for mark in re.compile(rf"\\(begin|end)\{{{re.escape(begin[1])}\}}").finditer(
        src, begin.end(), last
    ):
        depth += 1 if mark[1] == "begin" else -1
        if not depth:
            return mark.end()
        if depth > _MAX_NESTING:
            break
    return -1


def _begins_line(src: str, start: int) -> bool:
    return not src[src.rfind("\n", 0, start) + 1 : start].strip()


def _is_formula(src: str, start: int, end: int) -> bool:
    """Return whether the text between two single dollar signs is a formula and no prose."""
    if start and (src[start - 1].isalnum() or src[start - 1] in "$_"):
        return False
    return not _PROSE.match(_COMMANDS.sub(" ", src[start + 1 : end - 1][:_MAX_JUDGED_CHARS]))


def formula_block(state: StateBlock, first: int, end: int, silent: bool) -> bool:  # noqa: FBT001
    r"""A paragraph that begins with `$$`, `\[` or an environment continues to the formula's end.

    Its lines may begin as those of lists or headings do: "- b" goes on with a difference. In an
    environment there may be empty lines.
    """
    start = state.bMarks[first] + state.tShift[first]
    mark = _BLOCK.match(state.src, start, state.eMarks[first])
    if mark is None or state.is_code_block(first):
        return False
    if silent:
        return True
    last = state.eMarks[end - 1]
    begin = _BEGIN.match(state.src, start)
    if begin:
        close = _end_of_environment(state.src, begin, last)
    else:
        found = state.src.find("$$" if mark.group() == "$$" else "\\]", start + 2, last)
        close = found + 2 if found >= 0 else -1
    has_gaps = begin is not None and (close >= 0 or bool(state.env.get(GROWS)))
    line = first + 1
    while line < end and not 0 <= close <= state.eMarks[line - 1]:
        is_gap = state.isEmpty(line)
        if not has_gaps if is_gap else state.sCount[line] < state.blkIndent:
            break
        line += 1
    state.line = line
    content = state.getLines(first, line, state.blkIndent, keepLastLF=False).strip()
    _push_paragraph(state, first, line, content)
    return True


def formula_fence(run: BlockRule) -> BlockRule:
    """Make a rule for fences: one that is named `math` and has its end is a formula."""

    def fence(state: StateBlock, first: int, end: int, silent: bool) -> bool:  # noqa: FBT001
        is_found = run(state, first, end, silent)
        if is_found and not silent and state.tokens[-1].info.split()[:1] == ["math"]:
            content = state.getLines(first, state.line, state.blkIndent, keepLastLF=False).strip()
            is_short = len(state.tokens[-1].content) <= MAX_FORMULA_CHARS
            if is_short and state.tokens[-1].content.strip() and _FENCE.fullmatch(content):
                state.tokens.pop()
                _push_paragraph(state, first, state.line, content)
        return is_found

    return fence


def _push_paragraph(state: StateBlock, first: int, end: int, content: str) -> None:
    token = state.push("paragraph_open", "p", 1)
    token.map = [first, end]
    token = state.push("inline", "", 0)
    token.content = content
    token.map = [first, end]
    token.children = []
    state.push("paragraph_close", "p", -1)
