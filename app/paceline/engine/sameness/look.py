"""Decodes the same tokens in batches of several widths and compares the rows bit by bit.

Whether two widths round alike depends on the data and on a row's place in its batch (kernels take
rows by fours, say, and what is left over by another one), so each width is used as decoding uses
it: tokens one after the other, batch by batch, with every place of a batch taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paceline.engine.prefix import CachedContext
from paceline.engine.sameness.evidence import Pair
from paceline.engine.sameness.widths import BatchWidths

N_FEW = 12
"""Tokens that are compared at narrow widths, which is as many plain steps."""
_ORDER = (
    2, 4, 8, 3, 5, 12, 7, 6, 9, 10, 11,
    16, 33, 63, 13, 26, 20, 46, 35, 32, 17, 48, 60, 56, 40, 24, 62, 19, 27, 22, 31, 14, 45, 18,
)  # fmt: skip
_N_OTHERS = 3


class Way(NamedTuple):
    """Batches of `width` tokens, of which the first `n_real` are tokens of the text."""

    width: int
    n_real: int


def ways_of_look(widths: BatchWidths, number: int) -> list[Way]:
    """Return what the look of this number compares.

    Two looks of three compare single tokens, as plain decoding takes them, with narrow batches; the
    third one a narrow width with wide ones. In a dozen looks all widths up to 12 have their turn,
    and of the others all places modulo 8.
    """
    lowest = widths.lowest
    others = [w for w in (*_ORDER, widths.highest) if w in widths.every and w != lowest]
    others = list(dict.fromkeys(others))
    if not others:
        return [Way(lowest, n) for n in dict.fromkeys((1, lowest, max(lowest // 2, 1)))]
    narrow = [w for w in others if w <= N_FEW]
    wide = [w for w in others if w > N_FEW]
    if wide and number % 3 == 2:
        base = max(narrow, default=lowest)
        return [Way(w, w) for w in (base, *_some(wide, 2, number // 3))]
    some = _some(narrow or wide, _N_OTHERS, number - number // 3)
    return [Way(lowest, 1), *(Way(w, w) for w in some)]


def _some(items: Sequence[int], n: int, turn: int) -> list[int]:
    """Return `n` items, the next ones each turn."""
    n = min(n, len(items))
    return [items[(turn * n + i) % len(items)] for i in range(n)]


def n_tokens_of(ways: Sequence[Way]) -> int:
    """Return how many tokens such a look decodes in every way."""
    return N_FEW if any(way.n_real == 1 for way in ways) else max(way.width for way in ways)


def look(
    context: CachedContext, ways: Sequence[Way], tokens: Sequence[int]
) -> tuple[int, dict[Pair, float]]:
    """Decode tokens after what the context holds, in each way, and take them back.

    Args:
        context: Has room for the tokens and one batch of the widest width; holds the same
            afterwards, or nothing where the model failed.
        ways: At least two.
        tokens: `n_tokens_of` them.

    Returns:
        How many rows were compared with those of the first way, and the pairs of widths that
        differed, with the largest difference of one logit.

    Raises:
        CancelledError: The flag was set.
        EngineError: The model failed.
    """
    n_held, usual = len(context.tokens), context.widths
    found: dict[Pair, float] = {}
    first: list[NDArray[np.float32]] = []
    try:
        for way in ways:
            context.widths = BatchWidths(way.width, way.width, way.width)
            for i in range(0, len(tokens), way.n_real):
                piece = tokens[i : i + way.n_real]
                rows = context.feed(piece, len(piece))
                if way is ways[0]:
                    first.extend(rows.copy())
                    continue
                for row, other in zip(rows, first[i:], strict=False):
                    if not np.array_equal(row, other):
                        pair = min(way.width, ways[0].width), max(way.width, ways[0].width)
                        found[pair] = max(_difference(row, other), found.get(pair, 0.0))
            context.rollback(n_held)
    finally:
        context.widths = usual
        context.rollback(n_held)
    return len(tokens) * (len(ways) - 1), found


def _difference(some: NDArray[np.float32], more: NDArray[np.float32]) -> float:
    """Return the largest difference of two logits in rows [n_vocab]; equal infinite ones: none."""
    differs = some != more
    return float(np.abs(some[differs] - more[differs]).max(initial=0.0))
