"""The race without all the noise finds whom the plain definition names, whatever its sizes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from paceline.engine.sample.gumbel_argmax import Race, argmax_of
from paceline.engine.sample.noise import (
    GUMBEL_MAX,
    GUMBEL_MIN,
    gumbel,
    gumbel_of,
    hash_grid,
    largest_hashes,
    position_key,
)
from paceline.engine.sample.sampling import Sampler
from paceline.messages import SamplingParams

MASK = (1 << 64) - 1
SHAPES = ("usual", "flat", "level", "peaked", "ties", "spikes", "holes", "few", "steep")


def make_row(shape: str, n: int, seed: int) -> NDArray[np.float32]:
    rng = np.random.default_rng(seed)
    row = rng.normal(size=n) * 2.5
    if shape == "flat":
        row = rng.normal(size=n) * 0.05
    elif shape == "level":
        row = np.full(n, -7.25)
    elif shape == "peaked":
        row[rng.integers(n)] = 25
    elif shape == "ties":
        row = np.round(row)
    elif shape == "spikes":  # one in every column of 64, far above the rest
        row = np.full(n, -30.0)
        row[rng.integers(n, size=n // 64 + 1)] = 3.0
    elif shape == "holes":
        row[rng.random(n) < 0.5] = -math.inf
        row[rng.integers(n)] = 0
    elif shape == "few":
        row = np.where(rng.random(n) < 3 / n, row, -math.inf)
        row[rng.integers(n)] = 0
    elif shape == "steep":
        row *= 1e4
    return row.astype(np.float32)


def plainly(
    row: NDArray[np.float32], t: float, key: int, behind: tuple[float, int]
) -> tuple[int, float]:
    """The winner by the definition, and how far ahead of the next it is."""
    scores = row / np.float64(t) + gumbel(key, np.arange(len(row)))
    logit, token = behind
    runs = (row > np.float32(logit)) | ((row == np.float32(logit)) & (np.arange(len(row)) < token))
    scores = np.where(runs, scores, -math.inf)
    first, second = np.sort(scores)[[-1, -2]]
    return int(scores.argmax()), float(first - second)


@given(
    st.sampled_from(SHAPES),
    st.integers(64, 3000),
    st.sampled_from([1e-6, 0.3, 0.7, 1.0, 2.0, 100.0]),
    st.integers(0, MASK),
    st.integers(1, 64),
    st.integers(1, 40),
    st.sampled_from([None, 0, 1, 5, 50, "peak"]),
)
@settings(max_examples=400)
def test_the_winner_is_the_plain_one(
    shape: str, n: int, t: float, key: int, n_lanes: int, n_columns: int, behind: object
) -> None:
    row = make_row(shape, n, key % 1000)
    best = int(row.argmax())
    limit = (-math.inf, 0)
    if behind == "peak":  # nothing but the likeliest, and what is as likely with a lower id
        limit = (row.item(best), best + 1)
    elif behind is not None:
        order = np.lexsort((np.arange(n), -row))
        rank = max(int(behind), 1)
        limit = (row.item(order[rank]), int(order[rank]))
    expected, lead = plainly(row, t, key, limit)
    for race in (Race(n_lanes, n_columns, many=0), Race(n_lanes, n_columns, many=100), Race()):
        for _ in range(2):  # buffers are used again
            winner = race.winner(row, best, t, key, limit)
            assert winner == expected or lead < 1e-12 * max(1, abs(row.item(best) / t))


@pytest.mark.grid(short=14)
@pytest.mark.parametrize("t", [0.7, 1.0, 1.2])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [8_192, 32_003, 151_936])
def test_big_vocabularies(n: int, shape: str, t: float) -> None:
    row = make_row(shape, n, 1)
    best = int(row.argmax())
    races = Race(), Race(many=0)
    for i in range(12):
        key = i * 0x9E3779B97F4A7C15 & MASK
        expected = plainly(row, t, key, (-math.inf, 0))[0]
        assert [race.winner(row, best, t, key) for race in races] == [expected] * 2


def test_improbable_winners_are_found() -> None:
    """Tokens far down win once in thousands of rows; none of those wins may be lost."""
    n, t = 4096, 1.0
    row = np.zeros(n, np.float32)
    row[17] = 14.0  # the others together win one time in 295
    race = Race(many=0)
    surprises = 0
    for i in range(3000):
        key = i * 0xD1B54A32D192ED03 & MASK
        expected = plainly(row, t, key, (-math.inf, 0))[0]
        assert race.winner(row, 17, t, key) == expected
        surprises += expected != 17
    assert surprises >= 3


def test_equal_scores_go_to_the_lower_id() -> None:
    """Without noise to tell them apart: ids that differ, the same score, is what argmax decides."""
    tokens = np.array([5, 9])
    logits = np.array([1.0, 1.0], np.float32) + np.float32(0)
    key = 3
    apart = gumbel_of(key, 5) - gumbel_of(key, 9)
    assert argmax_of(tokens, logits, 1.0, key) == (5 if apart > 0 else 9)
    assert argmax_of(np.array([4, 4]), logits, 1.0, key) == 4


SAME_NOISE = 14_287, 39_786
"""Two ids with the very same noise for the seed 1 at position 10: it is made of 32 bits."""


@pytest.mark.parametrize("n_others", [0, 10, 11, 40])
def test_the_same_logit_and_the_same_noise_go_to_the_lower_id(n_others: int) -> None:
    """For a few tokens, which are compared one by one, as for many."""
    key = position_key(1, 10)
    low, high = SAME_NOISE
    assert gumbel_of(key, low) == gumbel_of(key, high)
    tokens = np.array([low, high, *range(n_others)])
    logits = np.array([0.0, 0.0] + [-40.0] * n_others, np.float32)
    assert argmax_of(tokens, logits, 0.8, key) == low


@pytest.mark.parametrize("options", [{}, {"top_k": 2}, {"top_k": 40}, {"top_p": 0.9}, {"min_p": 1}])
@pytest.mark.parametrize("others", [-20.0, -40.0])
def test_equals_are_drawn_by_their_ids_however_few_are_left(
    options: dict[str, float], others: float
) -> None:
    row = np.full(151_936, others, np.float32)
    row[list(SAME_NOISE)] = 0.0
    params = SamplingParams(**({"temperature": 0.8, "top_k": 0, "top_p": 1, "min_p": 0} | options))  # type: ignore[arg-type]
    assert Sampler(params, 1).sample(row, 10) == SAME_NOISE[0]


@given(st.integers(0, MASK), st.integers(1, 9), st.integers(1, 9), st.integers(1, 500))
def test_hashes_and_limits_agree_with_the_noise(key: int, n: int, m: int, step: int) -> None:
    lanes, columns = np.arange(n) * step * m, np.arange(m) * step
    out, spare = np.empty((n, m), np.uint64), np.empty((n, m), np.uint64)
    hash_grid(key, lanes, columns, out, spare)
    noise = np.array([[gumbel_of(key, int(a + b)) for b in columns] for a in lanes])
    assert (out >= largest_hashes(noise.ravel()).reshape(n, m)).all()
    assert (out >= largest_hashes(noise.ravel() - 1e-9).reshape(n, m)).all()
    # Limits are sharp: a thousandth more noise asks for a larger hash, wherever that is more than
    # the slack of 8 in 2^32.
    too_little = out < largest_hashes(noise.ravel() + 1e-3).reshape(n, m)
    assert (too_little | (noise < -2) | (noise > 10)).all()


def test_limits_grow_from_nothing_to_nearly_all() -> None:
    limits = largest_hashes(np.array([-5.0, GUMBEL_MIN, 0.0, 10.0, GUMBEL_MAX, 800.0, math.inf]))
    values = limits.tolist()
    assert values == sorted(values)
    assert values[0] == 0
    assert values[1] < 1 << 34
    assert (1 << 64) / math.e == pytest.approx(values[2], rel=1e-8)
    assert MASK - values[-1] < 1 << 36
