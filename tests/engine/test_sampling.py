"""Logits to a token: truncation, exact frequencies, and independence from everything else."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from engine.sampling_reference import drawn, truncated
from paceline.engine.sample.drawing import MakeDrawer
from paceline.engine.sample.plain_rows import PlainRows
from paceline.engine.sample.sampling import Sampler, check_sampling
from paceline.errors import EngineError, ValueOutOfRangeError
from paceline.messages import SamplingParams
from paceline.parameters import Parameter, parameters_of

OFF = SamplingParams(temperature=1, top_k=0, top_p=1, min_p=0)
NAN, INF = math.nan, math.inf

LOGITS = st.just(-INF) | st.integers(-40, 40).map(lambda n: n / 4)  # many ties
ROWS = st.lists(LOGITS, min_size=1, max_size=60).filter(lambda row: max(row) > -INF)
PARAMS = st.builds(
    SamplingParams,
    temperature=st.sampled_from([0.3, 0.8, 100.0]),
    top_k=st.just(0) | st.integers(1, 70),
    top_p=st.sampled_from([1, 1, 1e-6, 0.31, 0.53, 0.897, 0.951, 0.999]),
    min_p=st.sampled_from([0, 0, 1e-6, 0.0503, 0.303, 1]),
)


def array(row: Sequence[float]) -> NDArray[np.float32]:
    return np.array(row, np.float32)


def changed(**values: float) -> SamplingParams:
    return dataclasses.replace(OFF, **values)  # type: ignore[arg-type]


# -------------------------------------------------------------------------------- truncation


@given(ROWS, PARAMS, st.integers(0, 2**63 - 1))
def test_truncation_against_the_obvious_way(row: list[float], p: SamplingParams, seed: int) -> None:
    weights = truncated(row, p, lambda close: assume(not close))
    sampler = Sampler(p, seed)
    # At temperature 100 all that is left is drawn about equally often.
    got = [sampler.sample(array(row), position) for position in range(64)]
    assert got == [drawn(row, weights, seed, i, p.temperature) for i in range(64)]


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize(
    "p",
    [
        changed(top_k=40, top_p=0.95, min_p=0.05),
        changed(top_k=2000, temperature=100),
        changed(top_p=0.999, temperature=20),
        changed(min_p=0.01, temperature=20),
        changed(top_k=10**9, min_p=0.1, temperature=20),
        changed(temperature=0.7),
    ],
    ids=lambda p: f"{p.temperature:g}-{p.top_k}-{p.top_p}-{p.min_p}",
)
def test_truncation_of_big_vocabularies(p: SamplingParams, ties: bool) -> None:
    rng = np.random.default_rng(3)
    logits = (rng.normal(size=50_000) * 2.5).astype(np.float32)
    if ties:
        logits = (logits * 2).round() / 2
    row = logits.tolist()
    weights = truncated(row, p)
    if p == changed(temperature=0.7):  # the reference need not look at what cannot win
        least = max(row) - 19
        weights = {token: w for token, w in weights.items() if row[token] > least}
    sampler = Sampler(p, seed=9)
    for position in range(2):
        token = sampler.sample(logits.copy(), position)
        assert token == drawn(row, weights, 9, position, p.temperature)


def seen(
    row: Sequence[float], p: SamplingParams, n: int = 400, make_drawer: MakeDrawer | None = None
) -> set[int]:
    sampler = Sampler(dataclasses.replace(p, temperature=100), 1, make_drawer=make_drawer)
    return {sampler.sample(array(row), position) for position in range(n)}


def logs(*probabilities: float) -> list[float]:
    return np.log(probabilities).tolist()


@pytest.mark.parametrize(
    ("row", "p", "left"),
    [
        ([1, 2, 2, 2, 1], changed(top_k=2), {1, 2}),  # of equals the lower ids
        ([0] * 10, changed(top_p=0.35), {0, 1, 2, 3}),
        (logs(0.5, 0.3, 0.2), changed(top_p=0.49), {0}),
        (logs(0.5, 0.3, 0.2), changed(top_p=0.51), {0, 1}),  # the one that crosses it stays
        (logs(0.4, 0.3, 0.3), changed(top_k=2, top_p=0.56), {0}),  # 4/7 of what top-k left
        (logs(0.4, 0.21, 0.19, 0.2), changed(min_p=0.51), {0, 1}),
        (logs(0.4, 0.21, 0.19, 0.2), changed(min_p=0.51, top_k=4, top_p=0.9999), {0, 1}),
        ([3, 3, 2], changed(min_p=1), {0, 1}),  # on the floor of min-p
        ([3, 3, 2], changed(top_k=3, min_p=1), {0, 1}),
        ([0, -40, -80], changed(top_k=2), {0, 1}),  # top-p 1 cuts nothing off
        ([0, -3, 2, -INF, 1], OFF, {0, 1, 2, 4}),
        ([0, -INF, 0, -INF], changed(top_k=9, top_p=0.99, min_p=0.01), {0, 2}),
        ([-7], changed(top_k=5, top_p=0.5), {0}),
    ],
)
def test_truncation_leaves(row: list[float], p: SamplingParams, left: set[int]) -> None:
    """With the library of rows, where there is one, and with NumPy."""
    for make_drawer in (None, PlainRows):
        assert seen(row, p, make_drawer=make_drawer) == left


@pytest.mark.parametrize("n", [40, 3000])
@pytest.mark.parametrize("top_p", [0.999999, 1 - 1e-9])
def test_a_top_p_next_to_one_among_impossible_tokens(top_p: float, n: int) -> None:
    row = [0.0, -3.0, -INF, -9.0, -60.0, *[-INF] * n]
    assert seen(row, changed(top_p=top_p), 50) <= {0, 1, 3}
    assert len(seen([0.0] * n, changed(top_p=top_p), 500)) > 30


# ------------------------------------------------------------------------------ temperature 0


@given(ROWS, PARAMS)
def test_temperature_zero_is_the_lowest_of_the_largest(row: list[float], p: SamplingParams) -> None:
    sampler = Sampler(dataclasses.replace(p, temperature=0), 1)
    assert sampler.sample(array(row), 0) == row.index(max(row))
    assert sampler.draft(array(row), 5)[0] == row.index(max(row))


@pytest.mark.parametrize("t", [1e-9, 1e-100, 1e-310])
@pytest.mark.parametrize("p", [OFF, changed(top_k=3), changed(min_p=1e-9), changed(top_p=0.999)])
@pytest.mark.parametrize("row", [[5, 10, 7, 9], [-5, -3, -7, -4], [0, 3e4, -3e4, 1]])
def test_next_to_zero_is_as_zero(row: list[float], p: SamplingParams, t: float) -> None:
    sampler = Sampler(dataclasses.replace(p, temperature=t), 1)
    assert {sampler.sample(array(row), i) for i in range(20)} == {1}


# --------------------------------------------------------------------- bad rows, suppressed ids


@pytest.mark.parametrize(
    "row",
    [
        [NAN, 1, 2, 3],
        [1, 2, 3, NAN],
        [INF, 1, 2, 3],
        [1, 2, INF, NAN],
        [NAN] * 4,
        [-INF] * 4,
        [1, -NAN, -INF, 3],
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "p",
    [OFF, changed(temperature=0), changed(top_k=2), changed(top_p=0.9), changed(min_p=0.1)],
    ids=["off", "greedy", "top-k", "top-p", "min-p"],
)
def test_invalid_numbers_are_an_error(p: SamplingParams, row: list[float]) -> None:
    sampler = Sampler(p, 1)
    for draw in (sampler.sample, sampler.draft):
        with pytest.raises(EngineError) as caught:
            draw(array(row), 0)
        assert caught.value.code == "invalid-numbers"
    assert sampler.sample(array([0, 90, 0, 0]), 0) == 1  # it can go on


@given(st.data(), PARAMS | PARAMS.map(lambda p: dataclasses.replace(p, temperature=0)))
def test_suppressed_ids_never_appear(data: st.DataObject, p: SamplingParams) -> None:
    row = data.draw(st.lists(st.integers(-8, 8), min_size=2, max_size=20))
    ids = st.integers(0, len(row) - 1)
    suppressed = data.draw(st.sets(ids, min_size=1, max_size=len(row) - 1))
    sampler = Sampler(p, 1, suppressed)
    without = [-INF if i in suppressed else x for i, x in enumerate(row)]
    for position in range(30):
        token = sampler.sample(array(row), position)
        assert token not in suppressed
        assert token == Sampler(p, 1).sample(array(without), position)
        assert sampler.twin(len(row)).draft(array(row), position)[0] == token


# ------------------------------------------------------------------------------ no memory


@given(
    st.lists(st.tuples(st.floats(0, 20), st.integers(0, 99)), max_size=6),
    st.floats(0.01, 10),
    st.sampled_from(
        [changed(top_k=5, temperature=100), changed(top_k=40, top_p=0.9), changed(top_p=0.9), OFF]
    ),
)
def test_earlier_rows_change_nothing(
    earlier: list[tuple[float, int]], spread: float, p: SamplingParams
) -> None:
    def row(spread: float, seed: int) -> NDArray[np.float32]:
        return (np.random.default_rng(seed).normal(size=700) * spread).astype(np.float32)

    used = Sampler(p, 8)
    for position, (s, seed) in enumerate(earlier):
        used.sample(row(s, seed), position)
    for position in (0, 3, 50):
        fresh = Sampler(p, 8)
        assert used.sample(row(spread, 100), position) == fresh.sample(row(spread, 100), position)


def test_the_row_survives() -> None:
    row = array([3, 1, 2] * 30)
    for p in (OFF, changed(top_k=5), changed(top_p=0.5), changed(temperature=0)):
        copy = row.copy()
        Sampler(p, 1).sample(copy, 0)
        assert (copy == row).all()


def test_seed_and_position_decide() -> None:
    row = array([0] * 200)

    def tokens(seed: int, positions: Sequence[int]) -> list[int]:
        sampler = Sampler(OFF, seed)
        return [sampler.sample(row, i) for i in positions]

    assert tokens(1, range(30)) == tokens(1, range(30))
    assert tokens(1, range(29, -1, -1)) == tokens(1, range(30))[::-1]
    assert tokens(1, range(30)) != tokens(2, range(30))
    assert tokens(1, range(30)) != tokens(1, range(1, 31))


# ---------------------------------------------------------------------------------- drafting


def sureness(row: Sequence[float]) -> float:
    """The most likely token's share of the ten largest."""
    best = sorted(row, reverse=True)[:10]
    return 1 / math.fsum(math.exp(logit - best[0]) for logit in best)


