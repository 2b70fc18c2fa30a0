"""Drawing under a grammar equals masking the whole row first."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from engine.sampling_reference import choice, drawn, edited, truncated
from engine.token_grammar import Books, TokenGrammar, random_rule
from paceline.engine.sample.sampling import Sampler
from paceline.errors import EngineError
from paceline.params import LogitBias, SamplingParams

OFF = SamplingParams(temperature=1, top_k=0, top_p=1, min_p=0)
INF = math.inf
PARAMS = st.builds(
    SamplingParams,
    temperature=st.sampled_from([0, 0.3, 0.8, 1.2, 20.0]),
    top_k=st.sampled_from([0, 0, 1, 5, 40, 400]),
    top_p=st.sampled_from([1, 1, 0.3001, 0.531, 0.951, 0.9991]),
    min_p=st.sampled_from([0, 0, 1e-3, 0.0503, 0.9]),
)


def changed(**values: object) -> SamplingParams:
    return dataclasses.replace(OFF, **values)  # type: ignore[arg-type]


def random_row(seed: int, n: int, spread: float = 3.0, *, ties: bool = False) -> np.ndarray:
    row = np.random.default_rng(seed).normal(size=n) * spread
    return (row.round() if ties else row).astype(np.float32)


def test_what_is_not_drawn_this_time_is_left_out_of_what_the_grammar_allows() -> None:
    row = np.arange(200, dtype=np.float32)
    sampler = Sampler(
        changed(temperature=0), 1, grammar=TokenGrammar(lambda _: frozenset({3, 70, 90}))
    )
    assert sampler.sample(row.copy(), 0, without=(90, 500)) == 70
    assert sampler.sample(row.copy(), 0) == 90


@given(
    PARAMS,
    st.integers(1, 300),
    st.sampled_from([0.0, 0.02, 0.3, 0.9, 1.0]),
    st.sampled_from([0.1, 1.0, 3.0, 30.0]),
    st.booleans(),
    st.integers(0, 10**6),
)
def test_equal_to_masking_first(
    p: SamplingParams,
    n: int,
    share: float,
    spread: float,
    ties: bool,
    seed: int,
) -> None:
    rule = random_rule(seed, n, share)
    sampler = Sampler(p, seed, n_vocab=n, grammar=TokenGrammar(rule))
    text: tuple[int, ...] = ()
    for position in range(5):
        row = random_row(seed + position, n, spread, ties=ties)
        masked = edited(row.tolist(), p, (), rule(text))
        truncated(masked, p, lambda close: assume(not close))
        token = sampler.sample(row, position)
        assert token == choice(masked, p, seed, position)
        sampler.commit(token)
        text = (*text, token)


@pytest.mark.parametrize("share", [1e-4, 0.6])
@pytest.mark.parametrize(
    "p",
    [
        changed(temperature=0),
        changed(temperature=0.8, top_k=40, top_p=0.95, min_p=0.05),
        changed(top_k=40),
        changed(min_p=0.01),
        changed(top_p=0.9),
        changed(temperature=1.2),
    ],
    ids=["greedy", "chat", "top-k", "min-p", "top-p", "off"],
)
def test_big_vocabularies(p: SamplingParams, share: float) -> None:
    n = 40_000
    rule = random_rule(1, n, share)
    sampler = Sampler(p, 3, grammar=TokenGrammar(rule))
    for position in range(2):
        row = random_row(position, n)
        masked = edited(row.tolist(), p, (), rule(()))
        weights = {t: w for t, w in truncated(masked, p).items() if masked[t] > -INF}
        expected = (
            choice(masked, p, 3, position)
            if p.temperature == 0
            else drawn(masked, weights, 3, position, p.temperature)
        )
        assert sampler.sample(row, position) == expected


def test_rows_of_another_length_than_the_mask() -> None:
    """A draft model's vocabulary may have some tokens more, or fewer."""
    sampler = Sampler(changed(temperature=0), 1, grammar=TokenGrammar(lambda _text: {1, 6}))
    assert sampler.sample(np.array([9, 1, 8, 7], np.float32), 0) == 1
    assert sampler.sample(np.array([9, 1, 8, 7, 7, 7, 2, 9, 9, 9], np.float32), 0) == 6


