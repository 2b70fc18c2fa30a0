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

from engine.chi_square import assert_follows, chi_square, total_variation
from engine.sampling_reference import drawn, probabilities, truncated
from paceline.engine.sample.plain_rows import PlainRows
from paceline.engine.sample.sampling import Sampler, check_sampling
from paceline.errors import EngineError, ValueOutOfRangeError
from paceline.messages import SamplingParams
from paceline.parameters import Parameter, parameters_of

OFF = SamplingParams(temperature=1, top_k=0, top_p=1, min_p=0)
N = 20_000
TV_LIMIT = 0.038  # of 32 bins and 20,000 draws, one false alarm in a million
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


@pytest.mark.grid(short=8)
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize(
    "p",
    [
        changed(top_k=1),
        changed(top_k=40, top_p=0.95, min_p=0.05),
        changed(top_k=40, temperature=100),
        changed(top_k=2000, temperature=100),
        changed(top_k=2000, top_p=0.5, temperature=20),
        changed(top_p=0.3, temperature=20),
        changed(top_p=0.999, temperature=20),
        changed(min_p=0.01, temperature=20),
        changed(top_p=0.9, min_p=0.2, temperature=20),
        changed(top_k=10**9, min_p=0.1, temperature=20),
        changed(temperature=0.7),
    ],
    ids=lambda p: f"{p.temperature:g}-{p.top_k}-{p.top_p}-{p.min_p}",
)
def test_truncation_of_big_vocabularies(p: SamplingParams, ties: bool) -> None:
    rng = np.random.default_rng(3)
    logits = (rng.normal(size=151_936) * 2.5).astype(np.float32)
    if ties:
        logits = (logits * 2).round() / 2
    row = logits.tolist()
    weights = truncated(row, p)
    if p == changed(temperature=0.7):  # the reference need not look at what cannot win
        least = max(row) - 19
        weights = {token: w for token, w in weights.items() if row[token] > least}
    sampler = Sampler(p, seed=9)
    for position in range(3):
        token = sampler.sample(logits.copy(), position)
        assert token == drawn(row, weights, 9, position, p.temperature)


def seen(row: Sequence[float], p: SamplingParams, n: int = 400) -> set[int]:
    sampler = Sampler(dataclasses.replace(p, temperature=100), 1)
    return {sampler.sample(array(row), position) for position in range(n)}


def test_among_equals_the_lower_id_stays() -> None:
    assert seen([1, 2, 2, 2, 1], changed(top_k=2)) == {1, 2}
    assert seen([0] * 10, changed(top_k=4)) == {0, 1, 2, 3}
    assert seen([0] * 10, changed(top_p=0.35)) == {0, 1, 2, 3}
    assert seen([0, 5, 0], changed(top_k=2)) == {0, 1}


def test_the_token_that_crosses_top_p_stays() -> None:
    row = np.log([0.5, 0.3, 0.2]).tolist()
    assert seen(row, changed(top_p=0.49)) == {0}
    assert seen(row, changed(top_p=0.51)) == {0, 1}
    assert seen(row, changed(top_p=0.81)) == {0, 1, 2}


def test_top_p_is_measured_on_what_top_k_left() -> None:
    row = np.log([0.4, 0.3, 0.3]).tolist()
    assert seen(row, changed(top_k=2, top_p=0.56)) == {0}  # 4/7 is enough


def test_min_p_is_relative_to_the_most_likely() -> None:
    row = np.log([0.4, 0.21, 0.19, 0.2]).tolist()
    assert seen(row, changed(min_p=0.51)) == {0, 1}
    assert seen(row, changed(min_p=0.51, top_k=4, top_p=0.9999)) == {0, 1}
    assert seen([3, 3, 2], changed(min_p=1)) == {0, 1}


def test_the_temperature_does_not_move_the_truncation() -> None:
    row = np.log([0.6, 0.3, 0.1]).tolist()
    for p in (changed(top_p=0.85), changed(min_p=0.2), changed(top_k=2)):
        assert seen(row, p) == {0, 1}


def test_top_p_one_cuts_nothing_off_what_top_k_left() -> None:
    assert seen([0, -40, -80], changed(top_k=2)) == {0, 1}


@pytest.mark.parametrize("n", [40, 3000])
@pytest.mark.parametrize("top_p", [0.999999, 1 - 1e-9])
def test_a_top_p_next_to_one_among_impossible_tokens(top_p: float, n: int) -> None:
    row = [0.0, -3.0, -INF, -9.0, -60.0, *[-INF] * n]
    assert seen(row, changed(top_p=top_p), 50) <= {0, 1, 3}
    assert len(seen([0.0] * n, changed(top_p=top_p), 500)) > 30


