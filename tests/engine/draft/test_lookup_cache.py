"""Lookup caches: counting and adding against a Counter, files against `struct`, damaged files."""

from __future__ import annotations

import json
import struct
import sys
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.engine.draft.lookups import lookup_cache
from paceline.engine.draft.lookups.lookup_cache import (
    CacheOrigin,
    LookupCache,
    check_fits,
    read_origin,
    sidecar,
    write_origin,
)
from paceline.errors import UserError

Record = tuple[tuple[int, ...], list[tuple[int, int]]]

RECORDS: list[Record] = [
    ((7, 3), [(9, 2), (1, 5), (4, 1)]),
    ((2,), [(0, 2**31 - 1)]),
    ((1, 1, 1, 1), [(1, 3)]),
    ((3, 7), [(9, 1)]),
]


def as_file(records: Sequence[Record]) -> bytes:
    """Write what llama.cpp's `common_ngram_cache_save` does."""
    data = b""
    for gram, followers in records:
        padded = (*gram, -1, -1, -1, -1)[:4]
        data += struct.pack("<4i", *padded) + struct.pack("<i", len(followers))
        for token, count in followers:
            data += struct.pack("<ii", token, count)
    return data


def records_of(cache: LookupCache) -> list[Record]:
    found, at = [], 0
    for gram, size in zip(cache.ngrams.tolist(), cache.sizes.tolist(), strict=True):
        pairs = zip(cache.tokens.tolist(), cache.counts.tolist(), strict=True)
        followers = list(pairs)[at : at + size]
        found.append((tuple(t for t in gram if t != -1), followers))
        at += size
    return found


def pairs_of(cache: LookupCache) -> Counter[tuple[tuple[int, ...], int]]:
    return Counter({(gram, t): n for gram, fs in records_of(cache) for t, n in fs})


def obvious_count(
    text: Sequence[int], orders: Sequence[int], start: int = 0
) -> Counter[tuple[tuple[int, ...], int]]:
    found: Counter[tuple[tuple[int, ...], int]] = Counter()
    for n in orders:
        for place in range(len(text)):
            if place >= max(start, n):
                found[tuple(text[place - n : place]), text[place]] += 1
    return found


TEXTS = st.lists(st.integers(0, 3), max_size=40)
ORDERS = st.lists(st.integers(1, 4), unique=True, max_size=4)
FILES = st.lists(
    st.tuples(
        st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=4).map(tuple),
        st.lists(
            st.tuples(st.integers(0, 2**31 - 1), st.integers(1, 2**31 - 1)), min_size=1, max_size=5
        ),
    ),
    max_size=8,
)

# ------------------------------------------------------------------------------------- counting


@given(TEXTS, ORDERS, st.integers(0, 20))
def test_counting(text: list[int], orders: list[int], start: int) -> None:
    cache = lookup_cache.count(text, orders, start)
    assert pairs_of(cache) == obvious_count(text, orders, start)
    grams = [gram for gram, _ in records_of(cache)]
    assert len(set(grams)) == len(grams)


@given(st.lists(TEXTS, max_size=4), ORDERS)
def test_adding(texts: list[list[int]], orders: list[int]) -> None:
    caches = [lookup_cache.count(text, orders) for text in texts]
    expected = sum((obvious_count(text, orders) for text in texts), Counter())
    merged = lookup_cache.merge(caches)
    assert pairs_of(merged) == expected
    assert merged.orders.tolist() == [len(gram) for gram, _ in records_of(merged)]


@given(TEXTS)
def test_of_everything_the_latest_comes_last(text: list[int]) -> None:
    last_places = {pair: place for place, pair in enumerate(pairwise(text))}
    for gram, followers in records_of(lookup_cache.count(text, (1,))):
        places = [last_places[gram[0], token] for token, _ in followers]
        assert places == sorted(places)


def test_counts_stop_at_the_largest_int32() -> None:
    cache = lookup_cache.parse(as_file(RECORDS), "f")
    doubled = dict(records_of(lookup_cache.merge([cache, cache])))
    assert doubled[(2,)] == [(0, 2**31 - 1)]
    assert doubled[(3, 7)] == [(9, 2)]


def test_rows_whose_hashes_collide_are_distinguished(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookup_cache, "_hashes", lambda rows: np.zeros(len(rows), np.uint64))
    text = [1, 2, 3, 4, 1, 2, 3, 5, 1, 2, 6]
    assert pairs_of(lookup_cache.count(text, (1, 2))) == obvious_count(text, (1, 2))


# ---------------------------------------------------------------------------------------- files


def test_a_file_of_llama_cpp_is_read_and_written_as_it_was() -> None:
    data = as_file(RECORDS)
    cache = lookup_cache.parse(data, "f")
    assert records_of(cache) == RECORDS
    assert lookup_cache.dump(cache) == data
    assert cache.largest_token == 9


