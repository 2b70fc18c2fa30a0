"""How one command is painted: its title with the letters that were found, its place, its keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from paceline.gui.scale import GAP, SMALL, STEP, px
from paceline.gui.theme import mono_font, ui_font
from paceline.gui.widgets.palette.model import ROW_ROLE

if TYPE_CHECKING:
    from PySide6.QtCore import QObject

    from paceline.gui.theme import Theme
    from paceline.gui.widgets.palette.commands import Row

Index = QModelIndex | QPersistentModelIndex

ROW_PX = 36
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_MARK_PX = 16


class PaletteRow(QStyledItemDelegate):
    """Paints `Row`s."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Use another theme's colours, or another size of text."""
        self._theme = theme
        self._title = ui_font()
        self._found = ui_font(weight=QFont.Weight.DemiBold)
        self._small = ui_font(SMALL)
        self._keys = mono_font(SMALL)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """All rows are alike."""
        del option, index
        return QSize(200, px(ROW_PX))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint one row."""
        row: Row = index.data(ROW_ROLE)
        command, theme = row.command, self._theme
        is_possible = command.obstacle is None
        rect = QRect(option.rect).adjusted(0, 1, 0, -1)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(theme.accent_soft))
            painter.drawRoundedRect(rect, 6, 6)
        inner = rect.adjusted(GAP, 0, -GAP, 0)
        if command.is_on:
            self._paint_tick(painter, inner)
        inner.setLeft(inner.left() + _MARK_PX + STEP)
        right = self._paint_keys(painter, inner, command.keys)
        aside = command.obstacle or command.group
        small = QFontMetrics(self._small)
        width = min(small.horizontalAdvance(aside) + 2, max(inner.width() // 2, 80))
        place = QRect(right - width, inner.top(), width, inner.height())
        painter.setFont(self._small)
        painter.setPen(QColor(theme.muted))
        painter.drawText(
            place, _RIGHT, small.elidedText(aside, Qt.TextElideMode.ElideRight, place.width())
        )
        title = QRect(inner.left(), inner.top(), place.left() - GAP - inner.left(), inner.height())
        ink = theme.text if is_possible else theme.faint
        self._paint_title(painter, title, row, ink)
        painter.restore()

    def _paint_tick(self, painter: QPainter, inner: QRect) -> None:
        painter.setPen(QPen(QColor(self._theme.accent), 2))
        x, y = inner.left() + 2, inner.center().y()
        painter.drawPolyline([QPoint(x + at, y + by) for at, by in _TICK])

    def _paint_keys(self, painter: QPainter, inner: QRect, keys: str) -> int:
        """Paint the shortcut at the right; returns where it begins."""
        if not keys:
            return inner.right()
        width = QFontMetrics(self._keys).horizontalAdvance(keys) + 12
        height = px(20)
        field = QRect(inner.right() - width, inner.center().y() - height // 2 + 1, width, height)
        painter.setPen(QPen(QColor(self._theme.line_strong), 1))
        painter.setBrush(QColor(self._theme.surface))
        painter.drawRoundedRect(field, 5, 5)
        painter.setFont(self._keys)
        painter.setPen(QColor(self._theme.muted))
        painter.drawText(field, Qt.AlignmentFlag.AlignCenter, keys)
        return field.left() - GAP

    def _paint_title(self, painter: QPainter, area: QRect, row: Row, ink: str) -> None:
        found = set(row.match.places)
        title = row.command.title
        plain, strong = QFontMetrics(self._title), QFontMetrics(self._found)
        shown = plain.elidedText(title, Qt.TextElideMode.ElideRight, area.width())
        x = area.left()
        for text, is_found in _runs(shown, found):
            metrics = strong if is_found else plain
            painter.setFont(self._found if is_found else self._title)
            is_marked = is_found and row.command.obstacle is None
            painter.setPen(QColor(self._theme.accent if is_marked else ink))
            painter.drawText(QRect(x, area.top(), area.right() - x + 2, area.height()), _LEFT, text)
            x += metrics.horizontalAdvance(text)


_TICK = ((0, 0), (4, 4), (11, -5))


def _runs(text: str, found: set[int]) -> list[tuple[str, bool]]:
    """Cut a text where letters that were found and others meet."""
    runs: list[tuple[str, bool]] = []
    for at, letter in enumerate(text):
        is_found = at in found
        if runs and runs[-1][1] == is_found:
            runs[-1] = (runs[-1][0] + letter, is_found)
        else:
            runs.append((letter, is_found))
    return runs
