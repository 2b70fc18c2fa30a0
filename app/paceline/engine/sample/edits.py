"""Biases and penalties: changes to a row of logits before a token is drawn."""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Iterable, Sequence

import numpy as np

from paceline.engine.model.backend import Row
from paceline.engine.model.token_mask import TokenMask
from paceline.engine.model.tokens import last_ids
from paceline.params import SamplingParams

PENALTY_WINDOW = 64


class Biases:
    """Logit biases and forbidden tokens.

    Attributes:
        tokens: Ids with a bias, int32 [n], ascending.
        added: Their biases, float32 [n].
        forbidden: Ids that are forbidden, int32 [m], ascending.

    Args:
        params: Settings with the biases; -inf forbids.
        suppress: More ids to forbid.
    """

    def __init__(self, params: SamplingParams, suppress: Iterable[int] = ()) -> None:
        forbidden = {b.token for b in params.logit_bias if b.bias == -math.inf}
        self.forbidden = np.array(sorted(forbidden.union(suppress)), np.int32)
        added = sorted((b.token, b.bias) for b in params.logit_bias if b.bias > -math.inf)
        self.tokens = np.array([token for token, _ in added], np.int32)
        self.added = np.array([bias for _, bias in added], np.float32)

    def apply(self, row: Row) -> None:
        """Change a row in place; ids beyond its end are ignored."""
        is_there = self.tokens < len(row)
        row[self.tokens[is_there]] += self.added[is_there]
        row[self.forbidden[self.forbidden < len(row)]] = -math.inf

    def forbids_all(self, n_vocab: int) -> bool:
        """Return whether a vocabulary of `n_vocab` tokens has no allowed token left."""
        return int((self.forbidden < n_vocab).sum()) >= n_vocab


class Penalties:
    """Penalties for the tokens of a window that moves with the reply.

    They are llama.cpp's (`src/llama-sampler.cpp`, "penalties"): for the last 64 tokens of prompt
    and reply, without gaps, each one's logit is divided by the repeat penalty if it is positive and
    multiplied by it otherwise; then the frequency penalty is subtracted once per occurrence, and
    the presence penalty once. They follow every committed token, so each row of a verify batch sees
    the drafted tokens before it that were accepted, as it would without a draft.

    Attributes:
        recent: The window, the oldest token first.
    """

    def __init__(self, params: SamplingParams) -> None:
        self._repeat = params.repeat_penalty
        self._presence = params.presence_penalty
        self._frequency = params.frequency_penalty
        self.is_active = self._repeat != 1 or self._presence != 0 or self._frequency != 0
        self.recent: deque[int] = deque(maxlen=PENALTY_WINDOW)

    def start(self, prompt: Sequence[int]) -> None:
        """Set the window to the end of a prompt."""
        self.recent.clear()
        self.recent.extend(last_ids(prompt, PENALTY_WINDOW))

    def follow(self, other: Penalties) -> None:
        """Copy the window of another object."""
        self.recent.clear()
        self.recent.extend(other.recent)

    def apply(self, row: Row, ahead: Sequence[int]) -> None:
        """Change in place the row after the tokens `ahead`; ids beyond its end are ignored."""
        n_vocab, item = len(row), row.item
        window = [*self.recent, *ahead][-PENALTY_WINDOW:]
        for token, count in Counter(window).items():
            if token < n_vocab:
                logit = item(token)
                logit = logit / self._repeat if logit > 0 else logit * self._repeat
                row[token] = logit - count * self._frequency - self._presence


def forbid(row: Row, mask: TokenMask) -> None:
    """Write -inf into a row for the tokens that a grammar does not allow.

    The row of a draft model may be longer or shorter than the mask.
    """
    allowed = mask.flags
    n = min(len(row), len(allowed))
    np.copyto(row[:n], -math.inf, where=~allowed[:n])
    row[n:] = -math.inf
