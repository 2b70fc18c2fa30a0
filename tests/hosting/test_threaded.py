"""The engine on a thread: order, cancelling, idle time, death and closing."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hosting.observed import engine_processes
from hosting.rig import wait_until
from paceline.hosting import client as hosting_client
from paceline.hosting import threaded
from paceline.hosting.broker import CLOSED, Broker, Ticket
from paceline.hosting.threaded import (
    ThreadedClient,
    service_factory,
)
from paceline.messages import (
    Chat,
    ChatMessage,
    Command,
    DescribeEngine,
    EngineDescribed,
    EngineDied,
    Event,
    LoadPair,
    ModelParams,
    PairLoaded,
    RawText,
    Shutdown,
    StartTurn,
    StepCommitted,
    Tune,
    TuneApplied,
    TurnFailed,
    TurnFinished,
    Unload,
    Unloaded,
)
from paceline.params import DraftModel, Strategy
from strategies import strategy

AllowWarnings = Callable[[str], None]
ENDED = TurnFailed("ended", "", "")


class Scripted:
    """A service that runs on the engine's thread; a turn lasts until it is cancelled."""

    def __init__(self, emit: Callable[[Event], None], broker: Broker) -> None:
        self.emit = emit
        self.broker = broker
        self.thread = threading.current_thread()
        self.handled: list[Command] = []

    def handle(self, command: Command) -> None:
        self.handled.append(command)
        if isinstance(command, DescribeEngine):
            raise ZeroDivisionError("first\n\n   second")
        if isinstance(command, StartTurn):
            while not self.broker.flag.is_set():
                tune = self.broker.take_between()
                if isinstance(tune, Tune):
                    self.emit(TuneApplied(Strategy.of("off")))
                time.sleep(0.001)
            self.emit(ENDED)
        elif not isinstance(command, Shutdown):
            self.emit(Unloaded())


class Maker:
    """Makes services and keeps them."""

    def __init__(self, kind: Callable[[Callable[[Event], None], Broker], Scripted]) -> None:
        self.kind = kind
        self.made: list[Scripted] = []

    def __call__(self, emit: Callable[[Event], None], broker: Broker) -> Scripted:
        self.made.append(self.kind(emit, broker))
        return self.made[-1]

    @property
    def last(self) -> Scripted:
        return self.made[-1]


@pytest.fixture
def maker() -> Maker:
    return Maker(Scripted)


@pytest.fixture
def client(maker: Maker) -> Iterator[ThreadedClient]:
    made = ThreadedClient(maker)
    yield made
    assert made.close()


TURN = StartTurn(RawText(""))


def begun(client: ThreadedClient, command: Command = TURN) -> Ticket:
    """A request that runs."""
    ticket = client.request(command)
    wait_until(lambda: ticket.state == "running")
    return ticket


def test_events_come_on_the_engines_thread_in_order(client: ThreadedClient, maker: Maker) -> None:
    assert not any(thread.name == "engine" for thread in threading.enumerate())
    heard: list[tuple[int, threading.Thread]] = []

    def hear(number: int) -> Callable[[Event], None]:
        return lambda _event: heard.append((number, threading.current_thread()))

    tickets = [client.request(Unload(), on_event=hear(i)) for i in range(500)]
    assert tickets[-1].wait(10) == Unloaded()
    assert [number for number, _ in heard] == list(range(500))
    assert {thread for _, thread in heard} == {maker.last.thread}
    assert maker.last.thread.name == "engine"


def test_an_unexpected_error_is_the_engines_death_and_the_next_request_revives_it(
    client: ThreadedClient, maker: Maker, allow_warnings: AllowWarnings
) -> None:
    allow_warnings("ended unexpectedly")
    deaths: list[Event] = []
    client.watch(lambda event: deaths.append(event) if isinstance(event, EngineDied) else None)
    for number in (1, 2):
        turn = begun(client)
        waiting = [client.request(DescribeEngine()), client.request(Unload())]
        turn.cancel()
        for ticket in waiting:
            death = ticket.wait(10)
            assert isinstance(death, EngineDied)
            assert "(ZeroDivisionError: first second)" in death.reason
        assert len(deaths) == number
        assert client.request(Unload()).wait(10) == Unloaded()
        assert len(maker.made) == number + 1


def test_what_waits_at_the_end_is_not_begun_and_the_thread_ends(
    client: ThreadedClient, maker: Maker
) -> None:
    running = begun(client)
    waiting = [client.request(StartTurn(RawText(""))) for _ in range(5)]
    assert client.close()
    assert list(running) == [ENDED]
    assert [list(ticket) for ticket in waiting] == [[CLOSED]] * 5
    assert maker.last.handled == [StartTurn(RawText("")), Shutdown()], "what waits is not begun"
    assert not maker.last.thread.is_alive()


