"""Ctrl+C while the engine works on the main thread.

Python runs a signal handler only between two of its own instructions, and a native call may take
seconds. The byte that Python's C handler writes to a wake-up socket comes at once, so a thread
waits for it and acts: the first Ctrl+C cancels, the second one ends the program on the spot.
"""

from __future__ import annotations

import atexit
import os
import signal
import socket
import threading
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType, TracebackType

EXIT_CODE = 130
_STOP = b"\0"


class Interrupts:
    """A context manager for the main thread; within it Ctrl+C raises nothing.

    It spans the imports as well, because NumPy turns a `KeyboardInterrupt` in its own import into
    an `ImportError` about a broken installation.

    Attributes:
        hit: Whether Ctrl+C was pressed.
    """

    def __init__(self) -> None:
        self.hit = False
        self._cancel: Callable[[], None] | None = None
        self._reader, self._writer = socket.socketpair()
        self._writer.setblocking(False)  # noqa: FBT003
        self._thread = threading.Thread(target=self._watch, name="interrupts", daemon=True)

    def __enter__(self) -> Self:
        self._old_fd = signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        self._old_handler = signal.signal(signal.SIGINT, _ignore)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        signal.signal(signal.SIGINT, self._old_handler)
        if self.hit:
            # Python takes its handlers down before itself: another Ctrl+C would kill it then.
            atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
        signal.set_wakeup_fd(self._old_fd)
        self._writer.send(_STOP)
        self._thread.join()
        self._reader.close()
        self._writer.close()

    def when_hit(self, cancel: Callable[[], None]) -> None:
        """Call `cancel` on a helper thread at the first Ctrl+C, or now if that has been."""
        self._cancel = cancel
        if self.hit:
            cancel()

    def _watch(self) -> None:
        while (byte := self._reader.recv(1)) not in (_STOP, b""):
            if byte[0] != signal.SIGINT:
                continue
            if self.hit:
                os._exit(EXIT_CODE)
            self.hit = True
            if self._cancel is not None:
                self._cancel()


def _ignore(_signal: int, _frame: FrameType | None) -> None:
    """Stand in for the default handler, which would raise; the thread does the work."""
