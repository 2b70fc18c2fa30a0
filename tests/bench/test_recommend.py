"""The best fixed setting: chosen on the odd repeats, judged on the even ones."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from bench.test_summary import report, run
from paceline.bench.recommend import N_MAX, middle, recommend, sweep
from paceline.bench.runs import Run
from paceline.engine.draft.strategy import parse_strategy


def runs(times: dict[str, dict[str, tuple[float, ...]]]) -> list[Run]:
    """Workload → strategy → seconds per repeat."""
    return [
        run(workload, strategy, repeat, seconds)
        for workload, of in times.items()
        for strategy, all_s in of.items()
        for repeat, seconds in enumerate(all_s, 1)
    ]


def test_luck_on_the_even_repeats_chooses_nothing() -> None:
    times = {
        "off": (1.0, 1.0, 1.0, 1.0),
        "draft": (0.5, 0.8, 0.5, 0.8),
        "suffix": (0.6, 0.1, 0.6, 0.1),
        "auto": (0.4, 0.5, 0.4, 0.5),
    }
    found = recommend(report(runs({"a": times}), ("draft", "suffix", "auto")))
    assert found is not None
    best = found.over_all
    assert best.best == "draft"
    assert best.best_ratio.median == pytest.approx(1 / 0.8)
    assert best.auto_ratio is not None
    assert best.auto_ratio.median == pytest.approx(2.0)
    assert best.auto_by_best is not None
    assert best.auto_by_best.median == pytest.approx(1.6)
    assert [choice.workload for choice in found.by_workload] == ["a"]
    assert best.auto_by_best.low <= 1.6 <= best.auto_by_best.high


def test_each_workload_has_its_own_best_and_all_together_one() -> None:
    times = {
        "a": {"off": (1.0, 1.0), "draft": (0.5, 0.5), "suffix": (2.0, 2.0), "auto": (0.5, 0.5)},
        "b": {"off": (1.0, 1.0), "draft": (1.5, 1.5), "suffix": (0.8, 0.8), "auto": (0.8, 0.8)},
    }
    found = recommend(report(runs(times), ("draft", "suffix", "auto"), ("a", "b")))
    assert found is not None
    assert [c.best for c in found.by_workload] == ["draft", "suffix"]
    assert found.over_all.best == "draft"
    assert found.over_all.best_ratio.median == pytest.approx((2 / 1.5) ** 0.5)
    assert found.over_all.auto_by_best is not None
    assert found.over_all.auto_by_best.median == pytest.approx((1.5 / 0.8) ** 0.5)


def test_plain_decoding_can_be_the_best() -> None:
    times = {"off": (1.0, 1.0), "draft": (1.2, 1.2)}
    found = recommend(report(runs({"a": times})))
    assert found is not None
    assert found.over_all.best == "off"
    assert found.over_all.auto_ratio is None
    assert found.over_all.auto_by_best is None
    assert asdict(found)["over_all"]["best"] == "off"


def test_without_even_repeats_there_is_no_recommendation() -> None:
    assert recommend(report(runs({"a": {"off": (1.0,), "draft": (0.5,)}}))) is None
    half = runs({"a": {"off": (1.0, 1.0), "draft": (0.5,)}})
    assert recommend(report(half)) is None
    assert recommend(report([])) is None


@pytest.mark.parametrize("model", ["draft", "mtp"])
def test_the_sweep_is_made_of_strategies_that_exist(model: str) -> None:
    tried = sweep(model)
    assert len(set(tried)) == len(tried)
    parsed = [parse_strategy(strategy) for strategy in tried]
    lengths = {
        settings["n_max"]
        for strategy in parsed
        for info, settings in strategy.drafters
        if info.id == model and len(strategy.drafters) == 1
    }
    assert set(N_MAX) <= lengths
    assert any(len(strategy.drafters) > 1 for strategy in parsed)
    assert sum(strategy.is_controlled for strategy in parsed) == 1
    without = [parse_strategy(strategy) for strategy in sweep("")]
    assert not any(strategy.needs for strategy in without)


def test_the_middle_is_the_geometric_mean_of_medians() -> None:
    assert middle([[1.0, 100.0, 4.0], [9.0]]) == pytest.approx(6.0)
