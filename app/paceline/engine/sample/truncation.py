"""Top-k, top-p and min-p without sorting the vocabulary.

Order as in llama.cpp's default chain: top-k, top-p, min-p, all measured at temperature 1. Only what
lies above a threshold is sorted; ties are broken by the lower id.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paceline.engine.model.backend import Row

Tokens = NDArray[np.int64]
Values = NDArray[np.floating[Any]]

_LANES = 128  # in which a row is laid side by side
_EXP_MANY = 60  # up to here Python's own exp is faster than numpy's call
_MANY = 256  # up to here sorting a nucleus is cheaper than racing
_ALL = 1000.0  # a logit so far below the largest has no weight, not even in float64
# Of a sum of float32 exponentials: 3 units in the last place each, as many for the differences
# that matter, and those of a pairwise sum of a million terms.
_ROUNDING = 1e-5


def largest(row: Values, k: int) -> tuple[Tokens, Values]:
    """Return the k largest values of a row, the lower id first among equals.

    The k-th largest of the columns' peaks is a threshold that k values reach, and few more.
    Most numpy calls here run with cold caches right after a decode, so their number counts more
    than their work.

    Args:
        row: Floats [n], without NaN.
        k: Above 0 and at most n.

    Returns:
        Ids, int64 [k], and values, [k], sorted downwards.
    """
    n = len(row)
    n_columns = min(max(n // _LANES, 4 * k), n)
    n_even = n - n % n_columns
    peaks = np.maximum.reduce(row[:n_even].reshape(-1, n_columns))
    if n_even < n:
        np.maximum(peaks[: n - n_even], row[n_even:], out=peaks[: n - n_even])
    peaks.partition(n_columns - k)
    tokens = (row >= peaks[n_columns - k]).nonzero()[0]
    values = row[tokens]
    order = (-values).argsort(kind="stable")[:k]
    return tokens[order], values[order]


def weights_of(logits: Values, top: float) -> list[float]:
    """Return exp(logit - top)."""
    if len(logits) <= _EXP_MANY:
        exp = math.exp
        return [exp(logit - top) for logit in logits.tolist()]
    weights: list[float] = np.exp(logits - np.float64(top)).tolist()
    return weights


def survivors(weights: Sequence[float], enough: float, least: float) -> int:
    """Return how many of the sorted weights top-p (sum >= `enough`) and min-p leave, at least 1."""
    total, n = 0.0, 0
    for weight in weights:
        if weight < least:
            break
        n += 1
        total += weight
        if total >= enough:
            break
    return max(n, 1)


def min_p_floor(top: float, min_p: float) -> float:
    """Return the smallest float32 that min-p leaves as a logit."""
    if min_p == 0:
        return -math.inf
    least = top + math.log(min_p)
    rounded = float(np.float32(least))  # often downwards, and far from 0 that is a lot
    if rounded >= least:
        return rounded
    return float(np.nextafter(np.float32(least), np.float32(top)))


class Nucleus:
    """The likeliest tokens of one row that make up the share `top_p`, when top-k is off.

    Sums are estimated in float32, which is four times as fast; only where the estimate leaves open
    what belongs to the nucleus, they are computed in float64.
    """

    def __init__(self, row: Row, top: float, top_p: float) -> None:
        self._row = row
        self._top = top
        self._top_p = top_p
        self._weights = np.exp(row - np.float32(top))
        self._estimate = top_p * float(self._weights.sum())
        self._exact: float | None = None

    def sort(self, min_p: float) -> tuple[Tokens, Values, list[float], int] | None:
        """Return ids, logits and weights sorted downwards, and how many top-p and min-p leave.

        None when the nucleus is so wide that `holds` is cheaper.
        """
        row, top, most = self._row, self._top, self._estimate * (1 + _ROUNDING)
        gap = 2.0
        while True:
            near = row >= top - gap
            if np.count_nonzero(near) > _MANY:
                return None
            tokens = near.nonzero()[0]
            logits = row[tokens]
            if gap > _ALL or float(np.exp(logits - np.float64(top)).sum()) >= most:
                break
            gap *= 2
        order = (-logits).argsort(kind="stable")
        tokens, logits = tokens[order], logits[order]
        weights = weights_of(logits, top)
        n = survivors(weights, self._estimate * (1 - _ROUNDING), min_p)
        if n != survivors(weights, most, min_p):
            n = survivors(weights, self._enough(), min_p)
        return tokens, logits, weights, n

    def holds(self, token: int) -> bool:
        """Return whether the token belongs to the nucleus: those before it are not enough."""
        row = self._row
        logit = row[token]
        larger = row > logit
        n_equal = int(np.count_nonzero(row[:token] == logit))
        before = float((self._weights * larger).sum()) + n_equal * float(self._weights[token])
        if abs(before - self._estimate) > 3 * _ROUNDING * self._estimate:
            return before < self._estimate
        top = np.float64(self._top)
        exact = float(np.exp(row[larger] - top).sum()) + n_equal * float(np.exp(logit - top))
        return exact < self._enough()

    def _enough(self) -> float:
        if self._exact is None:
            self._exact = self._top_p * float(np.exp(self._row - np.float64(self._top)).sum())
        return self._exact
