"""Repair of a damaged database: a copy is put aside, and the readable rows become a new one.

SQLite stops at the first broken page of a table; the rows after it are found by asking for higher
keys. Indexes are not used, the search index is built again. Nothing is deleted: the copy holds
everything that the damaged file held.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import shutil
import sqlite3
import struct
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from paceline.conversation import title_of
from paceline.files import first_free
from paceline.sentence import sentence
from paceline.storage import search
from paceline.storage.database import (
    LOG_ENDINGS,
    Database,
    create_private,
    has_layout,
    migrate,
    readable_text,
    transaction,
)
from paceline.storage.problems import BROKEN, is_about_content
from paceline.storage.tables import TABLES, insert_into, read_as, read_attachments

_OTHERS: tuple[Callable[[], dict[str, str | None]], ...] = (
    dict,
    lambda: {"key": None},
    lambda: {"key": None, "id": uuid.uuid4().hex},
)
"""Replacements for a broken row's key or id."""
_MAX_ROWS = 10**8
_LAST_KEY = 2**48
_MAX_ATTEMPTS = 2000
_PAGE_BYTES = 4096

_logger = logging.getLogger(__name__)


def mark(path: Path) -> None:
    """Have a database salvaged at the next start."""
    with contextlib.suppress(OSError):
        create_private(_mark_of(path))


def is_marked(path: Path) -> bool:
    """Return whether damage was noticed since the database was opened last."""
    return _mark_of(path).exists()


def has_log(path: Path) -> bool:
    """Return whether a database has a log; SQLite deletes it beside an empty database."""
    log = Path(f"{path}{LOG_ENDINGS[0]}")
    return log.is_file() and log.stat().st_size > 0


def salvage(path: Path) -> str:
    """Replace a damaged database by what can be read of it.

    Args:
        path: The database; this program does not have it open.

    Returns:
        The findings, in a sentence or two.

    Raises:
        OSError: There is no room for the copy or the new file; everything is as before.
        sqlite3.Error: The same.
    """
    copy = _put_aside(path)
    new = path.with_name(f"{path.name}.salvaged")
    _delete(new)
    try:
        counts = _fill(new, path)
    except BaseException:
        _delete(copy)
        raise
    for ending in LOG_ENDINGS:  # they belong to the damaged file, whose copy has them
        Path(f"{path}{ending}").unlink(missing_ok=True)
    new.replace(path)
    _mark_of(path).unlink(missing_ok=True)
    _logger.warning("a damaged database was salvaged: %s", counts)
    return sentence(
        "The file {path} with the chats was damaged. {n_chats} chats with {n_messages} messages "
        "could be read and are here. The damaged file was kept as {copy}.",
        path=path,
        n_chats=counts["conversations"],
        n_messages=counts["messages"],
        copy=copy.name,
    )


def _fill(new: Path, path: Path) -> dict[str, int]:
    """Make a new database from the readable rows; return the number of rows by table."""
    database = Database(new)
    try:
        migrate(database.writer, new)
        database.checkpoint(always=True)
        _mend_beginning(path, new)
        with (
            contextlib.closing(_reader(path)) as damaged,
            transaction(database.writer),
        ):
            counts = {table: _take_over(damaged, database.writer, table) for table in TABLES}
            _adopt(database.writer)
            _index(database.writer)
        database.checkpoint(always=True)
    finally:
        database.close()
    return counts


def _mark_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.is-damaged")


def _put_aside(path: Path) -> Path:
    """Copy the database and its log under free names."""
    copy = first_free(path.parent, f"{path.name}.damaged-")
    try:
        for ending in ("", *LOG_ENDINGS[:1]):
            source, target = Path(f"{path}{ending}"), Path(f"{copy}{ending}")
            if source.exists():
                create_private(target)
                shutil.copyfile(source, target)
    except OSError:
        _delete(copy)
        raise
    return copy


