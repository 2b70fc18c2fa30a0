"""Where a session keeps its conversations: a protocol, so that the disk can be another's concern.

`storage.archive.Archive` keeps them in a database, `chat.memory_store.MemoryStore` only while it
lives (private chats, tests). The session's thread calls everything. Reading answers
at once with what was written before, even if it is not on the disk yet. Writing returns at once and
is carried out in order; what cannot be written is kept and tried again, and is told elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from paceline.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paceline.conversation import Conversation, ConversationSummary, SearchHit, ViewPlace
    from paceline.messages import StepCommitted
    from paceline.run_record import RunRecord

NEW_CHAT = ""
"""The id under which text is kept that was written, but not sent, in a chat that is not yet one."""


def no_such_chat() -> UserError:
    """What to raise for a conversation that is not there."""
    return UserError("no-such-chat", "This chat is not there any more.")


class ConversationStore(Protocol):
    """Keeps conversations, run records, unsent text and where each conversation was left."""

    def summaries(self) -> tuple[ConversationSummary, ...]:
        """All conversations, in no particular order."""

    def load(self, conversation_id: str) -> Conversation:
        """One conversation with all messages.

        Raises:
            UserError: It is not there, or cannot be read.
        """

    def runs(self, conversation_id: str) -> Mapping[str, RunRecord]:
        """The records of its replies by message id, without their steps."""

    def steps(self, message_id: str) -> tuple[StepCommitted, ...]:
        """The steps of one reply; empty where none are kept."""

    def search(self, text: str, limit: int = 50) -> tuple[SearchHit, ...]:
        """Titles and messages that have all words of the text, the best first; any text is fine."""

    def save(
        self,
        conversation: Conversation,
        changed: Sequence[str] = (),
        removed: Sequence[str] = (),
    ) -> None:
        """Keep its title, flags and active path, and these messages, which are new or changed."""

    def begin_run(self, conversation_id: str, record: RunRecord) -> None:
        """A reply begins; its message has been saved, with no text."""

    def extend_run(self, message_id: str, text: str, steps: Sequence[StepCommitted]) -> None:
        """The reply gained this text in these steps: a checkpoint."""

    def end_run(self, record: RunRecord, text: str) -> None:
        """The reply has ended with this whole text; takes the checkpoints' place."""

    def remove(self, conversation_id: str) -> None:
        """Hide a conversation; `restore` brings it back until `purge`."""

    def restore(self, conversation_id: str) -> None:
        """Show a removed conversation again."""

    def purge(self, conversation_id: str) -> None:
        """Delete a removed conversation for good."""

    def unsent(self, conversation_id: str) -> str:
        """Text that was written in it, but not sent; see `NEW_CHAT`."""

    def save_unsent(self, conversation_id: str, text: str) -> None:
        """Keep such text; empty: there is none any more."""

    def place(self, conversation_id: str) -> ViewPlace:
        """Where it was left."""

    def save_place(self, conversation_id: str, place: ViewPlace) -> None:
        """Keep where it was left."""
