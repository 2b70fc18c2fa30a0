"""A label of one line that ends in an ellipsis where there is no room for more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

_MIN_PX = 40


class ElidedLabel(QLabel):
    """Keeps the whole text and shows what fits; as wide as its text, up to a limit."""

    def __init__(
        self,
        limit_px: int,
        mode: Qt.TextElideMode = Qt.TextElideMode.ElideMiddle,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._limit_px = limit_px
        self._mode = mode
        self._full = ""
        self.setTextFormat(Qt.TextFormat.PlainText)
        # Absolute: a name in a script from right to left begins where its neighbours begin.
        self.setAlignment(
            Qt.AlignmentFlag.AlignLeft
            | Qt.AlignmentFlag.AlignAbsolute
            | Qt.AlignmentFlag.AlignVCenter
        )
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)

    @property
    def full_text(self) -> str:
        """The text, whatever is shown of it."""
        return self._full

    def set_full_text(self, text: str) -> None:
        """Show another text."""
        if text == self._full:
            return
        self._full = text
        self.updateGeometry()
        self._elide()

    def sizeHint(self) -> QSize:
        """As wide as the text, up to the limit."""
        width = self.fontMetrics().horizontalAdvance(self._full) + 2
        return QSize(min(width, self._limit_px), super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """A few letters."""
        return QSize(min(_MIN_PX, self.sizeHint().width()), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show more or less of the text."""
        super().resizeEvent(event)
        self._elide()

    def _elide(self) -> None:
        width = max(self.width(), _MIN_PX)
        self.setText(self.fontMetrics().elidedText(self._full, self._mode, width))
