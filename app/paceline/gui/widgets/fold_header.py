"""A line in small type with an arrow: shows or hides what stands below it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from paceline.gui.scale import SMALL, px
from paceline.gui.theme import ui_font

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent

    from paceline.gui.theme import Theme

_HEAD_PX, _ARROW_PX = 26, 16


class FoldHeader(QAbstractButton):
    """An arrow and a text: shows or hides what stands below."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setCheckable(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setFont(ui_font(SMALL))

    def set_theme(self, theme: Theme) -> None:
        """Use other colours, and the font in force."""
        self._theme = theme
        self.setFont(ui_font(SMALL))
        self.update()

    def sizeHint(self) -> QSize:
        """As wide as the text."""
        width = self.fontMetrics().horizontalAdvance(self.text())
        return QSize(width + px(_ARROW_PX) + 10, px(_HEAD_PX))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """The arrow points to the right, or down where the text is shown."""
        theme = self._theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.hasFocus():
            painter.setPen(QPen(QColor(theme.accent), 1))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        ink = QColor(theme.text if self.underMouse() else theme.muted)
        pen = QPen(ink, 1.6)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        painter.setPen(pen)
        side = px(7) / 2
        centre = QPointF(4 + side, self.height() / 2)
        tips = [QPointF(-side / 2, -side), QPointF(side / 2, 0), QPointF(-side / 2, side)]
        if self.isChecked():
            tips = [QPointF(tip.y(), tip.x()) for tip in tips]
        painter.drawPolyline(QPolygonF([centre + tip for tip in tips]))
        painter.setPen(ink)
        painter.setFont(self.font())
        place = self.rect().adjusted(px(_ARROW_PX), 0, 0, 0)
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, self.text())
