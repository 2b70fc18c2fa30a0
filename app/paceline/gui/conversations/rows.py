"""Painting of rows of chats: title, time, icons and tags; marked words.

All rows of the list of chats have one height, headings too, so that a view of 10,000 rows asks for
it once. Painting and clicks use one layout: `tag_at` and `is_more` query the same places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from PySide6.QtCore import QObject, QPoint, QPointF, QRect, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QPainter,
    QTextCharFormat,
    QTextLayout,
    QTextOption,
)
from PySide6.QtWidgets import QLineEdit, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from paceline.conversation import ConversationSummary
from paceline.gui.conversations.model import (
    FOLDER_ROLE,
    INDENT_ROLE,
    SUBTITLE_ROLE,
    SUMMARY_ROLE,
    FolderLine,
)
from paceline.gui.kit.labels import units
from paceline.gui.kit.row_painting import RIGHT, draw_text, paint_state
from paceline.gui.kit.rows import Index
from paceline.gui.look.current import look
from paceline.gui.look.scale import COMPACT, SMALL, TINY, px
from paceline.gui.look.theme import ui_font
from paceline.names import visible

MARGIN_PX = 10
"""Margin at the left and right of a row."""
MARK_PX = 14
"""Side of the small icons at the right."""
_ELLIPSIS = "…"
_DROPPED_CHARS = 2
"""Number of characters that are dropped for the ellipsis."""
_CHARS_BEFORE_MARK = 8
"""Number of characters kept before the first marked part where the text begins with an ellipsis."""
_AIR_PX = 7
"""Space above the title and below the lower line."""
_GAP_PX = 4
_INDENT_PX = 12
_CHIP_AIR_PX = 6
_CHIP_MIN_PX, _CHIP_MAX_PX = 26, 76
_CHIPS_MIN_PX, _CHIPS_SHARE = 40, 0.5
"""Space for all tags of a row: minimum in pixels, and maximum as a share of the row's width."""


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A paragraph of a few lines with marked words; what does not fit ends in an ellipsis.

    Positions count characters, as in the store; Qt counts UTF-16 units.

    Attributes:
        text: One paragraph.
        marks: Parts to mark, as (start, end) in characters.
        font: The font of the unmarked text.
        is_chosen: Whether it stands on the background of a selected row.
    """

    text: str
    marks: Sequence[tuple[int, int]]
    font: QFont
    is_chosen: bool

    def draw(self, painter: QPainter, rect: QRect, n_lines: int = 1) -> None:
        """Draw up to `n_lines` lines from the top of a rectangle, with the painter's pen."""
        layout, end = self._lay_out(rect.width(), n_lines)
        is_whole = end >= len(self.text)
        while not is_whole and end > 0:  # bold and wide characters can make it too long again
            piece = self._cut(end)
            layout, held = piece._lay_out(rect.width(), n_lines)
            is_whole = held >= len(piece.text)
            end -= _DROPPED_CHARS
        painter.save()
        painter.setClipRect(rect.adjusted(0, -1, 0, 1))
        layout.draw(painter, QPointF(rect.topLeft()))
        painter.restore()

    def _cut(self, end: int) -> MarkedText:
        """Return as much of the text as fits, including the first marked part."""
        start = 0
        if self.marks and self.marks[0][1] > end - _DROPPED_CHARS:
            start = max(
                min(self.marks[0][0] - _CHARS_BEFORE_MARK, len(self.text) - end + _DROPPED_CHARS), 0
            )
        front = _ELLIPSIS if start else ""
        text = self.text[start:].lstrip() if start else self.text
        start = len(self.text) - len(text)
        is_whole = len(text) + len(front) <= end
        if not is_whole:
            text = text[: max(end - _DROPPED_CHARS - len(front), 0)].rstrip() + _ELLIPSIS
        moved = len(front) - start
        marks = [(first + moved, last + moved) for first, last in self.marks]
        return MarkedText(front + text, marks, self.font, self.is_chosen)

    def _lay_out(self, width: int, n_lines: int) -> tuple[QTextLayout, int]:
        """Break the text into lines; also return the number of characters that they hold."""
        layout = QTextLayout(self.text, self.font)
        option = QTextOption()
        # A single line is filled to its end, even within a word.
        mode = QTextOption.WrapMode
        option.setWrapMode(mode.WrapAnywhere if n_lines == 1 else mode.WrapAtWordBoundaryOrAnywhere)
        # Absolute: a right-to-left text begins where its neighbours begin.
        option.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignAbsolute)
        layout.setTextOption(option)
        layout.setFormats(self._formats())
        layout.beginLayout()
        height, n_units = 0.0, 0
        for _ in range(n_lines):
            line = layout.createLine()
            if not line.isValid():
                break
            line.setLineWidth(max(width, 1))
            line.setPosition(QPointF(0, height))
            height += line.height()
            n_units = line.textStart() + line.textLength()
        layout.endLayout()
        sizes = accumulate(units(sign) for sign in self.text)
        return layout, sum(size <= n_units for size in sizes)

    def _formats(self) -> list[QTextLayout.FormatRange]:
        marked = QTextCharFormat()
        marked.setFontWeight(QFont.Weight.Bold)
        marked.setForeground(QColor(look.theme.accent))
        ground = look.theme.surface if self.is_chosen else look.theme.accent_soft
        marked.setBackground(QColor(ground))
        formats = []
        for start, end in self.marks:
            if 0 <= start < min(end, len(self.text)):
                part = QTextLayout.FormatRange()
                part.start = units(self.text[:start])
                part.length = units(self.text[start:end])
                part.format = marked
                formats.append(part)
        return formats