def test_closing_makes_no_service(maker: Maker) -> None:
    assert ThreadedClient(maker).close()
    assert maker.made == []


def test_closing_stops_even_what_cannot_be_cancelled() -> None:
    begun = threading.Event()
    was_stopped: list[bool] = []

    class Describing(Scripted):
        def handle(self, command: Command) -> None:
            if isinstance(command, DescribeEngine):
                begun.set()
                deadline = time.monotonic() + 2
                while not self.broker.flag.is_set() and time.monotonic() < deadline:
                    time.sleep(0.001)  # as for the start of a process
                was_stopped.append(self.broker.flag.is_set())

    client = ThreadedClient(Describing)
    client.request(DescribeEngine())
    assert begun.wait(5)
    assert client.close()
    assert was_stopped == [True]


def test_a_hanging_engine_is_reported_and_never_terminated(
    monkeypatch: pytest.MonkeyPatch, allow_warnings: AllowWarnings
) -> None:
    allow_warnings("did not end within")
    monkeypatch.setattr(threaded, "CLOSE_S", 0.03)
    gate = threading.Event()

    class Hanging(Scripted):
        def handle(self, command: Command) -> None:
            if not isinstance(command, Shutdown):
                gate.wait()

    maker = Maker(Hanging)
    client = ThreadedClient(maker)
    begun(client)
    assert not client.close()
    assert maker.last.thread.is_alive()
    gate.set()
    maker.last.thread.join(5)
    assert not maker.last.thread.is_alive()


# -------------------------------------------------------------- a service that watches something


class Watching(Scripted):
    """A service whose child may die: without the end of the service, or of its thread."""

    def __init__(self, emit: Callable[[Event], None], broker: Broker) -> None:
        super().__init__(emit, broker)
        self.looked_on: list[threading.Thread] = []
        self.dies_now = False

    def handle(self, command: Command) -> None:
        if isinstance(command, Unload):
            self.emit(EngineDied("Killed."))
        super().handle(command)

    def look(self) -> None:
        self.looked_on.append(threading.current_thread())
        if self.dies_now:
            self.dies_now = False
            self.emit(EngineDied("Killed while idle."))


@pytest.fixture
def watcher(monkeypatch: pytest.MonkeyPatch, maker: Maker) -> Callable[[], Watching]:
    """The service that was made last."""
    monkeypatch.setattr(threaded, "POLL_EVERY_S", 0.005)
    maker.kind = Watching

    def last() -> Watching:
        assert isinstance(maker.last, Watching)
        return maker.last

    return last


def test_a_death_that_the_service_survives_leaves_thread_and_service(
    watcher: Callable[[], Watching], client: ThreadedClient, maker: Maker
) -> None:
    assert client.request(Unload()).wait(10) == EngineDied("Killed.")
    client.request(LoadPair(ModelParams(""))).wait(10)
    assert len(maker.made) == 1
    assert len(watcher().handled) == 2


def test_a_watcher_looks_on_its_own_thread_while_it_has_nothing_to_do(
    watcher: Callable[[], Watching], client: ThreadedClient, maker: Maker
) -> None:
    deaths: list[Event] = []
    client.watch(deaths.append)
    client.request(LoadPair(ModelParams(""))).wait(10)
    deaths.clear()
    wait_until(lambda: len(watcher().looked_on) > 2)
    assert set(watcher().looked_on) == {maker.last.thread}
    watcher().dies_now = True
    wait_until(lambda: deaths == [EngineDied("Killed while idle.")])
    assert client.request(LoadPair(ModelParams(""))).wait(10) is None


def test_a_service_that_watches_nothing_is_waited_for_without_end(
    client: ThreadedClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float | None] = []
    original = Broker.take

    def take(broker: Broker, timeout: float | None = None) -> Ticket | None:
        waits.append(timeout)
        return original(broker, timeout)

    monkeypatch.setattr(Broker, "take", take)
    client.request(Unload()).wait(10)
    assert set(waits) == {None}


@pytest.mark.usefixtures("watcher")
def test_a_watcher_that_fails_is_told_to_end_what_it_watches(
    client: ThreadedClient, maker: Maker, allow_warnings: AllowWarnings
) -> None:
    allow_warnings("ended unexpectedly")
    client.request(DescribeEngine()).wait(10)
    assert maker.last.handled == [DescribeEngine(), Shutdown()]


