"""The table of steps, and acceptance by the place in the draft."""

from __future__ import annotations

import csv
import io

from gui.fake_client import STATS, plain_step, step_of
from paceline.gui.run.drafters_card import judged_by_place
from paceline.gui.state.metrics import StepMetrics, steps_csv
from paceline.gui.state.sources import Sources
from paceline.messages import DraftCount, StepCommitted, TokenTrace


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def step(
    number: int, sources: list[tuple[str, int]], counts: list[tuple[str, int, int, int]]
) -> StepCommitted:
    traces = tuple(TokenTrace(1, source, place, None, 0) for source, place in sources)
    drafted = tuple(DraftCount(*count) for count in counts)
    return StepCommitted(number, traces, "", drafted, 0.004, 0.012, 0.001, 0.02)


def test_every_step_is_a_row_with_sums_and_a_part_per_drafter() -> None:
    both = step(
        2,
        [("prompt-lookup", 0), ("draft", 1), ("target", -1)],
        [("prompt-lookup", 1, 1, 0), ("draft", 4, 1, 2)],
    )
    rows = rows_of(steps_csv([step_of("x", 0), step_of("x", 1), both], STATS))
    assert [row["step"] for row in rows] == ["0", "1", "2"]
    assert [row["tokens"] for row in rows] == ["1", "3", "3"]
    assert [row["time_s"] for row in rows] == ["0.020000", "0.040000", "0.060000"]
    last = rows[2]
    assert [last[name] for name in ("drafted", "accepted", "discarded")] == ["5", "2", "2"]
    assert [last[f"draft {name}"] for name in ("drafted", "accepted", "discarded")] == [
        "4", "1", "2",
    ]  # fmt: skip
    assert last["prompt-lookup accepted"] == "1"
    assert last["tokens_per_s"] == "150.000"
    assert list(last)[-3:] == ["plain_tokens_per_s", "plain_low", "plain_high"]
    assert list(last.values())[-3:] == ["21.600", "18.000", "25.900"]
    assert (last["verify_s"], last["total_s"]) == ("0.012000", "0.020000")


def test_plain_steps_are_marked_and_what_is_not_known_is_empty() -> None:
    (row,) = rows_of(steps_csv([plain_step(1, total_s=0.0)], None))
    assert (row["plain"], row["plain_tokens_per_s"], row["tokens_per_s"]) == ("1", "", "")
    assert (row["plain_low"], row["plain_high"]) == ("", "")
    assert row["drafted"] == "0"
    assert rows_of(steps_csv([], None)) == []


def accepted_by_place(steps: list[StepCommitted]) -> dict[str, list[int]]:
    metrics = StepMetrics(Sources(()))
    for each in steps:
        metrics.push(each)
    return {name: tally.accepted_per_position for name, tally in metrics.tallies.items()}


def test_places_count_what_was_accepted_and_what_was_judged() -> None:
    steps = [
        step(1, [("draft", 0), ("draft", 1), ("target", -1)], [("draft", 4, 2, 0)]),
        step(2, [("draft", 0), ("target", -1)], [("draft", 3, 1, 0)]),
        step(3, [("target", -1)], [("draft", 2, 0, 0)]),
    ]
    assert accepted_by_place(steps) == {"draft": [2, 1]}
    assert judged_by_place(steps) == {"draft": [3, 3, 2, 1]}


def test_parts_of_a_draft_stand_one_behind_the_other_whatever_their_order_in_the_counts() -> None:
    chain = step(
        1,
        [("draft", 0), ("draft", 1), ("suffix", 2), ("target", -1)],
        [("suffix", 3, 1, 0), ("draft", 2, 2, 0), ("forced", 1, 0, 0)],
    )
    assert accepted_by_place([chain]) == {"draft": [1, 1], "suffix": [0, 0, 1], "forced": []}
    assert judged_by_place([chain]) == {
        "draft": [1, 1],
        "suffix": [0, 0, 1, 1, 1],
        "forced": [0, 0, 0, 0, 0, 1],
    }


def test_what_stood_after_the_end_was_not_judged() -> None:
    found = judged_by_place([step(1, [("draft", 0), ("target", -1)], [("draft", 5, 1, 3)])])
    assert found == {"draft": [1, 1]}
    assert judged_by_place([step(1, [], [("draft", 5, 0, 5)])]) == {}
