"""The interface to the engine, the same whether it runs inline, in a thread or in a process.

A host (`inline`, the window's engine thread) owns an `Inbox` and one service, the engine itself or
a process that runs it. It hands the service one command after the other, on one thread; the service
emits events on that thread.

Cancelling is a flag beside the inbox's queue, so that it never waits for other commands; it is tied
to the id of a turn or load, so that a late click cannot stop the next one.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from itertools import takewhile
from typing import Protocol, runtime_checkable

from paceline.engine.cancel import CancelFlag
from paceline.messages import (
    Calibrate,
    CancelTurn,
    Command,
    CountTokens,
    Event,
    LoadPair,
    Remember,
    RenderPrompt,
    Shutdown,
    StartTurn,
    Tune,
)

_URGENT = (StartTurn, LoadPair, Shutdown)


def request_id_of(command: Command) -> str | None:
    """Return what `cancel` knows a command by; None where there is nothing to cancel."""
    match command:
        case LoadPair() | Calibrate():
            return command.request_id
        case StartTurn():
            return command.turn_id
        case _:
            return None


_QUESTIONS = (CountTokens, RenderPrompt)


def _can_wait(command: Command) -> bool:
    return isinstance(command, (*_QUESTIONS, Remember))


class Inbox:
    """Thread-safe; the engine's thread alone calls `get`, `take_between` and `begin_idle`."""

    def __init__(self) -> None:
        self.flag = CancelFlag()
        self._commands: deque[Command] = deque()
        self._ready = threading.Condition()
        self._current: str | None = None
        self._is_idle = False
        self._cancelled: set[str] = set()

    def put(self, command: Command) -> None:
        """Append a command; a `CancelTurn` takes effect at once instead.

        Of several questions of a kind that wait only the last one stays. A turn, a load and the end
        overtake what waits at the end of the queue and is in no hurry: counting and remembering.
        """
        if isinstance(command, CancelTurn):
            self.cancel(command.turn_id)
            return
        with self._ready:
            if isinstance(command, _QUESTIONS):
                self._drop_questions(type(command))
            n_after = self._n_leisurely() if isinstance(command, _URGENT) else 0
            self._commands.insert(len(self._commands) - n_after, command)
            if self._is_idle:  # idle work gives way
                self.flag.set()
            self._ready.notify()

    def begin_idle(self) -> bool:
        """Begin idle work: from now on a command that is `put` sets the flag at once.

        Returns:
            False when a command is there already. `get` ends idle work.
        """
        with self._ready:
            self._current = None
            self._is_idle = not self._commands
            if self._is_idle:
                self.flag.clear()
            return self._is_idle

    def get(self, timeout: float | None = None) -> Command | None:
        """Take the next command and make it the one that `cancel` can reach.

        Args:
            timeout: Seconds to wait for one; None waits without a limit.

        Returns:
            None when none came in time.
        """
        with self._ready:
            self._current = None
            self._is_idle = False
            if not self._ready.wait_for(lambda: bool(self._commands), timeout):
                return None
            command = self._commands.popleft()
            self._current = request_id_of(command)
            self.flag.clear()
            if self._current in self._cancelled:
                self._cancelled.discard(self._current)
                self.flag.set()
            return command

    def take_between(self, turn_id: str) -> Tune | Remember | None:
        """Take the oldest command that can be carried out between two steps of this turn.

        That is a `Tune` for it, or a `Remember`: what was deleted is not to be drafted any more.
        """
        if not self._commands:  # the common case costs no lock; a missed `put` waits one step
            return None
        with self._ready:
            for command in self._commands:
                if isinstance(command, Remember) or (
                    isinstance(command, Tune) and command.turn_id == turn_id
                ):
                    self._commands.remove(command)
                    return command
        return None

    def _drop_questions(self, kind: type[Command]) -> None:
        waiting = [c for c in self._commands if not isinstance(c, kind)]
        if len(waiting) < len(self._commands):
            self._commands = deque(waiting)

    def _n_leisurely(self) -> int:
        """Return how many commands that can wait stand at the queue's end."""
        return sum(1 for _ in takewhile(_can_wait, reversed(self._commands)))

    def cancel(self, request_id: str) -> None:
        """Stop the turn or load of this id: a running one by the flag, a queued one at its start.

        An id that is neither running nor queued is ignored.
        """
        with self._ready:
            if request_id == self._current:
                self.flag.set()
            elif any(request_id_of(command) == request_id for command in self._commands):
                self._cancelled.add(request_id)

    def cancel_current(self) -> None:
        """Stop what runs and what is queued; used when the client closes."""
        with self._ready:
            if self._current is not None:
                self.flag.set()
            for command in self._commands:
                request_id = request_id_of(command)
                if request_id is not None:
                    self._cancelled.add(request_id)


Listener = Callable[[Event], None]


class EngineClient(Protocol):
    """Commands in, events out. All methods may be called from the thread that owns the client."""

    def submit(self, command: Command) -> None:
        """Hand over a command; inline, it is carried out before this returns."""

    def cancel(self, request_id: str) -> None:
        """Stop the turn or load of this id, running or still queued. Never waits."""

    def set_listener(self, listener: Listener | None) -> None:
        """Deliver every event to `listener`, on the thread that owns the client."""

    def close(self) -> bool:
        """Cancel what runs, shut the engine down and wait for it; False when it did not end."""

    @property
    def is_alive(self) -> bool:
        """Whether commands are still taken."""


class Service(Protocol):
    """Carries out commands: `EngineService` or `ProcessService`."""

    def handle(self, command: Command) -> None:
        """Carry the command out and return when it is done."""


@runtime_checkable
class Watcher(Protocol):
    """A service to which something can happen between two commands."""

    def look(self) -> None:
        """See whether something has happened; called regularly while no command is carried out."""


@runtime_checkable
class Idler(Protocol):
    """A service that uses the time between two commands."""

    def idle(self) -> bool:
        """Do a part of the work, which the inbox's flag may stop; False: no work is left."""


IDLE_AFTER_S = 0.2
"""Commands of a script or a benchmark follow each other faster: that is no idle time."""


def next_command(
    inbox: Inbox, idle: Callable[[], bool] | None, timeout: float | None = None
) -> Command | None:
    """Take the next command; when none comes for a while, use the time.

    Args:
        inbox: Where commands come from. A command that comes while the time is used sets the
            inbox's flag, which stops that use.
        idle: `Idler.idle`, or None.
        timeout: Seconds to wait after that; None waits without a limit.

    Returns:
        None when no command came in time.
    """
    if idle is not None:
        command = inbox.get(IDLE_AFTER_S)
        if command is not None:
            return command
        while inbox.begin_idle() and idle():
            pass
    return inbox.get(timeout)


ServiceFactory = Callable[[Callable[[Event], None], Inbox], Service]
"""Makes a service from where its events go to and where its commands come from."""
