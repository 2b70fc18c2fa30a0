"""Ctrl+C and a polite kill close the window, also while the event loop sleeps.

Python runs signal handlers only between two bytecodes, and there are none while Qt waits. So the
signal's number arrives through a socket that the event loop watches.
"""

from __future__ import annotations

import signal
import socket
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QSocketNotifier, Signal, Slot

if TYPE_CHECKING:
    from types import FrameType

SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


class Interrupts(QObject):
    """Between `install` and `remove` a signal asks for the end, once."""

    interrupted = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.was_interrupted = False
        self._reading, self._writing = socket.socketpair()
        for end in (self._reading, self._writing):
            end.setblocking(False)  # noqa: FBT003
        self._notifier = QSocketNotifier(self._reading.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._on_signal)
        self._before: dict[int, object] = {}
        self._fd_before = -1

    def install(self) -> None:
        """Take over the signals; main thread only."""
        self._fd_before = signal.set_wakeup_fd(self._writing.fileno(), warn_on_full_buffer=False)
        self._before = {number: signal.signal(number, _note) for number in SIGNALS}

    def remove(self) -> None:
        """Give the signals back."""
        signal.set_wakeup_fd(self._fd_before)
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
        self._notifier.setEnabled(False)
        self._reading.close()
        self._writing.close()

    @Slot()
    def _on_signal(self) -> None:
        numbers = self._reading.recv(64)
        if any(number in SIGNALS for number in numbers) and not self.was_interrupted:
            self.was_interrupted = True
            self.interrupted.emit()


def _note(number: int, frame: FrameType | None) -> None:
    """Do nothing: the number is on its way through the socket."""
    del number, frame
