"""The tables' rows as values: conversations, messages, run records, steps and checkpoints.

A column of SQLite takes any kind of value, and damage leaves any: what is read goes through the
expressions of `read_as`, so that a broken value is an empty or another one, never of another kind.
The record of a reply without its steps is read with every conversation, the steps only when its
plot or colours are wanted; both are compressed JSON. A checkpoint is a row of its own, so that
keeping one more piece of a long reply costs no more than the first. Every function works within
the caller's lock.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from paceline.codec import CodecError, decode_known, decode_part, encode_part, made_of
from paceline.conversation import (
    Attachment,
    Conversation,
    ConversationSummary,
    Head,
    Message,
    Origin,
    ViewPlace,
    clean,
)
from paceline.messages import StepCommitted
from paceline.params import ReplySettings
from paceline.run_record import (
    RunRecord,
    record_from_json,
    record_to_json,
    steps_from_json,
    steps_to_json,
)
from paceline.storage.problems import DamageError

_LATEST_S = 1e11
_KINDS = {
    "key": "{}",
    "int": "CAST(ifnull({}, 0) AS INTEGER)",
    "time": f"max(0.0, min({_LATEST_S}, CAST(ifnull({{}}, 0) AS REAL)))",
    "figure": "max(0.0, min(1e9, CAST({} AS REAL)))",
    "text": "CAST(ifnull({}, '') AS TEXT)",
    "text?": "CAST({} AS TEXT)",
    "role": "CASE {} WHEN 'assistant' THEN 'assistant' ELSE 'user' END",
    "bytes": "CAST(ifnull({}, '') AS BLOB)",
}
TABLES = {
    "conversations": {
        "key": "key", "id": "text", "title": "text", "created_s": "time", "changed_s": "time",
        "pinned": "int", "tags": "text", "leaf_id": "text?", "reply_id": "text",
        "is_removed": "int", "strategy": "text", "tokens_per_s": "figure",
        "acceptance_rate": "figure", "settings": "text", "origin": "text",
    },
    "messages": {
        "key": "key", "conversation": "int", "id": "text", "parent_id": "text?", "role": "role",
        "content": "text", "created_s": "time", "attachments": "text?",
    },
    "runs": {"message": "key", "status": "text", "record": "bytes"},
    "steps": {"message": "key", "data": "bytes"},
    "checkpoints": {
        "rowid": "key", "message": "int", "number": "int", "text": "text", "steps": "bytes"
    },
    "unsent": {"rowid": "key", "conversation_id": "text", "text": "text"},
    "places": {
        "rowid": "key", "conversation_id": "text", "message_id": "text", "offset_px": "int"
    },
}  # fmt: skip
"""Every table with its columns and their kinds; the first column counts the rows."""


def read_as(table: str, columns: Sequence[str] = (), alias: str = "") -> str:
    """Return what a SELECT asks for to get these columns of a table; all by default."""
    kinds = TABLES[table]
    prefix = f"{alias}." if alias else ""
    return ", ".join(_KINDS[kinds[name]].format(prefix + name) for name in columns or kinds)


_HEAD = read_as(
    "conversations",
    (
        "id", "title", "created_s", "changed_s", "pinned", "tags", "leaf_id", "settings",
        "origin",
    ),
)  # fmt: skip
_SUMMARY = read_as(
    "conversations",
    (
        "id", "title", "created_s", "changed_s", "pinned", "tags", "origin",
    ),
)  # fmt: skip
_MESSAGE = read_as(
    "messages", ("id", "parent_id", "role", "content", "created_s", "attachments"), "m"
)

_NO_TAGS = "[]"
_ID = read_as("messages", ["id"], "m")
_RECORD = read_as("runs", ["record"], "r")
_PIECE = read_as("checkpoints", ("number", "text", "steps"))
Pieces = dict[int, tuple[str, tuple[StepCommitted, ...]]]
"""Text and steps of a reply's checkpoints by their numbers."""

T = TypeVar("T")


def read_summaries(connection: sqlite3.Connection) -> dict[str, ConversationSummary]:
    """All conversations that are not removed, by id."""
    rows = connection.execute(f"SELECT {_SUMMARY} FROM conversations WHERE NOT is_removed")
    return {
        row[0]: ConversationSummary(
            row[0],
            row[1],
            row[2],
            row[3],
            pinned=bool(row[4]),
            tags=() if row[5] == _NO_TAGS else _tags(row[5]),  # 10,000 times
            origin=_part(Origin, row[6]),
        )
        for row in rows
    }


def check_layout(connection: sqlite3.Connection) -> None:
    """Look for every table and column.

    Raises:
        sqlite3.Error: One is missing.
    """
    for table in TABLES:
        connection.execute(f"SELECT {read_as(table)} FROM {table} LIMIT 0")


