"""The present duration of a plain decode, on a machine that others use, too.

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
from paceline.engine.auto.tuning import TUNING


def _agreeing(before: list[float], now: float) -> list[float]:
    """Return those of several factors or times that confirm this one."""
    return [x for x in before if 1 / TUNING.agreement < x / now < TUNING.agreement]


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
        self._due = TUNING.pace_samples
        self._budget = TUNING.most_plain_asked
        self._counted = self._passed = 0.0

    @property
    def is_known(self) -> bool:
        """Whether enough plain steps were seen to begin."""
        return len(self._recent) >= TUNING.pace_samples

    @property
    def in_doubt(self) -> bool:
        """Whether wide steps did not fit, and no plain step has told yet why."""
        return self._due > 0 and bool(self._unfit)

    def fits(self, seconds: float) -> bool:
        """Whether a plain step of so many seconds is one of the present pace."""
        far = TUNING.misfit
        return self.plain is None or 1 / far < seconds / self.plain < far

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
                self._n_wary = TUNING.steps_without_doubt
                self._unfit.clear()
            self._odd.clear()
            return
        odd = _agreeing(self._odd, seconds)
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
        if self._n_since >= 256:
            self._due = max(self._due, 1)
        if 1 / TUNING.misfit < factor < TUNING.misfit:
            self._learn_spread(factor)
            if not self._due:
                self._unfit.clear()
            return
        self._unfit = [*_agreeing(self._unfit, factor), factor]
        if len(self._unfit) > 1 and not self._due and self._n_wary <= 0:
            self._due = TUNING.doubt_samples

    def asks_for_plain(self) -> bool:
        """Whether the coming step is to be a plain one; to be asked once per step.

        On a machine where hardly any step is like the one before, a budget keeps that from
        becoming the rule. But what is begun is finished: the first plain step after a wide one
        is slow, so single ones would tell nothing.
        """
        budget = min(self._budget + TUNING.plain_asked_per_step, TUNING.most_plain_asked)
        may_begin = self._is_asking or budget >= TUNING.plain_asked_from
        self._is_asking = self._due > 0 and may_begin
        self._budget = budget - 1.0 if self._is_asking else budget
        return self._is_asking

    def saw_share(self, seconds: float, held_s: float) -> None:
        """Count how much of the time a step could use: `seconds`, and not `held_s`."""
        kept, waited = TUNING.wait_kept, min(held_s, TUNING.most_wait * seconds)
        self._counted = kept * self._counted + seconds
        self._passed = kept * self._passed + seconds + waited
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
        n_needed: Plain steps still missing, see `AutoTuning.steps_after_load`.
    """

    def __init__(self) -> None:
        self._paces: deque[float] = deque(maxlen=32)
        self._after_wide = TUNING.first_after_wide
        self.n_needed = TUNING.steps_after_load

    def add(self, pace: float) -> None:
        """Count one that was not slowed: seconds of its decode, as at an empty context."""
        self._paces.append(pace)
        self.n_needed = max(self.n_needed - 1, 0)

    def slower_after(self, n: int) -> float:
        """Return by which share of itself the n-th plain step after a wide one is slower."""
        return self._after_wide * TUNING.after_wide_kept ** (n - 1)

    def saw_after(self, n: int, share: float) -> None:
        """Learn from the n-th plain step after a wide one, which was slower by this share."""
        most, before = TUNING.most_after_wide, self._after_wide
        seen = min(max(share / TUNING.after_wide_kept ** (n - 1), -most), most)
        self._after_wide = max(before + TUNING.after_wide_weight * (seen - before), 0.0)

    @property
    def pace(self) -> tuple[float, float] | None:
        """Mean seconds and the variance of their logarithm, for steps of now; None: too few."""
        if self.n_needed:
            return None
        paces = np.array(self._paces)
        mean = max(float(paces.mean()), 1e-9)
        return mean, TUNING.earlier_pace_error**2 + float(paces.var()) / mean**2 / len(paces)
