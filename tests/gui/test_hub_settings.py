"""The settings about downloads and loading: token, folder, proxy, context and threads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit

import make_pairs
from gui.fake_judge import GIB
from gui.picker_world import demo_repositories
from hub_server import HubServer
from paceline.catalog.hub.client import TokenSource
from paceline.catalog.models import Models
from paceline.gui.settings.forms import NumberField
from paceline.messages import DeviceInfo, EngineDescribed, LoadPair
from paceline.params import params_of
from paceline.paths import Paths
from paceline.settings import Settings, load_settings
from proxy import Proxy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytestqt.qtbot import QtBot

    from gui.fake_client import FakeClient
    from paceline.gui.program import Program
    from paceline.gui.settings.downloads_page import DownloadsPage

pytestmark = [
    pytest.mark.qt_log_ignore("This plugin does not support"),
    pytest.mark.usefixtures("one_reader_for_all"),
]

CPU = EngineDescribed("", "", (DeviceInfo("CPU", "CPU", "cpu", 16 * GIB, 12 * GIB),))
SECRET = "hf_" + "a" * 30


@pytest.fixture
def server(tmp_path: Path) -> Iterator[HubServer]:
    demo_repositories(tmp_path / "hub")
    with HubServer(tmp_path / "hub") as running:
        yield running
    from huggingface_hub.utils import close_session

    close_session()


@pytest.fixture
def models(server: HubServer, paceline_home: Path, tmp_path: Path) -> Iterator[Models]:
    made = Models(
        Paths.below(paceline_home), endpoint=server.endpoint, environ={}, home=tmp_path / "home"
    )
    made.hub.tokens = TokenSource({"HF_HOME": str(tmp_path / "hf")})
    yield made
    made.close()


@pytest.fixture
def program(make_program: Callable[..., Program], client: FakeClient, models: Models) -> Program:
    made = make_program(Settings(), models=models)
    client.emit(CPU)
    client.finish_load()
    return made


@pytest.fixture
def page(program: Program) -> DownloadsPage:
    program.window.actions_.settings.trigger()
    dialog = program.settings_controller.dialog
    assert dialog is not None
    (made,) = dialog.hub
    dialog.show_page(type(made))
    return made


def type_into(field: QLineEdit, text: str) -> None:
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, text)
    QTest.keyClick(field, Qt.Key.Key_Return)


def test_a_token_is_kept_apart_never_shown_refused_and_forgotten(
    page: DownloadsPage,
    program: Program,
    models: Models,
    qtbot: QtBot,
    tmp_path: Path,
    paceline_home: Path,
) -> None:
    token = page.token
    qtbot.waitUntil(lambda: token.state.text() == "Not set")
    assert not token.forget.isVisible()
    assert not token.keep.isEnabled()
    type_into(token.field, f" {SECRET} ")
    qtbot.waitUntil(lambda: token.state.text() == "Set")
    assert token.field.text() == ""
    assert token.field.echoMode() == QLineEdit.EchoMode.Password
    assert models.hub.tokens.token() == SECRET
    file = tmp_path / "hf" / "token"
    assert file.stat().st_mode & 0o077 == 0
    program.settings.set("theme", "dark")
    program.settings.save()
    written = [path for path in paceline_home.rglob("*") if path.is_file()]
    assert paceline_home / "config" / "settings.json" in written
    assert not [path for path in written if SECRET.encode() in path.read_bytes()]
    token.forget.click()
    qtbot.waitUntil(lambda: token.state.text() == "Not set")
    assert not file.exists()

    type_into(token.field, "hf two words")
    qtbot.waitUntil(lambda: "no access token" in token.problem.text())
    assert token.state.text() == "Not set"
    QTest.keyClicks(token.field, "h")
    assert token.problem.isHidden()

    program.settings_controller.close()
    models.hub.tokens = TokenSource({"HF_TOKEN": SECRET})
    program.window.actions_.settings.trigger()
    dialog = program.settings_controller.dialog
    assert dialog is not None
    (again,) = dialog.hub
    again.build()
    qtbot.waitUntil(lambda: "HF_TOKEN" in again.token.state.text())
    assert again.token.forget.isHidden(), "one of the environment is not forgotten here"


def test_downloads_go_to_the_chosen_folder_that_can_be_written_to(
    page: DownloadsPage, program: Program, models: Models, tmp_path: Path
) -> None:
    usual, chosen = models.models_folder, tmp_path / "big"
    chosen.mkdir()
    page.folder.set_folder(str(chosen))
    assert models.models_folder == chosen
    assert program.settings.value("download_folder") == str(chosen)
    assert page.folder.path.text() == str(chosen)
    assert [place.folder for place in models.places()][:2] == [chosen, usual]
    page.folder.back.click()
    assert models.models_folder == usual
    page.folder.set_folder(str(usual))
    assert program.settings.value("download_folder") == "", "the usual one is no choice"
    page.folder.set_folder(str(tmp_path / "none"))
    assert not page.folder.problem.isHidden(), "it cannot be written to"
    assert models.models_folder == usual


def test_the_hub_is_asked_by_the_proxy(
    page: DownloadsPage, program: Program, models: Models, server: HubServer
) -> None:
    with Proxy() as proxy:
        type_into(page.proxy.field, proxy.address)
        assert program.settings.value("hub_proxy") == proxy.address
        assert models.hub.repository("paceline/demo-draft-GGUF").choices
        assert len(proxy.asked) == len(server.requests) > 0
        type_into(page.proxy.field, "nonsense")
        assert "is not used" in page.proxy.problem.text()
        assert models.hub.proxy == proxy.address
        page.proxy.field.selectAll()
        QTest.keyClick(page.proxy.field, Qt.Key.Key_Delete)
        QTest.keyClick(page.proxy.field, Qt.Key.Key_Return)
        assert page.proxy.problem.isHidden()
        n_asked = len(proxy.asked)
        assert models.hub.repository("paceline/demo-draft-GGUF").choices
        assert len(proxy.asked) == n_asked


def test_what_is_set_is_kept_and_put_back(
    page: DownloadsPage, program: Program, tmp_path: Path, paceline_home: Path
) -> None:
    program.settings.update(
        hub_proxy="http://host:3128", download_folder=str(tmp_path), usual_ctx=8192, usual_threads=3
    )
    program.settings.save()
    file = paceline_home / "config" / "settings.json"
    kept = load_settings(file).settings
    assert (kept.hub_proxy, kept.download_folder) == ("http://host:3128", str(tmp_path))
    assert (kept.usual_ctx, kept.usual_threads) == (8192, 3)
    data = json.loads(file.read_text())
    file.write_text(json.dumps({**data, "hub_proxy": "nonsense"}))
    assert load_settings(file).settings == Settings(), "it is put aside"
    dialog = program.settings_controller.dialog
    assert dialog is not None
    dialog.reset.click()
    assert program.settings.value("hub_proxy") == ""
    assert page.proxy.field.text() == ""


def number(program: Program, name: str) -> NumberField:
    program.window.actions_.settings.trigger()
    dialog = program.settings_controller.dialog
    assert dialog is not None
    dialog.show_page(type(dialog.models))
    (found,) = (f for f in dialog.findChildren(NumberField) if f.accessibleName() == name)
    return found


def test_context_and_threads_of_models_that_say_nothing_else(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    context, threads = number(program, "Context"), number(program, "Threads")
    assert (context.text(), threads.text()) == ("auto", "auto")
    context.setValue(1024)
    threads.setValue(3)
    n_loads = len(client.all(LoadPair))

    def loaded() -> LoadPair:
        qtbot.waitUntil(lambda: len(client.all(LoadPair)) > n_loads, timeout=20_000)
        return client.last(LoadPair)

    program.models.open_target(str(make_pairs.DEMO_TARGET))
    command = loaded()
    assert (command.target.n_ctx, command.target.n_threads) == (1024, 3)
    client.finish_load()
    saved = program.saved_pairs.pair(0)
    assert (saved.target.n_ctx, saved.target.n_threads) == (0, 0), "it still says nothing"

    n_loads += 1
    context.setValue(0)
    threads.setValue(0)
    program.models.open_draft(str(make_pairs.DEMO_DRAFT))
    command = loaded()
    draft = params_of(command.drafting)
    assert draft is not None
    assert command.target.n_ctx == command.target.n_threads == draft.n_threads == 0
