"""Addresses that become links, and positions at which growing Markdown can be cut.

A model wrote the text: only http and https become links, and nothing is loaded. No Qt widgets in
here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from markdown_it.token import Token
from PySide6.QtCore import QUrl

SETTLED_CHARS = 16
"""Minimum length of a line whose kind of block is certain, even if it continues."""

_LINK_SCHEMES = ("http", "https")
_BARE_URL = re.compile(r"https?://[^\s<>\"'`|\\^{}]+[^\s<>\"'`|\\^{}.,;:!?)\]*_]")
_INLINE_MARKS = frozenset("\n*_`[]<>!&~\\|$")
_BLOCK_MARKS = frozenset("-:|=*_#>+~`<&\\![0123456789")


class Cut(NamedTuple):
    """Number of first tokens and lines that will not change when text is added."""

    n_tokens: int
    n_lines: int


def link_target(href: str) -> str:
    """Return the address if it may be opened, else an empty text."""
    url = QUrl(href, QUrl.ParsingMode.StrictMode)
    if url.isValid() and url.scheme().lower() in _LINK_SCHEMES and url.host():
        return url.toString(QUrl.ComponentFormattingOption.FullyEncoded)
    return ""


def split_bare_urls(text: str) -> list[tuple[str, str]]:
    """Split a text into parts, each with the address that it links to or an empty text."""
    if "://" not in text:
        return [(text, "")]
    parts: list[tuple[str, str]] = []
    at = 0
    for match in _BARE_URL.finditer(text):
        if match.start() > at:
            parts.append((text[at : match.start()], ""))
        parts.append((match.group(), link_target(match.group())))
        at = match.end()
    if at < len(text):
        parts.append((text[at:], ""))
    return parts


def is_fence_open(token: Token, lines: Sequence[str]) -> bool:
    """Return whether a fence with these source lines lacks its closing line."""
    if len(lines) < 2:
        return True
    last = lines[-1].strip(" >")
    return not (last.startswith(token.markup) and not last.strip(token.markup[0]))


def find_cut(tokens: Sequence[Token], lines: Sequence[str]) -> Cut:
    """Return the furthest cut before which nothing changes, however the text continues.

    `lines` is the source split at newlines: the last entry is the line that is still growing. The
    rare exceptions (a loose list, a reference defined later) are corrected by the last full
    rendering.
    """
    tops = [index for index, token in enumerate(tokens) if token.level == 0 and token.nesting >= 0]
    if not tops:
        return Cut(0, 0)
    last = tokens[tops[-1]]
    assert last.map is not None
    if _is_complete(last, lines):
        return Cut(len(tokens), last.map[1])
    best = Cut(0, 0)
    if len(tops) > 1 and _is_settled(last.map[0], lines):
        best = Cut(tops[-1], last.map[0])
    items = [
        index
        for index in range(tops[-1], len(tokens))
        if tokens[index].type == "list_item_open" and tokens[index].level == 1
    ]
    if len(items) > 1:
        item_map = tokens[items[-1]].map
        assert item_map is not None
        if _is_settled(item_map[0], lines):
            best = Cut(items[-1], item_map[0])
    return best


def _is_complete(token: Token, lines: Sequence[str]) -> bool:
    assert token.map is not None
    if token.map[1] >= len(lines):
        return False
    if token.type == "fence":
        return not is_fence_open(token, lines[slice(*token.map)])
    return token.type == "hr" or (token.type == "heading_open" and token.markup[0] == "#")


def _is_settled(line: int, lines: Sequence[str]) -> bool:
    return line < len(lines) - 1 or len(lines[line].strip()) >= SETTLED_CHARS


Growth = Literal["none", "text", "code"]


def growth_of(tokens: Sequence[Token], lines: Sequence[str]) -> Growth:
    """Return the kind of text that can be appended without parsing again."""
    if not tokens:
        return "none"
    last = tokens[-1]
    if last.type == "fence" and last.level == 0 and last.map:
        block = lines[slice(*last.map)]
        # Spaces in a line without other text are not in the content yet.
        is_in_step = bool(last.content) and (not lines[-1] or bool(lines[-1].strip()))
        is_growing = is_in_step and block[0][:1] in ("`", "~") and is_fence_open(last, block)
        return "code" if is_growing else "none"
    inline = next((token for token in reversed(tokens) if token.nesting >= 0), None)
    if inline is None or inline.type != "inline" or not inline.children:
        return "none"
    line = lines[-1].lstrip()
    is_plain = (
        tokens[-1].type == "paragraph_close"
        and tokens[-1].level == 0
        and inline.children[-1].type == "text"
        and len(line) >= SETTLED_CHARS
        and line[0] not in _BLOCK_MARKS
        and line[-1] not in _INLINE_MARKS
        and not line[-1].isspace()
        and "://" not in line
    )
    return "text" if is_plain else "none"


def can_append(growth: Growth, added: str, last_line: str, fence: str) -> bool:
    """Return whether the added text leaves the present structure unchanged."""
    if growth == "text":
        return _INLINE_MARKS.isdisjoint(added) and "://" not in added and "http" not in last_line
    if growth == "code":
        return not any(
            line.lstrip().startswith(fence[0]) for line in (last_line + added).split("\n")
        )
    return False
