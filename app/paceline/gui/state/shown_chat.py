"""Which chat the window shows, and what belongs to showing it. Main thread.

The session knows chats by their ids and shows none; what is shown, where its view was left, and the
text in its composer are the window's.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from paceline.chat.reply import Reply
from paceline.chat.session import ChatSession
from paceline.conversation import Conversation, ViewPlace
from paceline.gui.state.chat_signals import ChatSignals
from paceline.params import ReplySettings


class ShownChat(QObject):
    """The chat that is shown; there always is one, if only an empty one."""

    path_changed = Signal(object)
    """Another `Conversation` is shown, or another path of it."""
    details_changed = Signal(object)
    """Title, flags or siblings of the shown `Conversation` changed; its path is the same."""
    settings_changed = Signal()
    """Its replies are drawn otherwise from now on."""

    def __init__(self, session: ChatSession, signals: ChatSignals, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self._chats = session.conversations
        signals.shown.connect(self.path_changed)
        signals.changed.connect(self.details_changed)

    @property
    def id(self) -> str:
        """Its id."""
        return self.conversation.conversation_id

    @property
    def conversation(self) -> Conversation:
        """Its value now; not in the list of chats before its first message."""
        return self._session.current

    def has(self, reply: Reply) -> bool:
        """Return whether a reply belongs to it."""
        return reply.conversation_id == self.id

    def reply(self, message_id: str) -> Reply | None:
        """Return one of its replies; a stored one has no steps."""
        return self._chats.reply_of(message_id)

    def full_reply(self, message_id: str) -> Reply | None:
        """Return the same with steps, which are read from the store if necessary.

        Raises:
            UserError: They cannot be read.
        """
        return self._chats.full_reply(message_id)

    # --------------------------------------------------------------------------------- showing

    def new(self, *, private: bool = False) -> None:
        """Show an empty chat, unless such a one is shown."""
        self._session.new(private=private)

    def show(self, conversation_id: str) -> None:
        """Show another chat.

        Raises:
            UserError: It is not there, or cannot be read.
        """
        self._session.show(conversation_id)

    def show_message(self, conversation_id: str, message_id: str) -> None:
        """Show a chat on a path through this message.

        Raises:
            UserError: The chat is not there, or cannot be read.
        """
        self._session.show_message(conversation_id, message_id)

    def show_copy(self, conversation_id: str) -> None:
        """List all copies that were added, and show one, unless it was deleted since.

        Raises:
            UserError: It cannot be read.
        """
        self._session.show_copy(conversation_id)

    # ------------------------------------------------------------------------------- settings

    @property
    def settings(self) -> ReplySettings:
        """How its replies are drawn."""
        return self._chats.settings

    def set_settings(self, settings: ReplySettings) -> None:
        """Let its next replies be drawn like this; see `keep_settings`."""
        self._chats.set_settings(settings)
        self.settings_changed.emit()

    def keep_settings(self) -> None:
        """Store what `set_settings` has changed."""
        self._chats.keep_settings()

    # ------------------------------------------------------------------------- how it was left

    @property
    def unsent_id(self) -> str:
        """The id under which its text is kept that was not sent."""
        return self._chats.unsent_id

    @property
    def place(self) -> ViewPlace:
        """Where its view was left last."""
        return self._chats.place(self.id)
