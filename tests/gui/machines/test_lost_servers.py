"""Servers lost before a load or in mid-reply: the message, the offers and the kept text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gui.test_engine_process import notice
from paceline.chat.pair import Pair
from paceline.engine.model.rpc_servers import ServerAnswer
from paceline.figures import ServerProblem
from paceline.gui.machines import servers
from paceline.messages import EngineDied, LoadFailed, LoadPair
from paceline.params import DraftModel, ModelParams
from paceline.settings import KeptServer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gui.fake_client import FakeClient
    from paceline.chat.reply import Reply
    from paceline.gui.kit.notices import ErrorBar
    from paceline.gui.program import Program

FAR, NEAR = "192.168.1.5:50052", "127.0.0.1:50052"
LOST = ServerProblem(FAR, f"No RPC server listens at {FAR}.", "Start it there.")
FAILED = LoadFailed("rpc-server", LOST.message, LOST.hint, lost=(LOST,))


@pytest.fixture
def window(program: Program, client: FakeClient, monkeypatch: pytest.MonkeyPatch) -> Program:
    """A window with models on two servers, which are not asked in truth."""

    def ask(addresses: Sequence[str]) -> list[ServerAnswer]:
        return [ServerAnswer(each, problem=replaced(LOST, each)) for each in addresses]

    monkeypatch.setattr(servers, "ask_servers", ask)
    program.settings.set("rpc_servers", (KeptServer(FAR), KeptServer(NEAR)))
    client.finish_load()
    return program


def replaced(problem: ServerProblem, server: str) -> ServerProblem:
    return ServerProblem(server, problem.message, problem.hint)


def bar(program: Program) -> ErrorBar:
    return program.window.chat_pane.errors


def test_a_load_without_the_lost_server_is_one_click(window: Program, client: FakeClient) -> None:
    pair = Pair(
        ModelParams("/m/a.gguf", device="RPC0,RPC1", n_gpu_layers=9, tensor_split=(2.0, 1.0)),
        DraftModel(ModelParams("/m/b.gguf", device="CPU")),
    )
    window.models.load_models(pair)
    client.emit(FAILED)
    assert notice(window) == f"{LOST.message} {LOST.hint}"
    assert bar(window).action.text() == f"Load without {FAR}"
    assert bar(window).other.text() == "Load again"
    bar(window).action.click()
    load = client.last(LoadPair)
    assert load.servers == (NEAR,)
    assert load.target == ModelParams("/m/a.gguf"), "its devices have other names now"
    assert load.drafting == pair.drafting
    assert window.settings.value("rpc_servers") == (KeptServer(FAR, False), KeptServer(NEAR))
    client.finish_load()
    assert bar(window).isHidden()


def test_long_names_stand_in_the_notice_and_not_on_its_button(
    window: Program, client: FakeClient
) -> None:
    lost = tuple(replaced(LOST, f"box-{i}.department.example:50052") for i in range(2))
    window.models.load_models(Pair(ModelParams("/m/a.gguf")))
    client.emit(LoadFailed("rpc-server", LOST.message, LOST.hint, lost=lost))
    assert bar(window).action.text() == "Load without lost servers"
    bar(window).action.click()
    assert client.last(LoadPair).target == ModelParams("/m/a.gguf")


def test_a_load_can_be_tried_again_when_the_server_is_back(
    window: Program, client: FakeClient
) -> None:
    wanted = Pair(ModelParams("/m/a.gguf"))
    window.models.load_models(wanted)
    n_loads = len(client.all(LoadPair))
    client.emit(FAILED)
    assert len(client.all(LoadPair)) == n_loads, "the pair before needs the same servers"
    assert window.pair.state.status == "failed"
    bar(window).other.click()
    assert client.last(LoadPair).target == wanted.target
    assert client.last(LoadPair).servers == (FAR, NEAR)
    assert bar(window).isHidden()
    assert window.settings.settings.used_servers == (FAR, NEAR)


def test_a_server_that_dies_in_mid_reply_costs_the_rest_alone(
    window: Program, client: FakeClient
) -> None:
    assert window.chat.send("What is a list?")
    client.start_turn()
    client.step("A list ", 0)
    death = EngineDied("The engine lost a connection. " + LOST.message, LOST.hint, (LOST,))
    client.emit(death)
    assert window.shown.conversation.path()[-1].text == "A list "
    assert FAR in notice(window)
    assert bar(window).action.text() == f"Load without {FAR}"
    assert bar(window).other.text() == "Start it again"
    assert window.chat.send("And a tuple?")
    assert client.last(LoadPair).servers == (FAR, NEAR)
    client.emit(FAILED)
    assert bar(window).action.text() == f"Load without {FAR}"
    path = window.shown.conversation.path()
    assert [message.text for message in path[:3]] == ["What is a list?", "A list ", "And a tuple?"]
    bar(window).action.click()
    assert client.last(LoadPair).servers == (NEAR,)
    client.finish_load()
    window.chat.regenerate()
    client.reply("A tuple …")
    assert window.shown.conversation.path()[-1].text == "A tuple …"


def active(program: Program) -> Reply:
    reply = program.session.active
    assert reply is not None
    return reply
