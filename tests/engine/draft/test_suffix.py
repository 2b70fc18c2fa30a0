"""The drafter: the chat's automaton and the texts of earlier chats, against their references."""

from __future__ import annotations

import itertools
import operator
import random
import time
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from unittest import mock

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.draft.test_earlier_texts import found, made, put, words
from engine.draft.test_suffix_automaton import Obvious
from engine.workbench import workbench
from paceline.engine.draft.base import Draft
from paceline.engine.draft.lookups import lookup
from paceline.engine.draft.lookups.earlier_texts import EarlierTexts
from paceline.engine.draft.lookups.suffix import INFO, Suffix

EVERYTHING = {"max": 62, "min_match": 1, "p_min": 0.0}
DEFAULTS = {parameter.name: parameter.default for parameter in INFO.parameters}


def suffix(
    settings: Mapping[str, float] = EVERYTHING, earlier: EarlierTexts | None = None, **given: object
) -> Suffix:
    drafter = INFO.make(workbench(earlier=earlier, **given), {**DEFAULTS, **settings})
    assert isinstance(drafter, Suffix)
    return drafter


def as_lists(draft: Draft) -> tuple[list[int], list[float]]:
    return list(draft.tokens), list(draft.confidences)


def reference(
    chats: Sequence[Sequence[int]],
    history: Sequence[int],
    ahead: Sequence[int],
    settings: Mapping[str, float],
) -> tuple[list[int], list[float]]:
    """The definition."""
    n, shortest, p_min = int(settings["max"]), int(settings["min_match"]), settings["p_min"]
    here = Obvious(history)
    n_here = len(here.match("".join(map(chr, [*history, *ahead]))))
    elsewhere = found(chats, [*history, *ahead][-32:], max(shortest, n_here + 1), min(n, 62), p_min)
    if elsewhere is not None:
        return likely(elsewhere[1:], elsewhere[0], p_min)
    return likely(here.follow(ahead, n, shortest, p_min), n_here, p_min)


def likely(
    followed: tuple[list[int], list[float]], length: int, p_min: float
) -> tuple[list[int], list[float]]:
    """Those after a match of `length` tokens that together are likely enough."""
    tokens, shares = followed
    sure = [share * (length + i) / (length + i + 1) for i, share in enumerate(shares)]
    together = list(itertools.accumulate(sure, operator.mul))
    n = next((i for i, product in enumerate(together) if product < p_min), len(sure))
    return tokens[:n], sure[:n]


SETTINGS = st.fixed_dictionaries(
    {
        "max": st.integers(1, 12),
        "min_match": st.integers(1, 5),
        "p_min": st.sampled_from([0.0, 0.1, 0.4, 1.0]),
    }
)
TOKENS = st.integers(1, 4)


@hypothesis.settings(max_examples=60)
@given(
    st.lists(st.lists(TOKENS, min_size=2, max_size=30), max_size=3),
    st.lists(TOKENS, min_size=1, max_size=20),
    st.lists(st.tuples(st.lists(TOKENS, max_size=4), SETTINGS), min_size=1, max_size=5),
)
def test_against_the_definition(
    chats: list[list[int]],
    prompt: list[int],
    steps: list[tuple[list[int], dict[str, float]]],
) -> None:
    """Steps commit tokens, are retuned, and ask with and without tokens ahead."""
    drafter = suffix(earlier=made(chats))
    history = list(prompt)
    drafter.begin(history, len(prompt))
    for tokens, settings in steps:
        drafter.tune(settings)
        for ahead in ([], tokens):
            want = reference(chats, history, ahead, settings)
            assert as_lists(drafter.extend(ahead, 62)) == want
        want = reference(chats, history, [], {**settings, "max": min(2, settings["max"])})
        assert as_lists(drafter.propose(2)) == want
        history += tokens
        drafter.observe(None)
    drafter.close()


