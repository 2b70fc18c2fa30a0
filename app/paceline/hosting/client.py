"""The interface to the engine, the same wherever it runs.

A client owns a `Broker`, the queue of requests, and one service: the engine itself, or one that
passes commands to an engine in a process of its own. On one thread it gives the service one command
after the other; the service emits events on that thread.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from paceline.hosting.broker import Broker, EngineEvent, Listener, Priority, Ticket
from paceline.messages import Command, Event


class EngineClient(Protocol):
    """Requests in, events out; any thread may ask."""

    def request(
        self,
        command: Command,
        priority: Priority = Priority.PERSON,
        on_event: Listener | None = None,
        asker: str = "",
    ) -> Ticket:
        """Queue a command; see `Broker.request`."""

    def watch(self, listener: Callable[[EngineEvent], None]) -> None:
        """Call `listener` with the events that concern all users; see `Broker.watch`."""

    @property
    def running(self) -> Ticket | None:
        """The request that is being carried out, or None."""

    def close(self) -> bool:
        """Stop what runs, shut the engine down and wait for it; False when it did not end."""


class QueuedClient:
    """The part of an `EngineClient` that is the same whatever drives its engine: the queue."""

    def __init__(self) -> None:
        self._broker = Broker()

    def request(
        self,
        command: Command,
        priority: Priority = Priority.PERSON,
        on_event: Listener | None = None,
        asker: str = "",
    ) -> Ticket:
        """Queue a command; see `Broker.request`."""
        ticket = self._broker.request(command, priority, on_event, asker)
        self._drive()
        return ticket

    def _drive(self) -> None:
        """Ensure that queued requests are carried out; called on the caller's thread after each."""
        raise NotImplementedError

    def watch(self, listener: Callable[[EngineEvent], None]) -> None:
        """Call `listener` with the events that concern all users; see `Broker.watch`."""
        self._broker.watch(listener)

    @property
    def running(self) -> Ticket | None:
        """The request that is being carried out, or None."""
        return self._broker.running


class Service(Protocol):
    """Carries out commands: `EngineService` or `ProcessService`."""

    def handle(self, command: Command) -> None:
        """Carry the command out and return when it is done."""


@runtime_checkable
class Watcher(Protocol):
    """A service whose state can change between two commands."""

    def look(self) -> None:
        """Check for a change; called regularly while no command is carried out."""


@runtime_checkable
class Idler(Protocol):
    """A service that uses the time between two commands."""

    def idle(self) -> bool:
        """Do a part of the work, which the broker's flag may stop; return False if none is left."""


IDLE_AFTER_S = 0.2
"""Seconds without a command after which idle time begins; commands of a script or a benchmark
follow each other faster."""


def next_ticket(
    broker: Broker, idle: Callable[[], bool] | None, timeout: float | None = None
) -> Ticket | None:
    """Take the next request; do idle work when none comes for `IDLE_AFTER_S`.

    Args:
        broker: Holds the requests. A new one sets its flag, which stops idle work.
        idle: `Idler.idle`, or None.
        timeout: Seconds to wait after that; None waits without a limit.

    Returns:
        None when no request came in time.
    """
    if idle is not None:
        ticket = broker.take(IDLE_AFTER_S)
        if ticket is not None:
            return ticket
        while broker.begin_idle() and idle():
            pass
    return broker.take(timeout)


ServiceFactory = Callable[[Callable[[Event], None], Broker], Service]
"""Makes a service from the receiver of its events and the broker of its commands."""
