"""The page of settings about other computers: what it keeps, asks, says, copies and hands on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtGui import QGuiApplication

from gui.fake_client import model_info
from paceline import paths
from paceline.chat.pair import Pair
from paceline.engine.model.rpc_servers import ServerAnswer
from paceline.figures import ServerProblem
from paceline.gui.help.guide import anchor_of, page_of
from paceline.gui.machines import servers
from paceline.gui.machines.page import COMMAND, MachinesPage
from paceline.gui.settings.pages import ModelsPage
from paceline.messages import (
    DescribeEngine,
    DeviceInfo,
    DeviceMemory,
    EngineDescribed,
    EngineDied,
    LoadPair,
    PairLoaded,
)
from paceline.params import DraftModel, ModelParams
from paceline.settings import KeptServer, Settings, load_settings, save_settings
from rpc_servers import UNUSABLE, rpc_servers

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from gui.fake_client import FakeClient
    from paceline.gui.machines.page import ServerRow
    from paceline.gui.program import Program

FAR, NEAR = "192.0.2.5:50052", "127.0.0.1:50052"
CPU = DeviceInfo("CPU", "A processor", "cpu", 32 << 30, 20 << 30)


@pytest.fixture
def far(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers are not asked in truth, and do not answer."""

    def ask(addresses: Sequence[str]) -> list[ServerAnswer]:
        return [
            ServerAnswer(each, problem=ServerProblem(each, f"{each} is far away.", ""))
            for each in addresses
        ]

    monkeypatch.setattr(servers, "ask_servers", ask)


def opened(program: Program) -> MachinesPage:
    program.settings_controller.open_page(MachinesPage)
    dialog = program.settings_controller.dialog
    assert dialog is not None
    page = dialog.pages[dialog.list.currentRow()]
    assert isinstance(page, MachinesPage)
    return page


def add(page: MachinesPage, text: str) -> None:
    page.list.field.setText(text)
    page.list.add.click()


def row_of(page: MachinesPage, qtbot: QtBot) -> ServerRow:
    """The only row, when its server has answered."""
    (row,) = page.list.rows
    qtbot.waitUntil(lambda: row.state.text() not in ("", "Asking…"), timeout=20_000)
    return row


def described(*addresses: str) -> EngineDescribed:
    devices = [
        DeviceInfo(f"RPC{i}", server, "rpc", 16 << 30, 12 << 30, server=server)
        for i, server in enumerate(addresses)
    ]
    return EngineDescribed("0.3.36", "", (CPU, *devices))


def test_a_server_that_answers_is_used(program: Program, client: FakeClient, qtbot: QtBot) -> None:
    assert client.last(LoadPair).servers == ()
    client.emit(described())
    page = opened(program)
    assert page.list.rows == []
    assert page.list.again.isHidden()
    with rpc_servers() as (server,):
        add(page, f" {server.endpoint} ")
        assert program.settings.value("rpc_servers") == (KeptServer(server.endpoint, False),)
        row = row_of(page, qtbot)
        assert "free" in row.state.text()
        assert row.box.isChecked()
    assert client.last(DescribeEngine).servers == (server.endpoint,)
    assert client.last(LoadPair).servers == (server.endpoint,)
    assert program.settings.settings.used_servers == (server.endpoint,)