def test_biases_and_penalties_come_before_the_grammar() -> None:
    p = changed(temperature=0, presence_penalty=5, logit_bias=(LogitBias(2, -INF),))
    sampler = Sampler(p, 1, grammar=TokenGrammar(lambda _text: {1, 2, 3}))
    sampler.start([1])
    assert sampler.sample(np.array([9, 8, 7, 4, 5], np.float32), 0) == 3


@pytest.mark.parametrize(
    "p",
    [OFF, changed(temperature=0), changed(top_k=2), changed(top_p=0.5), changed(min_p=0.1)],
    ids=["off", "greedy", "top-k", "top-p", "min-p"],
)
@pytest.mark.parametrize("n", [4, 3000])
def test_nothing_allowed_is_reported(p: SamplingParams, n: int) -> None:
    for rule, bias in ((lambda _text: (), ()), (lambda _text: {1}, (LogitBias(1, -INF),))):
        sampler = Sampler(dataclasses.replace(p, logit_bias=bias), 1, grammar=TokenGrammar(rule))
        for draw in (sampler.sample, sampler.draft):
            with pytest.raises(EngineError) as caught:
                draw(random_row(1, n), 0)
            assert caught.value.code == "grammar-stuck"
            assert caught.value.hint


def test_invalid_numbers_stay_invalid_under_a_grammar() -> None:
    sampler = Sampler(OFF, 1, grammar=TokenGrammar(lambda _text: {1}))
    with pytest.raises(EngineError) as caught:
        sampler.sample(np.array([1, 2, math.nan], np.float32), 0)
    assert caught.value.code == "invalid-numbers"


# ------------------------------------------------------------------------------------- twins


@given(PARAMS, st.integers(0, 10**6), st.lists(st.integers(0, 4), min_size=1, max_size=8))
def test_twins_draw_the_same_and_free_what_they_clone(
    p: SamplingParams, seed: int, drafts: list[int]
) -> None:
    """The target takes some of the twin's tokens, then its own, as verification does."""
    n, books = 60, Books()
    rule = random_rule(seed, n, 0.3)
    target = Sampler(p, seed, n_vocab=n, grammar=TokenGrammar(rule, books=books))
    twin = target.twin(n)
    text: tuple[int, ...] = ()
    for n_accepted in drafts:
        twin.follow(target)
        assert twin.grammar.text == text  # type: ignore[union-attr]
        ahead = text
        for i in range(3):
            row = random_row(seed + len(ahead), n)
            token, sure = twin.draft(row.copy(), len(ahead))
            assert 0 < sure <= 1
            masked = edited(row.tolist(), p, (), rule(ahead))
            truncated(masked, p, lambda close: assume(not close))
            assert token == choice(masked, p, seed, len(ahead))
            twin.commit(token)
            ahead = (*ahead, token)
            if i < n_accepted:
                assert target.sample(row.copy(), len(text)) == token
                target.commit(token)
                text = ahead
        other = min(rule(text))  # the target's own choice or a bonus token
        target.commit(other)
        text = (*text, other)
        assert target.grammar.text == text  # type: ignore[union-attr]
        assert books.n_open == 2
    twin.close()
    twin.close()
    assert books.n_open == 1
    twin.follow(target)  # a drafter may begin again after its close
    assert twin.grammar.text == text  # type: ignore[union-attr]
    twin.close()
    target.close()
    assert books.n_open == 0


def test_a_twin_whose_drafts_were_all_accepted_is_not_cloned_again() -> None:
    books = Books()
    target = Sampler(OFF, 1, grammar=TokenGrammar(lambda _text: range(9), books=books))
    twin = target.twin(9)
    for token in range(8):
        twin.follow(target)
        twin.commit(token)
        target.commit(token)
        target.commit(token + 1)
    assert books.n_clones == 1
    twin.follow(target)
    twin.commit(3)
    target.commit(4)
    twin.follow(target)
    assert books.n_clones == 2


def test_confidence_is_about_allowed_tokens() -> None:
    row = np.array([9, 2, 1, 8, 0], np.float32)
    grammar = TokenGrammar(lambda _text: {1, 2, 4})
    sure = 1 / (1 + math.exp(-1) + math.exp(-2))
    for p in (changed(temperature=0), changed(temperature=0.8, top_k=40)):
        assert Sampler(p, 1, grammar=grammar).draft(row.copy(), 0)[1] == pytest.approx(sure)


# ------------------------------------------------------------------------------ llama.cpp's own
