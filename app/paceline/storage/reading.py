"""Queries: everything that a store returns, each by one function.

Chats stand in one database, or in two while some wait for the disk (`held`). A function takes all
of them as sources, and the caller has their connections to itself.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

from paceline.codec import made_of
from paceline.content import appended
from paceline.conversation import (
    Attachment,
    Conversation,
    ConversationSummary,
    Folder,
    Head,
    Message,
    Origin,
    SearchHit,
    ViewPlace,
)
from paceline.messages import StepCommitted
from paceline.params import ReplySettings
from paceline.run_record import INTERRUPTED, RunRecord
from paceline.storage.changes import EndRun
from paceline.storage.search import MESSAGES, TITLES, Found, Query, find
from paceline.storage.tables import (
    Records,
    read_as,
    read_attachments,
    read_content,
    read_part,
    read_record,
    read_steps,
    read_tags,
)

_SUMMARY = read_as(
    "conversations",
    ("id", "title", "created_s", "changed_s", "pinned", "tags", "origin", "folder", "archived"),
)
_HEAD = f"{_SUMMARY}, {read_as('conversations', ('leaf_id', 'settings'))}"
_MESSAGE = read_as(
    "messages", ("id", "parent_id", "role", "content", "created_s", "attachments", "parts"), "m"
)
_ID = read_as("messages", ["id"], "m")
_RECORD = read_as("runs", ["record"], "r")
_WITH_CHAT = "JOIN conversations c ON c.key = m.conversation"


class Source(NamedTuple):
    """A database to read from.

    Attributes:
        connection: See the module.
        hidden: Conversations that a later source has; the last one hides none.
    """

    connection: sqlite3.Connection
    hidden: Collection[str] = ()


@contextlib.contextmanager
def at_one_moment(connection: sqlite3.Connection | None) -> Iterator[None]:
    """Read everything within the block from one state of a database, if there is one."""
    if connection is None:
        yield
        return
    connection.execute("BEGIN")
    try:
        yield
    finally:
        if connection.in_transaction:  # SQLite may have ended it after an error
            connection.execute("ROLLBACK")


# ------------------------------------------------------------------------------- all sources


def summaries(sources: Sequence[Source]) -> tuple[ConversationSummary, ...]:
    """Return one line for each conversation that is not removed."""
    return tuple(
        _summary(row)
        for connection, hidden in sources
        for row in connection.execute(
            f"SELECT {_SUMMARY} FROM conversations WHERE NOT is_removed AND instructions IS NULL"
        )
        if row[0] not in hidden
    )


def folders(sources: Sequence[Source]) -> tuple[Folder, ...]:
    """Return the folders that are not removed."""
    columns = read_as("conversations", ("id", "title", "instructions"))
    return tuple(
        Folder(*row)
        for connection, hidden in sources
        for row in connection.execute(
            f"SELECT {columns} FROM conversations WHERE NOT is_removed AND instructions NOT NULL"
        )
        if row[0] not in hidden
    )


def gone(sources: Sequence[Source], conversation_ids: Iterable[str]) -> frozenset[str]:
    """Return those of these conversations that are not in the list."""
    query = "SELECT 1 FROM conversations WHERE id = ? AND NOT is_removed"
    return frozenset(
        key
        for key in conversation_ids
        if _having(sources, key).execute(query, (key,)).fetchone() is None
    )


def removed(sources: Sequence[Source]) -> tuple[str, ...]:
    """Return the conversations that were removed, but not purged."""
    return tuple(
        key
        for connection, hidden in sources
        for (key,) in connection.execute("SELECT id FROM conversations WHERE is_removed")
        if key not in hidden
    )


def load(sources: Sequence[Source], conversation_id: str) -> Conversation | None:
    """Return a conversation, with the text so far of running replies, or None if there is none."""
    connection = _having(sources, conversation_id)
    head = read_head(connection, conversation_id)
    if head is None:
        return None
    messages = read_messages(connection, conversation_id)
    texts = connection.execute(
        f"SELECT {_ID}, {read_as('checkpoints', ['text'], 'p')} FROM checkpoints p"
        f" CROSS JOIN messages m ON m.key = p.message {_WITH_CHAT} WHERE c.id = ?"
        " ORDER BY p.message, p.number",
        (conversation_id,),
    )
    for message_id, text in texts:
        if message := messages.get(message_id):  # not where an index is damaged
            messages[message_id] = replace(message, content=appended(message.content, text))
    return _conversation(head, messages)


def records(sources: Sequence[Source], conversation_id: str) -> Records:
    """Return the records of a conversation's replies by message id."""
    rows = _having(sources, conversation_id).execute(
        f"SELECT {_ID}, {_RECORD} FROM conversations c JOIN messages m ON m.conversation = c.key"
        " JOIN runs r ON r.message = m.key WHERE c.id = ? ORDER BY m.key",
        (conversation_id,),
    )
    return Records(dict(rows))


