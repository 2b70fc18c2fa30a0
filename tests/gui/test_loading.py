"""Loading: the exact switch, the lookup cache, and where the parts of a model lie."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest
from PySide6.QtCore import Qt

from gui.fake_client import described
from paceline.messages import (
    DeviceInfo,
    EngineDescribed,
    LoadFailed,
    LoadPair,
    LoadProgressed,
    Sameness,
    SamenessChanged,
)
from paceline.params import params_of
from paceline.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot

    from gui.fake_client import FakeClient
    from paceline.gui.program import Program

pytestmark = pytest.mark.usefixtures("plain_windows")

Stage = Literal["target", "draft"]


def gpus(n: int) -> EngineDescribed:
    devices = tuple(DeviceInfo(f"CUDA{i}", f"Card {i}", "gpu", 10, 10) for i in range(n))
    return EngineDescribed("", "", bool(n), devices)


def test_exact_and_the_lookup_cache_take_effect_with_reload(
    program: Program, client: FakeClient
) -> None:
    loading = program.window.panel.loading
    assert not client.last(LoadPair).exact
    loading.exact.click()
    loading.lookup_cache.take("/texts/mine.bin")
    assert loading.reload_button.text() == "Reload to apply"
    loading.reload_button.click()
    command = client.last(LoadPair)
    assert (command.exact, command.lookup_cache) == (True, "/texts/mine.bin")
    client.finish_load()
    assert loading.exact.isChecked()
    assert loading.lookup_cache.name.text() == "mine.bin"
    assert loading.reload_button.text() == "Reload models"
    loading.lookup_cache.clear.click()
    loading.reload_button.click()
    assert client.last(LoadPair).lookup_cache == ""
    assert client.last(LoadPair).exact


def test_what_idle_time_finds_out_is_shown_without_a_second_warning(
    program: Program, client: FakeClient
) -> None:
    window, loading = program.window, program.window.panel.loading
    assert loading.sameness.isHidden()
    loading.reload_button.click()
    client.finish_load("A note.")
    told: list[object] = []
    program.pair.changed.connect(told.append)
    client.emit(SamenessChanged(Sameness(None, 0, None, False, "Not known yet.")))
    client.emit(SamenessChanged(Sameness(False, 36, 0.5, False, "Rows differ.")))
    assert not told, "the pair is the same, and its notes were read"
    assert not loading.sameness.isHidden()
    assert loading.sameness.text() == "Rows differ."
    assert window.model_bar.toolTip() == "A note.\nRows differ."
    loading.reload_button.click()
    assert loading.sameness.isHidden()


def test_another_target_keeps_exact_but_not_the_old_vocabularys_cache(
    program: Program, client: FakeClient, tmp_path: Path, qtbot: QtBot
) -> None:
    loading = program.window.panel.loading
    loading.exact.click()
    loading.lookup_cache.take("/texts/mine.bin")
    loading.reload_button.click()
    client.finish_load()
    other = tmp_path / "other.gguf"
    other.write_bytes(b"GGUF" + bytes(60))
    n_loads = len(client.all(LoadPair))
    program.models.open_target(str(other))
    qtbot.waitUntil(lambda: len(client.all(LoadPair)) > n_loads)
    command = client.last(LoadPair)
    assert (command.target.path, command.exact, command.lookup_cache) == (str(other), True, "")


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_a_file_is_chosen_without_blocking(program: Program) -> None:
    field = program.window.panel.loading.lookup_cache
    field.choose.click()
    assert field.files.dialog is not None
    field.files.dialog.filesSelected.emit(["/texts/mine.bin"])
    field.files.dialog.reject()
    assert field.files.dialog is None
    assert field.path == "/texts/mine.bin"


@pytest.mark.parametrize(
    ("n_gpus", "reason"), [(0, "Without a GPU"), (1, "There is one GPU"), (2, "")]
)
def test_what_has_no_use_here_is_off_and_says_why(
    program: Program, client: FakeClient, n_gpus: int, reason: str
) -> None:
    client.emit(gpus(n_gpus) if n_gpus else described())
    loading = program.window.panel.loading
    assert reason in loading.advanced_reason.text()
    assert bool(loading.advanced_reason.text()) == bool(reason)
    assert loading.reason.isHidden() == (n_gpus > 0)
    for column in (loading.target, loading.draft):
        assert column.fields["extra_bufts"].isEnabled()
        for name in ("n_gpu_layers", "device", "n_cpu_moe"):
            assert column.fields[name].isEnabled() == (n_gpus > 0)
        for name in ("split_mode", "tensor_split", "main_gpu"):
            assert column.fields[name].isEnabled() == (n_gpus > 1)


# --------------------------------------------------------------------------- too little memory


def fail(
    client: FakeClient, *, code: str = "does-not-fit", stage: Stage = "target", fraction: float = 1
) -> None:
    client.emit(LoadProgressed(stage, fraction))
    client.emit(LoadFailed(code, "There is no room.", "Choose a smaller context."))


def load_with(program: Program, client: FakeClient, n_target: int, n_draft: int) -> None:
    loading = program.window.panel.loading
    loading.target.fields["n_ctx"].setValue(n_target)
    loading.draft.fields["n_ctx"].setValue(n_draft)
    loading.reload_button.click()
    assert client.last(LoadPair).target.n_ctx == n_target


def contexts(client: FakeClient) -> tuple[int, int]:
    command = client.last(LoadPair)
    draft = params_of(command.drafting)
    assert draft is not None
    return command.target.n_ctx, draft.n_ctx


@pytest.mark.grid(short=3)
@pytest.mark.parametrize(
    ("code", "stage", "fraction", "asked", "offered"),
    [
        ("does-not-fit", "target", 1.0, (3000, 0), (1500, 1500)),
        ("out-of-memory", "target", 1.0, (3000, 1000), (1500, 1000)),
        ("does-not-fit", "draft", 0.0, (0, 0), (2048, 2048)),
        ("out-of-memory", "draft", 0.5, (600, 100), (512, 100)),
        ("does-not-fit", "draft", 1.0, (513, 4096), (512, 512)),
    ],
)
def test_what_found_no_room_can_be_loaded_with_half_the_context(
    program: Program, client: FakeClient, qtbot: QtBot, code: str, stage: Stage, fraction: float,
    asked: tuple[int, int], offered: tuple[int, int],
) -> None:  # fmt: skip
    load_with(program, client, 100, 100)
    client.finish_load()
    load_with(program, client, *asked)
    fail(client, code=code, stage=stage, fraction=fraction)
    assert contexts(client) == (100, 100)  # what worked before comes back at once
    client.finish_load()
    errors = program.window.chat_pane.errors
    assert errors.action.text() == f"Load with {offered[0]:,} tokens"
    assert "models from before" in errors.text.text()
    qtbot.mouseClick(errors.action, Qt.MouseButton.LeftButton)
    assert contexts(client) == offered


def test_the_context_that_the_engine_proposes_is_the_one_that_is_offered(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    load_with(program, client, 100_000, 0)
    client.emit(LoadProgressed("target", 1.0))
    client.emit(LoadFailed("does-not-fit", "No room.", "Less.", smaller_ctx=7168))
    client.finish_load()
    errors = program.window.chat_pane.errors
    assert errors.action.text() == "Load with 7,168 tokens"
    qtbot.mouseClick(errors.action, Qt.MouseButton.LeftButton)
    assert contexts(client) == (7168, 0)


def test_it_can_be_halved_again_but_not_below_512(
    make_program: Callable[..., Program], client: FakeClient, qtbot: QtBot
) -> None:
    program = make_program()
    errors = program.window.chat_pane.errors
    offered = []
    for _ in range(3):
        fail(client)
        offered.append(errors.action.text())
        qtbot.mouseClick(errors.action, Qt.MouseButton.LeftButton)
    assert offered == [f"Load with {n:,} tokens" for n in (2048, 1024, 512)]
    fail(client)
    assert errors.action.text() == "Load again"


@pytest.mark.parametrize(
    ("code", "fraction"), [("does-not-fit", 0.5), ("out-of-memory", 0.0), ("cannot-load", 1.0)]
)
def test_a_smaller_context_is_not_offered_where_it_cannot_help(
    make_program: Callable[..., Program], client: FakeClient, code: str, fraction: float
) -> None:
    program = make_program()
    fail(client, code=code, fraction=fraction)
    assert program.window.chat_pane.errors.action.text() == "Load again"


def test_the_engines_place_changes_with_the_reload_and_is_saved(
    program: Program, client: FakeClient, paceline_home: Path
) -> None:
    file = paceline_home / "config" / "settings.json"
    loading = program.window.panel.loading
    wished: list[str] = []
    loading.host_requested.connect(wished.append)
    loading.own_process.click()
    assert loading.reload_button.text() == "Reload to apply"
    loading.own_process.click()
    assert loading.reload_button.text() == "Reload models"
    loading.own_process.click()
    n_loads = len(client.all(LoadPair))
    assert wished == []
    loading.reload_button.click()
    assert wished == ["thread"]
    assert len(client.all(LoadPair)) == n_loads + 1
    client.finish_load()
    assert loading.reload_button.text() == "Reload models"
    program.settings.save()
    assert load_settings(file).settings.engine_host == "thread"
    loading.reload_button.click()
    assert wished == ["thread"]  # nothing has changed


def test_the_engines_place_is_asked_for_before_the_load(
    program: Program, client: FakeClient
) -> None:
    loading = program.window.panel.loading
    order: list[str] = []
    loading.reload_requested.connect(lambda _pair: order.append("load"))
    loading.host_requested.connect(order.append)
    loading.own_process.click()
    loading.reload_button.click()
    assert order == ["thread", "load"]
    client.finish_load()
