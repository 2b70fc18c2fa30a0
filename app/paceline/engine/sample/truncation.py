"""Top-k, top-p and min-p.

The order is that of llama.cpp's default chain: top-k, top-p, min-p, all measured at temperature 1.
Each keeps the first tokens in descending order of their logits; among equal ones the lower id comes
first.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paceline.engine.model.backend import Row
from paceline.params import SamplingParams

Tokens = NDArray[np.int64]
Values = NDArray[np.floating[Any]]

_LANES = 128  # columns into which a row is folded
_WEIGHT_OF_TOP = 2.0**40
_GAP = 2.0  # below the largest logit; tokens within it are sorted first


def largest(row: Values, k: int) -> tuple[Tokens, Values]:
    """Return the k largest values of a row, the lower id first among equals.

    The k-th largest of the columns' maxima is a threshold that k values reach, and few more.

    Args:
        row: Floats [n], without NaN.
        k: Above 0 and at most n.

    Returns:
        Ids, int64 [k], and values, [k], sorted in descending order.
    """
    n = len(row)
    n_columns = min(max(n // _LANES, 4 * k), n)
    n_even = n - n % n_columns
    peaks = np.maximum.reduce(row[:n_even].reshape(-1, n_columns))
    if n_even < n:
        np.maximum(peaks[: n - n_even], row[n_even:], out=peaks[: n - n_even])
    peaks.partition(n_columns - k)
    tokens, values = _from(row, peaks[n_columns - k])
    return tokens[:k], values[:k]


def kept(row: Row, top: float, params: SamplingParams) -> tuple[Tokens, Values]:
    """Return the tokens that top-k, top-p and min-p keep of a row.

    Args:
        row: float32 [n_vocab], without NaN and +inf.
        top: Its largest logit.
        params: The user's settings.

    Returns:
        Ids, int64 [n], n > 0, and their logits, [n], in any order.
    """
    least = _min_p_floor(top, params.min_p)
    if 0 < params.top_k < len(row):
        tokens, logits = largest(row, params.top_k)
        if params.top_p < 1:
            weights = weights_of(logits, top)
            n = _n_enough(weights, params.top_p * float(weights.sum()))
            tokens, logits = tokens[:n], logits[:n]
    elif params.top_p < 1:
        tokens, logits = _nucleus(row, top, params.top_p)
    else:
        tokens = (row >= least).nonzero()[0]
        return tokens, row[tokens]
    is_kept = logits >= least
    return tokens[is_kept], logits[is_kept]


def weights_of(logits: Values, top: float) -> NDArray[np.int64]:
    """Return exp(logit - top) in units of 2^-40.

    They are integers, so that a sum does not depend on its order.
    """
    weights = np.exp(logits.astype(np.float64) - top)
    weights *= _WEIGHT_OF_TOP
    return np.rint(weights).astype(np.int64)


def _min_p_floor(top: float, min_p: float) -> np.float32:
    """Return the smallest float32 logit that min-p keeps."""
    if min_p == 0:
        return np.float32(-math.inf)
    least = top + math.log(min_p)
    rounded = np.float32(least)
    return rounded if float(rounded) >= least else np.nextafter(rounded, np.float32(math.inf))


def _nucleus(row: Row, top: float, top_p: float) -> tuple[Tokens, Values]:
    """Return the most likely tokens that make up the share `top_p`, in descending order."""
    enough = top_p * float(weights_of(row, top).sum())
    gap = _GAP
    while True:
        tokens, logits = _from(row, top - gap)
        n = _n_enough(weights_of(logits, top), enough)
        if n <= len(tokens):
            return tokens[:n], logits[:n]
        gap *= gap


def _n_enough(weights: NDArray[np.int64], enough: float) -> int:
    """Return how many sorted weights sum to `enough`; one more than all if they do not."""
    return int(np.searchsorted(weights.cumsum().astype(np.float64), enough)) + 1


def _from(row: Values, least: float | np.floating[Any]) -> tuple[Tokens, Values]:
    """Return the tokens with at least this logit, in descending order."""
    tokens = (row >= least).nonzero()[0]
    values = row[tokens]
    order = (-values).argsort(kind="stable")
    return tokens[order], values[order]
