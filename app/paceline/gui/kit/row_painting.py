"""Painting that rows of lists share: hover and selection, background, words."""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QAbstractItemDelegate, QListView, QStyle

from paceline.gui.look.current import look
from paceline.gui.look.scale import CORNER
from paceline.names import visible

LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


def show_rows(view: QListView, delegate: QAbstractItemDelegate) -> None:
    """Set up a list: rows as wide as the view, hover effects, scrolling by pixels."""
    view.setItemDelegate(delegate)
    view.setMouseTracking(True)
    view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    view.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)


def paint_ground(
    painter: QPainter, rect: QRect, *, is_chosen: bool, is_over: bool, has_ring: bool
) -> None:
    """Paint the background of a row, and the focus ring."""
    theme = look.theme
    if is_chosen or is_over:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.accent_soft if is_chosen else theme.hover))
        painter.drawRoundedRect(rect, CORNER, CORNER)
    if has_ring:
        painter.setPen(QPen(QColor(theme.accent), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(QRectF(rect).adjusted(0.5, 0.5, -0.5, -0.5), CORNER, CORNER)


def paint_state(painter: QPainter, rect: QRect, state: QStyle.StateFlag) -> None:
    """Paint the background of a row in this state."""
    flag = QStyle.StateFlag
    paint_ground(
        painter,
        rect,
        is_chosen=bool(state & flag.State_Selected),
        is_over=bool(state & flag.State_MouseOver),
        has_ring=bool(state & flag.State_HasFocus and state & flag.State_KeyboardFocusChange),
    )


def draw_text(
    painter: QPainter,
    rect: QRect,
    text: str,
    alignment: Qt.AlignmentFlag = LEFT,
    mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
) -> None:
    """Draw as much of a text as fits."""
    room = max(rect.width(), 0)
    elided = painter.fontMetrics().elidedText(visible(text), mode, room)
    painter.drawText(rect, alignment, elided)
