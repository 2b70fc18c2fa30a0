"""The benchmark of the engine's own time by part."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import own_time
from paceline.engine.sample.sampling import Sampler


def test_the_parts_make_up_the_whole(target_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sample = Sampler.sample
    options = [str(target_path), "--tokens", "20", "--replies", "1"]
    assert own_time.main([*options, "--json"]) == 0
    (result,) = json.loads(capsys.readouterr().out)
    parts = result["parts_us"]
    assert list(parts) == [*(name for name, _, _ in own_time.PARTS), "rest"]
    assert all(us > 0 for us in parts.values())
    assert 0 < result["median_us"] < 10 * result["mean_us"]
    assert result["n_steps"] <= 18
    assert Sampler.sample is sample
    own_time.main(options)
    assert target_path.stem[:27] in capsys.readouterr().out
