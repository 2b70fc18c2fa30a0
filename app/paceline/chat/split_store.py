"""One store in front of two: private conversations stay in memory, all others go to the other one.

Which of them is asked is decided by id, and by nothing else, so that no word of a private chat can
reach the disk by a path that somebody forgot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paceline.chat.memory_store import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paceline.chat.store import ConversationStore
    from paceline.conversation import Conversation, ConversationSummary, SearchHit, ViewPlace
    from paceline.messages import StepCommitted
    from paceline.run_record import RunRecord


class SplitStore:
    """A `ConversationStore` made of one that keeps and one that forgets."""

    def __init__(self, kept: ConversationStore) -> None:
        self._kept = kept
        self._memory = MemoryStore()
        self._private: set[str] = set()

    def keep_private(self, conversation_id: str) -> None:
        """Never let anything of this conversation reach the store that keeps."""
        self._private.add(conversation_id)

    def is_private(self, conversation_id: str) -> bool:
        """Whether it stays in memory."""
        return conversation_id in self._private

    # ------------------------------------------------------------------------------- reading

    def summaries(self) -> tuple[ConversationSummary, ...]:
        """See `ConversationStore`, also below."""
        return (*self._kept.summaries(), *self._memory.summaries())

    def load(self, conversation_id: str) -> Conversation:
        """One conversation with all messages.

        Raises:
            UserError: It is not there, or cannot be read.
        """
        return self._of(conversation_id).load(conversation_id)

    def runs(self, conversation_id: str) -> Mapping[str, RunRecord]:
        """The records of its replies, without their steps."""
        return self._of(conversation_id).runs(conversation_id)

    def steps(self, message_id: str) -> tuple[StepCommitted, ...]:
        """The steps of one reply."""
        return self._of_run(message_id).steps(message_id)

    def search(self, text: str, limit: int = 50) -> tuple[SearchHit, ...]:
        """Private ones first: they are few and fresh."""
        return (*self._memory.search(text, limit), *self._kept.search(text, limit))[:limit]

    def unsent(self, conversation_id: str) -> str:
        """Text that was written in it, but not sent."""
        return self._of(conversation_id).unsent(conversation_id)

    def place(self, conversation_id: str) -> ViewPlace:
        """Where it was left."""
        return self._of(conversation_id).place(conversation_id)

    # ------------------------------------------------------------------------------- writing

    def save(
        self,
        conversation: Conversation,
        changed: Sequence[str] = (),
        removed: Sequence[str] = (),
    ) -> None:
        """Keep its title, flags and active path, and these messages."""
        if conversation.private:
            self.keep_private(conversation.conversation_id)
        self._of(conversation.conversation_id).save(conversation, changed, removed)

    def begin_run(self, conversation_id: str, record: RunRecord) -> None:
        """A reply begins."""
        self._of(conversation_id).begin_run(conversation_id, record)

    def extend_run(self, message_id: str, text: str, steps: Sequence[StepCommitted]) -> None:
        """The reply gained this text in these steps."""
        self._of_run(message_id).extend_run(message_id, text, steps)

    def end_run(self, record: RunRecord, text: str) -> None:
        """The reply has ended with this whole text."""
        self._of_run(record.message_id).end_run(record, text)

    def remove(self, conversation_id: str) -> None:
        """Hide a conversation."""
        self._of(conversation_id).remove(conversation_id)

    def restore(self, conversation_id: str) -> None:
        """Show a removed conversation again."""
        self._of(conversation_id).restore(conversation_id)

    def purge(self, conversation_id: str) -> None:
        """Delete a removed conversation for good."""
        self._of(conversation_id).purge(conversation_id)

    def save_unsent(self, conversation_id: str, text: str) -> None:
        """Keep text that was written, but not sent."""
        self._of(conversation_id).save_unsent(conversation_id, text)

    def save_place(self, conversation_id: str, place: ViewPlace) -> None:
        """Keep where it was left."""
        self._of(conversation_id).save_place(conversation_id, place)

    # ------------------------------------------------------------------------------- private

    def _of(self, conversation_id: str) -> ConversationStore:
        return self._memory if conversation_id in self._private else self._kept

    def _of_run(self, message_id: str) -> ConversationStore:
        return self._memory if self._memory.has_run(message_id) else self._kept
