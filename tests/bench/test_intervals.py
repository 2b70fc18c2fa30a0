"""Medians, their intervals and percentiles, against what is known of them."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Sequence

import pytest

from paceline.bench.recommend import Interval, bootstrap, percentile


@pytest.mark.parametrize(
    ("share", "wanted"), [(0.0, 1), (0.05, 1), (0.5, 5), (0.51, 6), (0.95, 10), (1.0, 10)]
)
def test_percentiles_of_ten(share: float, wanted: float) -> None:
    values = list(range(1, 11))
    random.Random(2).shuffle(values)
    assert percentile(values, share) == wanted


def test_an_interval_holds_its_median_and_shrinks_with_more_values() -> None:
    noise = random.Random(3)
    few, many = ([noise.gauss(1.0, 0.1) for _ in range(n)] for n in (15, 400))
    narrow, wide = bootstrap([many]), bootstrap([few])
    for interval, values in ((narrow, many), (wide, few)):
        assert interval.median == statistics.median(values)
        assert interval.low <= interval.median <= interval.high
    assert narrow.high - narrow.low < (wide.high - wide.low) / 2


def test_most_intervals_hold_the_true_median() -> None:
    noise = random.Random(4)
    intervals = [bootstrap([[noise.gauss(1.0, 0.1) for _ in range(15)]]) for _ in range(40)]
    held = sum(interval.low <= 1.0 <= interval.high for interval in intervals)
    assert held >= 33
    assert bootstrap([[2.0] * 15]) == bootstrap([[2.0] * 3])


def test_groups_are_resampled_apart() -> None:
    spread = bootstrap([[1.0] * 9, [2.0] * 9, [3.0] * 9])
    assert (spread.low, spread.median, spread.high) == (2.0, 2.0, 2.0)
    assert bootstrap([[1.5] * 9, [1.5] * 9]) == Interval(1.5, 1.5, 1.5)
    assert bootstrap([[0.9, 1.0, 1.1]]) == bootstrap([[0.9, 1.0, 1.1]])


def test_another_middle_than_the_median() -> None:
    def product(groups: Sequence[Sequence[float]]) -> float:
        return math.prod(statistics.median(group) for group in groups)

    found = bootstrap([[2.0, 2.0, 3.0], [5.0, 5.0, 7.0]], product)
    assert found.median == 10.0
    assert (found.low, found.high) == (10.0, 21.0)
