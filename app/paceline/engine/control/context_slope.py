"""How much dearer a step gets with every token in the context: attention reads all of them.

Plain steps are collected by the length of the context. Of each stretch of 256 tokens the faster
ones of the last steps count, since whatever else the machine does only makes steps slower; the
slope is the median of those between all pairs of stretches (Theil and Sen's estimator), which a
few bad stretches do not move.
"""

from __future__ import annotations

from statistics import median

_STRETCH = 256
_N_KEPT = 9
_N_NEEDED = 3  # plain steps of a stretch
_SPAN = 512  # tokens between stretches that are compared
_STEEPEST = 0.01


class ContextSlope:
    """Plain steps by context; for the engine's thread."""

    __slots__ = ("_stretches",)

    def __init__(self) -> None:
        self._stretches: dict[int, list[tuple[int, float]]] = {}

    def add(self, n_ctx: int, seconds: float) -> None:
        """Count one true plain step, in `n_ctx` tokens of context."""
        held = self._stretches.setdefault(n_ctx // _STRETCH, [])
        held.append((n_ctx, seconds))
        if len(held) > _N_KEPT:
            del held[0]

    def fit(self) -> float | None:
        """Return b in seconds = a * (1 + b * n_ctx); None while the contexts are too alike."""
        points = []
        for held in self._stretches.values():
            if len(held) >= _N_NEEDED:
                ordered = sorted(held, key=lambda sample: sample[1])
                points.append(ordered[len(ordered) // 4])
        slopes, bases = [], []
        for i, (n, seconds) in enumerate(points):
            for other_n, other_seconds in points[:i]:
                if abs(n - other_n) >= _SPAN:
                    slope = (seconds - other_seconds) / (n - other_n)
                    slopes.append(slope)
                    bases.append(seconds - slope * n)
        if not slopes:
            return None
        slope, base = median(slopes), median(bases)
        return min(max(slope / base, 0.0), _STEEPEST) if base > 0.0 else None
