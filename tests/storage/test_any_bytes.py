"""A database of any bytes opens; intact texts are read, and new ones are kept."""

from __future__ import annotations

import contextlib
import random
import shutil
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from paceline.content import of_text
from paceline.storage import disk, search, writer
from paceline.storage.archive import Archive
from paceline.storage.problems import DamageError, Opened
from storage.chats import chat, record, steps
from storage.whole import N_CHATS, PAGE, Whole, made_whole, text_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from trials import Trials


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    return made_whole(tmp_path_factory.mktemp("whole") / "chats.db")


def read_all(archive: Archive) -> set[str]:
    """Read everything that a window ever reads; return the texts."""
    texts = set()
    for summary in archive.summaries():
        key = summary.conversation_id
        for message in archive.load(key).messages.values():
            texts.add(message.text)
        if key.endswith("7"):  # the slowest part
            for message_id, run in archive.runs(key).items():
                assert run.status
                archive.steps(message_id)
        archive.unsent(key)
        archive.place(key)
    for words in ("title", "text", "word 5", "new"):
        archive.search(words)
    archive.removed()
    return texts


def write_some(archive: Archive) -> None:
    """A new chat and its reply, and one more message in each of some that are there."""
    made = chat("new", "new question", "", title="new title")
    archive.save(made, list(made.messages))
    archive.begin_run("new", record("new-1"))
    archive.extend_run("new", "new-1", "new ", steps(["new "]))
    archive.end_run("new", record("new-1", "new ", "reply"), of_text("new reply"))
    for summary in sorted(archive.summaries(), key=lambda one: one.conversation_id)[:40:4]:
        if summary.conversation_id != "new":
            older = archive.load(summary.conversation_id)
            key = f"{summary.conversation_id}-more"
            more = chat(key, f"more in {summary.conversation_id}").messages[f"{key}-0"]
            archive.save(older.add(more), [f"{key}-0"])
    archive.save_unsent("new", "new unsent")


def check_written(archive: Archive, more: set[str]) -> None:
    assert [m.text for m in archive.load("new").messages.values()] == ["new question", "new reply"]
    assert archive.runs("new")["new-1"].status == "finished"
    assert len(archive.steps("new-1")) == 2
    assert archive.unsent("new") == "new unsent"
    assert {hit.message_id for hit in archive.search("new reply")} >= {"new-1"}
    assert more <= read_all(archive)


def tried(whole: Whole, folder: Path, data: bytes | bytearray) -> set[str]:
    """Open a database of these bytes, read and write; return the texts that are lost."""
    path = folder / "chats.db"
    path.parent.mkdir()
    path.write_bytes(data)
    archive = Archive(path)
    archive.open()
    try:
        read_all(archive)
        write_some(archive)
        more = {text for text in read_all(archive) if text.startswith(("more", "new"))}
        assert archive.flush()
    finally:
        assert archive.close()
    again = Archive(path)
    opened = again.open()
    try:
        assert not opened.salvaged
        check_written(again, more)
        return whole.page_of.keys() - read_all(again)
    finally:
        assert again.close()
        shutil.rmtree(folder)


@pytest.fixture(autouse=True)
def _noted(allow_warnings: Callable[[str], None]) -> None:
    allow_warnings("was salvaged")
    allow_warnings("chats are not written")


@pytest.mark.parametrize(
    ("damaged", "short", "long"),
    [
        (Whole.with_one_byte_changed, 10, 1000),
        (Whole.with_a_page_of_noise, 6, 100),
        (Whole.with_its_end_cut_off, 6, 200),
    ],
)
def test_any_byte_may_be_another(
    damaged: Callable[[Whole, random.Random], tuple[bytes, set[str]]],
    short: int,
    long: int,
    whole: Whole,
    tmp_path: Path,
    trials: Trials,
) -> None:
    drawn = random.Random(27)
    for case in trials(short, long):
        data, intact = damaged(whole, drawn)
        assert not intact & tried(whole, tmp_path / str(case), data), case


@pytest.mark.parametrize("checked_at_once", [2**20, 0])
def test_a_wrong_byte_in_the_search_index_hides_nothing(
    whole: Whole,
    tmp_path: Path,
    trials: Trials,
    monkeypatch: pytest.MonkeyPatch,
    checked_at_once: int,
) -> None:
    """A large database is looked at with the first write, a small one while it is opened."""
    monkeypatch.setattr(disk, "_CHECKED_AT_ONCE_BYTES", checked_at_once)
    monkeypatch.setattr(writer, "RETRY_S", 0.02)
    drawn = random.Random(29)
    with contextlib.closing(sqlite3.connect(whole.path)) as connection:
        pages = connection.execute("SELECT pageno FROM dbstat WHERE name = 'words_data'").fetchall()
    n_mended = 0
    for case in trials(8, 200):
        data = bytearray(whole.data)
        at = (drawn.choice(pages)[0] - 1) * PAGE + drawn.randrange(PAGE)
        data[at] ^= drawn.randrange(1, 256)
        path = tmp_path / str(case) / "chats.db"
        path.parent.mkdir()
        path.write_bytes(data)
        mended: list[Opened] = []
        archive = Archive(path, on_mended=mended.append)
        n_mended += archive.open().salvaged
        try:
            archive.save(chat("new", "a new question"), ["new-0"])
            assert archive.flush()
            n_mended += len(mended)
            for i in range(0, N_CHATS, 10):
                hits = archive.search(f"text {i} 2", N_CHATS)
                assert f"chat-{i}-2" in {hit.message_id for hit in hits}, (case, at)
            assert len(archive.search("title", 1000)) == N_CHATS, (case, at)
        finally:
            assert archive.close()
    assert n_mended > trials.n // 4  # the others are in no use


