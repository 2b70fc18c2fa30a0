"""Changes that are not on the disk yet, in order; any thread.

The session adds, the writer takes some, and drops them when they are written; readers see what is
there. What is being written is still seen, since carrying it out twice changes nothing. Changes
that a later one makes needless are merged with it, so that a full disk does not fill the memory.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paceline.storage.changes import (
    EndRun,
    ExtendRun,
    SavePlace,
    SaveUnsent,
    is_outdated,
    is_urgent,
    merged,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paceline.storage.changes import Change

_MOST_AT_ONCE = 500
_LOOK_BACK = 30


@dataclass(slots=True)
class _Item:
    number: int
    change: Change


class Pending:
    """The queue between a session and the writer's thread.

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
            self._n_added += 1
            if isinstance(change, EndRun):
                waiting = [i for i in self._waiting() if not is_outdated(i.change, change)]
                self._items[self._n_taken :] = waiting
            is_merged = self._merge(change)
            if not is_merged:
                self._items.append(_Item(self._n_added, change))
            if is_urgent(change):
                self._urgent_until = self._n_added
            elif is_merged:
                return  # the writer knows already; waking it up would cost more than all of this
            self.changed.notify_all()

    def snapshot(self) -> tuple[Change, ...]:
        """Everything that may not be written yet, in order."""
        with self.changed:
            return tuple(item.change for item in self._items)

    def hurry(self) -> int:
        """Have everything so far written at once; return a number for `is_done`."""
        with self.changed:
            self._urgent_until = self._n_added
            self.changed.notify_all()
            return self._n_added

    def is_done(self, number: int) -> bool:
        """Whether everything up to this number is written."""
        with self.changed:
            return not self._items or self._items[0].number > number

    def is_urgent(self) -> bool:
        """Whether something must not wait."""
        with self.changed:
            return bool(self._items) and self._items[0].number <= self._urgent_until

    def wait_done(self, number: int, timeout_s: float) -> bool:
        """Wait until everything up to this number is written; False: the time was over before."""
        until = time.monotonic() + timeout_s
        with self.changed:
            while not self.is_done(number):
                left = until - time.monotonic()
                if left <= 0:
                    return False
                self.changed.wait(left)
            return True

    def take(self) -> list[Change]:
        """The next changes to write; they stay here until `written`."""
        with self.changed:
            self._n_taken = min(len(self._items), _MOST_AT_ONCE)
            return [item.change for item in self._items[: self._n_taken]]

    def written(self) -> None:
        """What was taken is on the disk."""
        with self.changed:
            del self._items[: self._n_taken]
            self._n_taken = 0
            self.changed.notify_all()

    def not_written(self) -> None:
        """What was taken waits again."""
        with self.changed:
            self._n_taken = 0

    def __len__(self) -> int:
        with self.changed:
            return len(self._items)

    def _waiting(self) -> Sequence[_Item]:
        return self._items[self._n_taken :]

    def _merge(self, change: Change) -> bool:
        """Merge a change into an earlier one; it then keeps the earlier one's place.

        Only changes that nothing else depends on are ever merged, so the place does not matter,
        as long as a reply's end or beginning is not crossed.
        """
        for item in reversed(self._waiting()[-_LOOK_BACK:]):
            both = merged(item.change, change)
            if both is not None:
                item.change = both
                return True
            if not isinstance(item.change, (ExtendRun, SaveUnsent, SavePlace)):
                return False
        return False
