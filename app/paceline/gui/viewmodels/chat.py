"""The chat session as signals: what `ChatSession` tells its listener, widgets can connect to.

All on the main thread. The signals carry the session's own records; nobody but the session writes
to them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

if TYPE_CHECKING:
    from paceline.chat.reply import Reply
    from paceline.conversation import Conversation
    from paceline.messages import (
        EngineDescribed,
        EngineDied,
        StepCommitted,
        TuneApplied,
        TuneRejected,
    )


class ChatSignals(QObject):
    """A `SessionListener`; every method has a signal of a similar name."""

    list_changed = Signal()
    shown = Signal(object)
    """Conversation"""
    changed = Signal(object)
    """Conversation"""
    started = Signal(object)
    """Reply"""
    progressed = Signal(object)
    """Reply"""
    grew = Signal(object, object)
    """Reply, StepCommitted"""
    ended = Signal(object)
    """Reply"""
    tuned = Signal(object, object)
    """Reply, TuneApplied or TuneRejected"""
    described = Signal(object)
    """EngineDescribed"""
    died = Signal(object)
    """EngineDied"""

    def conversations_changed(self) -> None:
        """Pass on."""
        self.list_changed.emit()

    def conversation_shown(self, conversation: Conversation) -> None:
        """Pass on."""
        self.shown.emit(conversation)

    def conversation_changed(self, conversation: Conversation) -> None:
        """Pass on."""
        self.changed.emit(conversation)

    def reply_started(self, reply: Reply) -> None:
        """Pass on."""
        self.started.emit(reply)

    def reply_progressed(self, reply: Reply) -> None:
        """Pass on."""
        self.progressed.emit(reply)

    def reply_grew(self, reply: Reply, step: StepCommitted) -> None:
        """Pass on."""
        self.grew.emit(reply, step)

    def reply_ended(self, reply: Reply) -> None:
        """Pass on."""
        self.ended.emit(reply)

    def tune_answered(self, reply: Reply, answer: TuneApplied | TuneRejected) -> None:
        """Pass on."""
        self.tuned.emit(reply, answer)

    def engine_described(self, description: EngineDescribed) -> None:
        """Pass on."""
        self.described.emit(description)

    def engine_died(self, death: EngineDied) -> None:
        """Pass on."""
        self.died.emit(death)
