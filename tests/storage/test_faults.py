"""A disk that is full, shut, locked, gone or broken: said in words, and nothing is lost."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from paceline.content import of_text
from paceline.run_record import INTERRUPTED, RunRecord
from paceline.storage import database, writer
from paceline.storage.archive import Archive
from paceline.storage.database import MIGRATIONS
from paceline.storage.problems import Opened
from storage.chats import Watched, chat, record, steps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


N_TEXT = 300_000


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch, allow_warnings: Callable[[str], None]) -> None:
    monkeypatch.setattr(writer, "RETRY_S", 0.05)
    allow_warnings("chats are not written")
    allow_warnings("could not be stored")


def test_an_empty_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "chats.db"
    for content, n_notes in ((None, 0), (b"", 1), (None, 0)):
        if content is not None:
            path.unlink()
            path.write_bytes(content)
        archive = Archive(path)
        opened = archive.open()
        assert len(opened.notes) == n_notes
        assert all(str(path) in note and "empty" in note for note in opened.notes)
        assert not opened.salvaged
        made = chat("c", "question", "", "more")
        archive.save(made, list(made.messages))
        assert archive.close()


def filled(path: Path, n: int = 30) -> None:
    """A database of n chats with replies."""
    archive = Archive(path)
    archive.open()
    for i in range(n):
        made = chat(f"c{i}", f"question {i}", "", "more")
        archive.save(made, list(made.messages))
        archive.end_run(
            f"c{i}", record(f"c{i}-1", "answer ", "word " * 200), of_text("answer " + "word " * 200)
        )
    assert archive.close()


def say(archive: Archive, key: str, text: str = "new") -> None:
    made = chat(key, text)
    archive.save(made, list(made.messages))


def listed(archive: Archive) -> set[str]:
    return {summary.conversation_id for summary in archive.summaries()}


def reopened(path: Path) -> set[str]:
    archive = Archive(path)
    archive.open()
    try:
        for key in listed(archive):
            assert archive.load(key).messages
        return listed(archive)
    finally:
        assert archive.close()


def fill_up(folder: Path) -> None:
    with contextlib.suppress(OSError), (folder / "rest").open("wb", buffering=0) as rest:
        while True:
            rest.write(b"x" * 4096)


def test_a_full_disk_is_reported_and_written_to_when_there_is_room(small_disk: Path) -> None:
    path = small_disk / "data" / "chats.db"
    watched = Watched(path)
    watched.archive.open()
    say(watched.archive, "before")
    assert watched.archive.flush()
    fill_up(small_disk)
    for i in range(20):
        say(watched.archive, f"c{i}", "text " * 2000)
    watched.wait_for("disk-full")
    assert watched.archive.problem is not None
    assert "no space" in watched.archive.problem.message
    assert watched.archive.problem.hint
    assert not watched.archive.flush(0.2)
    assert listed(watched.archive) == {"before", *(f"c{i}" for i in range(20))}
    assert watched.archive.load("c7").messages["c7-0"].text == "text " * 2000
    assert len(watched.archive.search("text")) == 40
    (small_disk / "rest").unlink()
    watched.wait_for("")
    assert watched.archive.flush()
    assert watched.archive.problem is None
    assert watched.archive.close()
    assert len(reopened(path)) == 21


def test_what_a_full_disk_never_took_is_there_at_the_next_start(
    small_disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "temporary"
    elsewhere.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(elsewhere))
    path = small_disk / "data" / "chats.db"
    watched = Watched(path)
    watched.archive.open()
    say(watched.archive, "before")
    assert watched.archive.flush()
    fill_up(small_disk)
    made = chat("c", "question", "")
    watched.archive.save(made, list(made.messages))
    watched.archive.begin_run("c", RunRecord("c-1"))
    watched.archive.extend_run("c", "c-1", "half an ", steps(["half an "]))
    watched.archive.extend_run("c", "c-1", "answer", steps(["answer"]))
    say(watched.archive, "long", "x" * N_TEXT)
    watched.wait_for("disk-full")
    assert not watched.archive.close()
    (rescued,) = elsewhere.iterdir()
    assert stat.S_IMODE(rescued.stat().st_mode) == 0o600
    (small_disk / "rest").unlink()
    again = Archive(path)
    again.open()
    assert listed(again) == {"before", "c", "long"}
    assert again.load("c").messages["c-1"].text == "half an answer"
    assert again.runs("c")["c-1"].error == INTERRUPTED
    assert len(again.steps("c-1")) == 2
    assert again.flush()
    assert again.close()
    assert list(elsewhere.iterdir()) == []
    assert reopened(path) == {"before", "c", "long"}


def test_locked_by_another_program(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert database.LOCK_WAIT_S == 5
    monkeypatch.setattr(database, "LOCK_WAIT_S", 1.0)
    filled(db, 2)
    watched = Watched(db)
    watched.archive.open()
    other = sqlite3.connect(db, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    began = time.monotonic()
    say(watched.archive, "new")
    assert listed(watched.archive) == {"c0", "c1", "new"}
    watched.wait_for("chats-locked")
    assert time.monotonic() - began > 0.9
    assert watched.archive.problem is not None
    assert "Another program" in watched.archive.problem.message
    other.execute("ROLLBACK")
    other.close()
    watched.wait_for("")
    assert watched.archive.close()
    assert reopened(db) == {"c0", "c1", "new"}


def test_closing_does_not_wait_for_another_program(db: Path) -> None:
    filled(db, 1)
    watched = Watched(db)
    watched.archive.open()
    with contextlib.closing(sqlite3.connect(db, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        say(watched.archive, "new")
        began = time.monotonic()
        assert not watched.archive.close()
        assert time.monotonic() - began < 4
    assert reopened(db) == {"c0", "new"}


@pytest.mark.parametrize("n_new", [0, 1])
def test_locked_at_the_start(db: Path, n_new: int) -> None:
    filled(db, 2)
    with contextlib.closing(sqlite3.connect(db, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        watched = Watched(db)
        assert watched.archive.open() == Opened(), "it is a problem, which goes: no note"
        assert watched.archive.problem is not None
        assert "locked" in watched.archive.problem.message
        for _ in range(n_new):
            say(watched.archive, "new")
        assert len(listed(watched.archive)) == n_new
        time.sleep(0.1)
        assert watched.codes == ["chats-locked"]
    watched.wait_for("")
    assert listed(watched.archive) == {"c0", "c1", *["new"][:n_new]}
    assert watched.archive.close()


READ_ONLY = """
import os, sys
from pathlib import Path
sys.path[:0] = sys.argv[3:]
from paceline.storage.archive import Archive
from storage.chats import Watched, chat
os.setuid(65534)
path, shut = Path(sys.argv[1]), sys.argv[2]
watched = Watched(path)
watched.archive.open()
if shut == "all":
    print(watched.archive.problem.code, watched.archive.summaries())
    path.parent.chmod(0o500)
