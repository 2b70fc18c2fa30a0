"""The tables' rows as values: conversations, messages, run records, steps and checkpoints.

A column of SQLite takes any kind of value, and damage leaves any: what is read goes through the
expressions of `read_as`, so that a broken value is an empty or another one, never of another kind.
The record of a reply without its steps is read with every conversation, the steps only when its
plot or colours are wanted; both are compressed JSON. A checkpoint is a row of its own, so that
keeping one more piece of a long reply costs no more than the first.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from paceline.codec import decode, decode_known, encode
from paceline.content import Content, of_text
from paceline.conversation import Attachment, clean
from paceline.messages import StepCommitted
from paceline.run_record import RunRecord, record_from_json, steps_from_json

T = TypeVar("T")

_MAX_TIME_S = 1e11
_KINDS = {
    "key": "{}",
    "int": "CAST(ifnull({}, 0) AS INTEGER)",
    "time": f"max(0.0, min({_MAX_TIME_S}, CAST(ifnull({{}}, 0) AS REAL)))",
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
        "acceptance_rate": "figure", "settings": "text", "origin": "text", "folder": "text",
        "archived": "int", "instructions": "text?",
    },
    "messages": {
        "key": "key", "conversation": "int", "id": "text", "parent_id": "text?", "role": "role",
        "content": "text", "created_s": "time", "attachments": "text?", "parts": "text?",
    },
    "runs": {"message": "key", "status": "text", "record": "bytes"},
    "steps": {"message": "key", "data": "bytes"},
    "checkpoints": {
        "rowid": "key", "message": "int", "number": "int", "text": "text", "steps": "bytes"
    },
    "unsent": {
        "rowid": "key", "conversation_id": "text", "text": "text", "attachments": "text?"
    },
    "places": {
        "rowid": "key", "conversation_id": "text", "message_id": "text", "offset_px": "int"
    },
}  # fmt: skip
"""Every table with its columns and their kinds; the first column counts the rows."""


def read_as(table: str, columns: Sequence[str] = (), alias: str = "") -> str:
    """Return the SELECT expressions for these columns of a table; all by default."""
    kinds = TABLES[table]
    prefix = f"{alias}." if alias else ""
    return ", ".join(_KINDS[kinds[name]].format(prefix + name) for name in columns or kinds)


def insert_into(table: str, columns: Collection[str]) -> str:
    """Return the statement that inserts a row with these columns."""
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"


def read_through(connection: sqlite3.Connection) -> None:
    """Look for every table and column, and read all that a window needs to start.

    Damage there shows now, in 10 ms for 10,000 chats.

    Raises:
        sqlite3.Error: Something is missing or broken.
    """
    for table in TABLES:
        connection.execute(f"SELECT {read_as(table)} FROM {table} LIMIT 0")
    connection.execute("SELECT rowid, text FROM words LIMIT 0")  # the index of searches
    for table, column in (("conversations", "title"), ("unsent", "text"), ("places", "offset_px")):
        connection.execute(f"SELECT max(length({column})) FROM {table} NOT INDEXED").fetchone()


def json_text(value: Any) -> str:
    """Return the text that keeps the value of a dataclass's field."""
    return clean(json.dumps(encode(value), ensure_ascii=False))


def _or(otherwise: T, read: Callable[[], T]) -> T:
    """Return the result of `read`, or `otherwise` if the data is damaged."""
    try:
        return read()
    except (ValueError, TypeError, RecursionError, zlib.error):
        return otherwise


def read_part(kind: type[T], text: str) -> T | None:
    """Return a part of a conversation; None where it is empty or damaged."""
    return _or(None, lambda: decode_known(kind, json.loads(text))) if text else None


def read_tags(text: str) -> tuple[str, ...]:
    """Return the tags in a JSON list; empty if it is damaged."""
    if text == "[]":  # as in most rows
        return ()
    return _or((), lambda: tuple(map(str, json.loads(text))))


def read_attachments(text: str | None) -> tuple[Attachment, ...]:
    """Return attachments; empty if they are damaged."""
    if text is None:
        return ()
    return _or((), lambda: tuple(decode(Attachment, file) for file in json.loads(text)))


def read_content(text: str, parts: str | None) -> Content:
    """Return the content that a message's text, and its parts where they are more, stand for."""
    whole = of_text(text)
    if parts is None:
        return whole
    return _or(whole, lambda: decode(Content, json.loads(parts))) or whole


class Records(Mapping[str, RunRecord]):
    """Run records that are decoded on access, since a chat of 10,000 messages has 5,000."""

    def __init__(self, packed_records: Mapping[str, bytes]) -> None:
        self._packed = packed_records
        self._read: dict[str, RunRecord] = {}

    def __getitem__(self, message_id: str) -> RunRecord:
        record = self._read.get(message_id)
        if record is None:
            record = self._read[message_id] = read_record(message_id, self._packed[message_id])
        return record

    def __iter__(self) -> Iterator[str]:
        return iter(self._packed)

    def __len__(self) -> int:
        return len(self._packed)


def packed(data: dict[str, Any]) -> bytes:
    """Return compressed JSON."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return zlib.compress(text.encode(errors="replace"))


def _unpacked(data: bytes) -> Any:
    return json.loads(zlib.decompress(data))


def read_record(message_id: str, data: bytes) -> RunRecord:
    """Return a packed record; an empty one where it is damaged."""
    lost = RunRecord(message_id, status="finished")
    return _or(lost, lambda: record_from_json(_unpacked(data)))


def read_steps(data: bytes) -> tuple[StepCommitted, ...]:
    """Return packed steps; empty if they are damaged."""
    return _or((), lambda: steps_from_json(_unpacked(data)))
