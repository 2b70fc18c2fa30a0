"""Stored states in files: written whole or not at all, checked, and gone with what is deleted."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from engine import state_writer
from engine.state_writer import Store
from paceline.engine.model.state_files import drop_files
from paceline.files import used_bytes

TEXT, OTHER = list(range(1000, 1112)), list(range(2000, 2112))
Trials = Callable[[int, int], Iterator[int]]
DAMAGED = "a stored state is damaged"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "states"


def files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if file.is_file())


def has_tokens(folder: Path, tokens: Sequence[int]) -> bool:
    """Search all bytes of a folder for tokens, as they are stored here or by any other width."""
    forms = [array(code, tokens).tobytes() for code in "hiq"]
    return any(form in file.read_bytes() for file in files(folder) for form in forms)


def test_files_and_folders_are_the_users_alone(folder: Path) -> None:
    Store(folder).keep(TEXT, "a")
    assert {file.stat().st_mode & 0o777 for file in files(folder)} == {0o600}
    folders = [folder.parent, folder, *(f for f in folder.rglob("*") if f.is_dir())]
    assert {each.stat().st_mode & 0o777 for each in folders} == {0o700}


@pytest.mark.parametrize("key", ["another build", "q8_0", "ctx 8192", "another model"])
def test_another_key_finds_nothing(folder: Path, key: str) -> None:
    Store(folder).keep(TEXT, "a")
    other = Store(folder, key)
    assert other.find(TEXT) == 0
    other.keep(OTHER, "a")
    (of_text, of_other) = sorted(folder.iterdir(), key=lambda each: each.stat().st_mtime_ns)
    for owner in of_text.iterdir():
        for file in owner.iterdir():
            file.rename(of_other / owner.name / file.name)
    assert Store(folder, key).find(TEXT) == 0, "not even where its files have come to be"


# ------------------------------------------------------------------------------------- damage


@pytest.mark.parametrize("kind", ["flipped", "cut", "longer", "empty", "other file"])
def test_a_damaged_file_is_not_used(
    folder: Path, kind: str, trials: Trials, allow_warnings: Callable[[str], None],
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    allow_warnings(DAMAGED)
    chance = random.Random(kind)
    for _ in trials(20, 300):
        store = Store(folder)
        store.keep(TEXT, "a")
        store.keep(TEXT, "b")
        file = chance.choice(files(folder))
        whole = bytearray(file.read_bytes())
        place = chance.randrange(len(whole))
        match kind:
            case "flipped":
                whole[place] ^= 1 << chance.randrange(8)
            case "cut":
                del whole[place:]
            case "longer":
                whole += whole[:place] or b"x"
            case "empty":
                whole.clear()
            case _:
                whole[:] = next(f for f in files(folder) if f.name != file.name).read_bytes()
        file.write_bytes(whole)
        caplog.clear()
        later = Store(folder)
        found = later.read(TEXT)
        assert found == TEXT[: len(found)] != TEXT
        assert len(caplog.records) == 1
        assert not file.exists()
        later.keep(TEXT, "a")
        assert Store(folder).read(TEXT) == TEXT, "and it is written anew"


def test_what_vanishes_is_not_used(folder: Path) -> None:
    Store(folder).keep(TEXT, "a")
    later = Store(folder)
    assert later.find(TEXT) == 112
    for file in files(folder):
        file.unlink()
    assert later.read(TEXT) == []


def test_what_finds_no_memory_is_not_used_and_stays(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_path: Path, _mode: str) -> None:
        raise MemoryError

    Store(folder).keep(TEXT, "a")
    later = Store(folder)
    assert later.find(TEXT) == 112
    with monkeypatch.context() as short:
        short.setattr(Path, "open", fail)
        assert later.read(TEXT) == []
    assert Store(folder).read(TEXT)


def test_files_of_others_are_left_alone(folder: Path) -> None:
    store = Store(folder)
    store.keep(TEXT, "a")
    (key,) = folder.iterdir()
    foreign = [folder / "note", key / "note", key / "not hex" / "note"]
    for file in foreign:
        file.parent.mkdir(exist_ok=True)
        file.touch()
    (key / "not hex" / files(folder)[1].name).touch()
    later = Store(folder)
    assert later.find(TEXT) == 112
    assert all(file.exists() for file in foreign)


def test_what_was_not_written_to_its_end_goes_after_a_while(folder: Path) -> None:
    Store(folder).keep(TEXT, "a")
    old, young = (files(folder)[0].with_name(f"half-{name}") for name in ("old", "young"))
    for half in (old, young):
        half.write_bytes(b"half")
    os.utime(old, (time.time() - 10_000,) * 2)
    assert Store(folder).find(TEXT) == 112
    assert not old.exists()
    assert young.exists(), "another program may be writing it"


def test_folders_without_a_file_go_after_a_while(folder: Path) -> None:
    for owner in "ab":
        Store(folder).keep(TEXT, owner)
    (key,) = folder.iterdir()
    old, young = sorted(key.iterdir())
    for file in files(folder):
        file.unlink()
    os.utime(old, (time.time() - 10_000,) * 2)
    assert Store(folder).find(TEXT) == 0
    assert list(key.iterdir()) == [young]


# ---------------------------------------------------------------------------------- forgetting


def test_what_is_one_owners_alone_goes(folder: Path) -> None:
    store = Store(folder)
    common, ends = TEXT[:64], (OTHER, list(range(3000, 3112)))
    for owner, end in zip("ab", ends, strict=True):
        store.keep([*common, *end], owner)
    Store(folder).store.forget("a")
    assert not has_tokens(folder, ends[0][:32])
    assert has_tokens(folder, ends[1][:32])
    later = Store(folder)
    assert later.find([*common, *ends[0]]) == 64
    assert later.find([*common, *ends[1]]) == 176
    later.store.forget("b")
    assert not files(folder)


def test_other_programs_forget_what_one_has_forgotten(folder: Path) -> None:
    first, second = Store(folder), Store(folder)
    first.keep(TEXT, "a")
    assert second.read(TEXT) == TEXT
    assert second.store.n_bytes
    first.store.forget("a")
    assert second.find(TEXT) == 0
    assert not second.store.n_bytes


def test_a_program_keeps_what_another_one_uses_too(folder: Path) -> None:
    first, second = Store(folder), Store(folder)
    first.keep(TEXT, "a")
    second.keep(TEXT, "b")
    first.store.forget("a")
    assert second.find(TEXT) == 112
    assert first.find(TEXT) == 112
    assert Store(folder).read(TEXT) == TEXT


def test_owners_that_came_last_keep_a_block_that_was_not_written_yet(folder: Path) -> None:
    store = Store(folder)
    store.keep(TEXT, "a")
    store.add(TEXT, "b")  # its name is not written yet
    store.store.forget("a")
    assert store.find(TEXT) == 112
    assert Store(folder).find(TEXT) == 112


def test_a_file_system_without_links_keeps_a_block_for_its_first_owner(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    store = Store(folder)
    store.keep(TEXT, "a")
    store.keep(TEXT, "b")
    assert Store(folder).find(TEXT) == 112
    store.store.forget("b")
    assert Store(folder).find(TEXT) == 112
    store.store.forget("a")
    assert not files(folder)


def test_an_end_that_grew_is_not_kept_twice(folder: Path) -> None:
    store = Store(folder)
    store.keep(TEXT, "a")
    n_files = len(files(folder))
    store.keep([*TEXT, *OTHER[:10]], "a")
    assert len(files(folder)) == n_files
    assert Store(folder).find([*TEXT, *OTHER]) == 122


# --------------------------------------------------------------------------------------- limits


def test_what_was_used_longest_ago_gives_way(folder: Path) -> None:
    store = Store(folder)
    texts = [list(range(n, n + 96)) for n in range(1000, 9000, 1000)]
    n_bytes = 0
    for text in texts[:4]:
        store.keep(text, "a")
        n_bytes = used_bytes(folder)
    for file in files(folder):
        os.utime(file, (time.time() - 1000,) * 2)
    limited = Store(folder, most_bytes=n_bytes)
    limited.read(texts[0])
    for text in texts[4:6]:
        limited.keep(text, "a")
        assert used_bytes(folder) <= n_bytes
    later = Store(folder)
    assert [later.find(text) for text in (texts[0], *texts[4:6])] == [96] * 3
    left = [later.find(text) for text in texts[1:4]]
    assert sum(left) < 3 * 96, "something gave way"
    assert all(n % 32 == 0 for n in left), "the end of a text before its beginning"


def test_what_gave_way_on_disk_stays_in_memory(folder: Path) -> None:
    store = Store(folder, most_bytes=1200)
    store.keep(TEXT, "a")
    store.keep(OTHER, "a")
    assert store.tree.find(TEXT, "").n_tokens == 112, "before it looks again"
    assert store.find(TEXT) == store.find(OTHER) == 112
    assert Store(folder).find(TEXT) < 112


@pytest.mark.parametrize("most_bytes", [0, 200])
def test_a_limit_below_a_block_keeps_nothing(folder: Path, most_bytes: int) -> None:
    Store(folder, most_bytes=most_bytes).keep(TEXT, "a")
    assert not files(folder)


def test_a_lower_limit_holds_at_once(folder: Path) -> None:
    Store(folder).keep(TEXT, "a")
    n_bytes = used_bytes(folder)
    assert Store(folder, most_bytes=n_bytes // 2).find(TEXT) < 112
    assert 0 < used_bytes(folder) <= n_bytes // 2


def test_no_more_than_a_tenth_of_what_is_free_is_used(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = 50_000

    def usage(_path: Path) -> SimpleNamespace:
        return SimpleNamespace(free=free - used_bytes(folder))

    monkeypatch.setattr("shutil.disk_usage", usage)
    store = Store(folder, most_bytes=-1)
    for n in range(40):
        store.keep(list(range(1000 * n, 1000 * n + 64)), "a")
        assert used_bytes(folder) <= free // 10
    assert used_bytes(folder) > free // 20


# --------------------------------------------------------------------------------- a bad disk


def fill_up(folder: Path) -> None:
    try:
        with (folder / "rest").open("wb", buffering=0) as rest:
            while rest.write(b"x" * 4096):
                pass
    except OSError:
        pass


def test_a_full_disk_costs_warmth_alone(
    small_disk: Path, allow_warnings: Callable[[str], None], caplog: pytest.LogCaptureFixture
) -> None:
    allow_warnings("states are not stored: No space left on device")
    folder = small_disk / "states"
    store = Store(folder, most_bytes=1 << 20)
    store.keep(TEXT, "a")
    fill_up(small_disk)
    for n in range(3000, 6000, 100):
        store.keep(list(range(n, n + 96)), "a")
    assert len(caplog.records) == 1
    assert store.find(TEXT) == store.find(list(range(3000, 3096))) + 16 == 112
    (small_disk / "rest").unlink()
    assert Store(folder).read(TEXT) == TEXT
    assert all(len(file.name) == 65 for file in files(folder)), "nothing half is left"


def test_a_read_only_disk_costs_warmth_alone(
    small_disk: Path, allow_warnings: Callable[[str], None], caplog: pytest.LogCaptureFixture
) -> None:
    allow_warnings("states are not stored: Read-only file system|stored states stay in")
    folder = small_disk / "states"
    Store(folder).keep(TEXT, "a")
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    store = Store(folder, most_bytes=1 << 20)
    for n in range(3000, 6000, 100):
        store.keep(list(range(n, n + 96)), "a")
    assert store.read(TEXT) == TEXT
    assert len(caplog.records) == 1
    store.store.forget("a")
    assert store.find(OTHER) == 0


@pytest.mark.parametrize("place", ["states", "cache"])
def test_a_file_in_the_place_of_a_folder_costs_warmth_alone(
    folder: Path, place: str, allow_warnings: Callable[[str], None],
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    allow_warnings("states are not stored|stored states stay in")
    file = folder if place == "states" else folder.parent
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("precious")
    store = Store(folder, most_bytes=1 << 20)
    for n in range(3000, 6000, 100):
        store.keep(list(range(n, n + 96)), "a")
    assert store.find(list(range(3000, 3096))) == 96
    assert len(caplog.records) == 1
    store.store.forget("a")
    assert file.read_text() == "precious"


# ---------------------------------------------------------------------------- several programs


@pytest.fixture
def writer(folder: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start a program that stores one text after the other, and says so."""
    started = []

    def start(first: int) -> subprocess.Popen[str]:
        command = [sys.executable, state_writer.__file__, str(folder), str(first)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def test_a_program_that_is_killed_leaves_whole_files(
    folder: Path,
    writer: Callable[..., subprocess.Popen[str]],
    trials: Trials,
) -> None:
    """A damaged file would be reported, which fails the test."""
    chance = random.Random(1)
    for i in trials(3, 100):
        process = writer(1_000 * i)
        assert process.stdout is not None
        for _ in range(chance.randrange(1, 12)):
            said = process.stdout.readline()
        time.sleep(chance.random() / 100)
        process.send_signal(signal.SIGKILL)
        process.wait()
        n_texts = int(said)
        later = Store(folder)
        for n in range(1_000 * i, n_texts + 1):
            text = state_writer.text(n)
            assert later.read(text) == text
        for n in range(n_texts + 1, n_texts + 5):
            text = state_writer.text(n)
            found = later.read(text)
            assert found == text[: len(found)]


def test_two_programs_share_a_folder(
    folder: Path, writer: Callable[..., subprocess.Popen[str]]
) -> None:
    store = Store(folder)
    processes = writer(0), writer(5)  # the same texts, soon
    for _ in range(12):
        for process in processes:
            assert process.stdout is not None
            text = state_writer.text(int(process.stdout.readline()))
            assert store.read(text) == text
        store.store.forget("another")
    for process in processes:
        process.kill()
        process.wait()
    store.store.forget("writer")
    assert not has_tokens(folder, state_writer.text(6)[:32])


def test_all_is_deleted_under_a_program_that_writes(
    folder: Path,
    writer: Callable[..., subprocess.Popen[str]],
    trials: Trials,
) -> None:
    process = writer(0)
    assert process.stdout is not None
    for _ in trials(20, 300):
        said = process.stdout.readline()
        drop_files(str(folder), ())
    process.kill()
    process.wait()
    assert Store(folder).find(state_writer.text(int(said))) == 0
