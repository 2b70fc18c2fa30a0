"""Bars of acceptance by the place in the draft, for one drafter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QHelpEvent, QPainter
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from paceline.gui.scale import TINY, px
from paceline.gui.theme import ui_font
from paceline.gui.viewmodels.figures import percent_text
from paceline.gui.viewmodels.positions import Positions

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent

_HEIGHT = 96
_WIDEST = 36
_AXIS_PX = 16
_LISTED = 8


class PositionChart(QWidget):
    """A full bar is a place at which everything that was judged was accepted."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.places = Positions()
        self._colour, self._ground, self._text = QColor(), QColor(), QColor()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """As wide as there is room."""
        return QSize(160, px(_HEIGHT))

    def show_places(
        self, title: str, places: Positions, *, colour: str, ground: str, text: str
    ) -> None:
        """Show a drafter's acceptance in its colour."""
        self.places = places
        self._colour, self._ground, self._text = QColor(colour), QColor(ground), QColor(text)
        listed = ", ".join(self.words(at) for at in range(min(len(places.judged), _LISTED)))
        self.setAccessibleName(
            self.tr("{}, accepted by the place in the draft: {}").format(title, listed)
        )
        self.update()

    def words(self, place: int) -> str:
        """One place."""
        accepted, judged = self.places.accepted[place], self.places.judged[place]
        rate = percent_text(accepted / judged) if judged else "–"
        return self.tr("place {}: {} of {} ({})").format(place + 1, accepted, judged, rate)

    def _step_px(self) -> float:
        return min(self.width() / max(len(self.places.judged), 1), _WIDEST)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the bars from the left, and the places below."""
        del event
        painter = QPainter(self)
        painter.setFont(ui_font(TINY))
        axis = px(_AXIS_PX)
        step, full = self._step_px(), self.height() - axis
        gap = 4 if step >= 14 else 1
        every = 1 if step >= 18 else 4 if step >= 6 else 16
        for place, judged in enumerate(self.places.judged):
            share = self.places.accepted[place] / judged if judged else 0.0
            left = place * step
            painter.fillRect(QRectF(left, 0, step - gap, full), self._ground)
            painter.fillRect(
                QRectF(left, full * (1 - share), step - gap, full * share), self._colour
            )
            if place % every == 0:
                painter.setPen(self._text)
                below = QRectF(left, full + 2, max(step - gap, 14), axis - 2)
                align = Qt.AlignmentFlag.AlignHCenter if step >= 18 else Qt.AlignmentFlag.AlignLeft
                painter.drawText(below, align, str(place + 1))
        painter.end()

    def event(self, event: QEvent) -> bool:
        """Say what a bar means when it is pointed at."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            position: QPoint = event.pos()
            place = int(position.x() / self._step_px())
            if place < len(self.places.judged):
                QToolTip.showText(event.globalPos(), self.words(place), self)
            else:
                QToolTip.hideText()
            return True
        return super().event(event)
