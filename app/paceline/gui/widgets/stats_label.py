"""The figures below a reply in one line: what has no room is left out from its end.

The line is a button: a click shows how the reply was made.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent
    from PySide6.QtWidgets import QWidget

SEPARATOR = " · "
_TAG = re.compile("<[^>]*>")
_PADDING = 3


class StatsLabel(QPushButton):
    """Rich text in parts; a part is shown whole or not at all."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._parts: list[str] = []
        self.setProperty("kind", "stats")
        # A button's own text knows no colours within a line.
        self._label = QLabel()
        self._label.setProperty("role", "stats")
        self._label.setTextFormat(Qt.TextFormat.RichText)
        self._label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(_PADDING, 0, _PADDING, 0)
        layout.addWidget(self._label)
        # One line, whatever its length: it must not decide how wide the conversation is.
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    @property
    def shown_text(self) -> str:
        """What is shown now, as rich text."""
        return self._label.text()

    @property
    def natural_width(self) -> int:
        """Pixels that all parts need."""
        if not self._parts:
            return 0
        plain = _plain(self._shown(len(self._parts)))
        return self._metrics().horizontalAdvance(plain) + 2 * _PADDING + 4

    def set_parts(self, html: str) -> None:
        """Show this text, whose parts stand between middle dots."""
        self._parts = html.split(SEPARATOR) if html else []
        self.updateGeometry()
        self._fit()

    def sizeHint(self) -> QSize:
        """All parts in one line."""
        return QSize(self.natural_width, self._metrics().height() + 6)

    def minimumSizeHint(self) -> QSize:
        """Next to nothing."""
        return QSize(0, self.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show more or fewer parts."""
        super().resizeEvent(event)
        self._fit()

    def _metrics(self) -> QFontMetrics:
        self._label.ensurePolished()
        font = QFont(self._label.font())
        font.setWeight(QFont.Weight.DemiBold)  # rather too wide than cut off
        return QFontMetrics(font)

    def _fit(self) -> None:
        metrics = self._metrics()
        room = self.width() - 2 * _PADDING
        n_parts = len(self._parts)
        while n_parts > 1 and metrics.horizontalAdvance(_plain(self._shown(n_parts))) > room:
            n_parts -= 1
        self._label.setText(self._shown(n_parts))

    def _shown(self, n_parts: int) -> str:
        end = ["…"] if n_parts < len(self._parts) else []
        return SEPARATOR.join([*self._parts[:n_parts], *end])


def _plain(html: str) -> str:
    return _TAG.sub("", html)
