"""An archive beside the contract of stores: when it writes, other programs, damage, old files."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import stat
import time
import zlib
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from paceline.content import Text, of_text
from paceline.conversation import Message
from paceline.params import ReplySettings
from paceline.run_record import RunRecord
from paceline.storage import archive as archives
from paceline.storage import salvage, writer
from paceline.storage.archive import Archive
from paceline.storage.tables import packed
from storage.chats import as_of_old, chat, record, steps

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def _noted(allow_warnings: Callable[[str], None]) -> None:
    allow_warnings("chats are not written")
    allow_warnings("could not be stored")


def test_parts_are_salvaged_with_their_message(
    db: Path, open_archive: Callable[[], Archive], allow_warnings: Callable[[str], None]
) -> None:
    allow_warnings("was salvaged")
    made = chat("c", "question", "").with_content("c-1", (Text("ans"), Text("wer")))
    archive = open_archive()
    archive.save(made, ["c-0", "c-1"])
    assert archive.close()
    salvage.mark(db)
    again = Archive(db)
    assert again.open().salvaged
    assert again.load("c") == made
    assert again.close()


@pytest.mark.parametrize("broken", ["[", "{}", "[5]", '[{"type": "Smell"}]', "[]", b"\xff", 5])
def test_where_parts_are_broken_the_text_is_left(
    broken: object, db: Path, open_archive: Callable[[], Archive]
) -> None:
    archive = open_archive()
    made = chat("c", "question").with_content("c-0", (Text("que"), Text("stion")))
    archive.save(made, ["c-0"])
    assert archive.flush()
    assert archive.load("c") == made
    with contextlib.closing(sqlite3.connect(db, isolation_level=None)) as other:
        other.execute("UPDATE messages SET parts = ?", (broken,))
    assert archive.load("c") == made.with_content("c-0", of_text("que\n\nstion"))
    assert [hit.message_id for hit in archive.search("stion") if hit.message_id] == ["c-0"]


def test_what_was_sent_or_finished_is_on_the_disk_at_once(
    open_archive: Callable[[], Archive], db: Path
) -> None:
    archive = open_archive()
    made = chat("c", "question")
    with contextlib.closing(sqlite3.connect(db)) as other:
        texts = "SELECT content FROM messages ORDER BY key"
        archive.save(made.add(Message.of_text("c-1", "c-0", "assistant", "")), ["c-0", "c-1"])
        assert other.execute(texts).fetchall() == [("question",), ("",)]
        archive.begin_run("c", RunRecord("c-1"))
        archive.end_run("c", record("c-1", "ans", "wer"), of_text("answer"))
        assert other.execute(texts).fetchall() == [("question",), ("answer",)]
        archive.save(chat("d", "alone"), ["d-0"])
        assert ("alone",) in other.execute(texts).fetchall()


def test_the_waits_of_reads_do_not_add_up(
    open_archive: Callable[[], Archive], monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s = time.monotonic() + 60.0

    def wait(_writer: writer.Writer, within_s: float) -> bool:
        nonlocal now_s
        now_s += max(within_s, 0.0)
        return True

    archive = open_archive()
    monkeypatch.setattr(archives, "time", SimpleNamespace(monotonic=lambda: now_s))
    monkeypatch.setattr(writer.Writer, "wait_written", wait)
    for _ in range(3):
        began_s = now_s
        for _ in range(20):
            archive.summaries()
        assert now_s - began_s == pytest.approx(archives.MAX_READ_WAIT_S, rel=0.2)
        now_s += 2.0
    archive.end_run("c", record("c-1"), of_text(""))
    began_s = now_s
    archive.summaries()
    assert now_s == began_s, "nor to that of a reply that ended"
    monkeypatch.undo()


def test_what_was_kept_before_plain_decoding_had_an_interval_is_kept_still(
    open_archive: Callable[[], Archive], db: Path
) -> None:
    archive = open_archive()
    made = chat("c", "Question", "One two")
    archive.save(made, list(made.messages))
    now = record("c-1", "One", " two")
    archive.end_run("c", now, of_text("One two"))
    archive.close()
    with contextlib.closing(sqlite3.connect(db)) as connection:
        (row,) = connection.execute("SELECT record FROM runs")
        data = as_of_old(json.loads(zlib.decompress(row[0])))
        connection.execute("UPDATE runs SET record = ?", (packed(data),))
        connection.execute("UPDATE conversations SET plain_tokens_per_s = 14.5")
        connection.commit()
    archive = open_archive()
    found = archive.runs("c")["c-1"]
    assert found.stats is not None
    assert now.stats is not None
    assert (found.stats.tokens_per_s, found.stats.speedup) == (30.0, None)
    assert replace(found, stats=now.stats, steps=now.steps) == now
    assert archive.steps("c-1") == now.steps


def test_what_was_hidden_is_said_at_the_next_start(open_archive: Callable[[], Archive]) -> None:
    archive = open_archive()
    for key in "ab":
        archive.save(chat(key, "question"), [f"{key}-0"])
        archive.remove(key)
    archive.close()
    again = open_archive()
    assert set(again.removed()) == {"a", "b"}
    again.restore("a")
    assert again.removed() == ("b",)


def test_a_private_chat_is_not_kept(open_archive: Callable[[], Archive]) -> None:
    archive = open_archive()
    made = replace(chat("c", "secret"), private=True)
    archive.save(made, list(made.messages))
    archive.begin_run("c", RunRecord("c-0"))
    archive.flush()
    assert archive.summaries() == archive.search("secret") == ()


def test_only_the_owner_can_read_the_files(open_archive: Callable[[], Archive], db: Path) -> None:
    archive = open_archive()
    assert list(db.parent.parent.iterdir()) == [db.parent]
    archive.save(chat("c", "x"), ["c-0"])
    archive.flush()
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in db.parent.iterdir()}
    assert modes == dict.fromkeys(["chats.db", "chats.db-wal", "chats.db-shm"], 0o600)
    assert stat.S_IMODE(db.parent.stat().st_mode) == 0o700
    archive.close()
    db.chmod(0o644)
    open_archive().close()
    assert stat.S_IMODE(db.stat().st_mode) == 0o600


def test_two_programs_write_to_one_database(open_archive: Callable[[], Archive]) -> None:
    both = open_archive(), open_archive()
    for i in range(40):
        for name, archive in zip("ab", both, strict=True):
            made = chat(f"{name}{i}", f"question {i}", "answer")
            archive.save(made, list(made.messages))
            archive.end_run(f"{name}{i}", record(f"{name}{i}-1", "answer"), of_text("answer"))
    for archive in both:
        assert archive.flush(20)
    for archive in both:
        assert len(archive.summaries()) == 80
        assert len(archive.search("question", 100)) == 100


def test_what_is_set_in_a_chat_that_another_program_deleted_does_not_make_it_again(
    open_archive: Callable[[], Archive],
) -> None:
    mine, other = open_archive(), open_archive()
    made = chat("a", "question", "answer")
    mine.save(made, list(made.messages))
    assert mine.flush(20)
    other.purge("a")
    assert other.flush(20)
    mine.save(replace(made, settings=ReplySettings(seed=9)))
    assert mine.flush(20)
    assert other.summaries() == ()
    mine.save(made, list(made.messages))
    assert mine.flush(20)
    assert len(other.summaries()) == 1, "with messages it is kept"


@pytest.mark.usefixtures("_noted")
def test_what_is_deleted_while_a_disk_fails_is_in_no_file(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.write_text("a file where the folder should be")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tempfile.tempdir", str(tmp_path))
        archive = Archive(folder / "chats.db")
        archive.open()
        for key in ("kept", "gone"):
            made = chat(key, "question", "", "secret question", "", title="title")
            archive.save(made, list(made.messages))
            archive.begin_run(key, RunRecord(f"{key}-3"))
            archive.extend_run(key, f"{key}-3", "secret pi", steps(["secret pi"]))
            archive.end_run(key, record(f"{key}-3", "secret answer"), of_text("secret answer"))
            archive.extend_run(key, f"{key}-1", "first half", steps(["first half"]))
            archive.end_run(key, record(f"{key}-1", "the whole"), of_text("the whole"))
            archive.save_unsent(key, "secret draft")
            left = replace(made, leaf_id="kept-1")
            archive.save(left, (), [f"{key}-2", f"{key}-3"])
        archive.save_unsent("kept", "")
        archive.remove("gone")
        archive.purge("gone")
        assert not archive.close()
        (rescued,) = tmp_path.glob("*.json")
    text = rescued.read_text()
    assert "question" in text
    assert "the whole" in text
    assert "secret" not in text
    assert "first half" not in text, "what ended waits once"
