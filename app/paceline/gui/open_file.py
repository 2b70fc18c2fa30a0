"""Asks for a text file and reads it in the background; the dialog blocks nothing."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from paceline.errors import UserError
from paceline.gui.file_chooser import FileChooser

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from paceline.gui.background import Background
    from paceline.gui.notifications import Notifications

Take = Callable[[str], None]


class OpenFile(FileChooser):
    """One file at a time."""

    def __init__(
        self, background: Background, notifications: Notifications, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._background = background
        self._notifications = notifications
        self._take: Take | None = None
        self._max_bytes = 0
        self.chosen.connect(self.read)

    def ask(self, window: QWidget, title: str, kinds: str, max_bytes: int, take: Take) -> None:
        """Open the dialog; `take` gets the text of the file that is chosen.

        Args:
            window: What the dialog stands over.
            title: The dialog's title.
            kinds: The filter, e.g. ``"Presets (*.json)"``.
            max_bytes: A longer file is refused in words.
            take: Called on the main thread; a `UserError` that it raises is shown.
        """
        if self.is_open:
            return
        self._take, self._max_bytes = take, max_bytes
        self.ask_file(window, title, kinds)

    @Slot(str)
    def read(self, path: str) -> None:
        """Read what was chosen."""
        job = partial(read_text, Path(path), self._max_bytes)
        self._background.start(job, self._on_read, self._notifications.user_error)

    @Slot(object)
    def _on_read(self, text: object) -> None:
        take, self._take = self._take, None
        if take is not None:
            try:
                take(str(text))
            except UserError as error:
                self._notifications.user_error(error)


def read_text(path: Path, max_bytes: int) -> str:
    """Return the text of a small file.

    Raises:
        UserError: It cannot be read, is too long, or is no text.
    """
    name = f"“{path.name}”"
    try:
        with path.open("rb") as file:
            data = file.read(max_bytes + 1)
    except OSError as error:
        raise UserError(
            "cannot-read", f"{name} cannot be read ({error.strerror or error}).", "Choose another."
        ) from error
    if len(data) > max_bytes:
        raise UserError(
            "file-too-long", f"{name} has more than {max_bytes:,} bytes.", "Choose a shorter one."
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UserError("no-text", f"{name} is no text in UTF-8.", "Choose another.") from None