def read_through(connection: sqlite3.Connection) -> None:
    """Read all that a window needs to start, so that damage shows now; 10 ms for 10,000 chats.

    Raises:
        sqlite3.Error: Something is broken.
    """
    for table, column in (("conversations", "title"), ("unsent", "text"), ("places", "offset_px")):
        connection.execute(f"SELECT max(length({column})) FROM {table} NOT INDEXED").fetchone()


def removed_ids(connection: sqlite3.Connection) -> tuple[str, ...]:
    """The conversations that were removed, but not purged."""
    rows = connection.execute("SELECT id FROM conversations WHERE is_removed ORDER BY key")
    return tuple(row[0] for row in rows)


def read_head(connection: sqlite3.Connection, conversation_id: str) -> Head | None:
    """A conversation's head; None: it is not there."""
    row = connection.execute(
        f"SELECT {_HEAD} FROM conversations WHERE id = ?", (conversation_id,)
    ).fetchone()
    return _head(row) if row else None


def read_messages(connection: sqlite3.Connection, conversation_id: str) -> dict[str, Message]:
    """A conversation's messages, in the order in which they were added."""
    key = conversation_key(connection, conversation_id)
    messages = {}
    for row in connection.execute(
        f"SELECT {_MESSAGE} FROM messages m WHERE conversation = ? ORDER BY key",
        (key,),
    ):
        messages[row[0]] = Message(row[0], row[1], row[2], row[3], row[4], read_attachments(row[5]))
    return messages


def conversation_of(head: Head, messages: dict[str, Message]) -> Conversation:
    """Return a conversation of these parts; a message whose parent is lost becomes a first one."""
    known: dict[str, Message] = {}
    for message in messages.values():
        is_lost = message.parent_id is not None and message.parent_id not in known
        known[message.message_id] = replace(message, parent_id=None) if is_lost else message
    leaf = head.leaf_id
    if leaf not in known:
        leaf = next(reversed(known), None)
    return made_of(Conversation, head, messages=MappingProxyType(known), leaf_id=leaf)


def write_head(connection: sqlite3.Connection, head: Head) -> int:
    """Insert or update a conversation; return its key."""
    values = (
        head.title, head.created_s, head.changed_s, int(head.pinned),
        json.dumps(head.tags, ensure_ascii=False), head.leaf_id,
        _part_text(head.settings), _part_text(head.origin),
    )  # fmt: skip
    connection.execute(
        "INSERT INTO conversations"
        " (id, title, created_s, changed_s, pinned, tags, leaf_id, settings, origin, reply_id,"
        " strategy) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, '', '') ON CONFLICT (id) DO"
        " UPDATE SET title = ?2, created_s = ?3, changed_s = ?4, pinned = ?5, tags = ?6,"
        " leaf_id = ?7, settings = ?8, origin = ?9",
        (head.conversation_id, *values),
    )
    return _written(conversation_key(connection, head.conversation_id))


def write_message(connection: sqlite3.Connection, conversation: int, message: Message) -> int:
    """Insert or update a message; return its key."""
    connection.execute(
        "INSERT INTO messages (conversation, id, parent_id, role, content, created_s, attachments)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (id) DO UPDATE SET"
        " parent_id = ?3, role = ?4, content = ?5, created_s = ?6, attachments = ?7",
        (
            conversation, message.message_id, message.parent_id, message.role, message.content,
            message.created_s, _attachments_text(message.attachments),
        ),
    )  # fmt: skip
    return _written(message_key(connection, message.message_id))


def _written(key: int | None) -> int:
    """The key of what was just written; without one an index is damaged."""
    if key is None:
        raise DamageError("an index does not find what was written")
    return key


def conversation_key(connection: sqlite3.Connection, conversation_id: str) -> int | None:
    """A conversation's key; None: it is not there."""
    row = connection.execute(
        "SELECT key FROM conversations WHERE id = ?", (conversation_id,)
    ).fetchone()
    return row[0] if row else None


def message_key(connection: sqlite3.Connection, message_id: str) -> int | None:
    """A message's key; None: it is not there."""
    row = connection.execute("SELECT key FROM messages WHERE id = ?", (message_id,)).fetchone()
    return row[0] if row else None


class Row(NamedTuple):
    """A message's row."""

    key: int
    conversation_id: str
    message: Message


def message_row(connection: sqlite3.Connection, message_id: str) -> Row | None:
    """A message with its key; None: it is not there."""
    row = connection.execute(
        f"SELECT m.key, {read_as('conversations', ['id'], 'c')}, {_MESSAGE}"
        " FROM messages m JOIN conversations c ON c.key = m.conversation WHERE m.id = ?",
        (message_id,),
    ).fetchone()
    if row is None:
        return None
    key, conversation_id, own_id, parent_id, role, content, created_s, files = row
    attached = read_attachments(files)
    message = Message(own_id, parent_id, role, content, created_s, attached)
    return Row(key, conversation_id, message)


