"""Free memory of devices: updated without waiting, shown with who holds the rest."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

import pytest
from msgspec import structs
from PySide6.QtCore import QTimer

from gui.fake_judge import GIB, FakeJudge
from paceline.catalog.memory.values import DevicePlan, MemoryPlan, Share
from paceline.chat.pair import Pair, PairState
from paceline.errors import UserError
from paceline.gui.state.current_devices import STEP_BYTES, CurrentDevices, Room, RoomPlanner
from paceline.messages import DeviceInfo, EngineDescribed
from paceline.params import Drafting, DraftModel, ModelParams, params_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytestqt.qtbot import QtBot

CPU = DeviceInfo("CPU", "CPU", "cpu", 32 * GIB, 1)
GPU = DeviceInfo("CUDA0", "A card", "gpu", 8 * GIB, 7 * GIB)
LOADED, WANTED = Pair(ModelParams("/m/a.gguf")), ModelParams("/m/b.gguf")


class Bench:
    """The object with a machine around it that a test can change."""

    def __init__(self) -> None:
        self.n_free = 20 * GIB
        self.n_asked = 0
        self.held: Pair | None = None
        self.rooms: list[Room] = []
        self.devices = CurrentDevices(self.describe, self, main_memory=lambda: self.n_free)
        self.devices.changed.connect(self.rooms.append)

    def describe(self) -> None:
        self.n_asked += 1

    def answer(self, *devices: DeviceInfo) -> None:
        self.devices.show_engine(EngineDescribed("", "", devices))


@pytest.fixture
def bench(qtbot: QtBot) -> Iterator[Bench]:
    del qtbot
    made = Bench()
    yield made
    made.devices.deleteLater()


def free(room: Room) -> dict[str, int]:
    return {each.name: each.free_bytes for each in room.devices}


def test_without_a_gpu_no_engine_is_asked_again(bench: Bench) -> None:
    assert bench.devices.refresh() == Room()
    bench.answer(CPU)
    assert free(bench.devices.room) == {"CPU": 20 * GIB}
    bench.n_free = 12 * GIB
    assert free(bench.devices.refresh()) == {"CPU": 12 * GIB}
    assert len(bench.rooms) == 2
    bench.n_free += STEP_BYTES - 1
    bench.devices.refresh()
    assert len(bench.rooms) == 2
    assert bench.n_asked == 0


def test_the_engine_is_asked_about_gpus_one_question_at_a_time(bench: Bench) -> None:
    bench.answer(GPU, CPU)
    bench.devices.refresh()
    bench.devices.refresh()
    assert bench.n_asked == 1  # a reply is being written
    assert free(bench.devices.room) == {"CUDA0": 7 * GIB, "CPU": 20 * GIB}
    bench.answer(structs.replace(GPU, free_bytes=GIB), CPU)
    assert free(bench.devices.room)["CUDA0"] == GIB
    bench.devices.refresh()
    assert bench.n_asked == 2
    bench.devices.show_pair(PairState("dead"))
    bench.devices.refresh()
    assert bench.n_asked == 2  # asking would start an engine
    bench.devices.show_pair(PairState("ready", LOADED))
    bench.devices.refresh()
    assert bench.n_asked == 3


def test_every_number_goes_with_who_was_loaded_when_it_was_told(bench: Bench) -> None:
    bench.answer(GPU, CPU)
    bench.devices.show_pair(PairState("loading", LOADED, has_begun=True))
    bench.n_free = 3 * GIB
    assert free(bench.devices.refresh())["CPU"] == 20 * GIB  # during a load no value is valid
    assert bench.n_asked == 0
    bench.held = LOADED
    bench.devices.show_pair(PairState("ready", LOADED))
    assert bench.devices.room.holders == (("CPU", LOADED),)  # the GPU's number is of before
    assert bench.n_asked == 1
    bench.answer(structs.replace(GPU, free_bytes=2 * GIB), CPU)
    assert bench.devices.room.holders == (("CUDA0", LOADED), ("CPU", LOADED))
    assert free(bench.rooms[-1]) == {"CUDA0": 2 * GIB, "CPU": 3 * GIB}


def test_it_looks_while_it_is_watched(bench: Bench, qtbot: QtBot) -> None:
    bench.answer(CPU)
    (again,) = bench.devices.findChildren(QTimer)
    again.setInterval(5)
    bench.devices.watch(is_watched=True)
    bench.n_free = 8 * GIB
    qtbot.waitUntil(lambda: free(bench.rooms[-1]) == {"CPU": 8 * GIB})
    bench.devices.watch(is_watched=False)
    assert not again.isActive()


class _Planner(FakeJudge):
    """Plans that take 2 GiB of the GPU, and remember what was promised to be given back."""

    def __init__(self) -> None:
        super().__init__()
        self.promised: list[Mapping[str, int] | None] = []

    def plan(
        self,
        target: ModelParams,
        drafting: Drafting,
        devices: Sequence[DeviceInfo],
        reclaimable: Mapping[str, int] | None = None,
        is_stopped: object = None,
    ) -> MemoryPlan:
        del is_stopped
        if self.plan_error is not None and target == LOADED.target:
            raise self.plan_error
        self.planned.append((target, drafting))
        self.promised.append(reclaimable)
        shares = {"CUDA0": Share(GIB, GIB), "CPU": Share(5 * GIB, GIB)}
        plans = [
            DevicePlan(each.name, "", shares[each.name], Share(), each.free_bytes, 0, 0)
            for each in devices
        ]
        return MemoryPlan(tuple(plans), target, drafting)


def test_what_the_loaded_pair_gives_back_is_planned_once() -> None:
    judge = _Planner()
    room = Room((GPU, CPU), (("CUDA0", LOADED), ("CPU", LOADED)))
    planner = RoomPlanner(judge)
    known = planner.n_free(room)
    assert known == room.n_free == GPU.free_bytes + CPU.free_bytes
    planner.plan(room, Pair(WANTED))
    planner.plan(replace(room, holders=(("CPU", LOADED),)), Pair(WANTED))
    both = {"CUDA0": 2 * GIB, "CPU": GIB}
    assert judge.promised == [None, both, {"CPU": GIB}]
    assert planner.n_free(room) == known + 3 * GIB
    broken = _Planner()
    broken.plan_error = cast("UserError", UserError("gone", "It is gone."))
    RoomPlanner(broken).plan(Room((GPU, CPU), (("CPU", LOADED),)), Pair(WANTED))
    assert broken.promised == [{"CPU": 0}], "what cannot be planned gives nothing back"


@pytest.mark.parametrize(
    ("usual", "wanted", "drafting", "found"),
    [
        (0, 0, 0, (4096, 4096)),
        (16_384, 0, 0, (16_384, 16_384)),
        (16_384, 2048, 0, (2048, 2048)),
        (16_384, 0, 1024, (16_384, 1024)),
        (100_000, 0, 0, (32_768, 32_768)),  # what both were trained for
    ],
)
def test_an_automatic_context_is_the_usual_one(
    usual: int, wanted: int, drafting: int, found: tuple[int, int]
) -> None:
    judge = FakeJudge()
    planner = RoomPlanner(judge)
    planner.usual_ctx = usual
    target = ModelParams("/m/7b.gguf", n_ctx=wanted)
    pair = Pair(target, DraftModel(ModelParams("/m/0.5b.gguf", n_ctx=drafting)))
    plan = planner.plan(Room((CPU,)), pair)
    (planned,) = judge.planned
    draft = params_of(planned[1])
    assert draft is not None
    assert (plan.target.n_ctx, draft.n_ctx or 4096) == found


def test_the_usual_context_gives_way_where_it_finds_no_room() -> None:
    judge = FakeJudge(free=7 * GIB)  # beside the weights there is room for some 29,000 tokens
    planner = RoomPlanner(judge)
    for usual, found in ((16_384, 16_384), (32_768, 4096)):
        planner.usual_ctx = usual
        plan = planner.plan(Room((CPU,)), Pair(ModelParams("/m/7b.gguf")))
        assert plan.fits
        assert plan.target.n_ctx == found
