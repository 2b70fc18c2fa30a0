"""Medians with 95 % intervals, and percentiles, for benchmarks on machines that others use too.

The interval is a percentile bootstrap (Efron and Tibshirani, An Introduction to the Bootstrap,
chapter 13). The two sides of a pair are measured one right after the other, so that a machine that
is slow for a while slows both.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_SAMPLES = 4000


@dataclass(frozen=True, slots=True)
class Interval:
    """A median, or another middle, with its 95 % interval."""

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.median:.3f} [{self.low:.3f}, {self.high:.3f}]"


def median_interval(values: Sequence[float]) -> Interval:
    """Return the median and where it would be found in 95 of 100 repetitions.

    Args:
        values: At least one.
    """
    return bootstrap([values])


def median_of_all(groups: Sequence[Sequence[float]]) -> float:
    """Return the median of the values of all groups."""
    return statistics.median([value for group in groups for value in group])


def bootstrap(
    groups: Sequence[Sequence[float]],
    middle: Callable[[Sequence[Sequence[float]]], float] = median_of_all,
) -> Interval:
    """Return a middle of grouped values, resampled within each group.

    Groups are what differs for good reasons, such as prompts.

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
