"""An engine for tests of the server: it says what a test has written, and fails where that says."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from message_samples import sample
from paceline.messages import (
    EngineDied,
    Event,
    FinishReason,
    LoadPair,
    ModelParams,
    PairLoaded,
    PromptRendered,
    RenderPrompt,
    StartTurn,
    StepCommitted,
    TokenTrace,
    TurnFinished,
    TurnStarted,
    TurnStats,
)
from server.rig import running

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from paceline.hosting.broker import Broker
    from paceline.messages import Command
    from paceline.server.endpoint import Endpoint

Script = Sequence[str | Event | threading.Event]
"""Texts of steps, other events of a turn, the last one its answer, and what is waited for."""


def end(reason: FinishReason = "eog", stopped_by: str = "") -> TurnFinished:
    """The end of a reply."""
    stats: TurnStats = sample(TurnStats)
    return TurnFinished(reason, "", (), 1, StartTurn.strategy, stats, stopped_by)


def said_by(script: Script, thinking: tuple[str, ...] = ()) -> AbstractContextManager[Endpoint]:
    """Run an endpoint whose replies all have this content; calls are in Hermes' format.

    Args:
        script: Content of every reply.
        thinking: Names of the levels of reasoning that the template offers.
    """
    load = LoadPair(ModelParams("target.gguf"), None)
    return running(load, make_service=partial(_Puppet, script, thinking))


class _Puppet:
    def __init__(
        self,
        script: Script,
        thinking: tuple[str, ...],
        emit: Callable[[Event], None],
        _: Broker,
    ) -> None:
        self._script = script
        self._thinking = thinking
        self._emit = emit

    def handle(self, command: Command) -> None:
        match command:
            case LoadPair():
                self._emit(sample(PairLoaded))
            case RenderPrompt():
                self._emit(PromptRendered("…", 1, thinking=self._thinking))
            case StartTurn():
                self._emit(TurnStarted(30, 10, 1, calls="hermes" if _has_tools(command) else ""))
                end = 0
                for i, said in enumerate(self._script):
                    if isinstance(said, threading.Event):
                        said.wait(60)
                    else:
                        end += len(said) if isinstance(said, str) else 0
                        self._emit(_step(i, said, end) if isinstance(said, str) else said)


def _has_tools(command: StartTurn) -> bool:
    return getattr(command.prompt, "tools", None) is not None


def _step(i: int, text: str, end: int) -> StepCommitted:
    trace = TokenTrace(i, "target", -1, None, end)
    return StepCommitted(i, (trace,), text, (), 0.0, 0.01, 0.0, 0.01, plain=True)


DEATH = EngineDied("The engine has ended.")
