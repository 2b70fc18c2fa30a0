"""The clock of a reply's steps: begin, end, and whether a step resembles the one before."""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec

from paceline.engine.stats import TurnMeter

LONG_GAP_S = 0.005
"""Minimum seconds between two steps that count as a pause, if the step itself is shorter."""

_MIN_HELD_S, _MAX_HELD_SHARE = 2e-5, 0.98

_clock = time.perf_counter


class Lap(msgspec.Struct, frozen=True, gc=False):
    """The timing of one step.

    Attributes:
        seconds: Seconds from the last step's end to this one's.
        plain: Whether it was a true plain step: one row, after another step of one row. After a
            change of the width llama.cpp rebuilds its graph.
        is_warm: Whether its batch was as wide as that of the step before, so that its time is a
            sample of the width's cost.
        had_pause: Whether something else happened in it, so that its time is no sample of anything.
        held_s: Seconds in which other programs had the thread's processor; 0 if not known.
    """

    seconds: float
    plain: bool
    is_warm: bool
    had_pause: bool
    held_s: float = 0.0


class StepClock:
    """Times every step, from the end of the one before, and fills the meter.

    Args:
        meter: The meter of the reply's figures.
        native_s: Returns the seconds in native calls so far, of both models.
        own: The thread's own CPU seconds, or None if not available; see `threads.own_clock`.

    Attributes:
        own: The argument `own`.
    """

    def __init__(
        self,
        meter: TurnMeter,
        native_s: Callable[[], float],
        own: Callable[[], float] | None = None,
    ) -> None:
        self._meter = meter
        self._native_s = native_s
        self.own = own
        self._tells_held = False
        self._looked = self._own_looked = 0.0
        self._width = 0
        self._began = self._ended = 0.0
        self._native_at_start: float | None = None

    def report_held(self, *, is_wanted: bool) -> None:
        """Set whether laps report for how long other programs had the processor.

        Measuring that takes 10 to 30 us, so it is done per lap only if wanted, and otherwise per
        reply.
        """
        self.count()  # earlier waiting is not part of the next lap
        self._tells_held = is_wanted

    def prefill(self) -> None:
        """Begin the prefill."""
        self._held_since_last(_clock())

    def start(self) -> None:
        """End the prefill; its time is in the meter."""
        self._began = self._ended = now = _clock()
        self._meter.prefill_held_s = self._held_since_last(now)
        self._native_at_start = self._native_s()

    def lap(self, width: int, began: float) -> Lap:
        """End a step.

        Args:
            width: Tokens of its batch; 0 if its decode was repeated or dropped.
            began: Time at which drafting began; the time before it belongs to the listeners.
        """
        before, ended, meter = self._ended, _clock(), self._meter
        self._ended = ended
        meter.decode_s = ended - self._began
        is_warm = 0 < width == self._width
        self._width = width
        gap = began - before  # the host may take its time to handle the events
        had_pause = width == 0 or (gap > LONG_GAP_S and gap > ended - began)
        held_s = 0.0
        if self._tells_held:
            held_s = self._held_since_last(ended)
            meter.held_s += held_s
        return Lap(ended - before, is_warm and width == 1, is_warm, had_pause, held_s)

    def first(self) -> float:
        """End the step of the first token, which decodes nothing; return the seconds it took."""
        before, self._ended = self._ended, _clock()
        self._meter.decode_s = self._ended - self._began
        return self._ended - before

    def count(self) -> None:
        """Update those of the meter's figures that no step needs."""
        if self._native_at_start is not None:
            self._meter.native_s = self._native_s() - self._native_at_start
            if not self._tells_held:  # otherwise laps report it, and the next one reports the rest
                self._meter.held_s += self._held_since_last(_clock())

    def _held_since_last(self, now: float) -> float:
        """Return for how many seconds since the last call other programs had the processor."""
        if self.own is None:
            return 0.0
        seconds, self._looked = now - self._looked, now
        before, self._own_looked = self._own_looked, self.own()
        held_s = seconds - (self._own_looked - before)
        if held_s < _MIN_HELD_S:  # the two clocks are not read at the same moment
            return 0.0
        return min(held_s, _MAX_HELD_SHARE * seconds)  # another thread may continue the reply
