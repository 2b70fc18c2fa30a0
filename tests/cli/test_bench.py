"""`paceline bench`: what it writes where, what it refuses, and what Ctrl+C leaves."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from typing import TYPE_CHECKING

import pytest

from cli.program import TIMEOUT_S, assert_one_clear_line, paceline, paceline_process, running
from paceline.cli import main
from paceline.errors import UserError

if TYPE_CHECKING:
    from pathlib import Path

    from paceline.bench.runs import Report

LINES = (
    '{"name": "list", "messages": [{"role": "user", "content": "What is a list?"}], '
    '"max_tokens": 16, "temperature": 0, "ignore_eog": true}',
    '{"name": "ids", "prompt_tokens": [300, 301, 302], "max_tokens": 12, "ignore_eog": true}',
)
RESULT_KEYS = {
    "strategy", "tokens_per_s", "ratio_to_off", "acceptance_rate", "mean_committed_per_step",
    "same_text", "n_runs",
}  # fmt: skip
DRAFT = "draft:n_max=3:p_min=0"

pytestmark = pytest.mark.usefixtures("quick_calibration")


@pytest.fixture
def workload(tmp_path: Path) -> Path:
    path = tmp_path / "w.jsonl"
    path.write_text("\n".join(LINES), encoding="utf-8")
    return path


def bench_arguments(workload: Path, *more: str | Path) -> tuple[str | Path, ...]:
    return ("bench", "--workload", workload, "--threads", "1", "--repeat", "2", *more)


@pytest.mark.parametrize("host", ["inline", "process"])
def test_the_report_goes_to_stdout(workload: Path, host: str) -> None:
    arguments = ("--strategies", f"{DRAFT},suffix", "--json", "-", "--host", host)
    result = paceline(*bench_arguments(workload, *arguments))
    assert result.code == 0, result.err
    data = json.loads(result.out)
    assert {"machine", "target", "draft", "workloads", "geomean"} <= data.keys()
    assert [w["name"] for w in data["workloads"]] == ["list", "ids"]
    for w in data["workloads"]:
        assert [r["strategy"] for r in w["results"]] == ["off", DRAFT, "suffix"]
        for r in w["results"]:
            assert r.keys() >= RESULT_KEYS
            assert r["ratio_to_off"].keys() == {"median", "low", "high"}
            assert r["same_text"] is True
            assert r["n_runs"] == 2
    assert data["geomean"]["off"] == 1.0
    assert data["complete"] is True
    assert data["machine"]["threads"] == 1
    assert os.sep not in data["target"]["file"]
    drafted = [r for w in data["workloads"] for r in w["results"] if r["strategy"] == DRAFT]
    assert all(r["acceptance_rate"] is not None for r in drafted)
    assert "replies will be generated" in result.err


def test_table_file_and_recommendation(workload: Path, tmp_path: Path, paceline_home: Path) -> None:
    out = tmp_path / "report.json"
    arguments = ("--strategies", f"{DRAFT},auto", "--recommend", "--json", out)
    result = paceline(*bench_arguments(workload, *arguments))
    assert result.code == 0, result.err
    head, *_ = result.out.splitlines()
    assert head.split() == ["Target", "paceline-demo-target-q8_0.gguf,", "17.3M", "weights"]
    assert re.search(r"^ +list +ids +all +whole +right$", result.out, re.MULTILINE)
    assert re.search(r"^off +\*?1\.00 +\*?1\.00 +\*?1\.00 +\*?1\.00$", result.out, re.MULTILINE)
    assert "Every reply has the text of plain decoding." in result.out
    promise = r"^auto: Auto was (never noticeably slower|noticeably slower in [1-4] of 4 replies)\."
    assert re.search(promise, result.out, re.M)
    assert re.search(r"^The best fixed setting over all is (off|draft\S+): ", result.out, re.M)
    assert re.search(r"^Auto gives [\d.]+ \[[\d.]+, [\d.]+\] times", result.out, re.M)
    data = json.loads(out.read_text("utf-8"))
    assert {c["workload"] for c in data["recommendation"]["by_workload"]} == {"list", "ids"}
    written = {path.name for path in paceline_home.rglob("*") if path.is_file()}
    assert written <= {"facts.json"}, "nothing of a reply is stored"


@pytest.mark.skipif(sys.platform == "win32", reason="signals work differently there")
def test_ctrl_c_keeps_what_was_measured(workload: Path) -> None:
    arguments = ("--strategies", "suffix", "--repeat", "1000")
    program = "from hosting import quick; from paceline.__main__ import main; quick.everywhere(); "
    with running(
        *bench_arguments(workload, *arguments),
        environ={"PYTHONPATH": os.pathsep.join(sys.path)},
        command=(sys.executable, "-c", program + "raise SystemExit(main())"),
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if re.match(r"paceline: 1 of 1000 repeats", line):
                break
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert "not all that were planned" in out
    assert re.search(r"^suffix +\S+ +\S+ +\S+", out, re.MULTILINE)


def failing_window(_files: object = ()) -> int:
    raise AssertionError("the window must stay closed")


def run_here(*arguments: str | Path) -> int:
    given = ["bench", *map(str, arguments)]
    return main.run(given, failing_window, lambda _: failing_window(), lambda *_: failing_window())


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--repeat", "0"), 2, "between 1 and 1000"),
        (("--repeat", "1", "--recommend"), 2, "at least two repeats"),
        (("--strategies", "off,,draft"), 2, "is empty"),
        (("--strategies", "draft,draft"), 2, "given twice"),
        (("--strategies", "nonsense"), 2, "nonsense"),
        (("--workload", "absent.jsonl"), 1, "cannot be read"),
        (("--json", "absent/out.json"), 1, "no folder that exists"),
        (("--png", "absent/out.png"), 1, "no folder that exists"),
        (("--target", "x.gguf", "--strategies", "draft"), 2, "needs a draft model"),
    ],
)
def test_what_is_refused_beforehand(
    arguments: tuple[str, ...], code: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_here(*arguments) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert words in err
    assert len(err.splitlines()) == 1


def test_a_wrong_line_is_wrong_usage(workload: Path) -> None:
    workload.write_text(f'{LINES[0]}\n{{"name": "x"}}\n', encoding="utf-8")
    result = paceline_process(*bench_arguments(workload))
    assert_one_clear_line(
        result, f"Line 2 of {workload} is wrong: it has neither messages nor prompt_tokens", code=2
    )


def test_a_prompt_that_does_not_fit_is_reported_after_the_results(
    workload: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    long = {"name": "long", "prompt_tokens": [300] * 3000, "max_tokens": 8}
    workload.write_text(f"{LINES[0]}\n{json.dumps(long)}\n", encoding="utf-8")
    arguments = ("--workload", workload, "--threads", "1", "--repeat", "1")
    assert run_here(*arguments, "--strategies", "suffix") == 1
    out, err = capsys.readouterr()
    assert re.search(r"^suffix +\S+ +\S+", out, re.MULTILINE)
    assert "long by off failed" in out
    assert "long by off" in err.splitlines()[-1]


def test_the_chart_is_drawn_by_the_function_that_is_given(
    workload: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn: list[tuple[Report, Path]] = []

    def draw(report: Report, path: Path) -> int:
        drawn.append((report, path))
        return 0

    out = tmp_path / "chart.png"
    arguments = (*bench_arguments(workload), "--strategies", "suffix", "--png", out)
    given = [str(argument) for argument in arguments]
    assert main.run(given, failing_window, lambda _path: failing_window(), draw) == 0
    ((report, path),) = drawn
    assert path == out
    assert report.strategies == ("off", "suffix")
    capsys.readouterr()

    def cannot(_report: Report, _path: Path) -> int:
        raise UserError("no-window", "It cannot be drawn.")

    assert main.run(given, failing_window, lambda _path: failing_window(), cannot) == 1
    shown, err = capsys.readouterr()
    assert "suffix" in shown, "the table is printed in any case"
    assert "cannot be drawn" in err
