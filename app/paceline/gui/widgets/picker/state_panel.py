"""What stands in the place of a list that has nothing to show: why, and what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QPushButton, QVBoxLayout, QWidget

if TYPE_CHECKING:
    from PySide6.QtGui import QIcon

_ICON_PX = 32
_TEXT_PX = 360


class StatePanel(QWidget):
    """A sign, a title, a sentence, and a button if there is something to do."""

    asked = Signal(str)
    """Name of what the button offers"""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._action = ""
        self.sign = QLabel()
        self.title = QLabel()
        self.title.setWordWrap(True)
        self.title.setProperty("role", "title")
        self.text = QLabel()
        self.text.setProperty("role", "muted")
        self.text.setWordWrap(True)
        self.text.setTextFormat(Qt.TextFormat.PlainText)
        self.bar = QProgressBar()
        self.bar.setRange(0, 0)
        self.bar.setTextVisible(False)
        self.bar.setFixedWidth(160)
        self.button = QPushButton()
        # Aligned in a column, a label of several lines does not get the height that it needs.
        middle = QWidget()
        middle.setFixedWidth(_TEXT_PX)
        inner = QVBoxLayout(middle)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(8)
        for label in (self.sign, self.title, self.text):
            inner.addWidget(label)
        for widget in (self.bar, self.button):
            inner.addWidget(widget, 0, Qt.AlignmentFlag.AlignHCenter)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 24, 0, 24)
        column.addStretch(2)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(middle)
        row.addStretch(1)
        column.addLayout(row)
        column.addStretch(3)
        for label in (self.sign, self.title, self.text):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.button.clicked.connect(self._on_clicked)

    def show_state(
        self,
        title: str,
        text: str = "",
        *,
        sign: QIcon | None = None,
        action: str = "",
        action_text: str = "",
        is_busy: bool = False,
    ) -> None:
        """Show this; `action` is what `asked` will say."""
        self.title.setText(title)
        self.text.setText(text)
        self.text.setVisible(bool(text))
        self.sign.setVisible(sign is not None and not sign.isNull())
        if sign is not None:
            self.sign.setPixmap(sign.pixmap(_ICON_PX, _ICON_PX))
        self.bar.setVisible(is_busy)
        self._action = action
        self.button.setText(action_text)
        self.button.setVisible(bool(action))
        self.setAccessibleName(f"{title} {text}".strip())

    def _on_clicked(self) -> None:
        self.asked.emit(self._action)
