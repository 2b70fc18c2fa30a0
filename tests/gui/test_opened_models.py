"""Opened and dropped files, judged before the loaded pair is given up; memory before and after."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from msgspec import structs

import make_pairs
from catalog.headers import gguf_bytes, sidecar_model
from gui.fake_client import model_info
from gui.fake_judge import GIB, plan_of
from gui.loading_world import USUAL, LoadingWorld, loading_world, pair_of
from paceline.catalog.memory.values import MemoryPlan, MemoryRemedy
from paceline.catalog.models import Models
from paceline.chat.pair import Pair
from paceline.engine.draft.heads import HEAD_KINDS, drafts_with
from paceline.errors import UserError
from paceline.messages import (
    DescribeEngine,
    DeviceInfo,
    EngineDescribed,
    LoadFailed,
    LoadPair,
    PairLoaded,
    ServerProblem,
)
from paceline.params import Drafting, DraftModel, ModelParams, TargetHead, file_of, params_of
from paceline.paths import Paths
from paceline.settings import KeptServer, SavedPair

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from gui.fake_client import FakeClient

    Plan = Callable[..., MemoryPlan]

pytestmark = pytest.mark.usefixtures("one_reader_for_all")
CPU = EngineDescribed("", "", (DeviceInfo("CPU", "CPU", "cpu", 8 * GIB, 8 * GIB),))
GPU = EngineDescribed("", "", (DeviceInfo("CUDA0", "A card", "gpu", 8 * GIB, 8 * GIB),))
TARGET, DRAFT = str(make_pairs.DEMO_TARGET), str(make_pairs.DEMO_DRAFT)
FOREIGN = make_pairs.path("tiny-foreign")


@pytest.fixture
def models(paceline_home: Path, tmp_path: Path) -> Iterator[Models]:
    """The real thing, offline, with no models but ours."""
    made = Models(Paths.below(paceline_home), offline=True, environ={}, home=tmp_path / "home")
    yield made
    made.close()


@pytest.fixture
def world(
    qtbot: QtBot, paceline_home: Path, client: FakeClient, models: Models
) -> Iterator[LoadingWorld]:
    del qtbot
    worlds = loading_world(paceline_home, client, models)
    made = next(worlds)
    client.emit(CPU)
    yield made
    next(worlds, None)


def told(world: LoadingWorld, qtbot: QtBot, words: str) -> str:
    """Wait for a notice with these words, and return all of it."""
    qtbot.waitUntil(lambda: words in world.notice, timeout=20_000)
    return world.notice


def planned(
    monkeypatch: pytest.MonkeyPatch, models: Models, plan: Plan = plan_of, **target: int
) -> None:
    """Let the models plan as the tests' judge, or like this, with these values of the target."""
    monkeypatch.setattr(
        models, "plan", lambda wanted, drafting, *_, **__: plan(replace(wanted, **target), drafting)
    )


# ------------------------------------------------------------------------------------ the files


def test_a_draft_of_another_vocabulary_is_refused_before_anything_is_lost(
    world: LoadingWorld, client: FakeClient, qtbot: QtBot
) -> None:
    world.models.open_draft(str(FOREIGN))
    told(world, qtbot, "oken")  # at once: why
    told(world, qtbot, "which is here already")  # after a search: what to take
    assert len(world.loads) == 1
    assert world.pair.state.status == "ready"
    world.bar.action.click()
    assert len(world.loads) == 2
    assert params_of(client.last(LoadPair).drafting) == ModelParams(DRAFT)


