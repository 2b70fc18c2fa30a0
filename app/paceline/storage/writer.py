"""The thread that writes: urgent changes at once, checkpoints at most ten times a second.

When it cannot write, it reports the problem and tries again every two seconds, or when it is asked
to. A change leaves the queue only after it is on the disk.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from paceline.storage import salvage
from paceline.storage.changes import Change, Numbered, is_urgent, without_superseded
from paceline.storage.disk import Disk
from paceline.storage.problems import (
    BROKEN,
    MovedError,
    NewerSchemaError,
    StorageProblem,
    is_damage,
    problem_of,
)

_MAX_CHANGES_AT_ONCE = 500


class Pending:
    """The queue of changes that are not on the disk yet, in order; any thread.

    The session adds changes; the writer takes some, and drops them when they are written.

    Attributes:
        changed: Notified when something was added, written, or asked for; its lock guards all.
    """

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self._waiting: list[Numbered] = []
        self._n_taken = 0
        self._n_added = 0
        self._urgent_until = 0

    def add(self, change: Change) -> None:
        """Append a change."""
        with self.changed:
            is_awaited = bool(self._waiting)
            self._n_added += 1
            self._waiting.append(Numbered(self._n_added, change))
            if is_urgent(change):
                self._urgent_until = self._n_added
            elif is_awaited:
                return  # the writer knows already; waking it is the most expensive part of this
            self.changed.notify_all()

    def waiting(self) -> list[Change]:
        """Return the changes that may not be written yet and are not superseded, in order."""
        with self.changed:
            return [change for _, change in without_superseded(self._waiting)]

    def hurry(self) -> int:
        """Request that everything so far is written at once; return a number for `is_done`."""
        with self.changed:
            self._urgent_until = self._n_added
            self.changed.notify_all()
            return self._n_added

    def is_done(self, number: int) -> bool:
        """Return whether everything up to this number is written or superseded."""
        with self.changed:
            return not self._waiting or self._waiting[0].number > number

    def is_urgent(self) -> bool:
        """Return whether an urgent change is queued."""
        with self.changed:
            return bool(self._waiting) and self._waiting[0].number <= self._urgent_until

    def take(self) -> list[Change]:
        """Return the next changes to write; they stay here until `written`.

        Superseded changes are dropped, so that a full disk does not fill the memory.
        """
        with self.changed:
            self._waiting = without_superseded(self._waiting)
            self._n_taken = min(len(self._waiting), _MAX_CHANGES_AT_ONCE)
            return [change for _, change in self._waiting[: self._n_taken]]

    def written(self) -> None:
        """Drop the taken changes: they are on the disk."""
        with self.changed:
            del self._waiting[: self._n_taken]
            self._n_taken = 0
            self.changed.notify_all()

    def __len__(self) -> int:
        with self.changed:
            return len(self._waiting)


RETRY_S = 2.0
CHECKPOINT_S = 0.1
FAILURES = (*BROKEN, OSError, MovedError, NewerSchemaError)
"""Errors that can keep changes from the disk; any other is a bug."""

_TIDY_AFTER_S, _LAST_TIDY_S = 0.3, 2.0
_logger = logging.getLogger(__name__)


class Writer(threading.Thread):
    """Moves changes from the queue to the disk until `stop`."""

    def __init__(
        self,
        disk: Disk,
        pending: Pending,
        on_problem: Callable[[StorageProblem | None], None],
        on_written: Callable[[], None],
    ) -> None:
        """Make the thread.

        Args:
            disk: Only this thread writes to it once it runs.
            pending: The changes to write.
            on_problem: Called on this thread with the problem that keeps it from writing, and with
                None when it can write again.
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
        """The problem that keeps it from writing, if there is one; any thread."""
        return self._problem

    def retry(self) -> None:
        """Try again now; any thread."""
        with self._pending.changed:
            self._tries_now = True
            self._pending.changed.notify_all()

    def wait_written(self, timeout_s: float, *, despite_problem: bool = False) -> bool:
        """Have everything so far written at once, and wait for it; any other thread.

        Args:
            timeout_s: Upper bound of the wait in seconds.
            despite_problem: Whether to wait while something keeps it from writing, too.

        Returns:
            Whether it is on the disk.
        """
        with self._pending.changed:
            number = self._pending.hurry()
            if self.is_alive():
                self._pending.changed.wait_for(
                    lambda: (
                        self._pending.is_done(number)
                        or (self._problem is not None and not despite_problem)
                    ),
                    timeout_s,
                )
            return self._pending.is_done(number)

    def mend(self, timeout_s: float) -> bool:
        """Have a database salvaged that is marked as damaged, and wait for it; any other thread.

        Returns:
            Whether reading it again makes sense.
        """
        if not self.is_alive():
            return False
        self.retry()
        with self._pending.changed:
            return self._pending.changed.wait_for(
                lambda: not salvage.is_marked(self._disk.path) or self._problem is not None,
                timeout_s,
            )

    def stop(self) -> None:
        """End after one more attempt to write waiting changes; any thread."""
        self._disk.hurry()
        with self._pending.changed:
            self._stops = True
            self._pending.changed.notify_all()

    def run(self) -> None:
        """Write until `stop`."""
        stops = False
        while not stops:
            stops = self._wait()
            try:
                self._write_all()
                self._tidy(until_done=stops)
            except FAILURES as error:
                self._last_s = time.monotonic()
                self.report(error)
                self._disk.give_up(error)
            else:
                self.report(None)

    def report(self, error: Exception | None) -> None:
        """Report an error that keeps it from writing, or None if it can write again."""
        problem = problem_of(error, self._disk.path) if error else None
        if error is not None and is_damage(error):
            salvage.mark(self._disk.path)
        with self._pending.changed:
            self._pending.changed.notify_all()
            if problem == self._problem:
                return
            self._problem = problem
        if problem:
            _logger.warning("chats are not written: %s", problem.code)
        else:
            _logger.info("chats are written again")
        self._on_problem(problem)

    def _wait(self) -> bool:
        """Wait for something to do; returns whether to end after it."""
        with self._pending.changed:
            while not (self._stops or self._tries_now):
                timeout_s = self._timeout_s()
                if timeout_s is not None and timeout_s <= 0:
                    break
                self._pending.changed.wait(timeout_s)
            self._tries_now = False
            return self._stops

    def _timeout_s(self) -> float | None:
        """Seconds until there is something to do; None means to wait for a call."""
        since_s = time.monotonic() - self._last_s
        if self._problem is not None:
            return None if self._problem.is_lasting else RETRY_S - since_s
        if not self._pending:
            return _TIDY_AFTER_S - since_s if self._tidies else None
        return 0.0 if self._pending.is_urgent() else CHECKPOINT_S - since_s

    def _write_all(self) -> None:
        """Write waiting changes; checkpoints that are added meanwhile wait for their time."""
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
        """Do deferred work while nothing is queued; at the end for two seconds at most."""
        until = time.monotonic() + _LAST_TIDY_S
        while self._tidies and not self._pending:
            self._tidies = self._disk.tidy()
            if until_done and time.monotonic() > until:
                break
