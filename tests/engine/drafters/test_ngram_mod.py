"""The n-gram pool against the obvious way: look for the n-gram's last place, again and again."""

from __future__ import annotations

import errno
import os
import random
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.engine.drafters import ngram_pool
from paceline.engine.drafters.base import Workbench
from paceline.engine.drafters.ngram_mod import INFO, REST, NextTokens, NgramMod
from paceline.engine.drafters.ngram_pool import Pool
from paceline.engine.fake import ByteVocabulary
from paceline.engine.sampling import Sampler
from paceline.messages import SamplingParams

END = 9
MIB_16 = 16 << 20
SMALL = {"n_match": 3, "n_min": 0, "n_max": 8}


def bench(memory: Path | None = None, eog: Sequence[int] = (), **more: Any) -> Workbench:
    return Workbench(
        vocab=ByteVocabulary(),
        sampler=Sampler(SamplingParams(), 1),
        draft=None,
        eog=frozenset(eog),
        chunk=16,
        memory=memory,
        **more,
    )


def pool_of(text: Sequence[int], on: Workbench | None = None, **settings: int) -> NgramMod:
    """Return a drafter that has read a whole prompt."""
    drafter = NgramMod(on or bench(), {**SMALL, **settings})
    history = list(text)
    drafter.begin(history, len(history))
    return drafter


def proposed(drafter: NgramMod, n_max: int = 99) -> list[int]:
    return list(drafter.propose(n_max).tokens)


def obvious(
    text: Sequence[int], ahead: Sequence[int], n_match: int, n_min: int, n_max: int, room: int
) -> list[int]:
    chain = [*text, *ahead]
    n_known = len(chain)
    while len(chain) - n_known < n_max:
        tail = chain[len(chain) - n_match :] if len(chain) >= n_match else None
        places = [i for i in range(n_match, len(text)) if list(text[i - n_match : i]) == tail]
        if not places:
            break
        chain.append(text[places[-1]])
    found = chain[n_known:]
    return found[:room] if len(found) >= min(n_min, n_max) else []


TEXTS = st.integers(1, 4).flatmap(lambda n: st.lists(st.integers(0, n), min_size=1, max_size=60))
CHUNKS = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=40), max_size=8)


@given(TEXTS, st.integers(1, 6), st.integers(0, 12), st.integers(1, 12), st.integers(1, 14))
def test_a_text_at_once(text: list[int], n_match: int, n_min: int, n_max: int, room: int) -> None:
    drafter = pool_of(text, n_match=n_match, n_min=n_min, n_max=n_max)
    assert proposed(drafter, room) == obvious(text, (), n_match, n_min, n_max, room)


@given(TEXTS, CHUNKS, st.integers(1, 6), st.integers(0, 5), st.lists(st.integers(0, 3), max_size=9))
def test_a_text_that_grows(
    prompt: list[int], chunks: list[list[int]], n_match: int, n_min: int, ahead: list[int]
) -> None:
    drafter = NgramMod(bench(), {"n_match": n_match, "n_min": n_min, "n_max": 8})
    history = list(prompt)
    drafter.begin(history, len(prompt))
    for chunk in chunks:
        history += chunk
        drafter.observe(None)
        assert proposed(drafter) == obvious(history, (), n_match, n_min, 8, 99)
        extended = list(drafter.extend(ahead, 5).tokens)
        assert extended == obvious(history, ahead, n_match, n_min, 8, 5)


@given(TEXTS, CHUNKS, st.lists(st.integers(1, 6), min_size=8, max_size=8))
def test_settings_change_in_mid_text(
    prompt: list[int], chunks: list[list[int]], matches: list[int]
) -> None:
    drafter = pool_of(prompt)
    history = list(prompt)
    drafter.begin(history, len(prompt))
    for chunk, n_match in zip(chunks, matches, strict=False):
        drafter.tune({"n_match": n_match, "n_min": 2, "n_max": 6})
        history += chunk
        drafter.observe(None)
        assert proposed(drafter) == obvious(history, (), n_match, 2, 6, 99)