def test_all_off_lets_everything_through() -> None:
    assert seen([0, -3, 2, -INF, 1], OFF) == {0, 1, 2, 4}


def test_a_vocabulary_of_one() -> None:
    for p in (OFF, changed(top_k=1), changed(top_k=5), changed(top_p=0.5), changed(temperature=0)):
        assert Sampler(p, 1).sample(array([-7]), 0) == 0


# ------------------------------------------------------------------------------- frequencies


def peaked(n: int = 32, seed: int = 5) -> list[float]:
    """A row as a model gives it: few likely tokens and a tail."""
    return (np.random.default_rng(seed).normal(size=n) * 1.6).astype(np.float32).tolist()


@pytest.mark.grid(short=5)
@pytest.mark.parametrize("temperature", [0.6, 0.8, 1.2])
@pytest.mark.parametrize(
    "p",
    [
        OFF,
        changed(top_k=12),
        changed(top_p=0.93),
        changed(min_p=0.03),
        changed(top_k=20, top_p=0.96, min_p=0.03),
    ],
    ids=["off", "top-k", "top-p", "min-p", "all three"],
)
def test_sampled_frequencies_are_exact(p: SamplingParams, temperature: float) -> None:
    p = dataclasses.replace(p, temperature=temperature)
    row = peaked()
    exact = probabilities(row, p)
    assert (exact > 0).sum() >= 8
    sampler, logits = Sampler(p, seed=2024), array(row)
    counts = np.bincount([sampler.sample(logits, i) for i in range(N)], minlength=32)
    assert_follows(counts, exact)
    assert total_variation(counts, exact) < TV_LIMIT


def test_the_check_finds_a_shift_of_two_percent() -> None:
    p = dataclasses.replace(OFF, temperature=0.8)
    exact = probabilities(peaked(), p)
    shifted = exact.copy()
    a, b = exact.argsort()[[-1, -4]]
    shifted[a] -= 0.02
    shifted[b] += 0.02
    rng = np.random.default_rng(1)
    for _ in range(50):
        statistic, limit = chi_square(rng.multinomial(N, shifted), exact)
        assert statistic > limit
        statistic, limit = chi_square(rng.multinomial(N, exact), exact)
        assert statistic < limit


def test_the_check_finds_a_slightly_wrong_temperature() -> None:
    counts = np.random.default_rng(2).multinomial(
        N, probabilities(peaked(), changed(temperature=0.85))
    )
    statistic, limit = chi_square(counts, probabilities(peaked(), changed(temperature=0.8)))
    assert statistic > limit


def test_frequencies_at_one_position_over_seeds_and_of_pairs() -> None:
    p = changed(temperature=0.8, top_k=6)
    rows = [peaked(8, seed=7), peaked(8, seed=8)]
    first, second = (probabilities(row, p) for row in rows)
    pairs = np.zeros((8, 8), int)
    for seed in range(N):
        sampler = Sampler(p, seed)
        pairs[sampler.sample(array(rows[0]), 0), sampler.sample(array(rows[1]), 1)] += 1
    assert_follows(pairs.sum(axis=1), first)
    assert_follows(pairs.sum(axis=0), second)
    assert_follows(pairs.ravel(), np.outer(first, second).ravel())


@pytest.mark.parametrize("lag", [1, 2, 5])
def test_positions_of_one_reply_are_independent(lag: int) -> None:
    p, row = changed(temperature=1.2), peaked(8)
    exact = probabilities(row, p)
    sampler, logits = Sampler(p, seed=3), array(row)
    tokens = np.array([sampler.sample(logits, i) for i in range(2 * N)])
    pairs = (tokens[:-lag] * 8 + tokens[lag:])[:: 2 * lag]  # disjoint ones
    assert_follows(np.bincount(pairs, minlength=64), np.outer(exact, exact).ravel())


def test_what_has_no_probability_is_never_drawn() -> None:
    row = [0.0, -INF, 0.0, -INF]
    for p in (OFF, changed(top_k=3), changed(top_p=0.99), changed(min_p=0.01), changed(top_k=9)):
        assert seen(row, p, 2000) == {0, 2}


