"""How a search result is painted: a chat with its number of hits, a message with words marked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QIcon, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from paceline.conversation import SearchHit
from paceline.gui.scale import COMPACT, CORNER, SMALL, TINY
from paceline.gui.theme import ui_font
from paceline.gui.viewmodels.hits import HIT_ROLE, FoundChat
from paceline.gui.widgets.marked_text import MarkedText, MarkStyle

if TYPE_CHECKING:
    from PySide6.QtCore import QObject

    from paceline.gui.icons import Icons
    from paceline.gui.theme import Theme

Index = QModelIndex | QPersistentModelIndex

_MARGIN_PX = 10
_INDENT_PX = 10
_AIR_PX = 6
_ABOVE_CHAT_PX = 6
_MARK_PX = 14
_GAP_PX = 6
_LINES = 2
"""Of a message, at most."""


class HitRow(QStyledItemDelegate):
    """Paints the rows of a `HitList`."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lock = QIcon()
        self.set_theme(theme)

    def set_theme(self, theme: Theme, icons: Icons | None = None) -> None:
        """Use another theme's colours, and the fonts in the size in force."""
        self._theme = theme
        self._title_font = ui_font(COMPACT, QFont.Weight.Medium)
        self._text_font = ui_font(SMALL)
        self._count_font = ui_font(TINY, QFont.Weight.DemiBold)
        self._title_px = QFontMetrics(self._title_font).height()
        self._line_px = QFontMetrics(self._text_font).height()
        if icons is not None:
            self._lock = icons.icon("lock")

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """A line for a chat, two for a message."""
        del option
        if isinstance(index.data(HIT_ROLE), FoundChat):
            return QSize(100, self._title_px + 2 * _AIR_PX + _ABOVE_CHAT_PX)
        return QSize(100, _LINES * self._line_px + 2 * _AIR_PX)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint one row."""
        row = index.data(HIT_ROLE)
        rect = QRect(option.rect)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        is_chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        if isinstance(row, FoundChat):
            rect.adjust(0, _ABOVE_CHAT_PX, 0, 0)
            self._paint_ground(painter, rect, option.state)
            self._paint_chat(painter, rect, row, is_chosen=is_chosen)
        elif isinstance(row, SearchHit):
            rect.adjust(_INDENT_PX, 0, 0, 0)
            self._paint_ground(painter, rect, option.state)
            inner = rect.adjusted(_MARGIN_PX, _AIR_PX, -_MARGIN_PX, -_AIR_PX)
            painter.setPen(QColor(self._theme.muted))
            style = self._mark_style(is_chosen=is_chosen)
            text = MarkedText(row.snippet, row.marks, self._text_font, style)
            text.draw(painter, inner, _LINES)
        painter.restore()

    def _paint_ground(self, painter: QPainter, rect: QRect, state: QStyle.StateFlag) -> None:
        flag = QStyle.StateFlag
        theme = self._theme
        is_chosen = bool(state & flag.State_Selected)
        if is_chosen or state & flag.State_MouseOver:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(theme.accent_soft if is_chosen else theme.hover))
            painter.drawRoundedRect(rect, CORNER, CORNER)
        if state & flag.State_HasFocus and state & flag.State_KeyboardFocusChange:
            painter.setPen(QPen(QColor(theme.accent), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(rect).adjusted(0.5, 0.5, -0.5, -0.5), CORNER, CORNER)

    def _paint_chat(
        self, painter: QPainter, rect: QRect, row: FoundChat, *, is_chosen: bool
    ) -> None:
        inner = rect.adjusted(_MARGIN_PX, _AIR_PX, -_MARGIN_PX, -_AIR_PX)
        middle = inner.center().y() - _MARK_PX // 2 + 1
        if row.n_hits:
            painter.setFont(self._count_font)
            painter.setPen(QColor(self._theme.muted))
            text = f"{row.n_hits}"
            right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(inner, right, text)
            width = painter.fontMetrics().horizontalAdvance(text)
            inner.setRight(inner.right() - width - _GAP_PX)
        if row.summary.private:
            place = QRect(inner.right() - _MARK_PX, middle, _MARK_PX, _MARK_PX)
            self._lock.paint(painter, place)
            inner.setRight(place.left() - _GAP_PX)
        painter.setPen(QColor(self._theme.text))
        style = self._mark_style(is_chosen=is_chosen)
        MarkedText(row.title, row.marks, self._title_font, style).draw(painter, inner)

    def _mark_style(self, *, is_chosen: bool) -> MarkStyle:
        theme = self._theme
        return MarkStyle(theme.accent, theme.surface if is_chosen else theme.accent_soft)
