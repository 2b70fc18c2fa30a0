"""Measurements of a pair from earlier loads and replies, found by its files alone."""

from __future__ import annotations

import pytest

from paceline.engine.auto.acceptance import Acceptance, rates_to_json
from paceline.engine.auto.costs import VerifyCosts
from paceline.engine.facts import Facts
from paceline.engine.measure.known import USUAL_CONTEXT, MeasuredPair, measured_before

TARGET, DRAFT = "0" * 16, "1" * 16


def costs(plain_s: float, wide_s: float) -> str:
    table = VerifyCosts()
    for width, seconds in ((1, plain_s), (1, plain_s), (4, wide_s), (4, wide_s)):
        table.add(width, USUAL_CONTEXT, seconds)
    return table.to_json()


def accepted(n_judged: int, n_accepted: int) -> str:
    rates = {"draft": Acceptance(), "suffix": Acceptance()}
    rates["draft"].n_judged, rates["draft"].n_accepted = n_judged, n_accepted
    rates["suffix"].n_judged = 10_000
    return rates_to_json(rates)


@pytest.fixture
def facts() -> Facts:
    kept = Facts("")
    kept.put(f"verify_costs|{TARGET}|0.3|t1-1", costs(0.2, 0.3))
    kept.put(f"verify_costs|{TARGET}|0.3|t2-2|w8", costs(0.1, 0.15))
    kept.put("verify_costs|another|0.3|t2-2", costs(0.01, 0.02))
    return kept


def test_nothing_is_known_of_what_was_never_loaded(facts: Facts) -> None:
    assert measured_before(facts, DRAFT) is None
    facts.put(f"verify_costs|{DRAFT}|0.3|t1-1", "damaged")
    assert measured_before(facts, DRAFT) is None


def test_the_fastest_of_several_builds_counts(facts: Facts) -> None:
    alone = measured_before(facts, TARGET)
    assert alone is not None
    assert alone.plain_s == pytest.approx(0.1)
    assert alone.steps[1] == 1
    assert alone.steps[4] == pytest.approx(1.5)
    assert (alone.draft_s, alone.acceptance) == (None, None)


def test_drafts_are_known_once_enough_of_them_were_judged(facts: Facts) -> None:
    facts.put(f"draft_costs|{DRAFT}|0.3|t1-1", "[0.02, 0.001]")
    facts.put(f"draft_costs|{DRAFT}|0.3|t2-2", "[0.01, 0.001]")
    facts.put(f"acceptance|{TARGET}|0.3|t1-1|{DRAFT}|0.3|t1-1", accepted(99, 90))
    few = measured_before(facts, TARGET, DRAFT)
    assert few is not None
    assert (few.draft_s, few.acceptance) == (0.01, None)
    facts.put(f"acceptance|{TARGET}|0.3|t2-2|{DRAFT}|0.3|t2-2", accepted(101, 30))
    facts.put(f"acceptance|{TARGET}|0.3|t2-2|another|0.3|t2-2", accepted(1000, 0))
    known = measured_before(facts, TARGET, DRAFT)
    assert isinstance(known, MeasuredPair)
    assert known.acceptance == pytest.approx(0.6)