@pytest.mark.usefixtures("watcher")
def test_another_host_takes_over_when_the_work_before_it_is_done(
    client: ThreadedClient, maker: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Maker(Scripted)
    wished: list[str] = []

    def factory(host: str) -> Maker:
        wished.append(host)
        return other

    monkeypatch.setattr(threaded, "service_factory", factory)
    turn = begun(client)
    client.change_host("thread")
    unload = client.request(Unload())
    assert other.made == []
    turn.cancel()
    assert unload.wait(10) == Unloaded()
    assert maker.last.handled == [StartTurn(RawText("")), Shutdown()]
    assert other.last.handled == [Unload()]
    assert other.last.thread is maker.last.thread
    assert wished == ["thread"]


def test_another_host_before_the_first_request_is_simply_used(
    client: ThreadedClient, maker: Maker
) -> None:
    client.change_host("thread")
    assert isinstance(client.request(DescribeEngine()).wait(30), EngineDescribed)
    assert maker.made == []


# ------------------------------------------------------------------------------------ idle time


class Idling(Scripted):
    """Has three things to do in idle time after every command; the second lasts until stopped."""

    def __init__(self, emit: Callable[[Event], None], broker: Broker) -> None:
        super().__init__(emit, broker)
        self.slices = 0
        self.n_asked = 0

    def handle(self, command: Command) -> None:
        self.slices = 0
        self.emit(TurnFailed(str(self.broker.flag.is_set()), "", ""))

    def idle(self) -> bool:
        self.n_asked += 1
        if self.slices == 3:
            return False
        self.slices += 1
        if self.slices == 2:
            deadline = time.monotonic() + 60
            while not self.broker.flag.is_set() and time.monotonic() < deadline:
                time.sleep(0.001)
        return True


@pytest.fixture
def idling(monkeypatch: pytest.MonkeyPatch, maker: Maker) -> Callable[[], Idling]:
    """The service that was made last."""
    monkeypatch.setattr(hosting_client, "IDLE_AFTER_S", 0.01)
    maker.kind = Idling

    def last() -> Idling:
        assert isinstance(maker.last, Idling)
        return maker.last

    return last


def test_a_request_takes_idle_time_back_at_once(
    idling: Callable[[], Idling], client: ThreadedClient
) -> None:
    for _ in range(3):
        answer = client.request(StartTurn(RawText(""))).wait(10)
        assert answer == TurnFailed("False", "", ""), "the flag was for the idle work"
        wait_until(lambda: idling().slices == 2)
    assert client.close(), "closing takes it back, too"


def test_what_breaks_in_idle_time_is_the_engines_death(
    idling: Callable[[], Idling],
    client: ThreadedClient,
    monkeypatch: pytest.MonkeyPatch,
    allow_warnings: AllowWarnings,
) -> None:
    def broken(_service: Idling) -> bool:
        raise RuntimeError("the device is gone")

    monkeypatch.setattr(Idling, "idle", broken)
    allow_warnings("ended unexpectedly")
    deaths: list[Event] = []
    client.watch(deaths.append)
    for number in (1, 2):
        client.request(StartTurn(RawText(""))).wait(10)
        wait_until(lambda n=number: len(deaths) == n)  # type: ignore[misc]
        assert isinstance(deaths[-1], EngineDied)
        assert "device is gone" in deaths[-1].reason


# ---------------------------------------------------------------- the real engine, in both hosts


@pytest.fixture(params=["thread", "process"])
def engine(
    request: pytest.FixtureRequest, target_path: Path, draft_path: Path
) -> Iterator[ThreadedClient]:
    n_children = len(engine_processes())
    client = ThreadedClient(service_factory(request.param))
    load = LoadPair(ModelParams(str(target_path)), DraftModel(ModelParams(str(draft_path))))
    assert isinstance(client.request(load).wait(30), PairLoaded)
    assert len(engine_processes()) - n_children == (request.param == "process")
    yield client
    assert client.close()


def turn(max_tokens: int = 40) -> StartTurn:
    return StartTurn(
        Chat((ChatMessage.of_text("user", "What is a list?"),)),
        strategy=strategy("draft:n_max=4"),
        max_tokens=max_tokens,
        seed=7,
        ignore_eog=True,
    )


def test_the_real_engine_answers_and_closes_in_mid_reply(engine: ThreadedClient) -> None:
    described = engine.request(DescribeEngine()).wait(30)
    assert isinstance(described, EngineDescribed)
    events = list(engine.request(turn()))
    finished = events[-1]
    assert isinstance(finished, TurnFinished)
    assert len(finished.tokens) == 40
    steps = [event.text for event in events if isinstance(event, StepCommitted)]
    assert finished.text.startswith("".join(steps))
    ticket = engine.request(turn(1500))
    while not isinstance(next(iter(ticket)), StepCommitted):
        pass
    assert engine.close()
    assert isinstance(ticket.answer, TurnFinished)
    assert ticket.answer.reason == "cancelled"
