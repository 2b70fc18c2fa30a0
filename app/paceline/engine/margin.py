"""How near another token was: the smallest change of one logit that draws it instead.

Two tokens change places where their scores cross, but also where one of them comes into the
candidates or falls out of them, at the borders of top-k, top-p and min-p; and there it may win by
any score. So the margin is found by trying: the sampler's rules are applied to the row with one
logit moved, either the wanted token's upwards or the drawn one's downwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from paceline.engine.backend import Row
from paceline.engine.noise import gumbel, position_key
from paceline.engine.sampling import COLD, Sampler
from paceline.params import SamplingParams

_LEAST, _MOST = 1e-5, 1e3  # logits
_N_HALVINGS = 12


def margin_of(sampler: Sampler, row: Row, position: int, found: int, expected: int) -> float | None:
    """Return how much one logit has to change for `expected` to be drawn in place of `found`.

    Args:
        sampler: Has just drawn from the row and not gone on.
        row: float32 [n_vocab], as the sampler has left it: with biases and penalties.
        position: Index of the token within the reply.
        found: What was drawn.
        expected: Another token.

    Returns:
        Logits, 0 or more, to a fraction of a thousandth of itself; None when `expected` does not
        exist or is forbidden.
    """
    tokens = (row > -math.inf).nonzero()[0]
    if sampler.grammar is not None:
        tokens = tokens[sampler.grammar.allowed(tokens)]
    if not np.isin((found, expected), tokens).all():
        return None
    params = sampler.params
    logits = row[tokens].astype(np.float64)
    places = np.searchsorted(tokens, (found, expected))
    if params.top_k and len(tokens) > params.top_k + 2:  # the others never come in
        least = np.partition(logits, -params.top_k - 1)[-params.top_k - 1]
        is_near = logits >= least
        is_near[places] = True
        tokens, logits = tokens[is_near], logits[is_near]
        places = np.searchsorted(tokens, (found, expected))
    ours, theirs = (int(place) for place in places)
    noise = None
    if params.temperature >= COLD:
        noise = gumbel(position_key(sampler.seed, position), tokens)

    def drawn(place: int, change: float) -> int:
        moved = logits.copy()
        moved[place] += change
        return _drawn(moved, noise, params)

    raised = _first(lambda change: drawn(theirs, change) == theirs)
    # What comes in the place of `found` need not be `expected`.
    lowered = _first(lambda change: drawn(ours, -change) != ours)
    if drawn(ours, -lowered) != theirs:
        lowered = math.inf
    return min(raised, lowered)


def _first(is_reached: Callable[[float], bool]) -> float:
    """Return the least change that reaches it; infinite where none does."""
    high = _LEAST
    while not is_reached(high):
        high *= 2
        if high > _MOST:
            return math.inf
    low = high / 2 if high > _LEAST else 0.0
    for _ in range(_N_HALVINGS):
        middle = (low + high) / 2
        if is_reached(middle):
            high = middle
        else:
            low = middle
    return high


def _drawn(
    logits: NDArray[np.float64], noise: NDArray[np.float64] | None, params: SamplingParams
) -> int:
    """Return the place of what is drawn, by the plain definition of `sampling`.

    Args:
        logits: [n], ordered by token.
        noise: [n]; None at temperature 0.
        params: What the user set.
    """
    if noise is None:
        return int(logits.argmax())
    order = (-logits).argsort(kind="stable")[: params.top_k or None]
    weights = np.exp(logits[order] - logits[order[0]])
    n = len(order)
    if params.top_p < 1:
        n = int((weights.cumsum() < params.top_p * weights.sum()).sum()) + 1
    if params.min_p > 0:
        n = min(n, int((weights >= params.min_p).sum()))
    order = np.sort(order[: max(n, 1)])
    return int(order[(logits[order] / params.temperature + noise[order]).argmax()])
