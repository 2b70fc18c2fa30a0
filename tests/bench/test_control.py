"""The benchmark of the controller's own time."""

from __future__ import annotations

import json

import pytest

from benchmarks import control


def test_every_part_is_timed() -> None:
    measured = control.measure(200)
    assert [cost.part for cost in measured.costs] == [*control.PARTS, "step"]
    assert 150 < measured.n_steps <= 200
    assert 3 < measured.mean_drafted < 8
    parts, step = measured.costs[:-1], measured.costs[-1]
    assert all(0 < cost.median_us <= cost.high_us for cost in measured.costs)
    assert step.median_us == pytest.approx(sum(cost.median_us for cost in parts), rel=0.3)
    assert step.median_us < 10 * control.LIMIT_US


def test_it_prints_a_table_or_json(capsys: pytest.CaptureFixture[str]) -> None:
    control.main(["--steps", "60"])
    assert "tokens drafted" in capsys.readouterr().out
    control.main(["--steps", "60", "--json"])
    data = json.loads(capsys.readouterr().out)
    assert data["costs"][-1]["part"] == "step"
