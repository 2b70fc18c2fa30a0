"""What Auto decided in a number of steps, counted: for one reply, or for its newest steps. No Qt.

Steps without a decision (another strategy was in charge, or the run is of an older version) are
left out everywhere, so that nothing is told about them.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paceline.figures import Reason
    from paceline.messages import StepCommitted

RECENT_STEPS = 32
"""Steps that are told of at a time: one step alone says nothing."""


@dataclass(slots=True)
class Work:
    """What one drafter did in these steps.

    Attributes:
        n_steps: Steps whose draft it began.
        n_drafted: Tokens that it gave for verification.
        n_accepted: How many of them were accepted.
        n_judged: How many of them were judged at all.
    """

    n_steps: int = 0
    n_drafted: int = 0
    n_accepted: int = 0
    n_judged: int = 0


@dataclass(slots=True)
class Mix:
    """Decisions in numbers.

    Attributes:
        n_steps: Steps with a decision.
        n_drafting: Those of them in which something was verified.
        reasons: Steps by reason.
        plain: Steps by reason in which nothing was verified.
        drafters: What each drafter did, by its id.
    """

    n_steps: int = 0
    n_drafting: int = 0
    reasons: dict[Reason, int] = field(default_factory=dict)
    plain: dict[Reason, int] = field(default_factory=dict)
    drafters: dict[str, Work] = field(default_factory=dict)

    def add(self, step: StepCommitted) -> None:
        """Count one step."""
        decision = step.decision
        if decision is None:
            return
        self.n_steps += 1
        self.reasons[decision.reason] = self.reasons.get(decision.reason, 0) + 1
        if not decision.n_drafted:
            self.plain[decision.reason] = self.plain.get(decision.reason, 0) + 1
            return
        self.n_drafting += 1
        self.drafters.setdefault(decision.drafter, Work()).n_steps += 1
        for count in step.drafted:
            if count.n_drafted:
                work = self.drafters.setdefault(count.drafter, Work())
                work.n_drafted += count.n_drafted
                work.n_accepted += count.n_accepted
                work.n_judged += count.n_drafted - count.n_discarded

    @property
    def n_drafted(self) -> int:
        """Tokens that were verified, whoever gave them."""
        return sum(work.n_drafted for work in self.drafters.values())

    @property
    def acceptance(self) -> float | None:
        """Accepted of the judged tokens, 0..1; None: none was judged."""
        judged = sum(work.n_judged for work in self.drafters.values())
        accepted = sum(work.n_accepted for work in self.drafters.values())
        return accepted / judged if judged else None

    def leaders(self) -> tuple[str, ...]:
        """The drafters that began most drafts: one, or two where the second has a third of them."""
        ranked = sorted(self.drafters.items(), key=lambda item: -item[1].n_steps)
        return tuple(name for name, work in ranked[:2] if work.n_steps * 3 >= self.n_drafting > 0)


def mix_of(steps: Iterable[StepCommitted]) -> Mix:
    """Count these steps."""
    mix = Mix()
    for step in steps:
        mix.add(step)
    return mix


class DecisionLog:
    """Takes every step of one reply."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Begin another reply."""
        self.whole = Mix()
        self._recent: deque[StepCommitted] = deque(maxlen=RECENT_STEPS)

    def push(self, step: StepCommitted) -> None:
        """Add one step."""
        if step.decision is not None:
            self.whole.add(step)
            self._recent.append(step)

    @property
    def recent(self) -> Mix:
        """The newest steps."""
        return mix_of(self._recent)
