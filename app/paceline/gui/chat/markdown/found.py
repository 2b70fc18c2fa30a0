"""What is searched for in messages: by their source, so that it can be counted without a view.

Places are characters of a message's source, [start, end).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

_MARKS = "*_`~"
_MARKED = 1_000
"""So many hits are marked in a message, those around the current one; placing each takes 3 µs."""


class Hits(NamedTuple):
    """Hits in one message.

    Attributes:
        spans: Where they stand, in their order.
        current: The one that the user is at; None: it is none of these.
    """

    spans: tuple[tuple[int, int], ...] = ()
    current: tuple[int, int] | None = None


def any_word(words: Iterable[str]) -> re.Pattern[str] | None:
    """Any of these words, in upper or lower case; each may begin a longer one. None: no words."""
    known = sorted({word.strip() for word in words if word.strip()}, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, known)), re.IGNORECASE) if known else None


def phrase(text: str) -> re.Pattern[str] | None:
    """These words after each other, in upper or lower case; None: no words.

    Between two of them may stand the end of a line, and marks of bold text and code, which are
    not seen.
    """
    words = text.split()
    pattern = re.escape(words[0]) if words else ""
    for before, word in pairwise(words):
        # Never two repetitions beside each other that take the same signs: that takes for ever.
        gap = r"\s+" if {before[-1], word[0]} & set(_MARKS) else rf"[\s{_MARKS}]+"
        pattern += gap + re.escape(word)
    return re.compile(pattern, re.IGNORECASE) if pattern else None


def hits_in(text: str, pattern: re.Pattern[str] | None, current: int | None = None) -> Hits:
    """Where a pattern is found; `current` is the number of the hit that the user is at, from 0."""
    if pattern is None:
        return Hits()
    spans = tuple(found.span() for found in pattern.finditer(text))
    at = spans[current] if current is not None and current < len(spans) else None
    first = max(0, (current or 0) - _MARKED // 2)
    return Hits(spans[first : first + _MARKED], at)
