"""The figures of the plots: a row of numbers per decoding step of one reply. No Qt.

Writing costs a few array stores per step, 40 bytes each. Reading gives copies of a part; where it
has more steps than the plot has places, several steps share a place. `steps_csv` writes them as a
table for other programs. A step's tokens are counted per drafter, of which a step may have several,
and for the plot per kind: draft model or lookup. The first step of a reply commits the token from
the prefill's logits; it is timed, but it is no verify step and so gets no bar.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from paceline.gui.state.sources import Sources
from paceline.messages import StepCommitted, TurnStats

_INITIAL_CAPACITY = 512
MAX_PLACES = 400
"""Maximum number of bars; narrower ones than a pixel would show nothing more."""
RATE_STEPS, _MIN_RATE_STEPS = 16, 4
"""Steps over which the speed is averaged, at most and at the reply's start: a single step's speed
jumps, since it commits between 1 and n_max tokens."""

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class StepWindow:
    """Consecutive steps, oldest first; all arrays float64 [n places].

    Attributes:
        first: Number of the first step, counted from the reply's start.
        per_place: Steps per place; the last place may have fewer.
        drafted: Tokens drafted per step, averaged over the place.
        accepted: Tokens of all drafters accepted per step; likewise.
        by_model: Accepted tokens that a draft model proposed; likewise.
        tokens_per_s: Speed at the place's last step, averaged over the steps before.
    """

    first: int
    per_place: int
    drafted: Array
    accepted: Array
    by_model: Array
    tokens_per_s: Array

    @property
    def steps(self) -> Array:
        """The step in the middle of every place, float64 [n places]."""
        places = np.arange(len(self.drafted), dtype=np.float64)
        return self.first + (places + 0.5) * self.per_place - 0.5


@dataclass(frozen=True, slots=True)
class TimeShares:
    """Seconds of a reply by what they were spent on; without prefill while the reply grows."""

    verify_s: float = 0.0
    draft_s: float = 0.0
    sample_s: float = 0.0
    rest_s: float = 0.0
    prefill_s: float = 0.0

    @property
    def total_s(self) -> float:
        """The sum of all shares, in seconds."""
        return self.verify_s + self.draft_s + self.sample_s + self.rest_s + self.prefill_s


@dataclass(slots=True)
class Tally:
    """Counts of one drafter in a reply so far; see `DrafterStats` for the words."""

    drafts: int = 0
    drafts_accepted: int = 0
    tokens: int = 0
    tokens_accepted: int = 0
    tokens_discarded: int = 0
    accepted_per_position: list[int] = field(default_factory=list)

    @property
    def acceptance_rate(self) -> float | None:
        """Accepted share of the drafted tokens that were judged; None when there were none."""
        judged = self.tokens - self.tokens_discarded
        return self.tokens_accepted / judged if judged > 0 else None


class StepMetrics:
    """Store of the `StepCommitted` events of one reply; answers for plot, time bar and headline."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self.clear()

    def clear(self) -> None:
        """Remove all steps, for another reply."""
        self.n_steps = 0
        self.n_tokens = 0
        self.tallies: dict[str, Tally] = {}
        """Tallies by the drafter's id, in the order of their first drafts."""
        self._rows = np.zeros((_INITIAL_CAPACITY, 5))
        self._steps: list[StepCommitted] = []
        self._seconds = 0.0
        self._verify_s = self._draft_s = self._sample_s = 0.0

    def push(self, step: StepCommitted) -> None:
        """Add one step."""
        self.n_tokens += len(step.tokens)
        self._seconds += step.total_s
        self._verify_s += step.verify_s
        self._draft_s += step.draft_s
        self._sample_s += step.sample_s
        if step.step == 0:
            return
        drafted = accepted = by_model = 0
        for count in step.drafted:
            if count.n_drafted:
                tally = self.tallies.setdefault(count.drafter, Tally())
                tally.drafts += 1
                tally.drafts_accepted += count.n_accepted > 0
                tally.tokens += count.n_drafted
                tally.tokens_accepted += count.n_accepted
                tally.tokens_discarded += count.n_discarded
            drafted += count.n_drafted
            accepted += count.n_accepted
            if self._sources.kind(count.drafter) == "draft":
                by_model += count.n_accepted
        self._count_places(step)
        if self.n_steps == len(self._rows):
            self._rows = np.concatenate((self._rows, np.zeros_like(self._rows)))
        self._rows[self.n_steps] = (drafted, accepted, by_model, self.n_tokens, self._seconds)
        self._steps.append(step)
        self.n_steps += 1

    def _count_places(self, step: StepCommitted) -> None:
        for trace in step.tokens:
            tally = self.tallies.get(trace.source)
            if tally is None or trace.position < 0:
                continue
            places = tally.accepted_per_position
            places.extend([0] * (trace.position + 1 - len(places)))
            places[trace.position] += 1

    def window(self, n: int, first: int | None = None) -> StepWindow:
        """Return up to `n` steps from `first` on, or the newest ones without `first`."""
        n = max(min(n, self.n_steps), 0)
        first = self.n_steps - n if first is None else min(max(first, 0), self.n_steps - n)
        per_place = -(-n // MAX_PLACES) or 1
        starts = np.arange(first, first + n, per_place)
        if not n:
            return StepWindow(first, 1, *(np.zeros(0) for _ in range(4)))
        sums = np.add.reduceat(self._rows[: first + n, :3], starts)
        sizes = np.diff(starts, append=first + n)
        drafted, accepted, by_model = (sums / sizes[:, np.newaxis]).T
        rates = self._rates(starts + sizes - 1)
        return StepWindow(first, per_place, drafted, accepted, by_model, rates)

    def step(self, index: int) -> StepCommitted | None:
        """Return the verify step at this place of the reply, from 0, or None if there is none."""
        return self._steps[index] if 0 <= index < self.n_steps else None

    def speed_at(self, index: int) -> float:
        """Return tokens per second at an existing verify step, averaged as in `StepWindow`."""
        return float(self._rates(np.array([index]))[0])

    @property
    def tokens_per_s(self) -> float | None:
        """The speed so far, as `TurnStats` counts it; None before the second step."""
        return self.n_tokens / self._seconds if self.n_steps > 1 and self._seconds > 0 else None

    @property
    def whole(self) -> Tally:
        """The tokens of all drafters together."""
        return Tally(
            tokens=sum(tally.tokens for tally in self.tallies.values()),
            tokens_accepted=sum(tally.tokens_accepted for tally in self.tallies.values()),
            tokens_discarded=sum(tally.tokens_discarded for tally in self.tallies.values()),
        )

    @property
    def times(self) -> TimeShares:
        """Seconds of the reply so far by what they were spent on."""
        known = self._verify_s + self._draft_s + self._sample_s
        return TimeShares(
            self._verify_s, self._draft_s, self._sample_s, max(self._seconds - known, 0.0)
        )

    def _rates(self, ends: NDArray[np.int64]) -> Array:
        """Return tokens per second at these steps, each averaged over `RATE_STEPS` steps."""
        ends = np.maximum(ends, min(_MIN_RATE_STEPS, self.n_steps - 1))
        begins = np.maximum(ends - RATE_STEPS, 0)
        tokens, seconds = (self._rows[ends, 3:] - self._rows[begins, 3:]).T
        rates: Array = np.divide(tokens, seconds, out=np.zeros(len(ends)), where=seconds > 0)
        return rates


_BEGIN = ("step", "time_s", "tokens", "drafted", "accepted", "discarded")
_PLAIN = ("plain_tokens_per_s", "plain_low", "plain_high")
_END = ("draft_s", "verify_s", "sample_s", "total_s", "tokens_per_s", "plain", *_PLAIN)


def steps_csv(steps: Sequence[StepCommitted], stats: TurnStats | None) -> str:
    """Return the steps as a table.

    ``time_s`` counts from the prefill's end to the step's; ``tokens_per_s`` is that of the step
    alone; ``plain`` is 1 for a true plain step; the last three columns are those of the reply.
    After the sums there are three columns per drafter.
    """
    plain = [getattr(stats, name, None) for name in _PLAIN]
    drafters = list(dict.fromkeys(c.drafter for step in steps for c in step.drafted))
    out = io.StringIO()
    table = csv.writer(out)
    names = [f"{d} {what}" for d in drafters for what in ("drafted", "accepted", "discarded")]
    table.writerow([*_BEGIN, *names, *_END])
    seconds = 0.0
    for step in steps:
        seconds += step.total_s
        counts = {count.drafter: count for count in step.drafted}
        parts: list[int] = []
        for drafter in drafters:
            count = counts.get(drafter)
            parts += [count.n_drafted, count.n_accepted, count.n_discarded] if count else [0, 0, 0]
        table.writerow(
            [
                step.step,
                f"{seconds:.6f}",
                len(step.tokens),
                *(sum(parts[at::3]) for at in range(3)),
                *parts,
                *(f"{s:.6f}" for s in (step.draft_s, step.verify_s, step.sample_s, step.total_s)),
                f"{len(step.tokens) / step.total_s:.3f}" if step.total_s > 0 else "",
                int(step.plain),
                *(f"{speed:.3f}" if speed else "" for speed in plain),
            ]
        )
    return out.getvalue()
