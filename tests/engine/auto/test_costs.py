"""The table of costs: what was measured, what is guessed between, and what is feared beyond."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.engine.auto import DraftCosts, VerifyCosts
from paceline.engine.auto.context_cost import ContextCost, ContextSlope


def table(points: dict[int, float], n: int = 2) -> VerifyCosts:
    costs = VerifyCosts()
    for width, seconds in points.items():
        for _ in range(n):
            costs.add(width, 0, seconds)
    return costs


def test_nothing_is_known_at_first() -> None:
    costs = VerifyCosts()
    assert costs.seconds(1, 0) is None
    assert costs.ratios() == []
    assert costs.table(0) == ()
    assert costs.n_samples(1) == costs.n_samples(4) == 0


def test_the_median_of_the_last_nine_steps_counts() -> None:
    costs = VerifyCosts()
    for seconds in (9.0, 1.0, 1.0, 1.0, 30.0, 1.0, 1.0, 1.0, 1.0, 1.0):
        costs.add(1, 0, seconds)
    assert costs.n_samples(1) == 9
    assert costs.seconds(1, 0) == 1.0
    for _ in range(6):
        costs.add(1, 0, 2.0)
    assert costs.seconds(1, 0) == 2.0


def test_what_is_reported_was_measured() -> None:
    costs = table({1: 1.0, 8: 2.0}, n=3)
    told = [(cost.width, cost.seconds, cost.n_samples) for cost in costs.table(0)]
    assert told == [(1, 1.0, 3), (8, 2.0, 3)]


def test_between_two_widths_costs_lie_on_a_line_and_the_ledger_fears_the_wider_one() -> None:
    ratios = table({1: 1.0, 4: 1.1, 8: 1.9}).ratios()
    assert ratios[4] == pytest.approx(1.1)
    for width in (5, 6, 7):
        line = 1.1 + (width - 4) * 0.2
        assert ratios[width] == pytest.approx(line)
    assert table({1: 1.0, 4: 1.1, 8: 1.9}).near(0)[1][5] == pytest.approx(1.9)


def test_beyond_the_widest_one_the_ledger_fears_a_plain_step_per_token() -> None:
    costs = table({1: 1.0, 4: 1.3})
    assert costs.near(0)[1][6] == pytest.approx(3.3)
    assert costs.ratios()[6] == pytest.approx(1.5)
    assert table({1: 1.0}).near(0)[1][3] == pytest.approx(3.0)


def test_no_batch_is_more_expensive_than_a_wider_one() -> None:
    """A width that was timed in a bad minute does not stand in the way of the others."""
    costs = table({1: 1.0, 2: 3.0, 4: 1.4})
    assert costs.ratios()[2] == pytest.approx(1.4)
    assert costs.near(0)[1][2] == pytest.approx(1.4)


@pytest.mark.parametrize(
    ("points", "cheapest"),
    [
        ({1: 1.0, 2: 3.2, 4: 4.4, 5: 6.4, 6: 7.4, 8: 4.8}, {1: 1, 2: 2, 4: 4, 5: 8, 6: 8, 7: 8}),
        ({1: 1.0, 2: 3.2, 4: 4.4, 5: 6.4, 16: 5.0}, {5: 5, 7: 7, 8: 16, 16: 16, 20: 20}),
        ({1: 1.0, 4: 1.1, 8: 1.05}, {4: 4, 5: 5}),  # that is noise
        ({8: 1.0}, {5: 5}),
        ({}, {1: 1, 5: 5}),
    ],
)
def test_a_wider_batch_can_be_cheaper(points: dict[int, float], cheapest: dict[int, int]) -> None:
    costs = table(points)
    assert {width: costs.cheapest(width) for width in cheapest} == cheapest


def test_a_bad_minute_is_forgotten() -> None:
    costs = VerifyCosts()
    for seconds in (1.0, 1.0, 1.0):
        costs.add(1, 0, seconds)
    for seconds in (1.2, 1.2, 5.0, 5.0, 5.0, 5.0, 5.0):
        costs.add(2, 0, seconds)
    assert costs.ratios()[2] == pytest.approx(5.0)
    for _ in range(6):
        costs.age()
    assert costs.ratios()[2] == pytest.approx(1.2, rel=0.25)
    assert costs.n_samples(1) == 3


def test_a_bad_minute_is_not_kept() -> None:
    costs = table({1: 1.0, 2: 1.3, 4: 1.8}, n=4)
    for _ in range(9):
        costs.add(2, 0, 3.0)
    assert costs.ratios()[2] > 1.7
    kept = VerifyCosts.from_json(costs.to_json())
    assert kept.ratios()[2] == pytest.approx(1.3)


def test_widths_that_were_not_used_come_back_to_what_they_were() -> None:
    costs = table({1: 1.0, 2: 1.3, 4: 1.8}, n=4)
    for _ in range(9):
        costs.add(2, 0, 1.7)
    costs.age()  # it was timed before
    for _ in range(5):
        for _ in range(9):
            costs.add(4, 0, 2.7)
        costs.age()
    assert costs.ratios()[2] == pytest.approx(1.3, rel=0.1)
    assert costs.ratios()[4] == pytest.approx(2.7)


def test_a_calibration_takes_the_place_of_older_steps() -> None:
    costs = table({1: 1.0, 2: 1.1}, n=9)
    for _ in range(2):
        costs.add(2, 0, 3.0, calibrated=True)
    costs.add(2, 0, 3.0, calibrated=True)
    assert costs.seconds(2, 0) == pytest.approx(3.0)


@pytest.mark.parametrize(("share", "wide"), [(0.0, 4.0 + 3.0), (1.0, 4.0 + 8 * 3.0)])
def test_longer_contexts_add_to_all_widths(share: float, wide: float) -> None:
    """A GPU reads the context once for all rows, a CPU once for each."""
    costs = VerifyCosts()
    costs.set_context(1e-3, share)
    costs.add(1, 1000, 2.0)
    costs.add(8, 0, 4.0)
    assert costs.plain == pytest.approx(1.0)
    assert costs.seconds(1, 3000) == pytest.approx(4.0, rel=0.01)
    assert costs.seconds(8, 0) == pytest.approx(4.0)
    assert costs.seconds(8, 3000) == pytest.approx(wide, rel=0.02)
    assert costs.ratios(3000)[8] == pytest.approx(wide / 4.0, rel=0.02)
    assert costs.ratios(3000)[:2] == [0.0, 1.0]
    assert costs.near(3000)[1][8] >= costs.ratios(3000)[8]


@given(
    st.integers(1, 63), st.integers(0, 20_000), st.floats(1.0, 40.0), st.floats(0, 5e-3),
    st.floats(0, 1),
)  # fmt: skip
def test_there_and_back(width: int, n_ctx: int, base: float, slope: float, share: float) -> None:
    """Convert a step's time to an empty context and back."""
    context = ContextCost()
    context.slope, context.share = slope, share
    base = 1.0 if width == 1 else base
    seconds = context.at(width, n_ctx, base, 1.0)
    assert context.bases(width, [(n_ctx, seconds)], 1.0) == pytest.approx([base])
    ratios = context.ratios([0.0, 1.0, *[base] * 62], n_ctx)
    if slope * n_ctx > 0.02:
        assert ratios[width] == pytest.approx(seconds / context.at(1, n_ctx, 1.0, 1.0))


