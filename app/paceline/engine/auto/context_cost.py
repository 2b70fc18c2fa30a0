"""The time that the context adds to a step: attention reads all of it for each row of a batch.

A GPU reads it once for all rows, so wide steps get slower by about as much as plain ones. A CPU
computes with it once more for every row: after 1,500 tokens of context a step of four tokens was
seen to take 2.5 plain steps instead of 1.7. So each further row of a batch adds a share of that
time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import combinations
from statistics import median

from paceline.engine.auto.tuning import TUNING


class ContextCost:
    """The time that tokens in the context add, relative to a plain step at an empty context.

    Attributes:
        slope: Share by which each token of the context slows a plain step.
        share: Share of that which each further row of a batch adds once more, 0..1.
    """

    def __init__(self) -> None:
        self.slope = 0.0
        self.share = TUNING.context_share

    def scale(self, n_ctx: int) -> float:
        """Return the time of a plain step relative to one at an empty context."""
        return 1.0 + self.slope * n_ctx

    def bases(
        self,
        width: int,
        samples: Sequence[tuple[int, float]],
        plain: float | None,
        least: float = 1.0,
    ) -> list[float]:
        """Return the seconds that timed steps would have taken at an empty context.

        Args:
            width: Tokens of the steps' batches.
            samples: Pairs of tokens in the context and seconds measured there.
            plain: Seconds of a plain step at an empty context, or None if not known.
            least: Lower bound of a step of any width, in plain steps.
        """
        slope = self.slope
        if width == 1 or plain is None:
            return [seconds / (1.0 + slope * n) for n, seconds in samples]
        # Even where the model of the context is wrong, no result falls below the lower bound.
        added, low = plain * slope * (1.0 + self.share * (width - 1)), least * plain
        return [max(seconds - added * n, min(low, seconds)) for n, seconds in samples]

    def at(self, width: int, n_ctx: int, base: float, plain: float | None) -> float:
        """Return a step's seconds at this context; it takes `base` seconds at an empty one."""
        added = self.slope * n_ctx
        if width == 1 or plain is None:
            return base * (1.0 + added)
        return base + plain * added * (1.0 + self.share * (width - 1))

    def ratios(self, at_empty: Sequence[float], n_ctx: int) -> Sequence[float]:
        """Return the cost by width in plain steps at a context, from that at an empty one.

        Index 0 is 0.0 in both, [width + 1].
        """
        added = self.slope * n_ctx
        if added < 0.02 or not at_empty:  # less than the noise of timings
            return at_empty
        share, whole = added * self.share, 1.0 + added
        first = added - share
        # A row that adds nothing costs r + added; each further one adds its share of that.
        found = [(ratio + first + share * w) / whole for w, ratio in enumerate(at_empty)]
        found[0] = 0.0
        if at_empty[1] == 1.0:
            found[1] = 1.0  # exactly
        return found


class ContextSlope:
    """The slope of plain steps over the context's length; for the engine's thread.

    Plain steps are grouped by context length into stretches of 256 tokens. In each stretch the
    faster ones of the last steps count, since other programs only make steps slower. The slope is
    the median of the slopes between all pairs of stretches (Theil-Sen estimator), which a few bad
    stretches do not move. SmolLM2's plain step on one thread grows by 0.03 % with each token of the
    context and varies by 3 to 8 %: by as much as it grows within a stretch, and by half of what it
    grows between the stretches that are compared.
    """

    def __init__(self) -> None:
        self._stretches: dict[int, deque[tuple[int, float]]] = {}

    def add(self, n_ctx: int, seconds: float) -> None:
        """Count one plain step that nothing slowed, at `n_ctx` tokens of context."""
        held = self._stretches.get(n_ctx // 256)
        if held is None:
            held = self._stretches[n_ctx // 256] = deque(maxlen=9)
        held.append((n_ctx, seconds))

    def fit(self) -> float | None:
        """Return b in seconds = a * (1 + b * n_ctx), or None while the contexts are too similar."""
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
        return min(max(slope / base, 0.0), TUNING.max_context_slope) if base > 0.0 else None
