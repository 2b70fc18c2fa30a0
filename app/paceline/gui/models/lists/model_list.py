"""The list of models: painting of its rows, and picking."""

from __future__ import annotations

from typing import cast

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QPointF, QRect, QSize, Qt, Signal, Slot
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QFont,
    QFontMetrics,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QListView,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
)

from paceline.gui.kit.labels import with_soft_breaks
from paceline.gui.kit.row_painting import RIGHT, draw_text, paint_ground, show_rows
from paceline.gui.kit.rows import ROW, Index
from paceline.gui.look.current import look
from paceline.gui.look.scale import px
from paceline.gui.look.theme import ui_font
from paceline.gui.models.candidates import facts
from paceline.gui.models.lists.offers import Offer, Offers

ROW_PX = 56
_MARGIN_PX = 12
_MARK_PX = 18
"""Side of the circle that marks the picked row."""
_BADGE_PX = 18
_GAP_PX = 12


def paint_row(
    painter: QPainter, rect: QRect, row: Offer, *, is_picked: bool, is_over: bool, has_ring: bool
) -> None:
    """Paint a row, with its marks for the pointer and the keyboard focus."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    theme = look.theme
    paint_ground(painter, rect, is_chosen=is_picked, is_over=is_over, has_ring=has_ring)
    row_height = px(ROW_PX) - 2
    if row.details and rect.height() > row_height:
        _paint_details(painter, rect.adjusted(0, row_height, 0, 0), row)
        rect = QRect(rect.topLeft(), QSize(rect.width(), row_height))
    inner = rect.adjusted(_MARGIN_PX, 8, -_MARGIN_PX, -8)
    if row.has_mark:
        if not row.problem and row.role != "repository":
            _paint_mark(painter, inner, is_picked=is_picked)
        inner.adjust(_MARK_PX + _GAP_PX, 0, 0, 0)
    half = inner.height() // 2
    upper = QRect(inner.left(), inner.top(), inner.width(), half)
    lower = QRect(inner.left(), inner.top() + half, inner.width(), half)
    upper.setRight(_paint_size(painter, upper, row))
    lower.setRight(_paint_badges(painter, lower, row, is_picked=is_picked))
    painter.setFont(ui_font(13, QFont.Weight.Medium))
    painter.setPen(QColor(theme.faint if row.is_dimmed else theme.text))
    # Names of models begin alike and differ at their ends.
    draw_text(painter, upper, row.title, mode=Qt.TextElideMode.ElideMiddle)
    painter.setFont(ui_font(12))
    painter.setPen(QColor(theme.faint if row.is_dimmed else theme.muted))
    draw_text(painter, lower, row.problem or facts(row.speed, row.facts))
    painter.restore()


def _details_of(row: Offer) -> str:
    return "\n".join(map(with_soft_breaks, row.details))


def _details_rect(room: QRect) -> QRect:
    """Return the rectangle of an open row's details, below its two lines."""
    return room.adjusted(_MARGIN_PX + _MARK_PX + _GAP_PX, 0, -_MARGIN_PX, 0)


def _paint_details(painter: QPainter, below: QRect, row: Offer) -> None:
    painter.setFont(ui_font(12))
    painter.setPen(QColor(look.theme.muted))
    painter.drawText(_details_rect(below), Qt.TextFlag.TextWordWrap, _details_of(row))


def _paint_mark(painter: QPainter, inner: QRect, *, is_picked: bool) -> None:
    """Paint the circle that shows whether a row is picked: not by a colour alone."""
    theme = look.theme
    middle = QPointF(inner.left() + _MARK_PX / 2, inner.center().y() + 0.5)
    radius = _MARK_PX / 2 - 1
    painter.setPen(QPen(QColor(theme.accent if is_picked else theme.line_strong), 1.5))
    painter.setBrush(QColor(theme.accent) if is_picked else Qt.BrushStyle.NoBrush)
    painter.drawEllipse(middle, radius, radius)
    if is_picked:
        pen = QPen(QColor(theme.accent_text), 1.75)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        tick = (QPointF(-3.2, 0.2), QPointF(-0.9, 2.6), QPointF(3.4, -2.4))
        painter.drawPolyline(QPolygonF([middle + point for point in tick]))


