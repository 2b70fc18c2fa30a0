"""Estimates of acceptance and of a model's gain, and their storage."""

from __future__ import annotations

import json
import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.engine.auto.acceptance import (
    UPPER,
    Acceptance,
    class_of,
    classes_of,
    rates_from_json,
    rates_to_json,
)

SILENT = class_of(None)


def drafted(accepted: Acceptance, *confidences: float | None, right: int, judged: int = 99) -> None:
    accepted.add(classes_of(confidences), right, min(judged, len(confidences)))


@pytest.mark.parametrize(
    ("confidence", "cls"),
    [(0.0, 0), (0.29, 0), (0.31, 1), (0.6, 2), (0.84, 3), (0.94, 4), (0.96, 5), (1.0, 5)],
)
def test_confidences_sort_into_classes(confidence: float, cls: int) -> None:
    assert class_of(confidence) == cls
    assert classes_of([None, confidence]) == [SILENT, cls]
    assert confidence <= UPPER[cls]


def test_another_text_is_learned_sooner_than_a_change_within_one() -> None:
    rates = []
    for is_another in (True, False):
        accepted = Acceptance()
        for right in (1, 0) * 200 + (1,) * 60:
            drafted(accepted, 0.9, right=right)
        believed = accepted.survivals(classes_of([0.9]))
        if is_another:
            accepted.begin_reply()
            assert accepted.rate(class_of(0.9)) < 0.9, "nearer to the long run"
            assert accepted.survivals(classes_of([0.9])) < believed, "of what is proposed, too"
        for _ in range(5):
            drafted(accepted, 0.9, right=0)
        rates.append(accepted.rate(class_of(0.9)))
    assert rates[0] < rates[1] - 0.2


def test_no_confidence_is_a_class_of_its_own() -> None:
    accepted = Acceptance()
    for _ in range(40):
        drafted(accepted, None, right=1)
    assert accepted.rate(SILENT) > 0.9
    assert accepted.rate(class_of(0.5)) < 0.7


def test_it_learns_what_confidences_are_worth() -> None:
    accepted = Acceptance()
    for _ in range(60):
        drafted(accepted, 0.9, right=0)
        drafted(accepted, 0.2, right=1)
    assert accepted.rate(class_of(0.9)) < 0.1
    assert accepted.rate(class_of(0.2)) > 0.85
    assert len(accepted.survivals(classes_of([0.9] * 3))) < 3, "it is hopeless"
    for confidence in (0.2, 0.6):
        first, second = accepted.survivals(classes_of([confidence] * 2))
        rate = accepted.rate(class_of(confidence))
        assert second / first == pytest.approx(first)
        assert rate - 0.2 * (1.0 - rate) < first < rate, "surer tokens are doubted less"


@pytest.mark.parametrize(("n_accepted", "group"), [(1, 1), (2, 2), (4, 3), (5, 4), (8, 4), (9, 5)])
def test_places_are_reported_in_groups(n_accepted: int, group: int) -> None:
    accepted = Acceptance()
    for _ in range(30):
        drafted(accepted, *[0.9] * 12, right=n_accepted)
    *before, last = accepted.by_place()
    assert before == [pytest.approx(1.0)] * group
    assert last < 0.8


def test_what_comes_after_the_first_rejection_is_not_judged() -> None:
    accepted = Acceptance()
    drafted(accepted, *[0.9] * 8, right=2)
    assert (accepted.n_judged, accepted.n_accepted) == (3, 2)
    drafted(accepted, *[0.9] * 8, right=2, judged=2)  # the reply ended there
    assert (accepted.n_judged, accepted.n_accepted) == (5, 4)
    drafted(accepted, right=0)
    assert accepted.n_judged == 5


def test_recent_tokens_count_most() -> None:
    accepted = Acceptance()
    for _ in range(300):
        drafted(accepted, 0.9, right=1)
    for _ in range(40):
        drafted(accepted, 0.9, right=0)
    assert accepted.rate(class_of(0.9)) < 0.6
    assert accepted.mean < 0.6
    accepted.forget()
    assert accepted.rate(class_of(0.9)) > 0.8, "the long run stays"