def _mend_beginning(path: Path, new: Path) -> None:
    """Give a file whose beginning is broken that of a new database: its header and the layout.

    The layout is the same in all our databases, since the same steps made it, page for page. Only
    the number of pages is the file's own, and no page is marked as free.
    """
    if path.stat().st_size >= _PAGE_BYTES and _can_be_opened(path):  # SQLite would delete its log
        return
    whole = new.read_bytes()
    page = bytearray(whole[:_PAGE_BYTES])
    n_pages = max(path.stat().st_size // _PAGE_BYTES, 1, *_children(page))
    page[24:40] = struct.pack(">4I", 1, n_pages, 0, 0)
    page[92:96] = page[24:28]  # the number of pages holds
    with path.open("r+b") as file:
        file.write(page)
        for number in _children(page):
            file.seek((number - 1) * _PAGE_BYTES)
            file.write(whole[(number - 1) * _PAGE_BYTES : number * _PAGE_BYTES])


def _can_be_opened(path: Path) -> bool:
    """Return whether a database can be opened and has its tables where a new one has them."""
    try:
        with contextlib.closing(_reader(path)) as connection:
            return has_layout(connection)
    except BROKEN as error:
        if not is_about_content(error):
            raise
        return False


def _children(page: bytes | bytearray) -> list[int]:
    """Return the pages below the first one (sqlite.org/fileformat2.html, section 1.6)."""
    kind, n_cells, last = struct.unpack_from(">BxxHxxxI", page, 100)
    if kind != 5:  # not an interior page
        return []
    cells = struct.unpack_from(f">{n_cells}H", page, 112)
    return [last, *(struct.unpack_from(">I", page, cell)[0] for cell in cells)]


def _reader(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.text_factory = readable_text
    connection.execute("PRAGMA writable_schema = ON")  # also reads a file that was cut
    return connection


def _delete(path: Path) -> None:
    for ending in ("", *LOG_ENDINGS):
        Path(f"{path}{ending}").unlink(missing_ok=True)


def _take_over(damaged: sqlite3.Connection, new: sqlite3.Connection, table: str) -> int:
    there = {name for _, name, *_ in damaged.execute(f"PRAGMA table_info({table})")}
    # A database of an older layout lacks some; where SQLite does not know the table, all are asked.
    columns = [name for name in TABLES[table] if name in there or name == "rowid" or not there]
    statement = insert_into(table, columns)
    n = 0
    for row in _rows(damaged, table, columns):
        values = dict(zip(columns, row, strict=True))
        for other in _OTHERS if values.get("id") else _OTHERS[:1]:
            with contextlib.suppress(sqlite3.IntegrityError):
                new.execute(statement, [*{**values, **other()}.values()])
                n += 1
                break
    return n


def _rows(
    connection: sqlite3.Connection, table: str, columns: Sequence[str]
) -> Iterator[tuple[Any, ...]]:
    """Yield these columns, the first of which counts the rows, of all rows that can be read."""
    key = columns[0]
    query = (
        f"SELECT {read_as(table, columns)} FROM {table} NOT INDEXED WHERE {key} >= ? ORDER BY {key}"
    )
    first = 0
    for _ in range(_MAX_ATTEMPTS):  # broken pages may lead in circles
        try:
            for row in itertools.islice(connection.execute(query, (first,)), _MAX_ROWS):
                yield row
                first = max(first, row[0] + 1)  # not in order where a key is broken
        except BROKEN as error:
            if not is_about_content(error):
                raise
            with contextlib.suppress(*BROKEN):  # Python drops the row before an error
                for row in connection.execute(f"{query} LIMIT 1", (first,)):
                    yield row
                    first = max(first, row[0] + 1)
            first = _after_damage(connection, query, first)
        else:
            return
        if first > _LAST_KEY:
            return


def _after_damage(connection: sqlite3.Connection, query: str, first: int) -> int:
    """Return the lowest key from which the table can be read again."""

    def can_be_read(key: int) -> bool:
        try:
            connection.execute(f"{query} LIMIT 1", (key,)).fetchone()
        except BROKEN:
            return False
        return True

    low, high = first - 1, first
    while not can_be_read(high):
        if high > _LAST_KEY:
            return high
        low, high = high, high + 1 + (high - first) // 32  # so that nothing in between is skipped
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if can_be_read(middle) else (middle, high)
    return high


def _adopt(connection: sqlite3.Connection) -> None:
    """Give messages whose conversation was lost a new one, and drop what has no message."""
    lost = connection.execute(
        "SELECT conversation, min(key), max(created_s) FROM messages"
        " WHERE conversation NOT IN (SELECT key FROM conversations) GROUP BY conversation"
    ).fetchall()
    for key, first, changed_s in lost:
        (content,) = connection.execute(
            "SELECT content FROM messages WHERE key = ?", (first,)
        ).fetchone()
        connection.execute(
            "INSERT INTO conversations (key, id, title, created_s, changed_s, pinned, tags,"
            " reply_id, strategy) VALUES (?1, ?2, ?3, ?4, ?4, 0, '[]', '', '')",
            (key, uuid.uuid4().hex, title_of(content), changed_s),
        )
    for table in ("runs", "steps", "checkpoints"):
        connection.execute(f"DELETE FROM {table} WHERE message NOT IN (SELECT key FROM messages)")


def _index(connection: sqlite3.Connection) -> None:
    """Build the search index."""
    for key, title in connection.execute("SELECT key, title FROM conversations").fetchall():
        search.index(connection, -key, "", title)
    rows = connection.execute("SELECT key, content, attachments FROM messages")
    for key, content, files in rows:
        search.index(connection, key, "", search.with_names(content, read_attachments(files)))
