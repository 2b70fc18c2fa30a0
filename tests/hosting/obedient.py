"""An engine without models that does what commands say, in this process or in one of its own.

A turn's prompt says what it does: nothing more than a step; "fail"; "wait end" or "wait die" until
it is cancelled, taking tunes meanwhile; "until tuned". Children import this: it stays light.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator

from msgspec import structs

from hosting.children import Line, scripted
from message_samples import sample
from paceline.hosting.broker import Broker
from paceline.hosting.exit_reasons import RestartPolicy
from paceline.hosting.process import ProcessService
from paceline.hosting.wire import Done
from paceline.messages import (
    Cancel,
    Command,
    CountTokens,
    EngineDied,
    Event,
    FinishReason,
    LoadPair,
    LoadProgressed,
    PairLoaded,
    RawText,
    Shutdown,
    StartTurn,
    StepCommitted,
    TokensCounted,
    Tune,
    TuneApplied,
    TurnFailed,
    TurnFinished,
    TurnStarted,
    Unload,
    Unloaded,
)

TURN = StartTurn(RawText(""))


def finished(reason: FinishReason = "eog") -> TurnFinished:
    """Return the end of a reply."""
    return structs.replace(sample(TurnFinished), reason=reason)


def played(command: Command) -> Iterator[Event]:
    """Yield the events of a command, as if nothing else came meanwhile but a cancel."""
    match command:
        case LoadPair():
            yield LoadProgressed("target", 1.0)
            yield sample(PairLoaded)
        case StartTurn():
            yield sample(TurnStarted)
            match text_of(command).split():
                case ["wait", "die"]:
                    yield EngineDied("It died.")
                case ["wait", _]:
                    yield finished("cancelled")
                case ["fail"]:
                    yield sample(StepCommitted)
                    yield TurnFailed("batch-refused", "", "")
                case _:
                    yield sample(StepCommitted)
                    yield finished()
        case CountTokens():
            yield TokensCounted(7, 7)
        case Unload():
            yield Unloaded()
        case _:
            pass


def text_of(turn: StartTurn) -> str:
    """Return a turn's prompt."""
    return turn.prompt.text if isinstance(turn.prompt, RawText) else ""


class Obedient:
    """The service in this process."""

    def __init__(self, emit: Callable[[Event], None], broker: Broker) -> None:
        self._emit = emit
        self._broker = broker

    def handle(self, command: Command) -> None:
        """Carry a command out."""
        events = played(command)
        if isinstance(command, StartTurn):
            self._emit(next(events))
            self._wait(text_of(command))
        for event in events:
            self._emit(event)

    def _wait(self, text: str) -> None:
        """Wait for a cancel or a tune where the prompt says so."""
        while text.startswith("wait") and not self._broker.flag.is_set():
            self._take_between()
            time.sleep(0.001)
        while text == "until tuned" and not self._take_between():
            time.sleep(0.001)

    def _take_between(self) -> bool:
        command = self._broker.take_between()
        if isinstance(command, Tune):
            self._emit(TuneApplied(command.strategy))
        return command is not None


def run(line: Line) -> None:
    """Follow the commands in a process of its own."""
    line.ready()
    while not isinstance(command := line.take(), Shutdown):
        if isinstance(command, Cancel):
            continue  # of a turn that has ended meanwhile
        events = played(command)
        if isinstance(command, StartTurn):
            line.send(next(events))
            _wait(line, text_of(command))
        for event in events:
            if isinstance(event, EngineDied):
                os._exit(3)
            line.send(event)
        line.send(Done())
    line.send(Done())


def _wait(line: Line, text: str) -> None:
    while text.startswith("wait") or text == "until tuned":
        more = line.take()
        if isinstance(more, Cancel):
            return
        assert isinstance(more, Tune), more
        line.send(Done(), TuneApplied(more.strategy))
        if text == "until tuned":
            return


def process_of(emit: Callable[[Event], None], broker: Broker) -> ProcessService:
    """Make the service whose engine is in a process of its own."""
    restarts = RestartPolicy(most=10**9)
    return ProcessService(
        emit, broker, main=scripted(run), restarts=restarts, sleep=lambda _seconds: None
    )
