"""Several devices in the picker: which ones a model takes, and the layers that each one has."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt

from gui.fake_client import model_info
from gui.fake_judge import FakeJudge, plan_of
from paceline.catalog.memory.values import DevicePlan, Share
from paceline.chat.pair import PairState
from paceline.figures import DeviceMemory, ServerProblem
from paceline.gui.kit.translation import local_size
from paceline.gui.models.candidates import Candidate, Picks
from paceline.gui.models.picker.device_field import DeviceField
from paceline.gui.models.picker.pair_judgement import PairJudgement
from paceline.gui.models.picker.pair_pane import PairPane
from paceline.gui.state.current_devices import RoomPlanner
from paceline.messages import DeviceInfo, EngineDescribed
from paceline.params import DraftModel, ModelParams

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytestqt.qtbot import QtBot

    from paceline.catalog.memory.values import MemoryPlan
    from paceline.chat.pair import Pair
    from paceline.params import Drafting

GIB = 2**30
FAR = "192.168.1.5:50052"
CPU = DeviceInfo("CPU", "A processor", "cpu", 32 * GIB, 24 * GIB)
CARD = DeviceInfo("CUDA0", "A card", "gpu", 8 * GIB, 7 * GIB)
RPC = tuple(DeviceInfo(f"RPC{i}", FAR, "rpc", 16 * GIB, 12 * GIB, server=FAR) for i in range(2))
TARGET = Candidate("/m/7b.gguf", "7B", n_bytes=4_700_000_000)
DRAFT = Candidate("/m/half.gguf", "0.5B", n_bytes=400_000_000)


def engine(*devices: DeviceInfo, lost: tuple[ServerProblem, ...] = ()) -> EngineDescribed:
    return EngineDescribed("", "", (CPU, *devices), lost)


@pytest.fixture
def judge() -> FakeJudge:
    return FakeJudge()


@pytest.fixture
def pane(judge: FakeJudge, qtbot: QtBot) -> Iterator[PairPane]:
    judgement = PairJudgement(judge, RoomPlanner(judge))
    made = PairPane(judgement)
    qtbot.addWidget(made)
    made.form.show_engine(engine(CARD, *RPC))
    made.show_picks(Picks(target=TARGET, draft=DRAFT))
    qtbot.waitUntil(lambda: judgement.judgement.plan is not None)
    yield made
    judge.may_answer.set()
    judgement.close()


def wanted(pane: PairPane) -> Pair:
    pair = pane.pair()
    assert pair is not None
    return pair


def tick(field: DeviceField, *names: str) -> None:
    for action in field.menu.actions():
        if action.data() in names:
            action.trigger()


def ticked(field: DeviceField) -> list[str]:
    return [each.data() for each in field.menu.actions() if each.isChecked()]


def test_several_devices_are_chosen_in_their_order(pane: PairPane) -> None:
    field = pane.form.target.fields["device"]
    words = [action.text() for action in field.menu.actions()]
    assert words[0] == "auto"
    assert words[2] == "A card (CUDA0): 7.5 of 8.6 GB free"
    assert words[4] == f"{FAR} (RPC1): 12.9 of 17.2 GB free"
    assert ticked(field) == [""]
    tick(field, "RPC1")
    tick(field, "CUDA0")
    assert wanted(pane).target.device == "CUDA0,RPC1"
    assert field.shown.currentText() == "CUDA0, RPC1"
    assert ticked(field) == ["CUDA0", "RPC1"]
    tick(field, "CUDA0")
    assert wanted(pane).target.device == "RPC1"
    tick(field, "CPU")
    assert (wanted(pane).target.device, ticked(field)) == ("CPU", ["CPU"])
    tick(field, "RPC0")
    assert (wanted(pane).target.device, ticked(field)) == ("RPC0", ["RPC0"])
    tick(field, "RPC0")
    assert (wanted(pane).target.device, ticked(field)) == ("", [""])
    assert wanted(pane).draft == ModelParams(DRAFT.reference), "it has a field of its own"


def test_the_menu_stays_open_while_devices_are_ticked(pane: PairPane, qtbot: QtBot) -> None:
    field = pane.form.target.fields["device"]
    pane.form.advanced.toggle.setChecked(True)
    pane.show()
    qtbot.keyClick(field.shown, Qt.Key.Key_Space)
    menu = field.menu
    assert menu.isVisible()
    place = menu.actionGeometry(menu.actions()[3]).center()
    qtbot.mouseClick(menu, Qt.MouseButton.LeftButton, pos=place)
    assert menu.isVisible()
    menu.setActiveAction(menu.actions()[4])
    qtbot.keyClick(menu, Qt.Key.Key_Space)
    assert menu.isVisible()
    assert field.value == "RPC0,RPC1"
    qtbot.keyClick(menu, Qt.Key.Key_Escape)
    assert not menu.isVisible()


def test_a_device_that_is_not_there_is_kept_and_reported(pane: PairPane) -> None:
    pane.show_pair(replace(wanted(pane), target=ModelParams(TARGET.reference, device="RPC7")))
    assert wanted(pane).target.device == "RPC7"
    assert "no device “RPC7”" in pane.obstacle()
    pane.form.show_engine(engine())
    assert "no device “RPC7”" in pane.obstacle()
    field = pane.form.target.fields["device"]
    assert field.isEnabled(), "or it could not be put away"
    tick(field, "")
    assert not pane.obstacle()
    assert not field.isEnabled()


def test_nothing_is_reported_of_devices_before_the_engine_has_answered(
    pane: PairPane, qtbot: QtBot
) -> None:
    early = PairPane(pane.judgement)
    qtbot.addWidget(early)
    early.show_pair(replace(wanted(pane), target=ModelParams(TARGET.reference, device="RPC0")))
    assert not early.form.problem
    early.form.show_engine(engine())
    assert "no device “RPC0”" in early.form.problem


def test_what_splits_is_on_while_several_devices_are_used(pane: PairPane) -> None:
    form = pane.form
    target, draft = form.target.fields, form.draft.fields
    for name in ("split_mode", "tensor_split", "main_gpu"):
        assert target[name].isEnabled()
    assert not form.reason.text()
    tick(draft["device"], "CUDA0")
    assert not draft["tensor_split"].isEnabled()
    assert target["tensor_split"].isEnabled()
    assert not form.reason.text()
    tick(target["device"], "RPC0")
    assert not target["tensor_split"].isEnabled()
    assert "on one device" in form.reason.text()
    tick(target["device"], "RPC1")
    target["tensor_split"].setText("3, 1")
    assert not pane.obstacle()
    target["tensor_split"].setText("3, 1, 1")
    assert pane.obstacle().startswith("3 shares are more than the devices")


def test_servers_that_are_lost_are_reported_in_a_line(pane: PairPane) -> None:
    assert pane.form.lost.isHidden()
    problem = ServerProblem(FAR, f"No RPC server listens at {FAR}.", "Start it there.")
    pane.form.show_engine(engine(CARD, lost=(problem,)))
    assert pane.form.lost.text().replace("\u200b", "") == problem.message
    assert not pane.obstacle(), "other devices can be used"
    pane.form.show_engine(engine(CARD, *RPC))
    assert pane.form.lost.isHidden()


def test_layers_are_shown_where_they_lie_and_follow_the_number(
    pane: PairPane, judge: FakeJudge, qtbot: QtBot
) -> None:
    target, draft = pane.form.layers
    assert target.isHidden(), "the processor alone has them all"

    def shared(params: ModelParams, drafting: Drafting, *, free: int) -> MemoryPlan:
        n = params.n_gpu_layers if params.n_gpu_layers >= 0 else 33
        plan = plan_of(params, drafting, free=free)
        main = replace(plan.devices[0], n_layers=33 - n, n_draft_layers=25)
        card = DevicePlan("CUDA0", "A card", Share(), Share(), free, free, 0, n_layers=n // 3)
        far = DevicePlan("RPC0", FAR, Share(), Share(), free, free, 0, n_layers=n - n // 3)
        return replace(plan, devices=(card, far, main))

    judge.make_plan = shared
    pane.form.target.fields["n_gpu_layers"].setValue(15)
    qtbot.waitUntil(lambda: target.words.text() == "Model: layers on CUDA0 5 · RPC0 10 · CPU 18")
    assert draft.words.text() == "Draft: layers on CPU 25"
    pane.form.target.fields["n_gpu_layers"].setValue(33)
    qtbot.waitUntil(lambda: target.words.text() == "Model: layers on CUDA0 11 · RPC0 22")
    titles = [bar.title.text() for bar in pane.memory.bars]
    assert titles == ["A card (CUDA0)", f"{FAR} (RPC0)", "Memory"]


def on_devices(*devices: DevicePlan) -> Callable[..., MemoryPlan]:
    """A plan of these devices, and the memory of the processor after them."""

    def plan(params: ModelParams, drafting: Drafting, *, free: int) -> MemoryPlan:
        made = plan_of(params, drafting, free=free)
        return replace(made, devices=(*devices, *made.devices))

    return plan


def test_memory_that_is_shared_is_shown_once(
    pane: PairPane, judge: FakeJudge, qtbot: QtBot
) -> None:
    share = Share(3 * GIB, GIB, GIB)
    near = DevicePlan("RPC0", "127.0.0.1:1", share, Share(), 12 * GIB, 32 * GIB, 0, shares="CPU")
    far = DevicePlan("RPC1", FAR, share, Share(), 12 * GIB, 16 * GIB, 0)
    twin = replace(far, device="RPC2", shares="RPC1", target=Share(GIB))
    judge.make_plan = on_devices(near, far, twin)
    pane.form.target.fields["n_ctx"].setValue(2048)
    bars = pane.memory.bars
    qtbot.waitUntil(lambda: len(bars) > 1)
    shown = [bar for bar in bars if not bar.isHidden()]
    assert [bar.title.text() for bar in shown] == [f"{FAR} (RPC1), with RPC2", "Memory, with RPC0"]
    plan = pane.judgement.judgement.plan
    assert plan is not None
    main = plan.devices[-1]
    whole = main.with_guests([near])
    assert whole.left == main.left, "it was counted before"
    assert whole.target.weights == main.target.weights + near.target.weights
    judge.make_plan = on_devices(replace(near, free=GIB))
    pane.form.target.fields["n_ctx"].setValue(1024)
    qtbot.waitUntil(lambda: bars[0].title.text() == "127.0.0.1:1 (RPC0)")
    assert not bars[0].excess.isHidden(), "its server lends less than that"


def test_what_was_found_stands_beside_what_was_expected(pane: PairPane, qtbot: QtBot) -> None:
    (bar,) = pane.memory.bars
    plan = pane.judgement.judgement.plan
    assert plan is not None
    taken = DeviceMemory("CPU", plan.devices[0].buffers - 2 * GIB, GIB, 0)
    info = model_info(TARGET.reference)
    pair = wanted(pane)
    pane.show_loaded(PairState("loading", pair))
    assert bar.found.isHidden()
    pane.show_loaded(PairState("ready", pair, info, memory=(taken,)))
    assert not bar.found.isHidden()
    expected = local_size(plan.devices[0].buffers)
    assert bar.found.text().endswith(f"found, {expected} expected")
    pane.form.target.fields["n_ctx"].setValue(1024)
    qtbot.waitUntil(bar.found.isHidden)
    pane.show_loaded(PairState("ready", wanted(pane), info))
    assert bar.found.isHidden(), "no figures were told"


def test_what_is_chosen_comes_back_with_the_pair(pane: PairPane) -> None:
    draft = DraftModel(ModelParams(DRAFT.reference, device="RPC1"))
    target = ModelParams(TARGET.reference, device="RPC0,CUDA0", tensor_split=(2.0, 1.0))
    pair = replace(wanted(pane), target=target, drafting=draft)
    pane.show_pair(pair)
    assert wanted(pane) == pair, "in the order in which they were named"
