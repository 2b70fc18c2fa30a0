"""Upper bound of a share of which few cases were seen."""

from __future__ import annotations

import math


def at_most(n_seen: int, n: int) -> float:
    """Return the 95 % upper bound of a share, 0..1 (Clopper and Pearson); 1.0 for n = 0.

    It takes cases for independent of each other.
    """
    if n_seen >= n:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(50):
        share = (low + high) / 2
        chance = sum(math.comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(n_seen + 1))
        low, high = (share, high) if chance > 0.05 else (low, share)
    return high
