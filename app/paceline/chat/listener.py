"""What a `ChatSession` tells whoever shows it; called on the thread that owns the session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

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


class SessionListener(Protocol):
    """Who shows the session."""

    def conversations_changed(self) -> None:
        """The list has changed: a conversation came or went, or looks different there."""

    def conversation_shown(self, conversation: Conversation) -> None:
        """Another conversation, or another path of it, is the current one."""

    def conversation_changed(self, conversation: Conversation) -> None:
        """The current one has other flags, titles or siblings; its path is the same."""

    def reply_started(self, reply: Reply) -> None:
        """A message was sent; its reply is waiting for the first token."""

    def reply_progressed(self, reply: Reply) -> None:
        """The reply's status or its prefill moved on."""

    def reply_grew(self, reply: Reply, step: StepCommitted) -> None:
        """One step was committed; the reply has it already."""

    def reply_ended(self, reply: Reply) -> None:
        """The reply is complete, was stopped, or failed."""

    def tune_answered(self, reply: Reply, answer: TuneApplied | TuneRejected) -> None:
        """The engine took or refused a change of the running turn."""

    def engine_described(self, description: EngineDescribed) -> None:
        """Versions and devices are known."""

    def engine_died(self, death: EngineDied) -> None:
        """The engine is gone; the next message starts it again."""
