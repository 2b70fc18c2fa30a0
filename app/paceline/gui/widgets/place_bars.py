"""A row of tiny bars: how many tokens were accepted at each place of the draft."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QSizePolicy, QWidget

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QPaintEvent

_HEIGHT = 24
_WIDEST_BAR = 12
_LISTED = 16


class PlaceBars(QWidget):
    """The highest bar fills the height; an empty place keeps a line."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.counts: tuple[int, ...] = ()
        self._colour, self._ground = QColor(), QColor()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """As wide as there is room."""
        return QSize(120, _HEIGHT)

    def show_counts(self, counts: Sequence[int], colour: str, ground: str) -> None:
        """Show these numbers in a colour over lines of another."""
        self.counts = tuple(counts)
        self._colour, self._ground = QColor(colour), QColor(ground)
        listed = ", ".join(str(count) for count in self.counts[:_LISTED])
        more = "…" if len(self.counts) > _LISTED else ""
        words = self.tr("Accepted by place in the draft: {}").format(f"{listed}{more}")
        self.setToolTip(words)
        self.setAccessibleName(words)
        self.setVisible(any(self.counts))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the bars from the left."""
        del event
        most = max(self.counts, default=0)
        if not most:
            return
        painter = QPainter(self)
        step = min(self.width() / len(self.counts), _WIDEST_BAR + 2)
        gap = 2 if step >= 5 else 0.5
        for place, count in enumerate(self.counts):
            left = place * step
            painter.fillRect(QRectF(left, _HEIGHT - 1, step - gap, 1), self._ground)
            height = max(count / most * (_HEIGHT - 1), 1.0) if count else 0.0
            bar = QRectF(left, _HEIGHT - 1 - height, step - gap, height)
            painter.fillRect(bar, self._colour)
