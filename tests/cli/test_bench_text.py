"""A benchmark's report in a terminal: the matrix, its marks and width, and the words below it."""

from __future__ import annotations

import os
import sys
from dataclasses import replace

import pytest

from bench.test_summary import report, run
from paceline.bench.runs import Failure, Report, Run
from paceline.cli import bench_text
from paceline.cli.bench_text import report_text
from paceline.messages import WidthCost

STRATEGIES = ("off", "draft", "auto")


def measured(
    seconds: dict[str, float], names: tuple[str, ...] = ("question", "quote"), repeats: int = 2
) -> Report:
    runs: list[Run] = [
        run(
            name,
            strategy,
            repeat,
            seconds[strategy],
            drafted=(4, 2) if strategy != "off" else (0, 0),
            plain_s=seconds["off"],
        )
        for name in names
        for strategy in seconds
        for repeat in range(1, repeats + 1)
    ]
    return report(runs, tuple(seconds), names)


def words_of(text: str, first: str) -> list[str]:
    """Return the cells of the matrix's row that begins so."""
    return next(line.split() for line in text.splitlines() if line.split()[:1] == [first])


def test_the_matrix_marks_the_fastest() -> None:
    text = report_text(measured({"off": 1.0, "draft": 0.5, "auto": 0.8}))
    assert words_of(text, "question") == ["question", "quote", "all", "whole", "right"]
    assert words_of(text, "off") == ["off", "1.00", "1.00", "1.00", "1.00"]
    assert words_of(text, "draft") == ["draft", "*2.00", "*2.00", "*2.00", "*2.00", "50%"]
    assert words_of(text, "off,") == ["off,", "tokens/s", "11.0", "11.0"]
    assert "draft is fastest: 2.00× in writing, 2.00× for the whole reply." in text
    assert text.count("auto: Auto was") == 1
    assert ": Auto was never noticeably slower. The slowest took " in text
    assert "Every reply has the text of plain decoding." in text


def test_without_auto_nothing_is_said_of_its_promise() -> None:
    assert "noticeably" not in report_text(measured({"off": 1.0, "draft": 0.5}))


def test_the_number_of_auto_replies_that_were_later_than_promised_is_reported() -> None:
    text = report_text(measured({"off": 1.0, "auto": 1.5}))
    assert ": Auto was noticeably slower in 4 of 4 replies." in text


def test_many_workloads_stand_below_each_other() -> None:
    names = tuple(f"prompt-{n}" for n in range(8))
    text = report_text(measured({"off": 1.0, "draft": 0.5}, names))
    assert words_of(text, "off") == ["off", "draft", "off,", "tokens/s"]
    assert words_of(text, "prompt-7") == ["prompt-7", "1.00", "*2.00", "11.0"]
    assert words_of(text, "all") == ["all", "1.00", "*2.00"]


def test_a_narrow_terminal_gets_several_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = dict.fromkeys(("off", *(f"draft:n_max={n}" for n in range(1, 7))), 1.0)
    names = tuple(f"a-longer-name-{n}" for n in range(5))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr(bench_text.shutil, "get_terminal_size", lambda: os.terminal_size((60, 24)))
    matrix = report_text(measured(seconds, names)).split("\n\n")
    rows = [line for block in matrix for line in block.splitlines() if "draft:n_max=3 " in line]
    assert len(rows) > 1
    assert max(map(len, rows)) <= 60
    assert sum(row.count("1.00") for row in rows) == len(names) + 2


def with_costs(found: Report, *costs: WidthCost) -> Report:
    return replace(found, conditions=replace(found.conditions, costs=costs))


def test_where_nothing_gains_it_says_why() -> None:
    found = measured({"off": 1.0, "draft": 1.5})
    text = report_text(found)
    assert "draft gains nothing here. One prompt or one strategy is too few" in text
    assert "too small" not in text
    costs = (WidthCost(1, 0.002, 3), WidthCost(2, 0.0038, 3))
    assert "Verifying two tokens takes 1.9 times as long" in report_text(with_costs(found, *costs))
    cheap = (WidthCost(1, 0.02, 3), WidthCost(2, 0.022, 3))
    assert "too small" not in report_text(with_costs(found, *cheap))


def test_other_texts_and_failures_are_reported() -> None:
    runs = [
        run("a", "off", 1, 1.0, tokens=(1, 2, 3)),
        replace(run("a", "draft", 1, 0.5, tokens=(1, 2, 4)), batch_invariant=False),
    ]
    failure = Failure("b", "draft", "decode-failed", "It broke.", "")
    text = report_text(replace(report(runs), failures=(failure,)))
    assert words_of(text, "draft")[1] == "≠*2.00"
    assert "≠: another text than off in some repeat." in text
    assert "1 of 2 replies differ from plain decoding's. On this machine" in text
    assert "b by draft failed: It broke." in text


def test_nothing_measured() -> None:
    assert report_text(report([])) == "Nothing was measured.\n"
