"""Colours for source code, by the tokens of `paceline.chat.syntax.code`.

Runs on the main thread.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from paceline.chat.syntax.code import MAX_HIGHLIGHT_S, kinds_in
from paceline.gui.look.colours import CODE_COLOURS


class CodeStyle(NamedTuple):
    """Look of a run of code; an empty colour is the text's own."""

    colour: str = ""
    bold: bool = False
    italic: bool = False


class CodeRun(NamedTuple):
    """A piece of one line in one style."""

    text: str
    style: CodeStyle


PLAIN = CodeStyle()


@lru_cache(maxsize=64)
def highlight(code: str, language: str, theme_name: str) -> list[list[CodeRun]]:
    """Return lines of styled runs that join to the code; plain where the language is unknown.

    The result is shared between calls: do not change it.
    """
    return highlight_now(code, language, theme_name, MAX_HIGHLIGHT_S)


def highlight_now(code: str, language: str, theme_name: str, limit_s: float) -> list[list[CodeRun]]:
    """Return the same as `highlight`, uncached and within a time limit, for growing code."""
    result: list[list[CodeRun]] = [[]]
    colours = CODE_COLOURS[theme_name]
    for text, kind in kinds_in(code, language, limit_s):
        style = CodeStyle(colours[kind], italic=kind == "comment") if kind else PLAIN
        _add(result, text, style)
    return result


def _add(lines: list[list[CodeRun]], text: str, style: CodeStyle) -> None:
    first, *others = text.split("\n")
    for index, part in enumerate((first, *others)):
        if index:
            lines.append([])
        if not part:
            continue
        line = lines[-1]
        if line and line[-1].style == style:
            line[-1] = CodeRun(line[-1].text + part, style)
        else:
            line.append(CodeRun(part, style))
