"""The time that the context adds to a step: attention reads all its tokens for each row of a batch.

A GPU reads them once for all rows, so wide steps get slower by about as much as plain ones. A CPU
computes with them once more for every row: after 1,500 tokens of context a step of four tokens was
seen to take 2.5 plain steps instead of 1.7. So the addition has a share for each further row.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import combinations
from statistics import median

from paceline.engine.auto.tuning import TUNING


class ContextCost:
    """Plain steps at an empty context that tokens in it add.

    Attributes:
        slope: By which share of itself a plain step gets slower with each token of the context.
        share: Of that, what each further token of a batch adds once more, 0..1.
    """

    def __init__(self) -> None:
        self.slope = 0.0
        self.share = TUNING.context_share

    def scale(self, n_ctx: int) -> float:
        """Return the time of a plain step over that at an empty context."""
        return 1.0 + self.slope * n_ctx

    def bases(
        self,
        width: int,
        samples: Sequence[tuple[int, float]],
        plain: float | None,
        least: float = 1.0,
    ) -> list[float]:
        """Return what steps would take at an empty context.

        Args:
            width: Their tokens.
            samples: Tokens in the context, and what they took there.
            plain: Seconds of a plain step at an empty context; None: not known.
            least: Of these, what a step of any width takes.
        """
        slope = self.slope
        if width == 1 or plain is None:
            return [seconds / (1.0 + slope * n) for n, seconds in samples]
        # Where only the context is known to differ, nothing falls below the least step.
        added, low = plain * slope * (1.0 + self.share * (width - 1)), least * plain
        return [max(seconds - added * n, min(low, seconds)) for n, seconds in samples]

    def at(self, width: int, n_ctx: int, base: float, plain: float | None) -> float:
        """Return what a step takes that takes `base` seconds at an empty context."""
        added = self.slope * n_ctx
        if width == 1 or plain is None:
            return base * (1.0 + added)
        return base + plain * added * (1.0 + self.share * (width - 1))

    def ratios(self, at_empty: Sequence[float], n_ctx: int) -> Sequence[float]:
        """Return plain steps by width at a context; those at an empty one begin with 0.0."""
        added = self.slope * n_ctx
        if added < 0.02 or not at_empty:  # timings vary by more
            return at_empty
        share, whole = added * self.share, 1.0 + added
        first = added - share
        # A row that adds nothing is r + added; each further one costs its share of that again.
        found = [(ratio + first + share * w) / whole for w, ratio in enumerate(at_empty)]
        found[0] = 0.0
        if at_empty[1] == 1.0:
            found[1] = 1.0  # exactly
        return found


class ContextSlope:
    """Plain steps by context; for the engine's thread.

    Plain steps are collected by the length of the context. Of each stretch of 256 tokens the faster
    ones of the last steps count, since other work of the machine only makes steps slower; the slope
    is the median of those between all pairs of stretches (Theil and Sen's estimator), which a few
    bad stretches do not move. SmolLM2's plain step on one thread grows by 0.03 % with each token of
    the context and varies by 3 to 8 %: by as much as it grows within a stretch, and by half of what
    it grows between stretches that are compared.
    """

    def __init__(self) -> None:
        self._stretches: dict[int, deque[tuple[int, float]]] = {}

    def add(self, n_ctx: int, seconds: float) -> None:
        """Count one true plain step, in `n_ctx` tokens of context."""
        held = self._stretches.get(n_ctx // 256)
        if held is None:
            held = self._stretches[n_ctx // 256] = deque(maxlen=9)
        held.append((n_ctx, seconds))

    def fit(self) -> float | None:
        """Return b in seconds = a * (1 + b * n_ctx); None while the contexts are too alike."""
        points = [
            sorted(held, key=lambda sample: sample[1])[len(held) // 4]
            for held in self._stretches.values()
            if len(held) >= 3
        ]
        slopes = [
            (seconds - other_seconds) / (n - other_n)
            for (n, seconds), (other_n, other_seconds) in combinations(points, 2)
            if abs(n - other_n) >= 512
        ]
        if not slopes:
            return None
        slope = median(slopes)
        base = median(seconds - slope * n for n, seconds in points)
        return min(max(slope / base, 0.0), TUNING.steepest_context) if base > 0.0 else None