# ------------------------------------------------------------------------ what a model's steps gain


def asked(
    gain: Callable[[int], float],
    n_steps: int,
    rates: Acceptance | None = None,
    reading: float = 0.0,
) -> list[int]:
    """Return the steps at which a model is asked whose n-th step gains so many tokens."""
    rates, found = rates or Acceptance(), []
    for step in range(n_steps):
        rates.pass_over()
        if rates.value > 0.0:
            rates.gained(gain(len(found)), reading)
            found.append(step)
    return found


@pytest.mark.parametrize("loss", [0.1, 0.2, 0.4, 0.8, 2.0])
def test_a_useless_model_is_given_up_soon_and_tried_again(loss: float) -> None:
    steps = asked(lambda _: -loss, 4000)
    n_first = next(n for n, step in enumerate(steps) if step != n)
    assert 1 < n_first <= min(12, 2 + 1.2 / loss)
    assert any(step > 3400 for step in steps), "texts change"
    assert len(steps) * loss < 0.015 * 4000


@pytest.mark.parametrize("n_good", [50, 1000])
def test_a_model_that_turns_bad_is_given_up(n_good: int) -> None:
    rates = Acceptance()
    assert len(asked(lambda n: (0.2, 1.0)[n % 2], n_good, rates)) == n_good
    assert rates.has_paid
    n_more = len(asked(lambda _: -0.5, 200, rates))
    assert n_more < 60
    assert not rates.has_paid


@pytest.mark.parametrize(("every", "large"), [(8, 3.0), (12, 6.0)])
def test_a_model_with_rare_large_gains_is_kept(every: int, large: float) -> None:
    steps = asked(lambda n: large if n % every == every - 1 else -0.3, 2000)
    assert len(steps) > 1400


@pytest.mark.parametrize("reading", [0.0, 3.0])
def test_what_trials_lose_is_a_small_share_of_all_steps(reading: float) -> None:
    rates, n_asked = Acceptance(), 0
    asked(lambda _: -0.4, 300, rates, reading)
    for _ in range(100):  # other texts, in which it may do better
        rates.begin_reply()
        n_asked += len(asked(lambda _: -0.4, 100, rates, reading))
    assert 0.003 < n_asked * (0.4 + reading) / 10_000 < 0.006


def test_after_some_very_bad_steps_a_model_is_tried_again_as_soon() -> None:
    """Slow wide steps for a while, as another program does; the cost of reading counts in full."""

    def steps_until_asked(loss: float, reading: float = 0.0) -> int:
        rates = Acceptance()
        for _ in range(40):
            rates.gained(1.0)
        while rates.value > 0.0:
            rates.gained(-loss, reading)
        steps = (n for n in range(4000) if rates.pass_over() or rates.value > 0.0)
        return next(steps, 4000)

    assert steps_until_asked(1.0) < 400
    assert steps_until_asked(4.0) < 500
    assert steps_until_asked(1.0, 10.0) == 4000


def test_steps_that_go_by_at_once_are_as_many_as_one_by_one() -> None:
    at_once, singly = Acceptance(), Acceptance()
    for rates in (at_once, singly):
        rates.gained(-2.0)
    at_once.pass_over(300)
    for _ in range(300):
        singly.pass_over()
    assert at_once.value == pytest.approx(singly.value, abs=1e-3)


# ------------------------------------------------------------------------------------- what is kept


