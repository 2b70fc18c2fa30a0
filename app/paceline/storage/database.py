"""The file: one connection that writes, one that reads, their settings, and the tables' layout.

The journal is a write-ahead log, which lets readers read while something is written. It is copied
back by an explicit checkpoint that takes the lock for writing first, and never automatically: up to
SQLite 3.51.2 a checkpoint beside another connection's write can lose commits
(sqlite.org/wal.html, "The WAL-Reset Bug"). Deleted content is overwritten with zeros. Files can be
read by their owner only; SQLite gives the log and its index the mode of the database.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from paceline.files import private_folder
from paceline.storage.problems import (
    BROKEN,
    DamageError,
    MovedError,
    NewerSchemaError,
    NoRoomError,
    is_busy,
)
from paceline.storage.search import Unindexed, check_index
from paceline.storage.tables import TABLES

LOG_ENDINGS = ("-wal", "-shm")
"""Endings that SQLite gives the files beside a database."""

LOCK_WAIT_S = 5.0
"""Seconds that a writer waits for another program before it says so."""

_WAIT_S = 0.25
_FORMAT = 2
_LOG_BYTES = 4 * 2**20
_MIN_FREE_BYTES = 2**20  # of the disk beside a copy, for the step and for what is said meanwhile


class Database:
    """An open database; the writer's thread uses `writer`, one reader at a time `reader`."""

    def __init__(self, path: Path) -> None:
        """Open or create it.

        Raises:
            OSError: Folder or file cannot be created.
            sqlite3.Error: It cannot be opened, or is no database; see also `BROKEN`.
        """
        self.path = path
        private_folder(path.parent)
        create_private(path)
        with path.open("rb") as file:
            if any(version > _FORMAT for version in file.read(20)[18:]):
                raise DamageError("SQLite would take it for one that must not be written to")
        self.writer = _connect(path)
        try:
            self.writer.execute("PRAGMA secure_delete = ON")
            self.writer.execute("PRAGMA wal_autocheckpoint = 0")
            self.writer.execute("PRAGMA journal_mode = WAL").fetchone()
            self.writer.execute("SELECT 1 FROM sqlite_master").fetchone()  # opens the log
            self._identity = _identity(path)
            self.reader = _connect(path)
            self.reader.execute("PRAGMA query_only = ON")
        except BaseException:
            self.writer.close()
            raise

    def check_place(self) -> None:
        """Check that the open file is still the one at the path.

        Raises:
            FileNotFoundError: The file is gone.
            MovedError: Another file took its place.
        """
        if _identity(self.path) != self._identity:
            raise MovedError

    def checkpoint(self, *, always: bool = False) -> None:
        """Copy the log back into the database if it is long.

        Raises:
            sqlite3.Error: It failed; nothing is lost.
        """
        log = Path(f"{self.path}{LOG_ENDINGS[0]}")
        with contextlib.suppress(FileNotFoundError):
            if always or log.stat().st_size > _LOG_BYTES:
                self.writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    def check(self) -> None:
        """Compare every page and index with the others; 2.5 ms for each MiB.

        Raises:
            DamageError: They do not agree.
            sqlite3.Error: They cannot be read.
        """
        with contextlib.closing(_connect(self.path)) as connection:  # the others keep their pages
            ((found,),) = connection.execute("PRAGMA integrity_check(1)")
            if found != "ok":
                raise DamageError(found)
            check_index(connection)

    def close(self) -> None:
        """Close both connections."""
        for connection in (self.reader, self.writer):
            with contextlib.suppress(sqlite3.Error):
                connection.close()


def copy_to(connection: sqlite3.Connection, path: Path) -> None:
    """Write all of a database into another file, also when its own has lost its name.

    Raises:
        OSError: It cannot be created.
        sqlite3.Error: It cannot be written.
    """
    private_folder(path.parent)
    path.unlink(missing_ok=True)
    create_private(path)
    with contextlib.closing(sqlite3.connect(path)) as copy:
        copy.execute("PRAGMA journal_mode = OFF")  # half a copy is thrown away
        connection.backup(copy)


