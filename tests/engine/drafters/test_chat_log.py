"""The log of what a chat has taught: what goes in comes out, whatever a crash left of it."""

from __future__ import annotations

import stat
import sys
import tracemalloc
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.engine.drafters import chat_log
from paceline.engine.drafters.chat_log import ChatLog, DamagedLogError

TEXTS = st.lists(st.lists(st.integers(0, 3), max_size=12), max_size=8)


def texts_of(log: ChatLog) -> list[list[int]]:
    return [text.tolist() for text in log.texts()]


def longest(texts: Sequence[list[int]]) -> list[list[int]]:
    """The texts, one that only grows at its longest, and none twice in a row."""
    found: list[list[int]] = []
    for text in texts:
        if found and text == found[-1][: len(text)]:
            continue
        if found and found[-1] == text[: len(found[-1])]:
            found[-1] = text
        elif text:
            found.append(text)
    return found


@given(TEXTS)
def test_texts_come_back_at_their_longest(
    tmp_path_factory: pytest.TempPathFactory, texts: list[list[int]]
) -> None:
    folder = tmp_path_factory.mktemp("memory")
    one = ChatLog(folder, "chat")
    for i, text in enumerate(texts):
        log = one if i % 3 else ChatLog(folder, "chat")  # by an old or a new program
        log.add_text(text)
    held = texts_of(ChatLog(folder, "chat"))
    wanted = longest(texts)
    # What is the beginning of the text before it adds nothing, so that comes back once.
    assert [text for text in wanted if text not in held] == []
    for text in held:
        assert any(text == other[: len(text)] for other in texts)


def test_a_text_that_grows_is_written_once(tmp_path: Path) -> None:
    log = ChatLog(tmp_path, "chat")
    text = list(range(10_000))
    for n in range(100, 10_001, 100):
        log.add_text(text[:n])
    assert texts_of(log) == [text]
    assert log.path.stat().st_size < 4 * 10_000 + 100 * 20 + 100


def test_what_was_counted_comes_back_until_it_is_subtracted(tmp_path: Path) -> None:
    log = ChatLog(tmp_path, "chat")
    log.add_text([1, 2, 3])
    log.add_counted([1, 2], 1)
    assert log.counted() == [([1, 2], 1)]
    log.add_subtracted()
    assert log.counted() == []
    log.add_counted([7], 0)
    assert ChatLog(tmp_path, "chat").counted() == [([7], 0)]
    assert texts_of(log) == [[1, 2, 3]]


def test_each_chat_has_its_own_whatever_it_is_called(tmp_path: Path) -> None:
    names = ["a", "A", "../../etc", "x" * 500, "é\ud800", "a/b", " "]
    for i, name in enumerate(names):
        ChatLog(tmp_path, name).add_text([i])
    for i, name in enumerate(names):
        log = ChatLog(tmp_path, name)
        assert texts_of(log) == [[i]]
        assert sorted(t for other in log.others() for t in texts_of(other)) == [
            [j] for j in range(len(names)) if j != i
        ]
    paths = list((tmp_path / chat_log.FOLDER).iterdir())
    assert len(paths) == len(names)
    assert not [p for p in tmp_path.rglob("*") if p.is_file() and p not in paths]


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")
def test_only_its_owner_can_read_it(tmp_path: Path) -> None:
    log = ChatLog(tmp_path / "memory", "chat")
    log.add_text([1])
    assert stat.S_IMODE(log.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(log.path.parent.stat().st_mode) == 0o700


def test_what_a_crash_cut_off_is_passed_over_and_written_over(tmp_path: Path) -> None:
    whole = ChatLog(tmp_path, "whole")
    whole.add_text([1, 2, 3])
    n_first = whole.path.stat().st_size
    whole.add_text([1, 2, 3, 4, 5])
    data = whole.path.read_bytes()
    for n in range(len(data) + 1):
        log = ChatLog(tmp_path, f"cut {n}")
        log.path.write_bytes(data[:n])
        held = [[1, 2, 3, 4, 5]] if n == len(data) else [[1, 2, 3]] if n >= n_first else []
        assert texts_of(log) == held
        again = ChatLog(tmp_path, f"cut {n}")
        again.add_text([1, 2, 3, 4, 9])
        assert texts_of(again)[-1] == [1, 2, 3, 4, 9]
        if n >= n_first:
            assert texts_of(again)[0][:3] == [1, 2, 3]


@pytest.mark.parametrize("at", range(0, 200, 3))
def test_a_byte_that_changed_is_noticed(tmp_path: Path, at: int) -> None:
    """Nothing is passed over in silence: that would not be forgotten."""
    log = ChatLog(tmp_path, "chat")
    log.add_text([1, 2, 3] * 5)
    log.add_counted([2, 3], 0)
    log.add_text([1, 2, 3] * 5 + [9] * 12)
    data = bytearray(log.path.read_bytes())
    data[at % len(data)] ^= 0x40
    log.path.write_bytes(data)
    damaged = ChatLog(tmp_path, "chat")
    for use in (damaged.check, damaged.counted, lambda: list(damaged.texts())):
        with pytest.raises(DamagedLogError):
            use()
    for write in (damaged.add_text, damaged.has_room, lambda _: damaged.add_subtracted()):
        with pytest.raises(OSError, match="is damaged"):
            write([5])  # type: ignore[operator]
    assert log.path.read_bytes() == data


@pytest.mark.parametrize(
    "data", [b"something else", b"something else entirely, and long enough", b"\0" * 100]
)
def test_a_file_of_another_kind_is_damaged(tmp_path: Path, data: bytes) -> None:
    log = ChatLog(tmp_path, "chat")
    log.path.parent.mkdir()
    log.path.write_bytes(data)
    with pytest.raises(DamagedLogError):
        list(log.texts())


def test_a_huge_file_is_damaged_and_not_read(tmp_path: Path) -> None:
    log = ChatLog(tmp_path, "chat")
    log.add_text([1])
    with log.path.open("r+b") as file:
        file.truncate(1 << 36)  # a hole
    with pytest.raises(DamagedLogError):
        log.check()


def test_thousands_of_other_replies_to_a_long_question_are_one_text_at_a_time(
    tmp_path: Path,
) -> None:
    log = ChatLog(tmp_path, "chat")
    question = list(range(20_000))
    for i in range(300):
        log.add_text([*question, *[i] * 100])
    assert log.path.stat().st_size < 4 * (20_000 + 300 * 110)
    tracemalloc.start()
    assert sum(text[-1] == i for i, text in enumerate(ChatLog(tmp_path, "chat").texts())) == 300
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 2 << 20  # all of them are 24 MB


def test_there_is_room_up_to_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_log, "MOST_BYTES", 4000)
    log = ChatLog(tmp_path, "chat")
    assert log.has_room(1000)
    assert not log.has_room(1001)
    log.add_text([1] * 500)
    assert not ChatLog(tmp_path, "chat").has_room(500)
    assert ChatLog(tmp_path, "chat").has_room(400)


def test_removed_it_is_gone_and_can_begin_anew(tmp_path: Path) -> None:
    log = ChatLog(tmp_path, "chat")
    log.remove()
    log.add_text([1, 2])
    assert log.exists
    log.remove()
    log.remove()
    assert not log.exists
    log.add_text([1, 2, 3])
    assert texts_of(log) == [[1, 2, 3]]
