"""Acceptance by class and place, and what is kept of it."""

from __future__ import annotations

import json
import math
from bisect import bisect_right

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.engine.control import Knowledge, Priors
from paceline.engine.control.acceptance import Acceptance
from paceline.engine.control.classes import BOUNDS, DEFAULT, SILENT, UPPER
from paceline.engine.control.priors import LongRun


def class_of(confidence: float) -> int:
    return bisect_right(BOUNDS, confidence)


@pytest.mark.parametrize(
    ("confidence", "cls"),
    [(0.0, 0), (0.29, 0), (0.31, 1), (0.6, 2), (0.84, 3), (0.94, 4), (0.96, 5), (1.0, 5)],
)
def test_confidences_sort_into_classes(confidence: float, cls: int) -> None:
    assert class_of(confidence) == cls
    assert confidence <= UPPER[cls]


def test_no_confidence_is_a_class_of_its_own() -> None:
    accepted = Acceptance(LongRun())
    for _ in range(40):
        accepted.add([None], 1, 1)
    assert accepted.rates(SILENT)[0] > 0.9
    assert accepted.rates(class_of(0.5))[0] < 0.7


def test_it_learns_what_confidences_are_worth() -> None:
    accepted = Acceptance(LongRun())
    for _ in range(60):
        accepted.add([0.9], 0, 1)
        accepted.add([0.2], 1, 1)
    assert accepted.rates(class_of(0.9))[0] < 0.1
    assert accepted.survivals([0.2], 8)[0] > 0.85 * accepted.trust


def test_what_was_overrated_is_trusted_less() -> None:
    accepted = Acceptance(LongRun())
    before, trust = accepted.survivals([None, None], 8), accepted.trust
    for _ in range(20):
        accepted.verified(3.0, 1)
    assert accepted.trust < 0.5
    after = accepted.survivals([None, None], 8)
    assert after[0] == pytest.approx(before[0] / trust * accepted.trust)
    for _ in range(200):
        accepted.verified(1.0, 2)
    assert accepted.trust == 1.0


def test_places_differ() -> None:
    accepted = Acceptance(LongRun())
    for _ in range(80):
        accepted.add([0.9, 0.9], 1, 2)
    first, second = accepted.survivals([0.9, 0.9], 8)
    assert first > 0.85 * accepted.trust
    assert second / first < 0.35
    assert accepted.by_place()[0] == pytest.approx(1.0)


@pytest.mark.parametrize(("n_accepted", "group"), [(2, 2), (3, 3), (4, 3), (5, 4), (8, 4), (9, 5)])
def test_later_places_are_told_in_groups(n_accepted: int, group: int) -> None:
    accepted = Acceptance(LongRun())
    for _ in range(30):
        accepted.add([0.9] * 12, n_accepted, 12)
    *before, last = accepted.by_place()
    assert before == [pytest.approx(1.0)] * group
    assert last < 0.8


def test_what_stands_behind_the_first_rejection_is_not_judged() -> None:
    run = LongRun()
    accepted = Acceptance(run)
    accepted.add([0.9] * 8, 2, 8)
    assert run.n_judged == 3
    assert run.n_accepted == 2
    accepted.add([0.9] * 8, 2, 2)  # the reply ended there
    assert run.n_judged == 5
    assert run.n_accepted == 4


def test_few_samples_give_the_lower_quantile() -> None:
    run = LongRun()
    accepted = Acceptance(run)
    cls = class_of(0.6)
    low = accepted.rates(cls)[0]
    assert low < DEFAULT[cls]
    assert low + accepted.margins[cls] == pytest.approx(DEFAULT[cls])
    for i in range(60):
        accepted.add([0.6], i % 2, 1)
    assert accepted.rates(cls)[0] == pytest.approx(0.5, abs=0.08)
    assert accepted.margins[cls] == 0.0


def test_recent_tokens_count_most() -> None:
    accepted = Acceptance(LongRun())
    for _ in range(300):
        accepted.add([0.9], 1, 1)
    for _ in range(40):
        accepted.add([0.9], 0, 1)
    assert accepted.survivals([0.9], 1)[0] < 0.6
    assert accepted.mean < 0.6


def test_the_long_run_is_where_a_new_reply_starts() -> None:
    priors = Priors()
    accepted = Acceptance(priors.drafter("suffix"))
    for _ in range(100):
        accepted.add([None, None], 0, 2)
    again = Acceptance(Priors.from_json(priors.to_json()).drafter("suffix"))
    assert again.rates(SILENT)[0] < 0.1
    assert again.mean < 0.15