def open_to_read(path: Path) -> sqlite3.Connection | None:
    """Open a database that cannot be written to, or None if it cannot be read, either.

    In a folder that cannot be written to, SQLite can only read the file without its log.
    """
    for how in ("mode=ro", "mode=ro&immutable=1"):
        connection = None
        try:
            connection = sqlite3.connect(
                f"{path.absolute().as_uri()}?{how}",
                timeout=_WAIT_S, uri=True, isolation_level=None, check_same_thread=False,
            )  # fmt: skip
            connection.text_factory = readable_text
            connection.execute("SELECT count(*) FROM conversations").fetchone()
            _fill_in(connection)
        except BROKEN as error:
            if connection is not None:
                connection.close()
            if is_busy(error):  # another program has the lock now and will release it
                return None
        else:
            return connection
    return None


def _fill_in(connection: sqlite3.Connection) -> None:
    """Let an older layout, which cannot be changed here, be read like the newest."""
    connection.execute("PRAGMA temp_store = MEMORY")
    for table, columns in TABLES.items():
        there = {name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")}
        later = ", ".join(f"NULL AS {name}" for name in columns if name not in {*there, "rowid"})
        if later:
            connection.execute(f"CREATE TEMP VIEW {table} AS SELECT *, {later} FROM main.{table}")


@contextlib.contextmanager
def transaction(
    connection: sqlite3.Connection, gives_up: Callable[[], bool] = lambda: False
) -> Iterator[None]:
    """Write everything within the block, or nothing of it.

    Args:
        connection: In autocommit mode.
        gives_up: Asked while another program has the lock: whether to stop waiting before 5 s.
    """
    _begin(connection, gives_up)
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):  # SQLite may have taken it back already
            connection.execute("ROLLBACK")
        raise


def create_private(path: Path) -> None:
    """Create a file that only its owner can read, or change the mode of one that exists.

    Raises:
        OSError: It cannot be created.
    """
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        if os.name == "posix" and path.stat().st_mode & 0o077:
            with contextlib.suppress(PermissionError):  # it is another program's
                path.chmod(0o600)


def _begin(connection: sqlite3.Connection, gives_up: Callable[[], bool]) -> None:
    until = time.monotonic() + LOCK_WAIT_S
    while True:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if not is_busy(error) or gives_up() or time.monotonic() > until:
                raise
        else:
            return


def _connect(path: Path) -> sqlite3.Connection:
    # In autocommit mode; either connection has one user at a time, but not always the same thread.
    connection = sqlite3.connect(
        path, timeout=_WAIT_S, isolation_level=None, check_same_thread=False
    )
    connection.text_factory = readable_text
    connection.execute("PRAGMA cell_size_check = ON")  # broken pages are seen before they are used
    return connection