@given(ROWS, PARAMS | PARAMS.map(lambda p: dataclasses.replace(p, temperature=0)))
def test_a_draft_is_what_a_twin_samples(row: list[float], p: SamplingParams) -> None:
    sampler = Sampler(p, 12)
    twin = sampler.twin(len(row))
    for position in range(10):
        token, sure = twin.draft(array(row), position)
        assert token == sampler.sample(array(row), position)
        assert sure == pytest.approx(sureness(row), abs=1e-6)


@pytest.mark.parametrize("temperature", [0, 0.8])
@pytest.mark.parametrize(
    "p",
    [OFF, changed(top_k=4), changed(top_p=0.3)],
    ids=["off", "top 4", "top-p"],
)
@pytest.mark.parametrize("n", [11, 32_768, 32_769, 151_936])
def test_confidence_in_small_and_large_vocabularies(
    n: int, p: SamplingParams, temperature: float
) -> None:
    p = dataclasses.replace(p, temperature=temperature)
    rng = np.random.default_rng(n)
    for spread in (0.5, 3, 30):
        row = (rng.normal(size=n) * spread).astype(np.float32)
        token, sure = Sampler(p, 1).draft(row.copy(), 4)
        assert token == Sampler(p, 1).sample(row.copy(), 4)
        assert sure == pytest.approx(sureness(row.tolist()), abs=1e-3 if n > 32_768 else 1e-6)