def _paint_size(painter: QPainter, line: QRect, row: Offer) -> int:
    """Paint the size at the right end; return the right end of the title."""
    if not row.size:
        return line.right()
    painter.setFont(ui_font(12))
    painter.setPen(QColor(look.theme.faint if row.is_dimmed else look.theme.muted))
    painter.drawText(line, RIGHT, row.size)
    return line.right() - painter.fontMetrics().horizontalAdvance(row.size) - _GAP_PX


def _paint_badges(painter: QPainter, line: QRect, row: Offer, *, is_picked: bool) -> int:
    """Paint the badges from the right end on; return the right end of the facts."""
    theme = look.theme
    colours = {
        # On the background of a picked row the usual one would be invisible.
        "accent": (theme.surface if is_picked else theme.accent_soft, theme.accent),
        "lookup": (theme.lookup_soft, theme.lookup),
        "danger": (theme.danger_soft, theme.danger),
    }
    plain = (theme.surface if is_picked else theme.pressed, theme.muted)
    right = line.right()
    painter.setFont(ui_font(11, QFont.Weight.DemiBold))
    metrics = painter.fontMetrics()
    for badge in reversed(row.badges):
        width = metrics.horizontalAdvance(badge.text) + 16
        height = px(_BADGE_PX)
        field = QRect(right - width + 1, line.center().y() - height // 2, width, height)
        ground, ink = colours.get(badge.tone, plain)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(ground))
        painter.drawRoundedRect(field, 8, 8)
        painter.setPen(QColor(ink))
        painter.drawText(field, Qt.AlignmentFlag.AlignCenter, badge.text)
        right -= width + 6
    return right - (_GAP_PX - 6 if row.badges else 0)


