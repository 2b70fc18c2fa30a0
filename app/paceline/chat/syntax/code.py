"""Kinds of words in source code: Pygments finds them, window and pages give them colours.

Bounded, since the window asks while it paints: long texts and slow grammars stay of one kind. Pure
functions, any thread.
"""

from __future__ import annotations

from functools import lru_cache
from time import perf_counter
from typing import TYPE_CHECKING

from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Generic, Keyword, Name, Number, Operator, String
from pygments.util import ClassNotFound

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pygments.lexer import Lexer
    from pygments.token import _TokenType


MAX_HIGHLIGHT_CHARS = 16_000
MAX_HIGHLIGHT_LINE = 1_000
MAX_HIGHLIGHT_S = 0.05
"""Upper bound of the time for one text; some grammars are slow on odd input, and the rest stays of
one kind."""
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
def _kind(token: _TokenType) -> str:
    at: _TokenType | None = token
    while at is not None:
        kind = _KINDS.get(at)
        if kind is not None:
            return kind
        at = at.parent
    return ""


def kinds_in(
    code: str, language: str, limit_s: float = MAX_HIGHLIGHT_S
) -> Iterator[tuple[str, str]]:
    """Yield pieces of code, which joined give it, each with its kind.

    A kind is one of "keyword", "string", "number", "comment", "name", "builtin" and "wrong"; empty
    for the rest, and for all of it when the language is not known.
    """
    lexer = _lexer(language.lower()) if language else None
    lines = code.split("\n")
    if (
        lexer is None
        or len(code) > MAX_HIGHLIGHT_CHARS
        or max(map(len, lines)) > MAX_HIGHLIGHT_LINE
    ):
        yield code, ""
        return
    deadline = perf_counter() + limit_s
    done = 0
    # Grammars of terminal sessions leave out a last line that does not end; some change letters.
    for _, token, text in lexer.get_tokens_unprocessed(f"{code}\n"):
        piece = text[: len(code) - done]
        if perf_counter() > deadline or not code.startswith(piece, done):
            break
        if piece:
            yield piece, _kind(token)
        done += len(piece)
    if done < len(code):
        yield code[done:], ""


def file_pattern(language: str) -> str:
    """Return the pattern of a language's file names: ``*.py``, ``Dockerfile``; else ``*.txt``."""
    lexer = _lexer(language.lower()) if language else None
    names = lexer.filenames if lexer is not None else []
    plain = (name for name in names if name.count("*") <= 1 and not set("[]?") & set(name))
    return next(plain, "*.txt")