def test_one_that_cannot_be_used_says_why_and_is_not(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    page = opened(program)
    n_loads = len(client.all(LoadPair))
    with UNUSABLE["other-version"]() as endpoint:
        add(page, endpoint)
        row = row_of(page, qtbot)
        assert endpoint in row.state.text()
        assert row.box.accessibleDescription() == row.state.text()
        assert not row.box.isChecked()
    assert program.loader.servers == ()
    assert len(client.all(LoadPair)) == n_loads
    row.box.click()  # the user may know better
    assert program.loader.servers == (endpoint,)


@pytest.mark.usefixtures("far")
def test_what_is_no_address_is_reported_beside_the_field(program: Program) -> None:
    page = opened(program)
    for text, words in ((" ", ""), ("a b", "no address"), ("host:0", "no address")):
        add(page, text)
        assert words in page.list.problem.text()
        assert page.list.rows == []
    page.list.field.setText("a")
    assert page.list.problem.isHidden()
    program.settings.set("rpc_servers", (KeptServer(FAR, is_used=False),))
    add(page, FAR)
    assert FAR in page.list.problem.text()
    assert len(page.list.rows) == 1


@pytest.mark.usefixtures("far")
def test_one_that_was_removed_comes_back(program: Program) -> None:
    program.settings.set("rpc_servers", (KeptServer(FAR), KeptServer(NEAR, is_used=False)))
    page = opened(program)
    assert page.list.undo.isHidden()
    page.list.rows[0].remove.click()
    assert [row.address for row in page.list.rows] == [NEAR]
    assert program.loader.servers == ()
    page.list.undo.click()
    assert [row.address for row in page.list.rows] == [FAR, NEAR]
    assert program.loader.servers == (FAR,)
    assert page.list.undo.isHidden()


def test_a_server_that_serves_the_loaded_models_is_not_called_silent(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    with UNUSABLE["silent"]() as endpoint:
        program.settings.set("rpc_servers", (KeptServer(endpoint),))
        assert client.last(DescribeEngine).servers == (endpoint,)
        client.emit(described(endpoint))
        page = opened(program)
        (row,) = page.list.rows
        taken = DeviceMemory("RPC0", 5, 0, 0), DeviceMemory("CPU", 5, 0, 0)
        client.emit(PairLoaded(model_info("/m/a.gguf"), None, 0.1, memory=taken))
        assert row.state.text().startswith("In use by the loaded models: RPC0 with 17.2 GB")
        qtbot.waitUntil(lambda: not program.servers.is_asked(endpoint), timeout=20_000)
        page.list.again.click()
        assert not program.servers.is_asked(endpoint), "it answers no one else"
        assert row.state.text().startswith("In use")
        client.emit(EngineDied("It crashed."))
        page.list.again.click()
        assert program.servers.is_asked(endpoint)
        qtbot.waitUntil(lambda: not program.servers.is_asked(endpoint), timeout=20_000)
        assert "does not answer" in row.state.text()


@pytest.mark.usefixtures("far")
def test_the_warning_is_red_where_no_tunnel_is(program: Program) -> None:
    page = opened(program)
    page.list.setting.set_value((KeptServer(NEAR),))
    assert page.warning.text()
    assert page.warning.property("role") == "small"
    page.list.setting.set_value((KeptServer(NEAR), KeptServer(FAR)))
    assert FAR in page.warning.text()
    assert page.warning.property("role") == "danger"
    page.list.rows[1].box.click()
    assert page.warning.property("role") == "small"


@pytest.mark.usefixtures("far")
def test_the_commands_name_the_other_computer(program: Program) -> None:
    page = opened(program)
    page.start.copy.click()
    assert QGuiApplication.clipboard().text() == COMMAND
    assert "OTHER-COMPUTER" in page.tunnel.command.text()
    page.list.field.setText("box.lan:50060")
    page.tunnel.copy.click()
    assert QGuiApplication.clipboard().text() == "ssh -N -L 50052:127.0.0.1:50060 box.lan"
    page.list.field.clear()
    page.list.setting.set_value((KeptServer(NEAR, is_used=False), KeptServer(FAR, is_used=False)))
    page.tunnel.copy.click()
    assert QGuiApplication.clipboard().text() == "ssh -N -L 50053:127.0.0.1:50052 192.0.2.5"
    assert "127.0.0.1:50053" in page.near_end.text()


def test_the_guide_opens_at_its_part(program: Program) -> None:
    page = opened(program)
    page.guide.click()
    dialog = program.help.guide.dialog
    assert dialog is not None
    assert dialog.page.verticalScrollBar().value() > 0
    folder = paths.resources() / "guide"
    for file, heading in (
        ("guide.md", "More than one machine"),
        ("guide.de.md", "Mehr als ein Rechner"),
    ):
        html = page_of((folder / file).read_text(encoding="utf-8"))
        assert f'<a name="{anchor_of(heading)}">' in html


def test_with_servers_the_engine_has_a_process_of_its_own(
    program: Program,
) -> None:
    program.settings.set("engine_host", "thread")
    assert program.settings.settings.host_in_force == "thread"
    program.settings_controller.open_page(ModelsPage)
    dialog = program.settings_controller.dialog
    assert dialog is not None
    assert dialog.models.host.isEnabled()
    assert dialog.models.held.isHidden()
    program.settings.set("rpc_servers", (KeptServer(NEAR),))
    assert program.settings.settings.host_in_force == "process"
    assert not dialog.models.host.isEnabled()
    assert not dialog.models.held.isHidden()
    assert program.settings.value("engine_host") == "thread", "it comes back without servers"


@pytest.mark.usefixtures("far")
def test_devices_that_have_other_names_now_are_not_asked_for(
    program: Program, client: FakeClient
) -> None:
    program.settings.set("rpc_servers", (KeptServer(FAR), KeptServer(NEAR)))
    client.emit(described(FAR, NEAR))
    placed = ModelParams("/m/a.gguf", device="RPC1", n_gpu_layers=8, tensor_split=(1.0,))
    apart = DraftModel(ModelParams("/m/b.gguf", device="CUDA0", n_gpu_layers=4))
    program.models.load_models(Pair(placed, apart))
    client.finish_load()
    program.servers.use(FAR, is_used=False)
    client.emit(described(NEAR))
    load = client.last(LoadPair)
    assert load.servers == (NEAR,)
    assert load.target == ModelParams("/m/a.gguf")
    assert load.drafting == apart
    client.finish_load()
    program.models.load_models(Pair(placed, apart))
    program.servers.add("192.0.2.6:50052")
    program.servers.use("192.0.2.6:50052", is_used=True)
    client.emit(described(NEAR, "192.0.2.6:50052"))
    assert client.last(LoadPair).target == placed, "one more at the end changes no name"


@pytest.mark.usefixtures("far")
def test_an_answer_about_servers_of_before_is_dropped(program: Program, client: FakeClient) -> None:
    program.settings.set("rpc_servers", (KeptServer(FAR),))
    first = next(t for t in reversed(client.tickets) if isinstance(t.command, DescribeEngine))
    program.servers.use(FAR, is_used=False)
    client.emit(described(FAR), first)
    assert program.devices.description is None
    client.emit(described())
    assert program.devices.description == described()


@pytest.mark.parametrize("address", ["nothing at all", "127.0.0.1", "[::1]:50052", "a:0"])
def test_settings_with_an_invalid_address_are_put_aside(address: str, tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    save_settings(file, Settings(rpc_servers=(KeptServer(address),)))
    assert load_settings(file).put_aside is not None
    save_settings(file, Settings(rpc_servers=(KeptServer(FAR), KeptServer(FAR))))
    assert load_settings(file).put_aside is not None
