"""The thread that writes: what is urgent at once, checkpoints ten times a second at most.

When it cannot write, it reports the problem and tries again every two seconds, or when it is asked
to. A change leaves the queue only after it is on the disk.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from paceline.storage import salvage
from paceline.storage.changes import (
    BeginRun,
    Change,
    EndRun,
    ExtendRun,
    Purge,
    Remove,
    Restore,
    SaveChat,
    SavePlace,
    SaveUnsent,
    Sync,
    is_urgent,
    merged,
    subject,
)
from paceline.storage.disk import Disk
from paceline.storage.problems import (
    BROKEN,
    MovedError,
    NewerSchemaError,
    StorageProblem,
    is_damage,
    problem_of,
)

_MOST_AT_ONCE = 500
_LOOK_BACK = 30


@dataclass(slots=True)
class _Item:
    number: int
    change: Change


class Pending:
    """The queue of changes that are not on the disk yet, in order; any thread.

    The session adds changes, the writer takes some and drops them when they are written; readers
    see all that are there. What is being written is still seen, since carrying it out twice changes
    nothing. What waits and is made superfluous by a later change goes, so that neither a full disk
    nor a private chat, whose changes wait for good, fills the memory or keeps a deleted text.

    Attributes:
        changed: Notified when something was added, written, or asked for; its lock guards all.
    """

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self._items: list[_Item] = []
        self._n_taken = 0
        self._n_added = 0
        self._urgent_until = 0

    def add(self, change: Change) -> None:
        """Append a change, or merge it into one that waits."""
        with self.changed:
            is_awaited = bool(self._items)
            self._n_added += 1
            self._drop_outdated(change)
            if not self._merge(change):
                self._items.append(_Item(self._n_added, change))
            if is_urgent(change):
                self._urgent_until = self._n_added
            elif is_awaited:
                return  # the writer knows already; waking it is the most expensive part of this
            self.changed.notify_all()

    def snapshot(self) -> tuple[Change, ...]:
        """Everything that may not be written yet, in order."""
        with self.changed:
            return tuple(item.change for item in self._items)

    def hurry(self) -> int:
        """Request that everything so far is written at once; returns a number for `is_done`."""
        with self.changed:
            self._urgent_until = self._n_added
            self.changed.notify_all()
            return self._n_added

    def is_done(self, number: int) -> bool:
        """Whether everything up to this number is written, or replaced by what came later."""
        with self.changed:
            return not self._items or self._items[0].number > number

    def is_urgent(self) -> bool:
        """Whether something must not wait."""
        with self.changed:
            return bool(self._items) and self._items[0].number <= self._urgent_until

    def wait_done(self, number: int, timeout_s: float) -> bool:
        """Wait until everything up to this number is written; False: not in this time."""
        with self.changed:
            return self.changed.wait_for(lambda: self.is_done(number), timeout_s)

    def take(self) -> list[Change]:
        """The next changes to write; they stay here until `written`."""
        with self.changed:
            self._n_taken = min(len(self._items), _MOST_AT_ONCE)
            return [item.change for item in self._items[: self._n_taken]]

    def written(self) -> None:
        """Drop what was taken: it is on the disk."""
        with self.changed:
            del self._items[: self._n_taken]
            self._n_taken = 0
            self.changed.notify_all()

    def not_written(self) -> None:
        """Let what was taken wait again: it could not be written."""
        with self.changed:
            self._n_taken = 0

    def __len__(self) -> int:
        with self.changed:
            return len(self._items)

    def _waiting(self) -> Sequence[_Item]:
        return self._items[self._n_taken :]

    def _drop_outdated(self, new: Change) -> None:
        """Drop what waits and has no effect any more when `new` is carried out after it."""
        kinds: type | tuple[type, ...] = type(new)
        ids = {subject(new)}
        match new:
            case SaveChat(_, _, removed):
                kinds, ids = (BeginRun, ExtendRun, EndRun), set(removed)
            case EndRun():
                kinds = ExtendRun
            case Remove() | Restore():
                kinds = (Remove, Restore)
            case Purge(key):
                begun = (i.change for i in self._items if isinstance(i.change, BeginRun))
                kinds = object
                ids.update(b.record.message_id for b in begun if b.conversation_id == key)
            case SaveUnsent() | SavePlace() | Sync():
                pass
            case _:
                return
        self._items[self._n_taken :] = [
            item
            for item in self._waiting()
            if not isinstance(item.change, kinds) or subject(item.change) not in ids
        ]

    def _merge(self, new: Change) -> bool:
        """Merge a change into one that waits, which keeps its place; False: append it."""
        match new:
            case ExtendRun():
                return self._merge_piece(new)
            case SaveChat():
                return self._merge_chat(new)
            case _:
                return False

    def _merge_piece(self, new: ExtendRun) -> bool:
        """Merge it into an earlier piece; a reply's end or beginning is not crossed."""
        for item in reversed(self._waiting()[-_LOOK_BACK:]):
            old = item.change
            if isinstance(old, ExtendRun) and old.message_id == new.message_id:
                item.change = merged(old, new)
                return True
            if not isinstance(old, (ExtendRun, SaveUnsent, SavePlace)):
                return False
        return False

    def _merge_chat(self, new: SaveChat) -> bool:
        """Leave nothing older of a conversation in what waits, and merge what has no messages.

        Not across the place where it is purged, for it begins again there, or hidden, for then it
        must be there already.
        """
        key, gone = subject(new), set(new.removed)
        last: _Item | None = None
        for item in reversed(self._waiting()):
            old = item.change
            if isinstance(old, (Purge, Remove)) and old.conversation_id == key:
                break
            if not isinstance(old, SaveChat) or subject(old) != key:
                continue
            messages = tuple(m for m in old.messages if m.message_id not in gone)
            item.change = SaveChat(new.head, messages, old.removed)
            if not (messages or old.removed):
                self._items.remove(item)
            elif last is None and not new.messages:
                last = item
                item.change = replace(item.change, removed=(*old.removed, *new.removed))
        return last is not None


RETRY_S = 2.0
CHECKPOINT_S = 0.1
FAILURES = (*BROKEN, OSError, MovedError, NewerSchemaError)
"""Errors that can keep changes from the disk; any other is a bug."""

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
            disk: Only this thread writes to it once it runs.
            pending: The changes to write.
            on_problem: Called on this thread with what keeps it from writing, and with None when it
                can write again.
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
        """Report an error that keeps it from writing; None: it can write again."""
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
        """Seconds until there is something to do; None: wait for a call."""
        since_s = time.monotonic() - self._last_s
        if self._problem is not None:
            return None if self._problem.is_lasting else RETRY_S - since_s
        if not self._pending:
            return _TIDY_AFTER_S - since_s if self._tidies else None
        return 0.0 if self._pending.is_urgent() else CHECKPOINT_S - since_s

    def _write_all(self) -> None:
        """Write what waits; checkpoints that come meanwhile wait for their time."""
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
