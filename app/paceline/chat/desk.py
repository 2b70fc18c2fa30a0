"""The conversations as a session shows them: which one is current, and who is told of changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paceline.chat.shelf import Shelf

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from paceline.chat.listener import SessionListener
    from paceline.conversation import Conversation


class Desk:
    """The use cases of a session that need no engine: new, show, rename."""

    def __init__(self, new_id: Callable[[], str], now: Callable[[], float]) -> None:
        self._listener: SessionListener | None = None
        self._shelf = Shelf(new_id, now)

    @property
    def current(self) -> Conversation:
        """The conversation that is shown; not in `conversations` before its first message."""
        return self._shelf.current

    @property
    def conversations(self) -> Mapping[str, Conversation]:
        """All conversations that have a message, by their id."""
        return self._shelf.conversations

    def set_listener(self, listener: SessionListener | None) -> None:
        """Tell `listener` from now on."""
        self._listener = listener

    def new(self) -> None:
        """Show an empty conversation; a reply under way goes on in its own."""
        if self.current.messages:
            self._show(self._shelf.empty())

    def show(self, conversation_id: str) -> None:
        """Make another conversation the current one."""
        if conversation_id != self.current.conversation_id:
            self._show(self.conversations[conversation_id])

    def rename(self, conversation_id: str, title: str) -> None:
        """Give a conversation another title."""
        self._store(self.conversations[conversation_id].renamed(title))

    # ------------------------------------------------------------------------------- telling

    def _store(self, conversation: Conversation) -> None:
        self._shelf.put(conversation)
        self._tell_conversations()

    def _show(self, conversation: Conversation) -> None:
        self._shelf.current = conversation
        if self._listener is not None:
            self._listener.conversation_shown(conversation)

    def _tell_conversations(self) -> None:
        if self._listener is not None:
            self._listener.conversations_changed()
