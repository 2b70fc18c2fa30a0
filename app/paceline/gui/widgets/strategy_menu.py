"""The list of one group's strategies: each with title, id and what it is good for.

A popup instead of a `QMenu`, whose entries have one line only: what a strategy does, and why it
cannot be used now, must be readable before it is chosen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import (
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPalette
from PySide6.QtWidgets import (
    QFrame,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QStyle,
    QStyledItemDelegate,
    QVBoxLayout,
    QWidget,
)

from paceline.gui.theme import mono_font, ui_font

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtWidgets import QStyleOptionViewItem

    from paceline.gui.viewmodels.choices import Choice

WIDTH_PX = 400
MAX_HEIGHT_PX = 460
_NAME, _SUMMARY, _OBSTACLE, _IS_CHOSEN = (Qt.ItemDataRole.UserRole + i for i in range(4))
_PADDING, _GAP, _MARK_PX = 8, 2, 20
_TEXT_PX = WIDTH_PX - _MARK_PX - 2 * _PADDING - 24
"""Width of the text; leaves room for frame and scroll bar."""
_WRAP = int(Qt.TextFlag.TextWordWrap)
_Index = QModelIndex | QPersistentModelIndex


class _Delegate(QStyledItemDelegate):
    """Draws title and id in one line, below it the summary, or why it cannot be used now."""

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        del option
        width = _TEXT_PX
        height = 2 * _PADDING + self._title_height(index, width) + _GAP
        for text in self._below(index):
            height += QFontMetrics(ui_font(12)).boundingRect(
                QRect(0, 0, width, 10_000), _WRAP, text
            ).height()  # fmt: skip
        if self._id_has_own_line(index, width):
            height += QFontMetrics(mono_font(11)).height()
        return QSize(width, height)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        state = option.state
        palette, rect = option.palette, option.rect
        is_enabled = bool(state & QStyle.StateFlag.State_Enabled)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if state & (QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_MouseOver):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(palette.color(QPalette.ColorRole.AlternateBase))
            painter.drawRoundedRect(rect.adjusted(1, 1, -1, -1), 6, 6)
        text_colour = QPalette.ColorRole.Text if is_enabled else QPalette.ColorRole.PlaceholderText
        muted = QPalette.ColorRole.Dark if is_enabled else QPalette.ColorRole.PlaceholderText
        area = rect.adjusted(_PADDING + _MARK_PX, _PADDING, 0, -_PADDING)
        area.setWidth(_TEXT_PX)
        metrics = QFontMetrics(self._title_font())
        painter.setFont(self._title_font())
        if index.data(_IS_CHOSEN):
            painter.setPen(palette.color(QPalette.ColorRole.Accent))
            painter.drawText(QPoint(rect.left() + _PADDING, area.top() + metrics.ascent()), "✓")
        painter.setPen(palette.color(text_colour))
        title_height = self._title_height(index, area.width())
        lines = QRect(area.left(), area.top(), area.width(), title_height)
        painter.drawText(lines, _WRAP, str(index.data()))
        painter.setFont(mono_font(11))
        painter.setPen(palette.color(muted))
        top = area.top() + title_height + _GAP
        name = str(index.data(_NAME))
        name_metrics = QFontMetrics(mono_font(11))
        if self._id_has_own_line(index, area.width()):
            shown = name_metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, area.width())
            painter.drawText(area.left(), top + name_metrics.ascent(), shown)
            top += name_metrics.height()
        else:
            left = area.right() - name_metrics.horizontalAdvance(name)
            painter.drawText(left, area.top() + metrics.ascent(), name)
        painter.setFont(ui_font(12))
        for text in self._below(index):
            is_reason = text == index.data(_OBSTACLE)
            painter.setPen(palette.color(QPalette.ColorRole.Dark if is_reason else muted))
            below = QRect(area.left(), top, area.width(), 10_000)
            top += painter.drawText(below, _WRAP, text).height()
        painter.restore()

    @staticmethod
    def _title_font() -> QFont:
        return ui_font(13, QFont.Weight.DemiBold)

    @classmethod
    def _title_height(cls, index: _Index, width: int) -> int:
        """A long chain has several lines."""
        room = QRect(0, 0, width, 10_000)
        return QFontMetrics(cls._title_font()).boundingRect(room, _WRAP, str(index.data())).height()

    @staticmethod
    def _below(index: _Index) -> list[str]:
        return [text for text in (index.data(_SUMMARY), index.data(_OBSTACLE)) if text]

    @classmethod
    def _id_has_own_line(cls, index: _Index, width: int) -> bool:
        title = QFontMetrics(cls._title_font()).horizontalAdvance(str(index.data()))
        name = QFontMetrics(mono_font(11)).horizontalAdvance(str(index.data(_NAME)))
        return title + name + 16 > width


class StrategyMenu(QFrame):
    """Opens below a widget; Enter or a click chooses, Esc leaves all as it was."""

    chosen = Signal(str)
    """Name of a strategy"""
    own_wanted = Signal()
    """The user wants to put a chain together"""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setProperty("kind", "card")
        self.setObjectName("strategy_menu")
        self.list = QListWidget()
        self.list.setItemDelegate(_Delegate(self.list))
        self.list.setProperty("kind", "menu")
        self.list.setAccessibleName(self.tr("Strategies"))
        self.list.setMouseTracking(True)
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        self.list.itemClicked.connect(self._on_item)
        self.list.itemActivated.connect(self._on_item)
        self.own = QPushButton(self.tr("Put one together…"))
        self.own.setProperty("kind", "quiet")
        self.own.clicked.connect(self._on_own)
        column = QVBoxLayout(self)
        column.setContentsMargins(4, 4, 4, 4)
        column.setSpacing(4)
        column.addWidget(self.list)
        column.addWidget(self.own)
        self._choosing = False

    def show_choices(
        self, choices: Sequence[tuple[Choice, str]], chosen: str, *, offers_own: bool
    ) -> None:
        """List these strategies, each with the reason why it cannot be used now, or ""."""
        self.list.clear()
        for choice, obstacle in choices:
            item = QListWidgetItem(choice.title)
            item.setData(_NAME, choice.name)
            item.setData(_SUMMARY, choice.summary)
            item.setData(_OBSTACLE, obstacle)
            item.setData(_IS_CHOSEN, choice.name == chosen)
            words = f"{choice.title} ({choice.name}). {choice.summary} {obstacle}".strip()
            item.setData(Qt.ItemDataRole.AccessibleTextRole, words)
            if obstacle:
                item.setFlags(Qt.ItemFlag.NoItemFlags)
            self.list.addItem(item)
            if choice.name == chosen:
                self.list.setCurrentItem(item)
        self.own.setVisible(offers_own)

    def open_below(self, widget: QWidget) -> None:
        """Show the list under a widget, or above it where there is no room."""
        rows = sum(self.list.sizeHintForRow(row) for row in range(self.list.count()))
        height = min(rows + 4, MAX_HEIGHT_PX)
        self.list.setFixedHeight(height)
        if not self.own.isHidden():
            height += self.own.sizeHint().height() + 4
        self.setFixedSize(WIDTH_PX, height + 8)
        screen = widget.screen().availableGeometry()
        place = widget.mapToGlobal(QPoint(widget.width() - WIDTH_PX, widget.height() + 4))
        if place.y() + self.height() > screen.bottom():
            place.setY(max(widget.mapToGlobal(QPoint(0, 0)).y() - self.height() - 4, screen.top()))
        place.setX(max(place.x(), screen.left()))
        self._choosing = True
        self.move(place)
        self.show()
        self.list.setFocus()

    def names(self) -> list[str]:
        """The strategies that are listed."""
        return [str(self.list.item(row).data(_NAME)) for row in range(self.list.count())]

    @Slot(QListWidgetItem)
    def _on_item(self, item: QListWidgetItem) -> None:
        if not self._choosing or not item.flags() & Qt.ItemFlag.ItemIsEnabled:
            return
        self._choosing = False  # a click may also count as an activation
        self.hide()
        self.chosen.emit(str(item.data(_NAME)))

    @Slot()
    def _on_own(self) -> None:
        self.hide()
        self.own_wanted.emit()
