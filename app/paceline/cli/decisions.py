"""What Auto did in a reply, in a few words."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paceline.figures import Reason
    from paceline.messages import StepCommitted

_WHY_PLAIN: dict[Reason, str] = {
    "pays": "as it was faster",
    "nothing": "as there was nothing to draft",
    "dear": "as the drafts were not worth their time",
    "shut": "as drafting did not pay",
    "trial": "as drafting was only tried out",
    "ledger": "as no loss was to be risked",
    "plain": "to time plain decoding",
    "first": "to time plain decoding",
    "forced": "as the grammar left no choice",
}
"""Why steps were plain, by the reason that they give."""


class Decisions:
    """Counts Auto's decisions, step by step."""

    def __init__(self) -> None:
        self._drafters: Counter[str] = Counter()
        self._plain: Counter[Reason] = Counter()

    def add(self, step: StepCommitted) -> None:
        """Count a step; one without a decision is not Auto's."""
        if step.decision is None:
            return
        if step.decision.n_drafted:
            self._drafters[step.decision.drafter] += 1
        else:
            self._plain[step.decision.reason] += 1

    def words(self) -> str:
        """Return who drafted how often, and why nobody did; nothing where Auto did nothing."""
        n_plain = self._plain.total()
        n_steps = self._drafters.total() + n_plain
        if not n_steps:
            return ""
        parts = [f"{name} {n / n_steps:.0%}" for name, n in self._drafters.most_common()]
        if n_plain:
            reason, _ = self._plain.most_common(1)[0]
            parts.append(f"plain {n_plain / n_steps:.0%}, mostly {_WHY_PLAIN[reason]}")
        return f" ({', '.join(parts)})"
