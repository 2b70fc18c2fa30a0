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
from paceline.engine.noise import GUMBEL_MAX, gumbel, gumbel_of, position_key
from paceline.errors import EngineError, ValueOutOfRangeError
from paceline.messages import SamplingParams

_TOP_OF_CONFIDENCE = 10
_COLD = 1e-6  # below it the noise could only decide between logits less than 3e-5 apart
_FEW = 12  # up to here Python's own arithmetic is faster than numpy's calls


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


class _Largest:
    """Finds the k largest logits of a row, the lower id first among equals.

    Most numpy calls here run with cold caches right behind a decode, so their number counts more
    than their work.
    """

    def __init__(self, k: int) -> None:
        self.k = k
        self._gap = 8.0

    def __call__(self, row: Row, top: float) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return ids, int64 [k], and logits, float32 [k], sorted downwards.

        Args:
            row: float32 [n_vocab], n_vocab > k.
            top: The row's maximum.
        """
        k = self.k
        tokens = (row > top - self._gap).nonzero()[0]
        n = len(tokens)
        if not k <= n <= 16 * k:
            kth = float(np.partition(row, len(row) - k)[len(row) - k])
            tokens = (row >= kth).nonzero()[0]
            if math.isfinite(kth):
                # Aim at more than k next time: rows differ, and a miss is dearer than a long sort.
                self._gap = max(1.5 * (top - kth), 1e-3)
        elif n > 8 * k:
            self._gap *= 0.95
        logits = row[tokens]
        order = (-logits).argsort(kind="stable")[:k]
        return tokens[order], logits[order]


class Sampler:
    """Draws tokens for one reply from one model's rows; a draft model gets one of its own.

    Not thread-safe. It learns thresholds from the rows it sees, which saves time and never changes
    a result.
    """

    def __init__(self, params: SamplingParams, seed: int, suppress: Iterable[int] = ()) -> None:
        check_sampling(params)
        self.params = params
        self.seed = seed
        self._suppress = sorted(suppress)
        self._top_k = _Largest(params.top_k) if params.top_k else None

    def twin(self, n_vocab: int | None = None) -> Sampler:
        """Return a sampler that draws the same, for another model's rows, [n_vocab]."""
        suppress = [t for t in self._suppress if n_vocab is None or t < n_vocab]
        return Sampler(self.params, self.seed, suppress)

    def sample(self, row: Row, position: int) -> int:
        """Return the token for the generated position, 0 for a reply's first token.

        Args:
            row: float32 [n_vocab]; suppressed ids are overwritten with -inf.
            position: Index of the token within the reply.

        Raises:
            EngineError: The row holds NaN or +inf, or nothing but -inf.
        """
        best, top = self._best(row)
        if self.params.temperature < _COLD:
            return best
        return self._draw(row, top, position)[0]

    def draft(self, row: Row, position: int) -> tuple[int, float]:
        """Return the token that `sample` gives, and the row's confidence, 0..1.

        The confidence is the probability of the most likely token, whatever token the noise picks:
        softmax over the ten largest logits at temperature 1, which llama.cpp compares with p_min
        (`common/speculative.cpp`). The row is used up: its order may be changed.
        """
        best, top = self._best(row)
        if self.params.temperature < _COLD:
            return best, _confidence(row, top, may_spoil=True)
        token, weights = self._draw(row, top, position)
        if weights is not None and len(weights) >= _TOP_OF_CONFIDENCE:
            return token, 1.0 / sum(weights[:_TOP_OF_CONFIDENCE])
        return token, _confidence(row, top)

    def _best(self, row: Row) -> tuple[int, float]:
        for token in self._suppress:  # one or two: an index array would cost more
            row[token] = -math.inf
        best = int(row.argmax())  # the lowest id among equals; the first NaN if there is one
        top = row.item(best)
        if not math.isfinite(top):
            raise EngineError(
                "invalid-numbers",
                "The model produced invalid numbers instead of logits.",
                "The file may be damaged: verify or download it again, or try another one.",
            )
        return best, top

    def _draw(self, row: Row, top: float, position: int) -> tuple[int, list[float] | None]:
        """Return the token, and exp(logit - top) of the largest logits where they were sorted."""
        p = self.params
        if self._top_k and p.top_k < len(row):
            tokens, logits = self._top_k(row, top)
            weights = _weights(logits, top)
            total = sum(weights)
        elif p.top_p < 1:
            total = float(np.exp(row - np.float64(top)).sum())
            tokens, logits = _nucleus(row, top, p.top_p * total)
            weights = _weights(logits, top)
        else:
            tokens = (row >= self._floor(top)).nonzero()[0]
            return self._argmax(tokens, row[tokens], len(tokens), position), None
        enough = p.top_p * total if p.top_p < 1 else math.inf
        n = _survivors(weights, enough, p.min_p)
        return self._argmax(tokens, logits, n, position), weights

    def _argmax(
        self, tokens: NDArray[np.int64], logits: NDArray[np.float32], n: int, position: int
    ) -> int:
        """Return which of the first `n` tokens has the largest logit / temperature + noise."""
        if n == 1:
            return int(tokens[0])
        key = position_key(self.seed, position)
        if n > _FEW:
            scores = logits[:n] / np.float64(self.params.temperature)
            scores += gumbel(key, tokens[:n])
            return int(tokens[scores.argmax()])
        temperature = self.params.temperature
        best, best_score = -1, -math.inf
        for token, logit in zip(tokens[:n].tolist(), logits[:n].tolist(), strict=True):
            score = logit / temperature + gumbel_of(key, token)
            if score > best_score:
                best, best_score = token, score
        return best

    # ------------------------------------------------------------------------- truncation

    def _floor(self, top: float) -> float:
        """Return a logit below which no token can be drawn when top-k and top-p are off."""
        if self.params.min_p > 0:
            return top + math.log(self.params.min_p)
        # The winner scores at least as much as the most likely token with the least noise
        # (-3.2), and nobody gets more than GUMBEL_MAX.
        return top - (GUMBEL_MAX + 3.2) * self.params.temperature


def _weights(logits: NDArray[np.float32], top: float) -> list[float]:
    """Return exp(logit - top)."""
    if len(logits) <= 5 * _FEW:
        exp = math.exp
        return [exp(logit - top) for logit in logits.tolist()]
    weights: list[float] = np.exp(logits - np.float64(top)).tolist()
    return weights


def _survivors(weights: list[float], enough: float, least: float) -> int:
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


def _confidence(row: Row, top: float, *, may_spoil: bool = False) -> float:
    few = row if may_spoil else row.copy()
    if len(row) > 1 << 15:  # where partitioning the whole row is dear
        few = few[few > top - 12]
    if len(few) > _TOP_OF_CONFIDENCE:
        n = len(few) - _TOP_OF_CONFIDENCE
        few.partition(n)
        few = few[n:]
    return 1.0 / sum(_weights(few, top))


def _nucleus(row: Row, top: float, target: float) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return the largest logits, sorted downwards, whose exp(logit - top) sum to `target`."""
    gap = 4.0
    while True:
        tokens = (row >= top - gap).nonzero()[0]
        logits = row[tokens]
        if len(tokens) == len(row) or float(np.exp(logits - np.float64(top)).sum()) >= target:
            order = (-logits).argsort(kind="stable")
            return tokens[order], logits[order]
        gap *= 2