def proposed(history: Sequence[int], *earlier: Sequence[int], **settings: float) -> list[int]:
    drafter = suffix({**EVERYTHING, **settings}, made(earlier) if earlier else None)
    drafter.begin(list(history), len(history))
    return list(drafter.propose(62).tokens)


def test_ends_of_generations() -> None:
    """They are tokens like others; what stands after one, the engine cuts off."""
    drafter = suffix(eog=[9])
    drafter.begin([1, 2, 9, 3, 1, 2], 6)
    assert list(drafter.propose(2).tokens) == [9, 3]
    assert proposed([4, 5], [4, 5, 9]) == [9]


def test_what_is_deleted_in_mid_reply_is_not_drafted_any_more() -> None:
    text = words(1, 200)
    earlier = made([text, words(2, 50)])
    drafter = suffix(earlier=earlier)
    history = text[:40]
    drafter.begin(history, 40)
    assert list(drafter.propose(3).tokens) == text[40:43]
    history += text[40:42]
    drafter.observe(2)
    put(earlier, "0")
    assert list(drafter.propose(3).tokens) == []
    put(earlier, "0", text)  # undone
    assert list(drafter.propose(3).tokens) == text[42:45]


def test_the_index_is_kept_between_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: dict[str, object] = {}
    text = words(1, 5000)
    drafter = suffix(kept=kept)
    drafter.begin(text[:4999], 4999)
    while not list(drafter.extend(text[100:104], 1).tokens):
        drafter.observe(None)
    drafter.close()
    monkeypatch.setattr(lookup, "PREFILL_S", 0.0)
    drafter = suffix(kept=kept)
    drafter.begin([*text, text[7], text[8]], 5002)
    assert list(drafter.propose(3).tokens) == text[9:12]
    drafter.close()
    other = suffix(kept=kept)
    other.begin(words(2, 5000), 5000)
    assert list(other.extend(text[100:104], 1).tokens) == []


@pytest.mark.parametrize("prefill_s", [0.0, 1000.0])
def test_a_long_text_is_indexed_in_slices_or_at_once_after_a_long_prefill(
    prefill_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lookup, "PREFILL_S", -1.0)  # every slice is as short as can be
    monkeypatch.setattr(lookup, "STEP_S", -1.0)
    text = words(1, 8000)
    history = [*text, *text[50:60]]
    earlier = SimpleNamespace(perf_counter=lambda: time.perf_counter() - prefill_s)
    with mock.patch.object(lookup, "time", earlier):
        drafter = suffix()
    drafter.begin(history, len(history))
    n_steps = 0
    while not drafter.propose(4).tokens:
        drafter.observe(None)
        n_steps += 1
    assert n_steps == 0 if prefill_s else n_steps > 10
    assert list(drafter.propose(4).tokens) == text[60:64]


def test_tuning_keeps_the_index() -> None:
    drafter = suffix()
    text = [1, 2, 3] * 3000
    drafter.begin(text, 9000)
    while not drafter.propose(1).tokens:
        drafter.observe(None)
    drafter.tune({"max": 2, "min_match": 32, "p_min": 0.9})
    assert list(drafter.propose(9).tokens) == [1, 2]


@pytest.mark.parametrize("n_tokens", [2, 300, 151_936])
def test_cost(n_tokens: int) -> None:
    """Ten times what it takes, in this thread's processor time."""
    rng = random.Random(1)
    history = [rng.randrange(n_tokens) for _ in range(16_384)]
    drafter = suffix(DEFAULTS, made([words(2, 16_384, n_tokens)], capacity=20_000))
    began = time.thread_time()
    with mock.patch.object(lookup, "PREFILL_S", 600.0):
        drafter.begin(history, len(history))
    assert (time.thread_time() - began) / len(history) < 60e-6
    best = 1.0
    for i in range(50):
        history += [rng.randrange(n_tokens) for _ in range(3)]
        drafter.observe(None)
        began = time.thread_time()
        drafter.propose(32)
        drafter.extend(history[i : i + 4], 28)
        best = min(best, time.thread_time() - began)
    assert best < 1400e-6
    drafter.close()
