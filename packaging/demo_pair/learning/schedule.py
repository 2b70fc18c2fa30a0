"""How the learning rate goes: up, level, and down at the end.

Warm-up, stable, decay (Hu et al., "MiniCPM", arXiv:2404.06395): other than a cosine over the whole
run, it may be continued from before the decay. The decay is that of Hägele et al.
(arXiv:2405.18392), one minus the square root of its progress.
"""

from __future__ import annotations

import math

WARM_UP, DECAY_FROM, LOWEST = 0.02, 0.6, 0.01


def rate_factor(progress: float) -> float:
    """Return which part of the highest rate is used.

    Args:
        progress: How much of the run is done, 0 to 1.
    """
    if progress < WARM_UP:
        return max(progress, 1e-4) / WARM_UP
    if progress < DECAY_FROM:
        return 1.0
    done = min((progress - DECAY_FROM) / (1 - DECAY_FROM), 1.0)
    return LOWEST + (1 - LOWEST) * (1 - math.sqrt(done))
