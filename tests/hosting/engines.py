"""The real engine on the demo pair, in this thread or in a process of its own, with a stopwatch."""

from __future__ import annotations

import argparse
import inspect
import threading
import time
from collections.abc import Callable
from pathlib import Path

from inline_client import InlineClient
from paceline.hosting.broker import Broker
from paceline.hosting.client import Service
from paceline.hosting.exit_reasons import RestartPolicy
from paceline.hosting.process import ProcessService
from paceline.hosting.threaded import make_engine_service
from paceline.messages import (
    Command,
    Event,
    LoadPair,
    ModelParams,
    PairLoaded,
    TurnFinished,
)
from paceline.params import DraftModel
from turns import turn_of

HOSTS = ("process", "thread")


def make_tough_process_service(emit: Callable[[Event], None], broker: Broker) -> Service:
    """Make an engine in a process that may be ended as often as a test likes."""
    return ProcessService(emit, broker, restarts=RestartPolicy(most=10**9))


class Host:
    """A client with its engine; keeps every event of the last command and its time."""

    def __init__(
        self, kind: str, pair: tuple[Path, Path], *, exact: bool = False, cache_dir: str = ""
    ) -> None:
        make = make_tough_process_service if kind == "process" else make_engine_service
        self.client = InlineClient(make, self._hear)
        self.on_event: Callable[[Event], None] = lambda event: None
        self.events: list[Event] = []
        self.times: list[float] = []
        self._n = 0
        target, draft = (ModelParams(str(path), n_threads=1) for path in pair)
        self.pair = LoadPair(target, DraftModel(draft), exact=exact, cache_dir=cache_dir)

    def __enter__(self) -> Host:
        return self

    def __exit__(self, *_: object) -> None:
        self.on_event = lambda event: None
        assert self.client.close()

    @property
    def service(self) -> ProcessService:
        assert isinstance(self.client.service, ProcessService)
        return self.client.service

    def _hear(self, event: Event) -> None:
        self.events.append(event)
        self.times.append(time.perf_counter())
        self.on_event(event)

    def submit(self, command: Command) -> Event:
        """Submit a command and return the last event that came for it."""
        self.events.clear()
        self.times.clear()
        self.client.request(command)
        return self.events[-1]

    def load(self) -> Event:
        self._n += 1
        return self.submit(self.pair)

    def must_load(self) -> PairLoaded:
        last = self.load()
        assert isinstance(last, PairLoaded), last
        return last

    def turn(self, **options: object) -> Event:
        self._n += 1
        return self.submit(turn_of(**options))  # type: ignore[arg-type]

    def reply(self, **options: object) -> TurnFinished:
        last = self.turn(**options)
        assert isinstance(last, TurnFinished), last
        return last


class Canceller:
    """Cancels a host's running command from its own thread, some time after an event.

    Attributes:
        at: Time of the call of `cancel`, or 0 if it was not called.

    Args:
        host: The host, whose `on_event` is replaced during the block.
        delay_s: Seconds between the event, or the beginning of the block, and the cancel.
        behind: The event; None counts from the beginning.
    """

    def __init__(self, host: Host, delay_s: float, behind: type[Event] | None = None) -> None:
        self.at = 0.0
        self._host = host
        self._delay_s = delay_s
        self._behind = behind
        self._may_run = threading.Event()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Canceller:
        self._host.on_event = self._hear
        if self._behind is None:
            self._may_run.set()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._may_run.set()
        self._thread.join()
        self._host.on_event = lambda event: None

    def _hear(self, event: Event) -> None:
        if self._behind is not None and isinstance(event, self._behind):
            self._may_run.set()

    def _run(self) -> None:
        self._may_run.wait()
        while (ticket := self._host.client.running) is None and not self._is_over.is_set():
            time.sleep(0.0005)  # a request that was not made yet cannot be cancelled
        if ticket is None or self._is_over.wait(self._delay_s):
            return
        self.at = time.perf_counter()
        ticket.cancel()


def text_of(n_characters: int) -> str:
    """Return the beginning of a long text; about three characters make a token."""
    return inspect.getsource(argparse)[:n_characters]
