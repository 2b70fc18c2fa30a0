"""What the user wrote: plain text as typed, in a bubble at the right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from paceline.gui.widgets.message_view import MessageView

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

    from paceline.gui.theme import Theme

_PADDING = 14
_MAX_SHARE = 0.86
_MEASURED_LINES = 60
_MEASURED_CHARS = 200


class UserBubble(QWidget):
    """A row with the bubble at its right end, as wide as the text needs."""

    link_activated = Signal(str)

    def __init__(self, text: str, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = text
        self._view = MessageView(theme)
        self._view.setAccessibleName(self.tr("Your message"))
        self._view.show_plain(text)
        self._bubble = QFrame()
        self._bubble.setProperty("kind", "bubble")
        inside = QVBoxLayout(self._bubble)
        inside.setContentsMargins(_PADDING, 10, _PADDING, 5)
        inside.addWidget(self._view)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addStretch(1)
        row.addWidget(self._bubble)

    @property
    def text(self) -> str:
        """The message as typed."""
        return self._text

    @property
    def view(self) -> MessageView:
        """The text's view."""
        return self._view

    def set_theme(self, theme: Theme) -> None:
        """Show the same in other colours."""
        self._view.set_theme(theme)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """As wide as the text, but never the whole row."""
        super().resizeEvent(event)
        self._bubble.setFixedWidth(
            min(self._natural_width() + 2 * _PADDING, int(self.width() * _MAX_SHARE))
        )

    def _natural_width(self) -> int:
        metrics = self._view.fontMetrics()
        lines = self._text.split("\n", _MEASURED_LINES)[:_MEASURED_LINES]
        return max(metrics.horizontalAdvance(line[:_MEASURED_CHARS]) for line in lines) + 4
