"""The conversation that is shown, one line about each of the others, and the store behind them.

Everything goes to the store at once; only what is shown is kept in memory, and a summary of the
rest. No Qt, no files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paceline.chat.split_store import SplitStore
from paceline.chat.store import NEW_CHAT, no_such_chat
from paceline.chat.summaries import summary_of, with_figures
from paceline.conversation import Conversation

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from paceline.chat.store import ConversationStore
    from paceline.conversation import ConversationSummary
    from paceline.run_record import RunRecord


class Shelf:
    """Conversations by their id; the current one is kept from its first message on."""

    def __init__(
        self, store: ConversationStore, new_id: Callable[[], str], now: Callable[[], float]
    ) -> None:
        self.store = SplitStore(store)
        self._new_id = new_id
        self._now = now
        self._summaries = {s.conversation_id: s for s in self.store.summaries()}
        self._removed: dict[str, ConversationSummary] = {}
        self._purged: set[str] = set()
        self.current = self.empty()

    @property
    def summaries(self) -> Mapping[str, ConversationSummary]:
        """All that are kept, in no particular order."""
        return self._summaries

    @property
    def unsent_id(self) -> str:
        """The id under which text of the current conversation is kept that was not sent."""
        is_new = self.current.conversation_id not in self._summaries
        return NEW_CHAT if is_new and not self.current.private else self.current.conversation_id

    def empty(self, *, private: bool = False) -> Conversation:
        """A new conversation without messages; not kept until it is `put`."""
        conversation = Conversation(self._new_id(), created_s=self._now(), private=private)
        if private:
            self.store.keep_private(conversation.conversation_id)
        return conversation

    def get(self, conversation_id: str) -> Conversation:
        """One conversation with all messages.

        Raises:
            UserError: It is not there, or cannot be read.
        """
        if conversation_id == self.current.conversation_id:
            return self.current
        if conversation_id in self._purged:
            raise no_such_chat()
        return self.store.load(conversation_id)

    def has(self, conversation_id: str) -> bool:
        """Whether it is in the list."""
        return conversation_id in self._summaries

    def is_purged(self, conversation_id: str) -> bool:
        """Whether it was deleted for good, so that nothing may be written into it."""
        return conversation_id in self._purged

    def put(
        self,
        conversation: Conversation,
        changed: Sequence[str] = (),
        removed: Sequence[str] = (),
    ) -> None:
        """Keep this value of a conversation, and these of its messages."""
        self.store.save(conversation, changed, removed)
        name = conversation.conversation_id
        self._summaries[name] = summary_of(conversation, self._summaries.get(name))
        if name == self.current.conversation_id:
            self.current = conversation

    def end(self, conversation_id: str, record: RunRecord, text: str) -> None:
        """Keep the record of a reply that has ended, and its text."""
        if self.is_purged(conversation_id):
            return
        self.store.end_run(record, text)
        if conversation_id == self.current.conversation_id:
            self.current = self.current.with_content(record.message_id, text)
        self.show_figures(conversation_id, record)

    def show_figures(self, conversation_id: str, record: RunRecord | None) -> None:
        """Let the summary tell of this reply; None: there is none on the path."""
        for summaries in (self._summaries, self._removed):
            old = summaries.get(conversation_id)
            if old is not None:
                summaries[conversation_id] = with_figures(old, record)

    def remove(self, conversation_id: str) -> None:
        """Hide one; if it was the current one, an empty one is."""
        self._removed[conversation_id] = self._summaries.pop(conversation_id)
        self.store.remove(conversation_id)
        if conversation_id == self.current.conversation_id:
            self.current = self.empty()

    def restore(self, conversation_id: str) -> None:
        """Show one again that was removed in this session; others are left alone."""
        summary = self._removed.pop(conversation_id, None)
        if summary is not None:
            self._summaries[conversation_id] = summary
            self.store.restore(conversation_id)

    def give_up(self, conversation_id: str) -> None:
        """Let a removed one never come back; it is in the store until `purge`."""
        self._removed.pop(conversation_id, None)
        self._purged.add(conversation_id)

    def purge(self, conversation_id: str) -> None:
        """Delete one for good that was given up."""
        self.store.purge(conversation_id)
