"""Layouts change in numbered steps, all or nothing, with a copy of what was before."""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
import stat
from typing import TYPE_CHECKING

import pytest

from paceline.storage import salvage
from paceline.storage.archive import Archive
from paceline.storage.database import MIGRATIONS, copies, has_layout, migrate, user_version
from paceline.storage.problems import NewerSchemaError
from storage.before_settings import OldReply, write
from storage.chats import chat

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


ADD_COLOUR = "ALTER TABLE conversations ADD COLUMN colour TEXT"
BREAK_OFF = "DROP TABLE messages;\nSELECT * FROM no_such_table"


@pytest.fixture
def connection(db: Path) -> Iterator[sqlite3.Connection]:
    archive = Archive(db)
    archive.open()
    archive.save(chat("c", "question"), ["c-0"])
    archive.close()
    with contextlib.closing(sqlite3.connect(db, isolation_level=None)) as made:
        yield made


def titles(connection: sqlite3.Connection) -> list[tuple[str]]:
    return connection.execute("SELECT title FROM conversations").fetchall()


def test_a_published_step_stays_as_it_is() -> None:
    digests = [hashlib.sha256(step.encode()).hexdigest()[:16] for step in MIGRATIONS]
    assert digests == ["e43b7e5b7ac9c876", "1d0a6778f5710eb7", "c61875997d9eaa42"]


def test_the_newest_layout_is_left_alone(connection: sqlite3.Connection, db: Path) -> None:
    assert user_version(connection) == len(MIGRATIONS)
    assert migrate(connection, db) is None
    assert copies(db) == []


def test_a_step_is_taken_behind_a_copy(connection: sqlite3.Connection, db: Path) -> None:
    copy = migrate(connection, db, [*MIGRATIONS, ADD_COLOUR])
    assert copy is not None
    assert copies(db) == [copy]
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert user_version(connection) == len(MIGRATIONS) + 1
    assert connection.execute("SELECT colour FROM conversations").fetchall() == [(None,)]
    with contextlib.closing(sqlite3.connect(copy)) as before:
        assert titles(before) == titles(connection) == [("question",)]
        assert user_version(before) == len(MIGRATIONS)


def test_a_step_that_fails_changes_nothing(connection: sqlite3.Connection, db: Path) -> None:
    with pytest.raises(sqlite3.OperationalError):
        migrate(connection, db, [*MIGRATIONS, ADD_COLOUR, BREAK_OFF])
    assert user_version(connection) == len(MIGRATIONS) + 1
    assert connection.execute("SELECT count(*) FROM messages").fetchone() == (1,)


def test_an_old_database_has_its_layout_where_a_new_one_has_it(db: Path, tmp_path: Path) -> None:
    chats = {f"c{i}": [OldReply("question " * 50, "answer " * 200)] for i in range(200)}
    db.parent.mkdir(exist_ok=True)
    write(db, chats, {})
    for path in (db, tmp_path / "new.db"):
        archive = Archive(path)
        archive.open()
        archive.close()
    # Salvaging gives a file whose beginning is broken that of a new one, page for page.
    first, new = (path.read_bytes()[:4096] for path in (db, tmp_path / "new.db"))
    assert salvage._children(first) == salvage._children(new)
    with contextlib.closing(sqlite3.connect(db)) as connection:
        assert has_layout(connection)
        assert user_version(connection) == len(MIGRATIONS)


def test_a_later_layout_is_refused(connection: sqlite3.Connection, db: Path) -> None:
    with pytest.raises(NewerSchemaError):
        migrate(connection, db, [])
