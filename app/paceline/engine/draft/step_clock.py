"""When the steps of a reply begin and end, and which of them are like the one before."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from paceline.engine.stats import TurnMeter

LONG_GAP_S = 0.005
"""Seconds between two steps from which on they may count as a pause, if the step is shorter."""

_LEAST_HELD_S, _MOST_HELD = 2e-5, 0.98

_clock = time.perf_counter


@dataclass(slots=True)
class Lap:
    """One step in time.

    Attributes:
        seconds: From the last step's end to this one's.
        plain: Whether it was a true plain step: one row, after another step of one row. After a
            change of width llama.cpp builds its graph again.
        is_warm: Whether its batch was as wide as that of the step before, so that its time tells
            what the width costs.
        had_pause: Whether something foreign happened in it, so that its time tells nothing.
        held_s: Of the seconds, those in which others had the thread's processor; 0 where that is
            not known.
    """

    seconds: float
    plain: bool
    is_warm: bool
    had_pause: bool
    held_s: float = 0.0


class StepClock:
    """Takes the time of every step, from the end of the one before, and fills the meter.

    Args:
        meter: The reply's figures.
        native_s: Returns the seconds within native calls so far, of both models.
        own: The thread's own seconds; None: they do not tell, see `threads.own_clock`.

    Attributes:
        own: See above.
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
        self._own_ended = self._last_held_s = 0.0
        self._width = 0
        self._began = 0.0
        self._ended = 0.0
        self._native_at_start = 0.0

    def prefill(self) -> None:
        """The prefill begins."""
        self._held_s(0.0)

    def start(self) -> None:
        """The prefill is over; the meter has its time."""
        self._began = self._ended = _clock()
        self._meter.prefill_held_s = self._held_s(self._meter.prefill_s)
        self._native_at_start = self._native_s()

    def lap(self, width: int, began: float) -> Lap:
        """End a step.

        Args:
            width: Tokens of its batch; 0 when that is not what was decoded in the end.
            began: When it began to draft; what came before was the listeners' time.
        """
        ended = _clock()
        seconds = ended - self._ended
        is_warm = 0 < width == self._width
        gap = began - self._ended  # the host may take its time with the events
        is_held_up = gap > LONG_GAP_S and gap > ended - began
        had_pause = width == 0 or is_held_up
        self._width = width
        self.end(ended)
        self._meter.held_s += self._last_held_s
        return Lap(seconds, is_warm and width == 1, is_warm, had_pause, self._last_held_s)

    def end(self, now: float | None = None) -> float:
        """Note a step's end, and return the seconds that it took."""
        now = _clock() if now is None else now
        seconds, self._ended = now - self._ended, now
        self._last_held_s = self._held_s(seconds)
        self._meter.decode_s = now - self._began
        self._meter.native_s = self._native_s() - self._native_at_start
        return seconds

    def _held_s(self, seconds: float) -> float:
        """Return for how much of the seconds since the last call others had the processor."""
        if self.own is None:
            return 0.0
        before, self._own_ended = self._own_ended, self.own()
        held_s = seconds - (self._own_ended - before)
        if held_s < _LEAST_HELD_S:  # the two clocks were not read at the same time
            return 0.0
        return min(held_s, _MOST_HELD * seconds)  # another thread may go on with the reply
