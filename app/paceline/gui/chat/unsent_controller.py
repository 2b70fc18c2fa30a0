"""What is written in a conversation but not sent: text that is kept with it, and files.

Text is stored. Attached files are kept only while the window is open: they may be private, and are
still where they came from.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Slot

from paceline.chat.attachments import check_count, read_attachment
from paceline.errors import UserError
from paceline.gui.kit.file_dialogs import FileChooser

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paceline.conversation import Attachment
    from paceline.gui.chat.composer import Composer
    from paceline.gui.context import AppContext

KEEP_AFTER_MS = 400
"""After the last key press; a switch and the end of the program keep it at once."""


class UnsentController(QObject):
    """Keeps the composer's text with its conversation, and brings it back when that is shown."""

    def __init__(
        self,
        context: AppContext,
        composer: Composer,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session = context.session
        self._composer = composer
        self._id = session.conversations.unsent_id
        self._kept = session.conversations.unsent(self._id)
        self._files: dict[str, tuple[Attachment, ...]] = {}  # gone with the window
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(KEEP_AFTER_MS)
        self._timer.timeout.connect(self.keep)
        if self._kept:
            composer.set_text(self._kept)
        composer.edit.textChanged.connect(self._timer.start)
        context.signals.shown.connect(self._on_shown)
        context.signals.started.connect(self._on_started)

    @Slot()
    def keep(self) -> None:
        """Keep now what the composer has."""
        self._timer.stop()
        text = self._composer.text
        if text != self._kept:
            self._kept = text
            self._session.conversations.save_unsent(self._id, text)

    @Slot()
    def _on_shown(self) -> None:
        unsent_id = self._session.conversations.unsent_id
        if unsent_id == self._id:
            return
        if self._session.conversations.is_purged(self._id):  # its question was refused
            self._id, self._kept = unsent_id, ""
            return
        self.keep()
        self._files[self._id] = self._composer.attachments
        self._id = unsent_id
        self._kept = self._session.conversations.unsent(unsent_id)
        self._composer.set_attachments(self._files.pop(unsent_id, ()))
        if self._composer.text != self._kept:
            self._composer.set_text(self._kept)
            self._timer.stop()

    @Slot()
    def _on_started(self) -> None:
        """The first message gives a new chat an id; what is written stays with it."""
        unsent_id = self._session.conversations.unsent_id
        if unsent_id != self._id:
            self._session.conversations.save_unsent(self._id, "")
            self._id, self._kept = unsent_id, ""
        self.keep()


class AttachmentsController(QObject):
    """Brings files into the message: chosen, dropped or pasted; reads them in the background.

    Files that cannot be attached are told of, the others are attached.
    """

    def __init__(
        self,
        context: AppContext,
        composer: Composer,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._window = context.window
        self._composer = composer
        self._background = context.background
        self._notices = context.notices
        self.files = FileChooser(self)
        self.files.files_chosen.connect(self.attach)
        self.files.closed.connect(self._on_closed)
        context.actions.attach.triggered.connect(self.ask)
        self._composer.attach_requested.connect(self.ask)
        self._composer.edit.files_pasted.connect(self.attach)

    @Slot()
    def ask(self) -> None:
        """Let the user choose files."""
        self.files.ask_files(self._window, self.tr("Attach text or code files"))

    @Slot(list)
    def attach(self, paths: Sequence[str]) -> None:
        """Attach files; the chat stays as it is until they are read."""
        try:
            check_count(self._composer.attachments, len(paths))
        except UserError as error:
            self._notices.user_error(error)
            return
        if paths:
            self.files.remember(paths[0])
        self._background.start(
            partial(_read, tuple(paths)), self._on_read, self._notices.user_error
        )

    @Slot()
    def _on_closed(self) -> None:
        self._composer.setFocus()

    def _on_read(self, result: object) -> None:
        assert isinstance(result, tuple)
        files, errors = result
        self._composer.add_attachments(files)
        others = self.tr("{} more files could not be attached either.")
        self._notices.user_errors(errors, others)
        if files and not errors:
            self._composer.setFocus()


def _read(paths: tuple[str, ...]) -> tuple[list[Attachment], list[UserError]]:
    files: list[Attachment] = []
    errors: list[UserError] = []
    for path in paths:
        try:
            files.append(read_attachment(Path(path)))
        except UserError as error:
            errors.append(error)
    return files, errors
