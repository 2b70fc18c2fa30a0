"""Listeners that record their calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paceline.chat.pair import PairState
    from paceline.chat.reply import Reply
    from paceline.conversation import Conversation
    from paceline.messages import (
        ControlReported,
        EngineDescribed,
        EngineDied,
        LoadFailed,
        StepCommitted,
        TuneApplied,
        TuneRejected,
    )


class Recorder:
    """A `PairListener` and a `SessionListener`."""

    def __init__(self) -> None:
        self.states: list[str] = []
        self.failures: list[tuple[LoadFailed, bool]] = []
        self.calls: list[tuple[str, Any]] = []
        self.steps: list[StepCommitted] = []
        self.answers: list[TuneApplied | TuneRejected] = []

    @property
    def names(self) -> list[str]:
        """Names of the calls, without the changes of the list."""
        return [name for name, _ in self.calls if name != "list"]

    def sameness_changed(self, state: PairState) -> None:
        """Nothing is loaded or lost by it."""

    def pair_changed(self, state: PairState) -> None:
        self.states.append(state.status)

    def load_failed(self, failure: LoadFailed, *, falls_back: bool) -> None:
        self.failures.append((failure, falls_back))

    def conversations_changed(self) -> None:
        self.calls.append(("list", None))

    def path_changed(self, conversation: Conversation) -> None:
        self.calls.append(("path", conversation))

    def details_changed(self, conversation: Conversation) -> None:
        self.calls.append(("changed", conversation))

    def conversation_removed(self, conversation_id: str, *, was_refused: bool) -> None:
        self.calls.append(("removed", (conversation_id, was_refused)))

    def reply_started(self, reply: Reply) -> None:
        self.calls.append(("started", reply))

    def reply_progressed(self, reply: Reply) -> None:
        self.calls.append(("progressed", reply))

    def reply_grew(self, reply: Reply, step: StepCommitted) -> None:
        self.calls.append(("grew", reply))
        self.steps.append(step)

    def auto_reported(self, reply: Reply, report: ControlReported) -> None:
        """Nothing: Auto's knowledge is no part of a reply."""

    def reply_ended(self, reply: Reply) -> None:
        self.calls.append(("ended", reply))

    def tune_answered(self, reply: Reply, answer: TuneApplied | TuneRejected) -> None:
        self.calls.append(("tuned", reply))
        self.answers.append(answer)

    def engine_described(self, description: EngineDescribed) -> None:
        self.calls.append(("described", description))

    def engine_died(self, death: EngineDied) -> None:
        self.calls.append(("died", death))
