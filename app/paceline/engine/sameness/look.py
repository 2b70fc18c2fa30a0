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

from paceline.engine.model.backend import Vocabulary
from paceline.engine.model.context import BatchWidths, CachedContext
from paceline.engine.sameness.evidence import Pair

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
                    if apart := difference(row, other):
                        pair = min(way.width, ways[0].width), max(way.width, ways[0].width)
                        found[pair] = max(apart, found.get(pair, 0.0))
            context.rollback(n_held)
    finally:
        context.widths = usual
        context.rollback(n_held)
    return len(tokens) * (len(ways) - 1), found


def difference(some: NDArray[np.float32], more: NDArray[np.float32]) -> float:
    """Return the largest difference of two logits in rows [n_vocab]; equal infinite ones: none.

    It is NaN where a row holds one, and 0.0 for equal rows alone.
    """
    differs = some != more
    return float(np.abs(some[differs] - more[differs]).max(initial=0.0))


_TEXT = """\
Could you tell me how a bicycle stays upright? A rider who leans to the left also steers to the \
left, if only a little, and so brings the wheels back below the weight. At walking pace that takes \
many small corrections; at 25 km/h hardly any. Riders who follow each other closely save about a \
third of their power, because the first one pushes the air aside for all of them.

def mean_speed(distances_km: list[float], hours: list[float]) -> float:
    \"\"\"Return the speed over all stages, in km/h.\"\"\"
    if not hours or sum(hours) <= 0:
        raise ValueError("there is no time to divide by")
    return sum(distances_km) / sum(hours)

| Stage | Distance | Time    |
|-------|---------:|---------|
| 1     | 182.5 km | 4:21:07 |
| 2     |  37.4 km | 0:44:53 |

{"rider": 17, "name": "Zoë Müller", "stages": [{"no": 1, "place": 4}, {"no": 2, "place": null}]}

Die Gruppe fährt dicht hintereinander; wer vorne ist, wechselt alle paar Minuten. Pourquoi ? Parce \
que le vent fatigue surtout celui qui ouvre la route. 自転車 и ветер 🚴.

1. Check the tyres: 6.5 bar at the front, 7 bar at the back.
2. Take two bottles, one with salt.
3. "Never ride alone into the wind," she said, and laughed; then she was gone.
"""


def sample_tokens(vocab: Vocabulary, n: int, number: int) -> list[int]:
    """Return `n` tokens of the text over and over, beginning elsewhere for each number.

    Kernels round by the text, so random ids would not do.
    """
    tokens = vocab.tokenize(_TEXT, special=False)
    if not tokens:  # a vocabulary that knows no text
        rng = np.random.default_rng(number)
        found: list[int] = rng.integers(0, vocab.n_tokens, n).tolist()
        return found
    begin = (number * 97) % len(tokens)
    tokens = tokens[begin:] + tokens[:begin]
    return (tokens * (n // len(tokens) + 1))[:n]
