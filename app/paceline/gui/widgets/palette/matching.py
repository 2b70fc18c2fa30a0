"""Fuzzy matching: whether the letters of a query stand in a title in their order, and how well.

Letters at the beginnings of words and letters in a row count most, as in the finders of editors;
the places that count most are found by trying each place of a letter once (dynamic programming
over the few places there are). Pure functions, any thread.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_BEGINS_WORD, _IN_A_ROW, _FIRST, _PLAIN, _GAP = 8, 8, 2, 1, -3
_LONGEST_QUERY = 64
_LONGEST_TITLE = 200
"""Nobody sees more of a title, and the time grows with it."""


@dataclass(frozen=True, slots=True)
class Match:
    """How well a title fits.

    Attributes:
        score: More is better; only scores of the same query compare.
        places: Which letters of the title were meant, ascending.
    """

    score: float
    places: tuple[int, ...]


class Query:
    """What was typed, prepared for many titles."""

    def __init__(self, text: str) -> None:
        self.letters = "".join(text.casefold().split())[:_LONGEST_QUERY]
        # Each part skips what is not its letter and never gives anything back: one pass, whatever
        # the title is.
        pattern = "".join(f"[^{re.escape(c)}]*+{re.escape(c)}" for c in self.letters)
        self._accepts = re.compile(pattern, re.DOTALL).match

    def may_match(self, title: str) -> bool:
        """Return whether `match` would find anything; much cheaper. The title is in small letters.

        Args:
            title: In small letters (`str.casefold`).
        """
        return self._accepts(title) is not None

    def match(self, title: str) -> Match | None:
        """Return how well a title fits; None: a letter is missing. An empty query fits all."""
        if not self.letters:
            return Match(0.0, ())
        title = title[:_LONGEST_TITLE]
        # Letter by letter: casefold may lengthen a text, and then places would shift.
        folded = "".join(c.casefold() if len(c.casefold()) == 1 else c for c in title)
        if not self.may_match(folded):
            return None
        best = _best_places(self.letters, folded, title)
        if best is None:
            return None
        score, places = best
        # Of two titles that fit alike, the shorter one is meant.
        return Match(score - len(title) / 100, places)


def _best_places(letters: str, folded: str, title: str) -> tuple[float, tuple[int, ...]] | None:
    """Return the best score and its places."""
    worth = [_worth(title, at) for at in range(len(title))]
    # row[at]: the best score with the newest letter at this place; came_from: the place before.
    row: dict[int, float] = {at: worth[at] for at, c in enumerate(folded) if c == letters[0]}
    steps: list[dict[int, int]] = []
    for letter in letters[1:]:
        newer: dict[int, float] = {}
        came_from: dict[int, int] = {}
        best_at, best = -1, float("-inf")
        older = sorted(row)
        passed = 0
        for at, c in enumerate(folded):
            while passed < len(older) and older[passed] < at:
                if row[older[passed]] > best:
                    best_at, best = older[passed], row[older[passed]]
                passed += 1
            if c != letter or best_at < 0:
                continue
            newer[at], came_from[at] = best + worth[at] + _GAP, best_at
            joined = row.get(at - 1)
            if joined is not None and joined + _IN_A_ROW + _PLAIN > newer[at]:
                newer[at], came_from[at] = joined + max(_IN_A_ROW + _PLAIN, worth[at]), at - 1
        row = newer
        steps.append(came_from)
        if not row:
            return None
    if not row:
        return None
    at = max(row, key=lambda place: (row[place], -place))
    score, places = row[at], [at]
    for came_from in reversed(steps):
        at = came_from[at]
        places.append(at)
    return score, tuple(reversed(places))


def _worth(title: str, at: int) -> float:
    """Return what a letter at this place counts by itself."""
    if at == 0:
        return _PLAIN + _BEGINS_WORD + _FIRST
    before, letter = title[at - 1], title[at]
    begins = (not before.isalnum() and letter.isalnum()) or (before.islower() and letter.isupper())
    return _PLAIN + (_BEGINS_WORD if begins else 0)
