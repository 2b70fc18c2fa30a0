"""Changes carried out on the tables, with the search index; within the caller's transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import assert_never

from paceline.conversation import Message
from paceline.run_record import RunRecord
from paceline.storage import conversations, runs, search
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
)


def carry_out(connection: sqlite3.Connection, change: Change) -> None:
    """Write one change; what it is about may be gone, or be written already."""
    match change:
        case SaveChat():
            _save(connection, change)
        case BeginRun():
            _begin(connection, change.record)
        case ExtendRun():
            key = conversations.message_key(connection, change.message_id)
            if key is not None:
                runs.write_checkpoint(connection, key, change.number, change.text, change.steps)
        case EndRun():
            _end(connection, change.record, change.text)
        case Remove():
            conversations.set_removed(connection, change.conversation_id, is_removed=True)
        case Restore():
            conversations.set_removed(connection, change.conversation_id, is_removed=False)
        case Purge():
            _purge(connection, change.conversation_id)
        case SaveUnsent():
            conversations.write_unsent(connection, change.conversation_id, change.text)
        case SavePlace():
            conversations.write_place(connection, change.conversation_id, change.place)
        case Sync():
            conversations.write_sync(connection)
        case _:
            assert_never(change)


def _end(connection: sqlite3.Connection, record: RunRecord, text: str) -> None:
    row = conversations.message_row(connection, record.message_id)
    if row is None:
        return
    key, old = row.key, row.message
    conversations.write_content(connection, key, text)
    new = Message(old.message_id, old.parent_id, old.role, text, attachments=old.attachments)
    search.index(connection, key, search.text_of(old), search.text_of(new))
    runs.write_record(connection, key, record)
    runs.write_steps(connection, key, record.steps)
    runs.delete_checkpoints(connection, key)


def _save(connection: sqlite3.Connection, change: SaveChat) -> None:
    head = change.head
    old_head = conversations.read_head(connection, head.conversation_id)
    conversation = conversations.write_head(connection, head)
    search.index(connection, -conversation, old_head.title if old_head else "", head.title)
    if old_head is None or old_head.reply_id != head.reply_id:
        figures = runs.read_figures(connection, head.reply_id)
        conversations.write_figures(connection, head.conversation_id, figures)
    for message in change.messages:
        row = conversations.message_row(connection, message.message_id)
        key = conversations.write_message(connection, conversation, message)
        old = search.text_of(row.message) if row else ""
        search.index(connection, key, old, search.text_of(message))
    _delete(connection, change.removed)


def _begin(connection: sqlite3.Connection, record: RunRecord) -> None:
    key = conversations.message_key(connection, record.message_id)
    if key is not None:
        runs.write_record(connection, key, record)
        runs.delete_checkpoints(connection, key)


def _purge(connection: sqlite3.Connection, conversation_id: str) -> None:
    key = conversations.conversation_key(connection, conversation_id)
    conversations.write_unsent(connection, conversation_id, "")
    conversations.delete_place(connection, conversation_id)
    if key is None:
        return
    head = conversations.read_head(connection, conversation_id)
    search.index(connection, -key, head.title if head else "", "")
    _delete(connection, conversations.read_messages(connection, conversation_id))
    conversations.delete_conversation(connection, key)
    search.set_forgetful(connection, wanted=True)


def _delete(connection: sqlite3.Connection, message_ids: Iterable[str]) -> None:
    keys = []
    for message_id in message_ids:
        row = conversations.message_row(connection, message_id)
        if row is not None:
            search.index(connection, row.key, search.text_of(row.message), "")
            keys.append(row.key)
    conversations.delete_messages(connection, keys)
