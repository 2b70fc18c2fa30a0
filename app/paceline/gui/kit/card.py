"""Framed groups under a title, some of which fold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import (
    QAbstractButton,
    QFrame,
    QLabel,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from paceline.gui.kit.labels import BreakingLabel, YieldingLabel, say, text_label, with_soft_breaks
from paceline.gui.kit.layouts import column_of, grid_of, row_of, styled
from paceline.gui.look.current import look
from paceline.gui.look.scale import px

_HEAD_PX, _ARROW_PX = 26, 16
_MIN_LETTERS = 16
"""Minimum number of visible letters of a title, however long the words beside it are."""


class Card(QFrame):
    """A title, a remark beside it, and a `body` layout below."""

    def __init__(self, title: str = "", remark: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "card")
        self.title = styled(YieldingLabel(keeps=_MIN_LETTERS), role="title")
        self.remark: QLabel = styled(YieldingLabel(), role="small")
        self.header = row_of(self.title, self.remark, None, spacing=6)
        self.body = column_of(spacing=6)
        column_of(self.header, self.body, on=self, margins=(14, 12, 14, 12), spacing=8)
        self.set_title(title, remark)

    def set_title(self, title: str, remark: str = "") -> None:
        """Show a title, and a remark beside it."""
        say(self.title, title)
        say(self.remark, remark)
        self.setAccessibleName(title)


@dataclass(frozen=True, slots=True)
class FoundRow:
    """A row in a card that can be searched for by `words`, in small letters."""

    card: Card
    widget: QWidget
    words: str


def show_matching(rows: Iterable[FoundRow], words: Sequence[str]) -> int:
    """Show the rows that contain all these words, and the cards with such rows; no words show all.

    Returns:
        The number of rows shown.
    """
    cards: dict[Card, int] = {}
    for row in rows:
        is_found = all(word in row.words for word in words)
        row.widget.setVisible(is_found)
        cards[row.card] = cards.get(row.card, 0) + is_found
    for card, n_found in cards.items():
        card.setVisible(n_found > 0)
    return sum(cards.values())


NAME_PX = 132
Row = tuple[str, str]
"""A name and a value."""


class FactsCard(Card):
    """Rows of a name and a value that can be selected; hidden without rows."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(title, parent=parent)
        self.grid = grid_of(across=12, down=6, stretches=(1,))
        self.grid.setColumnMinimumWidth(0, NAME_PX)
        self.body.addLayout(self.grid)
        self._rows: list[tuple[QLabel, BreakingLabel]] = []

    @property
    def rows(self) -> dict[str, str]:
        """The rows as they can be copied."""
        return {
            name.text(): value.property("whole")
            for name, value in self._rows
            if not name.isHidden()
        }

    def show_rows(self, rows: Sequence[Row]) -> None:
        """Replace the rows."""
        while len(self._rows) < len(rows):
            self._add_row()
        for at, (name, value) in enumerate(self._rows):
            is_used = at < len(rows)
            name.setVisible(is_used)
            value.setVisible(is_used)
            if is_used:
                name.setText(rows[at][0])
                value.setText(with_soft_breaks(rows[at][1]))
                value.setProperty("whole", rows[at][1])
                value.setAccessibleName(f"{rows[at][0]}: {rows[at][1]}")
        self.setVisible(bool(rows))

    def _add_row(self) -> None:
        at = len(self._rows)
        name, value = text_label("", "muted"), styled(BreakingLabel(), role="value")
        self._rows.append((name, value))
        top = Qt.AlignmentFlag.AlignTop
        self.grid.addWidget(name, at, 0, top)
        self.grid.addWidget(value, at, 1, top)


class FoldSection(QFrame):
    """Content that its title shows or hides; `body` takes the widgets."""

    toggled = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.toggle = styled(QToolButton(), kind="fold")
        self.toggle.setObjectName("fold")
        self.toggle.setCheckable(True)
        self.toggle.setArrowType(Qt.ArrowType.RightArrow)
        self.toggle.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.toggle.toggled.connect(self._on_toggled)
        self.content = QWidget()
        self.content.hide()
        self.body = column_of(on=self.content, margins=(0, 4, 0, 0), spacing=6)
        self._outer = column_of(
            (self.toggle, 0, Qt.AlignmentFlag.AlignLeft),
            self.content,
            on=self,
            margins=0,
            spacing=0,
        )

    def set_title(self, title: str) -> None:
        """Name the section; the name is the button that folds it."""
        self.toggle.setText(title)
        self.setAccessibleName(title)

    @Slot(bool)
    def _on_toggled(self, is_open: bool) -> None:  # noqa: FBT001
        arrow = Qt.ArrowType.DownArrow if is_open else Qt.ArrowType.RightArrow
        self.toggle.setArrowType(arrow)
        self.content.setVisible(is_open)
        self.toggled.emit(is_open)


class FoldCard(FoldSection):
    """A card that folds."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "card")
        self._outer.setContentsMargins(14, 10, 14, 10)


class FoldHeader(QAbstractButton):
    """An arrow and a text: shows or hides what stands below."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setCheckable(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setProperty("kind", "fold_header")

    def sizeHint(self) -> QSize:
        """Return the width of the text."""
        width = self.fontMetrics().horizontalAdvance(self.text())
        return QSize(width + px(_ARROW_PX) + 10, px(_HEAD_PX))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the arrow to the right, or down where the text is shown."""
        theme = look.theme
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
