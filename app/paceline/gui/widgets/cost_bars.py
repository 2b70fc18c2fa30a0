"""Bars of what a step costs by its width: filled where measured, hatched where derived."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QFontMetrics, QHelpEvent, QPainter, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from paceline.gui.scale import SMALL, px
from paceline.gui.theme import ui_font

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent

    from paceline.gui.theme import Theme
    from paceline.gui.viewmodels.why import CostRow

_ROW_PX, _BAR_PX, _GAP_PX = 18, 9, 8
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_WIDEST = ("88", "888.8\u202fms", "88.88×")
"""What the three columns of text must hold."""


class CostBars(QWidget):
    """A row per width: the width, a bar, milliseconds, and the ratio to one token."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows: tuple[CostRow, ...] = ()
        self._theme = theme
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_theme(self, theme: Theme) -> None:
        """Use another theme's colours, and the font size in force."""
        self._theme = theme
        self.updateGeometry()
        self.update()

    def show_rows(self, rows: tuple[CostRow, ...]) -> None:
        """Show these costs."""
        if rows == self.rows:
            return
        is_other_height = len(rows) != len(self.rows)
        self.rows = rows
        words = "; ".join(row.words for row in rows)
        self.setAccessibleName(self.tr("Cost of a step by its tokens"))
        self.setAccessibleDescription(words)
        if is_other_height:
            self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """A line per width."""
        return QSize(200, px(_ROW_PX) * max(len(self.rows), 1))

    def minimumSizeHint(self) -> QSize:
        """The texts, and a bar that still shows something."""
        return QSize(sum(self._columns()) + 3 * _GAP_PX + 24, self.sizeHint().height())

    def _columns(self) -> list[int]:
        metrics = QFontMetrics(ui_font(SMALL))
        return [metrics.horizontalAdvance(text) for text in _WIDEST]

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the rows from the top."""
        del event
        theme = self._theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(ui_font(SMALL))
        height, bar = px(_ROW_PX), px(_BAR_PX)
        first, second, third = self._columns()
        left = first + _GAP_PX
        right = self.width() - second - third - _GAP_PX
        room = max(right - left - _GAP_PX, 8)
        colour = QColor(theme.time_verify)
        for at, row in enumerate(self.rows):
            top = at * height
            painter.setPen(QColor(theme.muted))
            painter.drawText(QRectF(0, top, first, height), _RIGHT, str(row.width))
            place = QRectF(left, top + (height - bar) / 2, max(room * row.share, 2.0), bar)
            painter.setPen(Qt.PenStyle.NoPen)
            if row.is_measured:
                painter.setBrush(colour)
                painter.drawRoundedRect(place, 2, 2)
            else:
                faint = QColor(colour)
                faint.setAlphaF(0.25)
                painter.setBrush(faint)
                painter.drawRoundedRect(place, 2, 2)
                painter.setBrush(QBrush(colour, Qt.BrushStyle.BDiagPattern))
                painter.setPen(QPen(colour, 1))
                painter.drawRoundedRect(place.adjusted(0.5, 0.5, -0.5, -0.5), 2, 2)
            painter.setPen(QColor(theme.text))
            painter.drawText(QRectF(right, top, second, height), _RIGHT, row.time)
            painter.setPen(QColor(theme.muted))
            end = QRectF(self.width() - third, top, third, height)
            painter.drawText(end, _RIGHT, row.ratio)
        painter.end()

    def event(self, event: QEvent) -> bool:
        """Say what a bar means when it is pointed at."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            at = event.pos().y() // px(_ROW_PX)
            if 0 <= at < len(self.rows):
                QToolTip.showText(event.globalPos(), self.rows[at].words, self)
            else:
                QToolTip.hideText()
            return True
        return super().event(event)