@pytest.mark.parametrize("n_match", [1, 24, 128])
def test_long_texts_are_hashed_as_short_ones(n_match: int) -> None:
    rng = random.Random(n_match)
    text = [rng.randrange(200_000) for _ in range(5000)]
    one_by_one, at_once = (NextTokens(n_match, None) for _ in range(2))
    for place in range(len(text)):
        one_by_one.feed(text, place, place + 1)
    at_once.feed(text, 0, 1500)
    at_once.feed(text, 1500, 1501)
    at_once.feed(text, 1501, 5000)
    assert np.array_equal(one_by_one.pool.table, at_once.pool.table)
    assert one_by_one.pool.n_used == at_once.pool.n_used
    assert one_by_one.pool.n_used == np.count_nonzero(at_once.pool.table)
    assert one_by_one._hash == at_once._hash


def test_the_defaults_draft_long_repeats_only() -> None:
    settings = {parameter.name: int(parameter.default) for parameter in INFO.parameters}
    assert settings == {"n_match": 24, "n_min": 48, "n_max": 64}
    rng = random.Random(5)
    text = [rng.randrange(1, 250) for _ in range(400)]
    assert proposed(pool_of([*text, *text[100:123]], **settings)) == []  # 23 tokens agree
    assert proposed(pool_of([*text, *text[100:124]], **settings)) == text[124:188]


def test_a_chain_that_breaks_early_is_dropped(tmp_path: Path) -> None:
    settings = {parameter.name: int(parameter.default) for parameter in INFO.parameters}
    text = list(range(72))
    pool_of(text[:71], bench(tmp_path), **settings).close()
    assert proposed(pool_of([99, *text[:24]], bench(tmp_path), **settings)) == []
    pool_of(text, bench(tmp_path), **settings).close()
    assert proposed(pool_of([99, *text[:24]], bench(tmp_path), **settings)) == text[24:]


def test_how_long_a_chain_is_does_not_depend_on_the_room(tmp_path: Path) -> None:
    pool_of([1, 2, 3, 4, 5], bench(tmp_path)).close()
    assert proposed(pool_of([7, 1, 2, 3], bench(tmp_path), n_min=2), 1) == [4]
    assert proposed(pool_of([7, 1, 2, 3], bench(tmp_path), n_min=3), 1) == []
    assert proposed(pool_of([7, 1, 2, 3], bench(tmp_path), n_min=3, n_max=2)) == [4, 5]


def test_a_draft_ends_with_an_end_of_generation() -> None:
    text = [1, 2, 3, 4, END, 6, 7, 8, 1, 2, 3]
    assert proposed(pool_of(text, bench(eog=(END,)), n_min=4)) == [4, END]


# -------------------------------------------------------------------------------- bad drafts


def draft_and_accept(drafter: NgramMod, accepted: Sequence[int], wrong: int = 7) -> None:
    """Propose, accept so many tokens, reject the next one, and come back to the period."""
    for n in accepted:
        chain = proposed(drafter)
        assert len(chain) == 8
        text = [*chain[:n], wrong]
        drafter._history.extend([*text, *PERIOD])  # type: ignore[attr-defined]
        drafter.observe(n)


PERIOD = [1, 2, 3, 4] * 4


@pytest.mark.parametrize("on_disk", [False, True])
@pytest.mark.parametrize(
    ("accepted", "rests"),
    [
        ([1] * 4, False),
        ([1] * 5, True),
        ([0] * 5, True),
        ([2] * 9, False),  # a quarter is enough
        ([1, 1, 1, 1, 2, 1, 1, 1, 1], False),
    ],
)
def test_five_bad_drafts_earn_a_rest(
    accepted: list[int], rests: bool, on_disk: bool, tmp_path: Path
) -> None:
    drafter = pool_of(PERIOD, bench(tmp_path if on_disk else None))
    draft_and_accept(drafter, accepted)
    for _ in range(REST if rests else 0):
        assert proposed(drafter) == []
        drafter.observe(None)
    assert proposed(drafter) == [1, 2, 3, 4] * 2
    if on_disk:
        other = pool_of([1, 2, 3], bench(tmp_path))
        assert proposed(other)[:1] == [4], "what others have taught it is still there"


