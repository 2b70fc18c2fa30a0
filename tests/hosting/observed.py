"""A process host under observation: its events, their times, and what it leaves."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from inline_client import InlineClient
from paceline.engine.prompt.renderer import RENDER
from paceline.hosting.broker import Broker
from paceline.hosting.child import run_child
from paceline.hosting.exit_reasons import RestartPolicy
from paceline.hosting.process import ProcessService
from paceline.messages import (
    Chat,
    ChatMessage,
    Command,
    EngineDied,
    Event,
    LoadPair,
    ModelParams,
    PairLoaded,
    StartTurn,
    StepCommitted,
    TurnFinished,
)
from paceline.params import DraftModel
from paceline.workers.process import ChildMain

QUESTION = "What does os.path.join do?"
OTHER_QUESTION = "How do I read a file line by line?"


class Host:
    """An inline client of the real host with the demo pair, one thread per model.

    Attributes:
        told: Every event with its time of arrival.
        hear: Called with every event, on the thread that submits.
        servers: RPC servers that the pair is loaded on, as HOST:PORT.
    """

    def __init__(
        self,
        pair: tuple[Path, Path],
        main: ChildMain = run_child,
        restarts: RestartPolicy | None = None,
        sleep: Callable[[float], None] = lambda _seconds: None,
    ) -> None:
        self.pair = pair
        self.told: list[tuple[float, Event]] = []
        self.hear: Callable[[Event], None] = lambda _event: None
        self.servers: tuple[str, ...] = ()

        def make(emit: Callable[[Event], None], broker: Broker) -> ProcessService:
            policy = restarts or RestartPolicy(most=10**9)
            self.service = ProcessService(emit, broker, main=main, restarts=policy, sleep=sleep)
            return self.service

        self.client = InlineClient(make, self._listen)

    def _listen(self, event: Event) -> None:
        self.told.append((time.monotonic(), event))
        self.hear(event)

    def submit(self, command: Command) -> list[Event]:
        """Return the events of one command."""
        n = len(self.told)
        self.client.request(command)
        return [event for _, event in self.told[n:]]

    def load(self) -> list[Event]:
        """Load the pair."""
        target, draft = (ModelParams(str(path), n_threads=1) for path in self.pair)
        return self.submit(LoadPair(target, DraftModel(draft), servers=self.servers))

    def ready(self) -> None:
        """Load the pair and see that it is there."""
        events = self.load()
        assert isinstance(events[-1], PairLoaded), events[-1]
        assert not deaths_of(events)

    def reply(
        self,
        question: str = QUESTION,
        *,
        seed: int = 1,
        max_tokens: int = 120,
    ) -> list[Event]:
        """Ask for a reply of `max_tokens` tokens."""
        messages = (ChatMessage.of_text("user", question),)
        return self.submit(
            StartTurn(Chat(messages), seed=seed, max_tokens=max_tokens, ignore_eog=True)
        )

    def __enter__(self) -> Host:
        return self

    def __exit__(self, *_: object) -> None:
        assert self.client.close()
        assert self.service.pid == 0


def text_of(events: list[Event]) -> str:
    """The text of all steps that arrived."""
    return "".join(event.text for event in events if isinstance(event, StepCommitted))


def finished_text(events: list[Event]) -> str:
    """The text of a reply that must be complete and undisturbed."""
    assert not deaths_of(events)
    assert isinstance(events[-1], TurnFinished), events[-1]
    return events[-1].text


def deaths_of(events: list[Event]) -> list[EngineDied]:
    """All news of an engine's end."""
    return [event for event in events if isinstance(event, EngineDied)]


def only_death(events: list[Event]) -> EngineDied:
    """The one `EngineDied`, which must come last and in place of the reply's end."""
    (death,) = deaths_of(events)
    assert events[-1] is death
    assert not any(isinstance(event, TurnFinished) for event in events)
    return death


def engine_processes() -> list[psutil.Process]:
    """This process's children, zombies included.

    The processes that read model files and render templates are not among them.
    """
    others = ("paceline-inspector", RENDER)
    return [
        child
        for child in psutil.Process().children()
        if not any(word in _command_line(child) for word in others)
    ]


def _command_line(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def open_things() -> tuple[int, int]:
    """Return the numbers of descriptors and threads of this process."""
    return len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))  # noqa: PTH208


def is_gone(pid: int, within_s: float) -> bool:
    """Return whether a process has ended; a zombie counts as ended."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.01)
    return False
