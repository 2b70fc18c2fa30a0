"""Which lookups are asked: a proposal costs some 20 µs, which is much beside a small model's step.

Asking may take 1 % of a plain step's time. Lookups whose proposals were worth their time of late
are always asked; the others share what is left of that hundredth in turn.
"""

from __future__ import annotations

from collections.abc import Sequence

SHARE = 0.01
_FIRST_S = 2e-5  # what a lookup costs before any was timed
_KEPT = 0.95
_NEW = 1 - _KEPT
_MOST = 4.0  # asks that may be saved up


class Asking:
    """A turn's lookups, and the time for them."""

    __slots__ = ("_budget", "_each_s", "_names", "_turn", "_worth")

    def __init__(self, names: Sequence[str]) -> None:
        self._names = tuple(names)
        self._worth = dict.fromkeys(names, 0.0)
        self._each_s = _FIRST_S
        self._budget = 0.0
        self._turn = 0

    def choose(self, plain_s: float) -> tuple[str, ...]:
        """Return whom to ask in a step; `plain_s` are a plain step's seconds."""
        names, each = self._names, self._each_s
        share, saved, all_s = SHARE * plain_s, self._budget, each * len(names)
        budget = saved + share if saved < _MOST * each else share + _MOST * each
        if budget >= all_s:
            self._budget = budget - all_s
            return names
        self._budget = budget
        worth, chosen = self._worth, []
        for name in names:
            if worth[name] * plain_s > 2.0 * each:
                chosen.append(name)
                self._budget -= each
        self._budget = max(self._budget, -_MOST * each)
        n = len(names)
        for i in range(n):
            if self._budget < each:
                break
            name = names[(self._turn + i) % n]
            if name not in chosen:
                chosen.append(name)
                self._budget -= each
                self._turn = (self._turn + i + 1) % n
        return tuple(chosen)

    def worth(self, name: str, plain_steps: float) -> None:
        """Count what a proposal was worth, in plain steps; 0 for none."""
        self._worth[name] = _KEPT * self._worth.get(name, 0.0) + _NEW * plain_steps

    def took(self, n_asked: int, seconds: float) -> None:
        """Count the time of a step's asking."""
        if n_asked:
            each, known = seconds / n_asked, self._each_s
            self._each_s = known + 0.05 * ((each if each < 10 * known else 10 * known) - known)