def is_removed(connection: sqlite3.Connection, conversation_id: str) -> bool:
    """Whether a conversation is hidden."""
    row = connection.execute(
        "SELECT is_removed FROM conversations WHERE id = ?", (conversation_id,)
    ).fetchone()
    return bool(row and row[0])


def delete_messages(connection: sqlite3.Connection, keys: Iterable[int]) -> None:
    """Delete messages with their records, steps and checkpoints."""
    rows = [(key,) for key in keys]
    for table in ("runs", "steps", "checkpoints"):
        connection.executemany(f"DELETE FROM {table} WHERE message = ?", rows)
    connection.executemany("DELETE FROM messages WHERE key = ?", rows)


def write_content(connection: sqlite3.Connection, key: int, content: str) -> None:
    """Replace a message's text."""
    connection.execute("UPDATE messages SET content = ? WHERE key = ?", (content, key))


def delete_conversation(connection: sqlite3.Connection, key: int) -> None:
    """Delete a conversation whose messages are gone."""
    connection.execute("DELETE FROM conversations WHERE key = ?", (key,))


def delete_place(connection: sqlite3.Connection, conversation_id: str) -> None:
    """Forget where a conversation was left."""
    connection.execute("DELETE FROM places WHERE conversation_id = ?", (conversation_id,))


def set_removed(connection: sqlite3.Connection, conversation_id: str, *, is_removed: bool) -> None:
    """Hide or show a conversation."""
    connection.execute(
        "UPDATE conversations SET is_removed = ? WHERE id = ?", (int(is_removed), conversation_id)
    )


def write_sync(connection: sqlite3.Connection) -> None:
    """Write something, so that the transaction is not empty and is waited for."""
    connection.execute(
        "INSERT INTO facts VALUES ('syncs', 1) ON CONFLICT DO UPDATE SET value = value + 1"
    )


def read_unsent(connection: sqlite3.Connection, conversation_id: str) -> str:
    """Text that was not sent; empty: none."""
    row = connection.execute(
        f"SELECT {read_as('unsent', ['text'])} FROM unsent WHERE conversation_id = ?",
        (conversation_id,),
    ).fetchone()
    return row[0] if row else ""


def write_unsent(connection: sqlite3.Connection, conversation_id: str, text: str) -> None:
    """Keep text that was not sent; empty: forget it."""
    connection.execute("DELETE FROM unsent WHERE conversation_id = ?", (conversation_id,))
    if text:
        connection.execute("INSERT INTO unsent VALUES (?, ?)", (conversation_id, text))


def read_place(connection: sqlite3.Connection, conversation_id: str) -> ViewPlace:
    """Where a conversation was left."""
    row = connection.execute(
        f"SELECT {read_as('places', ['message_id', 'offset_px'])} FROM places"
        " WHERE conversation_id = ?",
        (conversation_id,),
    ).fetchone()
    return ViewPlace(*row) if row else ViewPlace()


def write_place(connection: sqlite3.Connection, conversation_id: str, place: ViewPlace) -> None:
    """Keep where a conversation was left."""
    connection.execute(
        "INSERT OR REPLACE INTO places VALUES (?, ?, ?)",
        (conversation_id, place.message_id, place.offset_px),
    )


def _head(row: tuple[Any, ...]) -> Head:
    key, title, created_s, changed_s, pinned, tags, leaf_id, settings, origin = row
    return Head(
        key, title, created_s, changed_s, bool(pinned), _tags(tags), leaf_id=leaf_id,
        settings=_part(ReplySettings, settings), origin=_part(Origin, origin),
    )  # fmt: skip


def _part_text(part: ReplySettings | Origin | None) -> str | None:
    return clean(json.dumps(encode_part(part), ensure_ascii=False)) if part is not None else None


def _part(kind: type[T], text: str) -> T | None:
    try:
        return decode_known(kind, json.loads(text)) if text else None
    except (ValueError, RecursionError):  # it was damaged
        return None


def _tags(text: str) -> tuple[str, ...]:
    if text == _NO_TAGS:
        return ()
    try:
        return tuple(map(str, json.loads(text)))
    except (ValueError, TypeError):  # it was damaged
        return ()


def _attachments_text(attachments: tuple[Attachment, ...]) -> str | None:
    if not attachments:
        return None
    return json.dumps([encode_part(file) for file in attachments], ensure_ascii=False)


def read_attachments(text: str | None) -> tuple[Attachment, ...]:
    """Attachments that were written by `_attachments_text`; those that are broken are left out."""
    if text is None:
        return ()
    try:
        return tuple(decode_part(Attachment, file) for file in json.loads(text))
    except (ValueError, CodecError):
        return ()


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
