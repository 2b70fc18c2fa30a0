"""The engine's process's way to whoever started it, for events, reports and log records alike."""

from __future__ import annotations

import logging
import os
import socket
import threading

from paceline.hosting.frames import frame
from paceline.hosting.wire import Beat, Dying, LogLine, Upward, encode_upward


class Uplink:
    """The way to the window's process; any thread may send."""

    def __init__(self, pipe: socket.socket) -> None:
        self._pipe = pipe
        self._lock = threading.Lock()
        self.n_events = 0

    def send(self, message: Upward) -> None:
        """Send one message; ends the process when nobody is there to take it."""
        data = frame(encode_upward(message))
        with self._lock:
            self.n_events += not isinstance(message, Beat)
            self._send(data)

    def send_last(self, message: Dying) -> None:
        """As `send`, where the thread that holds the lock may never let go of it again."""
        has_lock = self._lock.acquire(timeout=1.0)
        self._send(frame(encode_upward(message)))
        if has_lock:
            self._lock.release()

    def _send(self, data: bytes) -> None:
        try:
            self._pipe.sendall(data)
        except OSError:
            os._exit(0)


class LogHandler(logging.Handler):
    """Sends records up; they belong into the log of the program."""

    def __init__(self, uplink: Uplink) -> None:
        super().__init__()
        self._uplink = uplink
        self.setFormatter(logging.Formatter("%(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        """Send a record; whatever goes wrong with one costs that one alone."""
        try:
            self._uplink.send(LogLine(record.levelno, record.name, self.format(record)[:20_000]))
        except Exception:
            self.handleError(record)
