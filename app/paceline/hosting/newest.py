"""Requests to the engine of which only the newest counts, such as those about a changing text."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from paceline.hosting.broker import Priority, Ticket
from paceline.hosting.client import EngineClient
from paceline.messages import Command, Event


class NewestQuestion:
    """Sends one kind of request; a new one replaces the one before. On the client's thread.

    Args:
        client: The engine.
        on_event: Called with each event of the newest question; the last one is its answer.
        priority: Priority of the request.
    """

    def __init__(
        self,
        client: EngineClient,
        on_event: Callable[[Event], None],
        priority: Priority = Priority.COUNTING,
    ) -> None:
        self._client = client
        self._hear = on_event
        self._priority = priority
        self._ticket: Ticket | None = None
        self._n_asked = 0

    def ask(self, command: Command) -> None:
        """Send a request; events of earlier ones are ignored from now on."""
        self.drop()
        on_event = partial(self._on_event, self._n_asked)
        self._ticket = self._client.request(command, self._priority, on_event)

    def drop(self) -> None:
        """Ignore events of all requests so far."""
        self._n_asked += 1
        if self._ticket is not None:
            self._ticket.cancel()
            self._ticket = None

    def _on_event(self, number: int, event: Event) -> None:
        if number == self._n_asked:
            self._hear(event)
