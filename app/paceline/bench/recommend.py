"""The best fixed setting, and Auto's speed compared with it; medians with 95 % intervals.

Figures that chose the best of twenty settings overrate it, since luck was chosen with it. So the
choice is made on the odd repeats and judged on the even ones.

The interval is a percentile bootstrap (Efron and Tibshirani, An Introduction to the Bootstrap,
chapter 13) over the repeats within each workload. The two sides of a pair are measured one right
after the other, so that a machine that is slow for a while slows both.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from paceline.bench.plan import AUTO, PLAIN, is_controlled
from paceline.bench.runs import Report

_SAMPLES = 4000


@dataclass(frozen=True, slots=True)
class Interval:
    """A median, or another average, with its 95 % interval."""

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.median:.3f} [{self.low:.3f}, {self.high:.3f}]"


def median_of_all(groups: Sequence[Sequence[float]]) -> float:
    """Return the median of the values of all groups."""
    return statistics.median([value for group in groups for value in group])


def bootstrap(
    groups: Sequence[Sequence[float]],
    middle: Callable[[Sequence[Sequence[float]]], float] = median_of_all,
) -> Interval:
    """Return an average of grouped values with its interval, by resampling within each group.

    Groups are values that differ for a known reason, such as the prompt.

    Args:
        groups: At least one, none of them empty.
        middle: Computes the statistic from resampled groups.
    """
    drawn = random.Random(1)  # the same values give the same interval
    middles = sorted(
        middle([drawn.choices(group, k=len(group)) for group in groups]) for _ in range(_SAMPLES)
    )
    return Interval(middle(groups), percentile(middles, 0.025), percentile(middles, 0.975))


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least `share` (0..1) of the values do not exceed."""
    ordered = sorted(values)
    return ordered[max(math.ceil(share * len(ordered)), 1) - 1]


N_MAX = (1, 2, 3, 4, 6, 8, 12, 16)
_LOOKUPS = ("prompt-lookup", "ngram-simple", "ngram-map-k", "ngram-mod", "ngram-cache", "suffix")
_CHAINS = (2, 4, 8)


@dataclass(frozen=True, slots=True)
class Choice:
    """The best fixed setting of a workload, or over all of them (`workload` empty).

    Attributes:
        workload: Its name.
        best: The fixed setting, plain decoding included, that was fastest on the odd repeats.
        best_ratio: Plain decoding's time divided by its time, on the even repeats.
        auto_ratio: The same for Auto, or None if it did not take part.
        auto_by_best: The best setting's time divided by Auto's; above 1, Auto is faster.
    """

    workload: str
    best: str
    best_ratio: Interval
    auto_ratio: Interval | None
    auto_by_best: Interval | None


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The best fixed settings: over all workloads, and of each."""

    over_all: Choice
    by_workload: tuple[Choice, ...]


def sweep(model: str) -> tuple[str, ...]:
    """Return the strategies to try: Auto, the draft model by length, lookups, and chains of both.

    The lengths are exact: the model is not stopped by its doubts (``p_min=0``); its default, which
    is, is tried beside them.

    Args:
        model: Id of its drafter, as `PairState.drafter`, or empty if there is none.
    """
    if not model:
        return (PLAIN, AUTO, *_LOOKUPS)
    models = [f"{model}:n_max={n}:p_min=0" for n in N_MAX]
    chains = [f"suffix+{model}:{model}.n_max={n}:{model}.p_min=0" for n in _CHAINS]
    return (PLAIN, AUTO, model, *models, *_LOOKUPS, *chains)


def recommend(report: Report) -> Recommendation | None:
    """Return the best settings, or None if there are no even repeats that everything has run."""
    table = _Table(report)
    if not table.names:
        return None
    over_all = table.choose(table.names, "")
    return Recommendation(over_all, tuple(table.choose([name], name) for name in table.names))


class _Table:
    """Every strategy's time per workload and repeat, where all strategies have one."""

    def __init__(self, report: Report) -> None:
        runs: dict[tuple[str, int], dict[str, list[float]]] = {}
        for run in report.runs:
            at = runs.setdefault((run.workload, run.repeat), {})
            at.setdefault(run.strategy, []).append(run.total_s)
        times = {
            key: {strategy: statistics.median(found) for strategy, found in at.items()}
            for key, at in runs.items()
        }
        ran = {run.strategy for run in report.runs}
        self._times = {key: of for key, of in times.items() if of.keys() == ran}
        self._fixed = [s for s in report.strategies if s in ran and not is_controlled(s)]
        controlled = [s for s in report.strategies if s in ran and is_controlled(s)]
        self._auto = AUTO if AUTO in controlled else controlled[0] if controlled else None
        self.names = [
            w.name
            for w in report.workloads
            if {repeat % 2 for name, repeat in self._times if name == w.name} == {0, 1}
        ]

    def choose(self, names: Sequence[str], workload: str) -> Choice:
        best = max(self._fixed, key=lambda s: middle(self._ratios(names, 1, PLAIN, s)))
        auto = self._auto
        return Choice(
            workload,
            best,
            bootstrap(self._ratios(names, 0, PLAIN, best), middle),
            bootstrap(self._ratios(names, 0, PLAIN, auto), middle) if auto else None,
            bootstrap(self._ratios(names, 0, best, auto), middle) if auto else None,
        )

    def _ratios(self, names: Sequence[str], odd: int, slow: str, fast: str) -> list[list[float]]:
        """Return one time by another, in a list per workload, of the odd or the even repeats."""
        return [
            [
                of[slow] / of[fast]
                for (at, n), of in self._times.items()
                if (at, n % 2) == (name, odd)
            ]
            for name in names
        ]


def middle(groups: Sequence[Sequence[float]]) -> float:
    """Return the geometric mean of the groups' medians."""
    return statistics.geometric_mean([statistics.median(group) for group in groups])