@given(
    st.lists(
        st.tuples(
            st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=12),
            st.integers(0, 12),
            st.integers(0, 12),
            st.floats(-2.0, 9.0),
        ),
        max_size=30,
    )
)
def test_beliefs_stay_probabilities_and_are_kept(
    steps: list[tuple[list[float | None], int, int, float]],
) -> None:
    accepted = Acceptance()
    for confidences, n_accepted, n_judged, gain in steps:
        n = min(n_judged, len(confidences))
        drafted(accepted, *confidences, right=min(n_accepted, n), judged=n)
        accepted.gained(gain)
        accepted.saved += gain
        survivals = accepted.survivals(classes_of(confidences))
        assert all(0 < s <= 1 for s in survivals)
        assert survivals == sorted(survivals, reverse=True)
        assert 0 < accepted.mean < 1
    kept = rates_to_json({"x": accepted})
    again = rates_from_json(kept)["x"]
    assert rates_to_json({"x": again}) == kept
    assert again.value == pytest.approx(accepted.value, abs=0.01)
    assert (again.n_judged, again.n_accepted) == (accepted.n_judged, accepted.n_accepted)
    accepted.forget()
    for cls in range(7):
        assert again.rate(cls) == pytest.approx(accepted.rate(cls), abs=0.01)


def test_what_was_learned_is_where_the_next_program_begins() -> None:
    accepted = Acceptance()
    for _ in range(100):
        drafted(accepted, None, None, right=0)
        accepted.gained(-0.5)
    again = rates_from_json(rates_to_json({"suffix": accepted}))["suffix"]
    assert again.rate(SILENT) < 0.1
    assert again.value < 0.0


HELD = {"judged": [8] * 7, "accepted": [4] * 7, "n_judged": 7, "n_accepted": 3, "saved": 2.5}
OLD = json.dumps(
    {
        "version": 1,
        "together": {"draft+suffix": [-3.5, 4.0], "suffix": [1.25, 2.0]},
        "drafters": {"draft": {**HELD, "replies": [-2.5, 3.0]}, "suffix": HELD},
    }
)
"""File of an earlier version, which counted replies instead of steps."""


def test_what_was_kept_before_is_still_read() -> None:
    rates = rates_from_json(OLD)
    assert set(rates) == {"draft", "suffix"}
    for read in rates.values():
        assert (read.n_judged, read.n_accepted, read.saved) == (7, 3, 2.5)
        assert read.rate(class_of(0.97)) < 0.6 < Acceptance().rate(class_of(0.97))
        assert read.value == Acceptance().value


BROKEN: dict[str, list[object]] = {
    "judged": [None, 3, "1111111", [1], [1] * 8, [-1] * 7, ["1"] * 7, [math.nan] * 7, [True] * 7,
               [1e300] * 7],
    "accepted": [None, [9] * 7, {}, [math.inf] * 7, [[1]] * 7],
    "n_judged": [-1, 0, 1e300, 10**400, "7", None, math.nan],
    "n_accepted": [-1, 8, 1e300, 10**400, [3]],
    "saved": [math.nan, -1e300, "1", None],
    "gains": [None, [1.0], [1.0, 2.0, 3.0, "4"], [math.nan] * 4, [1e300] * 4, "abcd"],
}  # fmt: skip


@pytest.mark.parametrize("gains", [[-1.0, -4.0, -3.0, -1.0], [3.0, -1e9, 0.0, -0.25]])
def test_counts_of_steps_below_none_do_no_harm(gains: list[float]) -> None:
    broken = {"version": 1, "drafters": {"x": HELD | {"gains": gains}}}
    rates = rates_from_json(json.dumps(broken))["x"]
    rates.pass_over()
    assert math.isfinite(rates.value)


@pytest.mark.parametrize(
    ("field", "value"),
    [(f, v) for f, vs in BROKEN.items() for v in vs],
    ids=lambda value: f"{value!r:.20}",
)
def test_numbers_that_cannot_be_are_refused(field: str, value: object) -> None:
    rates_from_json(json.dumps({"version": 1, "drafters": {"x": HELD}}))
    broken = {"version": 1, "drafters": {"x": HELD | {field: value}}}
    with pytest.raises(ValueError, match=r"\w"):
        rates_from_json(json.dumps(broken))


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[]", "[1]", "null", "3", '"version"', "{", '{"version": 2, "drafters": {}}',
     '{"version": 1}', '{"version": 1, "drafters": []}', '{"version": 1, "drafters": {"a": null}}',
     '{"version": 1, "drafters": {"a": {}}}', '{"version": 1, "drafters": {"a": [1]}}', "x" * 99],
)  # fmt: skip
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        rates_from_json(text)
