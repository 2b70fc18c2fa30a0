"""The automaton against the obvious way: every end of every beginning, searched in what was there.

The reference holds texts as strings, one character per token, and knows nothing of states.
"""

from __future__ import annotations

import random
import time
import tracemalloc
from collections import Counter, defaultdict
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.engine.draft.lookups.suffix import SuffixAutomaton

UNKNOWN = 999_999  # stands in no text

TEXTS = st.integers(1, 4).flatmap(lambda n: st.lists(st.integers(1, n), min_size=1, max_size=40))
AHEAD = st.lists(st.integers(1, 5), max_size=6)


class Obvious:
    """The longest match and the counts by definition."""

    def __init__(self, tokens: Sequence[int]) -> None:
        self.text = "".join(map(chr, tokens))
        self.counts: dict[str, Counter[str]] = defaultdict(Counter)
        self.counted_at: dict[tuple[str, str], int] = {}
        for i, token in enumerate(self.text):
            self._count(self.text[:i], token)

    def _count(self, before: str, token: str) -> None:
        ends = [before[k:] for k in range(len(before) + 1)]  # the longest first
        known = next((end for end in ends if end + token in before), None)
        for end in ends:
            is_new = known is None or len(end) > len(known)
            if is_new or self._places(end, before) == self._places(known or "", before):
                self.counts[end][token] += 1
                self.counted_at[end, token] = len(before)

    @staticmethod
    def _places(end: str, text: str) -> list[int]:
        return [i for i in range(len(end), len(text) + 1) if text[i - len(end) : i] == end]

    def match(self, text: str) -> str:
        """The longest end of `text` that the history has with a token after it."""
        return next(text[k:] for k in range(len(text) + 1) if text[k:] in self.text[:-1])

    def best(self, match: str) -> str:
        counts = self.counts[match]
        return max(counts, key=lambda token: (counts[token], self.counted_at[match, token]))

    def follow(
        self, ahead: Sequence[int], n: int, min_match: int, p_min: float
    ) -> tuple[list[int], list[float]]:
        text = self.text + "".join(map(chr, ahead))
        tokens: list[int] = []
        shares: list[float] = []
        product = 1.0
        while len(tokens) < n:
            match = self.match(text)
            if len(match) < min_match:
                break
            best = self.best(match)
            share = self.counts[match][best] / self.counts[match].total()
            product *= share
            if product < p_min:
                break
            text += best
            tokens.append(ord(best))
            shares.append(share)
        return tokens, shares


def automaton(text: Sequence[int], chunk: int = 64) -> SuffixAutomaton:
    made = SuffixAutomaton()
    for start in range(0, len(text), chunk):
        made.feed(text, start, min(start + chunk, len(text)))
    return made


def state_of(made: SuffixAutomaton, substring: Sequence[int]) -> int:
    state, length = made.match([UNKNOWN, *substring])
    assert length == len(substring)
    return state


def check_all(text: Sequence[int], made: SuffixAutomaton) -> None:
    obvious = Obvious(text)
    assert made.match()[1] == len(obvious.match(obvious.text))
    end = len(obvious.text) - 1
    for match in {obvious.text[i:j] for i in range(end + 1) for j in range(i, end + 1)}:
        state = state_of(made, [ord(c) for c in match])
        got = made.followers(state)
        assert got == {ord(token): n for token, n in obvious.counts[match].items()}, match
        best, share = obvious.best(match), max(got.values()) / sum(got.values())
        assert made.follow(text, (state, len(match)), 1, 0, 0.0) == ([ord(best)], [share])


@given(TEXTS, st.integers(1, 9))
def test_counts_of_every_substring(text: list[int], chunk: int) -> None:
    check_all(text, automaton(text, chunk))


