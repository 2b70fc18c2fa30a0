"""Small jobs off the main thread: a function runs in a pool, its result comes back by a signal.

For work that may block for a while, such as touching a file on a sleeping disk. Make one
`Background` in the composition root and close it at the end.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QObject, QRunnable, QThreadPool, QTimer, Signal, Slot
from shiboken6 import isValid

from paceline.errors import CancelledError, UserError
from paceline.gui.kit.translation import translator

CLOSE_TIMEOUT_MS = 2000

_logger = logging.getLogger(__name__)

Failed = Callable[[UserError], None]
_T = TypeVar("_T")

_tr = translator("Background")


class BackgroundJob(QObject):
    """One running function; lives on the thread that started it and answers there."""

    _returned = Signal(object)
    _raised = Signal(object)
    ended = Signal(object)

    def __init__(self, done: Callable[[Any], None], failed: Failed, parent: QObject) -> None:
        super().__init__(parent)
        self._done = done
        self._failed = failed
        self._returned.connect(self._on_returned)
        self._raised.connect(self._on_raised)

    def carry_out(self, function: Callable[[], object]) -> None:
        """Call the function; runs in the pool's thread."""
        try:
            result = function()
        except UserError as error:
            self._raised.emit(error)
        except CancelledError:  # the requested service is closed
            self._raised.emit(UserError("cancelled", _tr("Stopped.")))
        except Exception as error:
            _logger.exception("a job in the background failed")
            message = _tr("Unexpected error: {}").format(error)
            self._raised.emit(UserError("internal", message, _tr("See the log.")))
        else:
            self._returned.emit(result)

    @Slot(object)
    def _on_returned(self, result: object) -> None:
        self._done(result)
        self.ended.emit(self)

    @Slot(object)
    def _on_raised(self, error: UserError) -> None:
        self._failed(error)
        self.ended.emit(self)


def _ignore(_answer: object) -> None:
    """Ignore an answer."""


class _Runnable(QRunnable):
    def __init__(self, job: BackgroundJob, function: Callable[[], object]) -> None:
        super().__init__()
        # The pool would delete it on its own thread, and with it the objects that the job's
        # callback holds; when the window closes meanwhile, that corrupts the heap (seen with
        # PySide6 6.11.3).
        self.setAutoDelete(False)
        self._job = job
        self._function = function

    def run(self) -> None:
        self._job.carry_out(self._function)


class Background(QObject):
    """Runs functions in two threads of its own and calls back on the thread that owns it."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pool = QThreadPool(self, maxThreadCount=2)
        self._jobs: dict[BackgroundJob, _Runnable] = {}

    def start(
        self,
        function: Callable[[], _T],
        done: Callable[[_T], None] = _ignore,
        failed: Failed = _ignore,
    ) -> None:
        """Call `function` in the pool, then `done` with its result or `failed` with its error."""
        job = BackgroundJob(done, failed, self)
        job.ended.connect(self._forget)
        self._jobs[job] = _Runnable(job, function)
        self._pool.start(self._jobs[job])

    def close(self, timeout_ms: int = CLOSE_TIMEOUT_MS) -> bool:
        """Drop waiting jobs and wait for running ones; return False if one hangs."""
        self._pool.clear()
        return self._pool.waitForDone(timeout_ms)

    @Slot(object)
    def _forget(self, job: BackgroundJob) -> None:
        self._jobs.pop(job, None)
        job.deleteLater()


@dataclass(frozen=True, slots=True)
class Batch(Generic[_T]):
    """Some values of an iterator.

    Attributes:
        values: In the iterator's order.
        is_last: Whether nothing follows.
        error: The error that ended the iterator, or None.
    """

    values: list[_T]
    is_last: bool = False
    error: UserError | None = None


def next_batch(source: Iterator[_T], most: int, seconds: float) -> Batch[_T]:
    """Collect values for `seconds`, at most so many; a function for a pool.

    A job per batch shows results early without a queue between threads: the next batch begins when
    the window has shown the last.
    """
    values: list[_T] = []
    until = time.monotonic() + seconds
    try:
        for value in source:
            values.append(value)
            if len(values) >= most or time.monotonic() > until:
                return Batch(values)
    except UserError as error:
        return Batch(values, is_last=True, error=error)
    return Batch(values, is_last=True)


class Slices(QObject):
    """Work in slices on this thread, one per turn of the event loop, so that nothing waits.

    Each ``next`` of an iterator is a slice; what follows the last ``yield`` is done with it.
    """

    def __init__(self, parent: QObject, pause_ms: int = 0) -> None:
        """Create it idle.

        Args:
            parent: Owns it.
            pause_ms: Pause between two slices, for work that waits for another thread.
        """
        super().__init__(parent)
        self._pause_ms = pause_ms
        self._steps: Iterator[None] = iter(())
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._on_time)

    @property
    def is_busy(self) -> bool:
        """Return whether work is left."""
        return self._timer.isActive()

    def start(self, steps: Iterator[None]) -> None:
        """Start; the rest of earlier work is dropped."""
        self._steps = steps
        self._timer.start(self._pause_ms)

    @Slot()
    def _on_time(self) -> None:
        # The last step may have deleted the parent, and the timer with it.
        if next(self._steps, self) is self and isValid(self._timer):
            self._timer.stop()
