"""How long a plain decode takes now, on a machine that others use, too.

When something else runs, all steps get slower alike: that is the pace. Only plain steps tell it for
certain, and a reply that drafts has few. So every wide step is compared with its table entry: after
two in a row that do not fit, plain steps are asked for, which say whether the pace has changed, or
the wide steps alone. Without such a sign one warm plain step is asked for per 256 speculative ones.

All times are those of an empty context (`ContextCost`), and without seconds in which the thread did
not run.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from paceline.engine.auto.costs import median_with

MIN_PLAIN_STEPS = 4
"""So many plain steps come first after a load, so that there is something to compare with."""

# Fitted to simulated machines whose pace changes and whose timings vary (decision 091, "rough" and
# "wide"). On steady ones only the first matters: half as far loses 0.5 %, after a prompt 0.8.
# Percentages are what the mean gain loses on the others without the mechanism; decision 109.
_FAR = 1.18  # beyond this factor a step does not fit what is expected
_ALIKE = 1.25  # two steps within this factor of one another agree; 0.7
_FIRST = 3  # plain steps that the first estimate rests on
_EVERY = 256  # speculative steps between two looks; 64, or 8 after a change, gained 0.3 nowhere
_DOUBTED = 3  # plain steps that tell whether the pace has changed: as many as are believed
_WARY = 16  # wide steps after a change of theirs alone; 1.5 and 2.6 with noise of 20 and 35 %
_BUDGET, _PER_STEP = 6.0, 0.08  # plain steps that may be asked for, saved up, in the long run; 0.3
_TO_BEGIN = 2.0  # of them, so that it is begun to ask
# What was measured on CPUs, see `plain_time.py`, whose simulation holds it.
_KEPT = 0.72  # of what a plain step after a wide one is slower, with each further one
_AFTER_WIDE, _MOST_AFTER = 0.08, 0.4  # by how much the first is, before it was seen, and at most
_LEARNT = 0.03  # what one step changes of that
_BEFORE = 0.3  # relative error of a pace from before a reply
_WAIT_KEPT, _MOST_WAIT = 0.94, 10.0  # of earlier steps' waiting, and of one at most; told alone


class Pace:
    """Estimates the seconds of a plain step; for the engine's thread.

    Attributes:
        plain: The estimate; None before the first plain step.
        spread: Nine of ten steps that fit take less than 1 + spread times the expected time.
        wait: Seconds that pass for each one that is counted here, above 1 where others use the
            machine.
    """

    def __init__(self) -> None:
        self.plain: float | None = None
        self.spread, self.wait = 0.08, 1.0
        self._recent: list[float] = []
        self._odd: list[float] = []  # plain steps in a row that do not fit, but each other
        self._unfit: list[float] = []  # factors of wide steps in a row that do not fit
        self._n_since = 0  # speculative steps since the last plain one
        self._is_asking = False
        self._n_wary = 0  # wide steps that raise no doubt
        self._due = _FIRST
        self._budget = _BUDGET
        self._counted = self._passed = 0.0

    @property
    def is_known(self) -> bool:
        """Whether enough plain steps were seen to begin."""
        return len(self._recent) >= _FIRST

    @property
    def in_doubt(self) -> bool:
        """Whether wide steps did not fit, and no plain step has told yet why."""
        return self._due > 0 and bool(self._unfit)

    def fits(self, seconds: float) -> bool:
        """Whether a plain step of so many seconds is one of the present pace."""
        return self.plain is None or 1 / _FAR < seconds / self.plain < _FAR

    def saw_plain(self, seconds: float) -> None:
        """Count a plain step."""
        self._n_since = 0
        self._due = max(self._due - 1, 0)
        plain = self.plain
        if plain is None or not self.is_known or self.fits(seconds):
            if plain is not None:
                self._learn_spread(seconds / plain)
            self.plain = median_with(self._recent, seconds)
            if self._unfit and not self._due:  # wide steps alone have changed: the table learns it
                self._n_wary = _WARY
                self._unfit.clear()
            self._odd.clear()
            return
        odd = [x for x in self._odd if 1 / _ALIKE < x / seconds < _ALIKE]
        # Nothing that comes in between makes a step faster, so less is needed to believe that.
        if len(odd) < (2 if seconds > plain else 1):
            self._odd = [*odd, seconds]
            self._due = max(self._due, 1)
            return
        self._recent, self._odd = odd, []
        self.plain = median_with(self._recent, seconds)
        self._unfit.clear()
        self._due = 0

    def saw_wide(self, factor: float) -> None:
        """Count a wide step that took `factor` times what the table says at the present pace."""
        self._n_since += 1
        self._n_wary -= 1
        if self._n_since >= _EVERY:
            self._due = max(self._due, 1)
        if 1 / _FAR < factor < _FAR:
            self._learn_spread(factor)
            if not self._due:
                self._unfit.clear()
            return
        self._unfit = [x for x in self._unfit if 1 / _ALIKE < x / factor < _ALIKE] + [factor]
        if len(self._unfit) > 1 and not self._due and self._n_wary <= 0:
            self._due = _DOUBTED

    def asks_for_plain(self) -> bool:
        """Whether the coming step is to be a plain one; to be asked once per step.

        On a machine where hardly any step is like the one before, a budget keeps that from
        becoming the rule. But what is begun is finished: the first plain step after a wide one
        is slow, so single ones would tell nothing.
        """
        self._budget = min(self._budget + _PER_STEP, _BUDGET)
        self._is_asking = self._due > 0 and (self._is_asking or self._budget >= _TO_BEGIN)
        if self._is_asking:
            self._budget -= 1.0
        return self._is_asking

    def saw_share(self, seconds: float, held_s: float) -> None:
        """Count how much of the time a step could use: `seconds`, and not `held_s`."""
        self._counted = _WAIT_KEPT * self._counted + seconds
        self._passed = _WAIT_KEPT * self._passed + seconds + min(held_s, _MOST_WAIT * seconds)
        if self._counted > 0.0:
            self.wait = self._passed / self._counted

    def rescale(self, factor: float) -> None:
        """Convert all of it: a step at an empty context is now thought to take another time."""
        self._recent = [seconds * factor for seconds in self._recent]
        self._odd = [seconds * factor for seconds in self._odd]
        self.plain = self.plain and self.plain * factor

    def _learn_spread(self, factor: float) -> None:
        # A quantile by steps: up by nine parts where it was too small, down by one where not.
        moved = 0.009 if factor > 1.0 + self.spread else -0.001
        self.spread = min(max(self.spread + moved, 0.02), 0.5)


class RecentPlain:
    """What plain steps of a loaded pair took recently, in any reply.

    Attributes:
        n_needed: Plain steps still missing, see `MIN_PLAIN_STEPS`.
    """

    def __init__(self) -> None:
        self._paces: deque[float] = deque(maxlen=32)
        self._after_wide = _AFTER_WIDE
        self.n_needed = MIN_PLAIN_STEPS

    def add(self, pace: float) -> None:
        """Count one that was not slowed: seconds of its decode, as at an empty context."""
        self._paces.append(pace)
        self.n_needed = max(self.n_needed - 1, 0)

    def slower_after(self, n: int) -> float:
        """Return by which share of itself the n-th plain step after a wide one is slower."""
        return self._after_wide * _KEPT ** (n - 1)

    def saw_after(self, n: int, share: float) -> None:
        """Learn from the n-th plain step after a wide one, which was slower by this share."""
        seen = min(max(share / _KEPT ** (n - 1), -_MOST_AFTER), _MOST_AFTER)
        self._after_wide = max(self._after_wide + _LEARNT * (seen - self._after_wide), 0.0)

    @property
    def pace(self) -> tuple[float, float] | None:
        """Mean seconds and the variance of their logarithm, for steps of now; None: too few."""
        if self.n_needed:
            return None
        paces = np.array(self._paces)
        mean = max(float(paces.mean()), 1e-9)
        return mean, _BEFORE**2 + float(paces.var()) / mean**2 / len(paces)