def test_a_version_that_knows_no_checksum_may_write_to_the_search_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its writes are no damage, and are under a checksum again once this version has closed."""
    path = tmp_path / "chats.db"
    _write_to(path, "first")
    with monkeypatch.context() as earlier:
        earlier.setattr(search, "_break_seal", lambda _connection: None)
        earlier.setattr(search, "seal_index", lambda _connection: None)
        _write_to(path, "second")
    _write_to(path)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        last = "(SELECT max(id) FROM words_data)"
        connection.execute(f"UPDATE words_data SET block = block || x'00' WHERE id = {last}")
        connection.commit()
        with pytest.raises(DamageError):
            search.check_seal(connection)


def _write_to(path: Path, *keys: str) -> None:
    archive = Archive(path)
    assert not archive.open().salvaged
    try:
        for key in keys:
            archive.save(chat(key, f"the {key} question"), [f"{key}-0"])
        assert archive.flush()
        assert all(archive.search(f"{key} question") for key in keys)
    finally:
        assert archive.close()


def test_every_byte_of_the_header_may_be_another(whole: Whole, tmp_path: Path) -> None:
    for at in (0, 16, 18, 19, 20, 29, 44, 52, 56, 60, 63, 100, 103, 104):
        data = bytearray(whole.data)
        data[at] ^= 0x15
        assert not tried(whole, tmp_path / str(at), data), at


@pytest.mark.parametrize("word", ["CREATE TABLE messages", "title 7", "<text 7 1>", "chat-7-1"])
def test_a_byte_that_is_no_text(whole: Whole, tmp_path: Path, word: str) -> None:
    at = whole.data.index(word.encode()) + len(word) - 2
    data = bytearray(whole.data)
    data[at] = 0xFF
    lost = tried(whole, tmp_path / "home", data)
    assert lost == ({text_of(7, 1)} if word == "<text 7 1>" else set())
    (tmp_path / "again").mkdir()
    path = tmp_path / "again" / "chats.db"
    path.write_bytes(data)
    archive = Archive(path)
    archive.open()
    shown = {summary.title for summary in archive.summaries()} | read_all(archive)
    assert archive.close()
    assert sum("\ufffd" in text for text in shown) == (word in ("title 7", "<text 7 1>"))


@pytest.mark.parametrize(
    "name",
    ["USING fts5 (text", "CREATE TABLE unsent", "CREATE TABLE facts", "unsent (conversation"],
)
def test_another_name_in_the_layout_is_mended(whole: Whole, tmp_path: Path, name: str) -> None:
    data = bytearray(whole.data)
    end = data.index(name.encode()) + len(name)
    data[end - 1 : end] = b"q"
    assert tried(whole, tmp_path / "home", data) == set()


@pytest.mark.parametrize("table", ["conversations", "unsent", "places"])
def test_damage_in_what_a_start_needs_is_mended_by_that_start(
    table: str, whole: Whole, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "_CHECKED_AT_ONCE_BYTES", 0)
    with contextlib.closing(sqlite3.connect(whole.path)) as connection:
        leaves = "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf'"
        *_, (page,) = connection.execute(leaves, (table,))
    data = bytearray(whole.data)
    data[(page - 1) * PAGE : page * PAGE] = b"\xff" * PAGE
    path = tmp_path / "chats.db"
    path.write_bytes(data)
    archive = Archive(path)
    opened = archive.open()
    assert opened.salvaged
    assert "damaged" in opened.notes[0]
    assert len(archive.summaries()) == N_CHATS, "a head that is lost is made up for its messages"
    assert read_all(archive) >= whole.page_of.keys()
    assert archive.close()


def test_damage_that_shows_later_is_mended_while_it_is_read(
    whole: Whole, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "_CHECKED_AT_ONCE_BYTES", 0)
    path = tmp_path / "chats.db"
    page = whole.page_of[text_of(50, 0)]
    data = bytearray(whole.data)
    data[page * PAGE : (page + 1) * PAGE] = b"\xff" * PAGE
    path.write_bytes(data)
    mended: list[Opened] = []
    archive = Archive(path, on_mended=mended.append)
    assert not archive.open().notes
    assert archive.load("chat-3").messages
    lost = whole.page_of.keys() - read_all(archive)
    assert lost == {text for text, place in whole.page_of.items() if place == page}
    write_some(archive)
    assert archive.flush()
    assert archive.problem is None
    (told,) = mended
    assert "320" not in told.notes[0]
    assert "damaged-1" in told.notes[0]
    assert archive.close()
    again = Archive(path)
    assert not again.open().notes
    check_written(again, {"new reply"})
    assert again.close()


def test_an_empty_file_beside_a_log_is_not_left_to_sqlite(tmp_path: Path) -> None:
    """SQLite would delete the log, which this test shows first."""
    path, empty = tmp_path / "chats.db", tmp_path / "empty" / "chats.db"
    archive = Archive(path)
    archive.open()
    archive.save(chat("kept", "a question"), ["kept-0"])
    assert archive.flush()
    empty.parent.mkdir()
    log = Path(f"{path}-wal").read_bytes()
    assert archive.close()
    empty.touch()
    Path(f"{empty}-wal").write_bytes(log)
    connection = sqlite3.connect(empty)
    assert connection.execute("SELECT * FROM sqlite_master").fetchall() == []
    connection.close()
    assert not Path(f"{empty}-wal").exists()
    Path(f"{empty}-wal").write_bytes(log)
    again = Archive(empty)
    assert again.open().salvaged
    assert read_all(again) == {"a question"}
    assert again.close()
    assert Path(f"{empty}.damaged-1-wal").read_bytes() == log
