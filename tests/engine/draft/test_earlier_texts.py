"""The index of earlier chats against a search through all of their pieces."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.engine.draft.lookups import earlier_texts
from paceline.engine.draft.lookups.earlier_texts import (
    MAX_LOOKS,
    MAX_MATCH,
    PIECE_CHARS,
    EarlierTexts,
)

Drafted = tuple[list[int], list[float]]


def made(chats: Sequence[Sequence[int]], capacity: int = 10_000) -> EarlierTexts:
    """An index of chats with a text each, whose characters are the tokens."""
    texts = EarlierTexts(lambda text: list(map(ord, text)), capacity)
    for number, chat in enumerate(chats):
        put(texts, str(number), chat)
    return texts


def put(texts: EarlierTexts, name: str, *chat: Sequence[int]) -> None:
    texts.put(name, ["".join(map(chr, text)) for text in chat])
    while texts.slice():
        pass


def drafted(
    texts: EarlierTexts, tail: Sequence[int], shortest: int = 2, n: int = 5, p_min: float = 0.0
) -> tuple[int, list[int], list[float]] | None:
    """Return a match's length and the tokens after it, or None if there is no match."""
    length, places = texts.longest(tail, shortest)
    return (length, *texts.follow(places, n, p_min)) if places else None


def words(seed: int, n: int, n_tokens: int = 5000) -> list[int]:
    rng = random.Random(seed)
    return [rng.randrange(1, n_tokens) for _ in range(n)]


def found(
    chats: Sequence[Sequence[int]],
    tail: Sequence[int],
    shortest: int = 1,
    n: int = 40,
    p_min: float = 0.0,
) -> tuple[int, list[int], list[float]] | None:
    """The definition: of the latest places after 6, or 2, of these tokens the longest match."""
    for order in (6, 2):
        places = [
            (chat, at)
            for chat in chats
            for at in range(order, len(chat))
            if order <= len(tail) and list(chat[at - order : at]) == list(tail[-order:])
        ][: -MAX_LOOKS - 1 : -1]
        lengths = [agreeing(chat[:at], tail) for chat, at in places]
        longest = max(lengths, default=0)
        if longest >= shortest:
            at_most = [
                list(chat[at : at + n])
                for (chat, at), length in zip(places, lengths, strict=True)
                if length == longest
            ]
            return (longest, *copied(at_most, n, p_min))
        if shortest >= order:
            break
    return None


def agreeing(text: Sequence[int], tail: Sequence[int]) -> int:
    n = 0
    while n < min(len(text), len(tail), MAX_MATCH) and text[-1 - n] == tail[-1 - n]:
        n += 1
    return n


def copied(texts: list[list[int]], n: int, p_min: float) -> Drafted:
    tokens: list[int] = []
    shares: list[float] = []
    product = 1.0
    for at in range(n):
        texts = [text for text in texts if len(text) > at]
        if not texts:
            break
        following = [text[at] for text in texts]
        best = max(following, key=lambda token: (following.count(token), -following.index(token)))
        share = following.count(best) / len(following)
        product *= share
        if product < p_min:
            break
        tokens.append(best)
        shares.append(share)
        texts = [text for text in texts if text[at] == best]
    return tokens, shares


CHATS = st.integers(1, 4).flatmap(
    lambda n: st.lists(st.lists(st.integers(1, n), min_size=1, max_size=50), max_size=5)
)


@given(
    CHATS,
    st.lists(st.integers(1, 4), max_size=MAX_MATCH),
    st.integers(1, 8),
    st.integers(1, 40),
    st.sampled_from([0.0, 0.3, 1.0]),
)
def test_against_the_definition(
    chats: list[list[int]], tail: list[int], shortest: int, n: int, p_min: float
) -> None:
    assert drafted(made(chats), tail, shortest, n, p_min) == found(chats, tail, shortest, n, p_min)
    if chats:
        tail = chats[0][-20:-3]
        assert drafted(made(chats), tail, shortest, n, p_min) == found(
            chats, tail, shortest, n, p_min
        )


