"""A reply held against an earlier one, token by token, while it is generated.

Prompt, settings and seed being the same, another strategy must give the same tokens; this finds
the first one that is not, and by how much the sampler preferred it. A margin next to 0 is a
near-tie that rounding has turned over; a large one is a fault.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from paceline.engine.backend import Row
from paceline.engine.noise import position_key
from paceline.engine.race import scores_of
from paceline.engine.sampling import COLD, Sampler
from paceline.engine.truncation import Tokens, survivors, weights_of
from paceline.messages import FinishReason

NO_TOKEN = -1
"""In place of a token that one of the two replies does not have."""


class Divergence(NamedTuple):
    """The first difference; see `messages.TextDiverged`."""

    place: int
    expected: int
    found: int
    margin: float | None


class Comparison:
    """Stands between a sampler and whoever commits what it draws.

    Attributes:
        divergence: The first difference, once there is one.

    Args:
        sampler: Draws the tokens.
        expected: The tokens of the earlier reply, at least one.
    """

    def __init__(self, sampler: Sampler, expected: Sequence[int]) -> None:
        self.divergence: Divergence | None = None
        self._sampler = sampler
        self._expected = expected

    def sample(self, row: Row, position: int) -> int:
        """Draw as the sampler does, and note the first token that is not the expected one."""
        found = self._sampler.sample(row, position)
        if self.divergence is None:
            n = len(self._expected)
            expected = self._expected[position] if position < n else NO_TOKEN
            if found != expected:
                # Now, because the grammar moves on with the token.
                margin = margin_of(self._sampler, row, position, found, expected)
                self.divergence = Divergence(position, expected, found, margin)
        return found

    def finish(self, reason: FinishReason, n_tokens: int) -> None:
        """Note that the reply ended by itself behind `n_tokens`, if more were expected."""
        if self.divergence is None and reason != "cancelled" and n_tokens < len(self._expected):
            self.divergence = Divergence(n_tokens, self._expected[n_tokens], NO_TOKEN, None)


def margin_of(sampler: Sampler, row: Row, position: int, found: int, expected: int) -> float | None:
    """Return by how much `found` is ahead in what the sampler compares.

    Args:
        sampler: Has just drawn from the row and not gone on.
        row: float32 [n_vocab], as the sampler has left it: with biases and penalties.
        position: Index of the token within the reply.
        found: What was drawn.
        expected: Another token.

    Returns:
        The difference of logit / temperature + noise, or of the logits at temperature 0; None when
        `expected` does not exist or was not among what could be drawn.
    """
    tokens = _candidates(sampler, row)
    if not np.isin((found, expected), tokens).all():
        return None
    temperature = sampler.params.temperature
    if temperature < COLD:
        return float(row[found]) - float(row[expected])
    pair = np.array((found, expected), np.int64)
    ours, theirs = scores_of(pair, row[pair], temperature, position_key(sampler.seed, position))
    return float(ours - theirs)


def _candidates(sampler: Sampler, row: Row) -> Tokens:
    """Return what grammar and truncation leave, by their plain definition: once, so no hurry."""
    params = sampler.params
    tokens = (row > -math.inf).nonzero()[0]
    if sampler.grammar is not None:
        tokens = tokens[sampler.grammar.allowed(tokens)]
    if not len(tokens) or params.temperature < COLD:
        return tokens
    logits = row[tokens]
    order = (-logits).argsort(kind="stable")[: params.top_k or None]
    tokens, logits = tokens[order], logits[order]
    weights = weights_of(logits, float(logits[0]))
    enough = params.top_p * sum(weights) if params.top_p < 1 else math.inf
    return tokens[: survivors(weights, enough, params.min_p)]
