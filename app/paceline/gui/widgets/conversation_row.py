"""How one chat is painted in the list: title, a line of figures, marks and tags; headings between.

All rows have one height, headings too, so that a view of 10,000 rows asks for it once. What is
painted and what can be clicked comes from one layout: `tag_at` and `is_more` ask the same places.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QIcon, QPainter, QPen
from PySide6.QtWidgets import QLineEdit, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from paceline.gui.scale import COMPACT, CORNER, SMALL, TINY, px
from paceline.gui.theme import ui_font
from paceline.gui.viewmodels.conversations import LINES_ROLE, SUMMARY_ROLE

if TYPE_CHECKING:
    from PySide6.QtCore import QObject

    from paceline.conversation import ConversationSummary
    from paceline.gui.icons import Icons
    from paceline.gui.theme import Theme

Index = QModelIndex | QPersistentModelIndex

_MARGIN_PX = 10
_AIR_PX = 7
"""Above the title and below the line of figures."""
_MARK_PX = 14
_GAP_PX = 4
_CHIP_AIR_PX = 6
_CHIP_MIN_PX, _CHIP_MAX_PX = 26, 76
_CHIPS_MIN_PX, _CHIPS_SHARE = 40, 0.5
"""Room for all tags of a row, at least, and at most as a part of its width."""


@dataclass(frozen=True, slots=True)
class Chip:
    """A tag's place in a row; the last one may stand for several and then has no tag."""

    rect: QRect
    text: str
    tag: str