@given(CHATS, st.integers(0, 4), st.lists(st.integers(1, 4), min_size=2, max_size=MAX_MATCH))
def test_what_is_taken_out_is_gone_at_once(
    chats: list[list[int]], gone: int, tail: list[int]
) -> None:
    texts = made(chats)
    texts.put(str(gone), ())
    kept = [chat if number != gone else [] for number, chat in enumerate(chats)]
    tokens = texts._tokens[MAX_MATCH : MAX_MATCH + texts.n_tokens]
    held = [int(token) for token in tokens if token != earlier_texts.STOP]
    assert held == [token for chat in kept for token in chat]
    draft = drafted(texts, tail, 2, 40, 0.0)
    if draft is not None:  # places that were taken out take up looks, so it may find less
        length, after, _ = draft
        assert any(
            chat[at : at + length + len(after)] == [*tail[-length:], *after]
            for chat in kept
            for at in range(len(chat))
        )


def test_a_chat_that_grows_is_tokenized_where_it_is_new() -> None:
    seen: list[str] = []
    texts = EarlierTexts(lambda text: (seen.append(text), list(map(ord, text)))[1])
    for chat in (["one", "two"], ["one", "two", "three"], ["two", "three"], []):
        texts.put("chat", chat)
        while texts.slice():
            pass
    assert seen == ["one", "two", "three"]
    assert drafted(texts, [ord("t"), ord("w")], 2, 5, 0.0) is None


def test_slices_are_short_and_a_long_text_is_found_across_them() -> None:
    lengths: list[int] = []
    texts = EarlierTexts(lambda text: (lengths.append(len(text)), list(map(ord, text)))[1])
    text = words(1, 3 * PIECE_CHARS + 7)
    texts.put("chat", ["".join(map(chr, text))])
    n = 0
    while texts.slice():
        n += 1
        assert len(lengths) == n
    assert lengths == [PIECE_CHARS] * 3 + [7]
    for at in (100, PIECE_CHARS - 40, PIECE_CHARS + 2, 3 * PIECE_CHARS - 70):
        draft = drafted(texts, text[at - 2 : at], 2, 30, 0.0)
        assert draft is not None
        n_left = PIECE_CHARS - at % PIECE_CHARS
        assert draft[1] == text[at : at + min(30, n_left)]


def test_the_memory_is_bounded_and_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(earlier_texts, "PIECE_CHARS", 100)
    texts = made([], capacity=1000)
    chats = {name: words(name, 190) for name in range(5)}
    for name, chat in chats.items():
        put(texts, str(name), chat)
    assert texts.n_tokens == 960
    put(texts, "too much", words(9, 100))
    assert drafted(texts, words(9, 100)[:10], 2, 5, 0.0) is None
    for name in (0, 1):
        texts.put(str(name), ())
    put(texts, "new", words(7, 150))  # there is no room until everything is indexed again
    assert texts.n_tokens <= 1000
    for chat in (chats[2], chats[3], chats[4], words(7, 150), words(9, 100)):
        draft = drafted(texts, chat[50:54], 4, 3, 0.0)
        assert draft is not None
        assert draft[1] == chat[54:57]
    for name in (0, 1):
        assert drafted(texts, chats[name][50:54], 4, 3, 0.0) is None


def test_only_what_is_used_takes_memory() -> None:
    tracemalloc.start()
    try:
        texts = EarlierTexts(lambda text: list(map(ord, text)))
        assert tracemalloc.get_traced_memory()[0] < 13 * earlier_texts.CAPACITY
        assert texts.n_tokens == 0
    finally:
        tracemalloc.stop()


def test_what_found_no_room_is_indexed_when_there_is_some() -> None:
    earlier = EarlierTexts(lambda text: [ord(c) for c in text], capacity=1000)
    earlier.put("a", [f"a{n:03d}" for n in range(180)])
    earlier.put("b", ["the quick brown fox " * 6])
    while earlier.slice():
        pass
    assert not earlier.longest([ord(c) for c in "the quick "], 1)[1]
    earlier.put("a", [])
    while earlier.slice():
        pass
    assert earlier.longest([ord(c) for c in "the quick "], 1)[0] == len("the quick ")
