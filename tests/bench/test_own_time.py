"""The benchmark of the engine's own time: versions in turns, parts, tables."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from architecture.source import REPOSITORY
from benchmarks import own_time
from benchmarks.own_time import Cell, Figures, Measured, table, table_of_parts
from benchmarks.sides.own_time_child import PARTS, REST, carry_out, method_of
from paceline.engine.api import load_pair
from paceline.engine.sample.sampling import Sampler
from paceline.messages import ModelParams

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from paceline.engine.api import Pair

SHORT = ["--tokens", "12", "--rounds", "1", "--strategies", "off", "--samplings", "0.7"]


@pytest.fixture(scope="module")
def pair(target_path: Path) -> Iterator[Pair]:
    with load_pair(ModelParams(str(target_path), n_threads=1), kernels="stock") as loaded:
        loaded.loaded.target.model.clock = time.thread_time
        yield loaded


def order(sampling: str, *, is_by_part: bool) -> list[Any]:
    options = {"strategy": "auto", "max_tokens": 40, "seed": 1}
    return ["reply", own_time.PROMPTS[0], own_time.SAMPLINGS[sampling], options, is_by_part]


# ------------------------------------------------------------------------------------ one version


@pytest.mark.parametrize("sampling", own_time.SAMPLINGS)
def test_a_reply_is_measured(pair: Pair, sampling: str) -> None:
    answer = carry_out(pair, order(sampling, is_by_part=False))
    assert all(us > 0 for us in answer["steps_us"])
    assert answer["n_tokens"] == 39
    assert len(answer["steps_us"]) <= 39
    assert answer["parts_us"] == {}


@pytest.mark.parametrize("sampling", ["0.7", "schema"])
def test_the_parts_make_up_the_whole(pair: Pair, sampling: str) -> None:
    draws = Sampler.draws
    answer = carry_out(pair, order(sampling, is_by_part=True))
    parts = answer["parts_us"]
    assert list(parts) == [*PARTS, REST]
    assert all(us > 0 for us in parts.values())
    assert sum(parts.values()) == pytest.approx(sum(answer["steps_us"]))
    assert Sampler.draws is draws


def test_every_part_is_a_method_of_this_version() -> None:
    for places in PARTS.values():
        assert any(map(method_of, places))
    assert method_of("sample.sampling:Sampler.of_another_version") is None
    assert method_of("sample.of_another_version:Sampler.draws") is None


# --------------------------------------------------------------------------------------- versions


def test_versions_run_in_processes_by_turns(
    target_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [str(target_path), *SHORT, "--json", "--beside", str(REPOSITORY)]
    assert own_time.main(arguments) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["target"] == target_path.stem
    assert found["n_vocab"] == 8192
    (cell,) = found["cells"]
    assert (cell["strategy"], cell["sampling"]) == ("off", "0.7")
    for kind in ("step_us", "token_us"):
        now, before = (cell["versions"][name][kind] for name in ("now", "before"))
        assert cell["ratios"][kind]["median"] == now[0] / before[0]
    assert [len(cell["versions"]["now"]["parts_us"][part]) for part in (*PARTS, REST)] == [1] * 7
    assert cell["versions"]["before"]["parts_us"]["text"] == []


def test_a_folder_without_a_checkout_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert own_time.main(["--beside", str(tmp_path)]) == 2
    assert str(tmp_path) in capsys.readouterr().err


# ----------------------------------------------------------------------------------------- tables


def measured(*rounds: tuple[list[float], int]) -> Measured:
    found = Measured()
    for steps, n_tokens in rounds:
        found.add([{"steps_us": steps, "n_tokens": n_tokens}])
    return found


def test_tables_have_medians_ratios_and_means_of_the_parts() -> None:
    now = measured(([10.0, 20.0, 90.0], 6), ([30.0], 1), ([40.0], 4))
    before = measured(([40.0], 1), ([40.0], 1), ([50.0], 1))
    parts: dict[str, Any] = dict.fromkeys((*PARTS, REST), 6.0)
    now.add_by_part([{"steps_us": [9.0, 9.0], "parts_us": parts}])
    now.add_by_part([{"steps_us": [9.0], "parts_us": {**parts, "text": 9.0}}])
    figures = Figures({Cell("auto", "0"): {"now": now, "before": before}})
    _, row = table(figures).splitlines()
    step = ["30", "40", "0.75", "[0.50,", "0.80]"]
    token = ["20", "40", "0.50", "[0.20,", "0.75]"]
    assert row.split() == ["auto", "0", *step, *token, "2.33"]
    _, row = table_of_parts(figures).splitlines()
    assert row.split() == ["auto", "0", "4", "4", "4", "4", "4", "6", "4"]
