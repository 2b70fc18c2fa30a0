"""Seconds to the first token by what was stored, as the benchmark `first_word` reports them."""

from __future__ import annotations

import json

import pytest

import make_pairs
from benchmarks import first_word
from benchmarks.first_word import AIM, COLD, DISK, LIVE, MEMORY, MOST, TYPED, Asked, rows_of, table


def round_of(memory_s: float, disk_s: float, warm: str = "disk") -> list[Asked]:
    return [
        Asked(4000, COLD, 20.0, 4000, "context"),
        Asked(4000, LIVE, 0.2, 30, "context"),
        Asked(4000, MEMORY, memory_s, 30, "memory"),
        Asked(4000, DISK, disk_s, 30, warm),
    ]


def test_figures_are_medians_over_the_rounds() -> None:
    asked = [*round_of(0.9, 1.5), *round_of(5.0, 1.7), *round_of(1.0, 1.6)]
    (row,) = rows_of(asked)
    assert row.seconds == {COLD: 20.0, LIVE: 0.2, MEMORY: 1.0, DISK: 1.6}
    assert row.n_read == {COLD: 4000, LIVE: 30, MEMORY: 30, DISK: 30}
    assert row.other == ()


@pytest.mark.parametrize(
    ("seconds", "promise", "aim"),
    [
        ((0.7, 1.3), [], []),
        ((1.15, 2.0), [], [MEMORY, DISK]),
        ((1.16, 2.01), [MEMORY, DISK], [MEMORY, DISK]),
    ],
)
def test_a_promise_is_a_share_of_cold_and_seconds(
    seconds: tuple[float, float], promise: list[str], aim: list[str]
) -> None:
    (row,) = rows_of(round_of(*seconds))
    assert row.misses({MEMORY: (0.05, 0.15), DISK: (0.08, 0.4)}) == row.misses(MOST) == promise
    assert row.misses({MEMORY: (0.03, 0.1), DISK: (0.05, 0.3)}) == row.misses(AIM) == aim


def test_a_way_that_was_not_what_it_says_misses_its_bound() -> None:
    (row,) = rows_of([*round_of(0.1, 0.1), *round_of(0.1, 0.1, warm="context")])
    assert row.misses(MOST) == [DISK]
    assert "(30 read)!" in table([row])


def test_the_engine_is_asked_in_all_ways(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(make_pairs.path("tiny-target"))
    first_word.main([path, "--ctx", "1024", "--tokens", "600", "--rounds", "1", "--json"])
    (row,) = json.loads(capsys.readouterr().out)
    assert list(row["seconds"]) == [COLD, LIVE, MEMORY, DISK, TYPED]
    assert 590 <= row["n_read"][COLD] <= 600
    assert all(row["n_read"][way] < 60 for way in (LIVE, MEMORY, DISK, TYPED))
    assert row["other"] == []