def test_where_only_the_context_is_known_to_differ_nothing_falls_below_a_plain_step() -> None:
    context = ContextCost()
    context.slope, context.share = 1e-3, 1.0
    assert context.bases(4, [(1000, 3.0), (1000, 0.5)], 1.0) == [1.0, 0.5]
    assert context.ratios([], 1000) == []


@given(
    st.dictionaries(
        st.integers(1, 63), st.lists(st.floats(1e-4, 10), min_size=1, max_size=12), min_size=1
    )
)
def test_the_json_gives_the_same_table_back(points: dict[int, list[float]]) -> None:
    costs = VerifyCosts()
    for width, all_seconds in points.items():
        for seconds in all_seconds:
            costs.add(width, 17, seconds)
    again = VerifyCosts.from_json(costs.to_json())
    assert again.to_json() == costs.to_json()
    # A bad minute is not kept; a width that it does not reach is kept sample by sample.
    kept = {w: costs.n_samples(w) for w, s in points.items() if w == 1 or len(s) <= 4}
    assert {w: again.n_samples(w) for w in kept} == kept
    if 1 in points:  # the table in use may lag behind its samples by less than the noise
        assert again.seconds(1, 50) == pytest.approx(costs.seconds(1, 50), rel=0.04)


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{}", "7", '{"version": 2, "slope": 0, "samples": {}}',
        '{"version": 1, "slope": 0, "samples": {"x": []}}',
        '{"version": 1, "slope": 0, "samples": {"1": [[0, -1]]}}',
        '{"version": 1, "slope": 0, "samples": {"1": [[0]]}}',
        '{"version": 1, "slope": 0, "samples": {"0": [[0, 1]]}}',
        '{"version": 1, "slope": "a", "samples": {}}',
        '{"version": 1, "slope": 0, "samples": {"1": [[0, NaN]]}}',
        '{"version": 1, "slope": 0, "samples": []}',
    ],
)  # fmt: skip
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        VerifyCosts.from_json(text)


