"""The database over time: opened, written, tidied, given up, opened again. No thread of its own.

The writer's thread writes and tidies; readers borrow the reading connection. If the file is deleted
while it is open, the open connection still has everything, and it is put back.
"""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from paceline.sentence import sentence
from paceline.storage import salvage, search
from paceline.storage.changes import Change, Purge, set_aside
from paceline.storage.database import (
    LOG_ENDINGS,
    Database,
    copies,
    copy_to,
    has_layout,
    migrate,
    open_to_read,
    transaction,
)
from paceline.storage.problems import (
    BROKEN,
    DamageError,
    MovedError,
    NewerSchemaError,
    Opened,
    is_about_connection,
    is_about_content,
    is_busy,
)
from paceline.storage.reading import Source, removed, unfinished_ids
from paceline.storage.tables import read_through
from paceline.storage.writing import is_carried_out

_CHECKED_AT_ONCE_BYTES = 16 * 2**20
_MAX_SALVAGED = 3
_logger = logging.getLogger(__name__)


class Disk:
    """One database file, which may be unavailable for a while.

    Attributes:
        path: The file.
    """

    def __init__(self, path: Path, on_mended: Callable[[Opened], None]) -> None:
        """Make it; nothing is opened yet.

        Args:
            path: The file.
            on_mended: Called on the writer's thread when damage was mended after the start.
        """
        self.path = path
        self._on_mended = on_mended
        self._n_salvaged = 0
        self._is_checked = self._was_written = False
        self._lock = threading.RLock()
        self._database: Database | None = None
        self._only_read: sqlite3.Connection | None = None
        self._hurries = False

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection | None]:
        """Lend the reading connection, or None if the database cannot be read. Any thread."""
        with self._lock:
            yield self._database.reader if self._database else self._only_read

    def open(self) -> Opened:
        """Open the database, which may mean to create, migrate or salvage it.

        Raises:
            OSError: See `Database`; likewise `sqlite3.Error`. It may still be readable.
            NewerSchemaError: It was written by a later version; it was not touched.
        """
        note = empty = ""
        with contextlib.suppress(OSError):  # there is none
            if self.path.stat().st_size == 0:
                empty = sentence(
                    "The file {path} with the chats was there, but empty, so it begins anew. If "
                    "chats were in it, close Paceline and take the file from a backup.",
                    path=self.path,
                )
        try:
            if salvage.is_marked(self.path) or (empty and salvage.has_log(self.path)):
                note = self._salvaged()
            try:
                database = self._connected()
            except BROKEN as error:
                if not is_about_content(error):
                    raise
                note = self._salvaged()
                database = self._connected()
        except (*BROKEN, OSError):
            with self._lock:
                if self._only_read is None and self.path.is_file():
                    self._only_read = open_to_read(self.path)
            raise
        hidden = removed([Source(database.reader)])
        with self._lock:
            self._let_go()
            self._database = database
        return Opened((note or empty,) if note or empty else (), bool(note), hidden)

    def write(self, changes: Sequence[Change], *, durable: bool) -> None:
        """Carry out changes in one transaction; those that cannot be stored go to a rescue file.

        Args:
            changes: In order.
            durable: Whether they must survive a power failure.

        Raises:
            OSError: See `Database`; likewise `sqlite3.Error`. Nothing was written.
            MovedError: The file was replaced.
            NewerSchemaError: It was written by a later version.
        """
        connection = self.ready().writer
        if not (self._is_checked or self._was_written):  # the first write breaks the seal
            search.check_seal(connection)
        connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
        self._was_written = True
        with transaction(connection, lambda: self._hurries):
            refused = [change for change in changes if not is_carried_out(connection, change)]
        if refused:
            set_aside(self.path, refused)
        if any(isinstance(change, Purge) for change in changes):
            for copy in copies(self.path):
                copy.unlink(missing_ok=True)

    def ready(self) -> Database:
        """Make sure that the database is open, has its name, and is not known to be damaged.

        Raises:
            OSError: See `write`; likewise `sqlite3.Error`, `MovedError` and `NewerSchemaError`.
        """
        if self._database is not None:
            try:
                self._database.check_place()
            except FileNotFoundError:
                self._put_back(self._database)
        if salvage.is_marked(self.path):
            with self._lock:  # no other thread may find an empty one meanwhile
                self._let_go()
                self._open_again()
        elif self._database is None:
            self._open_again()
        assert self._database is not None  # otherwise `open` has raised
        return self._database

    def tidy(self) -> bool:
        """Do a part of the deferred work; return False if none is left.

        Raises:
            sqlite3.Error: It failed; nothing is lost.
        """
        if self._database is None:
            return False
        connection = self._database.writer
        if self._was_written and not self._is_checked:  # not while the window opens
            self._check(self._database)
            self._is_checked = True
        self._database.checkpoint()
        if not search.is_forgetful(connection):
            return False
        with transaction(connection, lambda: self._hurries):
            goes_on = search.forget_some(connection)
        if not goes_on:
            self._database.checkpoint(always=True)
        return goes_on

    def hurry(self) -> None:
        """Stop waiting for other programs' locks; any thread."""
        self._hurries = True

    def close(self) -> None:
        """Close the database; what was written stays."""
        with self._lock:
            if self._database is not None:
                connection = self._database.writer
                with contextlib.suppress(sqlite3.Error), transaction(connection, lambda: True):
                    search.seal_index(connection)
                with contextlib.suppress(sqlite3.Error):
                    self._database.checkpoint(always=True)
            self._let_go()

    def give_up(self, error: Exception) -> None:
        """Close the database after a failure, since a new connection may work."""
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
        self._is_checked = self.path.stat().st_size < _CHECKED_AT_ONCE_BYTES
        try:
            try:
                copy = migrate(database.writer, self.path)
            except NewerSchemaError as error:
                if has_layout(database.reader):  # a later version would have another one
                    raise DamageError("its number is broken") from error
                raise
            if copy is not None:
                _logger.info("the chats have a new layout; before it they were copied to %s", copy)
            if self._is_checked:
                self._check(database)
            unfinished_ids(database.reader)  # sees damage where most is written
            read_through(database.reader)
        except BaseException:
            database.close()
            raise
        return database

    @staticmethod
    def _check(database: Database) -> None:
        try:
            database.check()
        except BROKEN as error:
            if not is_busy(error):  # otherwise the next start does it
                raise

    def _open_again(self) -> None:
        opened = self.open()
        if opened.salvaged:
            self._on_mended(opened)

    def _salvaged(self) -> str:
        """Salvage the database, at most `_MAX_SALVAGED` times: then the disk is broken."""
        if self._n_salvaged == _MAX_SALVAGED:
            raise DamageError("it is damaged again and again")
        self._n_salvaged += 1
        return salvage.salvage(self.path)

    def _put_back(self, database: Database) -> None:
        """Give a database that was deleted its file again."""
        copy = self.path.with_name(f"{self.path.name}.restored")
        copy_to(database.writer, copy)
        with self._lock:
            self._let_go()
            for ending in LOG_ENDINGS:
                Path(f"{self.path}{ending}").unlink(missing_ok=True)
            copy.replace(self.path)
            self._database = self._connected()
        _logger.warning("the database was deleted; it was written anew from the open one")
