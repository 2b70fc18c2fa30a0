"""The promises of every `EngineClient`, whatever carries its commands out; and of those that
stand in for one in tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import cast

import pytest

from gui.fake_client import FakeClient
from hosting.obedient import TURN, Obedient, played, process_of
from hosting.rig import wait_until
from inline_client import InlineClient
from paceline.content import Chat
from paceline.hosting.broker import CLOSED, Priority, Ticket
from paceline.hosting.client import EngineClient
from paceline.hosting.threaded import ThreadedClient
from paceline.messages import (
    Command,
    CountTokens,
    EngineDied,
    Event,
    LoadPair,
    LoadProgressed,
    ModelParams,
    PairLoaded,
    RawText,
    StartTurn,
    StepCommitted,
    TuneApplied,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from paceline.params import Strategy

PERSON, IDLE = Priority.PERSON, Priority.IDLE
LOAD = LoadPair(ModelParams("/m/target.gguf"))
Act = Callable[[Ticket], None]


def kinds(events: Iterable[Event]) -> list[type[Event]]:
    return [type(event) for event in events]


class Stage:
    """A client on threads of its own, whose engine is `Obedient`.

    Attributes:
        client: The client.
    """

    def __init__(self, client: EngineClient) -> None:
        self.client = client

    def until(self, is_so: Callable[[], object]) -> None:
        """Wait until something is so."""
        wait_until(lambda: bool(is_so()), 20)

    def ask(self, command: Command) -> tuple[Ticket, list[Event]]:
        """Send a request, wait until it has ended, and return its events."""
        heard: list[Event] = []
        ticket = self.client.request(command, on_event=heard.append)
        self.until(lambda: ticket.state == "over" and heard[-1:] == [ticket.answer])
        return ticket, heard

    def during(self, act: Act, end: str = "end", priority: Priority = PERSON) -> Ticket:
        """Do something while a turn runs, cancel the turn, and wait until it is over.

        Args:
            act: Called with the turn's ticket.
            end: The turn's answer to a cancel: "end" or "die".
            priority: The turn's.
        """
        heard: list[Event] = []
        turn = StartTurn(RawText(f"wait {end}"))
        ticket = self.client.request(turn, priority, heard.append)
        self.until(lambda: heard)
        act(ticket)
        ticket.cancel()
        self.until(lambda: ticket.state == "over")
        return ticket


class InlineStage(Stage):
    """The client of tests, whose `request` returns when all is carried out."""

    def during(self, act: Act, end: str = "end", priority: Priority = PERSON) -> Ticket:
        """Act within the turn's first event."""

        def hear(event: Event) -> None:
            running = self.client.running
            if isinstance(event, TurnStarted) and running is not None:
                act(running)
                running.cancel()

        return self.client.request(StartTurn(RawText(f"wait {end}")), priority, hear)


class FakeStage(Stage):
    """The window's fake client, for which each test plays the engine."""

    @property
    def fake(self) -> FakeClient:
        return cast("FakeClient", self.client)

    def ask(self, command: Command) -> tuple[Ticket, list[Event]]:
        """Ask, and emit the answer."""
        heard: list[Event] = []
        ticket = self.client.request(command, on_event=heard.append)
        for event in played(command):
            self.fake.emit(event, ticket)
        return ticket, heard

    def during(self, act: Act, end: str = "end", priority: Priority = PERSON) -> Ticket:
        """Play the turn, and then all that was asked for meanwhile."""
        turn = StartTurn(RawText(f"wait {end}"))
        ticket = self.client.request(turn, priority)
        first, *rest = played(turn)
        self.fake.emit(first, ticket)
        act(ticket)
        for event in rest:
            self.fake.emit(event, ticket)
        for each in self.fake.tickets:
            if each.state != "over":
                for event in played(each.command):
                    self.fake.emit(event, each)
        return ticket


class AnswersContract:
    """Promises about events and answers."""

    def test_a_request_hears_its_events_in_order_and_its_answer_last(self, stage: Stage) -> None:
        for command, expected in (
            (LOAD, [LoadProgressed, PairLoaded]),
            (TURN, [TurnStarted, StepCommitted, TurnFinished]),
            (StartTurn(RawText("fail")), [TurnStarted, StepCommitted, TurnFailed]),
        ):
            ticket, heard = stage.ask(command)
            assert kinds(heard) == expected
            assert (ticket.answer, ticket.place) == (heard[-1], 0)

    def test_events_for_all_reach_watchers_before_the_requester(self, stage: Stage) -> None:
        order: list[tuple[str, type[Event]]] = []
        stage.client.watch(lambda event: order.append(("watcher", type(event))))
        stage.client.watch(lambda event: order.append(("another", type(event))))
        _, heard = stage.ask(LOAD)
        stage.ask(TURN)
        stage.until(lambda: len(order) == 4)
        expected = [(who, kind) for kind in kinds(heard) for who in ("watcher", "another")]
        assert order == expected, "a turn's events are its asker's alone"

    def test_a_death_answers_each_request_once_and_a_load_continues(self, stage: Stage) -> None:
        stage.ask(LOAD)
        heard: dict[Command, list[Event]] = {TURN: [], CountTokens(Chat(())): [], LOAD: []}
        deaths: list[Event] = []
        stage.client.watch(
            lambda event: deaths.append(event) if isinstance(event, EngineDied) else None
        )

        def ask_more(_turn: Ticket) -> None:
            for command, events in heard.items():
                stage.client.request(command, on_event=events.append)

        turn = stage.during(ask_more, "die")
        stage.until(lambda: kinds(heard[LOAD]) == [LoadProgressed, PairLoaded])
        (death,) = deaths
        assert turn.answer == death
        assert heard[TURN] == heard[CountTokens(Chat(()))] == [death]
        assert kinds(stage.ask(TURN)[1])[-1] is TurnFinished, "the next one works"

    def test_idle_work_gives_way_to_a_reply(self, stage: Stage) -> None:
        stage.ask(LOAD)
        turn = stage.during(lambda _turn: stage.client.request(TURN) and None, priority=IDLE)
        assert turn.gave_way
        assert not stage.during(lambda _turn: stage.client.request(TURN) and None).gave_way


