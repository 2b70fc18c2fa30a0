"""The engine in a thread: delivery, cancelling, death and closing."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QThread

from paceline.gui import engine_thread
from paceline.gui.engine_thread import EngineThread
from paceline.messages import (
    ChatMessage,
    DescribeEngine,
    EngineDescribed,
    EngineDied,
    Event,
    LoadPair,
    ModelParams,
    PairLoaded,
    Shutdown,
    StartTurn,
    StepCommitted,
    Tune,
    TuneApplied,
    TurnFinished,
    Unloaded,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from paceline.hosting.inbox import Inbox
    from paceline.messages import Command


class Scripted:
    """A service that runs on the engine's thread and waits where a test says so."""

    def __init__(self, emit: Callable[[Event], None], inbox: Inbox) -> None:
        self.emit = emit
        self.inbox = inbox
        self.thread = threading.current_thread()

    def handle(self, command: Command) -> None:
        if isinstance(command, DescribeEngine):
            raise ZeroDivisionError("a bug")
        if isinstance(command, StartTurn):
            while not self.inbox.flag.is_set():
                tune = self.inbox.take_tune(command.turn_id)
                if tune is not None:
                    self.emit(TuneApplied(command.turn_id, tune.strategy))
                time.sleep(0.001)
        self.emit(Unloaded())


class Listener:
    def __init__(self) -> None:
        self.events: list[Event] = []
        self.threads: set[object] = set()

    def __call__(self, event: Event) -> None:
        self.events.append(event)
        self.threads.add(threading.current_thread())

    def all(self, kind: type[Event]) -> list[Event]:
        return [event for event in self.events if isinstance(event, kind)]


@pytest.fixture
def listener() -> Listener:
    return Listener()


@pytest.fixture
def scripted(qtbot: QtBot, listener: Listener) -> Iterator[EngineThread]:
    thread = EngineThread(Scripted)
    thread.set_listener(listener)
    yield thread
    assert thread.close()


def test_events_arrive_on_the_owners_thread_in_order(
    scripted: EngineThread, listener: Listener, qtbot: QtBot
) -> None:
    assert not scripted.isRunning()
    for _ in range(500):
        scripted.submit(LoadPair("x", ModelParams("")))
    assert scripted.is_alive
    qtbot.waitUntil(lambda: len(listener.events) == 500)
    assert listener.threads == {threading.main_thread()}


def test_cancelling_does_not_queue_behind_the_turn(
    scripted: EngineThread, listener: Listener, qtbot: QtBot
) -> None:
    scripted.submit(StartTurn("t"))
    scripted.submit(Tune("t", "off"))
    qtbot.waitUntil(lambda: listener.events == [TuneApplied("t", "off")])
    scripted.cancel("another")
    qtbot.wait(20)
    assert len(listener.events) == 1
    scripted.cancel("t")
    qtbot.waitUntil(lambda: len(listener.events) == 2)


def test_an_unexpected_error_is_the_engines_death_and_the_next_command_revives_it(
    scripted: EngineThread,
    listener: Listener,
    qtbot: QtBot,
    allow_warnings: Callable[[str], None],
) -> None:
    allow_warnings("ended unexpectedly")
    for number in (1, 2):
        scripted.submit(DescribeEngine())
        qtbot.waitUntil(lambda n=number: len(listener.all(EngineDied)) == n)  # type: ignore[misc]
        death = listener.all(EngineDied)[-1]
        assert isinstance(death, EngineDied)
        assert "ZeroDivisionError: a bug" in death.reason
        assert not scripted.is_alive
        scripted.submit(LoadPair("x", ModelParams("")))
        assert scripted.is_alive
        qtbot.waitUntil(lambda n=number: len(listener.all(Unloaded)) == n)  # type: ignore[misc]


def test_a_command_between_the_death_and_its_news_does_no_harm(
    scripted: EngineThread,
    listener: Listener,
    qtbot: QtBot,
    allow_warnings: Callable[[str], None],
) -> None:
    allow_warnings("ended unexpectedly")
    scripted.submit(DescribeEngine())
    assert scripted.wait(5000)  # dead, but no event has been delivered yet
    assert listener.events == []
    scripted.submit(LoadPair("lost", ModelParams("")))
    qtbot.waitUntil(lambda: len(listener.events) == 1)
    scripted.submit(LoadPair("x", ModelParams("")))
    qtbot.waitUntil(lambda: len(listener.events) == 2)
    assert [type(event) for event in listener.events] == [EngineDied, Unloaded]


