"""When the steps of a reply begin and end, and which of them are like the one before."""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec

from paceline.engine.stats import TurnMeter

LONG_GAP_S = 0.005
"""Seconds between two steps from which on they may count as a pause, if the step is shorter."""

_LEAST_HELD_S, _MOST_HELD = 2e-5, 0.98

_clock = time.perf_counter


class Lap(msgspec.Struct, frozen=True, gc=False):
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
        self._tells_held = False
        self._looked = self._own_looked = 0.0
        self._width = 0
        self._began = self._ended = 0.0
        self._native_at_start: float | None = None

    def tell_held(self, *, is_wanted: bool) -> None:
        """Tell with each lap from now on for how long others had the processor, or no longer.

        To look takes 10 to 30 us, so where no one asks for it, only the figures look.
        """
        self.count()  # what others had until now is no part of the next lap
        self._tells_held = is_wanted

    def prefill(self) -> None:
        """The prefill begins."""
        self._look(_clock())

    def start(self) -> None:
        """The prefill is over; the meter has its time."""
        self._began = self._ended = now = _clock()
        self._meter.prefill_held_s = self._look(now)
        self._native_at_start = self._native_s()

    def lap(self, width: int, began: float) -> Lap:
        """End a step.

        Args:
            width: Tokens of its batch; 0 when that is not what was decoded in the end.
            began: When it began to draft; what came before was the listeners' time.
        """
        before, ended, meter = self._ended, _clock(), self._meter
        self._ended = ended
        meter.decode_s = ended - self._began
        is_warm = 0 < width == self._width
        self._width = width
        gap = began - before  # the host may take its time with the events
        had_pause = width == 0 or (gap > LONG_GAP_S and gap > ended - began)
        held_s = 0.0
        if self._tells_held:
            held_s = self._look(ended)
            meter.held_s += held_s
        return Lap(ended - before, is_warm and width == 1, is_warm, had_pause, held_s)

    def first(self) -> float:
        """End the step of the first token, which decodes nothing; return the seconds it took."""
        before, self._ended = self._ended, _clock()
        self._meter.decode_s = self._ended - self._began
        return self._ended - before

    def count(self) -> None:
        """Bring those of the meter's figures up to date that no step needs."""
        if self._native_at_start is not None:
            self._meter.native_s = self._native_s() - self._native_at_start
            if not self._tells_held:  # otherwise each lap has, and the next one tells the rest
                self._meter.held_s += self._look(_clock())

    def _look(self, now: float) -> float:
        """Return for how much of the seconds since the last look others had the processor."""
        if self.own is None:
            return 0.0
        seconds, self._looked = now - self._looked, now
        before, self._own_looked = self._own_looked, self.own()
        held_s = seconds - (self._own_looked - before)
        if held_s < _LEAST_HELD_S:  # the two clocks were not read at the same time
            return 0.0
        return min(held_s, _MOST_HELD * seconds)  # another thread may go on with the reply
