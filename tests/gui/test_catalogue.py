"""The whole window with everything that knows models: opened, remembered, and closed in time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt

import make_pairs
from gui.library_help import entry
from paceline.catalog.download.record import Download, DownloadedFile, DownloadRequest, Status
from paceline.catalog.models import Models
from paceline.messages import DeviceInfo, EngineDescribed, LoadPair
from paceline.params import params_of
from paceline.settings import Settings, load_settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from gui.fake_client import FakeClient
    from gui.shared_window import SharedWindow
    from paceline.gui.models.catalogue import Catalogue
    from paceline.gui.program import Program

GIB = 2**30
CPU = EngineDescribed("", "", (DeviceInfo("CPU", "CPU", "cpu", 16 * GIB, 12 * GIB),))

pytestmark = [
    pytest.mark.usefixtures("one_reader_for_all"),
]


@pytest.fixture
def program(make_program: Callable[..., Program], client: FakeClient, models: Models) -> Program:
    made = make_program(Settings(), models=models)
    client.emit(CPU)
    client.finish_load()
    return made


@pytest.fixture
def catalogue(program: Program) -> Catalogue:
    assert program.catalogue is not None
    return program.catalogue


def test_without_models_the_menu_is_that_of_files(shared_window: SharedWindow) -> None:
    program = shared_window.program
    actions = program.window.actions_
    assert program.catalogue is None
    for action in (actions.choose_models, actions.choose_draft, actions.downloads):
        assert not action.isVisible()
    assert actions.open_target.isVisible()


def test_models_are_picked_loaded_and_kept_while_they_are_loaded(
    program: Program, catalogue: Catalogue, client: FakeClient, qtbot: QtBot
) -> None:
    qtbot.mouseClick(program.window.model_bar, Qt.MouseButton.LeftButton)
    dialog = catalogue.picker.dialog
    assert dialog is not None
    assert dialog.focusWidget() is dialog.installed.search
    assert program.window.model_bar.menu() is None
    dialog.reject()

    program.window.actions_.choose_draft.trigger()
    picker = catalogue.picker
    assert picker.dialog is not None
    qtbot.waitUntil(lambda: picker.judgement.judgement.plan is not None, timeout=20_000)
    judgement = picker.judgement.judgement
    assert judgement.verdict is not None
    assert judgement.verdict.ok
    assert judgement.plan is not None
    assert judgement.plan.fits
    program.settings.update(usual_ctx=1024, usual_threads=3)
    picker.dialog.main.click()
    assert picker.dialog is None
    qtbot.waitUntil(lambda: len(client.all(LoadPair)) == 2, timeout=20_000)
    command = client.last(LoadPair)
    draft = params_of(command.drafting)
    assert draft is not None
    assert (command.target.path, draft.path) == (
        str(make_pairs.DEMO_TARGET), str(make_pairs.DEMO_DRAFT),
    )  # fmt: skip
    assert (command.target.n_ctx, command.target.n_threads) == (1024, 3)
    client.finish_load()
    saved = program.saved_pairs.pair(0)
    assert (saved.target.n_ctx, saved.target.n_threads) == (0, 0), "it says nothing of them"

    loaded = entry("x", folder=make_pairs.DEMO_TARGET.parent, source="paceline")
    file = replace(loaded.file, parts=(make_pairs.DEMO_TARGET,))
    catalogue.library.delete(replace(loaded, file=file))
    assert "is loaded now" in program.window.chat_pane.errors.text.text()

    program.window.actions_.choose_models.trigger()
    assert catalogue.picker.dialog is not None
    program.window.close()
    assert catalogue.picker.dialog is None


def test_settings_reach_the_models_and_downloads_show_in_the_top_bar(
    program: Program,
    catalogue: Catalogue,
    client: FakeClient,
    models: Models,
    tmp_path: Path,
    paceline_home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings, switch = program.settings, program.window.actions_.offline
    assert models.hub.offline
    assert not settings.value("hub_offline"), "the environment wants it, it was not chosen"
    catalogue.hub.online_wanted.emit()
    assert not models.hub.offline
    switch.trigger()
    assert models.hub.offline
    usual = models.models_folder
    program.window.actions_.settings.trigger()
    dialog = program.settings_controller.dialog
    assert dialog is not None
    dialog.show_page(type(dialog.models))
    own = dialog.models.folders
    assert own is not None
    own.add.click()
    assert own.folders.dialog is not None
    own.folders.dialog.filesSelected.emit([str(tmp_path)])
    own.folders.dialog.reject()
    assert catalogue.library.is_busy, "it is looked into at once"
    for folder in ("/second", "/second", ""):
        settings.setting("model_folders").add(folder)
    assert [row.name.text() for row in own.rows] == [str(tmp_path), "/second"]
    own.rows[1].remove.click()
    dialog.reject()
    planner = program.devices.planner
    assert planner is not None
    assert planner.states == client.last(LoadPair).states is not None
    settings.set("keeps_states", value=False)
    assert planner.states is None
    client.finish_load()
    settings.update(download_folder=str(paceline_home), hub_proxy="http://host:3128")
    folders = [place.folder for place in models.places()]
    assert folders[:2] == [models.models_folder, usual] == [paceline_home, usual]
    assert tmp_path in folders
    assert models.hub.proxy == "http://host:3128"
    settings.save()
    kept = load_settings(paceline_home / "config" / "settings.json").settings
    assert (kept.hub_offline, kept.model_folders) == (True, (str(tmp_path),))

    downloads, button = program.window.actions_.downloads, catalogue.button
    downloads.trigger()
    first = catalogue.dialog
    assert first is not None
    downloads.trigger()
    assert catalogue.dialog is first
    first.reject()
    assert catalogue.dialog is None
    assert button.isHidden()
    request = DownloadRequest("o/r", ("a-Q4_0.gguf",), "main", str(paceline_home))

    def show(n_done: int, *statuses: Status) -> None:
        file = DownloadedFile(request.files[0], "etag", 4_000_000_000, n_here=n_done)
        catalogue.downloads.model.show(
            [Download(str(i), request, (file,), status) for i, status in enumerate(statuses)]
        )

    show(1_000_000_000, "running", "waiting")
    assert button.toolTip().startswith("2 downloads: 2.0 of 8.0 GB")
    before = button.grab().toImage()
    show(3_900_000_000, "running", "waiting")
    assert button.grab().toImage() != before
    button.click()
    assert catalogue.dialog is not None
    show(4_000_000_000, "done", "done")
    assert button.isHidden()
    program.window.actions_.flip_theme.trigger()
    assert catalogue.dialog.panel.isVisible()

    rests: list[bool] = []
    monkeypatch.setattr(models.inspector, "rest", lambda: rests.append(True))
    program.models.reload()
    assert not rests, "on a processor it takes nothing"
    client.finish_load()
    gpu = DeviceInfo("CUDA0", "A GPU", "gpu", 16 * GIB, 12 * GIB)
    program.session.describe_engine()
    client.emit(EngineDescribed("", "", (gpu, *CPU.devices)))
    program.models.reload()
    assert rests
