"""The store of earlier chats against a search through all of them."""

from __future__ import annotations

import errno
import random
import stat
import struct
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.engine.drafters import suffix_store
from paceline.engine.drafters.suffix_segment import STOP, Segment, Text, pack, text_of
from paceline.engine.drafters.suffix_store import SAMPLE, Match, SuffixStore

Drafted = tuple[list[int], list[float]]

CHATS = st.integers(1, 4).flatmap(
    lambda n: st.lists(st.lists(st.integers(0, n), max_size=50), max_size=5)
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "memory" / "suffix"


def remember(folder: Path, *chats: Sequence[int]) -> None:
    for chat in chats:
        SuffixStore(folder).remember(chat)


def found(folder: Path, tail: Sequence[int], shortest: int = 1) -> tuple[int, Drafted]:
    store = SuffixStore(folder)
    try:
        match = store.find(tail, shortest)
        return (match.length, match.follow(32, 0.0)) if match else (0, ([], []))
    finally:
        store.close()


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def stored(folder: Path) -> list[list[int]]:
    """All pieces, read by the format's description, the newest first."""
    pieces: list[list[int]] = []
    for name in reversed(files(folder)):
        data = (folder / name).read_bytes()
        (n_words,) = struct.unpack_from("<I", data, 20)
        piece: list[int] = []
        for word in struct.unpack_from(f">{n_words}I", data, 36):
            if word != STOP:
                piece.append(word)
            elif piece:
                pieces.append(piece[::-1])
                piece = []
    return pieces


def n_stored(folder: Path) -> int:
    return sum(map(len, stored(folder)))


def words(seed: int, n: int, n_tokens: int = 151_936) -> list[int]:
    rng = random.Random(seed)
    return [rng.randrange(n_tokens) for _ in range(n)]


# ---------------------------------------------------------------------------------- a reference


def places(chats: Sequence[Sequence[int]], end: Sequence[int]) -> list[list[int]]:
    """What follows each occurrence of `end`, the latest occurrence first."""
    n = len(end)
    return [
        list(chat[i:])
        for chat in reversed(chats)
        for i in range(len(chat) - 1, n - 1, -1)
        if list(chat[i - n : i]) == list(end)
    ]


def obvious(chats: Sequence[Sequence[int]], tail: Sequence[int], n: int, p_min: float) -> Drafted:
    for length in range(min(len(tail), 32), 0, -1):
        texts = places(chats, tail[len(tail) - length :])
        if texts:
            return obvious_copy(texts, n, p_min)
    return [], []


def obvious_copy(texts: list[list[int]], n: int, p_min: float) -> Drafted:
    tokens: list[int] = []
    shares: list[float] = []
    product = 1.0
    for i in range(n):
        texts = [text for text in texts if len(text) > i]
        if not texts:
            break
        next_ones = [text[i] for text in texts]
        best = max(next_ones, key=lambda token: (next_ones.count(token), -next_ones.index(token)))
        share = next_ones.count(best) / len(texts)
        product *= share
        if product < p_min:
            break
        tokens.append(best)
        shares.append(share)
        texts = [text for text in texts if text[i] == best]
    return tokens, shares


def drafted(match: Match | None, n: int, p_min: float) -> Drafted:
    return match.follow(n, p_min) if match else ([], [])


@given(
    CHATS,
    st.lists(st.integers(0, 4), min_size=1, max_size=32),
    st.integers(1, 12),
    st.sampled_from([0.0, 0.1, 0.5]),
)
def test_a_search_through_all_chats(
    tmp_path_factory: pytest.TempPathFactory,
    chats: list[list[int]],
    tail: list[int],
    n: int,
    p_min: float,
) -> None:
    folder = tmp_path_factory.mktemp("store")
    kept: list[list[int]] = []
    for chat in chats:
        remember(folder, chat)
        if len(chat) > 1:
            kept.append(chat)  # too short for a stretch of 64 tokens to be left out
    store = SuffixStore(folder)
    for end in (tail, *[chat[:i] for chat in kept for i in range(1, len(chat), 9)]):
        texts = next(
            (
                texts
                for length in range(min(len(end), 32), 0, -1)
                if (texts := places(kept, end[len(end) - length :]))
            ),
            [],
        )
        if len(texts) <= SAMPLE:
            assert drafted(store.find(end[-32:], 1), n, p_min) == obvious(kept, end, n, p_min)
    store.close()


@pytest.mark.parametrize("n_tokens", [3, 50, 151_936])
def test_the_longest_match(folder: Path, n_tokens: int) -> None:
    chats = [words(seed, 300, n_tokens) for seed in range(5)]
    remember(folder, *chats)
    store = SuffixStore(folder)
    rng = random.Random(1)
    for _ in range(50):
        chat, i = rng.choice(chats), rng.randrange(40, 299)
        tail = chat[i - rng.randrange(1, 33) : i]
        if rng.random() < 0.7:
            tail = [*words(i, 32 - len(tail), n_tokens), *tail]
        length = next(n for n in range(len(tail), 0, -1) if places(chats, tail[len(tail) - n :]))
        match = store.find(tail, 1)
        assert match
        assert match.length == length
        assert store.find(tail, length)
        assert store.find(tail, length + 1) is None
        if len(match.places) < SAMPLE:
            assert match.follow(20, 0.2) == obvious(chats, tail, 20, 0.2)
    store.close()


def test_places_are_chosen_evenly(folder: Path) -> None:
    """7 goes on with 1 in three of four of many places, spread over several files."""
    rng = random.Random(5)
    for _ in range(4):
        chat: list[int] = []
        for _ in range(400):
            chat += [rng.randrange(100, 9000), 7, 1 if rng.random() < 0.75 else 2]
        remember(folder, chat)
    store = SuffixStore(folder)
    match = store.find([7], 1)
    assert match
    assert len(match.places) == SAMPLE
    per_file = Counter(segment.path for segment, _ in match.places)
    assert len(per_file) == 4
    assert max(per_file.values()) - min(per_file.values()) <= 1
    tokens, shares = match.follow(1, 0.0)
    assert tokens == [1]
    assert 0.5 < shares[0] < 0.95
    store.close()


def test_matches_do_not_cross_from_chat_to_chat(folder: Path) -> None:
    remember(folder, [1, 2, 3], [4, 5, 6])
    assert found(folder, [3]) == (0, ([], []))
    assert found(folder, [1, 2]) == (2, ([3], [1.0]))
    assert found(folder, [3, 4]) == (1, ([5, 6], [1.0, 1.0]))


def test_the_latest_of_equal_counts(folder: Path) -> None:
    remember(folder, [1, 2, 3, 1, 2, 4])
    assert found(folder, [1, 2])[1][0][0] == 4
    remember(folder, [1, 2, 3])
    assert found(folder, [1, 2])[1] == ([3, 1, 2, 4], [2 / 3, 1.0, 1.0, 1.0])


def test_an_empty_store(folder: Path) -> None:
    assert found(folder, [1]) == (0, ([], []))
    remember(folder, [], [1])
    assert not folder.exists()
    assert found(folder, []) == (0, ([], []))


# ------------------------------------------------------------------------------- nothing twice


def test_a_chat_that_grows_is_stored_once(folder: Path) -> None:
    chat = words(1, 3000)
    for n in (1000, 1040, 1500, 3000):
        remember(folder, chat[:n])
    assert n_stored(folder) == 3000 + 3 * 32
    assert len(files(folder)) == 4
    remember(folder, chat, chat[:700], chat[:2000])
    assert len(files(folder)) == 4  # nothing new, nothing written
    for i in range(40, 3000, 7):
        drafted = found(folder, chat[i - 32 : i])[1][0]  # up to the end of a piece
        assert drafted
        assert drafted == chat[i : i + len(drafted)]


def test_a_regenerated_reply(folder: Path) -> None:
    prompt = words(1, 500)
    remember(folder, prompt + words(2, 100), prompt + words(3, 100))
    assert n_stored(folder) == 600 + 100 + 32
    assert [len(piece) for piece in stored(folder)] == [132, 600]


def test_known_parts_amid_new_ones(folder: Path) -> None:
    one, other = words(1, 200), words(2, 300)
    remember(folder, one, other)
    new = [words(seed, 50) for seed in (3, 4, 5)]
    chat = [*new[0], *one, *new[1], *other[100:250], *new[2]]
    remember(folder, chat)
    assert [len(piece) for piece in stored(folder)][:3] == [50 + 32, 50 + 64, 50 + 32]
    for i in range(33, len(chat) - 1):
        assert chat[i] == found(folder, chat[i - 32 : i])[1][0][0]


@given(
    st.lists(
        st.lists(
            st.tuples(st.integers(0, 3), st.integers(0, 300), st.integers(1, 300)), max_size=5
        ),
        max_size=5,
    )
)
def test_every_token_is_stored_with_its_context(
    tmp_path_factory: pytest.TempPathFactory, chats: list[list[tuple[int, int, int]]]
) -> None:
    """Chats made of parts of four texts: whatever is left out is there already."""
    folder = tmp_path_factory.mktemp("store")
    sources = [words(seed, 400) for seed in range(4)]
    contents = [
        [token for k, start, n in parts for token in sources[k][start : start + n]]
        for parts in chats
    ]
    remember(folder, *contents)
    known = {
        tuple(piece[i : i + 33]) for piece in stored(folder) for i in range(max(len(piece) - 32, 0))
    }
    for chat in contents:
        for i in range(len(chat) - 32):
            assert tuple(chat[i : i + 33]) in known


# --------------------------------------------------------------------------------------- files


def test_what_was_learned_outlives_the_program(folder: Path) -> None:
    remember(folder, [1, 2, 3, 4])
    assert found(folder, [9, 1, 2]) == (2, ([3, 4], [1.0, 1.0]))
    assert files(folder) == ["00000001-00000001.suffixes"]


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX modes")
def test_nobody_else_can_read_it(folder: Path) -> None:
    remember(folder, [1, 2, 3, 4])
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for path in folder.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc")
def test_files_are_let_go(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def is_mapped() -> bool:
        return str(folder) in Path("/proc/self/maps").read_text(encoding="utf-8")

    remember(folder, [1, 2, 3, 4])
    store = SuffixStore(folder)
    assert is_mapped()
    store.close()
    assert not is_mapped()
    assert store.find([1, 2], 1) is None
    SuffixStore(folder).remember([5, 6, 7])
    assert not is_mapped()

    remember(folder, *[words(seed, 9) for seed in range(6)])
    mapped_at_merge = []

    def watch(text: Text) -> bytes:
        mapped_at_merge.append(is_mapped())
        return pack(text)

    monkeypatch.setattr(suffix_store, "pack", watch)
    remember(folder, words(7, 9))
    assert len(files(folder)) == 1
    assert mapped_at_merge == [False]  # Windows lets nobody remove a mapped file


def test_many_turns_are_merged(folder: Path) -> None:
    chats = [words(seed, 100) for seed in range(12)]
    remember(folder, *chats[:8])
    assert len(files(folder)) == 8
    remember(folder, chats[8])
    assert files(folder) == ["00000001-00000009.suffixes"]
    remember(folder, *chats[9:])
    assert len(files(folder)) == 4
    assert stored(folder) == chats[::-1]
    for chat in chats:
        assert found(folder, chat[40:72]) == (32, (chat[72:], [1.0] * 28))


def test_the_oldest_are_dropped(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suffix_store, "MOST_TOKENS", 500)
    chats = [words(seed, 100) for seed in range(9)]
    remember(folder, *chats)
    assert n_stored(folder) <= 500
    assert found(folder, chats[8][10:42])[0] == 32
    assert found(folder, chats[4][60:92])[0] == 32  # the end of one that was cut
    assert found(folder, chats[0][10:42])[0] == 0


def test_what_a_merge_left_over_goes(folder: Path) -> None:
    chats = [words(seed, 100) for seed in range(9)]
    remember(folder, *chats[:8])
    left = (folder / "00000003-00000003.suffixes").read_bytes()
    remember(folder, chats[8])
    (folder / "00000003-00000003.suffixes").write_bytes(left)
    assert found(folder, chats[2][10:42])[0] == 32
    assert files(folder) == ["00000001-00000009.suffixes"]


def spoil(data: bytes) -> dict[str, bytes]:
    return {
        "empty": b"",
        "short": data[:10],
        "cut": data[:-40],
        "longer": data + b"1234",
        "odd": data[:-1],
        "a bit": data[:50] + bytes([data[50] ^ 1]) + data[51:],
        "a bit of the head": data[:21] + bytes([data[21] ^ 1]) + data[22:],
        "foreign": b"GGUF" * 100,
        "zeros": bytes(len(data)),
    }


@pytest.mark.parametrize("how", list(spoil(bytes(99))))
def test_a_damaged_file(folder: Path, allow_warnings: Callable[[str], None], how: str) -> None:
    allow_warnings("is removed: ")
    remember(folder, [1, 2, 3, 4], [5, 6, 7, 8])
    path = folder / "00000001-00000001.suffixes"
    path.write_bytes(spoil(path.read_bytes())[how])
    assert found(folder, [5, 6])[0] == 2
    assert found(folder, [1, 2])[0] == 0
    assert not path.exists()
    remember(folder, [1, 2, 3, 4])
    assert found(folder, [1, 2])[0] == 2


def test_files_of_others_stay(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "notes.txt").write_text("mine", encoding="utf-8")
    remember(folder, [1, 2, 3])
    assert found(folder, [1, 2])[0] == 2
    assert (folder / "notes.txt").read_text(encoding="utf-8") == "mine"


def test_a_full_disk(
    folder: Path, monkeypatch: pytest.MonkeyPatch, allow_warnings: Callable[[str], None]
) -> None:
    allow_warnings("Nothing of this turn is kept")
    remember(folder, [1, 2, 3])

    def no_room(_: object) -> bytes:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(suffix_store, "pack", no_room)
        remember(folder, [4, 5, 6])
    assert files(folder) == ["00000001-00000001.suffixes"]
    assert found(folder, [1, 2])[0] == 2


def test_a_merge_that_fails_loses_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, allow_warnings: Callable[[str], None]
) -> None:
    allow_warnings("Nothing of this turn is kept")
    chats = [words(seed, 50) for seed in range(9)]
    remember(folder, *chats[:8])

    def no_room(_: object) -> bytes:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(suffix_store, "pack", no_room)
        remember(folder, chats[8])
    assert stored(folder) == chats[7::-1]


@pytest.mark.parametrize("n_before", [0, 3, 8])
def test_two_programs_that_write_at_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch, n_before: int
) -> None:
    chats = [words(seed, 200) for seed in range(10)]
    remember(folder, *chats[:n_before])
    store, other = SuffixStore(folder), SuffixStore(folder)
    original = suffix_store.pack

    def meanwhile(text: Text) -> bytes:
        monkeypatch.setattr(suffix_store, "pack", original)
        if n_before < 8:
            other.remember(chats[9])
        return original(text)

    if n_before == 8:  # a turn that began before the last one's end adds to what will be merged
        other.close()
        (folder / "00000009-00000009.suffixes").write_bytes(original(text_of([chats[9]])))
    monkeypatch.setattr(suffix_store, "pack", meanwhile)
    store.remember(chats[8])
    assert sorted(stored(folder)) == sorted([*chats[:n_before], chats[8], chats[9]])
    remember(folder, [5, 6, 7])
    n_files = n_before + 3 if n_before < 8 else 1
    assert len(files(folder)) == n_files


