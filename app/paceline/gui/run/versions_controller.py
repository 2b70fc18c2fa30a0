"""Opens the versions of a message beside each other; compares them off the main thread."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QDateTime, QLocale, QObject, Slot

from paceline.chat.difference import Difference, compare
from paceline.chat.reply import can_be_repeated, to_record
from paceline.gui.run.versions import Version, VersionsDialog

if TYPE_CHECKING:
    from paceline.chat.reply import Reply
    from paceline.conversation import Message
    from paceline.gui.context import AppContext
    from paceline.gui.state.speculation import Group


class VersionsController(QObject):
    """Owns the dialog while it is open."""

    def __init__(self, context: AppContext, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = context.session
        self._background = context.background
        self._notices = context.notices
        self._window = context.window
        self._speculation = context.speculation
        self._versions: list[Version] = []
        self._repeated = ("", "")  # a reply, and the one that is being written beside it
        self._shown = ("", "")
        self.dialog: VersionsDialog | None = None
        context.actions.compare.triggered.connect(self.open_last)
        context.signals.started.connect(self._offer_strategies)
        context.signals.ended.connect(self._on_ended)

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
        ids = [version.message_id for version in self._session.current.versions(message_id)]
        if len(ids) > 1:
            at = max(ids.index(message_id), 1)
            self._open(ids[at - 1], ids[at])

    def _open(self, left: str, right: str) -> None:
        if self.dialog is None:
            self.dialog = VersionsDialog(self._window)
            self.dialog.chosen.connect(self._show)
            self.dialog.repeat_wanted.connect(self._on_repeat)
            self.dialog.finished.connect(self._on_finished)
        versions = self._session.current.versions(right)
        self._versions = [self._version(n, message) for n, message in enumerate(versions, start=1)]
        self._show(left, right)
        self.dialog.open()

    @Slot()
    def _offer_strategies(self) -> None:
        """Say with which strategies a reply can be written once more, and whether now."""
        if self.dialog is None:
            return
        speculation = self._speculation
        groups: tuple[Group, ...] = ("off", "auto", "draft", "lookup", "mixed")
        choices = [choice for group in groups for choice in speculation.choices(group)]
        record = self.dialog.shown_right.record
        obstacle = ""
        if record is None or not can_be_repeated(record):
            obstacle = self.tr(
                "The reply to the right was continued or edited, or its seed is not known."
            )
        elif self._session.active is not None:
            obstacle = self.tr("A reply is being written.")
        self.dialog.offer_strategies(
            [(choice.name, choice.title, speculation.obstacle(choice.name)) for choice in choices],
            obstacle,
        )

    @Slot(str, str)
    def _on_repeat(self, message_id: str, name: str) -> None:
        if self._session.repeat(message_id, self._speculation.value_of(name)):
            new_id = self._session.current.leaf_id or ""
            self._repeated = message_id, new_id
            if self.dialog is not None:
                self.dialog.summary.setText(self.tr("Writing…"))

    @Slot(object)
    def _on_ended(self, reply: Reply) -> None:
        """Compare what was written once more with what it repeats."""
        self._offer_strategies()
        old_id, new_id = self._repeated
        if reply.message_id == new_id:
            self._repeated = "", ""
            if self.dialog is not None:
                was_refused = new_id not in self._session.current.messages
                self._show(*self._shown) if was_refused else self._open(old_id, new_id)

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
        self._offer_strategies()
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
