"""The engine's thread in idle time: it is used, given back at once, and then the thread rests."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from paceline.gui.engine_thread import EngineThread
from paceline.hosting import client as hosting_client
from paceline.hosting.client import Inbox
from paceline.hosting.inline import make_engine_service
from paceline.messages import (
    Command,
    EngineDied,
    Event,
    LoadPair,
    ModelParams,
    PairLoaded,
    Shutdown,
    StartTurn,
    TurnFailed,
    TurnFinished,
)


class Idling:
    """Has three things to do in idle time behind every command; the second lasts until stopped."""

    def __init__(self, emit: Callable[[Event], None], inbox: Inbox) -> None:
        self._emit = emit
        self._flag = inbox.flag
        self.slices: list[int] = []
        self.n_asked = 0
        self.threads: set[threading.Thread] = set()

    def handle(self, command: Command) -> None:
        self.slices.append(0)
        if isinstance(command, StartTurn):
            self._emit(TurnFailed(command.turn_id, str(self._flag.is_set()), "", ""))

    def idle(self) -> bool:
        self.n_asked += 1
        self.threads.add(threading.current_thread())
        if self.slices[-1] == 3:
            return False
        self.slices[-1] += 1
        if self.slices[-1] == 2:
            deadline = time.monotonic() + 5
            while not self._flag.is_set() and time.monotonic() < deadline:
                time.sleep(0.001)
        return True


@pytest.fixture
def made(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[EngineThread, list[Event]]]:
    monkeypatch.setattr(hosting_client, "IDLE_AFTER_S", 0.01)
    thread = EngineThread(Idling)
    events: list[Event] = []
    thread.set_listener(events.append)
    yield thread, events
    assert thread.close()


def service_of(thread: EngineThread) -> Idling:
    assert isinstance(thread._service, Idling)
    return thread._service


def test_a_command_takes_idle_time_back_at_once(
    made: tuple[EngineThread, list[Event]], qtbot: QtBot
) -> None:
    thread, events = made
    thread.submit(StartTurn("a"))
    qtbot.waitUntil(lambda: len(events) == 1)
    qtbot.waitUntil(lambda: service_of(thread).slices[-1] == 2)
    put_at = time.monotonic()
    thread.submit(StartTurn("b"))
    qtbot.waitUntil(lambda: len(events) == 2)
    assert time.monotonic() - put_at < 1
    assert [event.code for event in events] == ["False", "False"]  # type: ignore[union-attr]


def test_closing_takes_it_back_too(made: tuple[EngineThread, list[Event]], qtbot: QtBot) -> None:
    thread, events = made
    thread.submit(StartTurn("a"))
    qtbot.waitUntil(lambda: len(events) == 1 and service_of(thread).slices[-1] == 2)
    began = time.monotonic()
    assert thread.close()
    assert time.monotonic() - began < 1


def test_when_nothing_is_left_to_do_the_thread_rests(
    made: tuple[EngineThread, list[Event]], qtbot: QtBot
) -> None:
    thread, events = made
    thread.submit(StartTurn("a"))
    qtbot.waitUntil(lambda: len(events) == 1 and service_of(thread).slices[-1] == 2)
    thread._inbox.flag.set()
    qtbot.waitUntil(lambda: service_of(thread).n_asked == 4)
    qtbot.wait(100)
    assert service_of(thread).n_asked == 4
    assert len(service_of(thread).threads) == 1


class Breaking(Idling):
    def idle(self) -> bool:
        raise RuntimeError("the device is gone")


def test_what_breaks_in_idle_time_is_the_engines_death(
    qtbot: QtBot, allow_warnings: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosting_client, "IDLE_AFTER_S", 0.01)
    allow_warnings("ended unexpectedly")
    thread = EngineThread(Breaking)
    events: list[Event] = []
    thread.set_listener(events.append)
    thread.submit(StartTurn("a"))
    qtbot.waitUntil(lambda: len(events) == 2)
    assert isinstance(events[-1], EngineDied)
    assert "device is gone" in events[-1].reason
    thread.submit(StartTurn("b"))
    qtbot.waitUntil(lambda: len(events) == 4)
    assert thread.close()


def test_the_real_engine_measures_in_idle_time_and_replies_in_the_middle_of_it(
    qtbot: QtBot, demo_pair: tuple[Path, Path], tmp_path: Path
) -> None:
    thread = EngineThread(make_engine_service)
    events: list[Event] = []
    thread.set_listener(events.append)
    target, draft = (ModelParams(str(path), n_threads=1) for path in demo_pair)
    thread.submit(LoadPair("l", target, draft, cache_dir=str(tmp_path)))
    qtbot.waitUntil(lambda: bool(events) and isinstance(events[-1], PairLoaded), timeout=20_000)
    for number in range(3):
        qtbot.wait(150)
        thread.submit(StartTurn(f"t{number}", prompt="A list is", max_tokens=8, seed=1))
        qtbot.waitUntil(lambda: isinstance(events[-1], TurnFinished), timeout=20_000)
        events.append(Shutdown())  # type: ignore[arg-type]  # so that the next one is waited for
    qtbot.waitUntil((tmp_path / "facts.json").exists, timeout=20_000)
    assert thread.close()
    texts = {event.text for event in events if isinstance(event, TurnFinished)}
    assert len(texts) == 1
