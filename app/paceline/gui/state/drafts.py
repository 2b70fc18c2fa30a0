"""Drafts of messages: text and files that were not sent, stored with each chat. Main thread."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal, Slot

from paceline.chat.attachments import split_pasted
from paceline.chat.conversations import Conversations
from paceline.conversation import Attachment
from paceline.gui.state.chat_signals import ChatSignals
from paceline.gui.state.shown_chat import ShownChat


class Drafts(QObject):
    """The draft of the shown chat, and those that other chats were left with.

    Attributes:
        text: What is written in the shown chat.
        files: What is attached to it.
    """

    turned = Signal()
    """Text and files are those of another chat."""

    def __init__(self, shown: ShownChat, chats: Conversations, signals: ChatSignals) -> None:
        super().__init__(shown)
        self._shown, self._chats = shown, chats
        self._id = chats.unsent_id(shown.id)
        self.text, self.files = self._kept()
        shown.path_changed.connect(self._on_shown)
        signals.started.connect(self._on_started)

    def write(self, text: str, files: tuple[Attachment, ...]) -> None:
        """Keep this as the draft of the shown chat."""
        if text != self.text:
            self.text = text
            self._chats.save_unsent(self._id, text)
        if files != self.files:
            self.files = files
            self._chats.save_unsent_files(self._id, files)

    def _kept(self) -> tuple[str, tuple[Attachment, ...]]:
        text, pasted = split_pasted(self._chats.unsent(self._id))
        files = self._chats.unsent_files(self._id)
        if pasted:  # kept apart from now on, or the next change of the text would lose them
            files = (*files, *(file for file in pasted if file not in files))
            self._chats.save_unsent_files(self._id, files)
            self._chats.save_unsent(self._id, text)
        return text, files

    @Slot()
    def _on_shown(self) -> None:
        """Take up the draft of the chat that is shown now."""
        left, self._id = self._id, self._chats.unsent_id(self._shown.id)
        if self._id == left:
            return
        if self._chats.is_purged(left):  # its question was refused, and is to be written anew
            text, files, self.text, self.files = self.text, self.files, "", ()
            self.write(text, files)
            return
        self.text, self.files = self._kept()
        self.turned.emit()

    @Slot()
    def _on_started(self) -> None:
        """Begin the draft of a chat that was new: what was written is sent, or written again."""
        left, self._id = self._id, self._chats.unsent_id(self._shown.id)
        if self._id != left:
            self._chats.save_unsent(left, "")
            self._chats.save_unsent_files(left, ())
            self.text, self.files = "", ()
