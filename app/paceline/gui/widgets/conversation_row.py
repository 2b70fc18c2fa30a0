"""How one conversation is painted in the list: title, a line of figures, a heading per group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QLineEdit, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from paceline.gui.theme import ui_font
from paceline.gui.viewmodels.conversations import GROUP_ROLE, SUBTITLE_ROLE

if TYPE_CHECKING:
    from PySide6.QtCore import QObject

    from paceline.gui.theme import Theme

Index = QModelIndex | QPersistentModelIndex

_ROW_PX = 50
_HEADING_PX = 30
_MARGIN_PX = 10


class ConversationRow(QStyledItemDelegate):
    """Paints rows and places the field for another title."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._title_font = ui_font(13)
        self._small_font = ui_font(12)

    def set_theme(self, theme: Theme) -> None:
        """Use another theme's colours."""
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """A row, and above the first one of a group its heading."""
        del option
        return QSize(100, _ROW_PX + (_HEADING_PX if _begins_group(index) else 0))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint one row."""
        theme = self._theme
        rect = QRect(option.rect)
        state = option.state
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if _begins_group(index):
            heading = QRect(rect.left() + 6, rect.top(), rect.width(), _HEADING_PX)
            painter.setFont(self._small_font)
            painter.setPen(QColor(theme.muted))
            painter.drawText(heading, Qt.AlignmentFlag.AlignVCenter, str(index.data(GROUP_ROLE)))
        rect = _row_rect(rect, index)
        is_chosen = bool(state & QStyle.StateFlag.State_Selected)
        if is_chosen or state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(theme.accent_soft if is_chosen else theme.hover))
            painter.drawRoundedRect(rect, 8, 8)
        if state & QStyle.StateFlag.State_HasFocus and state & _KEYBOARD:
            painter.setPen(QPen(QColor(theme.accent), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(rect.adjusted(0, 0, -1, -1), 8, 8)
        inner = rect.adjusted(_MARGIN_PX, 6, -_MARGIN_PX, -6)
        half = inner.height() // 2
        title = QRect(inner.left(), inner.top(), inner.width(), half)
        below = QRect(inner.left(), inner.top() + half, inner.width(), half)
        subtitle = str(index.data(SUBTITLE_ROLE))
        if not subtitle:
            title = inner
        painter.setFont(self._title_font)
        painter.setPen(QColor(theme.text))
        _draw_elided(painter, title, str(index.data()))
        painter.setFont(self._small_font)
        painter.setPen(QColor(theme.muted))
        _draw_elided(painter, below, subtitle)
        painter.restore()

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        """A field for another title."""
        del option, index
        editor = QLineEdit(parent)
        editor.setAccessibleName(self.tr("Title of the chat"))
        return editor

    def updateEditorGeometry(
        self, editor: QWidget, option: QStyleOptionViewItem, index: Index
    ) -> None:
        """Put the field over the row, below a heading."""
        row = _row_rect(QRect(option.rect), index)
        editor.setGeometry(row.adjusted(2, 6, -2, -6))


_KEYBOARD = QStyle.StateFlag.State_KeyboardFocusChange


def _begins_group(index: Index) -> bool:
    if index.row() == 0:
        return True
    above = index.sibling(index.row() - 1, 0)
    return bool(above.data(GROUP_ROLE) != index.data(GROUP_ROLE))


def _row_rect(rect: QRect, index: Index) -> QRect:
    top = _HEADING_PX if _begins_group(index) else 0
    return rect.adjusted(0, top + 1, 0, -1)


def _draw_elided(painter: QPainter, rect: QRect, text: str) -> None:
    elided = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
    painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, elided)
