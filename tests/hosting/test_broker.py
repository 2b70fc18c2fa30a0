"""The queue in front of the engine: a state machine of all that askers and the engine may do."""

from __future__ import annotations

import itertools
import threading
from collections import defaultdict
from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)
from msgspec import structs

from message_samples import sample
from paceline.hosting.broker import CLOSED, Broker, EngineEvent, Priority, Ticket
from paceline.messages import (
    AsideAnswered,
    Calibrate,
    Calibrated,
    Chat,
    Command,
    CountTokens,
    DescribeEngine,
    DropStates,
    Encode,
    Encoded,
    EngineDescribed,
    EngineDied,
    Event,
    LoadFailed,
    LoadPair,
    MeasureReading,
    ModelParams,
    PairLoaded,
    PromptRendered,
    RawText,
    ReadAhead,
    ReadAheadEnded,
    ReadingMeasured,
    Remember,
    Remembered,
    RenderPrompt,
    Reset,
    SamenessChanged,
    SayAside,
    Shutdown,
    StartTurn,
    StateOwner,
    StatesDropped,
    TokensCounted,
    Tune,
    TuneApplied,
    TurnFailed,
    TurnFinished,
    Unload,
    Unloaded,
)
from paceline.params import Strategy

PERSON, PROGRAM, TOOL, COUNTING, IDLE = Priority
LOAD = LoadPair(ModelParams("m.gguf"))
TURN = StartTurn(RawText(""))
OWNED = ReadAhead(StartTurn(RawText(""), owner=StateOwner("a chat")))
END = TurnFailed("x", "The end.", "")
DEATH = EngineDied("It died.")

ANSWERS: dict[type[Command], tuple[type[Event], ...]] = {
    LoadPair: (PairLoaded, LoadFailed),
    StartTurn: (TurnFinished, TurnFailed),
    DescribeEngine: (EngineDescribed,),
    CountTokens: (TokensCounted,),
    RenderPrompt: (PromptRendered,),
    Encode: (Encoded,),
    Remember: (Remembered,),
    DropStates: (StatesDropped,),
    Calibrate: (Calibrated,),
    MeasureReading: (ReadingMeasured,),
    SayAside: (AsideAnswered,),
    ReadAhead: (ReadAheadEnded,),
    Unload: (Unloaded,),
    Reset: (),
}
"""The events that end a request, by its command."""
STOPPABLE: dict[Command, Event | None] = {
    TURN: TurnFailed("cancelled", "Stopped.", ""),
    LOAD: LoadFailed("cancelled", "Stopped.", ""),
    Calibrate(): Calibrated(problem="Stopped."),
    MeasureReading(): ReadingMeasured(),
    SayAside(TURN, "What is its title?"): AsideAnswered(),
    OWNED: None,
}
"""Commands that can be stopped while they are carried out, with the answer where they wait."""
OTHERS: dict[Command, Event | None] = {
    Encode(RawText("")): Encoded(code="cancelled", problem="Stopped."),
    RenderPrompt(Chat(())): PromptRendered(problem="Stopped."),
    CountTokens(Chat(())): None,
    DescribeEngine(): None,
    Remember("chat"): None,
    DropStates(("a chat",)): None,
    DropStates(("another",)): None,
    DropStates(()): None,
    Unload(): None,
    Reset(): None,
}
STOPPED = STOPPABLE | OTHERS
STARTING = (LOAD, DescribeEngine())
"""Commands that the death of the engine before does not end."""
EVENTS = (END, TuneApplied(Strategy.of("off")), Unloaded(), sample(SamenessChanged))
BESIDE = (Remembered("chat"), StatesDropped())


@pytest.fixture
def broker() -> Broker:
    return Broker()


def begun(broker: Broker, command: Command = TURN) -> tuple[Ticket, list[Event]]:
    """Return a request that runs, and its events as they come."""
    events: list[Event] = []
    ticket = broker.request(command, PERSON, events.append)
    assert broker.take(0) is ticket
    return ticket, events


# ------------------------------------------------------------------------------ the state machine


