"""One line that says what the colours of the tokens mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from paceline.gui.scale import px
from paceline.gui.widgets.message_list import COLUMN_PX, MARGIN_PX

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent

    from paceline.gui.theme import Theme

_LINE_PX = 24
_SWATCH = (18, 14)


class _Swatch(QWidget):
    """A piece of ground with the line below it, as in a reply."""

    def __init__(self, *, dotted: bool = False) -> None:
        super().__init__()
        self._ground = self._line = QColor(0, 0, 0, 0)
        self._is_dotted = dotted

    def set_colours(self, ground: str, line: str) -> None:
        self.setFixedSize(*map(px, _SWATCH))
        self._ground, self._line = QColor(ground), QColor(line)
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._ground)
        box = QRectF(self.rect())
        painter.drawRoundedRect(box.adjusted(0, 0, 0, -1), 3, 3)
        pen = QPen(self._line, 2)
        if self._is_dotted:
            pen.setDashPattern([1, 1])
            pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        painter.setPen(pen)
        y = box.bottom() - 1
        painter.drawLine(QPointF(box.left(), y), QPointF(box.right(), y))


class SourceLegend(QWidget):
    """Names the draft model's colour, the lookups' colour and the target's."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._draft, self._lookup = _Swatch(), _Swatch(dotted=True)
        self._target = _Swatch()
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        for swatch, text in (
            (self._draft, self.tr("draft model")),
            (self._lookup, self.tr("lookup")),
            (self._target, self.tr("target")),
        ):
            label = QLabel(text)
            label.setProperty("role", "small")
            layout.addWidget(swatch)
            layout.addWidget(label)
            layout.addSpacing(10)
        layout.addStretch(1)
        self.setAccessibleName(
            self.tr("Token colours: draft model, lookup; without colour: the target")
        )
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Use another theme's colours."""
        self._draft.set_colours(theme.accent_soft, theme.accent)
        self._lookup.set_colours(theme.lookup_soft, theme.lookup)
        self._target.set_colours(theme.surface, theme.line_strong)


class LegendLine(QWidget):
    """The legend below a conversation; its room is kept free while it is hidden."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._legend = SourceLegend(theme)
        self._legend.setMaximumWidth(COLUMN_PX)
        self._legend.hide()
        self.setFixedHeight(px(_LINE_PX))
        row = QHBoxLayout(self)
        row.setContentsMargins(MARGIN_PX, 0, MARGIN_PX, 2)
        row.addStretch(1)
        row.addWidget(self._legend, 1000)
        row.addStretch(1)

    def set_theme(self, theme: Theme) -> None:
        """Use another theme's colours, and the size in force."""
        self._legend.set_theme(theme)
        self.setFixedHeight(px(_LINE_PX))

    def show_legend(self, *, wanted: bool) -> None:
        """Show the legend, or leave its room empty."""
        self._legend.setVisible(wanted)