def test_steps_without_a_draft_of_its_own_do_not_count() -> None:
    drafter = pool_of(PERIOD)
    for _ in range(4):
        draft_and_accept(drafter, [1])
        drafter.observe(None)
    draft_and_accept(drafter, [1])
    assert proposed(drafter) == []


def test_a_draft_that_was_cut_and_not_contradicted_is_not_a_bad_one() -> None:
    drafter = pool_of(PERIOD)
    for _ in range(9):
        chain = proposed(drafter)
        assert len(chain) == 8
        drafter._history.extend(chain[:2])  # type: ignore[attr-defined]
        drafter.observe(1)  # the step verified one of eight; the target's own token agrees as well


# ----------------------------------------------------------------------------------- on disk


def test_chats_share_a_pool_on_disk(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "vocabulary"
    first = pool_of([5, 6, 7, 8, 9], bench(folder))
    first.close()
    (file,) = folder.iterdir()
    assert file.stat().st_size == MIB_16
    if sys.platform != "win32":
        assert file.stat().st_mode & 0o777 == 0o600
        assert folder.stat().st_mode & 0o777 == 0o700
        assert folder.parent.stat().st_mode & 0o777 == 0o700
        assert file.stat().st_blocks * 512 >= MIB_16, "a sparse file could end the process"
    assert proposed(pool_of([1, 5, 6, 7], bench(folder))) == [8, 9]
    assert proposed(pool_of([1, 5, 6, 7], bench(folder), n_match=2)) == []
    assert len(list(folder.iterdir())) == 2


def test_without_memory_nothing_is_shared_and_nothing_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pool_of([5, 6, 7, 8, 9]).close()
    assert proposed(pool_of([1, 5, 6, 7])) == []
    assert list(tmp_path.iterdir()) == []


def test_a_private_pool_goes_on_with_its_chat() -> None:
    on = bench()
    first = pool_of([5, 6, 7, 8, 9], on)
    table = first._index.pool.table
    first.close()
    second = pool_of([5, 6, 7, 8, 9, 5, 6, 7], on)
    assert second._index.pool.table is table
    assert proposed(second) == [8, 9, 5, 6, 7, 8, 9, 5]
    second.close()
    assert proposed(pool_of([5, 6, 7], on)) == [], "another chat"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_file_is_open_only_while_a_turn_runs(tmp_path: Path) -> None:
    def is_open() -> bool:
        return str(tmp_path) in Path("/proc/self/maps").read_text("utf-8")

    drafter = NgramMod(bench(tmp_path), SMALL)
    assert not is_open()
    history = [1, 2, 3, 4]
    drafter.begin(history, 4)
    assert is_open()
    drafter.begin(history, 4)
    drafter.tune({**SMALL, "n_match": 2})
    drafter.observe(None)
    assert Path("/proc/self/maps").read_text("utf-8").count(str(tmp_path)) == 1
    drafter.close()
    assert not is_open()


@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_bytes(bytes(MIB_16))])
def test_a_pool_lost_between_two_turns_is_fed_again(
    tmp_path: Path, damage: Callable[[Path], object]
) -> None:
    on = bench(tmp_path)
    text = [5, 6, 7, 8, 9, 5, 6, 7]
    pool_of(text, on).close()
    damage(next(tmp_path.iterdir()))
    assert proposed(pool_of(text, on), 2) == [8, 9]


