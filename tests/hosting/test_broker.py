"""The queue in front of the engine: order, cancelling, what runs beside a turn, and the end."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from message_samples import sample
from paceline.hosting.broker import CLOSED, Broker, Priority, Ticket
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
END = TurnFailed("x", "The end.", "")
DEATH = EngineDied("It died.")
STOPPED = TurnFailed("cancelled", "Stopped.", "")
ASIDE = SayAside(TURN, "What is its title?")
AHEAD = ReadAhead(TURN)


@pytest.fixture
def broker() -> Broker:
    return Broker()


def begun(
    broker: Broker, command: Command = TURN, priority: Priority = PERSON
) -> tuple[Ticket, list[Event]]:
    """A request that runs, and its events as they come."""
    events: list[Event] = []
    ticket = broker.request(command, priority, events.append)
    assert broker.take(0) is ticket
    return ticket, events


def listened(
    broker: Broker, command: Command = TURN, priority: Priority = PERSON
) -> tuple[Ticket, list[Event]]:
    """A request that waits, and its events as they come."""
    events: list[Event] = []
    return broker.request(command, priority, events.append), events


# ------------------------------------------------------------------------------------ the order


def test_the_more_urgent_goes_first_and_then_who_came_first(broker: Broker) -> None:
    order = [IDLE, PROGRAM, COUNTING, PERSON, TOOL, PROGRAM, PERSON, IDLE]
    tickets = [broker.request(TURN, priority) for priority in order]
    ranked = sorted(tickets, key=lambda ticket: ticket.priority)
    assert [ticket.place for ticket in ranked] == list(range(1, 9))
    for ticket in ranked:
        assert ticket.state == "waiting"
        assert broker.take(0) is ticket
        assert (ticket.state, ticket.place, broker.running) == ("running", 0, ticket)
        broker.done()
        assert (ticket.state, ticket.place, broker.running) == ("over", 0, None)
    assert broker.take(0) is None


def test_a_ticket_says_who_asked(broker: Broker) -> None:
    broker.request(TURN, PROGRAM, asker="an editor")
    broker.take(0)
    assert broker.running is not None
    assert broker.running.asker == "an editor"


def test_take_waits_for_a_request_of_another_thread(broker: Broker) -> None:
    taken: list[Ticket | None] = []
    thread = threading.Thread(target=lambda: taken.append(broker.take()))
    thread.start()
    ticket = broker.request(DescribeEngine())
    thread.join(5)
    assert taken == [ticket]


# ------------------------------------------------------------------------------------ cancelling


@pytest.mark.parametrize("command", [LOAD, TURN, Calibrate(), MeasureReading(), ASIDE, AHEAD])
def test_cancel_reaches_what_runs(broker: Broker, command: Command) -> None:
    ticket, _ = begun(broker, command)
    assert not broker.flag.is_set()
    ticket.cancel()
    assert broker.flag.is_set()
    assert ticket.state == "running"
    broker.done()
    begun(broker)
    assert not broker.flag.is_set(), "it was meant for the one before"


def test_a_late_cancel_cannot_stop_the_next_turn(broker: Broker) -> None:
    old, _ = begun(broker)
    broker.done()
    begun(broker)
    old.cancel()
    assert not broker.flag.is_set()


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        (TURN, STOPPED),
        (LOAD, LoadFailed("cancelled", "Stopped.", "")),
        (Calibrate(), Calibrated(problem="Stopped.")),
        (MeasureReading(), ReadingMeasured()),
        (ASIDE, AsideAnswered()),
        (AHEAD, None),
        (Encode(RawText("")), Encoded(code="cancelled", problem="Stopped.")),
        (RenderPrompt(Chat(())), PromptRendered(problem="Stopped.")),
        (CountTokens(Chat(())), None),
        (Reset(), None),
    ],
)
def test_what_waits_is_over_at_once_when_it_is_cancelled(
    broker: Broker, command: Command, answer: Event | None
) -> None:
    begun(broker)
    ticket, events = listened(broker, command)
    other = broker.request(TURN)
    ticket.cancel()
    ticket.cancel()
    assert events == ([] if answer is None else [answer])
    assert (ticket.state, ticket.wait(0)) == ("over", answer)
    assert not broker.flag.is_set(), "what runs goes on"
    broker.done()
    assert broker.take(0) is other


def test_one_asker_of_a_process_stops_what_runs_or_comes_next(broker: Broker) -> None:
    broker.cancel_open()
    broker.request(Remember("chat"))
    broker.request(TURN)
    broker.cancel_open()
    for flagged in (False, True):
        broker.take(0)
        assert broker.flag.is_set() is flagged
        broker.done()
    begun(broker)
    assert not broker.flag.is_set()
    broker.cancel_open()
    assert broker.flag.is_set()


# ---------------------------------------------------------------------------------- giving way


@pytest.mark.parametrize("priority", [PERSON, PROGRAM, TOOL])
@pytest.mark.parametrize("command", [TURN, LOAD])
def test_idle_work_gives_way_to_a_reply_or_a_load(
    broker: Broker, priority: Priority, command: Command
) -> None:
    ticket, events = begun(broker, TURN, IDLE)
    broker.request(DescribeEngine())
    broker.request(CountTokens(Chat(())), COUNTING)
    broker.request(TURN, COUNTING)
    assert not broker.flag.is_set()
    broker.request(command, priority)
    assert broker.flag.is_set()
    assert ticket.gave_way
    broker.emit(STOPPED)
    assert events == [STOPPED]


@pytest.mark.parametrize("priority", [PERSON, PROGRAM, TOOL, COUNTING])
def test_nothing_else_is_ended_for_another(broker: Broker, priority: Priority) -> None:
    ticket, _ = begun(broker, TURN, priority)
    broker.request(TURN, PERSON)
    assert not broker.flag.is_set()
    assert not ticket.gave_way


@pytest.mark.parametrize(
    ("owners", "is_stopped"), [(("a chat",), True), (("another",), False), ((), True)]
)
def test_what_waits_to_be_read_ahead_is_not_read_once_it_is_to_be_dropped(
    broker: Broker, owners: tuple[str, ...], *, is_stopped: bool
) -> None:
    begun(broker)
    ahead = broker.request(ReadAhead(StartTurn(RawText(""), owner=StateOwner("a chat"))), IDLE)
    dropping = broker.request(DropStates(owners))
    broker.done()
    assert broker.take(0) is dropping
    broker.done()
    assert broker.take(0) is ahead
    assert broker.flag.is_set() is is_stopped


# --------------------------------------------------------------------------- beside what runs


def test_a_tune_reaches_the_running_turn_and_no_later_one(broker: Broker) -> None:
    ticket, events = begun(broker)
    other = broker.request(TURN)
    for name in ("off", "draft", "suffix"):
        ticket.tune(Strategy.of(name))
    assert broker.take_between() == Tune(Strategy.of("off"))
    assert broker.take_between() == Tune(Strategy.of("draft"))
    broker.emit(TuneApplied(Strategy.of("draft")))
    assert events == [TuneApplied(Strategy.of("draft"))]
    broker.done()
    ticket.tune(Strategy.of("suffix"))
    assert broker.take(0) is other
    assert broker.take_between() is None


def test_a_turn_that_waits_begins_with_its_new_strategy(broker: Broker) -> None:
    begun(broker)
    ticket = broker.request(TURN)
    ticket.tune(Strategy.of("suffix"))
    broker.done()
    broker.take(0)
    assert ticket.command == StartTurn(RawText(""), strategy=Strategy.of("suffix"))
    assert broker.take_between() is None


def test_texts_are_taken_between_two_steps_and_answered_to_their_asker(broker: Broker) -> None:
    turn, of_turn = begun(broker)
    tickets = [listened(broker, Remember(chat), IDLE) for chat in "ab"]
    broker.request(Unload())
    for ticket, _ in tickets:
        assert broker.take_between() == ticket.command
        assert ticket.state == "running"
    assert broker.take_between() is None
    for chat, (ticket, events) in zip("ab", tickets, strict=True):
        broker.emit(Remembered(chat))
        assert events == [Remembered(chat)]
        assert ticket.state == "over"
    assert (of_turn, turn.state) == ([], "running")


def test_what_was_begun_beside_a_turn_is_over_with_it(broker: Broker) -> None:
    begun(broker)
    ticket = broker.request(Remember("chat"), IDLE)
    broker.take_between()
    broker.done()
    assert ticket.wait(0) is None
    assert ticket.state == "over"


# ---------------------------------------------------------------------------------- the answers


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        (LoadPair, PairLoaded),
        (LoadPair, LoadFailed),
        (StartTurn, TurnFinished),
        (StartTurn, TurnFailed),
        (DescribeEngine, EngineDescribed),
        (CountTokens, TokensCounted),
        (RenderPrompt, PromptRendered),
        (Encode, Encoded),
        (Remember, Remembered),
        (Calibrate, Calibrated),
        (MeasureReading, ReadingMeasured),
        (SayAside, AsideAnswered),
        (ReadAhead, ReadAheadEnded),
        (Unload, Unloaded),
    ],
)
def test_a_request_is_answered_by_the_event_that_ends_it(
    broker: Broker, command: type[Command], answer: type[Event]
) -> None:
    ticket, events = begun(broker, sample(command))
    broker.emit(sample(SamenessChanged))
    assert ticket.answer is None
    broker.emit(sample(answer))
    broker.done()
    assert ticket.wait(0) == ticket.answer == sample(answer)
    assert events == [sample(SamenessChanged), sample(answer)]


def test_nothing_comes_after_the_answer(broker: Broker) -> None:
    ticket, events = begun(broker)
    for event in (END, TuneApplied(Strategy.of("off")), END, DEATH):
        broker.emit(event)
    assert events == [END]
    assert ticket.state == "running", "it may still have something to keep"
    broker.done()
    assert ticket.wait(0) == END


def test_a_ticket_without_a_listener_keeps_its_events(broker: Broker) -> None:
    ticket = broker.request(TURN)
    broker.take(0)
    tuned = TuneApplied(Strategy.of("off"))
    broker.emit(tuned)
    broker.emit(END)
    broker.done()
    assert list(ticket) == [tuned, END]
    assert list(ticket) == [], "what is over is never waited for"


def test_what_concerns_all_comes_to_those_who_watch_before_the_asker(broker: Broker) -> None:
    order: list[tuple[str, Event]] = []
    broker.watch(lambda event: order.append(("all", event)))
    broker.request(LOAD, PERSON, lambda event: order.append(("one", event)))
    broker.take(0)
    failed = LoadFailed("x", "No.", "")
    broker.emit(failed)
    broker.done()
    assert order == [("all", failed), ("one", failed)]
    changed = sample(SamenessChanged)
    broker.emit(changed)
    assert order[2:] == [("all", changed)], "in idle time there is no asker"


def test_a_listener_that_fails_costs_its_own_request_alone(
    broker: Broker, allow_warnings: Callable[[str], None]
) -> None:
    allow_warnings("the listener of a request failed")

    def broken(event: Event) -> None:
        raise ZeroDivisionError

    broker.request(TURN, PERSON, broken)
    broker.take(0)
    broker.emit(TuneApplied(Strategy.of("off")))
    assert broker.flag.is_set(), "there is no one left to hear it"
    broker.emit(END)
    broker.done()


@pytest.mark.parametrize("end", [Broker.emit, Broker.fail])
def test_one_who_watches_and_fails_leaves_the_others_their_events_and_answers(
    broker: Broker,
    end: Callable[[Broker, EngineDied], None],
    allow_warnings: Callable[[str], None],
) -> None:
    allow_warnings("a listener of the engine failed")
    watched: list[Event] = []

    def broken(event: Event) -> None:
        raise ZeroDivisionError

    broker.watch(broken)
    broker.watch(watched.append)
    _, of_running = begun(broker)
    _, of_waiting = listened(broker, TURN, PROGRAM)
    end(broker, DEATH)
    assert (watched, of_running, of_waiting) == ([DEATH], [DEATH], [DEATH])


# ------------------------------------------------------------------------------------- the end


def test_a_death_answers_all_that_needs_the_models_once(broker: Broker) -> None:
    watched: list[Event] = []
    broker.watch(watched.append)
    running, of_running = begun(broker)
    remembering, of_remembering = listened(broker, Remember("chat"), IDLE)
    broker.take_between()
    turn, of_turn = listened(broker, TURN, PROGRAM)
    count, of_count = listened(broker, CountTokens(Chat(())), COUNTING)
    load, of_load = listened(broker, LOAD)
    broker.emit(DEATH)
    broker.emit(END)
    broker.done()
    for ticket, events in (
        (running, of_running), (remembering, of_remembering), (turn, of_turn), (count, of_count),
    ):  # fmt: skip
        assert (ticket.state, events) == ("over", [DEATH])
    assert watched == [DEATH]
    assert of_load == []
    assert broker.take(0) is load, "another engine answers it"


@pytest.mark.parametrize("command", [LOAD, DescribeEngine()])
def test_the_death_of_the_engine_before_is_not_the_end_of_one_that_starts(
    broker: Broker, command: Command
) -> None:
    described = EngineDescribed("1", "", devices=())
    answer: Event = LoadFailed("x", "No.", "") if command is LOAD else described
    ticket, events = begun(broker, command)
    broker.emit(DEATH)
    broker.emit(answer)
    broker.done()
    assert (events, ticket.wait(0)) == ([answer], answer)
    unanswered, events = begun(broker, command)
    broker.emit(DEATH)
    broker.done()
    assert events == [DEATH]
    assert unanswered.wait(0) == DEATH


def test_an_error_of_the_service_answers_even_loads(broker: Broker) -> None:
    made = [begun(broker), listened(broker, LOAD), listened(broker, Reset(), IDLE)]
    broker.fail(DEATH)
    assert broker.running is None
    for ticket, events in made:
        assert (ticket.state, events) == ("over", [DEATH])
    assert broker.take(0) is None


def test_closing_answers_what_waits_and_takes_no_more(broker: Broker) -> None:
    running, of_running = begun(broker)
    waiting, of_waiting = listened(broker)
    broker.close()
    assert broker.flag.is_set()
    assert (waiting.state, of_waiting) == ("over", [CLOSED])
    late, of_late = listened(broker)
    assert (late.state, of_late) == ("over", [CLOSED])
    assert (running.state, of_running) == ("running", [])
    broker.done()
    last = broker.take(0)
    assert last is not None
    assert last.command == Shutdown()
    assert broker.flag.is_set()


def test_a_wait_for_a_ticket_ends_however_it_ends(broker: Broker) -> None:
    ends = [broker.done, lambda: broker.fail(DEATH)]
    for end in ends:
        ticket, _ = begun(broker)
        answers: list[Event | None] = []
        thread = threading.Thread(target=lambda t=ticket, a=answers: a.append(t.wait(10)))  # type: ignore[misc]
        thread.start()
        end()
        thread.join(10)
        assert len(answers) == 1


# --------------------------------------------------------------------------------- random lives


class Lives(RuleBasedStateMachine):
    """Any asker may do anything at any time; against a model of lists."""

    tickets = Bundle("tickets")
    COMMANDS: tuple[Command, ...] = (
        TURN, LOAD, DescribeEngine(), CountTokens(Chat(())), Encode(Chat(())), Remember("chat"),
        Calibrate(), MeasureReading(), ASIDE, AHEAD, Reset(), Unload(),
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self.broker = Broker()
        self.heard: dict[Ticket, list[Event]] = {}
        self.running: Ticket | None = None
        self.flag = False
        self.is_closed = False

    @rule(target=tickets, command=st.sampled_from(COMMANDS), priority=st.sampled_from(Priority))
    def ask(self, command: Command, priority: Priority) -> Ticket:
        events: list[Event] = []
        ticket = self.broker.request(command, priority, events.append)
        self.heard[ticket] = events
        running = self.running
        if (
            running is not None
            and running.priority is IDLE
            and isinstance(running.command, (StartTurn, LoadPair, Calibrate, MeasureReading))
            and priority < COUNTING
            and isinstance(command, (StartTurn, LoadPair))
            and not self.is_closed
        ) or (
            running is not None
            and running.priority is IDLE
            and isinstance(running.command, (SayAside, ReadAhead))
            and priority < IDLE
            and not self.is_closed
        ):
            self.flag = True
        return ticket

    @precondition(lambda self: self.running is None)
    @rule()
    def take(self) -> None:
        waiting = [t for t in self.heard if t.state == "waiting"]
        ticket = self.broker.take(0)
        self.running, self.flag = ticket, self.is_closed
        if self.is_closed:
            assert waiting == []
            assert ticket is None or ticket.command == Shutdown()
        else:
            assert ticket is min(waiting, key=lambda t: t.priority, default=None)

    @precondition(lambda self: self.running is not None)
    @rule()
    def between(self) -> None:
        waiting = [t for t in self.heard if t.state == "waiting"]
        texts = [t for t in waiting if isinstance(t.command, Remember)]
        command = self.broker.take_between()
        if not isinstance(command, Tune):
            assert (command is None) is (not texts)

    @precondition(lambda self: self.running is not None)
    @rule(
        event=st.sampled_from(
            [END, TuneApplied(Strategy.of("off")), Remembered("chat"), Unloaded()]
        )
    )
    def emit(self, event: Event) -> None:
        self.broker.emit(event)

    @precondition(lambda self: self.running is not None)
    @rule()
    def done(self) -> None:
        self.broker.done()
        self.running = None

    @rule()
    def die(self) -> None:
        self.broker.emit(DEATH)
        waiting = [t for t in self.heard if t.state == "waiting"]
        assert all(isinstance(t.command, (LoadPair, DescribeEngine)) for t in waiting)

    @rule()
    def fail(self) -> None:
        self.broker.fail(DEATH)
        self.running = None
        assert all(ticket.state == "over" for ticket in self.heard)

    @rule(ticket=tickets)
    def cancel(self, ticket: Ticket) -> None:
        was = ticket.state
        ticket.cancel()
        if ticket is self.running:
            self.flag |= isinstance(
                ticket.command,
                (StartTurn, LoadPair, Calibrate, MeasureReading, SayAside, ReadAhead),
            )
        elif was == "waiting":
            assert ticket.state == "over"

    @rule(ticket=tickets)
    def tune(self, ticket: Ticket) -> None:
        if isinstance(ticket.command, StartTurn):
            ticket.tune(Strategy.of("suffix"))

    @rule()
    def close(self) -> None:
        self.broker.close()
        self.is_closed = self.flag = True

    @invariant()
    def the_flag_is_for_what_runs(self) -> None:
        assert self.broker.running is self.running
        if self.running is not None:
            assert self.broker.flag.is_set() is self.flag

    @invariant()
    def no_ticket_is_answered_twice(self) -> None:
        waiting = sorted(
            (t for t in self.heard if t.state == "waiting"), key=lambda t: (t.priority, t.place)
        )
        for ticket, events in self.heard.items():
            answers = [event for event in events if event == ticket.answer]
            assert len(answers) <= 1
            assert (ticket.answer is None) is (not answers)
            if ticket.state == "waiting":
                assert ticket.answer is None
        assert [t.place for t in waiting] == sorted(t.place for t in waiting)

    def teardown(self) -> None:
        """However it goes on, no wait lasts for ever."""
        self.broker.close()
        if self.running is not None:
            self.broker.done()
        assert all(ticket.state == "over" for ticket in self.heard)


def test_random_lives(is_long: bool) -> None:
    n_lives = 1000 if is_long else 100
    run_state_machine_as_test(
        Lives, settings=settings(max_examples=n_lives, stateful_step_count=40)
    )


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
    assert all(list(ticket) in ([END], [STOPPED]) for ticket in tickets)
