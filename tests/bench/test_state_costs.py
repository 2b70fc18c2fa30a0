"""Costs of stored states, as the benchmark `state_costs` reports them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import make_pairs
from benchmarks import state_costs


def test_smaller_types_of_cache_take_fewer_bytes(
    demo_pair: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    models = [str(demo_pair[0]), str(make_pairs.path("tiny-lfm2"))]
    few = ["--tokens", "600", "--steps", "2", "--turns", "1"]
    assert state_costs.main([*models, *few, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    by_model = [told["copies"][:3], told["copies"][3:]]
    for of_model in by_model:
        assert [each["cache_type"] for each in of_model] == ["f16", "q8_0", "q4_0"]
        sizes = [each["n_bytes"] for each in of_model]
        assert sizes == sorted(sizes, reverse=True)
        assert all(each["out_s"] > 0 < each["in_s"] for each in of_model)
    assert [of_model[0]["n_block"] for of_model in by_model] == [256, 0]
    for each in told["keeping"].values():
        assert each["n_prompt"] == 600
        assert each["steps"]["median"] > 0
