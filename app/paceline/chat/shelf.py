"""The conversations in memory and the one that is shown. No Qt, no files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paceline.chat.turns import without_reply
from paceline.conversation import Conversation

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Shelf:
    """Conversations by their id, and the current one, which is kept from its first message on."""

    def __init__(self, new_id: Callable[[], str], now: Callable[[], float]) -> None:
        self._new_id = new_id
        self._now = now
        self._conversations: dict[str, Conversation] = {}
        self.current = self.empty()

    @property
    def conversations(self) -> Mapping[str, Conversation]:
        """All that are kept, oldest first."""
        return self._conversations

    def empty(self) -> Conversation:
        """A new conversation without messages; not kept until it is `put`."""
        return Conversation(self._new_id(), created_s=self._now())

    def put(self, conversation: Conversation) -> None:
        """Keep this value of a conversation in place of an older one."""
        self._conversations[conversation.conversation_id] = conversation
        if conversation.conversation_id == self.current.conversation_id:
            self.current = conversation

    def remove(self, conversation_id: str) -> Conversation:
        """Take one out and return it; if it was the current one, an empty one is."""
        removed = self._conversations.pop(conversation_id)
        if conversation_id == self.current.conversation_id:
            self.current = self.empty()
        return removed

    def fill_in(self, conversation_id: str, message_id: str, content: str) -> None:
        """Write the text of a reply into its message; a removed conversation is left alone."""
        conversation = self._conversations.get(conversation_id)
        if conversation is not None:
            self.put(conversation.with_content(message_id, content))

    def take_back(self, conversation_id: str, message_id: str) -> str:
        """Take a reply that never began out; returns its question's text if that went, too."""
        conversation, question = without_reply(self._conversations[conversation_id], message_id)
        self.put(conversation)
        if not conversation.messages:
            self.remove(conversation_id)
        return question
