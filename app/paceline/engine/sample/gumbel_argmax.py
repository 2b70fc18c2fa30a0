"""Which token has the largest ``logit / temperature + noise``, without all the noise.

Hashing 152k ids and taking two logarithms of each costs 5 ms. But noise is a growing function of
the hash, so a token can only beat the best score so far when its hash lies above a threshold that
follows from its logit. Tokens are taken in columns that share the threshold of their largest
logit; what must be computed for all of them is then a few passes over integers, in pieces that fit
into the cache, and columns that even the largest possible noise cannot save are left out. The few
tokens that come through are judged by the plain definition, so that the winner is the same
for all sizes and thresholds.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from paceline.engine.model.backend import Row
from paceline.engine.sample.noise import (
    GUMBEL_MAX,
    GUMBEL_MIN,
    gumbel,
    gumbel_of,
    hash_grid,
    largest_hashes,
)
from paceline.engine.sample.truncation import Tokens, Values

_FEW = 12  # up to here Python's own arithmetic is faster than numpy's calls
_MANY = 16_384  # up to here computing all the noise is faster than thresholds
_FIRST_COLUMNS = 8


def argmax_of(tokens: Tokens, logits: Values, temperature: float, key: int) -> int:
    """Return the token with the largest logit / temperature + noise; the first among equals.

    Args:
        tokens: Ids, int64 [n], n > 0.
        logits: Their logits, [n].
        temperature: Above 0.
        key: The position's key, see `noise.position_key`.
    """
    if len(tokens) == 1:
        return int(tokens[0])
    if len(tokens) > _FEW:
        return int(tokens[scores_of(tokens, logits, temperature, key).argmax()])
    best, best_score = -1, -math.inf
    for token, logit in zip(tokens.tolist(), logits.tolist(), strict=True):
        score = logit / temperature + gumbel_of(key, token)
        if score > best_score:
            best, best_score = token, score
    return best


def scores_of(tokens: Tokens, logits: Values, temperature: float, key: int) -> NDArray[np.float64]:
    """Return logit / temperature + noise, float64 [n]."""
    scores: NDArray[np.float64] = logits / np.float64(temperature)
    scores += gumbel(key, tokens)
    return scores


class Race:
    """Finds the winner among many tokens. Holds buffers; not thread-safe.

    Args:
        n_lanes: Tokens per column.
        n_columns: Columns per piece; 64 times 512 hashes of 8 bytes, twice, fit into 1 MiB.
        many: Among up to so many tokens all noise is computed.
    """

    def __init__(self, n_lanes: int = 64, n_columns: int = 512, *, many: int = _MANY) -> None:
        self._n_lanes = n_lanes
        self._n_columns = n_columns
        self._many = many
        self._buffers: tuple[NDArray[np.uint64], NDArray[np.uint64]] | None = None

    def winner(
        self,
        row: Row,
        best: int,
        temperature: float,
        key: int,
        after: tuple[float, int] = (-math.inf, 0),
    ) -> int:
        """Return the token with the largest logit / temperature + noise; the lowest among equals.

        Args:
            row: float32 [n_vocab], without NaN or +inf.
            best: The token with the largest logit.
            temperature: Above 0.
            key: The position's key.
            after: (logit as float32, id); only what ranks before it takes part: with a larger
                logit, or with the same logit and a lower id. `best` must.
        """
        # The likeliest token scores at least this with the least noise, and no noise is above
        # GUMBEL_MAX.
        least = row.item(best) + (GUMBEL_MIN - GUMBEL_MAX) * temperature
        possible = row >= max(least, after[0])
        n_lanes = self._n_lanes
        width = len(row) // n_lanes
        if np.count_nonzero(possible) <= self._many or width < _FIRST_COLUMNS:
            tokens = possible.nonzero()[0]
            logits = row[tokens]
            if after[0] > -math.inf:
                tokens, logits = _before(tokens, logits, after)
            return argmax_of(tokens, logits, temperature, key)
        heat = _Heat(row, temperature, key, after)
        peaks = row[: n_lanes * width].reshape(n_lanes, width).max(axis=0)
        lanes = np.arange(0, n_lanes * width, width)
        first = peaks.argpartition(-_FIRST_COLUMNS)[-_FIRST_COLUMNS:]
        rest = np.arange(n_lanes * width, len(row))
        heat.add(np.concatenate(((first + lanes[:, None]).ravel(), rest, [best])))

        reach = peaks / np.float64(temperature)
        runs = reach > heat.bar - GUMBEL_MAX
        if after[0] > -math.inf:
            runs &= peaks >= after[0]
        runs[first] = False
        columns = runs.nonzero()[0]
        for start in range(0, len(columns), self._n_columns):
            piece = columns[start : start + self._n_columns]
            limits = largest_hashes(heat.bar - reach[piece])
            hits = (self._hashes(key, lanes, piece) >= limits).ravel().nonzero()[0]
            if len(hits):
                n = len(piece)
                heat.add(lanes[hits // n] + piece[hits % n])
        return heat.winner()

    def _hashes(self, key: int, lanes: Tokens, columns: Tokens) -> NDArray[np.uint64]:
        """Return the hashes of the tokens lane + column, uint64 [n_lanes, n_columns]."""
        if self._buffers is None:
            size = self._n_lanes * self._n_columns
            self._buffers = np.empty(size, np.uint64), np.empty(size, np.uint64)
        shape = len(lanes), len(columns)
        size = shape[0] * shape[1]
        out, spare = (buffer[:size].reshape(shape) for buffer in self._buffers)
        hash_grid(key, lanes, columns, out, spare)
        return out


def _before(tokens: Tokens, logits: Values, after: tuple[float, int]) -> tuple[Tokens, Values]:
    """Return those that rank before (logit, id)."""
    logit, token = after
    keep = logits > logit
    keep |= (logits == logit) & (tokens < token)
    return tokens[keep], logits[keep]


class _Heat:
    """The candidates so far that may still win.

    Attributes:
        bar: A little less than the best score so far: what stays below it has lost.
    """

    def __init__(self, row: Row, temperature: float, key: int, after: tuple[float, int]) -> None:
        self._row = row
        self._temperature = temperature
        self._key = key
        self._after = after
        self._candidates: list[tuple[Tokens, NDArray[np.float64]]] = []
        self.bar = -math.inf

    def add(self, tokens: Tokens) -> None:
        """Score these tokens."""
        logits = self._row[tokens]
        if self._after[0] > -math.inf:
            tokens, logits = _before(tokens, logits, self._after)
        if not len(tokens):
            return
        scores = scores_of(tokens, logits, self._temperature, self._key)
        best = float(scores.max())
        # Logarithms of numpy and of Python may differ in the last place.
        self.bar = max(self.bar, best - 1e-9 - 1e-12 * abs(best))
        near = scores >= self.bar
        self._candidates.append((tokens[near], scores[near]))

    def winner(self) -> int:
        """Return the best of all, by the plain definition."""
        last: list[int] = sorted(
            token
            for tokens, scores in self._candidates
            for token, score in zip(tokens.tolist(), scores.tolist(), strict=True)
            if score >= self.bar
        )
        row, temperature, key = self._row, self._temperature, self._key
        scores = [row.item(token) / temperature + gumbel_of(key, token) for token in last]
        return last[scores.index(max(scores))]
