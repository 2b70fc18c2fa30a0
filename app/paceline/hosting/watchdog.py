"""Tells a process that works from one that hangs, by what it sends and by what it does not.

Three signs: it sends nothing at all, though a thread of its own should send a `Beat` twice a second
(it is stopped, or the whole process is frozen); one native decode takes far longer than the ones
before; or nothing whatever moves: no event, no CPU time, no byte read. Slow is not hanging: a large
model may take minutes to be read from a disk, and then bytes are read.

Time in which this side did not run itself (a suspended laptop, a stopped program) counts for
nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from paceline.hosting.wire import Beat

SILENT_S = 5.0
STUCK_S = 60.0
_LONGEST_TICK_S = 0.5


class Watchdog:
    """Watches one process while it carries out a command.

    Attributes:
        awake_s: Seconds since `restart` in which this side ran itself.

    Args:
        clock: Seconds that only grow.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.restart()

    def restart(self) -> None:
        """Begin to watch anew, e.g. with a new command."""
        self._last_tick = self._clock()
        self.awake_s = 0.0
        self._silent_s = 0.0
        self._stuck_s = 0.0
        self._progress: tuple[float, ...] = ()
        self._beat: Beat | None = None

    def hear(self) -> None:
        """Note that something came from the process."""
        self._silent_s = 0.0

    def beat(self, beat: Beat) -> None:
        """Note what the process says of itself."""
        self.hear()
        # A stuck process still spends a little on its beats. (`round` does not take a NaN.)
        progress = (beat.n_events, beat.cpu_s // 1, beat.read_bytes)
        if progress != self._progress:
            self._progress = progress
            self._stuck_s = 0.0
        self._beat = beat

    def trouble(self) -> str:
        """Return why the process must be given up; empty when it need not. Call it often."""
        now = self._clock()
        passed = min(now - self._last_tick, _LONGEST_TICK_S)
        self._last_tick = now
        self.awake_s += passed
        self._silent_s += passed
        self._stuck_s += passed
        if self._silent_s > SILENT_S:
            return f"The engine has not answered for {SILENT_S:.0f} seconds"
        if self.decode_trouble():
            return self.decode_trouble()
        if self._stuck_s > STUCK_S:
            return f"Nothing has moved in the engine for {STUCK_S:.0f} seconds"
        return ""

    def decode_trouble(self) -> str:
        """Return why the process must be given up for a decode alone, as its last beat says.

        That is all that can be said of a process between two commands, when silence is its right.
        """
        beat = self._beat
        if beat is not None and beat.decode_s > beat.decode_limit_s > 0:
            return f"A computation of the engine hangs: it has taken {beat.decode_s:.0f} seconds"
        return ""

    @property
    def hung_kernels(self) -> str:
        """The build of own kernels with which a decode hangs; empty: none does, or without them."""
        return self._beat.own_kernels if self._beat is not None and self.decode_trouble() else ""
