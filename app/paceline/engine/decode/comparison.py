"""Comparison of a reply with an earlier one: the first different token, and the share kept.

*The first difference* is found while the reply is generated. With the same prompt, settings and
seed another strategy must give the same tokens; this finds the first token that differs, and the
margin: the smallest change of one logit that would have drawn the expected token instead.

Two tokens swap where their scores cross, but also where one of them enters or leaves the candidates
at the borders of top-k, top-p and min-p; and there it may win by any score. So the margin is found
by search: the sampler's rules are applied to the row with one logit changed. Tried are the logits
of the two tokens, of the most likely tokens, on which the borders of top-p and min-p depend most,
and of those next to the border of top-k. The other tokens are sorted once, and the rank of the
changed one is a binary search, so that a vocabulary of 262k takes about a tenth of a second.

*The share kept* is computed at the end. A token is kept if it stands at the same place again, or in
a run of three that both replies have in the same order: shorter runs at other places occur by
chance. The runs are those of a longest common subsequence over overlapping triples of tokens,
computed for all places at once with integers of one bit per token (Hyyrö 2004, "Bit-parallel
LCS-length computation revisited"): 2 ms for two replies of 1,000 tokens.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paceline.engine.model.backend import Row, Rows
from paceline.engine.sample.drawing import COLD
from paceline.engine.sample.noise import gumbel, position_key
from paceline.engine.sample.sampling import Sampler
from paceline.figures import Kept
from paceline.messages import FinishReason
from paceline.params import SamplingParams

NO_TOKEN = -1
"""Id used where one of the two replies has no further token."""


class Divergence(NamedTuple):
    """The first difference; see `messages.TextDiverged`."""

    place: int
    expected: int
    found: int
    margin: float | None


class Comparison:
    """Compares the tokens that a sampler draws for the decoder with those of an earlier reply.

    Attributes:
        divergence: The first difference, or None so far.

    Args:
        sampler: Draws the tokens.
        expected: The tokens of the earlier reply, at least one.
    """

    def __init__(self, sampler: Sampler, expected: Sequence[int]) -> None:
        self.divergence: Divergence | None = None
        self._sampler = sampler
        self._expected = expected

    def draws(self, rows: Rows, draft: Sequence[int], position: int) -> Iterable[int]:
        """Draw as the sampler does, and note the first token that is not the expected one."""
        del draft  # one row at a time, so that each can be examined as its token was drawn
        return (self.sample(row, position + i) for i, row in enumerate(rows))

    def sample(self, row: Row, position: int, without: Iterable[int] = ()) -> int:
        """Draw from one row; see `draws`."""
        found = self._sampler.sample(row, position, without)
        if self.divergence is None:
            n = len(self._expected)
            expected = self._expected[position] if position < n else NO_TOKEN
            if found != expected:
                self._sampler.forbid(row)
                margin = margin_of(self._sampler, row, position, found, expected)
                self.divergence = Divergence(position, expected, found, margin)
        return found

    def finish(self, reason: FinishReason, n_tokens: int) -> None:
        """Note that the reply ended on its own after `n_tokens`, if more were expected."""
        if self.divergence is None and reason != "cancelled" and n_tokens < len(self._expected):
            self.divergence = Divergence(n_tokens, self._expected[n_tokens], NO_TOKEN, None)


MAX_CHANGE = 1e3
"""Maximum change of a logit that is searched for a margin."""
_MIN_CHANGE = 1e-5
_STRIDE = 1.05  # a larger step could skip the range in which a token is among the candidates
_N_HALVINGS = 8
_N_LIKELY = 3

Values = NDArray[np.float64]


def margin_of(sampler: Sampler, row: Row, position: int, found: int, expected: int) -> float | None:
    """Return how much one logit has to change for `expected` to be drawn in place of `found`.

    Args:
        sampler: The sampler that has just drawn from the row and was not advanced.
        row: float32 [n_vocab], as the sampler left it: with biases, penalties and the grammar's
            mask.
        position: Index of the token within the reply.
        found: The token that was drawn.
        expected: The token to draw instead.

    Returns:
        The change of the logit, 0 or more, within a relative error of 0.001; None if `expected`
        does not exist, is forbidden, or needs a change above `MAX_CHANGE`.
    """
    tokens = (row > -math.inf).nonzero()[0]
    if not np.isin((found, expected), tokens).all():
        return None
    params = sampler.params
    order = (-row[tokens]).argsort(kind="stable")
    tokens = tokens[order]  # the most likely one first
    logits = row[tokens].astype(np.float64)
    noise = None
    if params.temperature >= COLD:
        noise = gumbel(position_key(sampler.seed, position), tokens)
    tried = {*range(_N_LIKELY), params.top_k - 1, params.top_k}
    tried |= {int(np.flatnonzero(tokens == token)[0]) for token in (found, expected)}
    smallest = math.inf
    for place in tried & set(range(len(tokens))):
        moved = _Moved(params, tokens, logits, noise, place)
        smallest = min(smallest, moved.least(expected, 1.0), moved.least(expected, -1.0))
    return smallest if smallest <= MAX_CHANGE else None


class _Moved:
    """A row in which one logit can be changed, with the sampler's definition in `drawing`.

    Args:
        params: The user's settings.
        tokens: Ids sorted by falling logit, int64 [n].
        logits: Logits of `tokens`, [n].
        noise: Noise of `tokens`, [n], or None at temperature 0.
        place: Index in `tokens` of the one whose logit changes.
    """

    def __init__(
        self,
        params: SamplingParams,
        tokens: NDArray[np.int64],
        logits: Values,
        noise: Values | None,
        place: int,
    ) -> None:
        self._params = params
        self._token, self._logit = int(tokens[place]), float(logits[place])
        self._tokens, self._logits = np.delete(tokens, place), np.delete(logits, place)
        self._top = float(logits[0])
        self._falling = -self._logits  # ascending, for binary searches
        self._sums = np.exp(self._logits - self._top).cumsum()
        self._noise = 0.0
        self._best: NDArray[np.int64] | None = None
        if noise is not None:
            self._noise = float(noise[place])
            scores = self._logits / params.temperature + np.delete(noise, place)
            peaks = np.maximum.accumulate(scores)
            # Indices at which the running maximum rises.
            is_new = np.concatenate(([True], peaks[1:] > peaks[:-1])) if len(peaks) else peaks > 0
            self._best = np.maximum.accumulate(np.where(is_new, np.arange(len(peaks)), 0))
            self._scores = scores

    def least(self, expected: int, sign: float) -> float:
        """Return the smallest change in one direction that draws a token, or infinity."""
        low, high = 0.0, _MIN_CHANGE
        while self.drawn(sign * high) != expected:
            low, high = high, high * _STRIDE
            if high > MAX_CHANGE:
                return math.inf
        for _ in range(_N_HALVINGS):
            middle = (low + high) / 2
            if self.drawn(sign * middle) == expected:
                high = middle
            else:
                low = middle
        return high

    def drawn(self, change: float) -> int:
        """Return the token that is drawn when the logit is changed by this much."""
        logit, others = self._logit + change, self._logits
        if not len(others):
            return self._token
        if self._best is None:
            first = float(others[0])
            is_first = logit > first or (logit == first and self._token < int(self._tokens[0]))
            return self._token if is_first else int(self._tokens[0])
        n_before = int(np.searchsorted(self._falling, -logit, side="left"))
        n, is_in = self._truncated(logit, n_before)
        if not n:
            return self._token
        best = int(self._best[n - 1])
        score = logit / self._params.temperature + self._noise
        is_best = is_in and score > self._scores[best]
        return self._token if is_best else int(self._tokens[best])

    def _truncated(self, logit: float, n_before: int) -> tuple[int, bool]:
        """Return how many of the other tokens stay, and whether the changed one does."""
        params, others = self._params, self._logits
        n, is_in = len(others), True
        if params.top_k:
            is_in = n_before < params.top_k
            n = min(n, params.top_k - is_in)
        if params.top_p < 1:
            sums, weight = self._sums, math.exp(min(logit - self._top, 700.0)) if is_in else 0.0
            enough = params.top_p * ((float(sums[n - 1]) if n else 0.0) + weight)
            before = float(sums[n_before - 1]) if n_before else 0.0
            if n_before and before >= enough:
                n, is_in = int(np.searchsorted(sums, enough)) + 1, False
            elif before + weight >= enough:
                n = n_before
            else:
                n = min(int(np.searchsorted(sums, enough - weight)) + 1, n)
        if params.min_p > 0:
            least = max(logit, float(others[0])) + math.log(params.min_p)
            n = min(n, int(np.searchsorted(self._falling, -least, side="right")))
            is_in = is_in and logit >= least
        return n, is_in


_RUN_TOKENS = 3
_MAX_TOKENS = 8192
"""Maximum number of tokens of each reply to compare; the rest counts as not kept."""


def kept_of(earlier: Sequence[int], new: Sequence[int]) -> Kept:
    """Compare two replies by their tokens."""
    both = enumerate(zip(earlier, new, strict=False))
    same = {place for place, (token, other) in both if token == other}
    n_before = len(earlier)
    for i, j in _common(_runs(earlier[:_MAX_TOKENS]), _runs(new[:_MAX_TOKENS])):
        if i != j:
            n_before = min(n_before, i)
        same.update(range(i, i + _RUN_TOKENS))
    return Kept(len(earlier), len(same), n_before, sum(i < n_before for i in same))


def _runs(tokens: Sequence[int]) -> list[tuple[int, ...]]:
    return [tuple(tokens[i : i + _RUN_TOKENS]) for i in range(len(tokens) - _RUN_TOKENS + 1)]


def _common(a: Sequence[object], b: Sequence[object]) -> list[tuple[int, int]]:
    """Return the index pairs of a longest common subsequence, in order."""
    places: dict[object, int] = {}
    for i, item in enumerate(a):
        places[item] = places.get(item, 0) | 1 << i
    ones = (1 << len(a)) - 1
    row, rows = ones, [ones]  # a zero bit i: the subsequence grows by one at a[i]
    for item in b:
        hits = row & places.get(item, 0)
        row = ((row + hits) | (row - hits)) & ones
        rows.append(row)
    found = []
    i, j = len(a) - 1, len(b)
    while i >= 0 and j > 0:
        if rows[j] >> i & 1:
            i -= 1
        elif not rows[j - 1] >> i & 1:
            j -= 1
        else:
            j -= 1
            found.append((i, j))
            i -= 1
    return found[::-1]
