"""Carry out changes in a database and in its search index, within the caller's transaction."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, assert_never

from paceline.content import Content, beyond_text, text_of
from paceline.conversation import Folder, Head, Message
from paceline.run_record import RunRecord, record_to_json, steps_to_json
from paceline.storage import search
from paceline.storage.changes import (
    BeginRun,
    Change,
    EndRun,
    ExtendRun,
    Purge,
    Remove,
    Restore,
    SaveChat,
    SaveFolder,
    SavePlace,
    SaveUnsent,
    SaveUnsentFiles,
)
from paceline.storage.problems import DamageError, is_about_the_value
from paceline.storage.reading import (
    key_of,
    message_row,
    read_head,
    read_messages,
)
from paceline.storage.tables import insert_into, json_text, packed

_logger = logging.getLogger(__name__)


def is_carried_out(connection: sqlite3.Connection, change: Change) -> bool:
    """Carry out a change; return False, having changed nothing, if its values cannot be stored.

    The change may be written already, or its conversation may be gone.

    Raises:
        sqlite3.Error: It cannot be written now; likewise `DamageError`.
    """
    connection.execute("SAVEPOINT change")
    try:
        _carry_out(connection, change)
    except (sqlite3.Error, ValueError, OverflowError) as error:
        if not is_about_the_value(error):
            raise
        connection.execute("ROLLBACK TO change")
        connection.execute("RELEASE change")
        _logger.exception("%s cannot be stored", type(change).__name__)
        return False
    connection.execute("RELEASE change")
    return True


def _carry_out(connection: sqlite3.Connection, change: Change) -> None:
    match change:
        case SaveChat():
            _save(connection, change)
        case BeginRun(_, record):
            _begin(connection, record)
        case ExtendRun():
            _extend(connection, change)
        case EndRun():
            _end(connection, change)
        case Remove(key):
            connection.execute("UPDATE conversations SET is_removed = 1 WHERE id = ?", (key,))
        case Restore(key):
            connection.execute("UPDATE conversations SET is_removed = 0 WHERE id = ?", (key,))
        case Purge(key):
            _purge(connection, key)
        case SaveFolder(folder):
            _save_folder(connection, folder)
        case SaveUnsent(key, text):
            _save_unsent(connection, key, "text", text)
        case SaveUnsentFiles(key, files):
            _save_unsent(connection, key, "attachments", json_text(files) if files else None)
        case SavePlace(key, place):
            values = (key, place.message_id, place.offset_px)
            connection.execute("INSERT OR REPLACE INTO places VALUES (?, ?, ?)", values)
        case _:
            assert_never(change)


def _save(connection: sqlite3.Connection, change: SaveChat) -> None:
    head = change.head
    old_head = read_head(connection, head.conversation_id)
    if old_head is None and head.leaf_id is not None and not change.messages:
        return  # another program has deleted it, with all its messages
    conversation = _write_head(connection, head)
    search.index(connection, -conversation, old_head.title if old_head else "", head.title)
    for message in change.messages:
        row = message_row(connection, message.message_id)
        key = _write_message(connection, conversation, message)
        old = search.text_of(row.message) if row else ""
        search.index(connection, key, old, search.text_of(message))
    _delete_messages(connection, change.removed)


def _save_folder(connection: sqlite3.Connection, folder: Folder) -> None:
    old = read_head(connection, folder.folder_id)
    new = {
        "id": folder.folder_id, "reply_id": "", "strategy": "", "tags": "[]", "pinned": 0,
        "created_s": 0.0, "changed_s": 0.0,
    }  # fmt: skip
    values = {"title": folder.name, "instructions": folder.instructions}
    row = _put(connection, "conversations", new, values)
    search.index(connection, -row, old.title if old else "", folder.name)


def _save_unsent(connection: sqlite3.Connection, key: str, column: str, value: str | None) -> None:
    connection.execute(
        "INSERT OR IGNORE INTO unsent (conversation_id, text) VALUES (?, '')", (key,)
    )
    connection.execute(f"UPDATE unsent SET {column} = ? WHERE conversation_id = ?", (value, key))
    connection.execute(
        "DELETE FROM unsent WHERE conversation_id = ? AND text = '' AND attachments IS NULL", (key,)
    )


def _write_head(connection: sqlite3.Connection, head: Head) -> int:
    new = {"id": head.conversation_id, "reply_id": "", "strategy": ""}
    values = {
        "title": head.title, "created_s": head.created_s, "changed_s": head.changed_s,
        "pinned": int(head.pinned), "tags": json_text(head.tags), "leaf_id": head.leaf_id,
        "settings": head.settings and json_text(head.settings),
        "origin": head.origin and json_text(head.origin), "folder": head.folder_id or None,
        "archived": int(head.archived),
    }  # fmt: skip
    return _put(connection, "conversations", new, values)


def _write_message(connection: sqlite3.Connection, conversation: int, message: Message) -> int:
    new = {"id": message.message_id, "conversation": conversation}
    values = {
        "parent_id": message.parent_id, "role": message.role, "created_s": message.created_s,
        **_columns_of(message.content),
        "attachments": json_text(message.attachments) if message.attachments else None,
    }  # fmt: skip
    return _put(connection, "messages", new, values)


def _columns_of(content: Content) -> dict[str, str | None]:
    """Return the text, and the parts where they are more than the text."""
    parts = beyond_text(content)
    return {"content": text_of(content), "parts": json_text(parts) if parts else None}


def _put(
    connection: sqlite3.Connection, table: str, new: dict[str, Any], values: dict[str, Any]
) -> int:
    """Change the row with an id, or insert it with what only a new one gets; return its key."""
    row = new | values
    changes = ", ".join(f"{name} = excluded.{name}" for name in values)
    connection.execute(
        f"{insert_into(table, row)} ON CONFLICT (id) DO UPDATE SET {changes}", [*row.values()]
    )
    key = key_of(connection, table, new["id"])
    if key is None:
        raise DamageError("an index does not find what was written")
    return key


def _begin(connection: sqlite3.Connection, record: RunRecord) -> None:
    key = key_of(connection, "messages", record.message_id)
    if key is not None:
        _write_record(connection, key, record)
        connection.execute("DELETE FROM checkpoints WHERE message = ?", (key,))


def _write_record(connection: sqlite3.Connection, message: int, record: RunRecord) -> None:
    data = packed(record_to_json(record, with_steps=False))
    connection.execute(
        "INSERT OR REPLACE INTO runs VALUES (?, ?, ?)", (message, record.status, data)
    )


def _extend(connection: sqlite3.Connection, change: ExtendRun) -> None:
    key = key_of(connection, "messages", change.message_id)
    if key is not None:
        steps = packed(steps_to_json(change.steps))
        connection.execute(
            "INSERT OR REPLACE INTO checkpoints VALUES (?, ?, ?, ?)",
            (key, change.number, change.text, steps),
        )


def _end(connection: sqlite3.Connection, change: EndRun) -> None:
    row = message_row(connection, change.record.message_id)
    if row is None:
        return
    key, _, old = row
    new = replace(old, content=change.content)
    connection.execute(
        "UPDATE messages SET content = :content, parts = :parts WHERE key = :key",
        {"key": key, **_columns_of(new.content)},
    )
    search.index(connection, key, search.text_of(old), search.text_of(new))
    _write_record(connection, key, change.record)
    for table in ("steps", "checkpoints"):
        connection.execute(f"DELETE FROM {table} WHERE message = ?", (key,))
    if change.record.steps:
        steps = packed(steps_to_json(change.record.steps))
        connection.execute("INSERT INTO steps VALUES (?, ?)", (key, steps))


def _purge(connection: sqlite3.Connection, conversation_id: str) -> None:
    for table in ("unsent", "places"):
        connection.execute(f"DELETE FROM {table} WHERE conversation_id = ?", (conversation_id,))
    key = key_of(connection, "conversations", conversation_id)
    if key is None:
        return
    head = read_head(connection, conversation_id)
    search.index(connection, -key, head.title if head else "", "")
    _delete_messages(connection, read_messages(connection, conversation_id))
    connection.execute("DELETE FROM conversations WHERE key = ?", (key,))
    search.set_forgetful(connection, wanted=True)


def _delete_messages(connection: sqlite3.Connection, message_ids: Iterable[str]) -> None:
    """Delete messages with their records, steps and checkpoints."""
    for message_id in message_ids:
        row = message_row(connection, message_id)
        if row is not None:
            search.index(connection, row.key, search.text_of(row.message), "")
            for table in ("runs", "steps", "checkpoints"):
                connection.execute(f"DELETE FROM {table} WHERE message = ?", (row.key,))
            connection.execute("DELETE FROM messages WHERE key = ?", (row.key,))
