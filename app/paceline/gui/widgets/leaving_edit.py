"""A field for several lines in a panel: Tab leaves it, so that the keyboard never gets stuck."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPlainTextEdit

if TYPE_CHECKING:
    from PySide6.QtGui import QKeyEvent


class LeavingEdit(QPlainTextEdit):
    """Plain text; Tab and Shift+Tab go to the next and the previous field."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move on by Tab, write by everything else."""
        if event.key() in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab):
            event.ignore()
            self.focusNextPrevChild(event.key() == Qt.Key.Key_Tab)
            return
        super().keyPressEvent(event)
