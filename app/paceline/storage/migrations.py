"""The database's layout, as numbered steps; `PRAGMA user_version` says how many were taken.

A step is never changed once it has been published; what is to be different becomes another step.
Each runs in one transaction with its number, so that a crash leaves the layout before or behind it.
Before the first step on a database that has something, a copy of it is put beside it.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

from paceline.storage.database import create_private, transaction
from paceline.storage.problems import NewerSchemaError
from paceline.storage.search import create_index

Migration = Callable[[sqlite3.Connection], None]

_LAYOUT = """
CREATE TABLE conversations (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    created_s REAL NOT NULL,
    changed_s REAL NOT NULL,
    pinned INTEGER NOT NULL,
    tags TEXT NOT NULL,        -- a JSON list
    leaf_id TEXT,
    reply_id TEXT NOT NULL,    -- the last reply on the active path, and its figures:
    strategy TEXT NOT NULL,
    tokens_per_s REAL,
    plain_tokens_per_s REAL,
    acceptance_rate REAL,
    is_removed INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX removed_conversations ON conversations (key) WHERE is_removed;
CREATE TABLE messages (
    key INTEGER PRIMARY KEY,   -- in the order in which they were added
    conversation INTEGER NOT NULL REFERENCES conversations (key),
    id TEXT NOT NULL UNIQUE,
    parent_id TEXT,
    role TEXT NOT NULL,
    content TEXT NOT NULL,
    created_s REAL NOT NULL,
    attachments TEXT           -- a JSON list of objects
);
CREATE INDEX messages_of ON messages (conversation);
CREATE TABLE runs (
    message INTEGER PRIMARY KEY REFERENCES messages (key),
    status TEXT NOT NULL,
    record BLOB NOT NULL       -- JSON without the steps, compressed
);
CREATE INDEX running ON runs (message) WHERE status = 'running';
CREATE TABLE steps (
    message INTEGER PRIMARY KEY REFERENCES messages (key),
    data BLOB NOT NULL         -- JSON in columns, compressed
);
CREATE TABLE checkpoints (     -- of replies that have not ended
    message INTEGER NOT NULL REFERENCES messages (key),
    number INTEGER NOT NULL,
    text TEXT NOT NULL,
    steps BLOB NOT NULL,
    PRIMARY KEY (message, number)
);
CREATE TABLE unsent (conversation_id TEXT PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE places (
    conversation_id TEXT PRIMARY KEY, message_id TEXT NOT NULL, offset_px INTEGER NOT NULL
);
CREATE TABLE facts (name TEXT PRIMARY KEY, value INTEGER NOT NULL);
"""


def _first(connection: sqlite3.Connection) -> None:
    for statement in _LAYOUT.split(";\n"):
        if statement.strip():
            connection.execute(statement)
    create_index(connection)


MIGRATIONS: tuple[Migration, ...] = (_first,)


def migrate(
    connection: sqlite3.Connection, path: Path, migrations: Sequence[Migration] = MIGRATIONS
) -> Path | None:
    """Bring a database to the newest layout.

    Args:
        connection: In autocommit mode.
        path: Its file.
        migrations: All steps.

    Returns:
        The copy of what it was before; None: there was nothing to do, or nothing to copy.

    Raises:
        NewerSchemaError: More steps were taken than are known; nothing was touched.
        sqlite3.Error: It cannot be read or written; it has the layout that it had.
    """
    version = user_version(connection)
    if version > len(migrations):
        raise NewerSchemaError(f"layout {version}, known are {len(migrations)}")
    if version == len(migrations):
        return None
    copy = _copy(connection, path, version) if version else None
    for number, migration in enumerate(migrations[version:], version + 1):
        with transaction(connection):
            if user_version(connection) < number:  # another program may have been faster
                migration(connection)
                connection.execute(f"PRAGMA user_version = {number}")
    return copy


def user_version(connection: sqlite3.Connection) -> int:
    """How many steps were taken."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def copies(path: Path) -> list[Path]:
    """The copies that were put beside a database before its layout changed."""
    return sorted(path.parent.glob(f"{path.name}.before-layout-*"))


def _copy(connection: sqlite3.Connection, path: Path, version: int) -> Path:
    copy = path.with_name(f"{path.name}.before-layout-{version + 1}")
    copy.unlink(missing_ok=True)
    create_private(copy)
    with contextlib.closing(sqlite3.connect(copy)) as target:
        connection.backup(target)
    return copy
