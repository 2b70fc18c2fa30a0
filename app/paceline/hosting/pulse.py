"""Says twice a second that the engine's process lives, and how far its running decode is.

The watchdog at the other end (`watchdog.py`) takes a process without a pulse for dead.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
from typing import TYPE_CHECKING

import psutil

from paceline.hosting.uplink import Uplink
from paceline.hosting.wire import Beat

if TYPE_CHECKING:
    from collections.abc import Callable

    from paceline.engine.service import EngineService

BEAT_EVERY_S = 0.5
MIN_DECODE_LIMIT_S = 10.0
SLOWER = 20.0
"""A decode that takes so many times as long as the ones before, by its tokens, hangs."""

_MOST_OUTPUT = 1 << 20


class Pulse:
    """Sends a `Beat` twice a second between `start` and `stop`, from a thread of its own."""

    def __init__(self, uplink: Uplink, service: EngineService) -> None:
        self._uplink = uplink
        self._service = service
        self._time = DecodeTime()
        self._works = threading.Event()
        self._has_failed = False
        threading.Thread(target=self._run, name="pulse", daemon=True).start()

    def start(self) -> None:
        """Work begins."""
        self._works.set()

    def stop(self) -> None:
        """Work is done."""
        self._works.clear()

    def _run(self) -> None:
        while True:
            self._works.wait()
            self._uplink.send(self._beat())
            _limit_output()
            time.sleep(BEAT_EVERY_S)

    def _beat(self) -> Beat:
        read_bytes, decode_s, limit_s, kernels = 0, 0.0, 0.0, ""
        try:
            kernels = self._service.own_kernels
            read_bytes = _read_bytes()
            decode_s, limit_s = self._decode(read_bytes)
        except Exception:  # what lives must not be taken for dead for want of a figure
            if not self._has_failed:
                self._has_failed = True
                logging.getLogger(__name__).exception("a decode's time cannot be measured")
        cpu_s = time.process_time()
        return Beat(self._uplink.n_events, cpu_s, read_bytes, decode_s, limit_s, kernels)

    def _decode(self, read_bytes: int) -> tuple[float, float]:
        """Return the running decode's seconds and its limit, both 0 when there is none."""
        activity = self._service.activity()
        if activity is None:
            return 0.0, 0.0
        n_tokens, since, slowest_per_token_s = activity
        if slowest_per_token_s == 0:
            # A model's very first decode: a GPU's driver may compile its programs for minutes.
            return 0.0, 0.0
        limit_s = max(MIN_DECODE_LIMIT_S, SLOWER * n_tokens * slowest_per_token_s)
        return self._time.of(since, read_bytes), limit_s


def _read_bytes() -> int:
    """Return what this process has read from files and disks; 0 where the system does not tell."""
    try:
        return psutil.Process().io_counters().read_bytes
    except (AttributeError, psutil.Error, OSError):
        return 0


class DecodeTime:
    """Measures how long a decode has been running, by looking at it now and then.

    A long time between two looks counts as a second: this process did not run in it either, since
    it was stopped or the computer slept. Time in which bytes were read counts for nothing: weights
    that do not fit into memory come from the disk again and again, which is slow and no hanging.

    Args:
        clock: Seconds that only grow; what decodes note their begin by.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._since: float | None = None
        self._looked = 0.0
        self._read_bytes = 0
        self._seconds = 0.0

    def of(self, since: float, read_bytes: int = 0) -> float:
        """Return the seconds of the decode that began at `since`.

        Args:
            since: When it began, on the clock.
            read_bytes: Bytes that the process has read by now.
        """
        now = self._clock()
        if since != self._since:
            self._since = self._looked = since
            self._read_bytes = read_bytes
            self._seconds = 0.0
        if read_bytes == self._read_bytes:
            self._seconds += min(now - self._looked, 2 * BEAT_EVERY_S)
        self._looked, self._read_bytes = now, read_bytes
        return self._seconds


def _limit_output() -> None:
    """Empty the file of what was printed when a plug-in fills it."""
    with contextlib.suppress(OSError):
        if os.fstat(2).st_size > _MOST_OUTPUT:
            os.ftruncate(2, 0)
