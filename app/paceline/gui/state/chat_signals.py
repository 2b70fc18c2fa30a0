"""News of the chat session, as signals that widgets can connect to; all on the main thread.

They carry the session's own records; only the session writes to them.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from paceline.chat.reply import Reply
from paceline.chat.reply_runner import SessionListener
from paceline.conversation import Conversation
from paceline.messages import (
    ControlReported,
    EngineDescribed,
    EngineDied,
    StepCommitted,
    TuneApplied,
    TuneRejected,
)


class ChatSignals(QObject, SessionListener):
    """Emitter of the session's events as Qt signals: one signal per method."""

    list_changed = Signal()
    """Chats came or went, or what the list shows of them changed."""
    turned = Signal(object)
    """Another path of a `Conversation` is active, or its messages have changed."""
    changed = Signal(object)
    """The title or the flags of a `Conversation` have changed."""
    removed = Signal(str, bool)
    """The conversation of this id is gone; True if that is since the engine refused its only
    question."""
    started = Signal(object)
    """A `Reply` was requested; it may wait for models or for the prompt."""
    progressed = Signal(object)
    """The status of a `Reply` before its first token changed."""
    grew = Signal(object, object)
    """A `Reply` got a `StepCommitted`."""
    ended = Signal(object)
    """A `Reply` is complete, was stopped, or failed."""
    tuned = Signal(object, object)
    """The engine's answer (`TuneApplied` or `TuneRejected`) to a change of strategy in a
    `Reply`."""
    reported = Signal(object, object)
    """A `ControlReported` with Auto's knowledge so far in the turn of a `Reply`."""
    described = Signal(object)
    """The engine's versions and devices: `EngineDescribed`."""
    died = Signal(object)
    """The engine's process ended unasked: `EngineDied`."""

    def conversations_changed(self) -> None:
        """Emit `list_changed`."""
        self.list_changed.emit()

    def path_changed(self, conversation: Conversation) -> None:
        """Emit `turned`."""
        self.turned.emit(conversation)

    def details_changed(self, conversation: Conversation) -> None:
        """Emit `changed`."""
        self.changed.emit(conversation)

    def conversation_removed(self, conversation_id: str, *, was_refused: bool) -> None:
        """Emit `removed`."""
        self.removed.emit(conversation_id, was_refused)

    def reply_started(self, reply: Reply) -> None:
        """Emit `started`."""
        self.started.emit(reply)

    def reply_progressed(self, reply: Reply) -> None:
        """Emit `progressed`."""
        self.progressed.emit(reply)

    def reply_grew(self, reply: Reply, step: StepCommitted) -> None:
        """Emit `grew`."""
        self.grew.emit(reply, step)

    def reply_ended(self, reply: Reply) -> None:
        """Emit `ended`."""
        self.ended.emit(reply)

    def tune_answered(self, reply: Reply, answer: TuneApplied | TuneRejected) -> None:
        """Emit `tuned`."""
        self.tuned.emit(reply, answer)

    def auto_reported(self, reply: Reply, report: ControlReported) -> None:
        """Emit `reported`."""
        self.reported.emit(reply, report)

    def engine_described(self, description: EngineDescribed) -> None:
        """Emit `described`."""
        self.described.emit(description)

    def engine_died(self, death: EngineDied) -> None:
        """Emit `died`."""
        self.died.emit(death)
