"""The figures behind the live plot: ring buffers over the last decoding steps. No Qt.

Writing costs a few array stores per step and never grows; reading gives copies of the newest part.
A step's tokens are counted by the drafter that proposed them, of which a step may have several,
and for the plot by its kind: a draft model, or a lookup. The first step of a reply commits the
token from the prefill's logits; it is timed, but it is no verify step and so gets no bar.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from paceline.gui.viewmodels.sources import Sources
    from paceline.messages import StepCommitted

CAPACITY = 2000
RATE_STEPS = 16
"""Steps over which the speed is averaged: one step alone jumps between 1 and n_max tokens."""
MIN_PLAIN_STEPS = 4

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class StepWindow:
    """The newest steps, oldest first; all arrays float64 [n].

    Attributes:
        first: Number of the first of them, counted from the reply's start.
        drafted: Tokens drafted.
        accepted: Tokens accepted, whoever drafted them.
        by_model: Those of them that a draft model proposed.
        tokens_per_s: Speed, averaged over the steps before.
    """

    first: int
    drafted: Array
    accepted: Array
    by_model: Array
    tokens_per_s: Array


@dataclass(frozen=True, slots=True)
class TimeShares:
    """Seconds of a reply by what they were spent on."""

    verify_s: float = 0.0
    draft_s: float = 0.0
    sample_s: float = 0.0
    rest_s: float = 0.0

    @property
    def total_s(self) -> float:
        """All of them."""
        return self.verify_s + self.draft_s + self.sample_s + self.rest_s


@dataclass(slots=True)
class Tally:
    """What one drafter did in a reply so far; see `DrafterStats` for the words."""

    drafts: int = 0
    drafts_accepted: int = 0
    drafted: int = 0
    accepted: int = 0
    discarded: int = 0
    per_position: list[int] = field(default_factory=list)

    @property
    def acceptance_rate(self) -> float | None:
        """Accepted of the drafted tokens that were judged; None when there were none."""
        judged = self.drafted - self.discarded
        return self.accepted / judged if judged > 0 else None


class StepMetrics:
    """Takes every `StepCommitted` of one reply and answers for plot, time bar and headline."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._drafted, self._accepted, self._by_model = (np.zeros(CAPACITY) for _ in range(3))
        self._tokens_sum, self._seconds_sum = np.zeros(CAPACITY), np.zeros(CAPACITY)
        self.clear()

    def clear(self) -> None:
        """Begin another reply."""
        self.n_steps = 0
        self.n_tokens = 0
        self.n_drafted = 0
        self.n_accepted = 0
        self.n_discarded = 0
        self.tallies: dict[str, Tally] = {}
        """By the drafter's id, of those that drafted, in the order of their first draft."""
        self._seconds = 0.0
        self._verify_s = self._draft_s = self._sample_s = 0.0
        self._n_plain = 0
        self._plain_s = 0.0

    def push(self, step: StepCommitted) -> None:
        """Add one step."""
        self.n_tokens += len(step.tokens)
        self._seconds += step.total_s
        self._verify_s += step.verify_s
        self._draft_s += step.draft_s
        self._sample_s += step.sample_s
        if step.plain:
            self._n_plain += 1
            self._plain_s += step.total_s
        if step.step == 0:
            return
        drafted = accepted = by_model = 0
        for count in step.drafted:
            if count.n_drafted:
                tally = self.tallies.setdefault(count.drafter, Tally())
                tally.drafts += 1
                tally.drafts_accepted += count.n_accepted > 0
                tally.drafted += count.n_drafted
                tally.accepted += count.n_accepted
                tally.discarded += count.n_discarded
            drafted += count.n_drafted
            accepted += count.n_accepted
            self.n_discarded += count.n_discarded
            if self._sources.kind(count.drafter) == "draft":
                by_model += count.n_accepted
        self._count_places(step)
        self.n_drafted += drafted
        self.n_accepted += accepted
        at = self.n_steps % CAPACITY
        self._drafted[at] = drafted
        self._accepted[at] = accepted
        self._by_model[at] = by_model
        self._tokens_sum[at] = self.n_tokens
        self._seconds_sum[at] = self._seconds
        self.n_steps += 1

    def _count_places(self, step: StepCommitted) -> None:
        for trace in step.tokens:
            tally = self.tallies.get(trace.source)
            if tally is None or trace.position < 0:
                continue
            missing = trace.position + 1 - len(tally.per_position)
            tally.per_position.extend([0] * missing)
            tally.per_position[trace.position] += 1

    def window(self, n: int) -> StepWindow:
        """The newest `n` steps, or as many as there are."""
        n = min(n, self.n_steps, CAPACITY - RATE_STEPS)
        first = self.n_steps - n
        at = np.arange(first, self.n_steps) % CAPACITY
        return StepWindow(
            first=first,
            drafted=self._drafted[at],
            accepted=self._accepted[at],
            by_model=self._by_model[at],
            tokens_per_s=self._rates(first),
        )

    @property
    def tokens_per_s(self) -> float | None:
        """The speed right now; None before the second step."""
        if self.n_steps < 2:
            return None
        return float(self._rates(self.n_steps - 1)[0])

    @property
    def plain_tokens_per_s(self) -> float | None:
        """The speed without speculation, from true plain steps; None below four of them."""
        if self._n_plain < MIN_PLAIN_STEPS or self._plain_s <= 0:
            return None
        return self._n_plain / self._plain_s

    @property
    def acceptance_rate(self) -> float | None:
        """Accepted of the drafted tokens that were judged; None when there were none."""
        judged = self.n_drafted - self.n_discarded
        return self.n_accepted / judged if judged > 0 else None

    @property
    def times(self) -> TimeShares:
        """What the reply's time was spent on so far."""
        known = self._verify_s + self._draft_s + self._sample_s
        return TimeShares(
            self._verify_s, self._draft_s, self._sample_s, max(self._seconds - known, 0.0)
        )

    def _rates(self, first: int) -> Array:
        """Tokens per second at the steps from `first` on, each over `RATE_STEPS` steps."""
        ends = np.arange(first, self.n_steps)
        begins = np.maximum(ends - RATE_STEPS, 0)
        tokens = self._tokens_sum[ends % CAPACITY] - self._tokens_sum[begins % CAPACITY]
        seconds = self._seconds_sum[ends % CAPACITY] - self._seconds_sum[begins % CAPACITY]
        rates: Array = np.divide(tokens, seconds, out=np.zeros(len(ends)), where=seconds > 0)
        if len(rates) > 1 and first == 0:
            rates[0] = rates[1]  # the first step has none before it to be measured against
        return rates
