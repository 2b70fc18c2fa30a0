"""The server in the window: its switch, its key, its models, and its end."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from gui.conftest import deliver_deletes
from gui.fake_client import described
from gui.serving.conftest import HELLO
from paceline.catalog.models import Models
from paceline.hosting.broker import Priority
from paceline.messages import Chat, EngineDied, LoadFailed, LoadPair, StartTurn
from paceline.params import DEFAULT_STRATEGY, OWN_HEAD, ReplySettings, SamplingParams
from paceline.paths import Paths
from paceline.settings import ReplyPreset, Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot

    from gui.fake_client import FakeClient
    from gui.serving.conftest import Asker
    from paceline.gui.program import Program

    Serve = Callable[[Program], None]


def until_asked(qtbot: QtBot, client: FakeClient, n_turns: int = 1) -> StartTurn:
    """Wait until the engine is to generate so many replies; the last of them."""
    qtbot.waitUntil(lambda: len(client.all(StartTurn)) >= n_turns)
    return client.last(StartTurn)


def test_a_reply_comes_from_the_windows_engine(
    program: Program, client: FakeClient, asker: Asker, serve: Serve, qtbot: QtBot
) -> None:
    assert program.serving.status == "off"
    serve(program)
    asked = asker.begin(model="whatever")
    turn = until_asked(qtbot, client)
    ticket = client.tickets[-1]
    assert (ticket.priority, ticket.asker) == (Priority.PROGRAM, "Zed/0.214.0")
    assert turn.strategy == DEFAULT_STRATEGY
    assert not turn.remember
    client.reply("A row of things.")
    reply = asker.end(asked).json()
    assert reply["choices"][0]["message"]["content"] == "A row of things."
    assert reply["model"] == "paceline-demo-target-q8_0"
    assert [m["id"] for m in asker.ask("/v1/models").json()["data"]] == [reply["model"]]
    assert program.session.summaries == (), "a program's request is no chat"


def test_requests_are_answered_as_settings_and_the_default_preset_say(
    program: Program, client: FakeClient, asker: Asker, serve: Serve, qtbot: QtBot
) -> None:
    preset = ReplyPreset("Calm", ReplySettings(SamplingParams(temperature=0.1), max_tokens=7))
    (name,) = program.presets.add((preset,))
    program.presets.choose(name)
    program.presets.make_default()
    program.settings.update(serving_remembers=True, serving_ignored=("^date: ",))
    serve(program)
    turns = []
    for number, how in enumerate(({}, {"temperature": 0.9})):
        system = {"role": "system", "content": f"date: {number}"}
        asked = asker.begin(messages=[system, *HELLO], **how)
        turns.append(until_asked(qtbot, client, number + 1))
        client.reply("Yes")
        asker.end(asked)
        program.settings.set("learns_from_chats", False)
    assert turns[0].max_tokens == 2048, "without a limit a reply may go up to the context's end"
    assert [(t.sampling.temperature, t.remember) for t in turns] == [(0.1, True), (0.9, False)]
    texts = [t.prompt.messages[0].text for t in turns if isinstance(t.prompt, Chat)]
    assert texts == ["date: 0"] * 2, "a change of such a line is ignored"


def listening() -> set[int]:
    """Return the ports on which this process listens."""
    connections = psutil.Process().net_connections("tcp")
    return {each.laddr.port for each in connections if each.status == psutil.CONN_LISTEN}


def test_a_program_needs_the_key_and_another_port_as_long_as_the_settings_say(
    program: Program, asker: Asker, serve: Serve, qtbot: QtBot
) -> None:
    serve(program)
    first = asker.key
    assert len(first) >= 30
    assert asker.ask("/v1/models").status_code == 200
    program.serving.renew_key()
    assert asker.ask("/v1/models").status_code == 401, "the old key is refused"
    asker.key = program.settings.value("serving_key")
    assert asker.key != first
    assert asker.ask("/v1/models").status_code == 200
    asker.key = ""
    assert asker.ask("/v1/models").status_code == 401
    program.settings.set("serving_needs_key", False)
    assert asker.ask("/v1/models").status_code == 200
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        other = probe.getsockname()[1]
    before, old = listening(), program.settings.value("serving_port")
    assert old in before
    program.settings.set("serving_port", other)
    qtbot.waitUntil(lambda: program.serving.status == "on")
    # The old port may be another program's at once, so that it is not asked again.
    assert listening() == before - {old} | {other}
    asker.url = f"http://127.0.0.1:{other}"
    assert asker.ask("/v1/models").status_code == 200


def test_a_port_in_use_is_said_at_the_switch_which_goes_off(
    program: Program, port: int, qtbot: QtBot
) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", port))
        other.listen()
        with qtbot.waitSignal(program.serving.failed):
            program.settings.update(serving_port=port, serves=True)
        assert f"Port {port} is in use" in program.serving.problem
        assert not program.settings.value("serves")
        assert not program.window.actions_.serve.isChecked()
        assert program.serving.status == "off"
        errors = program.window.chat_pane.errors
        assert str(port) in errors.accessibleName()
    program.settings.set("serves", True)
    qtbot.waitUntil(lambda: program.serving.status == "on")
    assert program.serving.problem == ""


def test_the_switch_waits_for_the_reply_under_way_and_can_be_turned_on_again(
    program: Program, client: FakeClient, asker: Asker, serve: Serve, qtbot: QtBot
) -> None:
    serve(program)
    asked = asker.begin()
    until_asked(qtbot, client)
    client.start_turn()
    program.settings.set("serves", False)
    assert program.serving.status == "ending"
    program.settings.set("serves", True)
    assert program.serving.status == "ending"
    client.step("Ye", 0)
    client.finish_turn("Yes")
    assert asker.end(asked).json()["choices"][0]["finish_reason"] == "stop"
    qtbot.waitUntil(lambda: program.serving.status == "on")
    assert asker.ask("/v1/models").status_code == 200


def test_a_request_loads_again_what_died_with_the_engine(
    program: Program, client: FakeClient, asker: Asker, serve: Serve, qtbot: QtBot
) -> None:
    serve(program)
    n_loads = len(client.all(LoadPair))
    client.emit(EngineDied("It crashed."))
    asked = [asker.begin(), asker.begin()]
    qtbot.waitUntil(lambda: len(client.all(LoadPair)) > n_loads)
    client.finish_load()
    until_asked(qtbot, client, 2)
    turns = [t for t in client.tickets if isinstance(t.command, StartTurn) and t.state != "over"]
    for _ in turns:
        client.reply("Here again")
    assert [asker.end(each).status_code for each in asked] == [200, 200]
    assert len(client.all(LoadPair)) == n_loads + 1, "both wait for the same load"


def test_the_model_that_the_person_chooses_meanwhile_answers_under_no_other_name(
    program: Program, client: FakeClient, asker: Asker, serve: Serve, qtbot: QtBot
) -> None:
    serve(program)
    asked = asker.begin()
    until_asked(qtbot, client)
    program.models.reload()
    client.finish_load()
    client.start_turn()
    answer = asker.end(asked)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "model_changed")
    qtbot.waitUntil(lambda: client.last(StartTurn) in client.cancelled)
    asked = asker.begin()
    until_asked(qtbot, client, 2)
    client.reply("Now")
    assert asker.end(asked).status_code == 200


def test_models_that_cannot_be_loaded_are_said_and_not_tried_with_every_request(
    program: Program, client: FakeClient, asker: Asker, serve: Serve, qtbot: QtBot
) -> None:
    serve(program)
    client.emit(EngineDied("It crashed."))
    asked = asker.begin()
    qtbot.waitUntil(lambda: len(client.all(LoadPair)) > 1)
    n_loads = len(client.all(LoadPair))
    client.emit(LoadFailed("bad-file", "The file is broken.", ""))
    answer = asker.end(asked)
    assert answer.status_code == 503
    assert "window says why" in answer.json()["error"]["message"]
    assert asker.ask().status_code == 503
    assert len(client.all(LoadPair)) == n_loads
    program.models.reload()
    client.finish_load()
    asked = asker.begin()
    until_asked(qtbot, client)
    client.reply("Now")
    assert asker.end(asked).status_code == 200


def test_a_program_has_another_model_loaded_by_the_window(
    make_program: Callable[..., Program],
    client: FakeClient,
    asker: Asker,
    serve: Serve,
    paceline_home: Path,
    qtbot: QtBot,
) -> None:
    program = make_program(models=Models(Paths.below(paceline_home), environ={}, offline=True))
    client.emit(described())
    client.finish_load()
    program.settings.set("serving_loads", True)
    serve(program)
    target, small = "paceline-demo-target-q8_0", "paceline-demo-draft-q8_0"
    names = {each["id"] for each in asker.ask("/v1/models").json()["data"]}
    assert names >= {target, small}
    first = asker.begin(model=target)
    until_asked(qtbot, client)
    n_loads = len(client.all(LoadPair))
    second = asker.begin(model=small)
    assert asker.ask("/health").status_code == 200
    assert len(client.all(LoadPair)) == n_loads, "the reply under way keeps its model"
    client.reply("Large")
    assert asker.end(first).json()["model"] == target
    qtbot.waitUntil(lambda: len(client.all(LoadPair)) > n_loads)
    load = client.last(LoadPair)
    assert (Path(load.target.path).stem, load.drafting) == (small, OWN_HEAD)
    client.finish_load()
    until_asked(qtbot, client, 2)
    client.reply("Small")
    assert asker.end(second).json()["model"] == small
    third = asker.begin(model=target)
    qtbot.waitUntil(lambda: len(client.all(LoadPair)) > n_loads + 1)
    assert client.last(LoadPair).drafting != OWN_HEAD, "as the pair was used before"
    client.finish_load()
    until_asked(qtbot, client, 3)
    client.reply("Large again")
    asker.end(third)
    assert asker.ask(model="gpt-5").status_code == 404
    program.settings.set("serving_loads", False)
    qtbot.waitUntil(lambda: program.serving.status == "on")
    asked = asker.begin(model="gpt-5")
    until_asked(qtbot, client, 4)
    client.reply("Under any name")
    assert asker.end(asked).json()["model"] == target


def test_it_is_on_again_at_the_next_start_and_the_window_closes_in_the_middle_of_a_reply(
    make_program: Callable[..., Program], client: FakeClient, asker: Asker, port: int, qtbot: QtBot
) -> None:
    settings = Settings(was_welcomed=True, serves=True, serving_port=port, serving_key="kept-key")
    program = make_program(settings)
    qtbot.waitUntil(lambda: program.serving.status == "on")
    asker.key = "kept-key"
    assert asker.ask("/health").status_code == 503, "no model is loaded yet"
    client.finish_load()
    assert asker.ask("/health").status_code == 200
    asked = asker.begin()
    turn = until_asked(qtbot, client)
    client.start_turn()
    program.window.close()
    assert turn in client.cancelled
    qtbot.waitUntil(asked.done)
    assert asked.exception() is not None or asked.result().status_code >= 400
    deliver_deletes()


def test_the_light_says_who_is_answered(
    program: Program, client: FakeClient, asker: Asker, serve: Serve, qtbot: QtBot
) -> None:
    light = program.light
    assert light.words() == ("Other programs are not served",)
    serve(program)
    assert light.words()[:2] == ("Other programs can ask", asker.url)
    n_before = program.programs.n_answered
    asked = asker.begin()
    until_asked(qtbot, client)
    client.start_turn()
    qtbot.waitUntil(lambda: program.programs.asker == "Zed")
    assert light.toolTip().startswith("Zed is being answered")
    other = asker.begin()
    until_asked(qtbot, client, 2)
    qtbot.waitUntil(lambda: "Waiting: 1" in light.words())
    client.reply("Yes")
    asker.end(other)
    client.finish_turn("No")
    asker.end(asked)
    qtbot.waitUntil(lambda: program.programs.n_answered == n_before + 2)
    assert light.words()[0] == "Other programs can ask"
