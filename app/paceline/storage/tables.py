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
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from paceline.codec import CodecError, decode_known, decode_part, encode_part
from paceline.conversation import Attachment, Origin, clean
from paceline.messages import StepCommitted
from paceline.params import ReplySettings
from paceline.run_record import RunRecord, record_from_json, steps_from_json

T = TypeVar("T")

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


def part_text(part: ReplySettings | Origin | None) -> str | None:
    """Return the text that keeps a part of a conversation; None: it has none."""
    return clean(json.dumps(encode_part(part), ensure_ascii=False)) if part is not None else None


def read_part(kind: type[T], text: str) -> T | None:
    """Return what `part_text` made a text of; None where it is empty or damaged."""
    try:
        return decode_known(kind, json.loads(text)) if text else None
    except (ValueError, RecursionError):
        return None


def read_tags(text: str) -> tuple[str, ...]:
    """Return the tags in a JSON list; none where it is damaged."""
    try:
        return tuple(map(str, json.loads(text))) if text != "[]" else ()  # as in most rows
    except (ValueError, TypeError):
        return ()


def attachments_text(attachments: tuple[Attachment, ...]) -> str | None:
    """Return the text that keeps attachments; None: there are none."""
    if not attachments:
        return None
    return json.dumps([encode_part(file) for file in attachments], ensure_ascii=False)


def read_attachments(text: str | None) -> tuple[Attachment, ...]:
    """Return what `attachments_text` made a text of; none where it is damaged."""
    if text is None:
        return ()
    try:
        return tuple(decode_part(Attachment, file) for file in json.loads(text))
    except (ValueError, CodecError):
        return ()


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
    try:
        return record_from_json(_unpacked(data))
    except (zlib.error, ValueError):
        return RunRecord(message_id, status="finished")


def read_steps(data: bytes) -> tuple[StepCommitted, ...]:
    """Return packed steps; none where they are damaged."""
    try:
        return steps_from_json(_unpacked(data))
    except (zlib.error, ValueError):  # a CodecError is one
        return ()