def test_impossible_times_are_not_counted() -> None:
    costs = VerifyCosts()
    for seconds in (0.0, -1.0, float("inf"), float("nan")):
        costs.add(1, 0, seconds)
    assert costs.n_samples(1) == 0


def test_drafting_is_split_into_single_tokens_and_a_backlog() -> None:
    costs = DraftCosts()
    assert costs.token(2.0) == 2.0  # assumed: as expensive as the target
    costs.guess = 0.05
    assert costs.token(2.0) == pytest.approx(0.1)
    assert costs.catch_up(11, 2.0) == pytest.approx(10 * 0.4 * 0.1)
    for _ in range(3):
        costs.add(5, 0.05, 2)  # two caught up in one batch, and four drafted
    assert costs.token(2.0) == pytest.approx(0.05 / 4)
    costs.add(103, 0.05 + 99 * 0.002, 100)
    assert costs.catch_up(100, 2.0) == pytest.approx(99 * 0.002)
    assert costs.catch_up(1, 2.0) == 0.0


def test_a_share_that_is_too_high_is_unlearned() -> None:
    """A GPU reads the context once for all rows, which a short one does not show."""
    costs = table({1: 1.0, 8: 1.2})
    costs.set_context(1e-3, 0.5)
    assert costs.ratios(4000)[8] > 2.0
    for _ in range(12):
        costs.add(8, 4000, 1.2 + 4.0)
    assert costs.ratios(4000)[8] == pytest.approx(5.2 / 5.0, rel=0.1)


def test_the_slope_of_long_contexts_is_found_among_hiccups() -> None:
    slope = ContextSlope()
    for n_ctx in range(0, 3000, 40):
        held_up = 4.0 if n_ctx % 360 == 0 else 1.0
        slope.add(n_ctx, 0.01 * (1 + 4e-4 * n_ctx) * held_up)
    found = slope.fit()
    assert found == pytest.approx(4e-4, rel=0.1)


def test_the_slope_is_that_of_recent_steps_and_outlives_bad_stretches() -> None:
    slope = ContextSlope()
    for n_ctx in range(0, 6000, 600):
        for n in range(29):  # another pace long ago, and two steps in three are held up
            factor = 0.2 + n_ctx / 9000 if n < 20 else 1.0 if n % 3 == 0 else 1.5 + n_ctx / 1000
            if n_ctx == 1200:
                factor *= 0.3
            slope.add(n_ctx, 0.01 * (1 + 4e-4 * n_ctx) * factor)
    assert slope.fit() == pytest.approx(4e-4, rel=0.02)


def test_contexts_that_are_too_alike_say_nothing() -> None:
    slope = ContextSlope()
    for n_ctx in range(400):
        slope.add(n_ctx, 0.01)
    assert slope.fit() is None


@pytest.mark.parametrize("seed", range(4))
def test_one_long_reply_does_not_make_a_share_of_noise(seed: int) -> None:
    """Its contexts differ by hundreds of tokens, and its steps by what they vary."""
    rng, slope, share = random.Random(seed), 5e-4, 0.33
    at_empty = {1: 1.0, 5: 1.6, 12: 3.0, 17: 4.0, 33: 8.0}
    costs = table(at_empty)
    costs.set_context(slope, share)
    for n_ctx in range(4000, 4300, 5):
        width = rng.choice([5, 12, 17, 33])
        true = at_empty[width] + slope * n_ctx * (1 + share * (width - 1))
        costs.add(width, n_ctx, true * rng.gauss(1.0, 0.05))
    assert costs.context.share == pytest.approx(share, abs=0.06)
    assert costs.ratios(0)[33] == pytest.approx(8.0, rel=0.8)