@pytest.mark.grid(short=2)
@pytest.mark.parametrize("n_tokens", [2, 8, 30])
def test_states_with_many_followers_that_are_split(n_tokens: int) -> None:
    """Long enough that edges move into dictionaries, and that states with such edges divide."""
    rng = random.Random(n_tokens)
    words = [[rng.randrange(1, n_tokens) for _ in range(4)] for _ in range(6)]
    text: list[int] = []
    while len(text) < 200:
        text += [*rng.choice(words), rng.randrange(1, n_tokens + 1)]
    check_all(text, automaton(text))


@given(TEXTS, st.lists(st.lists(st.integers(1, 3), min_size=1, max_size=5), max_size=8))
def test_the_match_at_any_time(text: list[int], chunks: list[list[int]]) -> None:
    history = list(text)
    made = automaton(history)
    for chunk in chunks:
        history += chunk
        made.feed(history, len(history) - len(chunk), len(history))
        obvious = Obvious(history)
        assert made.match()[1] == len(obvious.match(obvious.text))


@given(TEXTS, AHEAD, st.integers(1, 12), st.integers(1, 4), st.sampled_from([0.0, 0.1, 0.5, 1.0]))
def test_what_is_drafted(
    text: list[int], ahead: list[int], n: int, min_match: int, p_min: float
) -> None:
    made, obvious = automaton(text), Obvious(text)
    match = made.match(ahead)
    assert match[1] == len(obvious.match(obvious.text + "".join(map(chr, ahead))))
    assert made.follow(text, match, n, min_match, p_min) == obvious.follow(
        ahead, n, min_match, p_min
    )


def test_nothing_known_nothing_drafted() -> None:
    made = SuffixAutomaton()
    assert made.match() == (0, 0)
    assert made.match([3, 4]) == (0, 0)
    assert made.follow([], (0, 0), 8, 1, 0.0) == ([], [])
    made.feed([1], 0, 1)
    assert made.match() == (0, 0)


def test_ids_of_large_vocabularies() -> None:
    text = [151_935, 0, 151_643, 0, 151_935, 0]
    made = automaton(text)
    assert made.match()[1] == 2
    assert made.follow(text, made.match(), 2, 2, 0.0)[0] == [151_643, 0]


def test_leaving_a_long_period_is_given_up() -> None:
    text = [3, 4, 9, *[1, 2] * 3000]
    made = automaton(text)
    assert made.match([1, 2, 1])[1] == 5999  # as far as it has a token after it
    assert made.match([2, 3, 4]) == (0, 0)
    short = [3, 4, 9, *[1, 2] * 30]
    assert automaton(short).match([2, 3, 4])[1] == 2


def streams(n: int) -> dict[str, list[int]]:
    rng = random.Random(n)
    period = [rng.randrange(50_000) for _ in range(700)]
    text: list[int] = []
    while len(text) < n:  # repeats itself a little everywhere, as texts do
        begin = rng.randrange(len(text) + 1)
        text += [*text[begin : begin + rng.randrange(6)], rng.randrange(3000)]
    return {
        "text": text[:n],
        "bits": [rng.randrange(2) for _ in range(n)],
        "wide": [rng.randrange(151_936) for _ in range(n)],
        "period": [period[i % 700] for i in range(n)],
    }


@pytest.mark.grid(short=2)
@pytest.mark.parametrize("name", list(streams(1)))
def test_memory(name: str) -> None:
    text = streams(16_384)[name]
    tracemalloc.start()
    try:
        made = automaton(text)
        assert tracemalloc.get_traced_memory()[1] < 256 * len(text)
    finally:
        tracemalloc.stop()
    assert made.match()[1] >= 0


@pytest.mark.grid(short=2)
@pytest.mark.parametrize("name", list(streams(1)))
def test_time(name: str) -> None:
    """Ten times what it takes, in this thread's processor time."""
    text = streams(16_384)[name]
    began = time.thread_time()
    made = automaton(text)
    assert (time.thread_time() - began) / len(text) < 50e-6
    best = 1.0
    for _ in range(20):
        began = time.thread_time()
        made.follow(text, made.match(), 32, 1, 0.0)
        best = min(best, time.thread_time() - began)
    assert best < 200e-6
