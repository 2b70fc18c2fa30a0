"""The n-gram counts against llama.cpp's rules written down plainly, with lists of what followed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.draft.test_lookup_cache import as_file
from engine.workbench import workbench
from fake_model import ByteVocabulary
from paceline.engine.draft.base import Workbench
from paceline.engine.draft.lookups import lookup_cache
from paceline.engine.draft.lookups.lookup_cache import CacheOrigin, write_origin
from paceline.engine.draft.lookups.ngram_cache import (
    THRESHOLDS,
    Followers,
    NgramCache,
    StaticBigrams,
)
from paceline.engine.model.vocabularies import vocabulary_hash
from paceline.errors import UserError

Text = Sequence[int]


def bench(static: Path | None = None) -> Workbench:
    return workbench(lookup_cache=static)


def reading(text: Text, on: Workbench | None = None, n_max: int = 8) -> NgramCache:
    """Return a drafter that has read a whole prompt."""
    drafter = NgramCache(on or bench(), {"n_max": n_max})
    drafter.begin(list(text), len(text))
    return drafter


def proposed(drafter: NgramCache, n_max: int = 99) -> list[int]:
    return list(drafter.propose(n_max).tokens)


# ------------------------------------------------------------------------------- the obvious way

LEAST, SHARE = {1: 2, 2: 2, 3: 1, 4: 1}, {1: 66, 2: 50, 3: 50, 4: 50}


def followers(texts: Sequence[Text], gram: Text) -> list[int]:
    """Return everything that followed an n-gram, in order."""
    n = len(gram)
    return [
        text[place]
        for text in texts
        for place in range(n, len(text))
        if list(text[place - n : place]) == list(gram)
    ]


def winner(seen: list[int], corpus: list[int], least: int, share: int) -> int | None:
    def worth(token: int) -> int:
        known = corpus.count(token)
        return seen.count(token) * (100 * known if known else 1)

    if len(seen) < least:
        return None
    most = max(worth(token) for token in seen)
    token = next(token for token in reversed(seen) if worth(token) == most)
    return token if 100 * seen.count(token) >= share * len(seen) else None


def obvious_step(text: Text, written: Text, corpus: Sequence[Text]) -> int | None:
    if len(written) < 2:
        return None
    known = followers(corpus, written[-2:])
    for order in range(min(4, len(written)), 0, -1):
        seen = followers([text], written[-order:])
        found = winner(seen, known, LEAST[order], SHARE[order])
        if found is not None:
            return found
    return winner(known, [], LEAST[2], SHARE[2])


def obvious(text: Text, corpus: Sequence[Text], n: int, ahead: Text = ()) -> list[int]:
    """Return what follows `text` and `ahead` by what was counted in `text`."""
    written = [*text, *ahead]
    while len(written) < len(text) + len(ahead) + n:
        token = obvious_step(text, written, corpus)
        if token is None:
            break
        written.append(token)
    return written[len(text) + len(ahead) :]


TEXTS = st.integers(0, 3).flatmap(lambda n: st.lists(st.integers(0, n), min_size=1, max_size=50))
CHUNKS = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=7), max_size=10)


@given(TEXTS, st.integers(1, 12), st.integers(1, 12))
def test_a_text_at_once(text: list[int], n_max: int, room: int) -> None:
    drafter = reading(text, n_max=n_max)
    assert proposed(drafter, room) == obvious(text, (), min(n_max, room))


@given(TEXTS, CHUNKS, st.lists(st.integers(0, 3), max_size=6), st.integers(1, 9))
def test_a_text_that_grows(
    prompt: list[int], chunks: list[list[int]], ahead: list[int], n_max: int
) -> None:
    drafter = NgramCache(bench(), {"n_max": 8})
    history = list(prompt)
    drafter.begin(history, len(prompt))
    for place, chunk in enumerate(chunks):
        if place == 2:
            drafter.tune({"n_max": n_max})
        n = 8 if place < 2 else n_max
        history += chunk
        drafter.observe(place if place % 2 else None)
        assert proposed(drafter) == obvious(history, (), n)
        after = list(drafter.extend(ahead, 5).tokens)
        assert after == obvious(history, (), min(5, n), ahead)


@given(TEXTS, st.lists(TEXTS, max_size=3))
def test_two_sources(
    tmp_path_factory: pytest.TempPathFactory, text: list[int], corpora: list[list[int]]
) -> None:
    static = tmp_path_factory.mktemp("sources") / "static.bin"
    lookup_cache.write(lookup_cache.merge(lookup_cache.count(c, (2,)) for c in corpora), static)
    drafter = reading(text, bench(static))
    assert proposed(drafter) == obvious(text, corpora, 8)
    ahead = [2, 1, 0]
    after = list(drafter.extend(ahead, 4).tokens)
    assert after == obvious(text, corpora, 4, ahead)


# ------------------------------------------------------------------------------------ thresholds


def test_the_thresholds_are_llama_cpps() -> None:
    assert list(THRESHOLDS) == [(LEAST[n], SHARE[n]) for n in (1, 2, 3, 4)]


def test_followers_keep_their_latest_best() -> None:
    several = Followers({5: 2, 6: 2})
    assert several.best == 6
    several.add(5)
    assert (several.best, several.total) == (5, 5)
    several.add(6)
    assert (several.best, several.counts) == (6, {5: 3, 6: 3})


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3)), max_size=30))
def test_bigrams_of_a_corpus(triples: list[tuple[int, int, int]]) -> None:
    cache = lookup_cache.merge([lookup_cache.count(t, (1, 2)) for t in triples])
    bigrams = StaticBigrams(cache, bits=3)
    for a in range(5):
        for b in range(5):
            seen = [c for x, y, c in triples if (x, y) == (a, b)]
            place = bigrams.find(a << 3 | b)
            assert (place >= 0) == bool(seen)
            if seen:
                for token in range(5):
                    assert bigrams.weight(place, token) == (100 * seen.count(token) or 1)
                best = winner(seen, [], 2, 50)
                assert bigrams.best(place) == (-1 if best is None else best)


# -------------------------------------------------------------------------------- static caches


def test_a_static_cache_is_read_once_per_pair(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    static = tmp_path / "s.bin"
    static.write_bytes(as_file([((1, 2), [(5, 2)])]))
    reads: list[Path] = []
    read = lookup_cache.read
    monkeypatch.setattr(lookup_cache, "read", lambda path: (reads.append(path), read(path))[1])
    on = bench(static=static)
    for _ in range(3):
        assert proposed(reading([1, 2], on)) == [5]
    assert len(reads) == 1
    static.write_bytes(as_file([((1, 2), [(6, 2)]), ((3, 2), [(6, 2)])]))
    assert proposed(reading([1, 2], on)) == [6]


def test_a_static_cache_of_this_vocabulary(tmp_path: Path) -> None:
    static = tmp_path / "s.bin"
    static.write_bytes(as_file([((1, 2), [(5, 2)])]))
    write_origin(static, CacheOrigin(vocabulary_hash(ByteVocabulary()), "m"))
    assert proposed(reading([1, 2], bench(static=static))) == [5]


def test_a_static_cache_of_another_vocabulary_is_refused_at_once(tmp_path: Path) -> None:
    static = tmp_path / "s.bin"
    static.write_bytes(as_file([((1, 2), [(5, 2)])]))
    write_origin(static, CacheOrigin("0" * 16, "other.gguf"))
    with pytest.raises(UserError, match=r"made for “other\.gguf”"):
        NgramCache(bench(static=static), {"n_max": 8})


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (None, "cannot-read"),
        (b"\1\2\3", "bad-lookup-cache"),
        (as_file([((1, 2), [(257, 2)])]), "other-vocabulary"),
    ],
)
def test_a_static_cache_that_cannot_be_used(
    tmp_path: Path, content: bytes | None, code: str
) -> None:
    static = tmp_path / "s.bin"
    if content is not None:
        static.write_bytes(content)
    with pytest.raises(UserError) as caught:
        NgramCache(bench(static=static), {"n_max": 8})
    assert caught.value.code == code
