"""Logit bias and penalties against the obvious way, and every refused value."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.sampling_reference import choice, edited
from paceline.engine.sample.sampling import Sampler, check_sampling
from paceline.errors import EngineError, ValueOutOfRangeError
from paceline.params import LogitBias, SamplingParams

OFF = SamplingParams(temperature=1, top_k=0, top_p=1, min_p=0)
INF = math.inf
N = 12
BIASES = st.dictionaries(
    st.integers(0, N - 1), st.just(-INF) | st.integers(-80, 80).map(lambda n: n / 8), max_size=N - 1
).map(lambda d: tuple(LogitBias(token, bias) for token, bias in d.items()))
PARAMS = st.builds(
    SamplingParams,
    temperature=st.sampled_from([0, 0.8, 20.0]),
    top_k=st.sampled_from([0, 1, 5]),
    top_p=st.sampled_from([1, 1, 0.531]),
    min_p=st.sampled_from([0, 0, 0.0503]),
    repeat_penalty=st.sampled_from([1, 1.1, 0.5, 10]),
    presence_penalty=st.sampled_from([0, 0.5, -2, 10]),
    frequency_penalty=st.sampled_from([0, 0.25, -0.5, 10]),
    logit_bias=BIASES,
)
TEXT = st.lists(st.integers(0, N - 1), max_size=150)


def array(row: list[float]) -> np.ndarray:
    return np.array(row, np.float32)


def random_row(seed: int, n: int = N) -> list[float]:
    return (np.random.default_rng(seed).normal(size=n) * 3).astype(np.float32).tolist()


def changed(**values: object) -> SamplingParams:
    return dataclasses.replace(OFF, **values)  # type: ignore[arg-type]


# ------------------------------------------------------------------------- the obvious way


@given(PARAMS, TEXT, st.integers(0, 2**63 - 1))
def test_rows_are_edited_the_obvious_way(p: SamplingParams, prompt: list[int], seed: int) -> None:
    sampler = Sampler(p, seed, n_vocab=N)
    sampler.start(prompt)
    text = list(prompt)
    for position in range(12):  # what is drawn changes the next row's penalties
        row = random_row(position)
        token = sampler.sample(array(row), position)
        assert token == choice(edited(row, p, text), p, seed, position)
        sampler.commit(token)
        text.append(token)


@given(PARAMS, TEXT)
def test_a_twin_draws_the_same_and_leaves_the_original_alone(
    p: SamplingParams, prompt: list[int]
) -> None:
    target = Sampler(p, 5, n_vocab=N)
    twin = target.twin(N)
    target.start(prompt)
    text = list(prompt)
    for position in range(6):
        twin.follow(target)
        ahead = list(text)
        for i in range(3):
            row = random_row(position + i)
            token = twin.draft(array(row), position + i)[0]
            assert token == choice(edited(row, p, ahead), p, 5, position + i)
            twin.commit(token)
            ahead.append(token)
        row = random_row(position)
        token = target.sample(array(row), position)
        assert token == ahead[len(text)]
        target.commit(token)
        text.append(token)


def test_a_second_start_forgets_the_first_reply() -> None:
    sampler = Sampler(changed(presence_penalty=10.0, temperature=0), 1)
    sampler.start([1])
    sampler.commit(2)
    sampler.start([0])
    row = array([5, 4, 3])
    assert sampler.sample(row, 0) == 1
    assert row.tolist() == [-5, 4, 3]


@pytest.mark.parametrize(
    ("logit", "count", "expected"),
    [
        (6, 1, 6 / 1.5 - 0.25 - 0.5),
        (6, 3, 6 / 1.5 - 0.75 - 0.5),
        (-6, 2, -6 * 1.5 - 0.5 - 0.5),
        (0, 1, -0.75),
        (-INF, 1, -INF),
    ],
)
def test_the_formula(logit: float, count: int, expected: float) -> None:
    sampler = Sampler(changed(repeat_penalty=1.5, frequency_penalty=0.25, presence_penalty=0.5), 1)
    sampler.start([1] * count)
    row = array([0, logit, 1])
    sampler.sample(row, 0)
    assert row.tolist() == [0, expected, 1]


def test_ids_beyond_the_row_are_ignored() -> None:
    """A draft model's vocabulary may be smaller than the target's."""
    biases = (LogitBias(1, 1.0), LogitBias(7, 3.0), LogitBias(8, -INF))
    p = changed(repeat_penalty=2.0, logit_bias=biases)
    for sampler in (Sampler(p, 1, [6]), Sampler(p, 1, [6], n_vocab=9).twin(3)):
        sampler.start([5, 1, 8])
        row = array([0, 2, 0])
        sampler.sample(row, 0)
        assert row.tolist() == [0, 1.5, 0]


def test_many_biases_and_few_give_the_same() -> None:
    row = random_row(1, 100)
    few = tuple(LogitBias(t, -INF if t % 2 else 1.5) for t in range(6))
    many = tuple(LogitBias(t, -INF if t % 2 else 1.5) for t in range(80))
    for biases in (few, many):
        p = changed(logit_bias=biases)
        for seed in range(20):
            token = Sampler(p, seed, n_vocab=100).sample(array(row), 0)
            assert token == choice(edited(row, p), p, seed, 0)


# ------------------------------------------------------------------------------------ errors


def code_of(sampler: Sampler, row: list[float]) -> str:
    with pytest.raises(EngineError) as caught:
        sampler.sample(array(row), 0)
    return caught.value.code


def test_all_tokens_forbidden_is_distinguished_from_invalid_numbers() -> None:
    biases = (LogitBias(0, -INF), LogitBias(1, -INF))
    all_but_one = Sampler(changed(logit_bias=biases), 1)
    all_three = Sampler(changed(logit_bias=biases), 1, [2])
    assert code_of(all_three, [1, 2, 3]) == "all-forbidden"
    assert code_of(all_but_one, [1, 2, -INF]) == "invalid-numbers"
    assert code_of(all_but_one, [1, 2, math.nan]) == "invalid-numbers"
    assert code_of(Sampler(OFF, 1), [-INF] * 3) == "invalid-numbers"
    assert all_but_one.sample(array([1, 2, -50]), 0) == 2


@pytest.mark.parametrize("value", [-10, 10, 0.01])
def test_penalties_at_the_border_work(value: float) -> None:
    p = changed(
        repeat_penalty=abs(value), presence_penalty=value, frequency_penalty=value, temperature=0
    )
    sampler = Sampler(p, 1)
    sampler.start([0, 1, 1])
    for logit in (3e4, -3e4, 0):
        assert 0 <= sampler.sample(array([logit, 2, 1]), 0) < 3


@pytest.mark.parametrize(
    ("biases", "part"),
    [
        ([(-1, 1.0)], "token -1"),
        ([(5, 1.0)], "token 5"),
        ([(1, math.nan)], "nan"),
        ([(1, INF)], "inf"),
        ([(1, 1e7)], "1e+07"),
        ([(1, 1.0), (2, 1.0), (1, 2.0)], "two"),
        ([(t, 1.0) for t in range(10_001)], "10001"),
    ],
)
def test_biases_without_a_meaning_are_refused(biases: list[tuple[int, float]], part: str) -> None:
    p = changed(logit_bias=tuple(LogitBias(*b) for b in biases))
    with pytest.raises(ValueOutOfRangeError) as caught:
        Sampler(p, 1, n_vocab=5)
    assert part in caught.value.message
    assert caught.value.hint


def test_ids_without_a_known_vocabulary_have_no_end() -> None:
    p = changed(logit_bias=(LogitBias(-1, 1.0),))
    for n_vocab, hint in ((None, "Give ids from 0 on."), (5, "Give ids from 0 to 4.")):
        with pytest.raises(ValueOutOfRangeError) as caught:
            check_sampling(p, n_vocab)
        assert caught.value.hint == hint


def test_biases_at_the_border_are_taken() -> None:
    biases = tuple(LogitBias(t, 1e6 if t % 2 else -INF) for t in range(10_000))
    assert Sampler(changed(logit_bias=biases), 1).sample(np.zeros(10_000, np.float32), 0) % 2
    check_sampling(changed(logit_bias=biases))  # the vocabulary is not known everywhere
