"""`bench --passport` writes a file, `doctor --passport` shows it; damaged ones end in one line."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import pytest

from cli.program import assert_one_clear_line, paceline
from paceline.paths import demo_pair

if TYPE_CHECKING:
    from pathlib import Path

LINES = (
    '{"name": "list", "messages": [{"role": "user", "content": "What is a list?"}], '
    '"max_tokens": 12, "temperature": 0, "ignore_eog": true}',
    '{"name": "free", "messages": [{"role": "user", "content": "Tell me a story."}], '
    '"max_tokens": 12, "temperature": 0.8, "ignore_eog": true}',
)


@pytest.mark.usefixtures("quick_calibration")
def test_a_passport_is_written_and_shown(tmp_path: Path) -> None:
    workload, file = tmp_path / "w.jsonl", tmp_path / "passport.json"
    workload.write_text("\n".join(LINES), encoding="utf-8")
    arguments = ("--workload", workload, "--threads", "1", "--repeat", "2")
    strategies = ("--strategies", "suffix+draft:draft.n_max=4", "--passport", file)
    measured = paceline("bench", *arguments, *strategies)
    assert measured.code == 0, measured.err
    assert file.stat().st_size < 20_000
    data = json.loads(file.read_text("utf-8"))
    assert data["version"] == 1
    target, _ = demo_pair()
    assert data["target"]["sha256"] == hashlib.sha256(target.read_bytes()).hexdigest()
    assert len(data["draft"]["fingerprint"]) == 64
    assert data["settings"]["target"]["n_threads"] == 1
    assert data["machine"]["cores"]
    assert data["costs"][0]["width"] == 1
    assert data["draft_costs"], "measured though Auto takes no part"
    assert [w["temperature"] for w in data["workloads"]] == [0, 0.8]
    by_drafter = data["workloads"][0]["results"][1]["by_drafter"]
    assert "draft" in {each["drafter"] for each in by_drafter}
    assert str(tmp_path) not in file.read_text("utf-8")

    shown = paceline("doctor", "--passport", file)
    assert (shown.code, shown.err) == (0, "")
    matrix = measured.out[measured.out.index("Measured") :].partition("\n\n")[2]
    assert matrix in shown.out, "the tables are those of the benchmark"
    assert data["target"]["sha256"] in shown.out
    again = paceline("doctor", "--json", "--passport", file)
    assert json.loads(again.out) == data


def test_what_is_damaged_ends_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "p.json"
    for content in ("", '{"format": "paceline-passport", "version": 2}', "[1, 2]"):
        file.write_text(content, encoding="utf-8")
        result = paceline("doctor", "--passport", file)
        assert result.code == 1
        assert result.out == ""
        assert_one_clear_line(result)
    absent = paceline("doctor", "--passport", tmp_path / "absent.json")
    assert absent.code == 1
    assert "cannot be read" in absent.err


def test_what_cannot_be_written_is_refused_before_it_is_measured(tmp_path: Path) -> None:
    result = paceline("bench", "--passport", tmp_path / "absent" / "p.json")
    assert result.code == 1
    assert "Give --passport the name of a file in a folder that exists" in result.err
    many = paceline("bench", "--repeat", "1000", "--passport", tmp_path / "p.json")
    assert many.code == 2
    assert "too many for a passport" in many.err
    both = paceline("doctor", "--last", "--passport", tmp_path / "p.json")
    assert both.code == 2
