"""Asks where something is to be saved and writes it in the background.

The dialog blocks nothing. What is written is made in the background, too, once a file has been
chosen; a file that was there before is replaced in one go.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject, Slot

from paceline.errors import UserError
from paceline.files import write_whole
from paceline.gui.file_chooser import FileChooser

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from paceline.gui.background import Background
    from paceline.gui.notifications import Notifications

Make = Callable[[], bytes]


def _tr(text: str) -> str:
    return QCoreApplication.translate("SaveFile", text)


class SaveFile(FileChooser):
    """One file at a time."""

    def __init__(
        self, background: Background, notifications: Notifications, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._background = background
        self._notifications = notifications
        self._make: Make | None = None
        self.chosen.connect(self.write)

    def ask(self, window: QWidget, title: str, name: str, kinds: str, make: Make) -> None:
        """Open the dialog; `make` gives the file's content when a place has been chosen.

        Args:
            window: What the dialog stands over.
            title: The dialog's title.
            name: The proposed file name, with its ending.
            kinds: The filter, e.g. ``"Tables (*.csv)"``.
            make: Called at most once, in another thread; a `UserError` that it raises is shown.
        """
        if self.is_open:
            return
        self._make = make
        self.ask_place(window, title, name, kinds)

    @Slot(str)
    def write(self, path: str) -> None:
        """Write what was asked to be saved to this file."""
        make, self._make = self._make, None
        if make is None:
            return
        write = partial(write_made, Path(path), make)
        self._background.start(write, self._on_written, self._notifications.user_error)

    @Slot(object)
    def _on_written(self, name: object) -> None:
        self._notifications.tell(self.tr("Saved as {}.").format(name))


def write_made(path: Path, make: Make) -> str:
    """Make a file's content and write it in one go; returns its name.

    Raises:
        UserError: It cannot be written.
    """
    try:
        write_whole(path, make())
    except OSError as error:
        raise UserError(
            "not-saved",
            _tr("“{}” could not be saved ({}).").format(path.name, error.strerror or error),
            _tr("Choose another folder."),
        ) from error
    return path.name
