"""How much of an earlier reply a new one has.

A token is kept where it stands at the same place again, or in a run of three that both replies
have in the same order: shorter runs away from their place come by chance. The runs are those of a
longest common subsequence, over tokens in threes, found for all places at once with integers of
one bit per token (Hyyrö 2004, "Bit-parallel LCS-length computation revisited"): 2 ms for two
replies of 1,000 tokens.
"""

from __future__ import annotations

from collections.abc import Sequence

from paceline.figures import Kept

_RUN = 3
_MOST = 8192
"""Tokens of either that are compared; the rest counts as not kept."""


def kept_of(earlier: Sequence[int], new: Sequence[int]) -> Kept:
    """Compare two replies by their tokens."""
    both = enumerate(zip(earlier, new, strict=False))
    same = {place for place, (token, other) in both if token == other}
    n_before = len(earlier)
    for i, j in _common(_runs(earlier[:_MOST]), _runs(new[:_MOST])):
        if i != j:
            n_before = min(n_before, i)
        same.update(range(i, i + _RUN))
    return Kept(len(earlier), len(same), n_before, sum(i < n_before for i in same))


def _runs(tokens: Sequence[int]) -> list[tuple[int, ...]]:
    return [tuple(tokens[i : i + _RUN]) for i in range(len(tokens) - _RUN + 1)]


def _common(a: Sequence[object], b: Sequence[object]) -> list[tuple[int, int]]:
    """Return the places in both of a longest common subsequence, in their order."""
    places: dict[object, int] = {}
    for i, item in enumerate(a):
        places[item] = places.get(item, 0) | 1 << i
    ones = (1 << len(a)) - 1
    row, rows = ones, [ones]  # a zero bit i: with a[i] the subsequence grows by one
    for item in b:
        hits = row & places.get(item, 0)
        row = ((row + hits) | (row - hits)) & ones
        rows.append(row)
    found = []
    i, j = len(a) - 1, len(b)
    while i >= 0 and j > 0:
        if rows[j] >> i & 1:
            i -= 1
        elif not rows[j - 1] >> i & 1:
            j -= 1
        else:
            j -= 1
            found.append((i, j))
            i -= 1
    return found[::-1]