watched.archive.save(chat("new", "text"), ["new-0"])
watched.wait_for("chats-read-only", 60)
print(watched.archive.problem.code, sorted(s.conversation_id for s in watched.archive.summaries()))
print(watched.archive.load("c1").messages["c1-0"].text)
print(watched.archive.close(), file=sys.stdout)
"""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that another user can reach; every start of pytest closes those of all others."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="needs another user")
@pytest.mark.parametrize(("shut", "mode"), [("folder", 0o500), ("file", 0o700), ("all", 0)])
def test_read_only(open_folder: Path, shut: str, mode: int) -> None:
    path = open_folder / "data" / "chats.db"
    filled(path, 2)
    os.chown(path.parent, 65534, 65534)
    os.chown(path, 65534, 65534)
    path.chmod(0o400)
    path.parent.chmod(mode)
    temporary = open_folder / "temporary"
    temporary.mkdir()
    os.chown(temporary, 65534, 65534)
    here = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", READ_ONLY, str(path), shut, str(here / "app"), str(here / "tests")],
        env={**os.environ, "TMPDIR": str(temporary)},
        capture_output=True, text=True, timeout=180, check=False,
    )  # fmt: skip
    if "Permission" in done.stderr and "site-packages" in done.stderr:
        pytest.skip("another user cannot run Python here")
    assert done.stdout.splitlines() == [
        *(["chats-not-opened ()"] if shut == "all" else []),
        "chats-read-only ['c0', 'c1', 'new']",
        "question 1",
        "False",
    ], done.stderr
    beside = [p for p in path.parent.iterdir() if p.suffix == ".json"]
    assert len([*beside, *temporary.iterdir()]) == 1
    for rescued in beside:
        os.chown(rescued, os.getuid(), os.getgid())
    os.chown(path, os.getuid(), os.getgid())
    path.parent.chmod(0o700)
    path.chmod(0o600)
    assert reopened(path) == {"c0", "c1", *(["new"] if beside else [])}


def test_a_newer_database_is_not_touched(db: Path) -> None:
    filled(db, 2)
    with contextlib.closing(sqlite3.connect(db)) as other:
        other.execute("CREATE TABLE later (x)")
        other.execute("PRAGMA user_version = 999")
    before = db.read_bytes()
    watched = Watched(db)
    assert not watched.archive.open().notes
    assert watched.archive.problem is not None
    assert "newer version" in watched.archive.problem.message
    assert "kept in memory" in watched.archive.problem.hint
    say(watched.archive, "new")
    assert listed(watched.archive) == {"new"}
    assert [hit.conversation_id for hit in watched.archive.search("new")] == ["new", "new"]
    assert watched.codes == ["chats-newer"]
    assert not watched.archive.close()
    assert db.read_bytes() == before
    with contextlib.closing(sqlite3.connect(db)) as other:
        other.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
    assert reopened(db) == {"c0", "c1", "new"}


@pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be deleted there")
@pytest.mark.parametrize("what", ["file", "all files", "folder"])
def test_deleted_while_it_is_open(
    db: Path, what: str, allow_warnings: Callable[[str], None]
) -> None:
    allow_warnings("was deleted")
    filled(db, 3)
    watched = Watched(db)
    watched.archive.open()
    say(watched.archive, "a")
    assert watched.archive.flush()
    if what == "folder":
        shutil.rmtree(db.parent)
    else:
        for path in [db] if what == "file" else list(db.parent.iterdir()):
            path.unlink()
    say(watched.archive, "b")
    assert watched.archive.flush()
    assert watched.archive.close()
    assert reopened(db) == {"c0", "c1", "c2", "a", "b"}
    assert {stat.S_IMODE(path.stat().st_mode) for path in db.parent.iterdir()} == {0o600}


@pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be replaced there")
def test_replaced_while_it_is_open(db: Path, tmp_path: Path) -> None:
    filled(db, 3)
    filled(tmp_path / "other.db", 1)
    watched = Watched(db)
    watched.archive.open()
    (tmp_path / "other.db").replace(db)
    say(watched.archive, "b")
    watched.wait_for("chats-moved")
    assert listed(watched.archive) == {"c0", "c1", "c2", "b"}
    assert not watched.archive.close()
    assert reopened(db) == {"c0", "b"}
