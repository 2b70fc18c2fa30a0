"""How likely a drafted token is accepted, by drafter, class of confidence and place.

Recent tokens count most (half as much after some 35 steps), because texts change: a list of
figures, then code, then prose. A class and place that was rarely judged leans on its class, and a
class on what is known of it in the long run (`priors.py`), so nothing is believed from one token.
Only tokens up to the first rejected one are judged; what stands behind it was never compared.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence

from paceline.engine.control.classes import (
    BOUNDS,
    N_CLASSES,
    N_PLACES,
    PLACE_OF,
    SILENT,
    UPPER,
)
from paceline.engine.control.priors import LongRun
from paceline.figures import ClassRate

_DECAY = 0.98
_SILENT_DECAY = 0.94  # without confidences, what came last says most
_PRIOR_WEIGHT = 6.0
_FEW = 20.0
_TRUSTED = 8.0  # expected tokens that the first trust counts for
_FIRST_TRUST = 0.85  # the best of several offers is rather one that was overrated
_EVERY = 3  # drafts after which a well-known class is computed anew: it takes 1 µs
_Z_LOW = 0.52  # the lower 30 % quantile of a normal distribution


class Acceptance:
    """One drafter's recent acceptance, over its long run.

    Attributes:
        mean: Share of all tokens that were accepted of late.
        long_run: What it leans on.
        table: What `rates` returns, by class; below 0 where it has to be computed anew.
        trust: Share of what was expected of verified proposals that came true, at most 1.
        margins: By class, what is to be added to its rates for what is most likely.
    """

    __slots__ = ("_accepted", "_hoped", "_judged", "_kept", "_mass", "_n_added",
                 "_total_accepted", "_total_judged", "long_run", "margins", "mean", "table",
                 "trust")  # fmt: skip

    def __init__(self, long_run: LongRun) -> None:
        self.long_run = long_run
        self._accepted = [[0.0] * N_PLACES for _ in range(N_CLASSES)]
        self._judged = [[0.0] * N_PLACES for _ in range(N_CLASSES)]
        self._total_accepted = self._total_judged = 0.0
        self._mass = 1.0
        self.trust = _FIRST_TRUST
        self._hoped = self._kept = 0.0
        self._n_added = 0
        self.table: list[list[float]] = [[-1.0] * N_PLACES for _ in range(N_CLASSES)]
        self.margins = [0.0] * N_CLASSES
        n = sum(long_run.judged)
        self.mean = (sum(long_run.accepted) + 6.0 * 0.6) / (n + 6.0)

    def rates(self, cls: int) -> list[float]:
        """Return what is safe to believe of a class by group of places, [N_PLACES].

        That is the lower 30 % quantile while few of its tokens were judged.
        """
        rates = self.table[cls]
        return self._refresh(cls) if rates[0] < 0.0 else rates

    def rates_at(self, place: int) -> list[float]:
        """Return what is safe to believe of every class at a group of places, [N_CLASSES]."""
        for cls, rates in enumerate(self.table):
            if rates[0] < 0.0:
                self._refresh(cls)
        return [rates[place] for rates in self.table]

    def survivals(self, confidences: Sequence[float | None], most: int) -> list[float]:
        """Return how likely each token is accepted with all before it; stops where it is hopeless.

        Args:
            confidences: The proposal's.
            most: Tokens that are looked at, at most.
        """
        survivals: list[float] = []
        survival, all_rates = self.trust, self.table
        if len(confidences) > most:
            confidences = confidences[:most]
        for i, confidence in enumerate(confidences):
            cls = SILENT if confidence is None else bisect_right(BOUNDS, confidence)
            rates = all_rates[cls]
            if rates[0] < 0.0:
                rates = self._refresh(cls)
            survival *= rates[PLACE_OF[i]]
            if survival < 0.02:
                break
            survivals.append(survival)
        return survivals

    def verified(self, expected: float, n_accepted: int) -> None:
        """Compare a proposal that was chosen with what was expected of it, in tokens.

        The best of several offers is rather one that was overrated, the more so as offers on
        which all lookups agree are easier than those of one alone.
        """
        self._hoped = 0.95 * self._hoped + expected
        self._kept = 0.95 * self._kept + n_accepted
        self.trust = min((self._kept + _FIRST_TRUST * _TRUSTED) / (self._hoped + _TRUSTED), 1.0)

    def add(self, confidences: Sequence[float | None], n_accepted: int, n_judged: int) -> None:
        """Count one draft.

        Args:
            confidences: The proposal's.
            n_accepted: Tokens accepted, from the first one on.
            n_judged: Tokens that were compared at all; the one behind the accepted ones, if it is
                among them, was rejected.
        """
        n = n_accepted + 1 if n_accepted < n_judged else n_judged
        classes: list[int] = []
        for confidence in confidences[:n]:
            classes.append(SILENT if confidence is None else bisect_right(BOUNDS, confidence))
        self.add_classes(classes, n_accepted, n_judged)

    def add_classes(self, classes: Sequence[int], n_accepted: int, n_judged: int) -> None:
        """Count one draft by its tokens' classes; see `add`."""
        n, n_given = n_accepted + 1 if n_accepted < n_judged else n_judged, len(classes)
        n = n if n < n_given else n_given
        if n < 1:
            return
        mass = self._mass = self._mass / (_SILENT_DECAY if classes[0] == SILENT else _DECAY)
        self._n_added += 1
        stale_below = math.inf if self._n_added % _EVERY == 0 else _FEW
        judged, accepted, table, long_run = self._judged, self._accepted, self.table, self.long_run
        long_judged, long_accepted = long_run.judged, long_run.accepted
        n_right = n_accepted if n_accepted < n else n
        for i in range(n):
            cls, place = classes[i], PLACE_OF[i]
            judged[cls][place] += mass
            seen = long_judged[cls] = long_judged[cls] + 1.0
            if i < n_right:
                accepted[cls][place] += mass
                long_accepted[cls] += 1.0
            if seen < stale_below:
                table[cls][0] = -1.0
        long_run.n_judged += n
        long_run.n_accepted += n_right
        self._total_judged += n * mass
        self._total_accepted += n_right * mass
        prior = _PRIOR_WEIGHT * mass
        self.mean = (self._total_accepted + 0.6 * prior) / (self._total_judged + prior)
        if mass > 1e9:
            self._renormalise()

    def by_confidence(self) -> tuple[ClassRate, ...]:
        """Return what is believed of each class of confidence that was seen."""
        return tuple(
            ClassRate(upper, self._class_rate(cls), self._class_judged(cls) / self._mass)
            for cls, upper in enumerate(UPPER)
            if self.long_run.judged[cls] > 0.0
        )

    def by_place(self) -> tuple[float, ...]:
        """Return the recent acceptance by group of places: 0, 1, 2, 3-4, 5-8, 9 and more."""
        found: list[float] = []
        for place in range(N_PLACES):
            judged = sum(row[place] for row in self._judged)
            if judged < self._mass * 0.5:
                break
            found.append(sum(row[place] for row in self._accepted) / judged)
        return tuple(found)

    # ------------------------------------------------------------------------------ within

    def _class_judged(self, cls: int) -> float:
        return sum(self._judged[cls])

    def _class_rate(self, cls: int) -> float:
        prior = _PRIOR_WEIGHT * self._mass
        accepted = sum(self._accepted[cls])
        return (accepted + prior * self.long_run.rate(cls)) / (self._class_judged(cls) + prior)

    def _refresh(self, cls: int) -> list[float]:
        accepted, judged, long_run = self._accepted[cls], self._judged[cls], self.long_run
        prior = _PRIOR_WEIGHT * self._mass
        base = (sum(accepted) + prior * long_run.rate(cls)) / (sum(judged) + prior)
        n_long, margin = long_run.judged[cls], 0.0
        if n_long < _FEW:
            margin = min(_Z_LOW * math.sqrt(base * (1.0 - base) / (n_long + 6.0)), 0.9 * base)
            base -= margin
        self.margins[cls] = margin
        hoped = prior * base
        right_0, right_1, right_2, right_3, right_4, right_5 = accepted
        n_0, n_1, n_2, n_3, n_4, n_5 = judged
        rates = self.table[cls] = [  # a loop takes three times as long, twice in each step
            (right_0 + hoped) / (n_0 + prior),
            (right_1 + hoped) / (n_1 + prior),
            (right_2 + hoped) / (n_2 + prior),
            (right_3 + hoped) / (n_3 + prior),
            (right_4 + hoped) / (n_4 + prior),
            (right_5 + hoped) / (n_5 + prior),
        ]
        return rates

    def _renormalise(self) -> None:
        scale = 1.0 / self._mass
        for counts in (*self._accepted, *self._judged):
            counts[:] = [x * scale for x in counts]
        self._total_accepted *= scale
        self._total_judged *= scale
        self._mass = 1.0
