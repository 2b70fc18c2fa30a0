"""Drafts of messages: unsent text and files, stored with each chat. Main thread."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal, Slot

from paceline.chat.attachments import split_pasted
from paceline.chat.conversations import Conversations
from paceline.conversation import Attachment
from paceline.gui.state.chat_signals import ChatSignals
from paceline.gui.state.shown_chat import ShownChat


class Drafts(QObject):
    """Unsent message of the shown chat, and those of all other chats.

    Attributes:
        text: The unsent text of the shown chat.
        files: Its attachments.
    """

    turned = Signal()
    """Text and files are now those of another chat."""

    def __init__(self, shown: ShownChat, chats: Conversations, signals: ChatSignals) -> None:
        super().__init__(shown)
        self._shown, self._chats = shown, chats
        self._id = chats.unsent_id(shown.id)
        self.text, self.files = self._kept()
        shown.path_changed.connect(self._on_shown)
        signals.started.connect(self._on_started)

    def write(self, text: str, files: tuple[Attachment, ...]) -> None:
        """Store this as the draft of the shown chat."""
        if text != self.text:
            self.text = text
            self._chats.save_unsent(self._id, text)
        if files != self.files:
            self.files = files
            self._chats.save_unsent_files(self._id, files)

    def _kept(self) -> tuple[str, tuple[Attachment, ...]]:
        text, pasted = split_pasted(self._chats.unsent(self._id))
        files = self._chats.unsent_files(self._id)
        if pasted:  # written by an earlier version: stored apart, or the next save would lose them
            files = (*files, *(file for file in pasted if file not in files))
            self._chats.save_unsent_files(self._id, files)
            self._chats.save_unsent(self._id, text)
        return text, files

    @Slot()
    def _on_shown(self) -> None:
        """Load the draft of the chat that is shown now."""
        left, self._id = self._id, self._chats.unsent_id(self._shown.id)
        if self._id == left:
            return
        # A new chat whose first question was refused is deleted; the question is a draft again.
        if self._chats.is_purged(left):
            text, files, self.text, self.files = self.text, self.files, "", ()
            self.write(text, files)
            return
        self.text, self.files = self._kept()
        self.turned.emit()

    @Slot()
    def _on_started(self) -> None:
        """Begin an empty draft when the first message of a new chat has been sent."""
        left, self._id = self._id, self._chats.unsent_id(self._shown.id)
        if self._id != left:
            self._chats.save_unsent(left, "")
            self._chats.save_unsent_files(left, ())
            self.text, self.files = "", ()
