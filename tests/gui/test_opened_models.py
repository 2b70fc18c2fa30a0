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
from paceline.catalog.memory.values import MemoryPlan, MemoryRemedy
from paceline.catalog.models import Models
from paceline.chat.pair import Pair
from paceline.engine.draft.heads import HEAD_KINDS, drafts_with, head_title
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
from paceline.settings import KeptServer, SavedPair, Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from gui.fake_client import FakeClient
    from paceline.gui.program import Program

pytestmark = pytest.mark.usefixtures("one_reader_for_all")
CPU = EngineDescribed("", "", (DeviceInfo("CPU", "CPU", "cpu", 8 * GIB, 8 * GIB),))
GPU = EngineDescribed("", "", (DeviceInfo("CUDA0", "A card", "gpu", 8 * GIB, 8 * GIB),))


@pytest.fixture
def models(paceline_home: Path, tmp_path: Path) -> Iterator[Models]:
    """The real thing, offline, with no models but ours."""
    made = Models(Paths.below(paceline_home), offline=True, environ={}, home=tmp_path / "home")
    yield made
    made.close()


@pytest.fixture
def program(make_program: Callable[..., Program], client: FakeClient, models: Models) -> Program:
    made = make_program(models=models)
    client.emit(CPU)
    client.finish_load()
    return made


def notice(program: Program, qtbot: QtBot, words: str) -> str:
    """Wait for a notice with these words, and return all of it."""
    errors = program.window.chat_pane.errors
    qtbot.waitUntil(lambda: not errors.isHidden() and words in errors.text.text(), timeout=20_000)
    return errors.text.text()


# ------------------------------------------------------------------------------------ the files


