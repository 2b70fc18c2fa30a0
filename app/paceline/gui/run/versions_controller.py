"""Opens the versions of a message beside each other; compares them off the main thread."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QDateTime, QLocale, QObject, Slot

from paceline.chat.difference import Difference, compare
from paceline.chat.reply import to_record
from paceline.gui.run.versions import Version, VersionsDialog

if TYPE_CHECKING:
    from paceline.conversation import Message
    from paceline.gui.context import AppContext


class VersionsController(QObject):
    """Owns the dialog while it is open."""

    def __init__(self, context: AppContext, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = context.session
        self._background = context.background
        self._notices = context.notices
        self._window = context.window
        self._versions: list[Version] = []
        self._shown = ("", "")
        self.dialog: VersionsDialog | None = None
        context.actions.compare.triggered.connect(self.open_last)

    @Slot()
    def open_last(self) -> None:
        """Compare the last message of the shown path that has versions with the one before it."""
        conversation = self._session.current
        for message in reversed(conversation.path()):
            if len(conversation.versions(message.message_id)) > 1:
                self.open(message.message_id)
                return
        self._notices.tell(self.tr("No message of this chat has another version."))

    @Slot(str)
    def open(self, message_id: str) -> None:
        """Compare a shown message with the version before it, the first one with the next."""
        versions = self._session.current.versions(message_id)
        ids = [version.message_id for version in versions]
        if len(ids) < 2:
            return
        at = max(ids.index(message_id), 1)
        if self.dialog is None:
            self.dialog = VersionsDialog(self._window)
            self.dialog.chosen.connect(self._show)
            self.dialog.finished.connect(self._on_finished)
        self._versions = [self._version(n, message) for n, message in enumerate(versions, start=1)]
        self._show(ids[at - 1], ids[at])
        self.dialog.open()

    def _version(self, number: int, message: Message) -> Version:
        reply = self._session.conversations.reply_of(message.message_id)
        record = to_record(reply) if reply is not None else None
        when = QDateTime.fromSecsSinceEpoch(int(message.created_s))
        name = self.tr("Version {} · {}").format(number, QLocale().toString(when, "d MMM HH:mm"))
        return Version(message.message_id, name, record)

    @Slot(str, str)
    def _show(self, left: str, right: str) -> None:
        dialog, messages = self.dialog, self._session.current.messages
        if dialog is None:
            return
        self._shown = left, right
        dialog.show_versions(self._versions, left, right)
        self._background.start(
            partial(compare, messages[left].content, messages[right].content),
            partial(self._on_compared, self._shown),
            self._notices.user_error,
        )

    def _on_compared(self, which: tuple[str, str], difference: object) -> None:
        assert isinstance(difference, Difference)
        if self.dialog is not None and which == self._shown:
            self.dialog.show_difference(difference)

    @Slot()
    def _on_finished(self) -> None:
        dialog, self.dialog = self.dialog, None
        if dialog is not None:
            dialog.deleteLater()

    def close(self) -> None:
        """Close the dialog with the window."""
        if self.dialog is not None:
            self.dialog.reject()
