"""The file: one connection that writes, one that reads, and what both must be set to.

The journal is a write-ahead log, which lets readers go on while something is written. It is copied
back by an explicit checkpoint that takes the lock for writing first, and never automatically: up to
SQLite 3.51.2 a checkpoint beside another connection's write can lose commits
(sqlite.org/wal.html, "The WAL-Reset Bug"). Deleted content is overwritten with zeros. Files can be
read by their owner only; SQLite gives the log and its index the mode of the database.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from paceline.files import private_folder
from paceline.storage.problems import MovedError, is_busy

LOG_ENDINGS = ("-wal", "-shm")
"""What SQLite appends to a database's name for the files beside it."""

LOCK_WAIT_S = 5.0
"""How long a writer waits for another program before it says so."""

_WAIT_S = 0.25
_LOG_BYTES = 4 * 2**20


class Database:
    """An open database; the writer's thread uses `writer`, one reader at a time `reader`."""

    def __init__(self, path: Path) -> None:
        """Open or create it.

        Raises:
            OSError: Folder or file cannot be created.
            sqlite3.Error: It cannot be opened, or is no database.
        """
        self.path = path
        private_folder(path.parent)
        create_private(path)
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
        """Make sure that what is written lands in the file that has the name.

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

    def copy_to(self, path: Path) -> None:
        """Write everything into another file, also when this one has lost its name.

        Raises:
            OSError: It cannot be created.
            sqlite3.Error: It cannot be written.
        """
        private_folder(path.parent)
        path.unlink(missing_ok=True)
        create_private(path)
        with contextlib.closing(sqlite3.connect(path)) as copy:
            self.writer.backup(copy)

    def close(self) -> None:
        """Close both connections."""
        for connection in (self.reader, self.writer):
            with contextlib.suppress(sqlite3.Error):
                connection.close()


def open_to_read(path: Path) -> sqlite3.Connection | None:
    """Open a database that cannot be written to; None: it cannot be read, either.

    In a folder that cannot be written to, SQLite can only read the file without its log.
    """
    for how in ("mode=ro", "mode=ro&immutable=1"):
        connection = None
        try:
            connection = sqlite3.connect(
                f"{path.absolute().as_uri()}?{how}",
                timeout=_WAIT_S, uri=True, isolation_level=None, check_same_thread=False,
            )  # fmt: skip
            connection.execute("SELECT count(*) FROM conversations").fetchone()
        except sqlite3.Error as error:
            if connection is not None:
                connection.close()
            if is_busy(error):  # it will be free again, and changes until then
                return None
        else:
            return connection
    return None


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
    """Create an empty file that only its owner can read, or make one that is there so.

    Raises:
        OSError: It cannot be created.
    """
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        if os.name == "posix" and path.stat().st_mode & 0o077:
            with contextlib.suppress(PermissionError):  # it is somebody else's
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
    return sqlite3.connect(path, timeout=_WAIT_S, isolation_level=None, check_same_thread=False)


def _identity(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_dev, found.st_ino