def test_a_draft_of_another_vocabulary_is_refused_before_anything_is_lost(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    program.models.open_draft(str(make_pairs.path("tiny-foreign")))
    notice(program, qtbot, "oken")  # at once: why
    notice(program, qtbot, "which is here already")  # after a search: what to take
    errors = program.window.chat_pane.errors
    assert errors.action.text() == "Take paceline-demo-draft-q8_0 instead"
    assert len(client.all(LoadPair)) == 1
    assert program.pair.state.status == "ready"
    errors.action.click()
    command = client.last(LoadPair)
    assert len(client.all(LoadPair)) == 2
    assert params_of(command.drafting) == ModelParams(str(make_pairs.DEMO_DRAFT))


def test_the_target_can_be_loaded_alone(
    program: Program,
    client: FakeClient,
    models: Models,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def no_remedy(*_: object) -> None:
        raise UserError("offline", "The Hub is not asked.")

    monkeypatch.setattr(models, "judge", no_remedy)
    other = str(make_pairs.path("tiny-foreign"))
    program.models.open_both([str(make_pairs.DEMO_TARGET), other])
    notice(program, qtbot, "oken")
    errors = program.window.chat_pane.errors
    assert errors.action.text() == "Load the model alone"
    errors.action.click()
    command = client.last(LoadPair)
    assert (command.target.path, params_of(command.drafting)) == (str(make_pairs.DEMO_TARGET), None)


def test_a_file_that_only_begins_like_a_model_is_refused(
    program: Program, client: FakeClient, tmp_path: Path, qtbot: QtBot
) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + bytes(200))
    program.models.open_target(str(broken))
    notice(program, qtbot, "broken")
    assert len(client.all(LoadPair)) == 1


@pytest.mark.grid(short=2)
@pytest.mark.parametrize("kind", [kind.id for kind in HEAD_KINDS])
def test_a_sidecar_that_is_dropped_is_named(
    program: Program, client: FakeClient, tmp_path: Path, qtbot: QtBot, kind: str
) -> None:
    file = tmp_path / "mtp-Wolf-7B.gguf"
    file.write_bytes(gguf_bytes(sidecar_model(kind)))
    head = drafts_with(kind)
    for is_draft in (False, True):
        program.window.drop_zones.dropped.emit([str(file)], is_draft)
        if is_draft and head:
            notice(program, qtbot, f"The {head_title(head)} is not the model's")
            continue
        text = notice(program, qtbot, "no model of its own. Drafter of Wolf-7B")
        assert ("together with its model" if head else "Choose a model") in text
        program.window.chat_pane.errors.hide()
    assert len(client.all(LoadPair)) == 1


def test_a_head_is_loaded_as_the_targets_drafter(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    target, head = (str(make_pairs.path(name)) for name in ("tiny-gemma4", "tiny-gemma4-assistant"))
    program.models.open_both([head, target])
    qtbot.waitUntil(lambda: file_of(client.last(LoadPair).drafting) == head, timeout=20_000)
    command = client.last(LoadPair)
    assert (command.target.path, command.drafting) == (target, TargetHead("mtp", head))


def test_a_good_file_is_loaded(
    program: Program, client: FakeClient, tmp_path: Path, qtbot: QtBot
) -> None:
    copy = tmp_path / "copy.gguf"
    shutil.copy(make_pairs.DEMO_TARGET, copy)
    program.models.open_target(str(copy))
    qtbot.waitUntil(lambda: client.last(LoadPair).target.path == str(copy), timeout=20_000)
    assert program.window.chat_pane.errors.isHidden()


# ------------------------------------------------------------------------------------ the memory


def test_automatic_layers_are_decided_before_the_load(
    program: Program,
    client: FakeClient,
    models: Models,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def plan(target: ModelParams, drafting: Drafting, *_: object, **__: object) -> MemoryPlan:
        assert isinstance(drafting, DraftModel)
        draft = DraftModel(replace(drafting.params, n_gpu_layers=3))
        return plan_of(replace(target, n_gpu_layers=17), draft)

    monkeypatch.setattr(models, "plan", plan)
    program.session.describe_engine()
    client.emit(GPU)
    program.window.actions_.demo_pair.trigger()
    qtbot.waitUntil(lambda: len(client.all(LoadPair)) == 2)
    command = client.last(LoadPair)
    draft = params_of(command.drafting)
    assert draft is not None
    assert (command.target.n_gpu_layers, draft.n_gpu_layers) == (17, 3)
    client.finish_load()
    assert program.pair.state.pair is not None
    assert program.pair.state.pair.target.n_gpu_layers == -1  # still automatic the next time
    assert program.saved_pairs.pair(0).target.n_gpu_layers == -1
    program.window.actions_.reload.trigger()
    assert client.last(LoadPair).target.n_gpu_layers == 17


def test_what_was_decided_for_other_servers_counts_no_more(
    program: Program,
    client: FakeClient,
    models: Models,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def plan(target: ModelParams, drafting: Drafting, *_: object, **__: object) -> MemoryPlan:
        return plan_of(replace(target, n_gpu_layers=17), drafting)

    monkeypatch.setattr(models, "plan", plan)
    client.emit(CPU)
    program.models.load(Pair(ModelParams("/m/a.gguf")))
    client.finish_load()
    n_loads = len(client.all(LoadPair))
    server = "127.0.0.1:50052"
    program.settings.set("rpc_servers", (KeptServer(server),))
    assert len(client.all(LoadPair)) == n_loads, "the devices have to be known first"
    assert client.last(DescribeEngine).servers == (server,)
    lent = DeviceInfo("RPC0", server, "rpc", 8 * GIB, 7 * GIB, server=server)
    client.emit(EngineDescribed("", "", (*CPU.devices, lent)))
    qtbot.waitUntil(lambda: len(client.all(LoadPair)) == n_loads + 1)
    command = client.last(LoadPair)
    assert (command.servers, command.target.n_gpu_layers) == ((server,), 17)
    lost = ServerProblem(server, "It is gone.", "Start it.")
    client.emit(LoadFailed("rpc-server", lost.message, lost.hint, lost=(lost,)))
    program.window.chat_pane.errors.action.click()
    assert len(client.all(LoadPair)) == n_loads + 1
    client.emit(CPU)
    command = client.last(LoadPair)
    assert (command.servers, command.target) == ((), ModelParams("/m/a.gguf"))


@pytest.mark.parametrize(("free", "n_ctx"), [(GIB, 768), (8 * GIB, 0)])
def test_an_automatic_context_is_decided_where_memory_is_short(
    program: Program,
    client: FakeClient,
    models: Models,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
    free: int,
    n_ctx: int,
) -> None:
    def plan(target: ModelParams, drafting: Drafting, *_: object, **__: object) -> MemoryPlan:
        return plan_of(replace(target, n_ctx=768), drafting)

    monkeypatch.setattr(models, "plan", plan)
    monkeypatch.setattr(program.devices, "_main_memory", lambda: free)
    program.session.describe_engine()
    client.emit(CPU)
    program.window.actions_.demo_pair.trigger()
    qtbot.waitUntil(lambda: len(client.all(LoadPair)) == 2)
    assert client.last(LoadPair).target.n_ctx == n_ctx


def test_a_shorter_context_than_usual_is_told(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    program.window.actions_.reload.trigger()
    command = client.last(LoadPair)
    small = structs.replace(model_info(command.target.path), n_ctx=768, n_ctx_train=2048)
    client.emit(PairLoaded(small, None, 0.1))
    assert "a context of 768 tokens only" in notice(program, qtbot, "context")


def test_where_there_is_no_plan_the_engine_decides(
    program: Program,
    client: FakeClient,
    models: Models,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def plan(*_: object, **__: object) -> MemoryPlan:
        raise UserError("odd", "It cannot be told.")

    monkeypatch.setattr(models, "plan", plan)
    program.session.describe_engine()
    client.emit(GPU)
    program.window.actions_.demo_pair.trigger()
    qtbot.waitUntil(lambda: len(client.all(LoadPair)) == 2)
    assert client.last(LoadPair).target.n_gpu_layers == -1


def test_numbers_of_the_users_own_are_not_decided(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    del qtbot
    program.session.describe_engine()
    client.emit(GPU)
    pair = program.pair.state.pair
    assert pair is not None
    assert pair.draft is not None
    drafting = DraftModel(replace(pair.draft, n_gpu_layers=0))
    target = replace(pair.target, n_gpu_layers=5)
    program.models.load(replace(pair, target=target, drafting=drafting))
    assert client.last(LoadPair).target.n_gpu_layers == 5


def test_the_last_pair_waits_until_the_devices_are_known(
    make_program: Callable[..., Program],
    client: FakeClient,
    models: Models,
    tmp_path: Path,
    qtbot: QtBot,
) -> None:
    copy = tmp_path / "copy.gguf"
    shutil.copy(make_pairs.DEMO_TARGET, copy)
    program = make_program(Settings(pairs=(SavedPair(ModelParams(str(copy))),)), models=models)
    qtbot.waitUntil(lambda: program.models._waiting is not None)
    assert not client.all(LoadPair)
    program.session.describe_engine()
    client.emit(CPU)
    assert client.last(LoadPair).target.path == str(copy)


def test_a_pair_that_finds_no_room_is_helped_by_its_plan(
    program: Program,
    client: FakeClient,
    models: Models,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def plan(target: ModelParams, drafting: Drafting, *_: object, **__: object) -> MemoryPlan:
        assert isinstance(drafting, DraftModel)
        way = DraftModel(replace(drafting.params, kv_type_k="q8_0"))
        remedy = MemoryRemedy("draft-cache", "Keep the draft's cache in q8_0.", target, way)
        return replace(plan_of(target, drafting, free=GIB), remedies=(remedy,))

    monkeypatch.setattr(models, "plan", plan)
    program.session.describe_engine()
    client.emit(CPU)
    program.window.actions_.reload.trigger()
    client.emit(LoadFailed("does-not-fit", "It does not fit.", "Choose less."))
    text = notice(program, qtbot, "q8_0")
    assert text.startswith("It does not fit.")
    errors = program.window.chat_pane.errors
    assert errors.action.text() == "Quantise the draft's cache"
    errors.action.click()
    draft = params_of(client.last(LoadPair).drafting)
    assert draft is not None
    assert draft.kv_type_k == "q8_0"


def test_without_help_from_the_plan_the_old_advice_stands(
    program: Program,
    client: FakeClient,
    models: Models,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(models, "plan", lambda target, draft, *_, **__: plan_of(target, draft))
    program.session.describe_engine()
    client.emit(CPU)
    program.window.actions_.reload.trigger()
    client.emit(LoadFailed("does-not-fit", "It does not fit.", "Choose less."))
    notice(program, qtbot, "Choose less.")
    assert program.window.chat_pane.errors.action.text() == "Load again"
