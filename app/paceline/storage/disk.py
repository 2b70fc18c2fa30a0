"""The database over time: opened, looked after, given up, opened again. No thread of its own.

The writer's thread writes and tidies; readers borrow the reading connection. When the file is
deleted while it is open, everything is still behind the open connection, and is put back.
"""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from paceline.storage import migrations, rescue, runs, salvage, search
from paceline.storage.changes import Change, Purge
from paceline.storage.conversations import read_through, removed_ids
from paceline.storage.database import LOG_ENDINGS, Database, open_to_read, transaction
from paceline.storage.problems import (
    MovedError,
    NewerSchemaError,
    Opened,
    is_about_connection,
    is_about_the_value,
    is_damage,
)
from paceline.storage.writing import carry_out

_logger = logging.getLogger(__name__)


class Disk:
    """One database file that may be away for a while.

    Attributes:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._database: Database | None = None
        self._only_read: sqlite3.Connection | None = None
        self._hurries = False

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection | None]:
        """Lend the connection for reading; None: nothing can be read. Any thread."""
        with self._lock:
            yield self._database.reader if self._database else self._only_read

    def open(self) -> Opened:
        """Open the database, which may mean to create, migrate or salvage it.

        Raises:
            OSError: See `Database`; likewise `sqlite3.Error`. It may be readable all the same.
            NewerSchemaError: It was written by a later version; it was not touched.
        """
        note = ""
        try:
            if salvage.is_marked(self.path):
                note = salvage.salvage(self.path)
            try:
                database = self._connected()
            except sqlite3.Error as error:
                if not is_damage(error):
                    raise
                note = salvage.salvage(self.path)
                database = self._connected()
        except NewerSchemaError:
            raise
        except (sqlite3.Error, OSError):
            with self._lock:
                if self._only_read is None and self.path.is_file():
                    self._only_read = open_to_read(self.path)
            raise
        removed = removed_ids(database.reader)
        with self._lock:
            self._let_go()
            self._database = database
        return Opened((note,) if note else (), bool(note), removed)

    def write(self, changes: Sequence[Change], *, durable: bool) -> None:
        """Carry out changes in one transaction; what no database can take goes to a file.

        Args:
            changes: In order.
            durable: Whether they must survive a power failure.

        Raises:
            OSError: See `Database`; likewise `sqlite3.Error`. Nothing was written.
            MovedError: The file was replaced.
            NewerSchemaError: It was written by a later version.
        """
        database = self.ready()
        connection = database.writer
        connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
        with transaction(connection, lambda: self._hurries):
            refused = [change for change in changes if not _try(connection, change)]
        if refused:
            rescue.set_aside(self.path, refused)
        if any(isinstance(change, Purge) for change in changes):
            for copy in migrations.copies(self.path):
                copy.unlink(missing_ok=True)

    def ready(self) -> Database:
        """Make sure that the database is open, and has its name.

        Raises:
            OSError: See `write`; likewise `sqlite3.Error`, `MovedError` and `NewerSchemaError`.
        """
        if self._database is None:
            self.open()
        assert self._database is not None  # else `open` raised
        try:
            self._database.check_place()
        except FileNotFoundError:
            self._put_back(self._database)
        return self._database

    def tidy(self) -> bool:
        """Do a little of what can wait; False: there is nothing more to do.

        Raises:
            sqlite3.Error: It failed; nothing is lost.
        """
        if self._database is None:
            return False
        connection = self._database.writer
        self._database.checkpoint()
        if not search.is_forgetful(connection):
            return False
        with transaction(connection, lambda: self._hurries):
            goes_on = search.forget_some(connection)
        if not goes_on:
            self._database.checkpoint(always=True)
        return goes_on

    def hurry(self) -> None:
        """Do not wait for other programs any more; any thread."""
        self._hurries = True

    def close(self) -> None:
        """Close the database; what was written stays."""
        with self._lock:
            if self._database is not None:
                with contextlib.suppress(sqlite3.Error):
                    self._database.checkpoint(always=True)
            self._let_go()

    def give_up(self, error: Exception) -> None:
        """Close the database behind a failure that a new connection may not see."""
        if self._database is None or not is_about_connection(error):
            return
        try:
            self._database.check_place()
        except (OSError, MovedError):
            return  # the open connection is all that is left of it
        with self._lock:
            self._database.close()
            self._database = None
            self._only_read = open_to_read(self.path)

    def _let_go(self) -> None:
        if self._database is not None:
            self._database.close()
        if self._only_read is not None:
            self._only_read.close()
        self._database = self._only_read = None

    def _connected(self) -> Database:
        database = Database(self.path)
        try:
            migrations.migrate(database.writer, self.path)
            runs.unfinished(database.reader)  # sees damage where most is written
            read_through(database.reader)
        except BaseException:
            database.close()
            raise
        return database

    def _put_back(self, database: Database) -> None:
        """Give a database that was deleted its file again."""
        copy = self.path.with_name(f"{self.path.name}.restored")
        database.copy_to(copy)
        with self._lock:
            self._let_go()
            for ending in LOG_ENDINGS:
                Path(f"{self.path}{ending}").unlink(missing_ok=True)
            copy.replace(self.path)
            self._database = self._connected()
        _logger.warning("the database was deleted; it was written anew from the open one")


def _try(connection: sqlite3.Connection, change: Change) -> bool:
    """Carry out a change, or nothing of it if its values cannot be stored."""
    connection.execute("SAVEPOINT change")
    try:
        carry_out(connection, change)
    except (sqlite3.Error, ValueError, OverflowError) as error:
        if not is_about_the_value(error):
            raise
        connection.execute("ROLLBACK TO change")
        connection.execute("RELEASE change")
        _logger.exception("%s cannot be stored", type(change).__name__)
        return False
    connection.execute("RELEASE change")
    return True
