"""Conversations and their messages in the tables; every function works within the caller's lock."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from paceline.codec import CodecError, decode_known, decode_part, encode_part
from paceline.conversation import (
    Attachment,
    Conversation,
    ConversationSummary,
    Message,
    Origin,
    ViewPlace,
    clean,
)
from paceline.params import ReplySettings
from paceline.storage.changes import Head
from paceline.storage.columns import TABLES, read_as
from paceline.storage.problems import DamageError

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


def summary_of(head: Head) -> ConversationSummary:
    """A conversation as the list shows it."""
    return ConversationSummary(
        head.conversation_id, head.title, head.created_s, head.changed_s, head.pinned, head.tags,
        origin=head.origin,
    )  # fmt: skip


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
    return Conversation(
        head.conversation_id, head.title, head.created_s, MappingProxyType(known), leaf,
        head.changed_s, head.pinned, head.tags, settings=head.settings,
        origin=head.origin,
    )  # fmt: skip


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
        key, title, created_s, changed_s, bool(pinned), _tags(tags), leaf_id,
        _part(ReplySettings, settings), _part(Origin, origin),
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
