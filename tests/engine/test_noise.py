"""The noise: a pure function of (seed, position, token) that looks like independent Gumbels."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from engine.chi_square import assert_flat
from paceline.engine.sample.noise import GUMBEL_MAX, gumbel, gumbel_of, position_key

N = 20_000
MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
KEYS = st.integers(0, MASK)
TOKENS = st.integers(0, (1 << 31) - 1)
Noise = Callable[[], NDArray[np.float64]]
SIGMAS = 5.0  # one false alarm in two million


def uniform(noise: NDArray[np.float64]) -> NDArray[np.float64]:
    """The uniform numbers that the noise was made of."""
    return np.exp(-np.exp(-noise))


def by_seed(position: int = 3, token: int = 77, step: int = 1) -> NDArray[np.float64]:
    return np.array([gumbel_of(position_key(s * step, position), token) for s in range(N)])


def by_position(seed: int = 5, token: int = 77) -> NDArray[np.float64]:
    return np.array([gumbel_of(position_key(seed, p), token) for p in range(N)])


def by_token(seed: int = 5, position: int = 3) -> NDArray[np.float64]:
    return gumbel(position_key(seed, position), np.arange(N))


# ------------------------------------------------------------------------------ one function


@given(KEYS, st.lists(TOKENS, min_size=1, max_size=30))
@example(0, [0])
@example(MASK, [0, 1, (1 << 31) - 1])
def test_array_and_single_noise_agree(key: int, tokens: list[int]) -> None:
    ids = np.array(tokens)
    many = gumbel(key, ids)
    assert many.dtype == np.float64
    assert ids.tolist() == tokens, "the ids are left alone"
    np.testing.assert_allclose(many, [gumbel_of(key, t) for t in tokens], rtol=0, atol=1e-12)


def test_the_hash_is_splitmix64() -> None:
    # The generator's published first outputs for the seed 1234567.
    outputs = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    for n, output in enumerate(outputs, start=1):
        expected = -math.log(-math.log(((output >> 32) + 0.5) / 2**32))
        assert gumbel_of(1234567, n) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("seed", "position", "token", "noise"),
    [
        (0, 0, 0, 0.3894181178651427),
        (1, 0, 0, -1.8175698388923345),
        (1, 1, 0, -0.520760206641032),
        (1, 2, 151_935, 1.6477633575254718),
        (42, 7, 1000, 1.3226964741615923),
        ((1 << 63) - 1, 4095, 3, -0.8480031629364042),
    ],
)
def test_the_noise_stays_what_it_is(seed: int, position: int, token: int, noise: float) -> None:
    """Compare with fixed values: other noise would change the reply to a seed that a user kept."""
    assert gumbel_of(position_key(seed, position), token) == pytest.approx(noise, abs=1e-12)


# ---------------------------------------------------------------------------------- extremes


def unmix(z: int) -> int:
    """The inverse of SplitMix64's finaliser: what hashes to `z`."""

    def unshift(z: int, n: int) -> int:
        out = z
        for _ in range(64 // n):
            out = z ^ (out >> n)
        return out

    z = unshift(z, 31)
    z = unshift(z * pow(0x94D049BB133111EB, -1, 1 << 64) & MASK, 27)
    return unshift(z * pow(0xBF58476D1CE4E5B9, -1, 1 << 64) & MASK, 30)


@pytest.mark.parametrize("token", [0, 1, 151_935])
@pytest.mark.parametrize("hashed", [0, 1, (1 << 32) - 1, MASK, MASK - (1 << 32), 1 << 63])
def test_the_bounds_hold_for_extreme_hashes(hashed: int, token: int) -> None:
    key = (unmix(hashed) - token * GOLDEN) & MASK
    single, (array,) = gumbel_of(key, token), gumbel(key, np.array([token]))
    expected = -math.log(-math.log(((hashed >> 32) + 0.5) / 2**32))
    for noise in (single, array):
        assert noise == pytest.approx(expected, abs=1e-6)  # the largest one is steep
        assert -3.2 < noise < GUMBEL_MAX
    if hashed == MASK:
        assert single > GUMBEL_MAX - 0.1


# ------------------------------------------------------------------------------ distribution


@pytest.mark.parametrize(
    "noise",
    [
        by_seed,
        functools.partial(by_seed, step=1 << 32),
        functools.partial(by_seed, step=1 << 43),
        by_position,
        by_token,
    ],
    ids=["seeds", "high bits of seeds", "highest bits of seeds", "positions", "tokens"],
)
def test_the_noise_is_uniform_before_its_logarithms(noise: Noise) -> None:
    u = uniform(noise())
    assert_flat(u)
    assert_flat(u * 4096 % 1)  # lower bits, too


@pytest.mark.parametrize("lag", [1, 2, 8])
def test_pairs_of_neighbours_fill_the_square(lag: int) -> None:
    for u in (uniform(by_seed()), uniform(by_position()), uniform(by_token())):
        pairs = (u[:-lag] * 8).astype(int) * 8 + (u[lag:] * 8).astype(int)
        # Neighbouring pairs share a member; every second one does not.
        assert_flat(pairs[:: 2 * lag] / 64 + 1e-9)


def test_a_later_position_is_not_another_seed() -> None:
    u, shifted = uniform(by_seed(position=3)), uniform(by_seed(position=4))
    for lag in (0, 1, 2):
        a, b = shifted[: N - lag], u[lag:]
        assert abs(np.corrcoef(a, b)[0, 1]) < SIGMAS / math.sqrt(N)
    assert len({position_key(s, p) for s in range(200) for p in range(200)}) == 40_000


def test_seed_position_and_token_are_not_simply_added() -> None:
    tokens = np.arange(30)
    noise = [gumbel(position_key(s, p), tokens) for s in range(30) for p in range(30)]
    # Of 27,000 numbers of 32 bits about 0.08 pairs are equal.
    assert len(np.unique(np.concatenate(noise))) >= 26_997


def test_every_bit_of_the_seed_counts() -> None:
    keys = {position_key(1 << bit, 0) for bit in range(63)} | {position_key(0, 0)}
    assert len(keys) == 64
