"""Messages in a column, one of which keeps its position while others come, go and grow.

The held position is not a number of pixels but a message and its distance from the upper edge.
Whenever heights change, the scroll position is computed from that, before anything is painted. At
the end of a conversation its end is held instead. Below it is a button that leads to the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import QEvent, QPoint, Qt, Signal, Slot
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QApplication, QFrame, QScrollArea, QToolButton, QWidget

from paceline.gui.chat.messages.message_item import MessageItem
from paceline.gui.kit.labels import text_label
from paceline.gui.kit.layouts import centred, row_of, styled
from paceline.gui.look.current import look
from paceline.gui.look.scale import px

MARGIN_PX = 24
_NEAR_BOTTOM_PX = 24
_BUTTON_PX = 28
_SAME_ROW_PX = 10
"""Maximum distance of centres of widgets in one row."""


class _Page(QWidget):
    """The scrolled widget; signals when a message wants another size.

    It fills its whole background, so that scrolling moves the painted picture, and keeps the
    picture when only its height changes: otherwise every line of a growing reply would repaint the
    whole view.
    """

    layout_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("chat_page")
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setAttribute(Qt.WidgetAttribute.WA_StaticContents)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(event.rect(), self.palette().window())

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            self.layout_requested.emit()
            return True
        return super().event(event)


_LINE_GAP_PX = 12


class UnseenLine(QWidget):
    """A thin line between two messages: the model sees only what is below it.

    Attributes:
        above: The message below the line, or None while the line is hidden.
    """

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.above: MessageItem | None = None
        self._words = text_label(self.tr("The model no longer sees what is above"), "small")
        self._words.setToolTip(
            self.tr("The context is full. With a longer one the model would see more of the chat.")
        )
        row_of(None, self._words, None, on=self, margins=0)
        self.hide()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw a line at either side of the words."""
        painter = QPainter(self)
        painter.setPen(QPen(QColor(look.theme.line_strong), 1))
        y, words = self.height() // 2, self._words.geometry()
        painter.drawLine(0, y, words.left() - _LINE_GAP_PX, y)
        painter.drawLine(words.right() + _LINE_GAP_PX, y, self.width(), y)


