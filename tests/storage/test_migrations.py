"""Layouts change in numbered steps, all or nothing, with a copy of what was before."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import itertools
import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import pytest

from paceline.content import Part
from paceline.storage import database, writer
from paceline.storage.archive import Archive
from paceline.storage.database import MIGRATIONS, copies, has_layout, migrate, user_version
from paceline.storage.problems import NewerSchemaError
from storage.before_settings import OldReply, write
from storage.chats import Watched, chat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trials import Trials


HERE = Path(__file__).parent
APP = HERE.parents[1] / "app"
KINDS = {4: ("Text",), 5: ("Text",)}
"""The kinds of content that a database of each layout may hold."""
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
    assert digests == [
        "e43b7e5b7ac9c876",
        "1d0a6778f5710eb7",
        "c61875997d9eaa42",
        "fee46fe09546c15f",
        "099da586366e12aa",
    ]


def test_every_step_changes_what_a_database_looks_like() -> None:
    """Otherwise the version before takes the database for its own with a broken number."""
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        looks = []
        for step in MIGRATIONS:
            connection.executescript(step)
            looks.append(connection.execute("SELECT sql FROM sqlite_master").fetchall())
    assert all(one != next_one for one, next_one in itertools.pairwise(looks))


def test_another_kind_of_content_has_another_layout() -> None:
    """Otherwise an earlier version would open it, and keep only its text."""
    kinds = tuple(kind.__name__ for kind in get_args(Part) or (Part,))
    assert KINDS[len(MIGRATIONS)] == kinds


def test_a_step_is_taken_after_a_copy(connection: sqlite3.Connection, db: Path) -> None:
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


def test_an_old_database_has_its_layout_where_a_new_one_has_it(
    db: Path, allow_warnings: Callable[[str], None]
) -> None:
    allow_warnings("was salvaged")
    db.parent.mkdir()
    write(db, CHATS, {})
    archive = Archive(db)
    archive.open()
    assert archive.close()
    with contextlib.closing(sqlite3.connect(db)) as connection:
        assert has_layout(connection)
        assert user_version(connection) == len(MIGRATIONS)
    with db.open("r+b") as file:
        file.write(bytes(4096))
    archive = Archive(db)
    assert archive.open().salvaged, "a beginning that is lost is taken from a new database"
    check_read(archive)
    assert archive.close()


@pytest.fixture(params=[1, len(MIGRATIONS) - 1])
def old(request: pytest.FixtureRequest, db: Path) -> Old:
    """A database of an earlier layout, with 200 questions and replies."""
    db.parent.mkdir()
    write(db, CHATS, {}, request.param)
    return Old(db, request.param)


class Old(NamedTuple):
    path: Path
    layout: int


CHATS = {f"c{i}": [OldReply(f"question {i}", f"answer {i} " * 200)] for i in range(200)}
TEXTS = sorted(text for (reply,) in CHATS.values() for text in (reply.question, reply.answer))


def check_old(path: Path, layout: int) -> None:
    """Look for all that a database of an earlier layout has, without the program."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert user_version(connection) == layout
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        found = [text for (text,) in connection.execute("SELECT content FROM messages")]
    assert sorted(found) == TEXTS


def check_read(archive: Archive) -> None:
    """Look for all that it has, with the program."""
    chats = [archive.load(summary.conversation_id) for summary in archive.summaries()]
    assert sorted(m.text for chat in chats for m in chat.messages.values()) == TEXTS
    assert all(len(m.content) == 1 for chat in chats for m in chat.messages.values())
    assert [hit.message_id for hit in archive.search("question 77") if hit.message_id] == ["c77-q0"]


@pytest.mark.parametrize("old", range(1, len(MIGRATIONS)), indirect=True)
def test_chats_of_every_version_before_are_here_and_in_a_copy(old: Old) -> None:
    archive = Archive(old.path)
    assert archive.open().notes == ()
    assert archive.problem is None
    check_read(archive)
    assert archive.close()
    (copy,) = copies(old.path)
    assert copy.name == f"chats.db.before-layout-{old.layout + 1}"
    check_old(copy, old.layout)


