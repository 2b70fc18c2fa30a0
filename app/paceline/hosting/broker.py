"""The queue of requests to one engine, with a ticket for each.

Any number of clients (the window, other programs, token counting, idle work) share one engine,
which carries out one command at a time. The more urgent priority goes first, and within a priority
the older request. A running request is not ended for another one, except those with
`Priority.IDLE`: they give way to a reply or a load, `SayAside` and `ReadAhead` to any other
request, and may be requested again.

Cancelling is a flag beside the queue, so that it never waits for other commands; it is tied to a
ticket, so that a late click cannot stop the next one.
"""

from __future__ import annotations

import bisect
import itertools
import logging
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from enum import IntEnum
from queue import SimpleQueue
from typing import Literal, get_args

from msgspec import structs

from paceline.engine.cancel import CancelFlag
from paceline.engine.refusals import stopped
from paceline.messages import (
    AsideAnswered,
    Calibrate,
    Calibrated,
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
    LoadProgressed,
    MeasureReading,
    PairLoaded,
    PromptRendered,
    ReadAhead,
    ReadAheadEnded,
    ReadingMeasured,
    Remember,
    Remembered,
    RenderPrompt,
    SamenessChanged,
    SayAside,
    Shutdown,
    StartTurn,
    StatesDropped,
    Strategy,
    TokensCounted,
    Tune,
    TurnFailed,
    TurnFinished,
    Unload,
    Unloaded,
)
from paceline.sentence import sentence

Listener = Callable[[Event], None]
State = Literal["waiting", "running", "over"]

EngineEvent = LoadProgressed | PairLoaded | LoadFailed | Unloaded | SamenessChanged | EngineDied
"""Events that concern all users of the engine."""
_OF_ENGINE = get_args(EngineEvent)

_ANSWERS: dict[type[Command], tuple[type[Event], ...]] = {
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
}
"""The events that end a request."""
STOPPABLE = (LoadPair, StartTurn, Calibrate, MeasureReading, SayAside, ReadAhead)
"""Commands that can be cancelled while they are carried out."""
_STARTING = (LoadPair, DescribeEngine)
"""Commands that start an engine if there is none; they do not fail by the death of the engine
before."""
_PRESSING = (StartTurn, LoadPair)

_logger = logging.getLogger(__name__)


class Priority(IntEnum):
    """The order in which requests are carried out: the lowest number goes first."""

    PERSON = 0
    PROGRAM = 1
    TOOL = 2
    COUNTING = 3
    IDLE = 4


def _hear_nothing(_event: Event) -> None:
    """No-op listener, used after the given one has failed."""


class Ticket:
    """One request: its state, its events, and a way to stop it. Any thread.

    Events go to the given listener, on the client's thread; without a listener they are kept, and
    iterating over the ticket yields each of them and ends after the last.

    Attributes:
        command: The command.
        priority: Priority of the request.
        asker: Name of the requesting part or program, for people.
        gave_way: Whether it was ended for a more urgent request.
        answer: The event that ended it, or None if it is not over, or its command has no answer.
        turn: The turn that a `Tune` is for; None means the running one.
        is_stopped: Whether it will be stopped as soon as it begins.
    """

    def __init__(
        self,
        broker: Broker,
        command: Command,
        priority: Priority,
        on_event: Listener | None,
        asker: str,
    ) -> None:
        self.command = command
        self.priority = priority
        self.asker = asker
        self.gave_way = False
        self.answer: Event | None = None
        self.turn: Ticket | None = None
        self.is_stopped = False
        self._ends = (*_ANSWERS.get(type(command), ()), EngineDied)
        self._broker = broker
        self._on_event = on_event
        self._events: SimpleQueue[Event | None] = SimpleQueue()
        self._is_running = False
        self._is_over = threading.Event()

    @property
    def state(self) -> State:
        """Its state: a request waits, runs, then is over."""
        if self._is_over.is_set():
            return "over"
        return "running" if self._is_running else "waiting"

    @property
    def place(self) -> int:
        """Position in the queue: 1 is the next one; 0 means that it runs or is over."""
        return self._broker.place_of(self)

    def cancel(self) -> None:
        """Stop it: a running one soon, a waiting one at once. Never waits."""
        self._broker.cancel(self)

    def tune(self, strategy: Strategy) -> None:
        """Let a turn draft by another strategy from its next step on; ignored once it is over."""
        self._broker.tune(self, strategy)

    def wait(self, timeout: float | None = None) -> Event | None:
        """Wait until it is over and return its answer, or None if it has none or at the timeout.

        Args:
            timeout: Seconds; None waits without a limit.
        """
        self._is_over.wait(timeout)
        return self.answer if self._is_over.is_set() else None

    def __iter__(self) -> Iterator[Event]:
        """Yield every event as it comes; for one reader, and a ticket without a listener."""
        while (event := self._events.get()) is not None:
            yield event
        self._events.put(None)  # who iterates again must not wait for ever

    # -------------------------------------------------------------------- for the broker alone

    def begin(self) -> None:
        """Note that it runs."""
        self._is_running = True

    def tell(self, event: Event) -> None:
        """Pass an event on; nothing comes after the answer."""
        if self.answer is not None:
            return
        if isinstance(event, self._ends):
            self.answer = event
        if self._on_event is None:
            self._events.put(event)
            return
        try:
            self._on_event(event)
        except Exception:  # one asker's fault must not end the engine for the others
            _logger.exception("the listener of a request failed")
            self._on_event = _hear_nothing
            self.cancel()

    def end(self) -> None:
        """Note that it is over."""
        self._events.put(None)
        self._is_over.set()


