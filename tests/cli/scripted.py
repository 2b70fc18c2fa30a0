"""A client whose engine follows a script, for what a healthy one does not show."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing

from hosting.rig import wait_until
from paceline.hosting.broker import Broker
from paceline.hosting.client import Service
from paceline.hosting.threaded import ThreadedClient
from paceline.messages import Command, Event, Shutdown


class ScriptedEngine(closing[ThreadedClient]):
    """The events of each command are those that `answer` gives; as a context it is the client.

    Attributes:
        client: The way to it.
        commands: What it was asked for.
    """

    def __init__(self, answer: Callable[[Command], Iterable[Event]]) -> None:
        self.commands: list[Command] = []
        self.client = ThreadedClient(self._make)
        self._answer = answer
        super().__init__(self.client)

    def _make(self, emit: Callable[[Event], None], broker: Broker) -> Service:
        self._emit, self._flag = emit, broker.flag
        return self

    def handle(self, command: Command) -> None:
        """Emit what the script says; a generator goes on when its event has been passed on."""
        if not isinstance(command, Shutdown):
            self.commands.append(command)
            for event in self._answer(command):
                self._emit(event)

    def wait_for_cancel(self) -> None:
        """Wait until what runs is to be stopped."""
        wait_until(self._flag.is_set)