def test_without_room_for_a_copy_chats_are_read_and_the_layout_stays(
    old: Old, monkeypatch: pytest.MonkeyPatch, allow_warnings: Callable[[str], None]
) -> None:
    allow_warnings("chats are not written")
    monkeypatch.setattr(writer, "RETRY_S", 0.05)
    n_free = old.path.stat().st_size
    monkeypatch.setattr(shutil, "disk_usage", lambda _folder: SimpleNamespace(free=n_free))
    watched = Watched(old.path)
    watched.archive.open()
    problem = watched.archive.problem
    assert problem is not None
    assert problem.code == "no-room-for-copy"
    assert str(old.path) in problem.message
    assert "free on that disk" in problem.hint
    check_read(watched.archive)
    watched.archive.save(chat("new", "A new one"), ["new-0"])
    assert watched.archive.load("new").messages["new-0"].text == "A new one"
    assert copies(old.path) == []
    check_old(old.path, old.layout)
    n_free = 2**30
    watched.wait_for("")
    assert watched.archive.flush()
    assert watched.archive.load("new").messages["new-0"].text == "A new one"
    assert watched.archive.close()
    (copy,) = copies(old.path)
    check_old(copy, old.layout)


def test_a_copy_that_cannot_be_written_leaves_nothing(
    old: Old, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks_off(_connection: sqlite3.Connection, path: Path) -> None:
        path.write_bytes(b"half")
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(database, "copy_to", breaks_off)
    with (
        contextlib.closing(sqlite3.connect(old.path, isolation_level=None)) as connection,
        pytest.raises(OSError, match="Input/output"),
    ):
        migrate(connection, old.path)
    assert copies(old.path) == []
    check_old(old.path, old.layout)


def test_of_two_programs_one_makes_the_copy(old: Old) -> None:
    class Overtaken(sqlite3.Connection):
        """Another program migrates between its look at the layout and its first step."""

        is_first = True

        def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
            if sql == "BEGIN IMMEDIATE" and self.is_first:
                self.is_first = False
                with contextlib.closing(sqlite3.connect(old.path, isolation_level=None)) as other:
                    assert migrate(other, old.path) is not None
            return super().execute(sql, *values)

    with contextlib.closing(
        sqlite3.connect(old.path, isolation_level=None, factory=Overtaken)
    ) as connection:
        assert migrate(connection, old.path) is None
        assert user_version(connection) == len(MIGRATIONS)
    (copy,) = copies(old.path)
    check_old(copy, old.layout)


def test_killed_at_any_moment_of_a_migration(db: Path, trials: Trials) -> None:
    layout = len(MIGRATIONS) - 1
    db.parent.mkdir()
    outcomes = set()
    for trial in trials(8, 41):  # far apart first, and in the end each of them
        for path in db.parent.iterdir():
            path.unlink()
        write(db, CHATS, {}, layout)
        ended = subprocess.run(
            [sys.executable, HERE / "migrating.py", db, str(4 * trial % 41)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(APP), str(HERE.parent)])},
            check=False,
        )
        with contextlib.closing(sqlite3.connect(db)) as connection:
            version = user_version(connection)
        outcomes.add((ended.returncode, version))
        check_old(db, version)  # what it has is the same in both layouts
        for copy in copies(db):
            if copy.suffix != ".part":
                check_old(copy, layout)
        archive = Archive(db)
        archive.open()
        assert archive.problem is None
        check_read(archive)
        assert archive.close()
        (copy,) = copies(db)
        check_old(copy, layout)
    assert (-signal.SIGKILL, layout) in outcomes
    assert outcomes <= {(-signal.SIGKILL, layout), (-signal.SIGKILL, layout + 1), (0, layout + 1)}


def test_a_later_layout_is_refused(connection: sqlite3.Connection, db: Path) -> None:
    with pytest.raises(NewerSchemaError):
        migrate(connection, db, [])
