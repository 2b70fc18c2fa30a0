"""ngram-map-k against counting in the whole text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.draft.costs import check_costs
from engine.draft.references import SlowMapK
from engine.draft.rehearsal import Move, Rehearsal, Settings, bench, moves, play_text, prompts
from engine.draft.rehearsal import real_tokens as tokens_of
from paceline.engine.draft.lookups import lookup
from paceline.engine.draft.lookups.ngram_map import INFO_K, NgramMapK

SHAPING = ["n", "m", "min_hits"]
SETTINGS = st.fixed_dictionaries(
    {"n": st.integers(1, 3), "m": st.integers(1, 4), "min_hits": st.integers(1, 4)}
)


def rehearsal(settings: Settings) -> Rehearsal:
    return Rehearsal(INFO_K, lambda s: SlowMapK(s["n"], s["m"], s["min_hits"]), settings, SHAPING)


def drafter(n: int = 1, m: int = 2, min_hits: int = 1) -> NgramMapK:
    return NgramMapK(bench(), {"n": n, "m": m, "min_hits": min_hits})


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


def test_min_hits_says_how_often_the_same_tokens_must_have_followed() -> None:
    text = [1, 2, 3, 9, 1, 2, 3, 9, 1]
    assert proposed(text, min_hits=1) == [2, 3]
    assert proposed(text, min_hits=2) == [2, 3]
    assert proposed(text, min_hits=3) == []
    assert proposed([1, 2, 3, 9, 1, 2, 4, 9, 1], min_hits=2) == []  # the key alone does not count


def test_the_latest_of_those_with_enough_hits_counts() -> None:
    text = [1, 2, 2, 1, 3, 3, 1, 3, 3, 1, 2, 2, 1, 4, 4, 1]
    assert proposed(text, min_hits=1) == [4, 4]
    assert proposed(text, min_hits=2) == [2, 2]


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
    check_costs(INFO_K, settings)
