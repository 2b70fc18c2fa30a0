"""The chat that the window shows, with the state of its view. Main thread.

The session only knows chats by their ids. The shown one is held open, so its value is always in
memory.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal, Slot

from paceline.chat.reply import Reply
from paceline.chat.session import ChatSession
from paceline.conversation import Conversation, Folder, ViewPlace
from paceline.gui.state.chat_signals import ChatSignals
from paceline.params import ReplySettings


class ShownChat(QObject):
    """The shown chat; there always is one, even if it is empty.

    Attributes:
        id: Its id.
    """

    leaving = Signal()
    """Another chat is about to be shown: widgets store their state of this one now."""
    path_changed = Signal(object)
    """Another `Conversation` is shown, or another path of it."""
    details_changed = Signal(object)
    """Title, flags or siblings of the shown `Conversation` have changed; its path has not."""
    settings_changed = Signal()
    """Its settings for replies have changed."""

    def __init__(self, session: ChatSession, signals: ChatSignals, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self._chats = session.conversations
        self.id = self._chats.new()
        signals.turned.connect(self._on_turned)
        signals.changed.connect(self._on_changed)
        signals.removed.connect(self._on_removed)

    @property
    def conversation(self) -> Conversation:
        """Its present value; the list of chats lacks it before its first message."""
        return self._chats.get(self.id)

    def has(self, reply: Reply) -> bool:
        """Return whether a reply belongs to it."""
        return reply.conversation_id == self.id

    def reply(self, message_id: str) -> Reply | None:
        """Return one of its replies; a stored one has no steps."""
        return self._chats.reply_of(self.id, message_id)

    def full_reply(self, message_id: str) -> Reply | None:
        """Return a reply with its steps, which are read from the store if necessary.

        Raises:
            UserError: The steps cannot be read.
        """
        return self._chats.full_reply(self.id, message_id)

    # --------------------------------------------------------------------------------- showing

    def new(self, *, private: bool = False, folder_id: str = "") -> None:
        """Show an empty chat, unless such a chat is shown."""
        old = self.conversation
        if old.messages or (old.private, old.folder_id) != (private, folder_id):
            self._take(self._chats.new(private=private, folder_id=folder_id))

    def show(self, conversation_id: str) -> None:
        """Show another chat.

        Raises:
            UserError: The chat does not exist or cannot be read.
        """
        if conversation_id != self.id:
            self._chats.open(conversation_id)
            self._take(conversation_id)

    def show_message(self, conversation_id: str, message_id: str) -> None:
        """Show a chat on a path through this message.

        Raises:
            UserError: The chat does not exist or cannot be read.
        """
        self.show(conversation_id)
        self._session.turn_to(conversation_id, message_id)

    def show_copy(self, conversation_id: str) -> None:
        """Update the list after chats were copied, and show one unless it was deleted since.

        Raises:
            UserError: The chat cannot be read.
        """
        self._session.list_copies()
        if self._chats.summary(conversation_id) is not None:
            self.show(conversation_id)

    def _take(self, chat_id: str) -> None:
        """Show an open chat in place of the previous one."""
        self.leaving.emit()
        left, self.id = self.id, chat_id
        self._chats.close(left)
        self.path_changed.emit(self.conversation)

    @Slot(object)
    def _on_turned(self, conversation: Conversation) -> None:
        if conversation.conversation_id == self.id:
            self.path_changed.emit(conversation)

    @Slot(object)
    def _on_changed(self, conversation: Conversation) -> None:
        if conversation.conversation_id == self.id:
            self.details_changed.emit(conversation)

    @Slot(str, bool)
    def _on_removed(self, conversation_id: str, was_refused: bool) -> None:  # noqa: FBT001
        """Show an empty chat in place of the removed one."""
        # Keeps the settings, which the user is to correct.
        if conversation_id == self.id and was_refused:
            private, folder_id = self.conversation.private, self.conversation.folder_id
            new = self._chats.new(private=private, settings=self.settings, folder_id=folder_id)
            self._take(new)
        elif conversation_id == self.id:
            self._take(self._chats.new())

    # ------------------------------------------------------------------------------- settings

    @property
    def settings(self) -> ReplySettings:
        """Settings of its next replies."""
        return self._chats.settings_of(self.id)

    @property
    def sent_settings(self) -> ReplySettings:
        """Settings as replies get them: with its folder's instructions before the system prompt."""
        return self._chats.sent_settings(self.id)

    @property
    def folder(self) -> Folder | None:
        """The folder that contains it, if any."""
        return self._chats.folder_of(self.id)

    def set_settings(self, settings: ReplySettings) -> None:
        """Set the settings of its next replies; `keep_settings` stores them."""
        self._chats.set_settings(self.id, settings)
        self.settings_changed.emit()

    def keep_settings(self) -> None:
        """Store the changes of `set_settings`."""
        self._chats.keep_settings(self.id)

    # --------------------------------------------------------------------------- view position

    @property
    def place(self) -> ViewPlace:
        """Position at which its view was left last."""
        return self._chats.place(self.id)

    def keep_place(self, place: ViewPlace) -> None:
        """Store the position of its view."""
        self._chats.save_place(self.id, place)
