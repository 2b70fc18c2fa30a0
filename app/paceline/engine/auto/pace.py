"""The present duration of a plain decode, on a machine that others use, too.

When other programs run, all steps get slower alike: that is the pace. Only plain steps measure it
directly, and a reply that drafts has few. So every wide step is compared with its table entry:
after two in a row that do not fit, plain steps are requested to find out whether the pace has
changed or only the wide steps have. Without such a sign one warm plain step is requested per 256
speculative ones.

All times are those of an empty context (`ContextCost`), without the seconds in which the thread did
not run.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from paceline.engine.auto.costs import median_with
from paceline.engine.auto.tuning import TUNING


def _agreeing(before: list[float], now: float) -> list[float]:
    """Return those of several factors or times that agree with this one."""
    return [x for x in before if 1 / TUNING.agreement_factor < x / now < TUNING.agreement_factor]


class Pace:
    """Estimates the seconds of a plain step; for the engine's thread.

    Attributes:
        plain: The estimate in seconds, or None before the first plain step.
        spread: Nine out of ten fitting steps take less than 1 + spread times the expected time.
        wait: Elapsed seconds per second that is counted here; above 1 where others use the machine.
    """

    def __init__(self) -> None:
        self.plain: float | None = None
        self.spread, self.wait = 0.08, 1.0
        self._recent: list[float] = []
        self._odd: list[float] = []  # plain steps in a row that do not fit the pace, but each other
        self._unfit: list[float] = []  # factors of wide steps in a row that do not fit
        self._n_since = 0  # speculative steps since the last plain one
        self._is_asking = False
        self._n_wary = 0  # wide steps left in which misfits raise no doubt
        self._due = TUNING.pace_samples
        self._budget = TUNING.max_plain_asked
        self._counted = self._passed = 0.0

    @property
    def is_known(self) -> bool:
        """Return whether enough plain steps were seen for an estimate."""
        return len(self._recent) >= TUNING.pace_samples

    @property
    def in_doubt(self) -> bool:
        """Return whether wide steps did not fit, and no plain step has explained it yet."""
        return self._due > 0 and bool(self._unfit)

    def fits(self, seconds: float) -> bool:
        """Return whether a plain step of this many seconds fits the present pace."""
        far = TUNING.misfit_factor
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
            if self._unfit and not self._due:  # only wide steps have changed: the table learns it
                self._n_wary = TUNING.steps_without_doubt
                self._unfit.clear()
            self._odd.clear()
            return
        odd = _agreeing(self._odd, seconds)
        # Interruptions never make a step faster, so a faster pace needs less evidence.
        if len(odd) < (2 if seconds > plain else 1):
            self._odd = [*odd, seconds]
            self._due = max(self._due, 1)
            return
        self._recent, self._odd = odd, []
        self.plain = median_with(self._recent, seconds)
        self._unfit.clear()
        self._due = 0

    def saw_wide(self, factor: float) -> None:
        """Count a wide step that took `factor` times its table entry at the present pace."""
        self._n_since += 1
        self._n_wary -= 1
        if self._n_since >= 256:
            self._due = max(self._due, 1)
        if 1 / TUNING.misfit_factor < factor < TUNING.misfit_factor:
            self._learn_spread(factor)
            if not self._due:
                self._unfit.clear()
            return
        self._unfit = [*_agreeing(self._unfit, factor), factor]
        if len(self._unfit) > 1 and not self._due and self._n_wary <= 0:
            self._due = TUNING.doubt_samples

    def asks_for_plain(self) -> bool:
        """Return whether the coming step should be a plain one; ask once per step.

        On a machine where hardly any step resembles the one before, a budget keeps that from
        becoming the rule. A series that has begun is finished, though: the first plain step after a
        wide one is slow, so single ones would show nothing.
        """
        budget = min(self._budget + TUNING.plain_asked_per_step, TUNING.max_plain_asked)
        may_begin = self._is_asking or budget >= TUNING.min_plain_saved
        self._is_asking = self._due > 0 and may_begin
        self._budget = budget - 1.0 if self._is_asking else budget
        return self._is_asking

    def saw_share(self, seconds: float, held_s: float) -> None:
        """Count how much of a step's time the thread ran (`seconds`) and did not run (`held_s`)."""
        kept, waited = TUNING.wait_kept, min(held_s, TUNING.max_wait_ratio * seconds)
        self._counted = kept * self._counted + seconds
        self._passed = kept * self._passed + seconds + waited
        if self._counted > 0.0:
            self.wait = self._passed / self._counted

    def rescale(self, factor: float) -> None:
        """Multiply all times by a factor, after a change of the estimate at an empty context."""
        self._recent = [seconds * factor for seconds in self._recent]
        self._odd = [seconds * factor for seconds in self._odd]
        self.plain = self.plain and self.plain * factor

    def _learn_spread(self, factor: float) -> None:
        # A running quantile: up by nine units where it was too small, down by one where it was not.
        moved = 0.009 if factor > 1.0 + self.spread else -0.001
        self.spread = min(max(self.spread + moved, 0.02), 0.5)


class RecentPlain:
    """Durations of recent plain steps of a loaded pair, in any reply.

    Attributes:
        n_needed: Plain steps still missing, see `AutoTuning.steps_after_load`.
    """

    def __init__(self) -> None:
        self._paces: deque[float] = deque(maxlen=32)
        self._after_wide = TUNING.prior_after_wide
        self.n_needed = TUNING.steps_after_load

    def add(self, pace: float) -> None:
        """Count a step that nothing slowed: its decode's seconds, as at an empty context."""
        self._paces.append(pace)
        self.n_needed = max(self.n_needed - 1, 0)

    def slower_after(self, n: int) -> float:
        """Return the share by which the n-th plain step after a wide one is slower."""
        return self._after_wide * TUNING.after_wide_kept ** (n - 1)

    def saw_after(self, n: int, share: float) -> None:
        """Learn that the n-th plain step after a wide one was slower by this share."""
        most, before = TUNING.max_after_wide, self._after_wide
        seen = min(max(share / TUNING.after_wide_kept ** (n - 1), -most), most)
        self._after_wide = max(before + TUNING.after_wide_weight * (seen - before), 0.0)

    @property
    def pace(self) -> tuple[float, float] | None:
        """Return the mean seconds and the variance of their logarithm for steps now.

        None with too few steps.
        """
        if self.n_needed:
            return None
        paces = np.array(self._paces)
        mean = max(float(paces.mean()), 1e-9)
        return mean, TUNING.earlier_pace_error**2 + float(paces.var()) / mean**2 / len(paces)