def _identity(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_dev, found.st_ino


def readable_text(data: bytes) -> str:
    """Return a text with U+FFFD for every broken byte."""
    return data.decode(errors="replace")


# The text of a layout never changes, since layouts are compared by it. Nothing is read any more of
# `reply_id`, `strategy` and the three figures of a conversation.
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
CREATE VIRTUAL TABLE words USING fts5 (text, content='', detail=none, columnsize=0,\
 prefix='1 2 3 4', tokenize='unicode61 remove_diacritics 2');
"""


MIGRATIONS = (
    _LAYOUT,
    # What a conversation has of its own, and where a branch comes from: JSON objects or NULL.
    "ALTER TABLE conversations ADD COLUMN settings TEXT",
    "ALTER TABLE conversations ADD COLUMN origin TEXT",
    # The parts of a content that is more than its text, which stays beside them: a JSON list.
    "ALTER TABLE messages ADD COLUMN parts TEXT",
    # A folder is a row with instructions, which has no messages; `folder` is its id in the rows of
    # its chats. A table of its own would not stand where a new database has it.
    "ALTER TABLE conversations ADD COLUMN folder TEXT;\n"
    "ALTER TABLE conversations ADD COLUMN archived INTEGER;\n"
    "ALTER TABLE conversations ADD COLUMN instructions TEXT;\n"
    # Files of a message that was not sent: a JSON list of objects or NULL.
    "ALTER TABLE unsent ADD COLUMN attachments TEXT",
)
"""The steps to the newest layout: SQL, each of whose statements ends a line."""


def _take(connection: sqlite3.Connection, step: str) -> None:
    for statement in step.split(";\n"):
        connection.execute(statement)


def in_memory() -> sqlite3.Connection:
    """Make an empty database with the newest layout, of which nothing reaches a disk."""
    connection = sqlite3.connect(
        ":memory:", isolation_level=None, check_same_thread=False, factory=Unindexed
    )
    connection.execute("PRAGMA temp_store = MEMORY")  # large sorts, too
    for step in MIGRATIONS:
        _take(connection, step)
    return connection


def migrate(
    connection: sqlite3.Connection, path: Path, migrations: Sequence[str] = MIGRATIONS
) -> Path | None:
    """Bring a database to the newest layout, in numbered steps.

    A step is never changed once it has been published; another layout is another step. Each runs in
    one transaction with its number (`PRAGMA user_version`), so that a crash leaves the layout
    before or after it. A database that has content is copied in the transaction of the first step,
    so that no program writes between copy and step, and of several only one makes a copy.

    Args:
        connection: In autocommit mode.
        path: Its file.
        migrations: All steps.

    Returns:
        The copy of what it was before, or None if there was nothing to do, or nothing to copy.

    Raises:
        NewerSchemaError: More steps were taken than are known; nothing was touched.
        NoRoomError: There is no room for the copy; it has the layout that it had.
        OSError: The copy cannot be made; likewise.
        sqlite3.Error: It cannot be read or written; likewise.
    """
    version = user_version(connection)
    if version > len(migrations):
        raise NewerSchemaError(f"layout {version}, known are {len(migrations)}")
    copy: Path | None = None
    for number, step in enumerate(migrations[version:], version + 1):
        with transaction(connection):
            if user_version(connection) < number:  # another program may have been faster
                if version and copy is None:
                    copy = _copied(path, number)
                _take(connection, step)
                connection.execute(f"PRAGMA user_version = {number}")
    return copy


def _copied(path: Path, number: int) -> Path:
    """Copy a database before a step; the copy has its name only when it is whole.

    Raises:
        NoRoomError: It does not fit on the disk.
        OSError: It cannot be written; likewise `sqlite3.Error`.
    """
    copy = path.with_name(f"{path.name}.before-layout-{number}")
    part = copy.with_name(f"{copy.name}.part")
    with contextlib.closing(_connect(path)) as connection:
        ((n_pages,),) = connection.execute("PRAGMA page_count")
        ((page_bytes,),) = connection.execute("PRAGMA page_size")
        n_needed = n_pages * page_bytes + _MIN_FREE_BYTES
        if shutil.disk_usage(path.parent).free < n_needed:
            raise NoRoomError(n_needed)
        try:
            copy_to(connection, part)
            part.replace(copy)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    return copy


def has_layout(connection: sqlite3.Connection) -> bool:
    """Return whether tables and indexes are those of a new database or of an older one.

    Raises:
        sqlite3.Error: It cannot be read; UnicodeDecodeError likewise.
    """
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as new:
        query = "SELECT name, rootpage, sql FROM sqlite_master ORDER BY rowid"
        found = connection.execute(query).fetchall()
        for step in MIGRATIONS:
            _take(new, step)
            if new.execute(query).fetchall() == found:
                return True
        return False


def user_version(connection: sqlite3.Connection) -> int:
    """Return the number of steps that were taken."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def copies(path: Path) -> list[Path]:
    """Return the copies that were made beside a database before its layout changed."""
    return sorted(path.parent.glob(f"{path.name}.before-layout-*"))
