"""Chats in memory as they will be on the disk, while it is slow or cannot be written to."""

from __future__ import annotations

import sqlite3

from paceline.storage.changes import Change, subject
from paceline.storage.database import in_memory, transaction
from paceline.storage.reading import Source, key_of, message_row
from paceline.storage.tables import TABLES, insert_into, read_as
from paceline.storage.writing import is_carried_out

_BY_ID = {"conversations": "id", "unsent": "conversation_id", "places": "conversation_id"}
_BY_KEY = {
    "messages": ("conversation", "conversations"),
    "runs": ("message", "messages"),
    "steps": ("message", "messages"),
    "checkpoints": ("message", "messages"),
}
"""Columns with the key of a row that another table has."""


class Held:
    """The conversations that waiting changes are about, with these changes carried out.

    A conversation is copied from the disk before its first change is carried out here. The disk may
    have some of the changes already, which does no harm.

    Attributes:
        waiting: Changes that are not carried out here yet, in order.
    """

    def __init__(self, waiting: list[Change]) -> None:
        self.waiting = waiting
        self._ids: set[str] = set()  # also those that are purged
        self._connection = in_memory()

    def sources(self, disk: sqlite3.Connection | None) -> list[Source]:
        """Carry out waiting changes, and return the sources of all chats; one thread at a time.

        Raises:
            sqlite3.Error: The disk cannot be read; everything still waits.
        """
        waiting, ids = self.waiting[:], self._ids.copy()
        with transaction(self._connection):
            for change in waiting:
                conversation_id = _conversation_of(change, disk)
                if conversation_id not in ids:
                    ids.add(conversation_id)
                    if disk is not None:
                        _copy(disk, self._connection, conversation_id)
                is_carried_out(self._connection, change)
        del self.waiting[: len(waiting)]
        self._ids = ids
        on_disk = [Source(disk, ids)] if disk is not None else []
        return [*on_disk, Source(self._connection)]


def _conversation_of(change: Change, disk: sqlite3.Connection | None) -> str:
    """Return the id of a change's conversation, which rescued runs may lack."""
    row = None if change.conversation_id or disk is None else message_row(disk, subject(change))
    return row.conversation_id if row else change.conversation_id


def _copy(disk: sqlite3.Connection, memory: sqlite3.Connection, conversation_id: str) -> None:
    """Copy the rows of a conversation, which have other keys then."""
    for table, column in _BY_ID.items():
        columns = list(TABLES[table])[1:]
        memory.executemany(
            insert_into(table, columns),
            disk.execute(
                f"SELECT {read_as(table, columns)} FROM {table} WHERE {column} = ?",
                (conversation_id,),
            ),
        )
    key = key_of(disk, "conversations", conversation_id)
    for table, (reference, owner) in _BY_KEY.items():
        columns = [name for name in TABLES[table] if name not in ("key", "rowid", reference)]
        belongs = "o.key" if owner == "conversations" else "o.conversation"
        memory.executemany(
            f"INSERT INTO {table} ({', '.join(columns)}, {reference})"
            f" SELECT {', '.join('?' * len(columns))}, key FROM {owner} WHERE id = ?",
            disk.execute(
                f"SELECT {read_as(table, columns, 't')}, o.id FROM {owner} o"
                f" JOIN {table} t ON t.{reference} = o.key WHERE {belongs} = ? ORDER BY o.key",
                (key,),
            ),
        )