class MessageList(QScrollArea):
    """Column of items of limited width that scrolls.

    Attributes:
        items: The items from top to bottom.
        line: Line above the first message that the model sees, if it does not see all of them.
        follows: Whether the end is held.
    """

    moved = Signal()
    """The view has scrolled, or a size has changed."""
    ends_wanted = Signal(int)
    """The first (-1) or last (1) message of all is requested by key."""
    step_wanted = Signal(int)
    """The previous (-1) or next (1) message is requested by key."""

    def __init__(self) -> None:
        super().__init__()
        self.items: list[MessageItem] = []
        self._held: MessageItem | None = None
        self._held_px = 0
        self.follows = True
        self._has_end = True
        self._is_arranging = False
        self._page = _Page()
        self._page.layout_requested.connect(self.arrange)
        self.line = UnseenLine(self._page)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWidget(self._page)
        bar = self.verticalScrollBar()
        bar.setSingleStep(24)
        bar.valueChanged.connect(self._on_value_changed)
        look.follow(self.arrange)

    # ----------------------------------------------------------------------------- items

    def set_has_end(self, on: bool) -> None:  # noqa: FBT001
        """Set whether the last item is the last message; only then can the end be followed."""
        self._has_end = on
        if not on and self.follows:
            self._hold_what_is_seen()

    def insert(self, index: int, item: MessageItem) -> None:
        """Insert an item at an index; call `arrange` after that."""
        self.items.insert(index, item)
        item.setParent(self._page)
        item.resize(self.column_width, max(1, item.height()))
        item.show()

    def remove(self, index: int) -> MessageItem:
        """Remove an item, which the caller deletes."""
        item = self.items.pop(index)
        if item.isAncestorOf(self.focusWidget() or self):
            self.setFocus(Qt.FocusReason.OtherFocusReason)
        if item is self._held:
            # Its neighbour takes over, at its present position.
            self._held = self.items[min(index, len(self.items) - 1)] if self.items else None
            if self._held is not None:
                self._held_px = self._held.y() - self.verticalScrollBar().value()
        item.hide()
        return item

    # -------------------------------------------------------------------------- geometry

    @property
    def column_width(self) -> int:
        """Width of the messages in pixels; the same with and without a scroll bar."""
        return max(1, min(look.column_px, self.width() - 2 * MARGIN_PX))

    @Slot()
    def arrange(self) -> None:
        """Position every item, and scroll so that the held one stays."""
        if self._is_arranging:
            return
        self._is_arranging = True
        width = self.column_width
        left = (self.width() - width + 1) // 2  # as layouts do
        y = look.room(MARGIN_PX)
        for item in self.items:
            if item.width() != width:
                item.resize(width, item.height())
            height = item.wanted_height(width)
            if item is self.line.above:
                self.line.setGeometry(left, y, width, self.line.sizeHint().height())
                y += self.line.height() + _LINE_GAP_PX
            item.setGeometry(left, y, width, height)
            y += height + look.room(item.gap_below)
        self.line.setVisible(self.line.above in self.items)
        bottom = y - (look.room(self.items[-1].gap_below) if self.items else 0) + MARGIN_PX
        self._page.resize(self.viewport().width(), max(bottom, self.viewport().height()))
        bar = self.verticalScrollBar()
        if self.follows:
            self._paint_before_scroll(bar.maximum() - bar.value())
            bar.setValue(bar.maximum())
        elif self._held is not None:
            bar.setValue(self._held.y() - self._held_px)
        self._is_arranging = False
        self.moved.emit()

    def _paint_before_scroll(self, by_px: int) -> None:
        """Paint changes, so that scrolling can move the picture.

        Qt moves a picture only if no part of it waits to be painted; a growing reply always has
        such a part, and every new line would repaint the whole view.
        """
        if 0 < by_px < self.viewport().height() // 2 and self._page.isVisible():
            QApplication.sendEvent(self.window(), QEvent(QEvent.Type.UpdateRequest))

    def room_above(self) -> int:
        """Return the pixels of messages above the view."""
        return self.verticalScrollBar().value()

    def room_below(self) -> int:
        """Return the pixels of messages below the view; negative where they do not fill it."""
        end = self.items[-1].geometry().bottom() + 1 if self.items else 0
        return end - self.verticalScrollBar().value() - self.viewport().height()

    def first_seen(self) -> MessageItem | None:
        """Return the item at the upper edge of the view."""
        top = self.verticalScrollBar().value()
        for item in self.items:
            if item.geometry().bottom() >= top:
                return item
        return None

    @property
    def seen(self) -> list[MessageItem]:
        """Items that are at least partly in the view."""
        top = self.verticalScrollBar().value()
        bottom = top + self.viewport().height()
        return [
            item
            for item in self.items
            if item.geometry().bottom() >= top and item.geometry().top() <= bottom
        ]

    # ------------------------------------------------------------------------- scrolling

    def hold(self, item: MessageItem, from_top_px: int) -> None:
        """Show an item this far below the upper edge, and hold it there."""
        self.follows = False
        self._held, self._held_px = item, from_top_px
        self.arrange()

    @Slot()
    def follow(self) -> None:
        """Go to the end and stay there."""
        self.follows = True
        self.arrange()

    @Slot(int)
    def _on_value_changed(self, _value: int) -> None:
        if self._is_arranging:
            return
        bar = self.verticalScrollBar()
        self.follows = self._has_end and bar.value() >= bar.maximum() - _NEAR_BOTTOM_PX
        self._hold_what_is_seen()
        self.moved.emit()

    def _hold_what_is_seen(self) -> None:
        if not self._has_end:
            self.follows = False
        self._held = self.first_seen()
        if self._held is not None:
            self._held_px = self._held.y() - self.verticalScrollBar().value()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay out again: lines break differently now."""
        super().resizeEvent(event)
        self.arrange()

    # -------------------------------------------------------------------------- keyboard

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Scroll by pages, to both ends, and from message to message."""
        key = event.key()
        alt = bool(event.modifiers() & Qt.KeyboardModifier.AltModifier)
        bar = self.verticalScrollBar()
        if alt and key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self.step_wanted.emit(-1 if key == Qt.Key.Key_Up else 1)
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            self.ends_wanted.emit(-1 if key == Qt.Key.Key_Home else 1)
        elif key in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
            step = self.viewport().height() * 7 // 8
            bar.setValue(bar.value() + (-step if key == Qt.Key.Key_PageUp else step))
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            step = bar.singleStep()
            bar.setValue(bar.value() + (-step if key == Qt.Key.Key_Up else step))
        else:
            super().keyPressEvent(event)

    def focusNextPrevChild(self, next: bool) -> bool:  # noqa: A002, FBT001 - Qt's name
        """Move through links, buttons and actions in the order of their positions.

        Qt's own order is that of creation, and messages are created in any order.
        """
        stops = self._stops()
        focus = QApplication.focusWidget()
        here = [i for i, widget in enumerate(stops) if widget is focus]
        if not here:
            first = self.first_seen()
            inside = [widget for widget in stops if first and first.isAncestorOf(widget)]
            if focus is not self or not next or not inside:
                return super().focusNextPrevChild(next)
            target = inside[0]
        else:
            index = here[0] + (1 if next else -1)
            if not 0 <= index < len(stops):
                return self._leave(next)
            target = stops[index]
        reason = Qt.FocusReason.TabFocusReason if next else Qt.FocusReason.BacktabFocusReason
        target.setFocus(reason)
        self.show_widget(target)
        return True

    def _leave(self, forwards: bool) -> bool:  # noqa: FBT001
        """Move the focus to the widget before or after all messages."""
        self.setFocus(Qt.FocusReason.OtherFocusReason)
        with self.skipped_by_tab():
            super().focusNextPrevChild(forwards)
        return True  # the list has the focus now if nothing else in the window can take it

    @contextmanager
    def skipped_by_tab(self) -> Iterator[None]:
        """Let Tab skip all messages while the context is active, but not the list itself.

        Qt's chain must not be walked here: `nextInFocusChain` makes each widget the owner of the
        next in PySide's bookkeeping, and deleted widgets then take the others with them.
        """
        inside = [
            (widget, widget.focusPolicy())
            for widget in self.viewport().findChildren(QWidget)
            if widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        ]
        for widget, _ in inside:
            widget.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        try:
            yield
        finally:
            for widget, policy in inside:
                widget.setFocusPolicy(policy)

    def _stops(self) -> list[QWidget]:
        """Return all widgets within the messages that take the focus, from the top."""
        stops: list[QWidget] = []
        for item in self.items:
            found = [
                (widget.mapTo(item, _upper_middle(widget)), widget)
                for widget in item.findChildren(QWidget)
                if widget.focusPolicy() & Qt.FocusPolicy.TabFocus
                and widget.focusProxy() is None
                and widget.isEnabled()
                and widget.isVisibleTo(item)
            ]
            found.sort(key=lambda entry: entry[0].y())
            row_y = -_SAME_ROW_PX
            rows: list[list[tuple[QPoint, QWidget]]] = []
            for entry in found:
                if entry[0].y() - row_y >= _SAME_ROW_PX:
                    row_y = entry[0].y()
                    rows.append([])
                rows[-1].append(entry)
            for row in rows:
                stops.extend(widget for _, widget in sorted(row, key=lambda entry: entry[0].x()))
        return stops

    def show_widget(self, widget: QWidget) -> None:
        """Scroll as little as needed to show a widget, or the upper end of a tall one."""
        bar = self.verticalScrollBar()
        top = widget.mapTo(self._page, QPoint(0, 0)).y()
        bottom = top + min(widget.height(), self.viewport().height() - 2 * _NEAR_BOTTOM_PX)
        if top < bar.value() + _NEAR_BOTTOM_PX:
            bar.setValue(top - _NEAR_BOTTOM_PX)
        elif bottom > bar.value() + self.viewport().height() - _NEAR_BOTTOM_PX:
            bar.setValue(bottom - self.viewport().height() + _NEAR_BOTTOM_PX)


def _upper_middle(widget: QWidget) -> QPoint:
    """Return the point by which widgets are ordered: a long text comes before the buttons on it."""
    middle = widget.rect().center()
    return QPoint(middle.x(), min(middle.y(), _BUTTON_PX // 2))


_LINE_PX = 24


class EndLine(QWidget):
    """Button to a conversation's end, below it; its space is reserved."""

    def __init__(self) -> None:
        super().__init__()
        self.to_end = styled(QToolButton(), kind="link")
        self.to_end.setText(self.tr("↓ Latest"))
        self.to_end.setAccessibleName(self.tr("Go to the latest message"))
        self.to_end.hide()
        self._column = QWidget()
        row_of(None, self.to_end, on=self._column, margins=0)
        look.follow(self._fit)
        self.setLayout(centred(self._column, margins=(MARGIN_PX, 0, MARGIN_PX, 2)))

    @Slot()
    def _fit(self) -> None:
        self.setFixedHeight(px(_LINE_PX))
        self._column.setMaximumWidth(look.column_px)
