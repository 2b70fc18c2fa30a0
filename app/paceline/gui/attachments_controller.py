"""Brings files into the message that is being written: chosen, dropped or pasted."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtWidgets import QFileDialog

from paceline.chat.attachments import check_count, read_attachment
from paceline.errors import UserError

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
        self._folder = ""
        self.dialog: QFileDialog | None = None
        window.actions_.attach.triggered.connect(self.ask)
        self._composer.attach_requested.connect(self.ask)
        self._composer.files_pasted.connect(self.attach)
        self._composer.attachments_changed.connect(context.set_attachments)
        window.drop_zones.files_dropped.connect(self.attach)

    @Slot()
    def ask(self) -> None:
        """Let the user choose files."""
        if self.dialog is not None:
            return
        self.dialog = QFileDialog(self._window, self.tr("Attach text or code files"), self._folder)
        self.dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        self.dialog.filesSelected.connect(self.attach)
        self.dialog.finished.connect(self._on_finished)
        self.dialog.open()

    @Slot(list)
    def attach(self, paths: Sequence[str]) -> None:
        """Attach files; the chat stays as it is until they are read."""
        try:
            check_count(self._composer.attachments, len(paths))
        except UserError as error:
            self._notifications.user_error(error)
            return
        self._folder = str(Path(paths[0]).parent) if paths else self._folder
        self._background.start(partial(_read, tuple(paths)), self._on_read, self._on_failed)

    @Slot()
    def _on_finished(self) -> None:
        self.dialog = None
        self._composer.setFocus()

    def _on_read(self, result: object) -> None:
        assert isinstance(result, tuple)
        files, errors = result
        self._composer.add_attachments(files)
        if errors:
            hint = errors[0].hint
            if len(errors) > 1:
                others = self.tr("{} more files could not be attached either.")
                hint = f"{hint} {others.format(len(errors) - 1)}"
            self._notifications.error(errors[0].message, hint)
        elif files:
            self._composer.setFocus()

    def _on_failed(self, error: UserError) -> None:
        self._notifications.user_error(error)


def _read(paths: tuple[str, ...]) -> _Read:
    files: list[Attachment] = []
    errors: list[UserError] = []
    for path in paths:
        try:
            files.append(read_attachment(Path(path)))
        except UserError as error:
            errors.append(error)
    return files, errors