def test_no_folder_can_be_made(folder: Path, allow_warnings: Callable[[str], None]) -> None:
    allow_warnings("cannot be read|Nothing of this turn is kept")
    folder.parent.mkdir()
    folder.write_text("a file in its place", encoding="utf-8")
    remember(folder, [1, 2, 3])
    assert found(folder, [1, 2])[0] == 0
    assert folder.is_file()


@pytest.mark.skipif(sys.platform == "win32", reason="a mapped file stays there")
def test_what_was_cleared_during_a_turn_does_not_come_back(folder: Path) -> None:
    chats = [words(seed, 200) for seed in range(8)]
    remember(folder, *chats)
    store = SuffixStore(folder)
    for path in folder.iterdir():
        path.unlink()
    store.remember(chats[0] + [1, 2, 3])
    assert stored(folder) == [chats[0] + [1, 2, 3]]


def test_a_segment_gives_its_text_back(tmp_path: Path) -> None:
    pieces = [[1, 2, 3], [151_935], [0, 0], words(1, 50)]
    path = tmp_path / "x"
    path.write_bytes(pack(text_of(pieces)))
    segment = Segment(path)
    assert segment.text().tolist() == text_of(pieces).tolist()
    assert text_of([[1, 2], [3]]).tolist() == [3, STOP, 2, 1, STOP]
    segment.close()


# ---------------------------------------------------------------------------------------- cost


def test_cost(folder: Path) -> None:
    """Ten times what it takes, since other programs run, too."""
    chats = [words(seed, 16_384 if seed < 2 else 500, 3000) for seed in range(8)]
    began = time.perf_counter()
    remember(folder, *chats)
    assert time.perf_counter() - began < 2
    assert sum(path.stat().st_size for path in folder.iterdir()) < 10 * sum(map(len, chats))
    store = SuffixStore(folder)
    for tail in (chats[0][100:132], words(9, 32, 3000), [*words(9, 30), *chats[1][7:9]]):
        best = 1.0
        for _ in range(20):
            began = time.perf_counter()
            match = store.find(tail, 1)
            if match:
                match.follow(32, 0.1)
            best = min(best, time.perf_counter() - began)
        assert best < 500e-6
    store.close()
