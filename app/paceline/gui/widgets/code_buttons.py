"""The buttons on a code card: copy the code, save it to a file."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QWidget

from paceline.gui.widgets.copy_button import CopyButton


class CodeButtons(QWidget):
    """What can be done with one block of code; hidden while the code is still growing."""

    copy_requested = Signal(str)
    save_requested = Signal(str, str)
    """The language as the author named it, and the code."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._language = ""
        self._code: str | None = None
        self._copy = CopyButton()
        self._copy.copy_requested.connect(self.copy_requested)
        self._save = QToolButton()
        self._save.setProperty("kind", "link")
        self._save.setText(self.tr("Save"))
        self._save.setAccessibleName(self.tr("Save the code to a file"))
        self._save.setCursor(Qt.CursorShape.PointingHandCursor)
        self._save.clicked.connect(self._on_save)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(2)
        row.addWidget(self._copy)
        row.addWidget(self._save)

    def set_code(self, language: str, code: str | None) -> None:
        """What a click copies or saves; None while the code is still growing."""
        self._language, self._code = language, code
        self._copy.set_code(code)
        self.setVisible(code is not None)

    @Slot()
    def _on_save(self) -> None:
        if self._code is not None:
            self.save_requested.emit(self._language, self._code)