class Lives(RuleBasedStateMachine):
    """Requests, cancels, tunes, events, deaths and ends at any time, against a model of lists."""

    tickets = Bundle("tickets")

    def __init__(self) -> None:
        super().__init__()
        self.broker = Broker()
        self.flag = self.is_closed = self.is_idle = False
        self.waiting: list[Ticket | Tune | Shutdown] = []
        """Waiting requests in their expected order; a `Tune` belongs to the running turn."""
        self.beside: list[Ticket] = []
        self.running: Ticket | Shutdown | None = None
        self.death_to_tell: EngineDied | None = None
        self.stopped: set[Ticket] = set()
        self.giving_way: set[Ticket] = set()
        self.heard: dict[Ticket, list[Event]] = {}
        self.expected: dict[Ticket, list[Event]] = defaultdict(list)
        self.answered: set[Ticket] = set()
        self.over: set[Ticket] = set()
        self.watched: list[Event] = []
        self.to_watch: list[Event] = []
        self.broker.watch(self.watched.append)

    # ----------------------------------------------------------------------------------- the model

    def _tell(self, ticket: Ticket | Tune | Shutdown | None, event: Event | None) -> None:
        """Expect that a request receives an event, unless it has its answer."""
        if not isinstance(ticket, Ticket) or event is None or ticket in self.answered:
            return
        self.expected[ticket].append(event)
        if isinstance(event, (*ANSWERS[type(ticket.command)], EngineDied)):
            self.answered.add(ticket)

    def _end(self, ticket: Ticket | Tune | Shutdown | None, answer: Event | None) -> None:
        self._tell(ticket, answer)
        if isinstance(ticket, Ticket):
            self.over.add(ticket)

    def _take_all(self, *keeps: type[Command]) -> list[Ticket | Tune | Shutdown]:
        def is_kept(each: Ticket | Tune | Shutdown) -> bool:
            command = each.command if isinstance(each, Ticket) else each
            return isinstance(command, (*keeps, Shutdown))

        taken = [each for each in self.waiting if not is_kept(each)]
        self.waiting = list(filter(is_kept, self.waiting))
        return taken

    def _insert(self, entry: Ticket | Tune | Shutdown, priority: Priority) -> None:
        """Put it after all that are as urgent."""
        urgent = [
            each
            for each in self.waiting
            if (each.priority if isinstance(each, Ticket) else PERSON) <= priority
        ]
        self.waiting.insert(len(urgent), entry)

    def _is_running(self, *kinds: type[Command]) -> bool:
        return isinstance(self.running, Ticket) and isinstance(self.running.command, kinds)

    # --------------------------------------------------------------------------------------- rules

    @rule(
        target=tickets,
        command=st.sampled_from([TURN, TURN, LOAD, OWNED, *STARTING, *STOPPED]),
        priority=st.sampled_from([IDLE, *Priority]),
    )
    def ask(self, command: Command, priority: Priority) -> Ticket:
        return self.request(command, priority)

    @rule(ticket=tickets, data=st.data())
    def ask_otherwise(self, ticket: Ticket, data: st.DataObject) -> None:
        """Cancel or tune a request, or what a process is asked for."""
        steps = [self.cancel_open, *[partial(act, ticket) for act in (self.cancel, self.tune)]]
        data.draw(st.sampled_from(steps))()

    @rule(data=st.data())
    def go_on(self, data: st.DataObject) -> None:
        """Let the engine's thread take its next step; one rule for all, so that no life idles."""
        steps: list[Callable[[], object]] = 3 * [self.take] + [self.begin_idle]
        if self.running is not None:
            steps = 3 * [self.done] + 3 * [self.answer] + 3 * [self.take_between] + [self.die]
            steps += [partial(self.emit, event) for event in EVENTS]
            steps += [partial(self.answer_beside, event) for event in BESIDE]
        if isinstance(self.running, Ticket):
            steps += 2 * [partial(self.tune, self.running)]
        data.draw(st.sampled_from([*4 * steps, self.fail, self.close]))()

    # --------------------------------------------------------------------------------------- steps

    def request(self, command: Command, priority: Priority) -> Ticket:
        events: list[Event] = []
        ticket = self.broker.request(command, priority, events.append)
        self.heard[ticket] = events
        if self.is_closed:
            self._end(ticket, CLOSED)
            return ticket
        if isinstance(command, DropStates) and command.owners != ("another",):
            self.stopped |= {
                each
                for each in self.waiting
                if isinstance(each, Ticket) and isinstance(each.command, ReadAhead)
            }
        self._insert(ticket, priority)
        running = self.running
        if self.is_idle:
            self.flag = True
        elif isinstance(running, Ticket) and running.priority is IDLE:
            presses = isinstance(command, (StartTurn, LoadPair)) and priority < COUNTING
            if (self._is_running(SayAside, ReadAhead) and priority < IDLE) or (
                self._is_running(*map(type, STOPPABLE)) and presses
            ):
                self.flag = True
                self.giving_way.add(running)
        return ticket

    def take(self) -> None:
        ticket = self.broker.take(0)
        self.is_idle = False
        self.running = self.waiting.pop(0) if self.waiting else None  # type: ignore[assignment]
        if isinstance(self.running, Shutdown):
            assert ticket is not None
            assert ticket.command == Shutdown()
        else:
            assert ticket is self.running
        if self.running is not None:
            self.flag = self.is_closed or self.running in self.stopped

    def take_between(self) -> None:
        expected: Command | None = None
        for each in self.waiting:
            command = each.command if isinstance(each, Ticket) else each
            if isinstance(command, (Tune, Remember, DropStates)):
                expected = command
                self.waiting.remove(each)
                self.beside += [each] if isinstance(each, Ticket) else []
                break
        assert self.broker.take_between() == expected

    def done(self) -> None:
        self.broker.done()
        death, self.death_to_tell = self.death_to_tell, None
        for each in [self.running, *self.beside]:
            self._end(each, death)
        self.beside.clear()
        self.waiting = [each for each in self.waiting if not isinstance(each, Tune)]
        self.running = None

    def begin_idle(self) -> None:
        self.is_idle = not self.waiting
        assert self.broker.begin_idle() is self.is_idle
        if self.is_idle:
            self.flag = False

    def emit(self, event: Event) -> None:
        self.broker.emit(event)
        self.to_watch += [event] if isinstance(event, EngineEvent) else []
        self._tell(self.running, event)

    def answer(self) -> None:
        if isinstance(self.running, Ticket):
            kinds = ANSWERS[type(self.running.command)]
            if kinds and not issubclass(kinds[0], (Remembered, StatesDropped)):
                self.emit(sample(kinds[-1]))

    def answer_beside(self, event: Event) -> None:
        self.broker.emit(event)
        if self.beside:
            self._end(self.beside.pop(0), event)
        else:
            self._tell(self.running, event)

    def die(self) -> None:
        self.broker.emit(DEATH)
        self.to_watch.append(DEATH)
        if self._is_running(LoadPair, DescribeEngine):
            self.death_to_tell = DEATH
        else:
            self._tell(self.running, DEATH)
        for each in [*self.beside, *self._take_all(LoadPair, DescribeEngine)]:
            self._end(each, DEATH)
        self.beside.clear()

    def fail(self) -> None:
        self.broker.fail(DEATH)
        self.to_watch.append(DEATH)
        for each in [self.running, *self.beside, *self._take_all()]:
            self._end(each, DEATH)
        self.beside.clear()
        self.running = self.death_to_tell = None

    def cancel(self, ticket: Ticket) -> None:
        ticket.cancel()
        if ticket is self.running:
            self.flag |= isinstance(ticket.command, tuple(map(type, STOPPABLE)))
        elif ticket in self.waiting:
            self.waiting.remove(ticket)
            command = ticket.command
            if isinstance(command, StartTurn):  # its strategy may be another one
                command = TURN
            self._end(ticket, STOPPED[command])

    def cancel_open(self) -> None:
        self.broker.cancel_open()
        if self._is_running(*map(type, STOPPABLE)):
            self.flag = True
            return
        for each in self.waiting:
            if isinstance(each, Ticket) and isinstance(each.command, tuple(map(type, STOPPABLE))):
                self.stopped.add(each)
                return

    def tune(self, ticket: Ticket) -> None:
        if not isinstance(ticket.command, StartTurn):
            return
        was, strategy = ticket.command, Strategy.of("suffix")
        ticket.tune(strategy)
        if ticket is self.running:
            self._insert(Tune(strategy), PERSON)
        is_waiting = ticket in self.waiting
        assert ticket.command == (structs.replace(was, strategy=strategy) if is_waiting else was)

    def close(self) -> None:
        self.broker.close()
        self.is_closed = self.flag = True
        for each in self._take_all():
            self._end(each, CLOSED)
        self.waiting.append(Shutdown())

    # ---------------------------------------------------------------------------------- invariants

    @invariant()
    def each_request_hears_what_is_its_own(self) -> None:
        for ticket, events in self.heard.items():
            assert events == self.expected[ticket], ticket.command
            assert ticket.answer == (events[-1] if ticket in self.answered else None)
            assert ticket.gave_way is (ticket in self.giving_way)
        assert self.watched == self.to_watch

    @invariant()
    def each_request_knows_its_state_and_place(self) -> None:
        is_running = isinstance(self.running, Shutdown) or self.broker.running is self.running
        assert is_running
        assert self.broker.flag.is_set() is self.flag
        assert self.broker.is_closed is self.is_closed
        for ticket in self.heard:
            if ticket in self.waiting:
                assert (ticket.state, ticket.place) == ("waiting", self.waiting.index(ticket) + 1)
            else:
                state = "over" if ticket in self.over else "running"
                assert (ticket.state, ticket.place) == (state, 0)

    def teardown(self) -> None:
        """See that no wait lasts for ever."""
        self.broker.close()
        if self.running is not None:
            self.broker.done()
        assert all(ticket.state == "over" for ticket in self.heard)