@given(FILES)
def test_round_trip(records: list[Record]) -> None:
    data = as_file(records)
    cache = lookup_cache.parse(data, "f")
    assert records_of(cache) == records
    assert lookup_cache.dump(cache) == data
    lookup_cache.merge([cache])  # doubles in one file are added up, too


def test_an_empty_file_is_an_empty_cache() -> None:
    assert records_of(lookup_cache.parse(b"", "f")) == []
    assert lookup_cache.parse(b"", "f").largest_token == -1


def test_every_truncation_is_noticed() -> None:
    data = as_file(RECORDS)
    borders = {len(as_file(RECORDS[:n])) for n in range(len(RECORDS) + 1)}
    for end in range(len(data)):
        if end not in borders:
            with pytest.raises(UserError, match=r"“cut\.bin” is no lookup cache, or it is damaged"):
                lookup_cache.parse(data[:end], "cut.bin")


@pytest.mark.parametrize(
    "words",
    [
        [1, -1, -1, -1, 0],  # no followers
        [1, -1, -1, -1, -5, 1, 1],
        [1, -1, -1, -1, 2**31 - 1, 1, 1],  # an absurd number of them
        [1, -1, -1, -1, 1, 1, 0],  # a count of 0
        [1, -1, -1, -1, 1, 1, -7],
        [1, -1, -1, -1, 1, -1, 1],  # a follower that is none
        [-1, -1, -1, -1, 1, 1, 1],  # an n-gram without tokens
        [1, -1, 2, -1, 1, 1, 1],  # with a gap
        [1, -2, -1, -1, 1, 1, 1],
        [0x47475546, 3, 0, 0, 26, 0, 5],  # a GGUF file
    ],
)
def test_damage_is_reported(words: list[int]) -> None:
    with pytest.raises(UserError) as caught:
        lookup_cache.parse(struct.pack(f"<{len(words)}i", *words), "f.bin")
    assert caught.value.code == "bad-lookup-cache"
    assert "cache build" in caught.value.hint


@given(st.binary(max_size=200))
def test_noise_is_refused_or_read_and_never_worse(data: bytes) -> None:
    try:
        cache = lookup_cache.parse(data, "f")
    except UserError:
        return
    assert lookup_cache.dump(cache) == data


def test_reading_and_writing(tmp_path: Path) -> None:
    file = tmp_path / "new" / "f.bin"
    lookup_cache.write(lookup_cache.parse(as_file(RECORDS), "f"), file)
    assert file.read_bytes() == as_file(RECORDS)
    assert records_of(lookup_cache.read(file)) == RECORDS
    assert [p.name for p in file.parent.iterdir()] == ["f.bin"]
    if sys.platform != "win32":
        assert file.stat().st_mode & 0o777 == 0o600


def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(path: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    file = tmp_path / "f.bin"
    file.write_bytes(b"old")
    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="No space"):
        lookup_cache.write(lookup_cache.empty(), file)
    assert file.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("name", ["missing.bin", ".", "a\0b"])
def test_what_cannot_be_read_is_reported(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError) as caught:
        lookup_cache.read(tmp_path / name)
    assert caught.value.code == "cannot-read"


# -------------------------------------------------------------------------------------- origins


def test_the_origin_lies_beside_the_file(tmp_path: Path) -> None:
    file = tmp_path / "f.bin"
    assert read_origin(file) is None
    write_origin(file, CacheOrigin("0123456789abcdef", "größer.gguf"))
    assert json.loads((tmp_path / "f.bin.json").read_text("utf-8"))["vocabulary"] == (
        "0123456789abcdef"
    )
    assert read_origin(file) == CacheOrigin("0123456789abcdef", "größer.gguf")
    write_origin(file, None)
    assert read_origin(file) is None
    write_origin(file, None)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", "3", '{"model": "m"}', "[" * 100_000, "\xff"]
)
def test_a_broken_origin_is_reported(tmp_path: Path, text: str) -> None:
    file = tmp_path / "f.bin"
    sidecar(file).write_bytes(text.encode("latin-1"))
    with pytest.raises(UserError, match=r"f\.bin\.json"):
        read_origin(file)


def test_who_may_use_a_cache() -> None:
    cache = lookup_cache.parse(as_file(RECORDS), "f")
    file = Path("f.bin")
    check_fits(file, cache, None, "", n_vocab=10)
    check_fits(file, cache, CacheOrigin("a"), "a", n_vocab=10)
    with pytest.raises(UserError, match="has token 9, but the model has only 9 tokens"):
        check_fits(file, cache, None, "", n_vocab=9)
    with pytest.raises(UserError, match=r"made for “m\.gguf”"):
        check_fits(file, cache, CacheOrigin("b", "m.gguf"), "a", n_vocab=10)
    with pytest.raises(UserError, match="made for another model"):
        check_fits(file, cache, CacheOrigin("b"), "a", n_vocab=10)