def test_close_rows_draw_the_same_with_the_same_noise() -> None:
    """Two rows agree at least as often as the coupling promises: (1 - TV) / (1 + TV)."""
    ours, theirs = peaked(32), (np.array(peaked(32)) + 0.3 * np.array(peaked(32, seed=6))).tolist()
    tv = float(np.abs(probabilities(ours, OFF) - probabilities(theirs, OFF)).sum() / 2)
    assert 0.1 < tv < 0.3
    target, draft = Sampler(OFF, 4), Sampler(OFF, 4)
    same = sum(target.sample(array(ours), i) == draft.sample(array(theirs), i) for i in range(5000))
    promised = (1 - tv) / (1 + tv)
    assert same / 5000 > promised - 5 * math.sqrt(promised * (1 - promised) / 5000)


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


@given(st.data(), PARAMS)
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


def test_a_suppressed_favourite_is_passed_over_at_temperature_zero() -> None:
    assert Sampler(changed(temperature=0), 1, [1]).sample(array([1, 9, 3]), 0) == 2


def test_all_suppressed_is_an_error() -> None:
    with pytest.raises(EngineError):
        Sampler(OFF, 1, [0, 1]).sample(array([1, 2]), 0)


def test_a_suppressed_id_beyond_a_smaller_draft_vocabulary() -> None:
    """Draft vocabularies may be up to 128 tokens smaller; `ignore_eog` suppresses ids up there."""
    assert Sampler(OFF, 1, [5]).twin(3).draft(array([0, 90, 0]), 0)[0] == 1


# ------------------------------------------------------------------------------ no memory


@given(
    st.lists(st.tuples(st.floats(0.001, 20), st.integers(0, 99)), max_size=6),
    st.floats(0.01, 10),
    st.sampled_from([changed(top_k=5), changed(top_k=40, top_p=0.9), changed(top_p=0.9), OFF]),
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


def test_flat_and_steep_rows_in_turn() -> None:
    """Memory that is used again may hold nothing of the row before."""
    rng = np.random.default_rng(1)
    p = changed(top_k=10, temperature=100)
    rows = [
        np.zeros(5000),
        rng.normal(size=5000) * 8,
        np.where(np.arange(5000) < 3, 0, -INF),
        rng.normal(size=5000) * 1e-3,
        np.round(rng.normal(size=5000)),
    ]
    used = Sampler(p, 3)
    for i in range(40):
        row = rows[i * 7 % 5].astype(np.float32)
        token = used.sample(row, i)
        logits = row.tolist()
        assert token == drawn(logits, truncated(logits, p), 3, i, 100)


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
    [OFF, changed(top_k=40), changed(top_k=4), changed(top_p=0.3), changed(min_p=0.5)],
    ids=["off", "top 40", "top 4", "top-p", "min-p"],
)
@pytest.mark.parametrize("n", [11, 257, 32_768, 32_769, 151_936])
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


def test_a_twin_shares_nothing_but_what_decides() -> None:
    sampler = Sampler(changed(top_k=3), 5, [2])
    twin = sampler.twin(5)
    assert (twin.params, twin.seed) == (sampler.params, 5)
    assert (
        twin.sample(array([0, 1, 99, 0, 0]), 0) == sampler.sample(array([0, 1, 99, 0, 0]), 0) != 2
    )


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
    """Where float32 has few digits: exp(-3) is below 0.05, though rounding says otherwise."""
    row = np.full(20_000, -np.inf, np.float32)
    row[:n_likely] = 1_000_001
    row[10_000:12_000] = 1_000_001 - 3
    sampler = Sampler(SamplingParams(temperature=100, top_k=0, top_p=1, min_p=0.05), 1)
    drawn = {sampler.sample(row.copy(), position) for position in range(60)}
    assert max(drawn) < n_likely
    assert len(drawn) > 1


def test_what_lies_on_the_floor_of_min_p_is_left_by_native_code_as_by_numpy() -> None:
    """The floor is a logarithm that is rounded, so both must round it to the same side."""
    row = array([-n / 100 for n in range(60)])
    for least in row.tolist():
        p = SamplingParams(temperature=100, top_k=59, top_p=1, min_p=math.exp(least))
        sampler, plain = Sampler(p, 1), Sampler(p, 1, make_drawer=PlainRows)
        for position in range(40):
            expected = plain.sample(row.copy(), position)
            assert sampler.sample(row.copy(), position) == expected


def test_huge_logits_have_a_confidence() -> None:
    """12 less than 1e30 is 1e30; ten tokens as likely as each other are left to be sure of."""
    row = np.full(1 << 16, 1e30, np.float32)
    assert Sampler(SamplingParams(temperature=0), 1).draft(row, 0) == (0, pytest.approx(0.1))