def test_random_lives(is_long: bool) -> None:
    n_lives = 1000 if is_long else 100
    run_state_machine_as_test(
        Lives, settings=settings(max_examples=n_lives, stateful_step_count=40)
    )


# ------------------------------------------------------------------------- the rows of its tables


@pytest.mark.parametrize(
    ("command", "answer"), [(command, each) for command in ANSWERS for each in ANSWERS[command]]
)
def test_a_request_is_answered_by_the_event_that_ends_it(
    broker: Broker, command: type[Command], answer: type[Event]
) -> None:
    ticket, events = begun(broker, sample(command))
    changed = sample(SamenessChanged)
    broker.emit(changed)
    assert ticket.answer is None
    broker.emit(sample(answer))
    broker.emit(changed)
    broker.done()
    assert ticket.wait(0) == ticket.answer == sample(answer)
    assert events == [changed, sample(answer)], "nothing comes after the answer"


@pytest.mark.parametrize("command", STOPPED)
def test_a_cancel_stops_what_can_be_stopped_and_never_what_comes_next(
    broker: Broker, command: Command
) -> None:
    running, _ = begun(broker, command)
    events: list[Event] = []
    waiting = broker.request(command, PERSON, events.append)
    waiting.cancel()
    waiting.cancel()
    answer = STOPPED[command]
    assert (waiting.state, waiting.wait(0)) == ("over", answer)
    assert events == ([] if answer is None else [answer])
    assert not broker.flag.is_set(), "what runs goes on"
    running.cancel()
    assert broker.flag.is_set() is (command in STOPPABLE)
    broker.done()
    begun(broker)
    running.cancel()
    assert not broker.flag.is_set(), "it was meant for the one before"


