"""`paceline calibrate`: the table, the JSON, what it keeps, and what it refuses."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import make_pairs
from cli.program import assert_one_clear_line, paceline, paceline_process
from cli.scripted import ScriptedEngine
from paceline.cli import calibrate
from paceline.cli.calibrate import costs_table, rows_of
from paceline.cli.output import Interrupts
from paceline.engine.facts import Facts
from paceline.engine.measure.calibration import WIDTHS
from paceline.engine.model.threads import default_threads
from paceline.errors import UserError
from paceline.messages import Calibrate, Calibrated, Command, EngineDied, Event, WidthCost

TARGET = make_pairs.DEMO_TARGET
FIELDS = ["tokens", "seconds", "ratio", "seconds_per_token", "break_even", "n_samples"]


def test_json_has_every_width_and_the_facts_keep_it(paceline_home: Path) -> None:
    result = paceline_process("calibrate", "--json")
    assert result.code == 0, result.err
    assert result.err == ""
    report = json.loads(result.out)
    assert list(report) == [
        "target", "draft", "threads", "draft_threads", "widths", "draft_token_s", "kernels",
        "conclusion", "same_text",
    ]  # fmt: skip
    assert report["kernels"] == {"q8_0": "stock", "attention": "stock"}
    assert "demo" in report["target"]
    assert "demo" in report["draft"]
    assert report["threads"]["batch"] == default_threads()
    rows = report["widths"]
    assert [row["tokens"] for row in rows] == sorted(WIDTHS)
    for row in rows:
        assert list(row) == FIELDS
        assert row["seconds"] > 0
        assert row["ratio"] == pytest.approx(row["seconds"] / rows[0]["seconds"])
        assert row["seconds_per_token"] == pytest.approx(row["seconds"] / row["tokens"])
    assert rows[0]["ratio"] == 1
    assert 0 < report["draft_token_s"] < rows[0]["seconds"]
    assert report["conclusion"].endswith(".")
    assert "not known" not in report["same_text"]
    caches = [path.parent for path in paceline_home.rglob("facts.json")]
    assert len(caches) == 1
    kept = Facts(str(caches[0]))._facts
    assert sum(key.startswith("verify_costs|") for key in kept) == 1
    assert sum(key.startswith("draft_costs|") for key in kept) == 1
    assert sum(key.startswith("rows|") for key in kept) == 1


@pytest.mark.usefixtures("quick_calibration")
def test_the_table_for_people_without_a_draft_model_from_a_process_of_its_own() -> None:
    result = paceline(
        "calibrate", "--target", TARGET, "--threads", "1", "--ctx", "128", "--host", "process"
    )
    assert result.code == 0, result.err
    lines = result.out.splitlines()
    assert lines[0].startswith("target ")
    assert "threads: 1 for single tokens (as given), 1 for batches" in lines[0]
    assert not any(line.startswith("draft") for line in lines)
    head = next(line for line in lines if line.startswith("tokens"))
    for title in ("ms per step", "of a plain step", "ms per token", "pays from"):
        assert title in head
    table = lines[lines.index(head) + 1 :][: len(WIDTHS)]
    assert [int(line.split()[0]) for line in table] == sorted(WIDTHS)
    assert lines[-1].endswith(".")
    assert "draft model" not in result.out


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--target", "/nowhere/model.gguf"], 1),
        (["--threads", "0"], 2),
        (["--strategy", "off"], 2),
        (["--target", ""], 2),
    ],
)
def test_what_cannot_be_measured(arguments: list[str], code: int) -> None:
    result = paceline("calibrate", *arguments)
    assert result.out == ""
    assert_one_clear_line(result, code=code)


@pytest.mark.skipif(sys.platform == "win32", reason="signals work differently there")
def test_ctrl_c_stops_it() -> None:
    def answer(_command: Command) -> Iterator[Event]:
        signal.raise_signal(signal.SIGINT)
        engine.wait_for_cancel()
        yield Calibrated(problem="Stopped.")

    engine = ScriptedEngine(answer)
    with Interrupts() as interrupts, engine as client, pytest.raises(UserError) as caught:
        calibrate.measure(client, interrupts)
    assert [type(command) for command in engine.commands] == [Calibrate]
    assert (caught.value.code, caught.value.exit_code) == ("cancelled", 130)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Calibrated(problem="It broke."), "It broke."),
        (EngineDied("The engine crashed.", "Try again."), "The engine crashed. Try again."),
    ],
)
def test_an_engine_that_fails_is_reported(answer: Event, words: str) -> None:
    with (
        Interrupts() as interrupts,
        ScriptedEngine(lambda _command: [answer]) as client,
        pytest.raises(UserError) as caught,
    ):
        calibrate.measure(client, interrupts)
    assert str(caught.value) == words
    assert caught.value.exit_code == 1


def test_the_table_distinguishes_lookups_and_draft_model() -> None:
    """A lookup costs nothing to ask, so that it may pay where the draft model never does."""
    costs = [WidthCost(1, 0.010, 3), WidthCost(4, 0.025, 3)]
    table = costs_table(rows_of(costs, 0.009), 0.009)
    head, _, four, *_ = table.splitlines()
    assert head.split("  ")[-2:] == ["draft model pays from", "lookup pays from"]
    draft_model, lookup = four.split()[-2:]
    assert draft_model == "never"
    assert 60 < int(lookup.rstrip("%")) < 80
