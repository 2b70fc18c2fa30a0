"""The window's bridge to the engine: events arrive on the window's thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest
from pytestqt.qtbot import QtBot

from hosting.obedient import Obedient
from hosting.test_client_contract import ClientContract, Stage
from paceline.gui.engine_bridge import EngineBridge
from paceline.hosting.broker import Priority
from paceline.hosting.threaded import ThreadedClient
from paceline.messages import Event, RawText, StartTurn, TurnFailed, Unload, Unloaded


@pytest.fixture
def bridge(qtbot: QtBot) -> Iterator[EngineBridge]:
    made = EngineBridge(ThreadedClient(Obedient))
    yield made
    assert made.close()


class BridgeStage(Stage):
    """The bridge, which delivers while the window's thread takes events."""

    def __init__(self, bridge: EngineBridge, qtbot: QtBot) -> None:
        super().__init__(bridge)
        self._qtbot = qtbot

    def until(self, is_so: Callable[[], object]) -> None:
        """Wait until something is so."""
        self._qtbot.waitUntil(lambda: bool(is_so()), timeout=20_000)


class TestBridge(ClientContract):
    """The bridge keeps the promises of every client."""

    @pytest.fixture
    def stage(self, bridge: EngineBridge, qtbot: QtBot) -> Stage:
        return BridgeStage(bridge, qtbot)


def test_events_come_on_the_owners_thread_in_order(bridge: EngineBridge, qtbot: QtBot) -> None:
    heard: list[tuple[object, ...]] = []
    bridge.watch(lambda event: heard.append(("all", event, threading.current_thread())))

    def hear(event: Event) -> None:
        heard.append(("one", event, threading.current_thread()))

    for _ in range(100):
        bridge.request(Unload(), on_event=hear)
    qtbot.waitUntil(lambda: len(heard) == 200)
    main = threading.main_thread()
    assert heard == [("all", Unloaded(), main), ("one", Unloaded(), main)] * 100


def test_what_waits_is_answered_after_the_call_that_cancels_it(
    bridge: EngineBridge, qtbot: QtBot
) -> None:
    heard: list[Event] = []
    turn = StartTurn(RawText("wait end"))
    running = bridge.request(turn)
    waiting = bridge.request(turn, Priority.PROGRAM, heard.append, asker="an editor")
    qtbot.waitUntil(lambda: bridge.running is running)
    assert (running.asker, waiting.asker) == ("window", "an editor")
    waiting.cancel()
    assert (waiting.state, heard) == ("over", [])
    qtbot.waitUntil(lambda: bool(heard))
    assert heard == [TurnFailed("cancelled", "Stopped.", "")]
    running.cancel()


def test_nothing_is_delivered_after_closing(bridge: EngineBridge, qtbot: QtBot) -> None:
    heard: list[Event] = []
    last = [bridge.request(Unload(), on_event=heard.append) for _ in range(100)][-1]
    last.wait(10)
    bridge.close()
    bridge.request(Unload(), on_event=heard.append)
    n_heard = len(heard)
    qtbot.wait(30)
    assert len(heard) == n_heard
