"""The engine in a thread: delivery, cancelling, death and closing."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QThread

from paceline.gui import engine_thread
from paceline.gui.engine_thread import EngineThread, make_process_service, service_factory
from paceline.hosting.inline import make_engine_service
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
    Unload,
    Unloaded,
)
from paceline.params import Strategy
from strategies import strategy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from paceline.hosting.client import Inbox
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
                tune = self.inbox.take_between(command.turn_id)
                if isinstance(tune, Tune):
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
    scripted.submit(Tune("t", Strategy.of("off")))
    qtbot.waitUntil(lambda: listener.events == [TuneApplied("t", Strategy.of("off"))])
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


def test_closing_stops_even_what_has_no_id(qtbot: QtBot) -> None:
    begun = threading.Event()
    was_stopped: list[bool] = []

    class Describing(Scripted):
        def handle(self, command: Command) -> None:
            if isinstance(command, DescribeEngine):
                begun.set()
                deadline = time.monotonic() + 2
                while not self.inbox.flag.is_set() and time.monotonic() < deadline:
                    time.sleep(0.001)  # as for the start of a process
                was_stopped.append(self.inbox.flag.is_set())

    thread = EngineThread(Describing)
    thread.submit(DescribeEngine())
    assert begun.wait(5)
    assert thread.close()
    assert was_stopped == [True]


def test_a_death_is_told_in_one_line_whatever_the_error_says(
    qtbot: QtBot, listener: Listener, allow_warnings: Callable[[str], None]
) -> None:
    allow_warnings("ended unexpectedly")

    class Wordy(Scripted):
        def handle(self, command: Command) -> None:
            raise RuntimeError("first\n\n    second")

    thread = EngineThread(Wordy)
    thread.set_listener(listener)
    thread.submit(LoadPair("x", ModelParams("")))
    qtbot.waitUntil(lambda: len(listener.events) == 1)
    assert "(RuntimeError: first second)" in listener.events[0].reason  # type: ignore[union-attr]
    assert thread.close()


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

    hangs = threading.Event()

    class Hanging(Scripted):
        def handle(self, command: Command) -> None:
            if not isinstance(command, Shutdown):
                hangs.set()
                gate.wait()

    thread = EngineThread(Hanging)
    thread.submit(StartTurn("t"))
    assert hangs.wait(5)
    assert not thread.close()
    assert thread.isRunning()
    gate.set()
    assert thread.wait(5000)


def test_the_thread_has_a_name(scripted: EngineThread) -> None:
    assert isinstance(scripted, QThread)
    assert scripted.objectName() == "engine"


# ------------------------------------------------------------- a service that watches something


class Watching(Scripted):
    """A service whose child may die: without the end of the service, or of its thread."""

    def __init__(self, emit: Callable[[Event], None], inbox: Inbox) -> None:
        super().__init__(emit, inbox)
        self.looked_on: list[threading.Thread] = []
        self.handled: list[Command] = []
        self.dies_now = False

    def handle(self, command: Command) -> None:
        self.handled.append(command)
        if isinstance(command, Unload):
            self.emit(EngineDied("Killed."))
        else:
            super().handle(command)

    def look(self) -> None:
        self.looked_on.append(threading.current_thread())
        if self.dies_now:
            self.dies_now = False
            self.emit(EngineDied("Killed while idle."))


class Maker:
    """Makes services and keeps them."""

    def __init__(self, kind: type[Scripted]) -> None:
        self.kind = kind
        self.made: list[Scripted] = []

    def __call__(self, emit: Callable[[Event], None], inbox: Inbox) -> Scripted:
        self.made.append(self.kind(emit, inbox))
        return self.made[-1]

    @property
    def last(self) -> Watching:
        service = self.made[-1]
        assert isinstance(service, Watching)
        return service


@pytest.fixture
def maker(monkeypatch: pytest.MonkeyPatch) -> Maker:
    monkeypatch.setattr(engine_thread, "LOOK_EVERY_S", 0.005)
    return Maker(Watching)


@pytest.fixture
def watching(qtbot: QtBot, maker: Maker, listener: Listener) -> Iterator[EngineThread]:
    thread = EngineThread(maker)
    thread.set_listener(listener)
    yield thread
    assert thread.close()


def test_a_death_that_the_service_survives_leaves_thread_and_service(
    watching: EngineThread, maker: Maker, listener: Listener, qtbot: QtBot
) -> None:
    watching.submit(Unload())
    watching.submit(LoadPair("x", ModelParams("")))
    qtbot.waitUntil(lambda: len(listener.events) == 2)
    assert [type(event) for event in listener.events] == [EngineDied, Unloaded]
    assert watching.is_alive
    assert watching.isRunning()
    began = time.perf_counter()
    watching.submit(LoadPair("y", ModelParams("")))  # must not wait for an end that does not come
    assert time.perf_counter() - began < 1
    qtbot.waitUntil(lambda: len(listener.events) == 3)
    assert len(maker.made) == 1


def test_a_watcher_looks_on_its_own_thread_while_it_has_nothing_to_do(
    watching: EngineThread, maker: Maker, listener: Listener, qtbot: QtBot
) -> None:
    watching.submit(LoadPair("x", ModelParams("")))
    qtbot.waitUntil(lambda: bool(maker.made) and len(maker.last.looked_on) > 2)
    assert set(maker.last.looked_on) == {maker.last.thread}
    assert maker.last.thread is not threading.main_thread()
    maker.last.dies_now = True
    qtbot.waitUntil(lambda: listener.all(EngineDied) == [EngineDied("Killed while idle.")])
    assert watching.is_alive


def test_a_service_that_watches_nothing_is_waited_for_without_end(
    scripted: EngineThread, listener: Listener, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    waits: list[float | None] = []
    original = engine_thread.Inbox.get

    def get(inbox: Inbox, timeout: float | None = None) -> Command | None:
        waits.append(timeout)
        return original(inbox, timeout)

    monkeypatch.setattr(engine_thread.Inbox, "get", get)
    scripted.submit(LoadPair("x", ModelParams("")))
    qtbot.waitUntil(lambda: len(listener.events) == 1)
    assert set(waits) == {None}


def test_a_watcher_that_fails_is_told_to_end_what_it_watches(
    watching: EngineThread,
    maker: Maker,
    listener: Listener,
    qtbot: QtBot,
    allow_warnings: Callable[[str], None],
) -> None:
    allow_warnings("ended unexpectedly")
    watching.submit(DescribeEngine())
    qtbot.waitUntil(lambda: not watching.is_alive)
    assert "ZeroDivisionError" in listener.all(EngineDied)[0].reason  # type: ignore[attr-defined]
    assert maker.last.handled == [DescribeEngine(), Shutdown()]
    watching.submit(LoadPair("x", ModelParams("")))
    qtbot.waitUntil(lambda: maker.last.handled == [LoadPair("x", ModelParams(""))])
    assert len(maker.made) == 2


def test_what_waits_is_not_begun_while_closing(
    watching: EngineThread, maker: Maker, qtbot: QtBot
) -> None:
    for number in range(5):
        watching.submit(StartTurn(f"turn-{number}"))
    qtbot.waitUntil(lambda: bool(maker.made) and len(maker.last.handled) == 1)
    assert watching.close()
    assert maker.last.handled == [StartTurn("turn-0"), Shutdown()]


def test_another_host_takes_over_when_the_work_before_it_is_done(
    watching: EngineThread,
    maker: Maker,
    listener: Listener,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = Maker(Scripted)
    wished: list[str] = []

    def factory(host: str) -> Maker:
        wished.append(host)
        return other

    monkeypatch.setattr(engine_thread, "service_factory", factory)
    watching.submit(StartTurn("t"))
    qtbot.waitUntil(lambda: bool(maker.made) and len(maker.last.handled) == 1)
    watching.change_host("thread")
    watching.submit(LoadPair("x", ModelParams("")))
    qtbot.wait(20)
    assert other.made == []
    watching.cancel("t")
    qtbot.waitUntil(lambda: len(listener.events) == 3)  # the turn, the shutdown, the load
    assert maker.last.handled == [StartTurn("t"), Shutdown()]
    assert len(other.made) == 1
    assert other.made[0].thread is maker.last.thread
    assert wished == ["thread"]
    assert watching.is_alive


def test_another_host_before_the_first_command_is_simply_used(
    watching: EngineThread, maker: Maker, listener: Listener, qtbot: QtBot
) -> None:
    watching.change_host("thread")
    assert not watching.isRunning()
    watching.submit(DescribeEngine())
    qtbot.waitUntil(lambda: len(listener.all(EngineDescribed)) == 1, timeout=30_000)
    assert maker.made == []


def test_the_settings_choose_the_service() -> None:
    assert service_factory("process") is make_process_service
    assert service_factory("thread") is make_engine_service


# ----------------------------------------------------------------- the real engine, in both hosts


@pytest.fixture(params=["thread", "process"])
def engine(
    request: pytest.FixtureRequest,
    qtbot: QtBot,
    listener: Listener,
    target_path: Path,
    draft_path: Path,
) -> Iterator[EngineThread]:
    thread = EngineThread(service_factory(request.param))
    thread.set_listener(listener)
    thread.submit(LoadPair("load", ModelParams(str(target_path)), ModelParams(str(draft_path))))
    qtbot.waitUntil(lambda: bool(listener.all(PairLoaded)), timeout=30_000)
    yield thread
    assert thread.close()


def turn(turn_id: str, max_tokens: int = 40) -> StartTurn:
    return StartTurn(
        turn_id,
        messages=(ChatMessage.of_text("user", "What is a list?"),),
        strategy=strategy("draft:n_max=4"),
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
