"""The thread that writes: what is urgent at once, checkpoints ten times a second at most.

When something keeps it from writing, it says what, and tries again every two seconds, or when it is
asked to. Nothing leaves the queue before it is on the disk.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections.abc import Callable

from paceline.storage import salvage
from paceline.storage.changes import is_urgent
from paceline.storage.disk import Disk
from paceline.storage.pending import Pending
from paceline.storage.problems import (
    MovedError,
    NewerSchemaError,
    StorageProblem,
    is_damage,
    problem_of,
)

RETRY_S = 2.0
CHECKPOINT_S = 0.1
FAILURES = (sqlite3.Error, OSError, MovedError, NewerSchemaError)
"""What can keep changes from the disk; everything else is a mistake of ours."""

_TIDY_AFTER_S, _LAST_TIDY_S = 0.3, 2.0
_logger = logging.getLogger(__name__)


class Writer(threading.Thread):
    """Takes changes from the queue to the disk until it is told to stop."""

    def __init__(
        self,
        disk: Disk,
        pending: Pending,
        on_problem: Callable[[StorageProblem | None], None],
        on_written: Callable[[], None],
    ) -> None:
        """Make the thread.

        Args:
            disk: Where to; only this thread writes to it once it runs.
            pending: Where from.
            on_problem: Called on this thread with what keeps it from writing, and with None when
                it can again.
            on_written: Called on this thread when the queue was emptied.
        """
        super().__init__(name="chat-writer", daemon=True)
        self._disk = disk
        self._pending = pending
        self._on_problem = on_problem
        self._on_written = on_written
        self._problem: StorageProblem | None = None
        self._stops = False
        self._tries_now = False
        self._tidies = True
        self._last_s = 0.0

    @property
    def problem(self) -> StorageProblem | None:
        """What keeps it from writing; any thread."""
        return self._problem

    def retry(self) -> None:
        """Try again now; any thread."""
        with self._pending.changed:
            self._tries_now = True
            self._pending.changed.notify_all()

    def stop(self) -> None:
        """End after one more attempt to write what waits; any thread."""
        self._disk.hurry()
        with self._pending.changed:
            self._stops = True
            self._pending.changed.notify_all()

    def run(self) -> None:
        """Write until told to stop."""
        stops = False
        while not stops:
            stops = self._wait()
            try:
                self._write_all()
                self._tidy(until_done=stops)
            except FAILURES as error:
                self._pending.not_written()
                self._last_s = time.monotonic()
                self.report(error)
                self._disk.give_up(error)
            else:
                self.report(None)

    def report(self, error: Exception | None) -> None:
        """Say what keeps from writing; None: nothing does."""
        problem = problem_of(error, self._disk.path) if error else None
        if error is not None and is_damage(error):
            salvage.mark(self._disk.path)
        if problem == self._problem:
            return
        self._problem = problem
        if problem:
            _logger.warning("chats are not written: %s", problem.code)
        else:
            _logger.info("chats are written again")
        self._on_problem(problem)

    def _wait(self) -> bool:
        """Wait for something to do; return whether to end behind it."""
        with self._pending.changed:
            while not (self._stops or self._tries_now):
                timeout_s = self._timeout_s()
                if timeout_s is not None and timeout_s <= 0:
                    break
                self._pending.changed.wait(timeout_s)
            self._tries_now = False
            return self._stops

    def _timeout_s(self) -> float | None:
        """Seconds until there is something to do; None: not before somebody calls."""
        since_s = time.monotonic() - self._last_s
        if self._problem is not None:
            return None if self._problem.is_lasting else RETRY_S - since_s
        if not self._pending:
            return _TIDY_AFTER_S - since_s if self._tidies else None
        return 0.0 if self._pending.is_urgent() else CHECKPOINT_S - since_s

    def _write_all(self) -> None:
        """Write what waits; checkpoints that come meanwhile wait for their time."""
        if self._problem is not None:
            self._disk.ready()  # also where nothing waits, old chats may be read again then
        while changes := self._pending.take():
            self._disk.write(changes, durable=any(map(is_urgent, changes)))
            self._pending.written()
            self._tidies = True
            self._last_s = time.monotonic()
            if not (self._pending.is_urgent() or self._stops):
                break
        if not self._pending:
            self._on_written()

    def _tidy(self, *, until_done: bool) -> None:
        """Use the time in which nothing waits; at the end for two seconds at most."""
        until = time.monotonic() + _LAST_TIDY_S
        while self._tidies and not self._pending:
            self._tidies = self._disk.tidy()
            if until_done and time.monotonic() > until:
                break
