"""Brings files into the message that is being written: chosen, dropped or pasted."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from paceline.chat.attachments import check_count, read_attachment
from paceline.errors import UserError
from paceline.gui.file_chooser import FileChooser

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paceline.conversation import Attachment
    from paceline.gui.background import Background
    from paceline.gui.context_meter import ContextMeterController
    from paceline.gui.main_window import MainWindow
    from paceline.gui.notifications import Notifications

_Read = tuple[list["Attachment"], list[UserError]]


class AttachmentsController(QObject):
    """Reads files in the background; what cannot be attached is told, the others are."""

    def __init__(
        self,
        *,
        window: MainWindow,
        context: ContextMeterController,
        background: Background,
        notifications: Notifications,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._window = window
        self._composer = window.chat_pane.composer
        self._background = background
        self._notifications = notifications
        self.files = FileChooser(self)
        self.files.files_chosen.connect(self.attach)
        self.files.closed.connect(self._on_closed)
        window.actions_.attach.triggered.connect(self.ask)
        self._composer.attach_requested.connect(self.ask)
        self._composer.files_pasted.connect(self.attach)
        self._composer.attachments_changed.connect(context.set_attachments)
        window.drop_zones.files_dropped.connect(self.attach)

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
            self._notifications.user_error(error)
            return
        if paths:
            self.files.remember(paths[0])
        self._background.start(
            partial(_read, tuple(paths)), self._on_read, self._notifications.user_error
        )

    @Slot()
    def _on_closed(self) -> None:
        self._composer.setFocus()

    def _on_read(self, result: object) -> None:
        assert isinstance(result, tuple)
        files, errors = result
        self._composer.add_attachments(files)
        others = self.tr("{} more files could not be attached either.")
        self._notifications.user_errors(errors, others)
        if files and not errors:
            self._composer.setFocus()


def _read(paths: tuple[str, ...]) -> _Read:
    files: list[Attachment] = []
    errors: list[UserError] = []
    for path in paths:
        try:
            files.append(read_attachment(Path(path)))
        except UserError as error:
            errors.append(error)
    return files, errors