class ClientContract(AnswersContract):
    """Promises of a client with a queue and an engine."""

    def test_the_more_urgent_goes_first_one_at_a_time(self, stage: Stage) -> None:
        stage.ask(LOAD)
        told: list[tuple[Priority, type[Event]]] = []

        def ask_more(turn: Ticket) -> None:
            def ask(priority: Priority) -> Ticket:
                def hear(event: Event) -> None:
                    told.append((priority, type(event)))

                return stage.client.request(TURN, priority, hear, "an editor")

            waiting = [ask(priority) for priority in reversed(Priority)]
            assert [ticket.place for ticket in waiting] == [5, 4, 3, 2, 1]
            assert {ticket.state for ticket in waiting} == {"waiting"}
            assert stage.client.running is turn
            assert (turn.state, turn.place) == ("running", 0)

        stage.during(ask_more)
        each = [TurnStarted, StepCommitted, TurnFinished]
        stage.until(lambda: len(told) == len(each) * len(Priority))
        assert told == [(priority, kind) for priority in Priority for kind in each]
        stage.until(lambda: stage.client.running is None)

    def test_a_cancel_ends_what_runs_and_removes_what_waits(self, stage: Stage) -> None:
        stage.ask(LOAD)
        heard: list[Event] = []
        over, _ = stage.ask(TURN)

        def cancel(turn: Ticket) -> None:
            waiting = stage.client.request(TURN, on_event=heard.append)
            waiting.cancel()
            over.cancel()
            assert (waiting.state, waiting.answer) == ("over", TURN_STOPPED)
            assert turn.state == "running", "it was not meant for this one"

        answer = stage.during(cancel).answer
        assert isinstance(answer, TurnFinished)
        assert answer.reason == "cancelled"
        stage.until(lambda: heard == [TURN_STOPPED])

    def test_a_tune_reaches_the_turn_that_runs_and_no_later_one(self, stage: Stage) -> None:
        stage.ask(LOAD)
        heard: list[Event] = []

        def hear(event: Event) -> None:
            heard.append(event)
            if isinstance(event, TurnStarted) and stage.client.running is not None:
                stage.client.running.tune(Strategy.of("suffix"))

        def tune(turn: Ticket) -> None:
            turn.tune(Strategy.of("draft"))
            stage.client.request(StartTurn(RawText("until tuned")), on_event=hear)

        turn = stage.during(tune)
        turn.tune(Strategy.of("off"))  # it is over
        stage.until(lambda: len(heard) == 4)
        assert heard[1] == TuneApplied(Strategy.of("suffix"))

    def test_closing_stops_what_runs_and_answers_what_waits(self, stage: Stage) -> None:
        stage.ask(LOAD)
        waiting: list[Ticket] = []

        def close(_turn: Ticket) -> None:
            waiting.extend(stage.client.request(TURN) for _ in range(3))
            assert stage.client.close()

        turn = stage.during(close)
        assert isinstance(turn.answer, TurnFinished)
        assert turn.answer.reason == "cancelled"
        assert [ticket.answer for ticket in waiting] == [CLOSED] * 3
        assert stage.client.request(TURN).wait(0) == CLOSED
        assert stage.client.request(CountTokens(Chat(()))).wait(0) == CLOSED
        assert stage.client.close(), "twice is fine"


TURN_STOPPED = TurnFailed("cancelled", "Stopped.", "")
CLIENTS: dict[str, Callable[[], Stage]] = {
    "inline": lambda: InlineStage(InlineClient(Obedient)),
    "thread": lambda: Stage(ThreadedClient(Obedient)),
    "process": lambda: Stage(ThreadedClient(process_of)),
}


class TestClients(ClientContract):
    """The clients of the program, and the inline one of its tests."""

    @pytest.fixture(params=CLIENTS)
    def stage(
        self, request: pytest.FixtureRequest, allow_warnings: Callable[[str], None]
    ) -> Iterator[Stage]:
        allow_warnings("engine's process ended")
        stage = CLIENTS[request.param]()
        yield stage
        assert stage.client.close()


class TestFakeClient(AnswersContract):
    """The window's fake client; its requests run all at once, so it promises no order of them."""

    @pytest.fixture
    def stage(self) -> Stage:
        return FakeStage(FakeClient())
