"""Saves a block of code from a reply to a file that the user chooses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from paceline.gui.widgets.code import file_pattern

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from paceline.gui.save_file import SaveFile

_STEM = "code"


class CodeSaver(QObject):
    """Proposes a name by the code's language; the dialog asks before a file is replaced."""

    def __init__(self, save: SaveFile, window: QWidget, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._save = save
        self._window = window
        self._code = ""

    @Slot(str, str)
    def save(self, language: str, code: str) -> None:
        """Ask where, then write.

        Args:
            language: As the author of the code named it; may be empty or unknown.
            code: It; the file gets a newline at its end.
        """
        self._code = code if code.endswith("\n") else f"{code}\n"
        pattern = file_pattern(language)
        name = pattern.replace("*", _STEM)
        everything = self.tr("All files (*)")
        kinds = self.tr("Code ({})").format(pattern) + f";;{everything}"
        self._save.ask(self._window, self.tr("Save the code"), name, kinds, self._content)

    def _content(self) -> bytes:
        # A lone surrogate, which no file can hold, is better replaced than lost with the rest.
        return self._code.encode(errors="replace")
