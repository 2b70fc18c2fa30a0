"""Loading: the exact switch, the lookup cache, and where the parts of a model lie."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gui.fake_client import described
from paceline.gui.widgets.advanced_loading import read_shares
from paceline.messages import DeviceInfo, EngineDescribed, LoadPair

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from gui.fake_client import FakeClient
    from paceline.gui.program import Program


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
    assert loading.lookup_cache.name.full_text == "mine.bin"
    assert loading.reload_button.text() == "Reload models"
    loading.lookup_cache.clear.click()
    loading.reload_button.click()
    assert client.last(LoadPair).lookup_cache == ""
    assert client.last(LoadPair).exact


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
    assert field.dialog is not None
    field.dialog.fileSelected.emit("/texts/mine.bin")
    field.dialog.reject()
    assert field.dialog is None
    assert field.path == "/texts/mine.bin"


@pytest.mark.parametrize(
    ("n_gpus", "reason"), [(0, "Without a GPU"), (1, "There is one GPU"), (2, "")]
)
def test_what_has_no_use_here_is_off_and_says_why(
    program: Program, client: FakeClient, n_gpus: int, reason: str
) -> None:
    client.emit(gpus(n_gpus) if n_gpus else described())
    advanced = program.window.panel.loading.advanced
    assert reason in advanced.reason.text()
    assert bool(advanced.reason.text()) == bool(reason)
    for column in (advanced.target, advanced.draft):
        assert column.n_cpu_moe.isEnabled() == (n_gpus > 0)
        for field in (column.split_mode, column.tensor_split, column.main_gpu):
            assert field.isEnabled() == (n_gpus > 1)


def test_advanced_settings_reach_the_engine(program: Program, client: FakeClient) -> None:
    client.emit(gpus(2))
    loading = program.window.panel.loading
    target, draft = loading.advanced.target, loading.advanced.draft
    target.n_cpu_moe.setValue(-1)
    target.split_mode.setCurrentText("rows")
    target.tensor_split.setText("3, 1")
    draft.n_cpu_moe.setValue(4)
    draft.split_mode.setCurrentText("one GPU")
    draft.main_gpu.setValue(1)
    assert target.n_cpu_moe.text() == "all"
    loading.reload_button.click()
    command = client.last(LoadPair)
    assert command.draft is not None
    t, d = command.target, command.draft
    assert (t.n_cpu_moe, t.split_mode, t.tensor_split, t.main_gpu) == (-1, "row", (3.0, 1.0), 0)
    assert (d.n_cpu_moe, d.split_mode, d.tensor_split, d.main_gpu) == (4, "none", (), 1)
    client.finish_load()
    assert loading.advanced.target.tensor_split.text() == "3, 1"


def test_wrong_shares_are_told(program: Program, client: FakeClient) -> None:
    client.emit(gpus(2))
    advanced = program.window.panel.loading.advanced
    advanced.target.tensor_split.setText("3, x")
    assert advanced.problem.text() == "“x” is no share: give numbers such as 3, 1."
    advanced.target.tensor_split.setText("3, 1")
    assert advanced.problem.isHidden()


@pytest.mark.parametrize("text", ["x", "-1", "1, nan", "inf", "0, 0"])
def test_shares_are_positive_numbers(text: str) -> None:
    with pytest.raises(ValueError, match="share"):
        read_shares(text)


def test_shares_are_read() -> None:
    assert read_shares("") == ()
    assert read_shares("3, 1.5,0") == (3.0, 1.5, 0.0)
