"""Medians with 95 % intervals, and percentiles, for benchmarks on machines that others use too.

The interval is a percentile bootstrap (Efron and Tibshirani, An Introduction to the Bootstrap,
chapter 13). The pairs that go in are measured one right behind the other, so that whatever slows
the machine slows both sides.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

_SAMPLES = 4000


@dataclass(frozen=True, slots=True)
class Interval:
    """A median with its 95 % interval."""

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
    drawn = random.Random(1)  # the same values give the same interval
    medians = sorted(
        statistics.median(drawn.choices(values, k=len(values))) for _ in range(_SAMPLES)
    )
    return Interval(
        statistics.median(values), percentile(medians, 0.025), percentile(medians, 0.975)
    )


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least `share` (0..1) of the values do not exceed."""
    ordered = sorted(values)
    return ordered[max(math.ceil(share * len(ordered)), 1) - 1]
