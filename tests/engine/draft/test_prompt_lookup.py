"""Prompt lookup against the obvious way: look through the whole text, longest match first."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.workbench import workbench
from paceline.engine.draft.lookups import lookup as lookup_module
from paceline.engine.draft.lookups.prompt_lookup import PromptLookup

END = 9


def lookup(max_ngram: int = 3, n_pred: int = 8, eog: Sequence[int] = (END,)) -> PromptLookup:
    bench = workbench(eog=frozenset(eog))
    return PromptLookup(bench, {"max_ngram": max_ngram, "n_pred": n_pred})


def proposed(text: Sequence[int], n_max: int = 64, **settings: int) -> list[int]:
    drafter = lookup(**settings)
    drafter.begin(list(text), 1)
    return list(drafter.propose(n_max).tokens)


def obvious(text: Sequence[int], max_ngram: int, n: int, eog: Sequence[int] = (END,)) -> list[int]:
    """Compare every place with the text's end, and write what followed, token by token."""
    written = list(text)
    for length in range(max_ngram, 0, -1):
        for place in range(len(text) - length - 1, -1, -1):
            if all(text[place + i] == text[len(text) - length + i] for i in range(length)):
                for source in range(place + length, place + length + n):
                    written.append(written[source])
                    if written[-1] in eog:
                        break
                return written[len(text) :]
    return []


TEXTS = st.integers(1, 4).flatmap(lambda n: st.lists(st.integers(1, n), min_size=1, max_size=60))
CHUNKS = st.lists(st.lists(st.integers(1, 3) | st.just(END), min_size=1, max_size=7), max_size=12)


@given(TEXTS, st.integers(1, 6), st.integers(1, 10), st.integers(1, 12))
def test_a_text_at_once(text: list[int], max_ngram: int, n_pred: int, n_max: int) -> None:
    got = proposed(text, n_max, max_ngram=max_ngram, n_pred=n_pred)
    assert got == obvious(text, max_ngram, min(n_pred, n_max))


@given(TEXTS, CHUNKS, st.integers(1, 6), st.booleans())
def test_a_text_that_grows(
    prompt: list[int], chunks: list[list[int]], max_ngram: int, ask_always: bool
) -> None:
    drafter = lookup(max_ngram)
    history = list(prompt)
    drafter.begin(history, len(prompt))
    for chunk in chunks:
        if ask_always:
            assert list(drafter.propose(8).tokens) == obvious(history, max_ngram, 8)
        history += chunk
        drafter.observe(None)
    for _ in range(2):  # asking changes nothing
        assert list(drafter.propose(8).tokens) == obvious(history, max_ngram, 8)


def longest_match(text: Sequence[int], drafted: Sequence[int]) -> int:
    """Return the number of equal tokens at the text's end and before the last copied place."""
    for length in range(3, 0, -1):
        for place in range(len(text) - length - 1, -1, -1):
            if list(text[place : place + length]) == list(text[len(text) - length :]):
                end, n = place + length, length
                while n < end and length == 3 and n < 24 and text[end - 1 - n] == text[-1 - n]:
                    n += 1
                return n
    raise AssertionError(drafted)


@given(TEXTS, st.integers(1, 8))
def test_longer_matches_are_surer(text: list[int], n_max: int) -> None:
    drafter = lookup()
    drafter.begin(list(text), 1)
    draft = drafter.propose(n_max)
    if not draft.tokens:
        assert not draft.confidences
        return
    agreed = longest_match(text, draft.tokens)
    expected = [(agreed + i) / (agreed + i + 1) for i in range(len(draft.tokens))]
    assert list(draft.confidences) == pytest.approx(expected)


def test_a_copy_ends_with_an_end_of_generation() -> None:
    assert proposed([1, 2, END, 5, 1]) == [2, END]
    assert proposed([1, END, 5, 1], n_pred=1) == [END]
    assert proposed([1, END, 1]) == [END]  # also where the copy would run on into itself
    assert proposed([1, 2, END, 5, 1], eog=()) == [2, END, 5, 1, 2, END, 5, 1]


@pytest.mark.parametrize("alphabet", [5, 500])
def test_a_step_costs_the_same_in_a_long_text(alphabet: int) -> None:
    def seconds_per_step(n: int) -> float:
        rng = random.Random(n)
        history = [rng.randrange(alphabet) for _ in range(n)]
        drafter = lookup()
        with mock.patch.object(lookup_module, "PREFILL_S", 600.0):  # the whole text is indexed
            drafter.begin(history, n)
        best = 1.0
        for _ in range(5):
            began = time.thread_time()
            for _ in range(40):
                drafter.propose(16)
                history += [rng.randrange(alphabet) for _ in range(3)]
                drafter.observe(None)
            best = min(best, (time.thread_time() - began) / 40)
        return best

    assert seconds_per_step(64_000) < 10 * seconds_per_step(1000)


def test_an_index_that_was_fed_in_part_is_not_used_again() -> None:
    text = [1, 2, 3, 4, 5, 6, 7, 8, 1, 2]

    class Stopped(list[int]):
        """Stops the program in the middle of being indexed, as Ctrl+C can."""

        def __getitem__(self, key: Any) -> Any:
            if isinstance(key, slice) and key.stop == 5:
                raise KeyboardInterrupt
            return super().__getitem__(key)

    drafter = lookup()
    with pytest.raises(KeyboardInterrupt):
        drafter.begin(Stopped(text), len(text))
    drafter.close()
    assert drafter.bench.kept == {}
