"""Pearson's test of counts against exact probabilities, at one false alarm in a million.

With 20,000 draws and 32 bins it finds a distribution that is off by 0.02 in total variation
practically always; total variation alone needs twice that. `test_distribution.py` checks the
check itself.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

_Z = 4.7534  # the normal distribution's quantile at 1 - 1e-6


def chi_square_limit(freedom: int) -> float:
    """Return the quantile at 1 - 1e-6 (Wilson and Hilferty): 84.2 for 31 degrees of freedom."""
    a = 2 / (9 * freedom)
    return float(freedom * (1 - a + _Z * math.sqrt(a)) ** 3)


def chi_square(counts: ArrayLike, probabilities: ArrayLike) -> tuple[float, float]:
    """Return statistic and limit, with the rarest bins pooled until 5 are expected in each."""
    observed, expected = _pooled(np.asarray(counts, float), np.asarray(probabilities, float))
    return float(((observed - expected) ** 2 / expected).sum()), chi_square_limit(len(expected) - 1)


def total_variation(counts: ArrayLike, probabilities: ArrayLike) -> float:
    """Return half the sum of the differences."""
    observed = np.asarray(counts, float)
    return float(np.abs(observed / observed.sum() - np.asarray(probabilities)).sum() / 2)


def assert_follows(counts: ArrayLike, probabilities: ArrayLike) -> None:
    """Fail unless the counts may come from the probabilities; what has none never appears."""
    observed, exact = np.asarray(counts), np.asarray(probabilities, float)
    assert abs(exact.sum() - 1) < 1e-9
    assert observed[exact == 0].sum() == 0, "something impossible was drawn"
    statistic, limit = chi_square(observed, exact)
    assert statistic < limit, f"χ² is {statistic:.1f}, the limit {limit:.1f}"


def assert_flat(uniform: NDArray[np.float64], bins: int = 64) -> None:
    """Fail unless the numbers, in 0..1, may be uniform."""
    counts = np.bincount((uniform * bins).astype(int), minlength=bins)
    assert_follows(counts, np.full(bins, 1 / bins))


def _pooled(
    counts: NDArray[np.float64], probabilities: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    expected = probabilities * counts.sum()
    order = expected.argsort()
    observed, wanted = [0.0], [0.0]
    for i in order:
        if wanted[-1] >= 5:
            observed.append(0.0)
            wanted.append(0.0)
        observed[-1] += counts[i]
        wanted[-1] += expected[i]
    return np.array(observed), np.array(wanted)