def test_idle_work_alone_gives_way_and_to_the_urgent_alone() -> None:
    """Every command at every priority, while every other one runs."""
    for first, was, command, priority in itertools.product(STOPPED, Priority, STOPPED, Priority):
        broker = Broker()
        running = broker.request(first, was)
        broker.take(0)
        broker.request(command, priority)
        presses = isinstance(command, (StartTurn, LoadPair)) and priority in (PERSON, PROGRAM, TOOL)
        is_extra = isinstance(first, (SayAside, ReadAhead)) and priority is not IDLE
        gives_way = was is IDLE and first in STOPPABLE and (presses or is_extra)
        assert (running.gave_way, broker.flag.is_set()) == (gives_way, gives_way)


def test_after_an_error_of_the_service_texts_are_answered_to_those_who_ask_then(
    broker: Broker,
) -> None:
    begun(broker)
    broker.request(Remember("before"), IDLE)
    broker.take_between()
    broker.fail(DEATH)
    begun(broker)
    after = broker.request(Remember("after"), IDLE)
    broker.take_between()
    broker.emit(Remembered("after"))
    assert after.answer == Remembered("after")


# ------------------------------------------------------------------------------------- listeners


def test_a_ticket_without_a_listener_keeps_its_events(broker: Broker) -> None:
    ticket = broker.request(TURN, asker="an editor")
    broker.take(0)
    assert broker.running is not None
    assert broker.running.asker == "an editor"
    tuned = TuneApplied(Strategy.of("off"))
    broker.emit(tuned)
    broker.emit(END)
    broker.done()
    assert list(ticket) == [tuned, END]
    assert list(ticket) == [], "what is over is never waited for"


