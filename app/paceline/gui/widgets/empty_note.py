"""What stands where a list is empty: what that means, what to do, and if there is one a way out."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget


class EmptyNote(QWidget):
    """A title, a sentence or two, and a button."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title = QLabel()
        self.title.setProperty("role", "title")
        self.hint = QLabel()
        self.hint.setProperty("role", "small")
        for label in (self.title, self.hint):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(True)
        self.button = QPushButton()
        self.button.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 24, 10, 10)
        column.setSpacing(6)
        column.addWidget(self.title)
        column.addWidget(self.hint)
        column.addWidget(self.button, 0, Qt.AlignmentFlag.AlignLeft)
        column.addStretch(1)

    def say(self, title: str, hint: str, button: str = "") -> None:
        """Show these words; an empty one for the button hides it."""
        self.title.setText(title)
        self.hint.setText(hint)
        self.button.setText(button)
        self.button.setVisible(bool(button))
