"""A client on a process host whose child follows a script."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import psutil

from hosting.children import Script, scripted
from inline_client import InlineClient
from paceline.hosting.broker import Broker
from paceline.hosting.exit_reasons import RestartPolicy
from paceline.hosting.process import ProcessService
from paceline.messages import (
    Event,
    LoadPair,
    ModelParams,
    PairLoaded,
)

LOAD = LoadPair(ModelParams("/m/target.gguf"))


@dataclass
class Rig:
    """A client on a `ProcessService` whose child follows a script."""

    script: Script
    restarts: RestartPolicy = field(default_factory=lambda: RestartPolicy(most=10**9))
    events: list[Event] = field(default_factory=list)
    on_event: Callable[[Event], None] = lambda event: None

    def __post_init__(self) -> None:
        self.client = InlineClient(self._make, self._hear)

    def _make(self, emit: Callable[[Event], None], broker: Broker) -> ProcessService:
        self.broker = broker
        self.service = ProcessService(
            emit, broker, main=scripted(self.script), restarts=self.restarts, sleep=lambda s: None
        )
        return self.service

    def _hear(self, event: Event) -> None:
        self.events.append(event)
        self.on_event(event)

    def submit(self, *commands: object) -> list[Event]:
        """Submit commands and return what was emitted for them."""
        self.events.clear()
        for command in commands:
            self.client.request(command)  # type: ignore[arg-type]
        return self.events

    def load(self) -> None:
        assert isinstance(self.submit(LOAD)[-1], PairLoaded)

    @property
    def kinds(self) -> list[type[Event]]:
        return [type(event) for event in self.events]


MakeRig = Callable[..., Rig]


def is_gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def wait_until(condition: Callable[[], bool], seconds: float = 5.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)
