"""The figures below a reply in one line: what has no room is left out from its end."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetrics
from PySide6.QtWidgets import QLabel, QSizePolicy

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent
    from PySide6.QtWidgets import QWidget

SEPARATOR = " · "
_TAG = re.compile("<[^>]*>")


class StatsLabel(QLabel):
    """Rich text in parts; a part is shown whole or not at all."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._parts: list[str] = []
        self.setProperty("role", "stats")
        self.setTextFormat(Qt.TextFormat.RichText)
        # One line, whatever its length: it must not decide how wide the conversation is.
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def set_parts(self, html: str) -> None:
        """Show this text, whose parts stand between middle dots."""
        self._parts = html.split(SEPARATOR)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show more or fewer parts."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        font = QFont(self.font())
        font.setWeight(QFont.Weight.DemiBold)  # rather too wide than cut off
        metrics = QFontMetrics(font)
        n_parts = len(self._parts)
        while (
            n_parts > 1 and metrics.horizontalAdvance(_plain(self._shown(n_parts))) > self.width()
        ):
            n_parts -= 1
        self.setText(self._shown(n_parts))

    def _shown(self, n_parts: int) -> str:
        end = ["…"] if n_parts < len(self._parts) else []
        return SEPARATOR.join([*self._parts[:n_parts], *end])


def _plain(html: str) -> str:
    return _TAG.sub("", html)
