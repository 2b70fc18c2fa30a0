"""The engine called from the caller's own thread: command line, benchmarks, tests and scripts.

With `ProcessService` the engine itself runs in a process of its own, and the caller's thread waits
for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paceline.hosting.client import Inbox, Listener, Service, ServiceFactory
from paceline.messages import Command, Event, Shutdown

if TYPE_CHECKING:
    from collections.abc import Callable

    from paceline.engine.model.backend import Backend


def make_engine_service(
    emit: Callable[[Event], None],
    inbox: Inbox,
    *,
    backend: Callable[[], Backend] | None = None,
) -> Service:
    """Make the engine itself; it loads the native library, or `backend`, on the first need."""
    from paceline.engine.service import EngineService

    return EngineService(emit, take_between=inbox.take_between, cancel=inbox.flag, backend=backend)


class InlineClient:
    """An `EngineClient` whose `submit` returns when the command is done.

    A listener may submit commands from within an event (a `Tune` reaches the running turn at its
    next step, anything else runs afterwards); another thread may `cancel`.
    """

    def __init__(self, make_service: ServiceFactory = make_engine_service) -> None:
        self._inbox = Inbox()
        self._listener: Listener | None = None
        self._service = make_service(self._emit, self._inbox)
        self._busy = False
        self._alive = True

    def submit(self, command: Command) -> None:
        """Carry out the command, and those that were submitted meanwhile."""
        if not self._alive:
            return
        self._inbox.put(command)
        if self._busy:
            return
        self._busy = True
        try:
            while (queued := self._inbox.get(timeout=0)) is not None:
                self._service.handle(queued)
                if isinstance(queued, Shutdown):
                    self._alive = False
                    break
        finally:
            self._busy = False

    def cancel(self, request_id: str) -> None:
        """Stop the turn or load of this id."""
        self._inbox.cancel(request_id)

    def set_listener(self, listener: Listener | None) -> None:
        """Deliver events to `listener`, on the thread that submits."""
        self._listener = listener

    def close(self) -> bool:
        """Free the models."""
        self._inbox.cancel_current()
        self.submit(Shutdown())
        return not self._alive

    @property
    def is_alive(self) -> bool:
        """Whether commands are still taken."""
        return self._alive

    def _emit(self, event: Event) -> None:
        if self._listener is not None:
            self._listener(event)


def inline_client(*, in_process: bool) -> InlineClient:
    """Return a client whose engine runs here, or `in_process`: in a process of its own."""
    if in_process:
        from paceline.hosting.process import ProcessService

        return InlineClient(ProcessService)
    return InlineClient()
