"""Logits to one token: truncation, temperature and coupled Gumbel noise.

The same code serves plain decoding, verification and drafting, so that a token depends on its
logits and on (seed, position) alone. Order as in llama.cpp's default chain: top-k, top-p, min-p,
temperature; then the noise takes the place of the random draw: the argmax of
``logit / temperature + gumbel`` has exactly the truncated softmax distribution.

Truncation never sorts the vocabulary: a threshold below the maximum is guessed from the row
before, and only what lies above it is sorted; ties are broken by the lower id, so that a wrong
guess costs time but never changes the result.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from paceline.engine.backend import Row
from paceline.engine.noise import GUMBEL_MAX, gumbel, position_key
from paceline.errors import EngineError, ValueOutOfRangeError
from paceline.messages import SamplingParams

_TOP_OF_CONFIDENCE = 10
_NEGLIGIBLE = 16.0  # e**-16 of the largest probability cannot be seen in a confidence


def check_sampling(params: SamplingParams) -> None:
    """Refuse values without a meaning.

    Raises:
        ValueOutOfRangeError: Names the value and its range.
    """

    def refuse(name: str, value: float, what: str) -> None:
        raise ValueOutOfRangeError(
            "value-out-of-range", f"{name} is {value:g}, but it must be {what}."
        )

    if not (math.isfinite(params.temperature) and 0 <= params.temperature <= 100):
        refuse("Temperature", params.temperature, "between 0 and 100")
    if params.top_k < 0:
        refuse("Top-k", params.top_k, "0 (off) or more")
    if not 0 < params.top_p <= 1:
        refuse("Top-p", params.top_p, "above 0 and at most 1 (off)")
    if not 0 <= params.min_p <= 1:
        refuse("Min-p", params.min_p, "between 0 (off) and 1")


class Sampler:
    """Draws tokens for one reply. Not thread-safe; holds no state that changes a result."""

    def __init__(self, params: SamplingParams, seed: int, suppress: Iterable[int] = ()) -> None:
        check_sampling(params)
        self.params = params
        self.seed = seed
        self._suppress = sorted(suppress)
        self._gap = 8.0

    def sample(self, row: Row, position: int) -> int:
        """Return the token for the generated position, 0 for a reply's first token.

        Args:
            row: float32 [n_vocab]; suppressed ids are overwritten with -inf.
            position: Index of the token within the reply.

        Raises:
            EngineError: The row holds NaN or +inf, or nothing but -inf.
        """
        if self._suppress:
            row[self._suppress] = -np.inf
        best = int(row.argmax())  # the lowest id among equals; the first NaN if there is one
        top = float(row[best])
        if not math.isfinite(top):
            raise EngineError(
                "invalid-numbers",
                "The model produced invalid numbers instead of logits.",
                "The file may be damaged: verify or download it again, or try another one.",
            )
        temperature = self.params.temperature
        if temperature <= 0:
            return best
        tokens, logits = self._truncate(row, top)
        if len(tokens) == 1:
            return int(tokens[0])
        scores = logits / temperature
        scores += gumbel(position_key(self.seed, position), tokens)
        return int(tokens[scores.argmax()])

    # ------------------------------------------------------------------------- truncation

    def _truncate(self, row: Row, top: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the ids that may be drawn, int64 [n], and their logits, float64 [n]."""
        p = self.params
        if 0 < p.top_k < len(row):
            tokens, logits = self._top_k(row, top, p.top_k)
            total = None
        elif p.top_p < 1:
            total = float(np.exp(row.astype(np.float64) - top).sum())
            tokens, logits = self._nucleus(row, top, p.top_p * total)
        else:
            return self._above(row, self._floor(row, top))
        if p.top_p < 1 and len(tokens) > 1:
            mass = np.exp(logits - logits[0]).cumsum()
            target = p.top_p * (float(mass[-1]) if total is None else total)
            n = int(mass.searchsorted(target)) + 1
            tokens, logits = tokens[:n], logits[:n]
        if p.min_p > 0 and len(tokens) > 1:
            n = int((logits >= logits[0] + math.log(p.min_p)).sum())
            tokens, logits = tokens[:n], logits[:n]
        return tokens, logits

    @staticmethod
    def _above(row: Row, floor: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        tokens = np.flatnonzero(row >= floor)
        return tokens, row[tokens].astype(np.float64)

    def _floor(self, row: Row, top: float) -> float:
        """Return a logit below which no token can be drawn when top-k and top-p are off."""
        if self.params.min_p > 0:
            return top + math.log(self.params.min_p)
        # The winner scores at least as much as the most likely token with the least noise
        # (-3.2), and nobody gets more than GUMBEL_MAX.
        return top - (GUMBEL_MAX + 3.2) * self.params.temperature

    def _top_k(
        self, row: Row, top: float, k: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the k largest logits, sorted downwards, the lower id first among equals."""
        tokens = np.flatnonzero(row > top - self._gap)
        if not k <= len(tokens) <= 8 * k:
            kth = np.partition(row, len(row) - k)[len(row) - k]
            tokens = np.flatnonzero(row >= kth)
            if math.isfinite(kth):
                # Aim at about twice k next time: wide enough to hit, narrow enough to be cheap.
                self._gap = max(1.25 * (top - float(kth)), 1e-3)
        logits = row[tokens].astype(np.float64)
        order = (-logits).argsort(kind="stable")[:k]
        return tokens[order], logits[order]

    @staticmethod
    def _nucleus(
        row: Row, top: float, target: float
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the largest logits, sorted downwards, whose exp(logit - top) sum to `target`."""
        gap = 4.0
        while True:
            tokens = np.flatnonzero(row >= top - gap)
            logits = row[tokens].astype(np.float64)
            if len(tokens) == len(row) or float(np.exp(logits - top).sum()) >= target:
                order = (-logits).argsort(kind="stable")
                return tokens[order], logits[order]
            gap *= 2


def confidence(row: Row, token: int | None = None) -> float:
    """Return the probability of the most likely token among the ten largest logits.

    Softmax at temperature 1, whatever token the noise picks: what llama.cpp compares with p_min
    (`common/speculative.cpp`). `token` may name the most likely one if it is known.
    """
    top = row[int(row.argmax()) if token is None else token]
    near = row[row > top - _NEGLIGIBLE]
    if len(near) > _TOP_OF_CONFIDENCE:
        near = np.partition(near, len(near) - _TOP_OF_CONFIDENCE)[-_TOP_OF_CONFIDENCE:]
    return float(1.0 / np.exp(near.astype(np.float64) - top).sum())
