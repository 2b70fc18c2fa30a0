"""Run records, steps and checkpoints in the tables.

The record without its steps is read with every conversation, the steps only when a reply's plot or
colours are wanted; both are compressed JSON. A checkpoint is a row of its own, so that keeping one
more piece of a long reply costs no more than the first.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from paceline.messages import StepCommitted
from paceline.run_json import record_from_json, record_to_json, steps_from_json, steps_to_json
from paceline.run_record import RunRecord
from paceline.storage.columns import read_as

_ID = read_as("messages", ["id"], "m")
_RECORD = read_as("runs", ["record"], "r")
_PIECE = read_as("checkpoints", ("number", "text", "steps"))
Pieces = dict[int, tuple[str, tuple[StepCommitted, ...]]]
"""Text and steps of a reply's checkpoints by their numbers."""


def write_record(connection: sqlite3.Connection, message: int, record: RunRecord) -> None:
    """Insert or replace a reply's record, without its steps."""
    data = packed(record_to_json(record, with_steps=False))
    connection.execute(
        "INSERT OR REPLACE INTO runs VALUES (?, ?, ?)", (message, record.status, data)
    )


def write_steps(
    connection: sqlite3.Connection, message: int, steps: Sequence[StepCommitted]
) -> None:
    """Replace a reply's steps."""
    connection.execute("DELETE FROM steps WHERE message = ?", (message,))
    if steps:
        data = packed(steps_to_json(steps))
        connection.execute("INSERT INTO steps VALUES (?, ?)", (message, data))


def write_checkpoint(
    connection: sqlite3.Connection,
    message: int,
    number: int,
    text: str,
    steps: Sequence[StepCommitted],
) -> None:
    """Keep one more piece of a reply that is under way."""
    connection.execute(
        "INSERT OR REPLACE INTO checkpoints VALUES (?, ?, ?, ?)",
        (message, number, text, packed(steps_to_json(steps))),
    )


def delete_checkpoints(connection: sqlite3.Connection, message: int) -> None:
    """Forget the pieces of a reply."""
    connection.execute("DELETE FROM checkpoints WHERE message = ?", (message,))


class Records(Mapping[str, RunRecord]):
    """Run records that are decoded on access, since a chat of 10,000 messages has 5,000."""

    def __init__(self, packed_records: Mapping[str, bytes | RunRecord]) -> None:
        self._records = dict(packed_records)

    def __getitem__(self, message_id: str) -> RunRecord:
        record = self._records[message_id]
        if isinstance(record, bytes):
            record = self._records[message_id] = _record(message_id, record)
        return record

    def __iter__(self) -> Iterator[str]:
        return iter(self._records)

    def __len__(self) -> int:
        return len(self._records)


def read_packed(connection: sqlite3.Connection, conversation: int) -> dict[str, bytes | RunRecord]:
    """The records of a conversation's replies by message id, as `Records` takes them."""
    return dict(
        connection.execute(
            f"SELECT {_ID}, {_RECORD} FROM messages m JOIN runs r ON r.message = m.key"
            " WHERE m.conversation = ? ORDER BY m.key",
            (conversation,),
        )
    )


def read_record(connection: sqlite3.Connection, message_id: str) -> RunRecord | None:
    """One reply's record; None: there is none."""
    row = connection.execute(
        f"SELECT {_RECORD} FROM messages m JOIN runs r ON r.message = m.key WHERE m.id = ?",
        (message_id,),
    ).fetchone()
    return _record(message_id, row[0]) if row else None


def read_pieces(connection: sqlite3.Connection, message: int) -> Pieces:
    """A reply's steps under -1, and its checkpoints; broken steps are left out."""
    rows = connection.execute(
        f"SELECT -1, '', {read_as('steps', ['data'])} FROM steps WHERE message = ?1 UNION ALL"
        f" SELECT {_PIECE} FROM checkpoints WHERE message = ?1",
        (message,),
    )
    return {number: (text, _steps(data)) for number, text, data in rows}


def unfinished(connection: sqlite3.Connection) -> list[str]:
    """The messages whose replies are running or have checkpoints."""
    rows = connection.execute(
        f"SELECT {_ID} FROM (SELECT message FROM checkpoints UNION"
        " SELECT message FROM runs WHERE status = 'running') r"
        " CROSS JOIN messages m ON m.key = r.message"
    )
    return [message_id for (message_id,) in rows]


def with_checkpoints(connection: sqlite3.Connection, conversation: int) -> list[str]:
    """The messages of one conversation that have checkpoints."""
    rows = connection.execute(
        f"SELECT DISTINCT {_ID} FROM checkpoints p CROSS JOIN messages m ON m.key = p.message"
        " WHERE m.conversation = ?",
        (conversation,),
    )
    return [message_id for (message_id,) in rows]


def packed(data: dict[str, Any]) -> bytes:
    """Return compressed JSON."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return zlib.compress(text.encode(errors="replace"))


def _unpacked(data: bytes) -> Any:
    return json.loads(zlib.decompress(data))


def _record(message_id: str, data: bytes) -> RunRecord:
    """Return a record; an empty one where it is damaged."""
    try:
        return record_from_json(_unpacked(data))
    except (zlib.error, ValueError):
        return RunRecord(message_id, status="finished")


def _steps(data: bytes) -> tuple[StepCommitted, ...]:
    try:
        return steps_from_json(_unpacked(data))
    except (zlib.error, ValueError):  # a CodecError is one
        return ()
