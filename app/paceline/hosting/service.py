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