class Broker:
    """Takes requests from any thread, and hands them to the one thread that drives the engine.

    Attributes:
        flag: Stops the running command; polled by the engine.
        running: The ticket that is being carried out, or None.
    """

    def __init__(self) -> None:
        self.flag = CancelFlag()
        self.running: Ticket | None = None
        self._changed = threading.Condition()
        self._numbers = itertools.count()
        self._waiting: list[tuple[Priority, int, Ticket]] = []
        self._beside: deque[Ticket] = deque()  # carried out beside the running turn
        self._watchers: list[Callable[[EngineEvent], None]] = []
        self._death: EngineDied | None = None
        self._is_idle = self._is_closed = False

    # --------------------------------------------------------------- for askers, on any thread

    def request(
        self,
        command: Command,
        priority: Priority = Priority.PERSON,
        on_event: Listener | None = None,
        asker: str = "",
    ) -> Ticket:
        """Queue a command.

        Args:
            command: The command.
            priority: Priority of the request.
            on_event: Called with each of its events on the engine's thread, or on the caller's if
                the request ends while it waits. None: the ticket keeps the events.
            asker: Name of the requesting part or program, for people.

        Returns:
            Its ticket. After `close` it is over and answered by an `EngineDied`.
        """
        ticket = Ticket(self, command, priority, on_event, asker)
        with self._changed:
            is_refused = self._is_closed
            if not is_refused:
                self._queue(ticket)
        if is_refused:
            self._finish(ticket, CLOSED)
        return ticket

    def _queue(self, ticket: Ticket) -> None:
        """Let a ticket wait for its turn; the lock is held."""
        if isinstance(ticket.command, DropStates):
            self._stop_reading(ticket.command.owners)
        bisect.insort(self._waiting, (ticket.priority, next(self._numbers), ticket))
        self._make_way(ticket)
        self._changed.notify()

    def _stop_reading(self, owners: Sequence[str]) -> None:
        """Stop reading ahead for owners whose states will be dropped; the lock is held."""
        for _, _, each in self._waiting:
            if isinstance(each.command, ReadAhead):
                owner = each.command.turn.owner
                each.is_stopped |= not owners or (owner is not None and owner.name in owners)

    def _make_way(self, ticket: Ticket) -> None:
        """Stop idle work that delays this request; the lock is held."""
        running = self.running
        if self._is_idle:
            self.flag.set()
        elif (
            running is not None
            and running.priority == Priority.IDLE
            and isinstance(running.command, STOPPABLE)
            and ticket.priority < Priority.IDLE
            and (
                isinstance(running.command, (SayAside, ReadAhead))
                or (ticket.priority < Priority.COUNTING and isinstance(ticket.command, _PRESSING))
            )
        ):
            running.gave_way = True
            self.flag.set()

    def watch(self, listener: Callable[[EngineEvent], None]) -> None:
        """Call `listener` with every `EngineEvent` on the engine's thread, before the request's."""
        self._watchers.append(listener)

    def place_of(self, ticket: Ticket) -> int:
        """Return the place of a ticket; see `Ticket.place`."""
        with self._changed:
            waiting = [each for _, _, each in self._waiting]
        return waiting.index(ticket) + 1 if ticket in waiting else 0

    def cancel(self, ticket: Ticket) -> None:
        """Stop a request; see `Ticket.cancel`."""
        with self._changed:
            if ticket is self.running and isinstance(ticket.command, STOPPABLE):
                self.flag.set()
            was_waiting = self._remove(ticket)
        if was_waiting:
            self._finish(ticket, stopped(ticket.command))

    def cancel_open(self) -> None:
        """Stop the running request, or the waiting one as soon as it begins.

        For a queue with one client, which sends a request only after the last one has ended.
        """
        with self._changed:
            if self.running is not None and isinstance(self.running.command, STOPPABLE):
                self.flag.set()
            else:
                stoppable = (t for _, _, t in self._waiting if isinstance(t.command, STOPPABLE))
                first = next(stoppable, None)
                if first is not None:
                    first.is_stopped = True

    def tune(self, ticket: Ticket, strategy: Strategy) -> None:
        """Change a turn's strategy; see `Ticket.tune`."""
        command = ticket.command
        assert isinstance(command, StartTurn)
        with self._changed:
            if ticket is self.running:
                tune = Ticket(self, Tune(strategy), Priority.PERSON, None, "")
                tune.turn = ticket
                self._queue(tune)
            elif ticket.state == "waiting":
                ticket.command = structs.replace(command, strategy=strategy)

    @property
    def is_closed(self) -> bool:
        """True once the program ends; any thread may ask."""
        return self._is_closed

    def close(self) -> None:
        """Stop the running request, answer the waiting ones, and refuse new ones."""
        with self._changed:
            self._is_closed = True
            self.flag.set()  # what cannot be cancelled, such as the start of a process, heeds it
            waiting = self._take_all()
            goodbye = Ticket(self, Shutdown(), Priority.PERSON, None, "")
            self._waiting.append((Priority.PERSON, next(self._numbers), goodbye))
            self._changed.notify()
        for ticket in waiting:
            self._finish(ticket, CLOSED)

    # ------------------------------------------------------------- for the engine's thread alone

    def take(self, timeout: float | None = None) -> Ticket | None:
        """Take the next request and make it the running one; `done` says when it is over.

        Args:
            timeout: Seconds to wait for one; None waits without a limit.

        Returns:
            None when none came in time.
        """
        with self._changed:
            self._is_idle = False
            if not self._changed.wait_for(lambda: bool(self._waiting), timeout):
                return None
            _, _, ticket = self._waiting.pop(0)
            self.running = ticket
            if self._is_closed or ticket.is_stopped:
                self.flag.set()
            else:
                self.flag.clear()
            ticket.begin()
            return ticket

    def done(self) -> None:
        """Mark the running request as carried out."""
        with self._changed:
            ticket, self.running = self.running, None
            late = [each for _, _, each in self._waiting if each.turn is not None]
            ended = [*self._beside, *filter(self._remove, late)]
            self._beside.clear()
            death, self._death = self._death, None
        assert ticket is not None
        self._finish(ticket, death)
        for each in ended:
            self._finish(each, death)

    def begin_idle(self) -> bool:
        """Begin idle work: from now on a request sets the flag at once.

        Returns:
            False when a request is there already. `take` ends idle work.
        """
        with self._changed:
            self._is_idle = not self._waiting
            if self._is_idle:
                self.flag.clear()
            return self._is_idle

    def take_between(self) -> Tune | Remember | DropStates | None:
        """Take a command that can be carried out between two steps of the running turn.

        That is a `Tune` for it, or a command after a deletion.
        """
        if not self._waiting:  # the common case costs no lock; a missed request waits one step
            return None
        with self._changed:
            for _, _, ticket in self._waiting:
                command = ticket.command
                if isinstance(command, (Tune, Remember, DropStates)):
                    self._remove(ticket)
                    if isinstance(command, Tune):
                        ticket.end()  # its answer is the turn's
                    else:
                        ticket.begin()
                        self._beside.append(ticket)
                    return command
        return None

    def emit(self, event: Event) -> None:
        """Pass an event of the engine to the watchers, then to the request's listener."""
        if isinstance(event, _OF_ENGINE):
            self._tell_all(event)
        if isinstance(event, EngineDied):
            self._die(event)
        elif isinstance(event, (Remembered, StatesDropped)) and self._beside:
            self._finish(self._beside.popleft(), event)
        elif self.running is not None:
            self.running.tell(event)

    def _die(self, death: EngineDied) -> None:
        """Answer requests that need the dead engine's models; a waiting load stays queued."""
        ticket = self.running
        if ticket is not None and isinstance(ticket.command, _STARTING):
            self._death = death  # its answer, unless another engine gives one
        elif ticket is not None:
            ticket.tell(death)
        with self._changed:
            gone = [*self._beside, *self._take_all(keeps=_STARTING)]
            self._beside.clear()
        for each in gone:
            self._finish(each, death)

    def fail(self, death: EngineDied) -> None:
        """Answer everything with a death, after the service has ended by an error."""
        self._tell_all(death)
        with self._changed:
            running, self.running, self._death = self.running, None, None
            gone = [*filter(None, [running]), *self._beside, *self._take_all()]
            self._beside.clear()
        for ticket in gone:
            self._finish(ticket, death)

    # ------------------------------------------------------------------------------- within

    def _tell_all(self, event: EngineEvent) -> None:
        """Pass an event to the watchers; an error of one is only logged."""
        for listener in tuple(self._watchers):
            try:
                listener(event)
            except Exception:  # as in `Ticket.tell`
                _logger.exception("a listener of the engine failed")

    def _remove(self, ticket: Ticket) -> bool:
        """Remove a ticket from the queue and return whether it was there; the lock is held."""
        n_before = len(self._waiting)
        self._waiting = [each for each in self._waiting if each[2] is not ticket]
        return len(self._waiting) < n_before

    def _take_all(self, keeps: tuple[type[Command], ...] = ()) -> list[Ticket]:
        """Empty the queue but for some kinds of commands; the lock is held."""
        keeps = (*keeps, Shutdown)
        taken = [each[2] for each in self._waiting if not isinstance(each[2].command, keeps)]
        self._waiting = [each for each in self._waiting if isinstance(each[2].command, keeps)]
        return taken

    @staticmethod
    def _finish(ticket: Ticket, answer: Event | None) -> None:
        """End a request, with `answer` if it has none yet."""
        if answer is not None:
            ticket.tell(answer)
        ticket.end()


CLOSED = EngineDied(sentence("The engine was shut down."))
