"""Differences that were seen between rows, and the batch widths that they leave to choose from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from paceline.engine.facts import Facts
from paceline.engine.model.context import BatchWidths
from paceline.engine.sameness.evidence import Evidence
from paceline.engine.sameness.look import N_NARROW, n_tokens_of, ways_of_look

ANY = BatchWidths()
FOURS = BatchWidths(4, 4, 60)


def evidence(*apart: tuple[int, int]) -> Evidence:
    made = Evidence(Facts(""), "m")
    made.add(ANY, 10, 100, dict.fromkeys(apart, 0.5))
    return made


def test_one_difference_outweighs_any_number_of_looks() -> None:
    made = evidence()
    for _ in range(100):
        made.add(ANY, 10, 100, {})
    assert not made.refutes(ANY)
    made.add(ANY, 10, 100, {(1, 4): 0.5})
    assert made.refutes(ANY)
    assert not made.refutes(FOURS)
    made.add(ANY, 10, 100, {(1, 4): 0.25})
    assert made.difference == 0.5
    assert made.looks(ANY) == [103, 0, 0, 0]
    assert made.looks(FOURS) == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("apart", "n_most", "expected"),
    [
        ((), 63, [(1, 1, 63), (2, 1, 63), (4, 4, 60), (8, 8, 56), (16, 16, 48), (8, 8, 8)]),
        ((), 8, [(1, 1, 8), (2, 1, 8), (4, 4, 8), (8, 8, 8)]),
        ((), 1, [(1, 1, 1)]),
        (((1, 4),), 63, [(2, 1, 63), (4, 4, 60), (8, 8, 56), (16, 16, 48), (8, 8, 8)]),
        (((8, 33),), 63, [(1, 1, 32), (2, 1, 32), (4, 4, 60), (8, 8, 56), (16, 16, 48), (8, 8, 8)]),
        (((8, 8), (16, 16)), 63, [(1, 1, 7), (2, 1, 7)]),
        (((1, 1), (2, 2), (4, 4), (8, 8), (16, 16)), 63, []),
    ],
)
def test_what_is_left(
    apart: tuple[tuple[int, int], ...], n_most: int, expected: list[tuple[int, int, int]]
) -> None:
    left = evidence(*apart).choices(n_most)
    assert left[: len(expected)] == expected
    assert len(set(left)) == len(set(expected))


def test_it_is_kept_by_model() -> None:
    facts = Facts("")
    Evidence(facts, "m").add(FOURS, 12, 300, {(4, 8): 1.5})
    again = Evidence(facts, "m")
    assert again.refutes(FOURS)
    assert (again.looks(FOURS), again.n_rows(FOURS)) == ([0, 1, 0, 0], 12)
    assert again.difference == 1.5
    assert Evidence(facts, "other").difference is None


@pytest.mark.parametrize(
    "fact",
    [
        None, "", "nonsense", "{}", "[]", 7, True, "[" * 10**5,
        '{"apart": [[1, 2]], "looks": []}',
        '{"apart": [[1, 64, 0.5]], "looks": []}',
        '{"apart": [[1, 2, NaN]], "looks": []}',
        '{"apart": [[1, 2, -1]], "looks": []}',
        '{"apart": [], "looks": [[[1, 1, 63], [9, 1, 1, 1]]]}',
        '{"apart": [], "looks": [[[0, 1, 63], [9, 1, 1, 1, 1]]]}',
        '{"apart": [], "looks": [[[1, 0, 63], [9, 1, 1, 1, 1]]]}',
        '{"apart": [], "looks": [[[1, 1, 63], [9, 1, 1, 1, -1]]]}',
        '{"apart": [], "looks": [[[1, 1, 63], [9, 1, 1, 1, true]]]}',
        '{"apart": [], "looks": [[[1, 1], [9, 1, 1, 1, 1]]]}',
    ],
)  # fmt: skip
def test_a_broken_fact_is_no_evidence(fact: object) -> None:
    facts = Facts("")
    if fact is not None:
        facts.put("rows|m", fact)  # type: ignore[arg-type]
    made = Evidence(facts, "m")
    assert made.difference is None
    assert not made.refutes(ANY)
    made.add(ANY, 1, 1, {})
    json.loads(str(facts.get("rows|m")))


@pytest.mark.parametrize("widths", [ANY, FOURS, BatchWidths(2, 1, 32), BatchWidths(16, 16, 48)])
def test_a_dozen_looks_see_every_narrow_width_and_every_place_modulo_eight(
    widths: BatchWidths,
) -> None:
    looks = [ways_of_look(widths, i) for i in range(18)]
    seen = {way.width for ways in looks for way in ways}
    assert seen <= set(widths.every)
    assert {w for w in widths.every if w <= N_NARROW} <= seen
    wide = {w for w in widths.every if w > N_NARROW}
    assert {w % 8 for w in wide} <= {w % 8 for w in seen}
    for ways in looks:
        assert len(ways) >= 2
        assert len(set(ways)) == len(ways)
        has_single = any(way.n_real == 1 for way in ways)
        assert n_tokens_of(ways) == (N_NARROW if has_single else max(way.width for way in ways))


def test_a_single_width_is_compared_with_itself() -> None:
    ways = ways_of_look(BatchWidths(8, 8, 8), 0)
    assert [tuple(way) for way in ways] == [(8, 1), (8, 8), (8, 4)]


@pytest.mark.parametrize(
    ("widths", "padded"),
    [
        (ANY, {1: 1, 5: 5, 63: 63, 64: 64}),
        (FOURS, {1: 4, 4: 4, 5: 8, 60: 60, 61: 61}),
        (BatchWidths(2, 1, 32), {1: 2, 2: 2, 3: 3, 33: 33}),
    ],
)
def test_padding(widths: BatchWidths, padded: dict[int, int]) -> None:
    assert {n: widths.of(n) for n in padded} == padded


@pytest.mark.parametrize("difference", [float("nan"), float("inf")])
def test_a_difference_that_is_no_number_is_kept_as_well(difference: float) -> None:
    facts = Facts("")
    Evidence(facts, "m").add(ANY, 12, 300, {(1, 8): difference})
    assert Evidence(facts, "m").refutes(ANY)


def test_two_programs_that_look_at_one_model_keep_each_others_looks(tmp_path: Path) -> None:
    some, more = (Evidence(Facts(str(tmp_path)), "m") for _ in range(2))
    some.add(ANY, 10, 100, {})
    more.add(ANY, 20, 400, {(1, 8): 0.5})
    some.add(ANY, 30, 100, {(1, 8): 0.25, (2, 4): 1.0})
    for each in (some, Evidence(Facts(str(tmp_path)), "m")):
        assert each.apart == {(1, 8): 0.5, (2, 4): 1.0}
        assert (each.n_rows(ANY), each.looks(ANY)) == (60, [2, 1, 0, 0])


def test_what_another_program_has_seen_counts_with_the_next_look(tmp_path: Path) -> None:
    some, more = (Evidence(Facts(str(tmp_path)), "m") for _ in range(2))
    more.add(ANY, 12, 100, {(1, 8): 0.5})
    some.add(ANY, 12, 100, {})
    assert some.refutes(ANY)
