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
    """Engine that emits the events which `answer` returns; its `with` block closes the client.

    Attributes:
        client: Client of this engine.
        commands: Received commands, in order, without `Shutdown`.
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
        """Emit the scripted events; a generator continues when its last event was delivered."""
        if not isinstance(command, Shutdown):
            self.commands.append(command)
            for event in self._answer(command):
                self._emit(event)

    def wait_for_cancel(self) -> None:
        """Wait until the running command is cancelled."""
        wait_until(self._flag.is_set)
