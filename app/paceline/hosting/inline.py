"""The engine called from the caller's own thread: command line, benchmarks, tests and scripts.

With `ProcessService` the engine itself runs in a process of its own, and the caller's thread waits
for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paceline.hosting.broker import Broker, EngineEvent, Listener, Priority, Ticket
from paceline.hosting.client import Service, ServiceFactory
from paceline.messages import Command, Event

if TYPE_CHECKING:
    from collections.abc import Callable

    from paceline.engine.model.backend import Backend


def make_engine_service(
    emit: Callable[[Event], None],
    broker: Broker,
    *,
    backend: Callable[[], Backend] | None = None,
) -> Service:
    """Make the engine itself; it loads the native library, or `backend`, on the first need."""
    from paceline.engine.service import EngineService

    return EngineService(
        emit, take_between=broker.take_between, cancel=broker.flag, backend=backend
    )


class InlineClient:
    """An `EngineClient` whose `request` returns when the command is done.

    A listener may ask from within an event (a `Ticket.tune` reaches the running turn at its next
    step, anything else runs afterwards); another thread may cancel.
    """

    def __init__(self, make_service: ServiceFactory = make_engine_service) -> None:
        self._broker = Broker()
        self._service = make_service(self._emit, self._broker)
        self._alive = True
        self._listener: Listener | None = None

    def request(
        self,
        command: Command,
        priority: Priority = Priority.PERSON,
        on_event: Listener | None = None,
        asker: str = "",
    ) -> Ticket:
        """Carry out the command, and what was asked for meanwhile."""
        ticket = self._broker.request(command, priority, on_event, asker)
        if self._broker.running is None:
            self._carry_out()
        return ticket

    def _carry_out(self) -> None:
        while (ticket := self._broker.take(timeout=0)) is not None:
            try:
                self._service.handle(ticket.command)
            finally:
                self._broker.done()

    def watch(self, listener: Callable[[EngineEvent], None]) -> None:
        """Call `listener` with what concerns all askers, on the thread that asks."""
        self._broker.watch(listener)

    @property
    def running(self) -> Ticket | None:
        """The request that is being carried out; None: none is."""
        return self._broker.running

    def close(self) -> bool:
        """Free the models."""
        if self._alive:
            self._alive = False
            self._broker.close()
            if self._broker.running is None:
                self._carry_out()
        return True

    # TRANSITION
    def submit(self, command: Command) -> None:
        """Carry out the command."""
        if self._alive:
            self._broker.submit(command)
            if self._broker.running is None:
                self._carry_out()

    def cancel(self, request_id: str) -> None:
        """Stop the turn or load of this id."""
        self._broker.cancel_id(request_id)

    def set_listener(self, listener: Listener | None) -> None:
        """Deliver events to `listener`, on the thread that submits."""
        self._listener = listener
        self._broker.on_refusal = listener or (lambda _: None)

    def _emit(self, event: Event) -> None:
        self._broker.emit(event)
        if self._listener is not None:
            self._listener(event)


def inline_client(*, in_process: bool) -> InlineClient:
    """Return a client whose engine runs here, or `in_process`: in a process of its own."""
    if in_process:
        from paceline.hosting.process import ProcessService

        return InlineClient(ProcessService)
    return InlineClient()
