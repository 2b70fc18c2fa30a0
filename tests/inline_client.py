"""A client for tests that want the engine, and every event of it, on their own thread."""

from __future__ import annotations

from collections.abc import Callable

from paceline.engine.cancel import CancelFlag
from paceline.engine.pair import LoadedPair
from paceline.hosting.broker import Listener, Priority, Ticket
from paceline.hosting.client import QueuedClient, Service, ServiceFactory
from paceline.hosting.threaded import make_engine_service
from paceline.messages import Command, EngineDied, Event
from paceline.params import Strategy


class InlineClient(QueuedClient):
    """An `EngineClient` whose `request` returns when the command is done.

    A listener may send requests during an event (`tune` reaches the running turn at its next step,
    all others run afterwards); another thread may cancel.

    Attributes:
        service: Service that executes the commands.
        on_event: Called with every event in order: those of the service, and answers of the broker
            itself. An exception that it raises is raised again when the request has ended.
    """

    def __init__(
        self,
        make_service: ServiceFactory = make_engine_service,
        on_event: Callable[[Event], object] = lambda _event: None,
    ) -> None:
        super().__init__()
        self.on_event = on_event
        self.service: Service = make_service(self._emit, self._broker)
        self._last: Event | None = None
        self._death: EngineDied | None = None
        self._failure: BaseException | None = None
        self._is_closed = False

    @property
    def flag(self) -> CancelFlag:
        """Flag that stops a running command, as `cancel` does, and the engine's idle work.

        May be set from any thread.
        """
        return self._broker.flag

    @property
    def has_pair(self) -> bool:
        """Return whether an engine in this process has loaded a pair."""
        return self.service._pair is not None  # type: ignore[attr-defined]

    @property
    def pair(self) -> LoadedPair:
        """Return the pair that an engine in this process has loaded."""
        pair = self.service._pair  # type: ignore[attr-defined]
        assert isinstance(pair, LoadedPair)
        return pair

    def request(
        self,
        command: Command,
        priority: Priority = Priority.PERSON,
        on_event: Listener | None = None,
        asker: str = "",
    ) -> Ticket:
        """Carry out the command, and what was asked for meanwhile."""
        return super().request(command, priority, on_event or self._hear, asker)

    def _drive(self) -> None:
        if self.running is None:
            self._carry_out()

    def _carry_out(self) -> None:
        while (ticket := self._broker.take(timeout=0)) is not None:
            try:
                self.service.handle(ticket.command)
            finally:
                self._broker.done()
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def _emit(self, event: Event) -> None:
        self._broker.emit(event)
        self._hear(event)

    def _hear(self, event: Event) -> None:
        if event is self._last or event is self._death:  # the requester has received the answer
            return
        self._last = event
        if isinstance(event, EngineDied):
            self._death = event
        try:
            self.on_event(event)
        except BaseException as error:  # noqa: BLE001 - a test's assertion, say
            self._failure = self._failure or error
            self.cancel()

    def cancel(self) -> None:
        """Cancel what runs, if anything does; from any thread."""
        ticket = self.running
        if ticket is not None:
            ticket.cancel()

    def tune(self, strategy: Strategy) -> None:
        """Change the strategy of the turn that runs, if one does."""
        ticket = self.running
        if ticket is not None:
            ticket.tune(strategy)

    def close(self) -> bool:
        """Free the models."""
        if not self._is_closed:
            self._is_closed = True
            self._broker.close()
            self._drive()
        return True
