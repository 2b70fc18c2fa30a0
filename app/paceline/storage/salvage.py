"""A damaged database: a copy is put aside, and what can be read becomes a new one.

SQLite stops at the first broken page of a table; the rows after it are found by asking for higher
keys. Indexes are not used, the search index is built again. Nothing is deleted: the copy holds
everything that the damaged file held.
"""

from __future__ import annotations

import contextlib
import logging
import shutil
import sqlite3
import struct
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from paceline.conversation import title_of
from paceline.storage import search
from paceline.storage.conversations import read_attachments
from paceline.storage.database import (
    LOG_ENDINGS,
    MIGRATIONS,
    Database,
    create_private,
    migrate,
    transaction,
)

_TABLES = {  # the first column counts the rows; the kinds are those of the columns
    "conversations": (
        "key, id, title, created_s, changed_s, pinned, tags, leaf_id, reply_id, is_removed,"
        " strategy, tokens_per_s, acceptance_rate",
        "ittrritotitRR",
    ),
    "messages": (
        "key, conversation, id, parent_id, role, content, created_s, attachments",
        "iitottro",
    ),
    "runs": ("message, status, record", "itb"),
    "steps": ("message, data", "ib"),
    "checkpoints": ("rowid, message, number, text, steps", "iiitb"),
    "unsent": ("rowid, conversation_id, text", "itt"),
    "places": ("rowid, conversation_id, message_id, offset_px", "itti"),
}
_LAST_KEY = 2**48
_MOST_ATTEMPTS = 2000
_PAGE = 4096
_BEGINNING = b"SQLite format 3\0" + struct.pack(">H6B", _PAGE, 2, 2, 0, 64, 32, 32)

_logger = logging.getLogger(__name__)


def mark(path: Path) -> None:
    """Have a database salvaged at the next start."""
    with contextlib.suppress(OSError):
        create_private(_mark_of(path))


def is_marked(path: Path) -> bool:
    """Whether damage was noticed since the database was opened last."""
    return _mark_of(path).exists()


def salvage(path: Path) -> str:
    """Replace a damaged database by what can be read of it.

    Args:
        path: The database; this program does not have it open.

    Returns:
        What was found, in a sentence or two.

    Raises:
        OSError: There is no room for the copy or the new file; everything is as before.
        sqlite3.Error: The same.
    """
    copy = _put_aside(path)
    new = path.with_name(f"{path.name}.salvaged")
    _delete(new)
    database = Database(new)
    try:
        migrate(database.writer, new)
        _mend_header(path)
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as damaged:
            damaged.text_factory = lambda data: data.decode(errors="replace")
            damaged.execute("PRAGMA writable_schema = ON")  # also reads a file that was cut
            with transaction(database.writer):
                counts = {table: _take_over(damaged, database.writer, table) for table in _TABLES}
                _adopt(database.writer)
                _index(database.writer)
        database.checkpoint(always=True)
    finally:
        database.close()
    for ending in LOG_ENDINGS:  # they belong to the damaged file, whose copy has them
        Path(f"{path}{ending}").unlink(missing_ok=True)
    new.replace(path)
    _mark_of(path).unlink(missing_ok=True)
    _logger.warning("a damaged database was salvaged: %s", counts)
    return (
        f"The file {path} with the chats was damaged. {counts['conversations']} chats with"
        f" {counts['messages']} messages could be read and are here. The damaged file was kept as"
        f" {copy.name}."
    )


def _mark_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.is-damaged")


def _put_aside(path: Path) -> Path:
    """Copy the database and its log under free names."""
    names = (path.with_name(f"{path.name}.damaged-{number}") for number in range(1, 1000))
    copy = next(name for name in names if not name.exists())
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


def _mend_header(path: Path) -> None:
    """Give a file whose first bytes are broken the bytes that all our databases begin with.

    They are fixed (sqlite.org/fileformat2.html, section 1.3): pages of 4096 bytes, a write-ahead
    log, UTF-8. The number of pages is that of the file, and no page is marked as free.
    """
    n_pages = path.stat().st_size // _PAGE
    with path.open("r+b") as file:
        if file.read(len(_BEGINNING)) == _BEGINNING:
            return
        file.seek(0)
        file.write(_BEGINNING + struct.pack(">4I", 1, n_pages, 0, 0))
        file.write(struct.pack(">8I", 1, 4, 0, 0, 1, len(MIGRATIONS), 0, 0))


def _delete(path: Path) -> None:
    for ending in ("", *LOG_ENDINGS):
        Path(f"{path}{ending}").unlink(missing_ok=True)


def _take_over(damaged: sqlite3.Connection, new: sqlite3.Connection, table: str) -> int:
    columns, kinds = _TABLES[table]
    places = ", ".join("?" * len(kinds))
    n = 0
    for row in _rows(damaged, table, columns):
        values = [_fixed(value, kind) for value, kind in zip(row, kinds, strict=True)]
        with contextlib.suppress(sqlite3.IntegrityError):  # the same id twice
            new.execute(f"INSERT INTO {table} ({columns}) VALUES ({places})", values)
            n += 1
    return n


def _rows(connection: sqlite3.Connection, table: str, columns: str) -> Iterator[tuple[Any, ...]]:
    """Yield all rows of a table that can be read."""
    key = columns.split(",", maxsplit=1)[0]
    query = f"SELECT {columns} FROM {table} NOT INDEXED WHERE {key} > ? ORDER BY {key}"
    last = -1
    for _ in range(_MOST_ATTEMPTS):  # broken pages may lead in circles
        try:
            for row in connection.execute(query, (last,)):
                if not isinstance(row[0], int) or row[0] <= last:
                    raise sqlite3.DatabaseError("keys are out of order")
                yield row
                last = row[0]
        except sqlite3.DatabaseError:
            last = _behind_damage(connection, query, last)
        else:
            return
        if last > _LAST_KEY:
            return


def _behind_damage(connection: sqlite3.Connection, query: str, last: int) -> int:
    """Return the lowest key from which the table can be read again."""

    def can_be_read(key: int) -> bool:
        try:
            connection.execute(f"{query} LIMIT 1", (key,)).fetchone()
        except sqlite3.DatabaseError:
            return False
        return True

    low, high = last, last + 1
    while not can_be_read(high):
        if high > _LAST_KEY:
            return high
        low, high = high, high + 2 * (high - last)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if can_be_read(middle) else (middle, high)
    return high


def _fixed(value: Any, kind: str) -> Any:
    """Return a value of the column's kind; a broken one becomes empty."""
    match kind:
        case "i":
            return value if isinstance(value, int) else 0
        case "r":
            return float(value) if isinstance(value, (int, float)) else 0.0
        case "R":
            return float(value) if isinstance(value, (int, float)) else None
        case "b":
            return value if isinstance(value, bytes) else b""
        case "o":
            return value if isinstance(value, str) else None
        case _:
            return value if isinstance(value, str) else ""


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
    connection.execute("UPDATE messages SET role = 'user' WHERE role NOT IN ('user', 'assistant')")


def _index(connection: sqlite3.Connection) -> None:
    """Build the search index."""
    for key, title in connection.execute("SELECT key, title FROM conversations").fetchall():
        search.index(connection, -key, "", title)
    rows = connection.execute("SELECT key, content, attachments FROM messages")
    for key, content, files in rows:
        search.index(connection, key, "", search.with_names(content, read_attachments(files)))