def steps(sources: Sequence[Source], message_id: str) -> tuple[StepCommitted, ...]:
    """Return the steps of one reply."""
    for connection, hidden in sources:
        row = message_row(connection, message_id)
        if row is not None and row.conversation_id not in hidden:
            return _pieces(connection, row.key)[1]
    return ()


def search(sources: Sequence[Source], text: str, limit: int) -> tuple[SearchHit, ...]:
    """Return titles and messages that have all words of a text, the best first.

    Those of archived conversations come last.
    """
    query = Query.of(text)
    if query is None or limit <= 0:
        return ()
    hits: list[Found] = []
    for archived in (False, True):
        found = []
        for connection, hidden in reversed(sources):  # what waits for the disk is the newest
            if len(hits) < limit:
                hits += find(connection, query, TITLES, limit, hidden, archived=archived)
                found += find(connection, query, MESSAGES, 2 * limit, hidden, archived=archived)
        hits += sorted(found, key=lambda one: -one.n_whole)  # stable: the newest stay first
    return tuple(map(query.hit, hits[:limit]))


def unsent(sources: Sequence[Source], conversation_id: str) -> str:
    """Return text that was written, but not sent, or empty if there is none."""
    row = (
        _having(sources, conversation_id)
        .execute(
            f"SELECT {read_as('unsent', ['text'])} FROM unsent WHERE conversation_id = ?",
            (conversation_id,),
        )
        .fetchone()
    )
    return row[0] if row else ""


def unsent_files(sources: Sequence[Source], conversation_id: str) -> tuple[Attachment, ...]:
    """Return the files that were attached, but not sent."""
    row = (
        _having(sources, conversation_id)
        .execute(
            f"SELECT {read_as('unsent', ['attachments'])} FROM unsent WHERE conversation_id = ?",
            (conversation_id,),
        )
        .fetchone()
    )
    return read_attachments(row[0]) if row else ()


def place(sources: Sequence[Source], conversation_id: str) -> ViewPlace:
    """Return the place where a conversation was left."""
    row = (
        _having(sources, conversation_id)
        .execute(
            f"SELECT {read_as('places', ['message_id', 'offset_px'])} FROM places"
            " WHERE conversation_id = ?",
            (conversation_id,),
        )
        .fetchone()
    )
    return ViewPlace(*row) if row else ViewPlace()


def interrupted(sources: Sequence[Source]) -> list[EndRun]:
    """Return the ends of the replies that were under way when a program ended: they have failed."""
    ends = []
    for connection, hidden in sources:
        for message_id in unfinished_ids(connection):
            row = message_row(connection, message_id)
            if row is None or row.conversation_id in hidden:
                continue
            packed = connection.execute(
                f"SELECT {_RECORD} FROM runs r WHERE r.message = ?", (row.key,)
            ).fetchone()
            record = read_record(message_id, packed[0]) if packed else RunRecord(message_id)
            if record.status == "running":
                record = replace(record, status="failed", error=INTERRUPTED)
            text, made = _pieces(connection, row.key)
            record = replace(record, steps=made)
            ends.append(EndRun(row.conversation_id, record, appended(row.message.content, text)))
    return ends


