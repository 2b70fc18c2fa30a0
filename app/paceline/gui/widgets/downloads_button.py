"""The running downloads in the top bar: a ring that fills, and the whole story as its tool tip."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Qt, Slot
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QToolButton, QWidget

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent

    from paceline.gui.theme import Theme
    from paceline.gui.viewmodels.downloads import DownloadsModel

_SIDE = 28
_RING = 14
_WIDTH = 2.5
_FULL_TURN = 16 * 360
_TOP = 16 * 90


class DownloadsButton(QToolButton):
    """Hidden while nothing runs."""

    def __init__(self, model: DownloadsModel, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._theme = theme
        self.setProperty("kind", "quiet")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        model.changed.connect(self._on_changed)
        self._on_changed()

    def set_theme(self, theme: Theme) -> None:
        """Use another theme's colours."""
        self._theme = theme
        self.update()

    def sizeHint(self) -> QSize:
        """As large as the other buttons of the bar."""
        return QSize(_SIDE, _SIDE)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the ring over the button."""
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ring = QRectF(0, 0, _RING, _RING)
        ring.moveCenter(QRectF(self.rect()).center())
        painter.setPen(QPen(QColor(self._theme.line_strong), _WIDTH))
        painter.drawEllipse(ring)
        pen = QPen(QColor(self._theme.accent), _WIDTH)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        painter.drawArc(ring, _TOP, -_FULL_TURN * self._model.progress // 1000)

    @Slot()
    def _on_changed(self) -> None:
        words = self._model.summary
        self.setVisible(bool(self._model.n_under_way))
        self.setToolTip(words)
        self.setAccessibleName(self.tr("Downloads"))
        self.setAccessibleDescription(words)
        self.update()
