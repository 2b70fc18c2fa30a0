"""Search in messages: in their source, so that hits can be counted without a view.

Positions are characters of a message's source, [start, end).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

_MARKS = "*_`~"
_MAX_MARKED = 1_000
"""Maximum number of marked hits in a message, around the current one; positioning each takes 3
µs."""


class Hits(NamedTuple):
    """Hits in one message.

    Attributes:
        spans: Their positions in order.
        current: The current hit, or None if it is in another message.
    """

    spans: tuple[tuple[int, int], ...] = ()
    current: tuple[int, int] | None = None


def any_word(words: Iterable[str]) -> re.Pattern[str] | None:
    """Return a pattern for any of these words or longer ones that begin with them, in any case.

    Without words, return None.
    """
    known = sorted({word.strip() for word in words if word.strip()}, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, known)), re.IGNORECASE) if known else None


def phrase(text: str) -> re.Pattern[str] | None:
    """Return a pattern for these words in order, in any case, or None without words.

    Between two words the text may have the end of a line, and marks of bold text and code, which
    are not visible.
    """
    words = text.split()
    pattern = re.escape(words[0]) if words else ""
    for before, word in pairwise(words):
        # Never two adjacent repetitions that match the same characters: their backtracking takes
        # for ever.
        gap = r"\s+" if {before[-1], word[0]} & set(_MARKS) else rf"[\s{_MARKS}]+"
        pattern += gap + re.escape(word)
    return re.compile(pattern, re.IGNORECASE) if pattern else None


def hits_in(text: str, pattern: re.Pattern[str] | None, current: int | None = None) -> Hits:
    """Return the hits of a pattern; `current` is the number of the current hit, from 0."""
    if pattern is None:
        return Hits()
    spans = tuple(found.span() for found in pattern.finditer(text))
    at = spans[current] if current is not None and current < len(spans) else None
    first = max(0, (current or 0) - _MAX_MARKED // 2)
    return Hits(spans[first : first + _MAX_MARKED], at)