class ModelRow(QStyledItemDelegate):
    """Paints the rows of `Offers`: name and facts at the left, size and badges at the right."""

    def __init__(self, rows: ModelList) -> None:
        super().__init__(rows)
        self._rows = rows

    def sizeHint(self, _option: QStyleOptionViewItem, index: Index) -> QSize:
        """Return the same height for every row but the open one."""
        rows, height = self._rows, px(ROW_PX)
        if rows.opens and index == rows.currentIndex():
            room = _details_rect(QRect(0, 0, rows.viewport().width(), 9999))
            metrics, text = QFontMetrics(ui_font(12)), _details_of(index.data(ROW))
            height += metrics.boundingRect(room, Qt.TextFlag.TextWordWrap, text).height()
            height += _MARGIN_PX if text else 0
        return QSize(200, height)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint one row."""
        state, flag = option.state, QStyle.StateFlag
        offer: Offer = index.data(ROW)
        paint_row(
            painter,
            QRect(option.rect).adjusted(0, 1, 0, -1),
            offer,
            is_picked=offer.is_picked(cast("Offers", index.model()).picks),
            is_over=bool(state & (flag.State_MouseOver | flag.State_Selected)),
            has_ring=bool(state & flag.State_HasFocus and state & flag.State_KeyboardFocusChange),
        )


class OptionRow(QAbstractButton):
    """A row outside a list: one option that can be picked."""

    picked = Signal(object)
    """Offer"""

    def __init__(self, offer: Offer) -> None:
        super().__init__()
        self._offer = offer
        self.setCheckable(True)
        self.setText(offer.title)
        self.setAccessibleName(offer.title)
        self.setAccessibleDescription(offer.facts)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

        self.clicked.connect(self._on_clicked)

    def sizeHint(self) -> QSize:
        """Return the height of a list's row."""
        return QSize(200, px(ROW_PX))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint it like a row of a list."""
        paint_row(
            QPainter(self),
            self.rect().adjusted(0, 1, 0, -1),
            self._offer,
            is_picked=self.isChecked(),
            is_over=self.underMouse(),
            has_ring=self.hasFocus(),
        )

    @Slot()
    def _on_clicked(self) -> None:
        self.setChecked(True)
        self.picked.emit(self._offer)


_LIST_PX = 114
"""Minimum height: two rows and a frame. The page gives the list its remaining space."""
_PICKS = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)


class ModelList(QListView):
    """View of `offers`: a click or Enter picks, Enter and a double click also confirm.

    Where rows open, the current one shows its details and is picked at once, also by keyboard.
    """

    picked = Signal(object)
    """Offer"""
    confirmed = Signal(object)
    """Offer that is picked and confirmed"""

    def __init__(self, name: str, *, opens: bool = False) -> None:
        super().__init__()
        self.opens = opens
        """True if the current row shows its details."""
        self.setProperty("kind", "models")
        self.setAccessibleName(name)
        self.offers = Offers(self)
        self.setModel(self.offers)
        show_rows(self, ModelRow(self))
        self.setUniformItemSizes(not opens)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        # A row that opens moves others, so the mouse may be released over another one.
        (self.pressed if opens else self.clicked).connect(self._on_clicked)
        self.doubleClicked.connect(self._on_double_clicked)

    def sizeHint(self) -> QSize:
        """Return the size of two rows; Qt's own hint exceeds a low window."""
        return QSize(200, px(_LIST_PX))

    def minimumSizeHint(self) -> QSize:
        """Return the same size."""
        return QSize(0, px(_LIST_PX))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Pick by Enter or Space; the dialog's buttons must not have these keys."""
        if event.key() in _PICKS and not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            if (offer := self.current) is not None:
                is_space = event.key() == Qt.Key.Key_Space
                (self.picked if is_space else self.confirmed).emit(offer)
            event.accept()
            return
        before = self.currentIndex()
        super().keyPressEvent(event)
        if self.opens and self.current is not None and self.currentIndex() != before:
            self.picked.emit(self.current)

    def currentChanged(self, current: Index, previous: Index) -> None:
        """Open the new current row, and close the previous one."""
        before = self.visualRect(current).top()
        super().currentChanged(current, previous)
        if self.opens:
            self.doItemsLayout()
            if current.isValid():
                bar = self.verticalScrollBar()
                bar.setValue(bar.value() + self.visualRect(current).top() - before)
                self.scrollTo(current)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Keep the focus from opening a row: Qt would go to the first."""
        had_row = self.currentIndex().isValid()
        super().focusInEvent(event)
        if self.opens and not had_row:
            self.setCurrentIndex(QModelIndex())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Wrap the details anew."""
        super().resizeEvent(event)
        if self.opens:
            self.scheduleDelayedItemsLayout()

    @property
    def current(self) -> Offer | None:
        """The current row, from which keys go on, or None."""
        offer: Offer | None = self.currentIndex().data(ROW)
        return offer

    @Slot()
    def take_focus(self) -> None:
        """Take the keyboard focus, with a current row."""
        self.setFocus(Qt.FocusReason.TabFocusReason)
        if not self.currentIndex().isValid():
            self.setCurrentIndex(self.offers.index(0, 0))

    def show_row(self, row: int) -> None:
        """Go to a row, or for -1 to the top without a current row."""
        index = self.offers.index(row, 0)
        self.selectionModel().setCurrentIndex(
            index, QItemSelectionModel.SelectionFlag.ClearAndSelect
        )
        if index.isValid():
            self.scrollTo(index)
        else:
            self.scrollToTop()

    @Slot(QModelIndex)
    def _on_clicked(self, index: QModelIndex) -> None:
        self.picked.emit(index.data(ROW))

    @Slot(QModelIndex)
    def _on_double_clicked(self, index: QModelIndex) -> None:
        self.confirmed.emit(index.data(ROW))