def test_counts_stay_finite_over_a_million_steps() -> None:
    accepted = Acceptance(LongRun())
    for _ in range(3000):
        accepted.add([0.9], 1, 1)
    assert 0.9 < accepted.survivals([0.9], 1)[0] / accepted.trust <= 1.0
    assert accepted.long_run.judged[class_of(0.9)] <= 2001


@given(
    st.lists(
        st.tuples(
            st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=12),
            st.integers(0, 12),
            st.integers(0, 12),
        ),
        max_size=30,
    )
)
def test_beliefs_stay_probabilities(steps: list[tuple[list[float | None], int, int]]) -> None:
    priors = Priors()
    accepted = Acceptance(priors.drafter("x"))
    for confidences, n_accepted, n_judged in steps:
        accepted.add(confidences, min(n_accepted, n_judged, len(confidences)), n_judged)
        survivals = accepted.survivals(confidences, 16)
        assert all(0 < s <= 1 for s in survivals)
        assert survivals == sorted(survivals, reverse=True)
    assert Priors.from_json(priors.to_json()).to_json() == priors.to_json()


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2}, {"drafters": []}, {"drafters": {"a": {}}}, {"drafters": {"a": None}},
        {"drafters": {"a": {"judged": [1], "accepted": [1], "n_judged": 1, "n_accepted": 1,
                            "saved": 0}}},
        {"drafters": {"a": {"judged": [1] * 7, "accepted": [2] * 7, "n_judged": 1,
                            "n_accepted": 1, "saved": 0}}},
        {"drafters": {"a": {"judged": [-1] * 7, "accepted": [-1] * 7, "n_judged": 1,
                            "n_accepted": 1, "saved": 0}}},
        *({"drafters": {"a": {"judged": [1] * 7, "accepted": [1] * 7, "n_judged": judged,
                              "n_accepted": 1, "saved": saved}}}
          for judged, saved in ((7, math.nan), (7, -1e300), (7, "1"), (-1, 0), (0, 0), (1e300, 0))),
    ],
)  # fmt: skip
def test_any_other_text_is_refused(change: dict[str, object]) -> None:
    data = json.loads(Priors().to_json()) | change
    with pytest.raises(ValueError, match=r"\w"):
        Priors.from_json(json.dumps(data))


def test_gains_by_replies_are_kept_and_older_texts_have_none() -> None:
    priors = Priors()
    admission = priors.drafter("x").admission
    for _ in range(5):
        admission.add(-1.5)
        admission.close()
    priors.strategy(["x", "y"]).add(2.5)
    priors.close_accounts(counts=True)
    read = Priors.from_json(priors.to_json())
    assert (read.strategy(["x", "y"]).gained, read.strategy(["y"]).gained) == (2.5, 0.0)
    again = read.drafter("x").admission
    assert again.gained == pytest.approx(admission.gained, abs=1e-3)
    assert again.n_replies == pytest.approx(admission.n_replies, abs=1e-3)
    data = json.loads(priors.to_json())
    for broken in ([], {"x": 1}, {"x": [1, 2, 3]}, {"x": ["1", 2]}):
        with pytest.raises(ValueError, match=r"\w"):
            Priors.from_json(json.dumps(data | {"together": broken}))
    del data["together"]
    for broken in ([1.0], [0.0, -1.0], "ab", [0.0, "1"], None, 3):
        data["drafters"]["x"]["replies"] = broken
        with pytest.raises(ValueError, match=r"\w"):
            Priors.from_json(json.dumps(data))
    del data["drafters"]["x"]["replies"]
    assert Priors.from_json(json.dumps(data)).drafter("x").admission.n_replies == 0


def test_forgetting_takes_what_came_from_texts_alone() -> None:
    knowledge = Knowledge()
    knowledge.costs.add(1, 0, 0.01)
    knowledge.draft_cost("draft").add(1, 0.001)
    knowledge.accepted("draft").add([0.9], 1, 1)
    knowledge.model("draft").gate.add(-5.0, 0.0)
    knowledge.forget()
    assert knowledge.costs.n_samples(1) == 1
    assert knowledge.draft_cost("draft").per_token == 0.001
    assert knowledge.accepted("draft").long_run.n_judged == 0
    assert knowledge.model("draft").gate.is_open