def test_steps_of_a_long_context_leave_what_short_ones_cost() -> None:
    """Most of them is the context's, so a share that is a little wrong would change all."""
    costs = table({1: 1.0, 5: 1.6, 33: 8.0}, n=3)
    costs.set_context(5e-4, 0.1)
    before = costs.ratios(100)[5], costs.ratios(100)[33]
    for n_ctx in range(4000, 4200, 10):
        for width, base in ((5, 1.6), (33, 8.0)):
            costs.add(width, n_ctx, base + 5e-4 * n_ctx * (1 + 0.33 * (width - 1)))
    assert costs.n_samples(33) == 9
    assert costs.ratios(4100)[33] == pytest.approx((8.0 + 2.05 * 11.56) / 3.05, rel=0.03)
    assert costs.ratios(100)[5] == pytest.approx(before[0], rel=0.05)
    assert costs.ratios(100)[33] == pytest.approx(before[1], rel=0.1)
    assert costs.n_samples(33) == 3


def test_a_bad_minute_is_remembered_beside_a_reply_at_a_long_context() -> None:
    costs = table({1: 1.0, 8: 2.0}, n=4)
    for _ in range(9):
        costs.add(8, 0, 6.0)
    costs.age()
    for n_ctx in range(4000, 4100, 10):
        costs.add(1, n_ctx, 1.0)
    costs.age()
    assert costs.ratios(0)[8] > 4.0
    for _ in range(8):
        costs.age()
    assert costs.ratios(0)[8] < 2.6


def test_what_was_not_measured_at_a_context_is_not_doubted_there() -> None:
    costs = table({1: 1.0}, n=3)
    costs.set_context(1e-3, 1.0)
    for _ in range(3):
        costs.add(8, 100, 2.8)
    costs.add(1, 4000, 5.0)  # and so the medians are reported for long contexts
    costs.set_context(1e-3, 0.0)  # by which all that was measured elsewhere seems to cost more
    before = costs.ratios(4000)[8]
    for _ in range(20):
        costs.age()
    assert costs.ratios(4000)[8] == before
    assert costs.n_samples(8) == 3


# -------------------------------------------------------------------------------- on a device

CHEAPER = {1: 1.0, 2: 0.8, 4: 0.9, 8: 1.5}


def on_device(points: dict[int, float]) -> VerifyCosts:
    costs = VerifyCosts(on_device=True)
    for width, seconds in points.items():
        for _ in range(2):
            costs.add(width, 0, seconds)
    return costs


def test_on_a_device_a_batch_may_take_less_than_a_plain_step() -> None:
    costs = on_device(CHEAPER)
    ratios, careful = costs.near(0)
    assert [ratios[width] for width in CHEAPER] == list(CHEAPER.values())
    assert costs.seconds(2, 0) == 0.8
    assert list(careful) == sorted(careful)
    assert careful[1] == careful[2] == 0.8
    assert table(CHEAPER).ratios()[2] == 1.0  # a processor's noise


@pytest.mark.parametrize("n_ctx", [0, 704])
def test_it_is_kept_and_told_at_any_context(n_ctx: int) -> None:
    costs = on_device(CHEAPER)
    costs.set_context(0.001, 0.0)
    assert VerifyCosts.from_json(costs.to_json()).near(n_ctx) == costs.near(n_ctx)
    ratios, careful = costs.near(n_ctx)
    assert ratios[2] == pytest.approx((0.8 + 0.001 * n_ctx) / (1 + 0.001 * n_ctx))
    assert list(careful) == sorted(careful)
    again = costs.emptied()
    assert again.ratios() == []
    for width, seconds in CHEAPER.items():
        again.add(width, 0, seconds)
    assert again.ratios()[2] == 0.8


def test_what_is_kept_of_a_processor_names_no_device() -> None:
    assert "device" not in table(CHEAPER).to_json()
