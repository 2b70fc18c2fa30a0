"""Among candidates the largest score wins, whatever its size; among equals the lowest id."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from paceline.engine.sample.noise import gumbel_of, position_key
from paceline.engine.sample.plain_rows import winner
from paceline.engine.sample.sampling import Sampler
from paceline.params import SamplingParams

MASK = (1 << 64) - 1
SAME_NOISE = 14_287, 39_786
"""Two ids with the very same noise for the seed 1 at position 10: it is made of 32 bits."""
OFF = SamplingParams(temperature=1, top_k=0, top_p=1, min_p=0)


def by_definition(logits: NDArray[np.float32], t: float, key: int) -> int:
    scores = [logit / t + gumbel_of(key, token) for token, logit in enumerate(logits.tolist())]
    return scores.index(max(scores))


@given(
    st.integers(1, 300),
    st.sampled_from([0.0, 0.05, 2.5, 1e4, 1e30]),
    st.sampled_from([1e-6, 0.3, 0.7, 1.0, 2.0, 100.0]),
    st.integers(0, MASK),
    st.booleans(),
)
@settings(max_examples=200)
def test_the_winner_is_the_one_of_the_definition(
    n: int, spread: float, t: float, key: int, is_rounded: bool
) -> None:
    row = np.random.default_rng(key % 1000).normal(size=n) * spread
    logits = (row.round() if is_rounded else row).astype(np.float32)
    assert winner(np.arange(n), logits, t, key) == by_definition(logits, t, key)


def test_improbable_winners_are_found() -> None:
    """Tokens far down win once in thousands of rows; none of those wins may be lost."""
    row = np.zeros(4096, np.float32)
    row[17] = 14.0  # the others together win one time in 295
    sampler = Sampler(OFF, 1)
    drawn = [sampler.sample(row, position) for position in range(3000)]
    expected = [
        by_definition(row, 1.0, position_key(1, position)) for position in range(0, 3000, 60)
    ]
    assert drawn[::60] == expected
    assert sum(token != 17 for token in drawn) >= 3


@pytest.mark.parametrize("n_others", [0, 10, 40])
def test_the_same_logit_and_the_same_noise_go_to_the_lower_id(n_others: int) -> None:
    key = position_key(1, 10)
    low, high = SAME_NOISE
    assert gumbel_of(key, low) == gumbel_of(key, high)
    tokens = np.array([high, low, *range(n_others)])
    logits = np.array([0.0, 0.0] + [-40.0] * n_others, np.float32)
    assert winner(tokens, logits, 0.8, key) == low


@pytest.mark.parametrize("options", [{}, {"top_k": 2}, {"top_k": 40}, {"top_p": 0.9}, {"min_p": 1}])
@pytest.mark.parametrize("others", [-20.0, -40.0])
def test_equals_are_drawn_by_their_ids_however_few_are_left(
    options: dict[str, float], others: float
) -> None:
    row = np.full(151_936, others, np.float32)
    row[list(SAME_NOISE)] = 0.0
    params = SamplingParams(**({"temperature": 0.8, "top_k": 0, "top_p": 1, "min_p": 0} | options))  # type: ignore[arg-type]
    assert Sampler(params, 1).sample(row, 10) == SAME_NOISE[0]


def test_noise_that_a_large_logit_swallows_leaves_the_lowest_id() -> None:
    row = np.full(500, -3e38, np.float32)
    assert {Sampler(OFF, 1).sample(row, position) for position in range(20)} == {0}
    assert math.isfinite(float(row[0]))
