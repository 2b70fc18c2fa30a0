"""When a running turn tells its figures, and what Auto knows."""

from __future__ import annotations

import time
from collections.abc import Callable

from paceline.messages import ControlReported, FiguresReported

EVERY_S = 0.5
"""Seconds between two reports."""

_clock = time.monotonic


class Reports:
    """Emits reports now and then, and what Auto knows once more when a turn ends.

    Args:
        figures: Says how the turn is doing.
        control: Says what Auto knows; None where it is not in charge.
        emit: Takes both.
    """

    def __init__(
        self,
        figures: Callable[[], FiguresReported],
        control: Callable[[], ControlReported | None],
        emit: Callable[[ControlReported | FiguresReported], None],
    ) -> None:
        self._figures = figures
        self._control = control
        self._emit = emit
        self._due = 0.0

    def step(self) -> None:
        """Emit them if it is time; the first behind the first step."""
        now = _clock()
        if now >= self._due:
            self._due = now + EVERY_S
            self._emit(self._figures())
            self.tell_control()

    def tell_control(self) -> None:
        """Emit what Auto knows now."""
        report = self._control()
        if report is not None:
            self._emit(report)