def test_the_target_can_be_loaded_alone(
    world: LoadingWorld, models: Models, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_remedy(*_: object) -> None:
        raise UserError("offline", "The Hub is not asked.")

    monkeypatch.setattr(models, "judge", no_remedy)
    world.models.open_both([TARGET, str(FOREIGN)])
    told(world, qtbot, "oken")
    world.bar.action.click()
    assert world.loads[-1] == (make_pairs.DEMO_TARGET.stem, None)


def test_a_file_that_only_begins_like_a_model_is_refused_and_a_good_one_is_loaded(
    world: LoadingWorld, client: FakeClient, tmp_path: Path, qtbot: QtBot
) -> None:
    broken, copy = tmp_path / "broken.gguf", tmp_path / "copy.gguf"
    broken.write_bytes(b"GGUF" + bytes(200))
    world.models.open_target(str(broken))
    told(world, qtbot, "broken")
    assert len(world.loads) == 1
    shutil.copy(TARGET, copy)
    world.models.open_target(str(copy))
    qtbot.waitUntil(lambda: client.last(LoadPair).target.path == str(copy), timeout=20_000)
    assert not world.notice


@pytest.mark.grid(short=2)
@pytest.mark.parametrize("kind", [kind.id for kind in HEAD_KINDS])
def test_a_sidecar_that_is_dropped_is_named(
    world: LoadingWorld, tmp_path: Path, qtbot: QtBot, kind: str
) -> None:
    file = tmp_path / "mtp-Wolf-7B.gguf"
    file.write_bytes(gguf_bytes(sidecar_model(kind)))
    world.zones.dropped.emit([str(file)], False)
    told(world, qtbot, "Wolf-7B")
    world.bar.dismiss()
    world.zones.dropped.emit([str(file)], True)
    told(world, qtbot, "model's" if drafts_with(kind) else "Wolf-7B")
    assert len(world.loads) == 1


def test_a_head_is_loaded_as_the_targets_drafter(
    world: LoadingWorld, client: FakeClient, qtbot: QtBot
) -> None:
    target, head = (str(make_pairs.path(name)) for name in ("tiny-gemma4", "tiny-gemma4-assistant"))
    world.models.open_both([head, target])
    qtbot.waitUntil(lambda: file_of(client.last(LoadPair).drafting) == head, timeout=20_000)
    command = client.last(LoadPair)
    assert (command.target.path, command.drafting) == (target, TargetHead("mtp", head))


# ------------------------------------------------------------------------------------ the memory


def test_automatic_layers_are_decided_before_the_load_and_stay_automatic(
    world: LoadingWorld,
    client: FakeClient,
    models: Models,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def plan(target: ModelParams, drafting: Drafting) -> MemoryPlan:
        assert isinstance(drafting, DraftModel)
        return plan_of(target, DraftModel(replace(drafting.params, n_gpu_layers=3)))

    planned(monkeypatch, models, plan, n_gpu_layers=17)
    world.devices.ask()
    client.emit(GPU)
    world.models.load_demo_pair()
    qtbot.waitUntil(lambda: len(world.loads) == 2)
    command = client.last(LoadPair)
    draft = params_of(command.drafting)
    assert draft is not None
    assert (command.target.n_gpu_layers, draft.n_gpu_layers) == (17, 3)
    client.finish_load()
    assert pair_of(world).target.n_gpu_layers == -1
    assert world.saved_pairs.pair(0).target.n_gpu_layers == -1
    world.models.reload()
    assert client.last(LoadPair).target.n_gpu_layers == 17
    client.finish_load()
    pair = pair_of(world)
    assert pair.draft is not None
    mine = replace(pair.target, n_gpu_layers=5), DraftModel(replace(pair.draft, n_gpu_layers=0))
    world.models.load(replace(pair, target=mine[0], drafting=mine[1]))
    assert client.last(LoadPair).target.n_gpu_layers == 5, "the user's own numbers are not decided"


def test_what_was_decided_for_other_servers_counts_no_more(
    world: LoadingWorld,
    client: FakeClient,
    models: Models,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    planned(monkeypatch, models, n_gpu_layers=17)
    world.models.load(Pair(ModelParams("/m/a.gguf")))
    client.finish_load()
    n_loads, server = len(world.loads), "127.0.0.1:50052"
    world.settings.set("rpc_servers", (KeptServer(server),))
    assert len(world.loads) == n_loads, "the devices have to be known first"
    assert client.last(DescribeEngine).servers == (server,)
    lent = DeviceInfo("RPC0", server, "rpc", 8 * GIB, 7 * GIB, server=server)
    client.emit(EngineDescribed("", "", (*CPU.devices, lent)))
    qtbot.waitUntil(lambda: len(world.loads) == n_loads + 1)
    command = client.last(LoadPair)
    assert (command.servers, command.target.n_gpu_layers) == ((server,), 17)
    lost = ServerProblem(server, "It is gone.", "Start it.")
    client.emit(LoadFailed("rpc-server", lost.message, lost.hint, lost=(lost,)))
    world.bar.action.click()
    assert len(world.loads) == n_loads + 1
    client.emit(CPU)
    command = client.last(LoadPair)
    assert (command.servers, command.target) == ((), ModelParams("/m/a.gguf"))


@pytest.mark.parametrize(("free", "n_ctx"), [(GIB, 768), (8 * GIB, 0)])
def test_an_automatic_context_is_decided_where_memory_is_short(
    world: LoadingWorld,
    client: FakeClient,
    models: Models,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
    free: int,
    n_ctx: int,
) -> None:
    planned(monkeypatch, models, n_ctx=768)
    world.n_free = free
    world.devices.ask()
    client.emit(CPU)
    world.models.load_demo_pair()
    qtbot.waitUntil(lambda: len(world.loads) == 2)
    command = client.last(LoadPair)
    assert command.target.n_ctx == n_ctx
    small = structs.replace(model_info(command.target.path), n_ctx=768, n_ctx_train=2048)
    client.emit(PairLoaded(small, None, 0.1))
    assert "768" in world.notice, "shorter than usual"


def test_where_there_is_no_plan_the_engine_decides(
    world: LoadingWorld,
    client: FakeClient,
    models: Models,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def plan(*_: object) -> MemoryPlan:
        raise UserError("odd", "It cannot be told.")

    planned(monkeypatch, models, plan)
    world.devices.ask()
    client.emit(GPU)
    world.models.load_demo_pair()
    qtbot.waitUntil(lambda: len(world.loads) == 2)
    assert client.last(LoadPair).target.n_gpu_layers == -1


def test_the_last_pair_waits_until_the_devices_are_known(
    paceline_home: Path, client: FakeClient, models: Models, tmp_path: Path, qtbot: QtBot
) -> None:
    copy = tmp_path / "copy.gguf"
    shutil.copy(TARGET, copy)
    settings = replace(USUAL, pairs=(SavedPair(ModelParams(str(copy))),))
    world = LoadingWorld(paceline_home, client, settings=settings, models=models)
    world.models.start()
    qtbot.waitUntil(lambda: world.devices.is_asked)
    assert not world.loads
    client.emit(CPU)
    assert client.last(LoadPair).target.path == str(copy)
    world.close()


@pytest.mark.parametrize("has_remedy", [True, False])
def test_a_pair_that_finds_no_room_is_helped_by_its_plan(
    world: LoadingWorld,
    client: FakeClient,
    models: Models,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
    *,
    has_remedy: bool,
) -> None:
    def plan(target: ModelParams, drafting: Drafting) -> MemoryPlan:
        assert isinstance(drafting, DraftModel)
        way = DraftModel(replace(drafting.params, kv_type_k="q8_0"))
        remedy = MemoryRemedy("draft-cache", "Keep the draft's cache in q8_0.", target, way)
        return replace(plan_of(target, drafting, free=GIB), remedies=(remedy,))

    planned(monkeypatch, models, plan if has_remedy else plan_of)
    world.devices.ask()
    client.emit(CPU)
    world.models.reload()
    client.emit(LoadFailed("does-not-fit", "It does not fit.", "Choose less."))
    assert told(world, qtbot, "q8_0" if has_remedy else "Choose less.").startswith("It does not")
    world.bar.action.click()
    draft = params_of(client.last(LoadPair).drafting)
    assert draft is not None
    assert (draft.kv_type_k == "q8_0") == has_remedy
