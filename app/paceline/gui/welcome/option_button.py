"""A wide button with a line of text and a smaller one below, which break where they must.

A `QPushButton` neither wraps nor shows two sizes of type; its labels here take no clicks, and the
button is as high as they need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

_MARGINS = (12, 8, 12, 8)


class OptionButton(QPushButton):
    """One thing to begin with."""

    def __init__(self, text: str, remark: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "option")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._text, self._remark = QLabel(), QLabel()
        self._remark.setProperty("role", "small")
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(*_MARGINS)
        self._column.setSpacing(2)
        for label in (self._text, self._remark):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(True)
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            self._column.addWidget(label)
        self.say(text, remark)

    @property
    def words(self) -> str:
        """The main line."""
        return self._text.text()

    def say(self, text: str, remark: str = "") -> None:
        """Show other words."""
        self._text.setText(text)
        self._remark.setText(remark)
        self._remark.setVisible(bool(remark))
        self.setAccessibleName(f"{text}. {remark}".strip(". ") if remark else text)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width breaks the lines elsewhere."""
        super().resizeEvent(event)
        self._fit()

    def sizeHint(self) -> QSize:
        """As high as the lines at this width."""
        return QSize(200, self._height())

    def minimumSizeHint(self) -> QSize:
        """Narrow, and never cut."""
        return QSize(120, self._height())

    def _height(self) -> int:
        left, top, right, bottom = _MARGINS
        width = max(self.width() - left - right, 80)
        labels = [each for each in (self._text, self._remark) if each.text()]
        lines = sum(label.heightForWidth(width) for label in labels)
        return top + bottom + lines + self._column.spacing() * (len(labels) - 1)

    def _fit(self) -> None:
        self.setMinimumHeight(self._height())
        # A layout that is resized within its own resizing keeps the geometry from before.
        self._column.invalidate()
        self._column.activate()