def test_closing_stops_what_runs_and_what_waits(scripted: EngineThread, qtbot: QtBot) -> None:
    for number in range(5):
        scripted.submit(StartTurn(f"turn-{number}"))
    qtbot.waitUntil(scripted.isRunning)
    began = time.perf_counter()
    assert scripted.close()
    assert time.perf_counter() - began < 1
    assert not scripted.isRunning()
    assert not scripted.is_alive


def test_nothing_is_delivered_or_taken_after_closing(
    scripted: EngineThread, listener: Listener, qtbot: QtBot
) -> None:
    for _ in range(100):
        scripted.submit(LoadPair("x", ModelParams("")))
    scripted.close()
    n_events = len(listener.events)
    scripted.submit(LoadPair("x", ModelParams("")))
    qtbot.wait(30)
    assert len(listener.events) == n_events
    assert not scripted.isRunning()


def test_closing_twice_or_unused_is_fine(qtbot: QtBot) -> None:
    thread = EngineThread(Scripted)
    assert thread.close()
    assert thread.close()


def test_a_hanging_engine_is_reported_and_never_terminated(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, allow_warnings: Callable[[str], None]
) -> None:
    allow_warnings("did not end within")
    monkeypatch.setattr(engine_thread, "CLOSE_TIMEOUT_MS", 30)
    gate = threading.Event()

    class Hanging(Scripted):
        def handle(self, command: Command) -> None:
            if not isinstance(command, Shutdown):
                gate.wait()

    thread = EngineThread(Hanging)
    thread.submit(StartTurn("t"))
    qtbot.waitUntil(thread.isRunning)
    assert not thread.close()
    assert thread.isRunning()
    gate.set()
    assert thread.wait(5000)


def test_the_thread_has_a_name(scripted: EngineThread) -> None:
    assert isinstance(scripted, QThread)
    assert scripted.objectName() == "engine"


# ------------------------------------------------------------------------------- the real engine


@pytest.fixture
def engine(
    qtbot: QtBot, listener: Listener, target_path: Path, draft_path: Path
) -> Iterator[EngineThread]:
    thread = EngineThread()
    thread.set_listener(listener)
    thread.submit(LoadPair("load", ModelParams(str(target_path)), ModelParams(str(draft_path))))
    qtbot.waitUntil(lambda: bool(listener.all(PairLoaded)), timeout=30_000)
    yield thread
    assert thread.close()


def turn(turn_id: str, max_tokens: int = 40) -> StartTurn:
    return StartTurn(
        turn_id,
        messages=(ChatMessage("user", "What is a list?"),),
        strategy="draft:n_max=4",
        max_tokens=max_tokens,
        seed=7,
        ignore_eog=True,
    )


def test_the_real_engine_answers(engine: EngineThread, listener: Listener, qtbot: QtBot) -> None:
    engine.submit(DescribeEngine())
    engine.submit(turn("t"))
    qtbot.waitUntil(lambda: bool(listener.all(TurnFinished)), timeout=30_000)
    assert len(listener.all(EngineDescribed)) == 1
    finished = listener.all(TurnFinished)[0]
    assert isinstance(finished, TurnFinished)
    assert len(finished.tokens) == 40
    texts = [e.text for e in listener.events if isinstance(e, StepCommitted)]
    assert finished.text.startswith("".join(texts))


def test_closing_in_mid_reply_is_quick(
    engine: EngineThread, listener: Listener, qtbot: QtBot
) -> None:
    engine.submit(turn("t", 1500))
    qtbot.waitUntil(lambda: len(listener.all(StepCommitted)) > 5, timeout=30_000)
    began = time.perf_counter()
    assert engine.close()
    seconds = time.perf_counter() - began
    print(f"closed in mid-reply within {seconds * 1000:.0f} ms")
    assert seconds < 2
