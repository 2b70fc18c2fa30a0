"""The interface to the engine, the same whether it runs inline, in a thread or in a process.

A host (`inline`, the window's engine thread) owns an `Inbox` and one service, the engine itself or
a process that runs it. It hands the service one command after the other, on one thread; the service
emits events on that thread.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from paceline.hosting.inbox import Inbox
from paceline.messages import Command, Event

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
