r"""Chemistry as the package mhchem has it, `\ce{…}`, written as LaTeX that every reader knows.

Formulas of substances with counts, charges and states, bonds, and equations with their
arrows, also those of what falls out or escapes; no library for Python reads more of it. What else
may stand there is no chemistry here.
"""

from __future__ import annotations

import re

_SIGNS = {
    "<=>": r"\rightleftharpoons ",
    "<->": r"\leftrightarrow ",
    "->": r"\rightarrow ",
    "<-": r"\leftarrow ",
    "-": "{-}",
    "=": "{=}",
    "#": r"{\equiv}",
}
_WRITTEN = {
    "blanks": "",
    "above": r"\xrightarrow{{\text{{{0}}}}}",
    "state": r"\mathrm{{({0})}}",
    "charge": "^{{{0}}}",
    "ion": "^{{{0}}}",
    "index": "_{{{0}}}",
    "count": "_{{{0}}}",
    "number": r"{0}\,",
    "letters": r"\mathrm{{{0}}}",
    "dot": r"\cdot ",
    "solid": r"\downarrow ",
    "gas": r"\uparrow ",
}
"""LaTeX of the kinds of parts; others are signs, or stay as they are."""
_PART = re.compile(
    r"->\[(?P<above>[^\[\]]+)\](?!\[)"
    r"|(?P<arrow><=>|<->|->|<-)"
    r"|\((?P<state>aq|s|l|g)\)"
    r"|(?P<plus>(?<=\s)\+(?=\s))"
    r"|(?P<solid>(?<=\s)v(?!\S))|(?P<gas>(?<=\s)\^(?!\S))"
    r"|\^\{?(?P<charge>\d*[+-]|\d+)\}?"
    r"|_\{?(?P<index>\d+|[a-z])\}?"
    r"|(?P<ion>(?<=[A-Za-z0-9)\]])[+-](?![A-Za-z0-9(\[]))"
    r"|(?P<count>(?<=[A-Za-z)\]])\d+)"
    r"|(?P<number>\d+(?:[./]\d+)?)"
    r"|(?P<letters>[A-Z][a-z]?|[a-z])"
    r"|(?P<bracket>[()]|(?<![->])\[|\])"
    r"|(?P<bond>[-=#])"
    r"|(?P<dot>[*.\u00b7])"
    r"|\s+"
)


def as_latex(chemistry: str) -> str | None:
    r"""Return the content of `\ce{…}` as LaTeX, or None if it is no chemistry."""
    at, latex = 0, ""
    while at < len(chemistry):
        found = _PART.match(chemistry, at)
        if found is None:
            return None
        latex += _latex_of(found)
        at = found.end()
    return latex or None


def _latex_of(found: re.Match[str]) -> str:
    text, kind = found[found.lastgroup or 0], found.lastgroup or "blanks"
    return _WRITTEN.get(kind, "{0}").format(_SIGNS.get(text, text))
