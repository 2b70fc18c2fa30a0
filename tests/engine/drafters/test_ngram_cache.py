"""The n-gram counts against llama.cpp's rules written down plainly, with lists of what followed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.drafters.test_lookup_cache import as_file, obvious_count, pairs_of
from paceline.engine.drafters import lookup_cache, ngram_cache
from paceline.engine.drafters.base import Workbench
from paceline.engine.drafters.lookup_origin import Origin, read_origin, write_origin
from paceline.engine.drafters.ngram_cache import DYNAMIC_FILE, INFO, NgramCache
from paceline.engine.drafters.ngram_counts import LAX, STRICT, Counts, Followers, StaticBigrams
from paceline.engine.fake import ByteVocabulary
from paceline.engine.sampling import Sampler
from paceline.engine.vocab import vocabulary_hash
from paceline.errors import UserError
from paceline.messages import SamplingParams

BITS = 9
Text = Sequence[int]


def bench(memory: Path | None = None, static: Path | None = None, **more: Any) -> Workbench:
    return Workbench(
        vocab=ByteVocabulary(),
        sampler=Sampler(SamplingParams(), 1),
        draft=None,
        eog=frozenset(),
        chunk=16,
        memory=memory,
        lookup_cache=static,
        **more,
    )


def reading(text: Text, on: Workbench | None = None, n_max: int = 8) -> NgramCache:
    """Return a drafter that has read a whole prompt."""
    drafter = NgramCache(on or bench(), {"n_max": n_max})
    drafter.begin(list(text), len(text))
    return drafter


def end(drafter: NgramCache) -> None:
    """What the engine does behind a reply."""
    drafter.close()
    drafter.keep()


def reply(on: Workbench, prompt: Text, text: Text, chunk: int = 3) -> None:
    """Let a turn generate a text."""
    drafter = NgramCache(on, {"n_max": 8})
    history = list(prompt)
    drafter.begin(history, len(prompt))
    for start in range(0, len(text), chunk):
        history += text[start : start + chunk]
        drafter.observe(None)
    end(drafter)


def proposed(drafter: NgramCache, n_max: int = 99) -> list[int]:
    return list(drafter.propose(n_max).tokens)


# ------------------------------------------------------------------------------- the obvious way

LEAST_LAX, SHARE_LAX = {1: 2, 2: 2, 3: 1, 4: 1}, {1: 66, 2: 50, 3: 50, 4: 50}
LEAST_STRICT, SHARE_STRICT = {1: 4, 2: 3, 3: 2, 4: 2}, {1: 75, 2: 66, 3: 66, 4: 66}


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


def obvious_step(
    text: Text, written: Text, earlier: Sequence[Text], corpus: Sequence[Text]
) -> int | None:
    if len(written) < 2:
        return None
    known = followers(corpus, written[-2:])
    for texts, least, share in (
        ([text], LEAST_LAX, SHARE_LAX),
        (earlier, LEAST_STRICT, SHARE_STRICT),
    ):
        for order in range(min(4, len(written)), 0, -1):
            seen = followers(texts, written[-order:])
            found = winner(seen, known, least[order], share[order])
            if found is not None:
                return found
    return winner(known, [], LEAST_LAX[2], SHARE_LAX[2])


def obvious(
    text: Text, earlier: Sequence[Text], corpus: Sequence[Text], n: int, ahead: Text = ()
) -> list[int]:
    """Return what follows `text` and `ahead` by what was counted in `text`."""
    written = [*text, *ahead]
    while len(written) < len(text) + len(ahead) + n:
        token = obvious_step(text, written, earlier, corpus)
        if token is None:
            break
        written.append(token)
    return written[len(text) + len(ahead) :]


TEXTS = st.integers(0, 3).flatmap(lambda n: st.lists(st.integers(0, n), min_size=1, max_size=50))
CHUNKS = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=7), max_size=10)


@given(TEXTS, st.integers(1, 12), st.integers(1, 12))
def test_a_text_at_once(text: list[int], n_max: int, room: int) -> None:
    drafter = reading(text, n_max=n_max)
    assert proposed(drafter, room) == obvious(text, (), (), min(n_max, room))


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
        assert proposed(drafter) == obvious(history, (), (), n)
        behind = list(drafter.extend(ahead, 5).tokens)
        assert behind == obvious(history, (), (), min(5, n), ahead)


@given(TEXTS, st.lists(TEXTS, max_size=3), st.lists(TEXTS, max_size=3))
def test_three_sources(
    tmp_path_factory: pytest.TempPathFactory,
    text: list[int],
    earlier: list[list[int]],
    corpora: list[list[int]],
) -> None:
    folder = tmp_path_factory.mktemp("sources")
    static = folder / "static.bin"
    lookup_cache.write(lookup_cache.merge(lookup_cache.count(c, (2,)) for c in corpora), static)
    on = bench(folder / "memory", static)
    for one in earlier:
        reply(on, one[:1], one[1:])
    drafter = reading(text, on)
    assert proposed(drafter) == obvious(text, earlier, corpora, 8)
    ahead = [2, 1, 0]
    behind = list(drafter.extend(ahead, 4).tokens)
    assert behind == obvious(text, earlier, corpora, 4, ahead)


# ------------------------------------------------------------------------------------ thresholds


def test_the_thresholds_are_llama_cpps() -> None:
    assert list(LAX) == [(LEAST_LAX[n], SHARE_LAX[n]) for n in (1, 2, 3, 4)]
    assert list(STRICT) == [(LEAST_STRICT[n], SHARE_STRICT[n]) for n in (1, 2, 3, 4)]


@pytest.mark.parametrize(
    ("thresholds", "n", "counts", "drafted"),
    [
        (LAX, 1, {5: 1}, False),
        (LAX, 1, {5: 2}, True),
        (LAX, 1, {5: 2, 6: 1}, True),  # 66.7 %
        (LAX, 1, {5: 65, 6: 35}, False),
        (LAX, 1, {5: 66, 6: 34}, True),
        (LAX, 2, {5: 1}, False),
        (LAX, 2, {6: 1, 5: 1}, True),  # exactly one half
        (LAX, 2, {5: 49, 6: 26, 7: 25}, False),
        (LAX, 3, {5: 1}, True),
        (LAX, 4, {5: 1}, True),
        (LAX, 4, {5: 1, 6: 1, 7: 1}, False),
        (STRICT, 1, {5: 3}, False),
        (STRICT, 1, {5: 4}, True),
        (STRICT, 1, {5: 3, 6: 1}, True),
        (STRICT, 1, {5: 74, 6: 26}, False),
        (STRICT, 2, {5: 2}, False),
        (STRICT, 2, {5: 3}, True),
        (STRICT, 2, {5: 65, 6: 35}, False),
        (STRICT, 2, {5: 66, 6: 34}, True),
        (STRICT, 3, {5: 1}, False),
        (STRICT, 3, {5: 2}, True),
        (STRICT, 4, {5: 2, 6: 1}, True),
    ],
)
def test_their_borders(
    thresholds: tuple[tuple[int, int], ...], n: int, counts: dict[int, int], *, drafted: bool
) -> None:
    gram = (1, 2, 3, 4)[4 - n :]
    cache = lookup_cache.parse(as_file([(gram, list(counts.items()))]), "f")
    loaded = Counts(BITS, thresholds)
    loaded.load(cache)
    grown = Counts(BITS, thresholds)
    for token, count in counts.items():
        for _ in range(count):
            text = [*gram, token]
            grown.feed(text, 0, len(text))
    tail = ((1 << BITS | 2) << BITS | 3) << BITS | 4
    expected = 5 if drafted else -1
    assert loaded.next_token(tail, 4, None, -1) == expected
    if n == 4:  # shorter ones are counted as well when a text is fed
        assert grown.next_token(tail, 4, None, -1) == expected
    if drafted and n > 1:
        assert loaded.next_token(tail, n - 1, None, -1) == -1, "there are too few tokens before"


@pytest.mark.parametrize(("count", "drafted"), [({5: 1}, []), ({5: 2}, [5]), ({6: 1, 5: 1}, [5])])
def test_the_corpus_alone(tmp_path: Path, count: dict[int, int], drafted: list[int]) -> None:
    static = tmp_path / "s.bin"
    static.write_bytes(as_file([((1, 2), list(count.items())), ((2,), [(7, 99)])]))
    assert proposed(reading([1, 2], bench(static=static))) == drafted
    assert proposed(reading([2], bench(static=static))) == []
    assert proposed(reading([2, 1], bench(static=static))) == []


def test_the_corpus_outweighs_a_count(tmp_path: Path) -> None:
    text = [1, 2, 5, 1, 2, 6, 1, 2]  # 5 and 6 are equally likely, 6 is later
    static = tmp_path / "s.bin"
    static.write_bytes(as_file([((1, 2), [(5, 1), (9, 8)])]))
    assert proposed(reading(text), 1) == [6]
    assert proposed(reading(text, bench(static=static)), 1) == [5]
    # A rare follower that the corpus knows outdoes the likely one and is itself too rare. Then
    # shorter n-grams are asked, and at last the corpus.
    text = [4, 3, 1, 2, 5] + [4, 3, 1, 2, 6] * 8 + [4, 3, 1, 2]
    assert proposed(reading(text), 1) == [6]
    assert proposed(reading(text, bench(static=static)), 1) == [9]


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


# ---------------------------------------------------------------------------------- persistence


def saved(folder: Path) -> Any:
    return pairs_of(lookup_cache.read(folder / DYNAMIC_FILE))


def test_replies_are_remembered_and_prompts_are_not(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "v"
    on = bench(folder)
    prompt, first, second = [1, 2, 3], [4, 5, 4, 5, 4, 5, 4], [8, 9, 8]
    reply(on, prompt, first)
    reply(on, [*prompt, *first, 7, 7], second)
    reply(bench(folder), [6], first)
    expected = obvious_count([*prompt, *first], (1, 2, 3, 4), start=3)
    expected += obvious_count([*prompt, *first, 7, 7, *second], (1, 2, 3, 4), start=12)
    expected += obvious_count([6, *first], (1, 2, 3, 4), start=1)
    assert saved(folder) == expected
    assert read_origin(folder / DYNAMIC_FILE) == Origin(vocabulary_hash(ByteVocabulary()))
    if sys.platform != "win32":
        assert (folder / DYNAMIC_FILE).stat().st_mode & 0o777 == 0o600
        assert folder.stat().st_mode & 0o777 == 0o700
    assert proposed(reading([7, 7, 4, 5], bench(folder)), 3) == [4, 5, 4]


def test_the_same_bench_drafts_from_what_it_saved(tmp_path: Path) -> None:
    on = bench(tmp_path)
    reply(on, [0, 0], [1, 2, 3, 4, 5] * 3)
    assert proposed(reading([0, 1, 2], on), 3) == [3, 4, 5]


def test_without_memory_nothing_is_written_or_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    on = bench()
    reply(on, [0, 0], [1, 2, 3, 4, 5] * 3)
    assert list(tmp_path.iterdir()) == []
    assert proposed(reading([7, 1, 2], on)) == []


def test_a_turn_without_new_tokens_writes_nothing(tmp_path: Path) -> None:
    drafter = reading([1, 2, 3], bench(tmp_path))
    end(drafter)
    end(drafter)
    assert list(tmp_path.iterdir()) == []


def test_every_token_is_counted_once_when_drafters_alternate(tmp_path: Path) -> None:
    on = bench(tmp_path)
    history = [1, 2, 3]
    seen: list[tuple[int, int]] = []
    for n in (4, 1, 5):
        drafter = NgramCache(on, {"n_max": 8})
        start = len(history)
        drafter.begin(history, 3)
        history += [n] * n
        drafter.observe(None)
        seen.append((start, len(history)))
        end(drafter)
        history += [9, 9]  # by another drafter
    expected: Any = sum(
        (obvious_count(history[:end], (1, 2, 3, 4), start) for start, end in seen),
        obvious_count([], ()),
    )
    assert saved(tmp_path) == expected


def test_the_first_token_of_a_reply_counts(tmp_path: Path) -> None:
    drafter = NgramCache(bench(tmp_path), {"n_max": 8})
    drafter.begin([1, 2, 3, 7], 3)  # 7 is from the prefill's logits
    end(drafter)
    assert saved(tmp_path) == obvious_count([1, 2, 3, 7], (1, 2, 3, 4), start=3)


def test_what_another_program_saved_meanwhile_stays(tmp_path: Path) -> None:
    drafter = NgramCache(bench(tmp_path), {"n_max": 8})
    history = [1]
    drafter.begin(history, 1)
    reply(bench(tmp_path), [2], [3, 4])
    history += [5, 6]
    end(drafter)
    assert saved(tmp_path) == (
        obvious_count([2, 3, 4], (1, 2, 3, 4)) + obvious_count([1, 5, 6], (1, 2, 3, 4))
    )


def test_the_file_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ngram_cache, "MOST_FOLLOWERS", 40)
    on = bench(tmp_path)
    reply(on, [0], [1, 2] * 5)
    reply(on, [0], list(range(10, 200)))
    kept = saved(tmp_path)
    assert len(kept) == 40
    assert kept[(1,), 2] == 5
    assert kept[(198,), 199] == 1


@pytest.mark.parametrize(
    "content",
    [b"\1", as_file([((1, 2), [(3, 4)])])[:-4], as_file([((1, 999), [(3, 4)])])],
    ids=["noise", "truncated", "other vocabulary"],
)
def test_a_damaged_file_is_replaced(
    tmp_path: Path, content: bytes, allow_warnings: Callable[[str], None]
) -> None:
    allow_warnings("What earlier chats have left is lost")
    (tmp_path / DYNAMIC_FILE).write_bytes(content)
    reply(bench(tmp_path), [1], [2, 3])
    assert saved(tmp_path) == obvious_count([1, 2, 3], (1, 2, 3, 4))


def test_a_failed_write_costs_no_reply(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, allow_warnings: Callable[[str], None]
) -> None:
    def fail(path: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    allow_warnings("What was learned from this reply is lost: .*No space left")
    monkeypatch.setattr(Path, "replace", fail)
    reply(bench(tmp_path), [1], [2, 3])
    assert list(tmp_path.iterdir()) == []


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
    write_origin(static, Origin(vocabulary_hash(ByteVocabulary()), "m"))
    assert proposed(reading([1, 2], bench(static=static))) == [5]


def test_a_static_cache_of_another_vocabulary_is_refused_at_once(tmp_path: Path) -> None:
    static = tmp_path / "s.bin"
    static.write_bytes(as_file([((1, 2), [(5, 2)])]))
    write_origin(static, Origin("0" * 16, "other.gguf"))
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


def test_the_settings() -> None:
    (parameter,) = INFO.parameters
    assert (parameter.name, parameter.default, parameter.low, parameter.high) == ("n_max", 8, 1, 64)
    assert proposed(reading([1, 2] * 40, n_max=64)) == [1, 2] * 32
    assert INFO.make(bench(), {"n_max": 8}) is not None