@pytest.mark.parametrize("content", [b"", b"x", bytes(MIB_16 - 4), bytes(MIB_16 + 4)])
def test_a_file_of_another_size_is_replaced(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "ngram-mod-3.pool"
    file.write_bytes(content)
    pool_of([5, 6, 7, 8, 9], bench(tmp_path)).close()
    assert file.stat().st_size == MIB_16
    assert proposed(pool_of([1, 5, 6, 7], bench(tmp_path))) == [8, 9]


def test_a_file_of_noise_only_drafts_noise(tmp_path: Path) -> None:
    (tmp_path / "ngram-mod-3.pool").write_bytes(random.Random(1).randbytes(MIB_16))
    drafter = pool_of([1, 2, 3, 4], bench(tmp_path))
    assert drafter._index.pool.n_used == 1, "it was too full, so it was emptied"
    table = np.fromfile(tmp_path / "ngram-mod-3.pool", np.int32)
    table[::5] = np.iinfo(np.int32).min
    table[1::50] = np.iinfo(np.int32).max
    table.tofile(tmp_path / "ngram-mod-3.pool")
    for token in range(200):
        assert all(t >= 0 for t in proposed(pool_of([1, 2, token], bench(tmp_path))))


def no_room(handle: int, start: int, size: int) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("trouble", ["full disk", "folder is a file"])
def test_trouble_with_the_file_costs_no_reply(
    tmp_path: Path,
    trouble: str,
    monkeypatch: pytest.MonkeyPatch,
    allow_warnings: Callable[[str], None],
) -> None:
    allow_warnings("ngram-mod-3.pool cannot be used")
    folder = tmp_path / "memory"
    if trouble == "full disk":
        monkeypatch.setattr(os, "posix_fallocate", no_room, raising=False)
    else:
        folder.write_text("")
    on = bench(folder)
    for text, following in (
        ([5, 6, 7, 8, 5, 6, 7], 8),
        ([5, 6, 7, 8, 5, 6, 7, 8, 9, 6, 7, 8], 9),
    ):
        drafter = pool_of(text, on)
        assert proposed(drafter, 1) == [following]
        drafter.close()
    assert folder.is_file() or list(folder.iterdir()) == []


@pytest.mark.parametrize("how", ["not there", "not supported"])
def test_without_fallocate_zeros_are_written(
    tmp_path: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unsupported(handle: int, start: int, size: int) -> None:
        raise OSError(errno.EOPNOTSUPP, "Operation not supported")

    if how == "not there":
        monkeypatch.delattr(os, "posix_fallocate", raising=False)
    else:
        monkeypatch.setattr(os, "posix_fallocate", unsupported, raising=False)
    pool_of([1, 2, 3, 4], bench(tmp_path)).close()
    (file,) = tmp_path.iterdir()
    assert file.stat().st_size == MIB_16
    if sys.platform != "win32":
        assert file.stat().st_blocks * 512 >= MIB_16


# ------------------------------------------------------------------------------------ fullness


@pytest.mark.parametrize(("share", "survives"), [(0.20, True), (0.30, False)])
def test_a_pool_that_is_too_full_is_emptied_before_the_prompt(
    tmp_path: Path, share: float, *, survives: bool
) -> None:
    pool_of([5, 6, 7, 8, 9], bench(tmp_path)).close()
    file = tmp_path / "ngram-mod-3.pool"
    table = np.fromfile(file, np.int32)
    rng = np.random.default_rng(1)
    table[(rng.random(len(table)) < share) & (table == 0)] = 1
    table.tofile(file)
    drafter = pool_of([1, 2, 3, 4, 1, 2, 3], bench(tmp_path))
    assert proposed(drafter, 1) == [4], "the prompt is not lost"
    drafter.close()
    drafter = pool_of([5, 6, 7], bench(tmp_path))
    assert (proposed(drafter, 2)[:2] == [8, 9]) is survives


def test_the_border_of_too_full() -> None:
    pool = Pool(bits=4)
    pool.n_used = 4
    assert not pool.is_too_full
    pool.n_used = 5
    assert pool.is_too_full


def test_a_full_pool_of_ones_own_is_emptied_between_turns() -> None:
    index = NextTokens(2, None, bits=5)
    text = list(range(100, 120))
    index.feed(text, 0, len(text))
    assert index.pool.is_too_full
    assert index.open() is False
    assert index.pool.n_used == 0
    index.feed(text[:4], 0, 4)
    assert index.open() is True


def test_the_memory_is_constant() -> None:
    drafter = pool_of(list(range(256)) * 40)
    assert drafter._index.pool.table.nbytes == len(drafter._index.pool.slots) * 4 == MIB_16
    assert 2**ngram_pool.SLOT_BITS * 4 == MIB_16