def broken(event: Event) -> None:
    raise ZeroDivisionError


def test_a_listener_that_fails_costs_its_own_request_alone(
    broker: Broker, allow_warnings: Callable[[str], None]
) -> None:
    allow_warnings("the listener of a request failed")
    broker.request(TURN, PERSON, broken)
    broker.take(0)
    broker.emit(TuneApplied(Strategy.of("off")))
    assert broker.flag.is_set(), "there is no one left to hear it"
    broker.emit(END)
    broker.done()


@pytest.mark.parametrize("end", [Broker.emit, Broker.fail])
def test_a_watcher_that_fails_leaves_the_others_their_events_and_answers(
    broker: Broker,
    end: Callable[[Broker, EngineDied], None],
    allow_warnings: Callable[[str], None],
) -> None:
    allow_warnings("a listener of the engine failed")
    order: list[str] = []
    broker.watch(broken)
    broker.watch(lambda _event: order.append("watcher"))
    broker.request(TURN, PERSON, lambda _event: order.append("running"))
    broker.take(0)
    broker.request(TURN, PROGRAM, lambda _event: order.append("waiting"))
    end(broker, DEATH)
    assert order == ["watcher", "running", "waiting"]


# --------------------------------------------------------------------------------------- threads


@pytest.mark.parametrize("end", [Broker.done, lambda broker: broker.fail(DEATH)])
def test_threads_wait_for_a_request_and_for_its_end(
    broker: Broker, end: Callable[[Broker], None]
) -> None:
    taken: list[Ticket | None] = []
    taker = threading.Thread(target=lambda: taken.append(broker.take()))
    taker.start()
    ticket = broker.request(DescribeEngine())
    taker.join(5)
    assert taken == [ticket]
    ended: list[str] = []

    def wait() -> None:
        ticket.wait(10)
        ended.append(ticket.state)

    waiter = threading.Thread(target=wait)
    waiter.start()
    end(broker)
    waiter.join(10)
    assert ended == ["over"]


def test_no_request_is_lost_between_threads(broker: Broker) -> None:
    n_threads, n_each = 4, 250
    tickets: list[Ticket] = []

    def carry_out() -> None:
        while (ticket := broker.take()) is not None and ticket.command != Shutdown():
            broker.emit(END)
            broker.done()

    def ask(number: int) -> None:
        for i in range(n_each):
            ticket = broker.request(TURN, PROGRAM)
            tickets.append(ticket)
            if (i + number) % 3 == 0:
                ticket.cancel()

    engine = threading.Thread(target=carry_out)
    askers = [threading.Thread(target=ask, args=(i,)) for i in range(n_threads)]
    for thread in [engine, *askers]:
        thread.start()
    for asker in askers:
        asker.join()
    broker.request(Shutdown(), IDLE)
    engine.join(20)
    assert len(tickets) == n_threads * n_each
    assert {ticket.state for ticket in tickets} == {"over"}
    assert all(list(ticket) in ([END], [STOPPED[TURN]]) for ticket in tickets)