class ConversationRow(QStyledItemDelegate):
    """Paints rows and places the field for another title."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pin = self._lock = self._more = QIcon()
        self.set_theme(theme)

    def set_theme(self, theme: Theme, icons: Icons | None = None) -> None:
        """Use another theme's colours, and the fonts in the size in force."""
        self._theme = theme
        self._title_font = ui_font(COMPACT)
        self._small_font = ui_font(SMALL)
        self._heading_font = ui_font(SMALL, QFont.Weight.DemiBold)
        self._chip_font = ui_font(TINY)
        self._title_px = QFontMetrics(self._title_font).height()
        self._small_px = QFontMetrics(self._small_font).height()
        self._chips = QFontMetrics(self._chip_font)
        if icons is not None:
            self._pin = icons.icon("pin")
            self._lock = icons.icon("lock")
            self._more = icons.icon("more")

    @property
    def row_px(self) -> int:
        """Height of every row."""
        return self._title_px + self._small_px + 2 * _AIR_PX + 2

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """One height for all."""
        del option, index
        return QSize(100, self.row_px)

    # ------------------------------------------------------------------------------------ places

    def tag_at(self, rect: QRect, index: Index, point: QPoint) -> str:
        """The tag whose chip is there; empty: none."""
        summary = index.data(SUMMARY_ROLE)
        if summary is None:
            return ""
        for chip in self._lay_chips(self._lower(rect), index, summary):
            if chip.rect.contains(point):
                return chip.tag
        return ""

    def is_more(self, rect: QRect, point: QPoint) -> bool:
        """Whether the sign that opens the row's menu is there."""
        return self._more_rect(rect).adjusted(-6, -6, 8, 6).contains(point)

    def _upper(self, rect: QRect) -> QRect:
        inner = _ground(rect).adjusted(_MARGIN_PX, _AIR_PX, -_MARGIN_PX, 0)
        return QRect(inner.left(), inner.top(), inner.width(), self._title_px)

    def _lower(self, rect: QRect) -> QRect:
        upper = self._upper(rect)
        return QRect(upper.left(), upper.bottom() + 1, upper.width(), self._small_px)

    def _more_rect(self, rect: QRect) -> QRect:
        upper = self._upper(rect)
        return _middle(QRect(upper.right() - _MARK_PX + 1, upper.top(), _MARK_PX, upper.height()))

    def _lay_chips(self, line: QRect, index: Index, summary: ConversationSummary) -> list[Chip]:
        """Place as many tags as there is room for at the right end, the rest as a number."""
        tags = summary.tags
        if not tags:
            return []
        height = self._chips.height() + 1
        top = line.center().y() - height // 2 + 1
        left = self._chips_room(line.width(), index.data(LINES_ROLE))
        texts: list[tuple[str, str, int]] = []
        for at, tag in enumerate(tags):
            rest = len(tags) - at - 1
            spared = self._width(f"+{rest}") + _GAP_PX if rest else 0
            whole = self._width(tag)
            width = min(whole, px(_CHIP_MAX_PX), left - spared)
            if width < min(px(_CHIP_MIN_PX), whole):
                text = f"+{rest + 1}"
                texts.append((text, "", self._width(text)))
                break
            text = tag if width == whole else self._elide(tag, width - 2 * _CHIP_AIR_PX)
            texts.append((text, tag, width))
            left -= width + _GAP_PX
        chips = []
        right = line.right() + 1
        for text, tag, width in reversed(texts):
            chips.append(Chip(QRect(right - width, top, width, height), text, tag))
            right -= width + _GAP_PX
        return chips

    def _chips_room(self, width: int, lines: tuple[str, ...]) -> int:
        """What the line of figures leaves to the tags: at best all of its shortest wording fits."""
        shortest = lines[max(len(lines) - 2, 0)]
        figures = QFontMetrics(self._small_font).horizontalAdvance(shortest)
        room = width - figures - 2 * _GAP_PX
        return min(max(room, px(_CHIPS_MIN_PX)), int(width * _CHIPS_SHARE))

    def _elide(self, tag: str, width: int) -> str:
        return self._chips.elidedText(tag, Qt.TextElideMode.ElideRight, width)

    def _width(self, text: str) -> int:
        return self._chips.horizontalAdvance(text) + 2 * _CHIP_AIR_PX

    # ---------------------------------------------------------------------------------- painting

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint one row."""
        rect = QRect(option.rect)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        summary = index.data(SUMMARY_ROLE)
        if summary is None:
            self._paint_heading(painter, rect, str(index.data()))
        else:
            self._paint_chat(painter, rect, option.state, index, summary)
        painter.restore()

    def _paint_heading(self, painter: QPainter, rect: QRect, name: str) -> None:
        line = rect.adjusted(_MARGIN_PX, 0, -_MARGIN_PX, -_AIR_PX)
        painter.setFont(self._heading_font)
        painter.setPen(QColor(self._theme.muted))
        bottom = Qt.AlignmentFlag.AlignBottom | Qt.AlignmentFlag.AlignLeft
        painter.drawText(line, bottom, name)

    def _paint_chat(
        self,
        painter: QPainter,
        rect: QRect,
        state: QStyle.StateFlag,
        index: Index,
        summary: ConversationSummary,
    ) -> None:
        theme = self._theme
        flag = QStyle.StateFlag
        is_chosen, is_over = bool(state & flag.State_Selected), bool(state & flag.State_MouseOver)
        ground = _ground(rect)
        if is_chosen or is_over:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(theme.accent_soft if is_chosen else theme.hover))
            painter.drawRoundedRect(ground, CORNER, CORNER)
        if state & flag.State_HasFocus and state & flag.State_KeyboardFocusChange:
            painter.setPen(QPen(QColor(theme.accent), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(ground).adjusted(0.5, 0.5, -0.5, -0.5), CORNER, CORNER)
        upper, lower = self._upper(rect), self._lower(rect)
        marks = [self._more] if is_over else []
        marks += [
            icon for icon, on in ((self._pin, summary.pinned), (self._lock, summary.private)) if on
        ]
        place = self._more_rect(rect)
        for icon in marks:
            icon.paint(painter, place)
            place.translate(-_MARK_PX - _GAP_PX, 0)
            upper.setRight(place.right())
        chips, lines = self._lay_chips(lower, index, summary), index.data(LINES_ROLE)
        if not chips and not any(lines):
            upper.setHeight(lower.bottom() - upper.top())  # alone it stands in the middle
        painter.setFont(self._title_font)
        painter.setPen(QColor(theme.text))
        _draw(painter, upper, str(index.data()))
        for chip in chips:
            self._paint_chip(painter, chip, is_chosen=is_chosen)
            lower.setRight(chip.rect.left() - _GAP_PX)
        painter.setFont(self._small_font)
        painter.setPen(QColor(theme.muted))
        _draw(painter, lower, *lines)

    def _paint_chip(self, painter: QPainter, chip: Chip, *, is_chosen: bool) -> None:
        theme = self._theme
        radius = chip.rect.height() / 2
        painter.setFont(self._chip_font)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.surface if is_chosen else theme.pressed))
        painter.drawRoundedRect(chip.rect, radius, radius)
        painter.setPen(QColor(theme.muted))
        painter.drawText(chip.rect, Qt.AlignmentFlag.AlignCenter, chip.text)

    # ----------------------------------------------------------------------------------- editing

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        """A field for another title."""
        del option, index
        editor = QLineEdit(parent)
        editor.setAccessibleName(self.tr("Title of the chat"))
        return editor

    def updateEditorGeometry(
        self, editor: QWidget, option: QStyleOptionViewItem, index: Index
    ) -> None:
        """Put the field over the row."""
        del index
        ground = _ground(QRect(option.rect))
        height = min(editor.sizeHint().height(), ground.height())
        editor.setGeometry(
            ground.left(), ground.center().y() - height // 2 + 1, ground.width(), height
        )


def _ground(rect: QRect) -> QRect:
    return rect.adjusted(0, 1, 0, -1)


def _middle(rect: QRect) -> QRect:
    """A square of a mark's size in the middle of the height."""
    return QRect(rect.left(), rect.center().y() - _MARK_PX // 2 + 1, _MARK_PX, _MARK_PX)


def _draw(painter: QPainter, rect: QRect, *texts: str) -> None:
    """Draw the first text that fits, or as much as fits of the last."""
    metrics = painter.fontMetrics()
    width = max(rect.width(), 0)
    text = next((text for text in texts if metrics.horizontalAdvance(text) <= width), texts[-1])
    elided = metrics.elidedText(text, Qt.TextElideMode.ElideRight, width)
    painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, elided)
