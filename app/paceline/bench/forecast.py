"""How long what remains of a benchmark will take, by what was measured so far.

The warm-up has every prompt once with a short plain reply, which gives the time of its prefill and
of a step; so there is a forecast before the first run that counts. A strategy's own run replaces
the guess, and the first ones of a workload scale those that have not run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paceline.bench.plan import Cell
    from paceline.bench.runs import Run

BETWEEN_S = 0.02
"""A reset, and what a host needs to pass commands and events."""


class Forecast:
    """Collects times per workload and strategy."""

    def __init__(self) -> None:
        self._plain: dict[str, float] = {}
        self._measured: dict[tuple[str, str], tuple[float, int]] = {}

    def add(self, cell: Cell, run: Run) -> None:
        """Take a run that is over."""
        workload = cell.workload
        if cell.repeat == 0:
            n_steps = max(len(run.tokens) - 1, 1)
            seconds = run.prefill_s + run.decode_s * (workload.max_tokens - 1) / n_steps
            self._plain.setdefault(workload.name, seconds)
            return
        key = workload.name, cell.strategy
        total, n = self._measured.get(key, (0.0, 0))
        self._measured[key] = total + run.total_s, n + 1

    def left_s(self, current: Cell | None, cells: Iterable[Cell]) -> float | None:
        """Return the seconds that these runs take; None: nothing is known."""
        if not self._plain and not self._measured:
            return None
        runs = [cell for cell in (current, *cells) if cell is not None]
        return sum(self._seconds(cell) + BETWEEN_S for cell in runs)

    def _seconds(self, cell: Cell) -> float:
        name = cell.workload.name
        plain = self._plain.get(name, max(self._plain.values(), default=0.0))
        if cell.repeat == 0:
            return plain / 4  # a prefill and a few steps
        total, n = self._measured.get((name, cell.strategy), (0.0, 0))
        if n:
            return total / n
        others = [t / k for (other, _), (t, k) in self._measured.items() if other == name]
        return sum(others) / len(others) if others else plain
