"""What a step costs by the width of its batch, as measured: T(n, ctx) = A(n) * (1 + b * ctx).

Curves differ too much to be assumed: flat on a GPU up to eight tokens and a cliff behind, steps of
four on a CPU, +55 % for every token of a mixture of experts. So A(n) is the median of the last
steps of width n, at the pace that the machine had then (`pace.py`). What lies between two measured
widths is guessed between the straight line and the wider one's cost, which is what a staircase
would give; what lies beyond all of them is guessed hopefully for the rule and at one whole plain
step per token for the ledger, so that wider batches are tried, but only out of what was saved.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_left, insort
from collections.abc import Sequence
from itertools import accumulate

from paceline.figures import WidthCost

MAX_WIDTH = 63
_N_KEPT = 9
_HOPED_SLOPE = 0.12  # plain steps per further token, before any width but one was measured
_STEEPEST_HOPED = 0.2
_VERSION = 1


class VerifyCosts:
    """A table of seconds by width; for the engine's thread.

    Attributes:
        plain: Seconds of a plain step at an empty context; None: not known.
        slope: By which share a step gets dearer with each token of the context.
    """

    __slots__ = ("_careful", "_fresh", "_hopeful", "_is_stale", "_medians", "_ordered", "_samples",
                 "_tail", "plain", "slope")  # fmt: skip

    def __init__(self) -> None:
        self._samples: dict[int, list[tuple[int, float]]] = {}
        self._ordered: dict[int, list[float]] = {}  # the same at an empty context, sorted
        self._medians: dict[int, float] = {}
        self._tail = (0, 0.0)  # the widest width of the lists below, and its ratio
        self._hopeful: list[float] = []
        self._careful: list[float] = []
        self._is_stale = False
        self._fresh: set[int] = set()
        self.plain: float | None = None
        self.slope = 0.0

    # ------------------------------------------------------------------------------- learning

    def add(self, width: int, n_ctx: int, seconds: float, *, calibrated: bool = False) -> None:
        """Count one timed step.

        Args:
            width: Tokens of its batch.
            n_ctx: Tokens in the context before it.
            seconds: What it took, at the pace that the table is for.
            calibrated: It was measured for its own sake, at most a few at a time: older samples
                of this width from another minute give way.
        """
        if not 1 <= width <= MAX_WIDTH or not 0.0 < seconds < math.inf:
            return
        samples = self._samples.get(width)
        if samples is None:
            samples = self._samples[width] = []
            self._ordered[width] = []
        elif calibrated and len(samples) > 2:
            del samples[:-2]
            self._sort(width)
        self._fresh.add(width)
        samples.append((n_ctx, seconds))
        slope, ordered = self.slope, self._ordered[width]
        base = seconds / (1.0 + slope * n_ctx)
        insort(ordered, base)
        if len(samples) > _N_KEPT:
            old_ctx, old_seconds = samples.pop(0)
            old = old_seconds / (1.0 + slope * old_ctx)
            del ordered[bisect_left(ordered, old)]
            middle = self._medians[width]
            if (base > middle) == (old > middle):
                return  # one above it for another: the median is the same
        self._update(width)

    def stretch(self, factor: float) -> None:
        """Let every batch of more than one token cost so much more, until it is measured anew."""
        for width, samples in self._samples.items():
            if width > 1:
                n_ctx = samples[-1][0]
                scale = factor * (1.0 + self.slope * n_ctx)
                samples[:] = [(n_ctx, self._medians[width] * scale)] * 2
                self._sort(width)
                self._update(width)

    def set_slope(self, slope: float) -> None:
        """Say by which share a step gets dearer with each token of the context."""
        self.slope = slope
        for width in self._samples:
            self._sort(width)
            self._update(width)

    def _sort(self, width: int) -> None:
        slope, samples = self.slope, self._samples[width]
        self._ordered[width] = sorted(s / (1.0 + slope * n_ctx) for n_ctx, s in samples)

    def _update(self, width: int) -> None:
        ordered = self._ordered[width]
        n = len(ordered)
        # What comes in between makes steps slower only, so a few are best told by the faster ones.
        middle = ordered[n // 2] if n > 4 else ordered[n > 2]
        before = self._medians.get(width)
        # A rebuilt table costs a fifth of what a step may cost here, so not for two per cent.
        if before is None or not 0.97 < middle / before < 1.03:
            self._medians[width] = middle
            self._is_stale = True
            if width == 1:
                self.plain = middle

    def age(self) -> None:
        """Drop the slowest step of each width that was not timed since the last call.

        Else a width that was measured in a bad minute would never be tried again.
        """
        for width, samples in self._samples.items():
            if width > 1 and width not in self._fresh and len(samples) > 2:
                slope = self.slope
                samples.remove(max(samples, key=lambda s: s[1] / (1.0 + slope * s[0])))
                self._ordered[width].pop()
                self._update(width)
        self._fresh.clear()

    # -------------------------------------------------------------------------------- asking

    def n_samples(self, width: int) -> int:
        """Return how many timed steps the cost of this width rests on."""
        return len(self._samples.get(width, ()))

    def missing(self, widths: Sequence[int]) -> list[int]:
        """Return those of these widths that no two steps have measured."""
        return [w for w in widths if self.n_samples(w) < 2]

    def seconds(self, width: int, n_ctx: int) -> float | None:
        """Return what a step of this width takes; None while nothing at all is known."""
        if self.plain is None or width < 1:
            return None
        ratios = self.ratios()
        return ratios[min(width, MAX_WIDTH)] * self.plain * (1.0 + self.slope * n_ctx)

    def ratios(self) -> list[float]:
        """Return the cost in plain steps by width, [MAX_WIDTH + 1]; empty: not known."""
        if self._is_stale:
            self._rebuild()
        return self._hopeful

    def careful(self) -> list[float]:
        """Return the same as the ledger has to see it, never falling with the width."""
        if self._is_stale:
            self._rebuild()
        return self._careful

    def table(self, n_ctx: int) -> tuple[WidthCost, ...]:
        """Return every width's cost up to the widest one that was measured."""
        plain = self.plain
        if plain is None:
            return ()
        scale = plain * (1.0 + self.slope * n_ctx)
        widest = max(self._medians)
        ratios = self.ratios()
        return tuple(
            WidthCost(w, ratios[w] * scale, self.n_samples(w)) for w in range(1, widest + 1)
        )

    def _rebuild(self) -> None:
        self._is_stale = False
        one = self.plain
        if one is None:
            return
        known = sorted(self._medians)
        # No batch is dearer than a wider one, so a width that was timed in a bad minute does not
        # stand in the way of the others.
        at_most = list(accumulate(map(self._medians.__getitem__, reversed(known)), min))
        at_most.reverse()
        hopeful, careful = [0.0, 1.0], [0.0, 1.0]
        last, last_ratio = 1, 1.0
        for width, cost in zip(known, at_most, strict=True):
            if width == 1:
                continue
            ratio = cost / one if cost > one else 1.0
            if width > last + 1:
                step = (ratio - last_ratio) / (width - last)
                line = [last_ratio + step * k for k in range(1, width - last)]
                hopeful += [(x + max(ratio, x)) / 2 for x in line]
                careful += [ratio] * len(line)
            hopeful.append(ratio)
            careful.append(ratio)
            last, last_ratio = width, ratio
        if self._tail == (last, last_ratio):
            hopeful += self._hopeful[last + 1 :]
            careful += self._careful[last + 1 :]
        else:
            self._add_tail(hopeful, careful)
        self._hopeful, self._careful = hopeful, careful

    def _add_tail(self, hopeful: list[float], careful: list[float]) -> None:
        """Guess what lies beyond all widths that were measured."""
        last, last_ratio = len(hopeful) - 1, hopeful[-1]
        self._tail = (last, last_ratio)
        # Curves flatten as often as they rise, so a dear second token is no verdict on the others.
        slope = (last_ratio - 1.0) / (last - 1) if last > 1 else _HOPED_SLOPE
        slope = min(max(slope, 0.02), _STEEPEST_HOPED)
        further = range(1, MAX_WIDTH + 1 - last)
        hopeful += [last_ratio + slope * k for k in further]
        careful += [last_ratio + k for k in further]

    # --------------------------------------------------------------------------------- keeping

    def to_json(self) -> str:
        """Return everything as a text."""
        samples = {str(w): [list(s) for s in held] for w, held in sorted(self._samples.items())}
        return json.dumps({"version": _VERSION, "slope": self.slope, "samples": samples})

    @classmethod
    def from_json(cls, text: str) -> VerifyCosts:
        """Return the table that `to_json` gave this text for.

        Raises:
            ValueError: It is no such text.
        """
        data = json.loads(text)
        try:
            if data["version"] != _VERSION:
                raise ValueError("these costs are of another version")
            costs = cls()
            costs.slope = _number(data["slope"], 0.0, 0.05)
            for key, held in data["samples"].items():
                width = int(key)
                if not 1 <= width <= MAX_WIDTH:
                    raise ValueError(f"no width: {key}")
                costs._samples[width] = [
                    (int(_number(n_ctx, 0, 1e9)), _number(seconds, 1e-9, 1e6))
                    for n_ctx, seconds in held[-_N_KEPT:]
                ]
                if costs._samples[width]:
                    costs._sort(width)
                    costs._update(width)
                else:
                    del costs._samples[width]
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"these are no costs: {error}") from error
        return costs


def _number(value: object, low: float, high: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise ValueError(f"no number from {low} to {high}: {value!r}")
    return float(value)
