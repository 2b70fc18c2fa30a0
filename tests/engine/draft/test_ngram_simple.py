"""ngram-simple against a look through the whole text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.draft.costs import check_costs
from engine.draft.references import SlowSimple
from engine.draft.rehearsal import Move, Rehearsal, Settings, bench, moves, play_text, prompts
from engine.draft.rehearsal import real_tokens as tokens_of
from paceline.engine.draft.lookups import lookup
from paceline.engine.draft.lookups.ngram_simple import INFO, NgramSimple

SETTINGS = st.fixed_dictionaries({"n": st.integers(1, 5), "m": st.integers(1, 9)})


def rehearsal(settings: Settings) -> Rehearsal:
    return Rehearsal(INFO, lambda s: SlowSimple(s["n"], s["m"]), settings, shaping=["n"])


def drafter(n: int = 3, m: int = 8) -> NgramSimple:
    return NgramSimple(bench(), {"n": n, "m": m})


def proposed(text: Sequence[int], n: int = 3, m: int = 8, ahead: Sequence[int] = ()) -> list[int]:
    it = drafter(n, m)
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
    [({"n": 1, "m": 4}, {"n": 2, "m": 16}), ({"n": 12, "m": 48}, {"n": 5, "m": 48})],
)
def test_a_real_text(target_path: Path, settings: Settings, others: Settings) -> None:
    played = rehearsal(settings)
    play_text(played, tokens_of(target_path), 1, others)
    assert min(played.seen[what] for what in ("empty", "in full", "in part")) > 2, played.seen


def test_the_latest_copy_counts() -> None:
    assert proposed([1, 2, 5, 0, 1, 2, 6, 0, 1, 2], n=2, m=1) == [6]


def test_all_n_tokens_must_agree() -> None:
    assert proposed([1, 2, 3, 4, 0, 2, 3], n=3) == []
    assert proposed([1, 2, 3, 4, 0, 2, 3], n=2, m=1) == [4]


def test_a_short_text_fires() -> None:
    assert proposed([1, 2, 1], n=1) == [2, 1]
    assert proposed([1, 2, 9, 1, 2], n=2) == [9, 1, 2]
    assert proposed([1, 2], n=2) == []
    assert proposed([1], n=2) == []


def test_what_the_server_proposes_behind_a_distant_copy() -> None:
    """More than m tokens followed: exactly the m tokens that llama.cpp's server copies."""
    text = [*range(100, 112), *range(200, 260), *range(100, 112)]
    assert proposed(text, n=12, m=48) == list(range(200, 248))


def test_a_copy_goes_round_only_where_the_text_repeats_itself() -> None:
    once = [7, 1, 2, 3, 4, 1, 2]
    assert proposed(once, n=2) == [3, 4, 1, 2]  # up to the text's last token
    twice = [7, 3, 4, 1, 2, 3, 4, 1, 2]
    assert proposed(twice, n=2, m=10) == [3, 4, 1, 2, 3, 4, 1, 2, 3, 4]
    assert proposed([5, 5], n=1) == [5] * 8


def test_it_goes_on_behind_a_draft() -> None:
    text = [1, 2, 3, 4, 5, 6, 0, 1]
    assert proposed(text, n=2, m=3, ahead=[2, 3]) == [4, 5, 6]
    assert proposed(text, n=2, m=3, ahead=[2, 9]) == []
    assert proposed(text, n=2, m=9, ahead=[2, 3]) == [4, 5, 6, 0, 1, 2, 3]


def test_a_draft_is_not_learned() -> None:
    it = drafter(n=1)
    it.begin([1, 2, 3], 3)
    assert list(it.extend([4, 5, 4], 9).tokens) == []
    assert list(it.propose(9).tokens) == []


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


def test_the_next_turn_goes_on_with_the_index(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookup, "PREFILL_S", -1.0)
    it, text = drafter(), list(range(300))
    it.begin(text, 300)
    for _ in range(9):
        it.observe(None)
    it.close()
    it.begin([*text, 5, 6, 7], 303)
    assert list(it.propose(3).tokens) == [8, 9, 10]
    it.close()
    it.begin([*text[:200], 5, 6, 7, *text[:200]], 403)  # not the same chat: all is to be done again
    assert list(it.propose(3).tokens) == []


@pytest.mark.parametrize("settings", [{"n": 12, "m": 48}, {"n": 64, "m": 1024}])
def test_costs(settings: Settings) -> None:
    check_costs(INFO, settings)
