"""A small chart of shares of accepted tokens; what rests on few tokens is drawn paler."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QHelpEvent, QPainter
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from paceline.gui.scale import TINY, px
from paceline.gui.theme import ui_font

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent

    from paceline.gui.theme import Theme
    from paceline.gui.viewmodels.why import RateBar

_HEIGHT, _AXIS_PX, _WIDEST = 56, 14, 26
_PALEST = 0.3


class RateBars(QWidget):
    """A full bar: everything was accepted. Below each stand its places or its class."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.bars: tuple[RateBar, ...] = ()
        self._theme = theme
        self._is_model = False
        self._title = ""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_theme(self, theme: Theme) -> None:
        """Use another theme's colours, and the font size in force."""
        self._theme = theme
        self.updateGeometry()
        self.update()

    def show_bars(self, title: str, bars: tuple[RateBar, ...], *, is_model: bool) -> None:
        """Show these shares, in a draft model's colour or in a lookup's."""
        if (title, bars, is_model) == (self._title, self.bars, self._is_model):
            return
        self._title, self.bars, self._is_model = title, bars, is_model
        self.setAccessibleName(title)
        self.setAccessibleDescription("; ".join(bar.words for bar in bars))
        self.update()

    def sizeHint(self) -> QSize:
        """As wide as there is room."""
        return QSize(96, px(_HEIGHT))

    def minimumSizeHint(self) -> QSize:
        """Narrow bars still tell."""
        return QSize(48, px(_HEIGHT))

    def _step_px(self) -> float:
        return min(self.width() / max(len(self.bars), 1), px(_WIDEST))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the bars from the left, and what they are below."""
        del event
        theme = self._theme
        painter = QPainter(self)
        painter.setFont(ui_font(TINY))
        axis, step = px(_AXIS_PX), self._step_px()
        full, gap = self.height() - axis, 3 if step >= 9 else 1
        free = 0.0  # from here on nothing is written yet
        ground = QColor(theme.hover)
        for at, bar in enumerate(self.bars):
            left, width = at * step, step - gap
            painter.fillRect(QRectF(left, 0, width, full), ground)
            colour = QColor(theme.accent if self._is_model else theme.lookup)
            colour.setAlphaF(_PALEST + (1 - _PALEST) * bar.belief)
            height = full * bar.share
            painter.fillRect(QRectF(left, full - height, width, height), colour)
            wide = painter.fontMetrics().horizontalAdvance(bar.label)
            start = max(min(left + (width - wide) / 2, self.width() - wide), 0.0)
            if start >= free:
                painter.setPen(QColor(theme.muted))
                below = QRectF(start, full + 1, wide + 1, axis - 1)
                painter.drawText(below, Qt.AlignmentFlag.AlignLeft, bar.label)
                free = start + wide + 2
        painter.end()

    def event(self, event: QEvent) -> bool:
        """Say what a bar means when it is pointed at."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            at = int(event.pos().x() / self._step_px())
            if 0 <= at < len(self.bars):
                QToolTip.showText(event.globalPos(), self.bars[at].words, self)
            else:
                QToolTip.hideText()
            return True
        return super().event(event)