@dataclass(frozen=True, slots=True)
class Chip:
    """Position of a tag in a row; the last chip may stand for several tags and then has none."""

    rect: QRect
    text: str
    tag: str


class ConversationRow(QStyledItemDelegate):
    """Painter of rows, and placement of the title's edit field."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.shown_id = ""
        """Id of the shown chat, whose row alone has the background of a selected one."""
        self._pin, self._lock, self._more = map(look.icon, ("pin", "lock", "more"))
        self._folder, self._archive = map(look.icon, ("folder", "archive"))
        self._opened, self._closed = map(look.icon, ("chevron-down", "chevron-right"))

    @property
    def row_px(self) -> int:
        """Height of every row, in pixels."""
        return height_of(ui_font(COMPACT)) + height_of(ui_font(SMALL)) + 2 * look.room(_AIR_PX) + 2

    def sizeHint(self, _option: QStyleOptionViewItem, _index: Index) -> QSize:
        """Return the same height for all rows."""
        return QSize(100, self.row_px)

    # ------------------------------------------------------------------------------------ places

    def tag_at(self, rect: QRect, index: Index, point: QPoint) -> str:
        """Return the tag whose chip is at a point, or empty."""
        summary = index.data(SUMMARY_ROLE)
        if summary is None:
            return ""
        for chip in self._lay_chips(self._lower(_indented(rect, index)), index, summary):
            if chip.rect.contains(point):
                return chip.tag
        return ""

    def is_more(self, rect: QRect, index: Index, point: QPoint) -> bool:
        """Return whether the button of the row's menu is at a point."""
        line = index.data(FOLDER_ROLE)
        if line is not None and line.is_archive:
            return False
        return self._more_rect(rect).adjusted(-6, -6, 8, 6).contains(point)

    def _upper(self, rect: QRect) -> QRect:
        inner = _ground(rect).adjusted(MARGIN_PX, look.room(_AIR_PX), -MARGIN_PX, 0)
        return QRect(inner.left(), inner.top(), inner.width(), height_of(ui_font(COMPACT)))

    def _lower(self, rect: QRect) -> QRect:
        upper = self._upper(rect)
        return QRect(upper.left(), upper.bottom() + 1, upper.width(), height_of(ui_font(SMALL)))

    def _more_rect(self, rect: QRect) -> QRect:
        upper = self._upper(rect)
        top = upper.center().y() - MARK_PX // 2 + 1
        return QRect(upper.right() - MARK_PX + 1, top, MARK_PX, MARK_PX)

    def _lay_chips(self, line: QRect, index: Index, summary: ConversationSummary) -> list[Chip]:
        """Place as many tags as fit at the right end, the rest as a number."""
        tags = summary.tags
        if not tags:
            return []
        metrics = QFontMetrics(ui_font(TINY))
        height = metrics.height() + 1
        top = line.center().y() - height // 2 + 1
        left = self._chips_room(line.width(), index.data(SUBTITLE_ROLE))
        texts: list[tuple[str, str, int]] = []
        for at, tag in enumerate(tags):
            rest = len(tags) - at - 1
            spared = _chip_px(metrics, f"+{rest}") + _GAP_PX if rest else 0
            text = visible(tag)
            whole = _chip_px(metrics, text)
            width = min(whole, px(_CHIP_MAX_PX), left - spared)
            if width < min(px(_CHIP_MIN_PX), whole):
                text = f"+{rest + 1}"
                texts.append((text, "", _chip_px(metrics, text)))
                break
            if width < whole:
                room = width - 2 * _CHIP_AIR_PX
                text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)
            texts.append((text, tag, width))
            left -= width + _GAP_PX
        chips = []
        right = line.right() + 1
        for text, tag, width in reversed(texts):
            chips.append(Chip(QRect(right - width, top, width, height), text, tag))
            right -= width + _GAP_PX
        return chips

    def _chips_room(self, width: int, words: str) -> int:
        """Return the width that the lower line leaves to the tags: ideally all of it fits."""
        taken = QFontMetrics(ui_font(SMALL)).horizontalAdvance(words)
        room = width - taken - 2 * _GAP_PX
        return min(max(room, px(_CHIPS_MIN_PX)), int(width * _CHIPS_SHARE))

    # ---------------------------------------------------------------------------------- painting

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint one row."""
        rect = QRect(option.rect)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        summary, folder = index.data(SUMMARY_ROLE), index.data(FOLDER_ROLE)
        if folder is not None:
            self._paint_folder(painter, rect, option.state, folder)
        elif summary is None:
            self._paint_heading(painter, rect, str(index.data()))
        else:
            self._paint_chat(painter, _indented(rect, index), option.state, index, summary)
        painter.restore()

    def _paint_folder(
        self, painter: QPainter, rect: QRect, state: QStyle.StateFlag, line: FolderLine
    ) -> None:
        flag = QStyle.StateFlag
        if state & flag.State_Selected:  # only chats are shown
            state = state & ~flag.State_Selected | flag.State_MouseOver
        paint_state(painter, _ground(rect), state)
        words = _ground(rect).adjusted(MARGIN_PX, 0, -MARGIN_PX, 0)
        top = words.center().y() - MARK_PX // 2 + 1
        place = QRect(words.left(), top, MARK_PX, MARK_PX)
        for icon in (
            self._opened if line.is_open else self._closed,
            self._archive if line.is_archive else self._folder,
        ):
            icon.paint(painter, place)
            place.translate(MARK_PX + _GAP_PX, 0)
        words.setLeft(place.left() + 1)
        if state & flag.State_MouseOver and not line.is_archive:
            self._more.paint(painter, self._more_rect(rect))
            words.setRight(words.right() - MARK_PX - _GAP_PX)
        painter.setFont(ui_font(SMALL))
        painter.setPen(QColor(look.theme.muted))
        n = str(line.n_chats)
        painter.drawText(words, RIGHT, n)
        words.setRight(words.right() - painter.fontMetrics().horizontalAdvance(n) - _GAP_PX)
        painter.setFont(ui_font(COMPACT, QFont.Weight.DemiBold))
        painter.setPen(QColor(look.theme.text))
        draw_text(painter, words, line.folder.name)

    def _paint_heading(self, painter: QPainter, rect: QRect, name: str) -> None:
        line = rect.adjusted(MARGIN_PX, 0, -MARGIN_PX, -look.room(_AIR_PX))
        painter.setFont(ui_font(SMALL, QFont.Weight.DemiBold))
        painter.setPen(QColor(look.theme.muted))
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
        flag = QStyle.StateFlag
        if summary.conversation_id == self.shown_id:
            state |= flag.State_Selected
        elif state & flag.State_Selected:  # keyboard or menu are at another chat than the shown one
            state = state & ~flag.State_Selected | flag.State_MouseOver
        paint_state(painter, _ground(rect), state)
        upper, lower = self._upper(rect), self._lower(rect)
        marks = [self._more] if state & flag.State_MouseOver else []
        marks += [
            icon for icon, on in ((self._pin, summary.pinned), (self._lock, summary.private)) if on
        ]
        place = self._more_rect(rect)
        for icon in marks:
            icon.paint(painter, place)
            place.translate(-MARK_PX - _GAP_PX, 0)
            upper.setRight(place.right())
        chips, words = self._lay_chips(lower, index, summary), index.data(SUBTITLE_ROLE)
        if not chips and not words:
            upper.setHeight(lower.bottom() - upper.top())  # a single line is centred
        painter.setFont(ui_font(COMPACT))
        painter.setPen(QColor(look.theme.text))
        draw_text(painter, upper, str(index.data()))
        for chip in chips:
            self._paint_chip(painter, chip, is_chosen=bool(state & flag.State_Selected))
            lower.setRight(chip.rect.left() - _GAP_PX)
        painter.setFont(ui_font(SMALL))
        painter.setPen(QColor(look.theme.muted))
        draw_text(painter, lower, words)

    def _paint_chip(self, painter: QPainter, chip: Chip, *, is_chosen: bool) -> None:
        theme = look.theme
        radius = chip.rect.height() / 2
        painter.setFont(ui_font(TINY))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.surface if is_chosen else theme.pressed))
        painter.drawRoundedRect(chip.rect, radius, radius)
        painter.setPen(QColor(theme.muted))
        painter.drawText(chip.rect, Qt.AlignmentFlag.AlignCenter, chip.text)

    # ----------------------------------------------------------------------------------- editing

    def createEditor(
        self, parent: QWidget, _option: QStyleOptionViewItem, _index: Index
    ) -> QWidget:
        """Return a field for another title."""
        editor = QLineEdit(parent)
        editor.setAccessibleName(self.tr("Title of the chat"))
        return editor

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        """Set the field to the title, unless the user is editing: the title may change then."""
        if not (isinstance(editor, QLineEdit) and editor.isModified()):
            super().setEditorData(editor, index)

    def updateEditorGeometry(
        self, editor: QWidget, option: QStyleOptionViewItem, _index: Index
    ) -> None:
        """Place the field over the row."""
        ground = _ground(QRect(option.rect))
        height = min(editor.sizeHint().height(), ground.height())
        editor.setGeometry(
            ground.left(), ground.center().y() - height // 2 + 1, ground.width(), height
        )


def _indented(rect: QRect, index: Index) -> QRect:
    """Return a chat's rectangle in its row, which is indented within a folder."""
    return rect.adjusted(_INDENT_PX if index.data(INDENT_ROLE) else 0, 0, 0, 0)


def _ground(rect: QRect) -> QRect:
    return rect.adjusted(0, 1, 0, -1)


def _chip_px(metrics: QFontMetrics, tag: str) -> int:
    return metrics.horizontalAdvance(tag) + 2 * _CHIP_AIR_PX


def height_of(font: QFont) -> int:
    """Return the height of a line in this font, in device-independent pixels."""
    return QFontMetrics(font).height()
