"""GPU layers that the command line decides: only where a GPU is, and from what is free on it."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from msgspec import structs

from cli.scripted import ScriptedEngine
from paceline.cli.chat_run import ChatRun, RequestedChat
from paceline.cli.loading import TurnError, decide_layers, planner
from paceline.cli.output import Interrupts
from paceline.errors import ModelError
from paceline.hosting.threaded import ThreadedClient
from paceline.messages import (
    Command,
    DescribeEngine,
    DeviceInfo,
    EngineDescribed,
    Event,
    LoadFailed,
    LoadPair,
    ModelParams,
    RawText,
    StartTurn,
)
from paceline.params import DraftModel, params_of
from paceline.paths import Paths

if TYPE_CHECKING:
    from pathlib import Path

    from paceline.catalog.memory.values import MemoryPlan
    from paceline.cli.loading import Planner

pytestmark = pytest.mark.usefixtures("one_reader_for_all")

GIB = 2**30
MIB = 2**20
CPU = DeviceInfo("CPU", "A processor", "cpu", 16 * GIB, 16 * GIB)


def gpu(n_bytes: int) -> DeviceInfo:
    return DeviceInfo("CUDA0", "A card", "gpu", n_bytes, n_bytes)


def engine_with(*devices: DeviceInfo) -> ScriptedEngine:
    """An engine that says what it is, and loads nothing."""

    def answer(command: Command) -> list[Event]:
        if isinstance(command, LoadPair):
            return [LoadFailed("cannot-load", "It is a fake.", "")]
        assert isinstance(command, DescribeEngine)
        return [EngineDescribed("0", "", devices=devices)]

    return ScriptedEngine(answer)


def decide(load: LoadPair, plan: Planner, *devices: DeviceInfo) -> tuple[LoadPair, tuple[str, ...]]:
    with engine_with(*devices) as client:
        return decide_layers(load, client, plan)


@pytest.fixture
def plan() -> Planner:
    return planner(Paths.from_environment())


@pytest.fixture
def load(demo_pair: tuple[Path, Path]) -> LoadPair:
    target, draft = demo_pair
    return LoadPair(ModelParams(str(target)), DraftModel(ModelParams(str(draft))))


def not_asked(*_: object) -> MemoryPlan:
    raise AssertionError("there is nothing to plan")


def test_without_a_gpu_nothing_changes(load: LoadPair) -> None:
    assert decide(load, not_asked, CPU) == (load, ())


def test_the_real_engine_of_this_build_can_be_asked(load: LoadPair) -> None:
    with closing(ThreadedClient()) as client:
        described = client.request(DescribeEngine()).wait()
        assert isinstance(described, EngineDescribed)
        if not described.supports_gpu:
            assert decide_layers(load, client, not_asked) == (load, ())


def test_layers_that_were_given_stay(load: LoadPair) -> None:
    draft = params_of(load.drafting)
    assert draft is not None
    given = structs.replace(
        load,
        target=replace(load.target, n_gpu_layers=3),
        drafting=DraftModel(replace(draft, n_gpu_layers=0)),
    )
    assert decide(given, not_asked, gpu(8 * GIB), CPU) == (given, ())


def test_it_is_told_where_no_server_is_used(load: LoadPair, plan: Planner) -> None:
    server = "10.0.0.5:50052"
    lent = DeviceInfo("RPC0", server, "rpc", 8 * GIB, 8 * GIB, server=server)
    served = structs.replace(load, servers=(server,))
    decided, (note,) = decide(served, plan, gpu(8 * GIB), CPU, lent)
    assert decided.target.device == "CUDA0"
    assert "no RPC server is used" in note
    decided, notes = decide(served, plan, CPU, lent)
    assert (decided.target.device, notes) == ("", ())
    assert decided.target.n_gpu_layers > 0


def test_a_large_gpu_takes_both_models_and_a_small_one_the_draft_first(
    load: LoadPair, plan: Planner
) -> None:
    decided, notes = decide(load, plan, gpu(8 * GIB), CPU)
    assert notes == ()
    draft = params_of(decided.drafting)
    assert draft is not None
    assert (decided.target.n_gpu_layers, draft.n_gpu_layers) == (9, 3)
    small, notes = decide(load, plan, gpu(560 * MIB), CPU)
    assert notes == ()
    draft = params_of(small.drafting)
    assert draft is not None
    assert draft.n_gpu_layers == 3
    assert 0 <= small.target.n_gpu_layers < 9


def test_a_run_decides_before_it_loads_and_hears_of_the_load(
    load: LoadPair, plan: Planner, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = engine_with(gpu(GIB // 4), structs.replace(CPU, total_bytes=MIB, free_bytes=MIB))
    request = RequestedChat(load, StartTurn(RawText("p")))
    with Interrupts() as interrupts, pytest.raises(TurnError, match="It is a fake"):
        ChatRun(engine.client, request, interrupts, as_json=False, plan=plan).run()
    loads = [command for command in engine.commands if isinstance(command, LoadPair)]
    assert [each.target.n_gpu_layers for each in loads] == [0]
    assert "Memory may not suffice" in capsys.readouterr().err


def test_a_pair_that_does_not_fit_is_reported_and_loaded_anyway(
    load: LoadPair, plan: Planner
) -> None:
    none = structs.replace(CPU, total_bytes=MIB, free_bytes=MIB)
    decided, notes = decide(load, plan, gpu(GIB // 2), none)
    assert decided.target.n_gpu_layers == 0
    assert len(notes) == 1
    assert notes[0].startswith("Memory may not suffice. The model does not fit")


def test_a_file_that_cannot_be_read_is_left_to_the_load(load: LoadPair, tmp_path: Path) -> None:
    gone = structs.replace(load, target=ModelParams(str(tmp_path / "gone.gguf")))

    def refuse(*_: object) -> MemoryPlan:
        raise ModelError("file-not-found", "There is no such file.", "Choose another.")

    assert decide(gone, refuse, gpu(GIB), CPU) == (gone, ())
