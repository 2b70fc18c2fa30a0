"""Numbers added to single logits: biases, forbidden tokens, and penalties for repetition.

The penalties are llama.cpp's (`src/llama-sampler.cpp`, "penalties"): of the last 64 tokens of
prompt and reply, each one's logit is divided by the repeat penalty when it is positive and
multiplied by it otherwise; then the frequency penalty is taken off once per occurrence, and the
presence penalty once. They follow every committed token, so each row of a verify batch sees the
drafted tokens before it that were accepted, as it would without a draft.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Sequence

import numpy as np

from paceline.engine.backend import Row
from paceline.params import SamplingParams

PENALTY_WINDOW = 64
_FEW = 8  # up to here single writes are faster than an index array


class Biases:
    """Adds the logit biases and forbids tokens, in place.

    Args:
        params: Their biases; -inf forbids.
        suppress: More ids to forbid.
    """

    def __init__(self, params: SamplingParams, suppress: Iterable[int] = ()) -> None:
        forbidden = {b.token for b in params.logit_bias if b.bias == -math.inf}
        self._forbidden = np.array(sorted(forbidden.union(suppress)), np.int64)
        added = sorted((b.token, b.bias) for b in params.logit_bias if b.bias > -math.inf)
        self._tokens = np.array([token for token, _ in added], np.int64)
        self._added = np.array([bias for _, bias in added], np.float32)
        self._single = self._forbidden.tolist() if len(self._forbidden) <= _FEW else None
        self._n_vocab = 1 << 62

    def apply(self, row: Row) -> None:
        """Change the row; ids that it does not have are ignored."""
        if len(row) < self._n_vocab:
            self._fit(len(row))
        if len(self._tokens):
            row[self._tokens] += self._added
        if self._single is not None:
            for token in self._single:
                row[token] = -math.inf
        else:
            row[self._forbidden] = -math.inf

    def forbids_all(self, n_vocab: int) -> bool:
        """Return whether nothing is left of so many tokens."""
        return int((self._forbidden < n_vocab).sum()) >= n_vocab

    def _fit(self, n_vocab: int) -> None:
        """Forget the ids that rows of this length do not have."""
        self._n_vocab = n_vocab
        self._added = self._added[self._tokens < n_vocab]
        self._tokens = self._tokens[self._tokens < n_vocab]
        self._forbidden = self._forbidden[self._forbidden < n_vocab]
        if self._single is not None:
            self._single = self._forbidden.tolist()


class Penalties:
    """Penalises the tokens of a window that moves with the reply."""

    def __init__(self, params: SamplingParams) -> None:
        self._repeat = params.repeat_penalty
        self._presence = params.presence_penalty
        self._frequency = params.frequency_penalty
        self.is_active = self._repeat != 1 or self._presence != 0 or self._frequency != 0
        self._window: deque[int] = deque()
        self._counts: dict[int, int] = {}

    def start(self, prompt: Sequence[int]) -> None:
        """Begin behind a prompt."""
        self._window.clear()
        self._counts.clear()
        for token in prompt[-PENALTY_WINDOW:]:
            self.add(token)

    def add(self, token: int) -> None:
        """Move on by one token."""
        window, counts = self._window, self._counts
        if len(window) == PENALTY_WINDOW:
            oldest = window.popleft()
            if counts[oldest] > 1:
                counts[oldest] -= 1
            else:
                del counts[oldest]
        window.append(token)
        counts[token] = counts.get(token, 0) + 1

    def follow(self, other: Penalties) -> None:
        """Take over another's window."""
        self._window = other._window.copy()
        self._counts = other._counts.copy()

    def apply(self, row: Row) -> None:
        """Change the row in place; ids that it does not have are ignored."""
        repeat, presence, frequency = self._repeat, self._presence, self._frequency
        n_vocab, item = len(row), row.item
        for token, count in self._counts.items():
            if token < n_vocab:
                logit = item(token)
                logit = logit / repeat if logit > 0 else logit * repeat
                row[token] = logit - count * frequency - presence