# -------------------------------------------------------------------------------- parameters


def test_a_sampler_refuses_values_out_of_range() -> None:
    for check in (check_sampling, lambda p: Sampler(p, 1)):
        with pytest.raises(ValueOutOfRangeError, match="Top-p is 0"):
            check(changed(top_p=0))


@pytest.mark.parametrize("of", [p for p in parameters_of(SamplingParams).values() if p.is_number])
def test_values_at_the_border_work(of: Parameter) -> None:
    smallest = 1e-300 if of.kind == "float" and of.low == 0 else of.low
    for value in (smallest, smallest if of.excludes_low else of.low, of.high):
        assert 0 <= Sampler(changed(**{of.name: value}), 1).sample(array([1, 2, 3] * 9), 0) < 27


@pytest.mark.parametrize("n_likely", [3, 2000])
def test_min_p_is_exact_far_from_zero(n_likely: int) -> None:
    """float32 has few digits there: exp(-3) is below 0.05, though rounding says otherwise."""
    row = np.full(20_000, -np.inf, np.float32)
    row[:n_likely] = 1_000_001
    row[10_000:12_000] = 1_000_001 - 3
    sampler = Sampler(SamplingParams(temperature=100, top_k=0, top_p=1, min_p=0.05), 1)
    drawn = {sampler.sample(row.copy(), position) for position in range(60)}
    assert max(drawn) < n_likely
    assert len(drawn) > 1


def test_huge_logits_have_a_confidence() -> None:
    """12 less than 1e30 is 1e30; ten tokens as likely as each other are left to be sure of."""
    row = np.full(1 << 16, 1e30, np.float32)
    assert Sampler(SamplingParams(temperature=0), 1).draft(row, 0) == (0, pytest.approx(0.1))
