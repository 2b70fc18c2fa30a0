"""ngram-map-k4v against counting in the whole text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.draft.costs import check_costs
from engine.draft.references import SlowMapK4V
from engine.draft.rehearsal import Move, Rehearsal, Settings, bench, moves, play_text, prompts
from engine.draft.rehearsal import real_tokens as tokens_of
from paceline.engine.draft.lookups import lookup
from paceline.engine.draft.lookups.ngram_map import INFO_K4V, NgramMapK4V

SHAPING = ["n", "m", "min_hits"]
SETTINGS = st.fixed_dictionaries(
    {"n": st.integers(1, 3), "m": st.integers(1, 4), "min_hits": st.integers(1, 4)}
)


def rehearsal(settings: Settings) -> Rehearsal:
    return Rehearsal(
        INFO_K4V, lambda s: SlowMapK4V(s["n"], s["m"], s["min_hits"]), settings, SHAPING
    )


def drafter(n: int = 1, m: int = 2, min_hits: int = 1) -> NgramMapK4V:
    return NgramMapK4V(bench(), {"n": n, "m": m, "min_hits": min_hits})


def proposed(
    text: Sequence[int], n: int = 1, m: int = 2, min_hits: int = 1, ahead: Sequence[int] = ()
) -> list[int]:
    it = drafter(n, m, min_hits)
    it.begin(list(text), len(text))
    return list(it.extend(ahead, 1000).tokens)


@given(SETTINGS, prompts(2), moves(SETTINGS, 2))
def test_two_tokens(settings: Settings, prompt: list[int], moves: list[Move]) -> None:
    rehearsal(settings).play(prompt, moves)


@given(SETTINGS, prompts(5), moves(SETTINGS, 5))
def test_five_tokens(settings: Settings, prompt: list[int], moves: list[Move]) -> None:
    rehearsal(settings).play(prompt, moves)


@pytest.mark.parametrize(
    ("settings", "others"),
    [
        ({"n": 1, "m": 2, "min_hits": 1}, {"n": 2, "m": 3, "min_hits": 2}),
        ({"n": 4, "m": 12, "min_hits": 1}, {"n": 1, "m": 3, "min_hits": 4}),
        ({"n": 12, "m": 48, "min_hits": 1}, {"n": 6, "m": 24, "min_hits": 1}),
    ],
)
def test_a_real_text(target_path: Path, settings: Settings, others: Settings) -> None:
    played = rehearsal(settings)
    play_text(played, tokens_of(target_path), 1, others)
    assert min(played.seen[what] for what in ("empty", "in full", "in part")) > 0, played.seen


A, B, C, D, E = ([1, i, i] for i in range(2, 7))  # the key 1, and what followed it


def after(*followers: list[int], min_hits: int = 1) -> list[int]:
    return proposed([*chain(*followers), 1], min_hits=min_hits)


def test_the_winner_is_drafted_and_not_the_latest() -> None:
    assert after(A, A, B) == [2, 2]
    assert after(A, B, A) == [2, 2]
    assert after(B, A, A) == [2, 2]


def test_the_winner_is_twice_as_frequent_as_all_others_together() -> None:
    assert after(A, B) == []
    assert after(A, A, A, B, B) == []
    assert after(A, A, A, A, B, B) == [2, 2]
    assert after(A, A, A, B, C) == []
    assert after(A, A, A, A, B, C) == [2, 2]


def test_min_hits_says_how_often_the_key_must_have_occurred() -> None:
    assert after(A, min_hits=1) == [2, 2]
    assert after(A, min_hits=2) == []
    assert after(A, A, B, min_hits=3) == [2, 2]
    assert after(A, A, B, min_hits=4) == []


def test_a_fifth_follower_replaces_the_rarest_and_the_oldest_of_those() -> None:
    assert after(A, B, C, D, *[E] * 8) == [6, 6]
    five = (A, A, B, C, D, E)
    assert after(*five, *[A] * 5) == []
    assert after(*five, *[A] * 6) == [2, 2]  # 8 of 12: A was known all the time
    assert after(*five, *[C] * 8) == []
    assert after(*five, *[C] * 9) == [4, 4]  # 10 of 15: so was C
    assert after(*five, *[B] * 11) == []
    assert after(*five, *[B] * 12) == [3, 3]  # 12 of 18: E took its place, and it starts again


def test_forgotten_followers_still_count_against_the_winner() -> None:
    others = [[1, i, i] for i in range(10, 30)]
    assert after(*[A] * 6, *others) == []
    assert after(*[A] * 40, *others) == [2, 2]


def test_an_m_gram_counts_when_it_is_complete() -> None:
    assert proposed([1, 2, 3, 1], m=3) == [2, 3, 1]
    assert proposed([1, 2, 3, 1], m=4) == []
    assert proposed([1, 2, 3, 1], m=4, n=1, ahead=[5, 1]) == []  # a draft completes nothing


def test_what_was_refused_shortens_later_drafts_from_there() -> None:
    it = drafter(m=4)
    history = [1, 2, 3, 4, 5, 9, 1]
    it.begin(history, len(history))
    assert list(it.propose(9).tokens) == [2, 3, 4, 5]
    history += [2, 3, 8]  # two accepted, then another token
    it.observe(2)
    assert list(it.extend([1], 9).tokens) == [2, 3]
    history += [1]
    it.observe(None)
    assert list(it.propose(9).tokens) != [2, 3, 4, 5]


def test_a_refused_key_drafts_again_once_its_followers_have_returned() -> None:
    it = drafter(m=2, min_hits=2)
    history = [1, 2, 3, 1, 2, 3, 1, 2, 3, 1]
    it.begin(history, len(history))
    assert list(it.propose(9).tokens) == [2, 3]
    history += [7, 7, 1]  # refused at once
    it.observe(0)
    assert list(it.propose(9).tokens) == []
    history += [2, 3, 1]
    it.observe(None)
    assert list(it.propose(9).tokens) == [2, 3]


@pytest.mark.parametrize(("n_accepted", "committed"), [(2, [2, 3]), (2, [2, 3, 4]), (None, [2, 8])])
def test_what_was_not_judged_is_not_refused(n_accepted: int | None, committed: list[int]) -> None:
    """The reply ended within the draft, the engine had cut it, or another drafter was asked."""
    it = drafter(m=4)
    history = [1, 2, 3, 4, 5, 9, 1]
    it.begin(history, len(history))
    it.propose(9)
    history += committed
    it.observe(n_accepted)
    assert list(it.extend([1], 9).tokens) == [2, 3, 4, 5]


def test_a_key_is_not_blamed_for_the_draft_model_before_it() -> None:
    it = drafter(m=4)
    history = [1, 2, 3, 4, 5, 9, 6]
    it.begin(history, len(history))
    assert list(it.extend([9, 1], 9).tokens) == [2, 3, 4, 5]
    history += [7]  # the first drafted token is refused
    it.observe(0)
    assert list(it.extend([1], 9).tokens) == [2, 3, 4, 5]


def test_a_long_text_is_indexed_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookup, "PREFILL_S", -1.0)  # every slice is as short as can be
    monkeypatch.setattr(lookup, "STEP_S", -1.0)
    text = [*range(150), *range(150)]
    it = drafter(n=12, m=48)
    it.begin(text, len(text))
    n_steps = 0
    while not it.propose(64).tokens:
        it.observe(None)
        n_steps += 1
    assert n_steps >= 3
    assert list(it.propose(64).tokens) == list(range(48))


def test_the_next_turn_goes_on_with_index_and_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookup, "PREFILL_S", -1.0)
    it, text = drafter(m=4), [*range(300), 5]
    it.begin(text, 301)
    for _ in range(9):
        it.observe(None)
    assert list(it.propose(9).tokens) == [6, 7, 8, 9]
    text += [6, 0]
    it.observe(1)
    it.close()
    it.begin([*text, 5], 304)
    assert list(it.propose(9).tokens) == [6]
    it.close()
    it.begin([*text[:200], 5, *text[:200]], 401)  # not the same chat: all is to be done again
    assert list(it.propose(9).tokens) == []


@pytest.mark.grid(short=2)
@pytest.mark.parametrize(
    "settings",
    [
        {"n": 12, "m": 48, "min_hits": 1},
        {"n": 64, "m": 1024, "min_hits": 2},
        {"n": 1, "m": 1, "min_hits": 1024},
    ],
)
def test_costs(settings: Settings) -> None:
    check_costs(INFO_K4V, settings)
