"""Markdown to tokens, safely: the parser's settings and its limits.

What arrives here was written by a model: raw HTML stays text, and no input may keep anybody
waiting. Therefore a message has caps, and inline text that is mostly markup characters is not
parsed. No Qt, any thread.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from markdown_it.token import Token

from paceline.chat.markdown_places import AT, PlacingParser

if TYPE_CHECKING:
    from markdown_it.rules_core import StateCore

MAX_MARKDOWN_CHARS = 64_000
MAX_MARKDOWN_LINES = 2_000
MAX_LINE_CHARS = 20_000
"""From the first place on that exceeds one of these, the rest of a message is plain text."""

MAX_NESTING = 60
"""Levels of the parser; a list takes two. What is deeper is dropped, as nobody writes it."""

# Links and emphasis are matched in quadratic time in the worst case: 64,000 brackets take 0.8 s.
# Prose has one markup character in thirty; these limits are ten times beyond.
_MAX_BRACKETS = 400
_MAX_EMPHASIS = 2_000
_MAX_MARKS_PER_MESSAGE = 8_000
_MAX_BARS_PER_LINE = 100
_DEEP_QUOTE = re.compile(r"(?: {0,3}>){12}")
_MARKS = re.compile(r"[\[\]*_~`]")


@cache
def shared_parser() -> PlacingParser:
    """The parser of the main thread; between two texts it keeps no state."""
    return make_parser()


def make_parser() -> PlacingParser:
    """A parser with its limits, for one thread."""
    parser = PlacingParser({"html": False, "maxNesting": MAX_NESTING})
    parser.core.ruler.at("inline", _parse_inline)
    return parser


def _parse_inline(state: StateCore) -> None:
    """Parse inline text, except where it is a trap."""
    for token in state.tokens:
        if token.type != "inline":
            continue
        token.children = []
        if _is_trap(token.content):
            at = 0
            for line in token.content.split("\n"):
                if at:
                    token.children.append(Token("softbreak", "br", 0, meta={AT: at - 1}))
                token.children.append(Token("text", "", 0, content=line, meta={AT: at}))
                at += len(line) + 1
        else:
            state.md.inline.parse(token.content, state.md, state.env, token.children)


def _is_trap(text: str) -> bool:
    if len(text) <= _MAX_BRACKETS:
        return False
    brackets = text.count("[") + text.count("]")
    return brackets > _MAX_BRACKETS or text.count("*") + text.count("_") > _MAX_EMPHASIS


def split_at_caps(text: str) -> int:
    """How many characters from the start are shown as Markdown; the rest is plain text."""
    if len(_MARKS.findall(text, 0, MAX_MARKDOWN_CHARS)) > _MAX_MARKS_PER_MESSAGE:
        return 0
    start = 0
    for _ in range(MAX_MARKDOWN_LINES):
        end = text.find("\n", start)
        length = (end if end >= 0 else len(text)) - start
        if (
            length > MAX_LINE_CHARS
            or start + length > MAX_MARKDOWN_CHARS
            or text.count("|", start, start + length) > _MAX_BARS_PER_LINE
            or _DEEP_QUOTE.match(text, start)
        ):
            return start
        if end < 0:
            return len(text)
        start = end + 1
    return start
