"""When a turn tells what Auto knows."""

from __future__ import annotations

import time
from collections.abc import Callable

from paceline.messages import ControlReported

EVERY_S = 0.5
"""Seconds between two reports."""

_clock = time.monotonic


class ControlReports:
    """Emits reports now and then, and the last one when a turn ends.

    Args:
        report: Makes one; None where Auto is not in charge.
        emit: Takes it.
    """

    def __init__(
        self, report: Callable[[], ControlReported | None], emit: Callable[[ControlReported], None]
    ) -> None:
        self._report = report
        self._emit = emit
        self._due = 0.0

    def step(self) -> None:
        """Emit one if it is time; the first behind the first step."""
        now = _clock()
        if now >= self._due:
            self._due = now + EVERY_S
            self.tell()

    def tell(self) -> None:
        """Emit one now."""
        report = self._report()
        if report is not None:
            self._emit(report)
