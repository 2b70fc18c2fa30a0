"""The window's way to the engine: what comes, comes on the window's thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from hosting.test_threaded import Maker, Scripted
from paceline.gui.engine_bridge import EngineBridge
from paceline.hosting.broker import Priority
from paceline.hosting.threaded import ThreadedClient
from paceline.messages import Event, RawText, StartTurn, TurnFailed, Unload, Unloaded


@pytest.fixture
def bridge(qtbot: QtBot) -> Iterator[EngineBridge]:
    made = EngineBridge(ThreadedClient(Maker(Scripted)))
    yield made
    assert made.close()


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
    running = bridge.request(StartTurn(RawText("")), on_event=heard.append)
    waiting = bridge.request(
        StartTurn(RawText("")), Priority.PROGRAM, heard.append, asker="an editor"
    )
    qtbot.waitUntil(lambda: bridge.running is running)
    assert (running.asker, waiting.asker) == ("window", "an editor")
    waiting.cancel()
    assert (waiting.state, heard) == ("over", [])
    qtbot.waitUntil(lambda: len(heard) == 1)
    assert heard == [TurnFailed("cancelled", "Stopped.", "")]
    running.cancel()
    qtbot.waitUntil(lambda: len(heard) == 2)


def test_nothing_is_delivered_after_closing(bridge: EngineBridge, qtbot: QtBot) -> None:
    heard: list[Event] = []
    last = [bridge.request(Unload(), on_event=heard.append) for _ in range(100)][-1]
    last.wait(10)
    bridge.close()
    bridge.request(Unload(), on_event=heard.append)
    n_heard = len(heard)
    qtbot.wait(30)
    assert len(heard) == n_heard
