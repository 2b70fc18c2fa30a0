"""A reply held against an earlier one, token by token, while it is generated.

Prompt, settings and seed being the same, another strategy must give the same tokens; this finds
the first one that is not, and how near the other one was (`margin.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from paceline.engine.backend import Row
from paceline.engine.margin import margin_of
from paceline.engine.sampling import Sampler
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
