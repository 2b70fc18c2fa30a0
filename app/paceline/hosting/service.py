"""What carries commands out, wherever it runs: the engine itself, or a process that has it.

A host (`inline`, the window's engine thread) owns an `Inbox` and one service. It hands the service
one command after the other, on one thread; the service emits events on that thread.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from paceline.hosting.inbox import Inbox
from paceline.messages import Command, Event

if TYPE_CHECKING:
    from paceline.engine.backend import Backend


class Service(Protocol):
    """Carries out commands; `EngineService` and `ProcessService` are ones."""

    def handle(self, command: Command) -> None:
        """Carry the command out and return when it is done."""


@runtime_checkable
class Watcher(Protocol):
    """A service to which something can happen between two commands."""

    def look(self) -> None:
        """See whether something has happened; called now and then while there is nothing to do."""


@runtime_checkable
class Idler(Protocol):
    """A service that has something to do between two commands."""

    def idle(self) -> bool:
        """Do a little of it, which the inbox's flag may stop; False: nothing is left to do."""


IDLE_AFTER_S = 0.2
"""Commands of a script or a benchmark follow each other sooner: that is no idle time."""


def next_command(
    inbox: Inbox, idle: Callable[[], bool] | None, timeout: float | None = None
) -> Command | None:
    """Take the next command; when none comes for a while, use the time.

    Args:
        inbox: Where commands come from. One that comes while the time is used stops that by the
            flag.
        idle: `Idler.idle`, or None.
        timeout: Seconds to wait behind that; None waits as long as it takes.

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


def make_engine_service(
    emit: Callable[[Event], None],
    inbox: Inbox,
    *,
    backend: Callable[[], Backend] | None = None,
) -> Service:
    """Make the engine itself; it loads the native library, or `backend`, when it first needs it."""
    from paceline.engine.service import EngineService

    return EngineService(emit, take_tune=inbox.take_tune, cancel=inbox.flag, backend=backend)


def make_process_service(emit: Callable[[Event], None], inbox: Inbox) -> Service:
    """Make an engine that lives in a process of its own."""
    from paceline.hosting.process import ProcessService

    return ProcessService(emit, inbox)
