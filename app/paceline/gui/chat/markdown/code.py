"""Colours for source code: Pygments finds the words, this module says how they look.

Runs on the main thread, hence bounded: long texts and slow grammars stay uncoloured.
"""

from __future__ import annotations

from functools import lru_cache
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Generic, Keyword, Name, Number, Operator, String
from pygments.util import ClassNotFound

if TYPE_CHECKING:
    from pygments.lexer import Lexer
    from pygments.token import _TokenType


MAX_HIGHLIGHT_CHARS = 16_000
MAX_HIGHLIGHT_LINE = 1_000
MAX_HIGHLIGHT_S = 0.05
"""Some grammars are slow on odd input; what takes longer is shown in one colour."""


class CodeStyle(NamedTuple):
    """How a run of code looks; an empty colour is the text's own."""

    colour: str = ""
    bold: bool = False
    italic: bool = False


class CodeRun(NamedTuple):
    """A piece of one line in one style."""

    text: str
    style: CodeStyle


PLAIN = CodeStyle()

# Neither teal nor amber: these two say where a token came from.
_COLOURS = {
    "light": {
        "keyword": "#7B3FA0",
        "string": "#3B6E22",
        "number": "#1E5FB3",
        "comment": "#6B777E",
        "name": "#1E5FB3",
        "builtin": "#9B2F5F",
        "wrong": "#B3261E",
    },
    "dark": {
        "keyword": "#C9A0F0",
        "string": "#A8CF8E",
        "number": "#86B8F7",
        "comment": "#87949B",
        "name": "#86B8F7",
        "builtin": "#F09BBE",
        "wrong": "#FF8A80",
    },
}

_KINDS: dict[_TokenType, str] = {
    Keyword: "keyword",
    Operator.Word: "keyword",
    Name.Tag: "keyword",
    String: "string",
    Number: "number",
    Keyword.Constant: "number",
    Comment: "comment",
    Name.Function: "name",
    Name.Class: "name",
    Name.Attribute: "name",
    Name.Builtin: "builtin",
    Name.Exception: "builtin",
    Name.Decorator: "builtin",
    Keyword.Type: "builtin",
    Generic.Deleted: "wrong",
    Generic.Inserted: "string",
    Generic.Heading: "name",
}


@lru_cache(maxsize=64)
def _lexer(language: str) -> Lexer | None:
    try:
        return get_lexer_by_name(language)
    except ClassNotFound:
        return None


@lru_cache(maxsize=512)
def _style(token: _TokenType, theme_name: str) -> CodeStyle:
    at: _TokenType | None = token
    while at is not None:
        kind = _KINDS.get(at)
        if kind is not None:
            return CodeStyle(_COLOURS[theme_name][kind], italic=kind == "comment")
        at = at.parent
    return PLAIN


def file_pattern(language: str) -> str:
    """What files of a language are called: ``*.py``, ``Dockerfile``; ``*.txt`` if not known."""
    lexer = _lexer(language.lower()) if language else None
    names = lexer.filenames if lexer is not None else []
    plain = (name for name in names if name.count("*") <= 1 and not set("[]?") & set(name))
    return next(plain, "*.txt")


@lru_cache(maxsize=64)
def highlight(code: str, language: str, theme_name: str) -> list[list[CodeRun]]:
    """Lines of styled runs, which joined give the code; plain when the language is not known.

    The result is shared between calls: do not change it.
    """
    return highlight_now(code, language, theme_name, MAX_HIGHLIGHT_S)


def highlight_now(code: str, language: str, theme_name: str, limit_s: float) -> list[list[CodeRun]]:
    """As `highlight`, within this time and not cached, since growing code is asked for once."""
    lines = code.split("\n")
    lexer = _lexer(language.lower()) if language else None
    if (
        lexer is None
        or len(code) > MAX_HIGHLIGHT_CHARS
        or max(map(len, lines)) > MAX_HIGHLIGHT_LINE
    ):
        return [[CodeRun(line, PLAIN)] if line else [] for line in lines]
    result: list[list[CodeRun]] = [[]]
    deadline = perf_counter() + limit_s
    for at, token, text in lexer.get_tokens_unprocessed(code):
        if perf_counter() > deadline:
            _add(result, code[at:], PLAIN)
            break
        _add(result, text, _style(token, theme_name))
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