def _having(sources: Sequence[Source], conversation_id: str) -> sqlite3.Connection:
    return next(source.connection for source in sources if conversation_id not in source.hidden)


# ------------------------------------------------------------------------------ one database


class Row(NamedTuple):
    """A message's row."""

    key: int
    conversation_id: str
    message: Message


def read_head(connection: sqlite3.Connection, conversation_id: str) -> Head | None:
    """Return a conversation without its messages, or None if it is not there."""
    row = connection.execute(
        f"SELECT {_HEAD} FROM conversations WHERE id = ?", (conversation_id,)
    ).fetchone()
    if row is None:
        return None
    settings = read_part(ReplySettings, row[-1])
    return made_of(Head, _summary(row), leaf_id=row[-2], settings=settings)


def read_messages(connection: sqlite3.Connection, conversation_id: str) -> dict[str, Message]:
    """Return a conversation's messages, in the order in which they were added."""
    rows = connection.execute(
        f"SELECT {_MESSAGE} FROM messages m {_WITH_CHAT} WHERE c.id = ? ORDER BY m.key",
        (conversation_id,),
    )
    return {row[0]: _message(row) for row in rows}


def message_row(connection: sqlite3.Connection, message_id: str) -> Row | None:
    """Return a message with its key, or None if it is not there."""
    row = connection.execute(
        f"SELECT m.key, {read_as('conversations', ['id'], 'c')}, {_MESSAGE}"
        f" FROM messages m {_WITH_CHAT} WHERE m.id = ?",
        (message_id,),
    ).fetchone()
    return Row(row[0], row[1], _message(row[2:])) if row else None


def key_of(connection: sqlite3.Connection, table: str, name: str) -> int | None:
    """Return the key of the conversation or message with this id, or None if it is not there."""
    row = connection.execute(f"SELECT key FROM {table} WHERE id = ?", (name,)).fetchone()
    return row[0] if row else None


def unfinished_ids(connection: sqlite3.Connection) -> list[str]:
    """Return the messages whose replies are running or have checkpoints."""
    rows = connection.execute(
        f"SELECT {_ID} FROM (SELECT message FROM checkpoints UNION"
        " SELECT message FROM runs WHERE status = 'running') r"
        " CROSS JOIN messages m ON m.key = r.message"
    )
    return [message_id for (message_id,) in rows]


def _summary(row: Sequence[Any]) -> ConversationSummary:
    return ConversationSummary(
        row[0], row[1], row[2], row[3], bool(row[4]), read_tags(row[5]),
        origin=read_part(Origin, row[6]), folder_id=row[7], archived=bool(row[8]),
    )  # fmt: skip


def _message(row: Sequence[Any]) -> Message:
    content = read_content(row[3], row[6])
    return Message(row[0], row[1], row[2], content, row[4], read_attachments(row[5]))


def _conversation(head: Head, messages: dict[str, Message]) -> Conversation:
    """Return a conversation of these parts; a message whose parent is lost becomes a first one."""
    known: dict[str, Message] = {}
    for message in messages.values():
        is_lost = message.parent_id is not None and message.parent_id not in known
        known[message.message_id] = replace(message, parent_id=None) if is_lost else message
    leaf = head.leaf_id
    if leaf not in known:
        leaf = next(reversed(known), None)
    return made_of(Conversation, head, messages=MappingProxyType(known), leaf_id=leaf)


def _pieces(connection: sqlite3.Connection, message: int) -> tuple[str, tuple[StepCommitted, ...]]:
    """Return the text of a reply's checkpoints, and all its steps."""
    rows = connection.execute(
        f"SELECT -1, '', {read_as('steps', ['data'])} FROM steps WHERE message = ?1 UNION ALL"
        f" SELECT {read_as('checkpoints', ('number', 'text', 'steps'))} FROM checkpoints"
        " WHERE message = ?1 ORDER BY 1",
        (message,),
    ).fetchall()
    text = "".join(row[1] for row in rows)
    return text, tuple(step for row in rows for step in read_steps(row[2]))
