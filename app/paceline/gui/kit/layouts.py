"""Short ways to build windows: boxes with their contents, widgets with their look.

`FlowLayout` places widgets in lines, like words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from PySide6.QtCore import QEvent, QRect, QSize, Qt, Slot
from PySide6.QtGui import QIcon, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLayout,
    QLayoutItem,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from paceline.gui.look.current import look
from paceline.gui.look.scale import ICON, icon_size
from paceline.gui.look.theme import restyle

Part = QWidget | QLayout | int | tuple[Any, ...] | None
"""A widget or layout, alone or in a tuple with its stretch and alignment, as `QBoxLayout` takes
them; a gap in pixels; or None, alone or with a stretch, for remaining space."""
Margins = int | tuple[int, int, int, int]
"""Margins in pixels: all around, or left, top, right and bottom."""
_Box = TypeVar("_Box", bound=QBoxLayout)
_Widget = TypeVar("_Widget", bound=QWidget)


def row_of(
    *parts: Part,
    on: QWidget | None = None,
    margins: Margins | None = None,
    spacing: int | None = None,
) -> QHBoxLayout:
    """Put parts beside each other.

    Args:
        parts: From left to right.
        on: The widget that they fill.
        margins: None for the style's on a widget, and for none in another layout.
        spacing: Pixels between two parts, or None for the style's.
    """
    box = QHBoxLayout(on) if on is not None else QHBoxLayout()
    return _made(box, parts, margins, spacing)


def column_of(
    *parts: Part,
    on: QWidget | None = None,
    margins: Margins | None = None,
    spacing: int | None = None,
) -> QVBoxLayout:
    """Put parts below each other; see `row_of`."""
    box = QVBoxLayout(on) if on is not None else QVBoxLayout()
    return _made(box, parts, margins, spacing)


def grid_of(
    *,
    on: QWidget | None = None,
    margins: Margins | None = None,
    across: int = -1,
    down: int = -1,
    stretches: Iterable[int] = (),
) -> QGridLayout:
    """Make an empty grid.

    Args:
        on: The widget that it fills.
        margins: See `row_of`.
        across: Pixels between two columns, or -1 for the style's.
        down: Pixels between two rows, or -1 for the style's.
        stretches: Columns that take the remaining width.
    """
    grid = QGridLayout(on) if on is not None else QGridLayout()
    _set_margins(grid, margins)
    grid.setHorizontalSpacing(across)
    grid.setVerticalSpacing(down)
    for column in stretches:
        grid.setColumnStretch(column, 1)
    return grid


def _set_margins(layout: QLayout, margins: Margins | None) -> None:
    if margins is not None:
        layout.setContentsMargins(*(margins if isinstance(margins, tuple) else (margins,) * 4))


def _made(box: _Box, parts: tuple[Part, ...], margins: Margins | None, spacing: int | None) -> _Box:
    _set_margins(box, margins)
    if spacing is not None:
        box.setSpacing(spacing)
    fill(box, *parts)
    return box


def centred(widget: QWidget, *, margins: Margins = 0) -> QHBoxLayout:
    """Return a row with a widget in its middle, as wide as the space and its own limit allow."""
    return row_of((None, 0), (widget, 1), (None, 0), margins=margins, spacing=0)


def rounded(popup: QWidget) -> None:
    """Paint nothing outside of a popup's content; call it before the popup is shown."""
    flags = Qt.WindowType.FramelessWindowHint | Qt.WindowType.NoDropShadowWindowHint
    popup.setWindowFlags(popup.windowFlags() | flags)
    popup.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)


class Popup(QWidget):
    """A `card` with round corners that closes when anything else is clicked, and by Esc."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        rounded(self)
        self.card = QFrame()  # Qt paints no background of the style sheet on a translucent window
        self.card.setProperty("kind", "card")
        column_of(self.card, on=self, margins=0)


def fill(box: QBoxLayout, *parts: Part) -> None:
    """Append parts to a box; see `row_of`."""
    for part in parts:
        if isinstance(part, int):
            box.addSpacing(part)
            continue
        widget, *how = part if isinstance(part, tuple) else (part,)
        if widget is None:
            box.addStretch(*(how or (1,)))
        else:
            (box.addLayout if isinstance(widget, QLayout) else box.addWidget)(widget, *how)


class IconButton(QToolButton):
    """A button that shows an icon, in the size in force, and has its name as its tool tip."""

    def __init__(
        self, icon: str, name: str, tip: str = "", *, kind: str = "quiet", sign: str = ""
    ) -> None:
        """Show an icon of the look.

        Args:
            icon: Its name.
            name: The action of the button, in words.
            tip: Another tool tip than the name.
            kind: The button's look.
            sign: The icon's size, where it is not the usual one: "small", "medium" or "large".
        """
        super().__init__()
        styled(self, kind=kind, sign=sign)
        self.setIcon(look.icon(icon))
        self.setAccessibleName(name)
        self.setToolTip(tip or name)


class IconLabel(QLabel):
    """An icon of the look beside a text, in the colour and the size in force."""

    def __init__(self, icon: QIcon, side: int = ICON) -> None:
        """Show an icon; `side` is its size at scale 1."""
        super().__init__()
        self._icon, self._side = icon, side
        look.follow(self._draw)

    def show_icon(self, icon: QIcon) -> None:
        """Show another icon."""
        self._icon = icon
        self._draw()

    @Slot()
    def _draw(self) -> None:
        self.setPixmap(self._icon.pixmap(icon_size(self._side)))


class Refits:
    """A widget that lays out its parts, or chooses their words, anew in each size: by `_fit`."""

    def _fit(self) -> None:
        raise NotImplementedError

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the parts to the new size."""
        super().resizeEvent(event)  # type: ignore[misc]  # the widget's
        self._fit()


class RefitsWords(Refits):
    """A `Refits` that depends on the widths of words, too: it refits after a change of font."""

    def changeEvent(self, event: QEvent) -> None:
        """Fit the parts to another font."""
        super().changeEvent(event)  # type: ignore[misc]  # the widget's
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fit()


class Shown(QWidget):
    """A page of a stack that requests no space while another page is in front."""

    def heightForWidth(self, width: int) -> int:
        """Return the height of all lines in pixels, or -1 while hidden."""
        return -1 if self.isHidden() else super().heightForWidth(width)

    def sizeHint(self) -> QSize:
        """Return the preferred size of the parts, or none while hidden."""
        return QSize(0, 0) if self.isHidden() else super().sizeHint()

    def minimumSizeHint(self) -> QSize:
        """Return the minimum size of the parts, or none while hidden."""
        return QSize(0, 0) if self.isHidden() else super().minimumSizeHint()


class Strip(QFrame):
    """A frame across the window that comes and goes."""

    def showEvent(self, event: QShowEvent) -> None:
        """Repaint everything around: X11 shows the frame before it has its place.

        It is too wide then, and the messages below move its picture along when they scroll.
        """
        super().showEvent(event)
        if (around := self.parentWidget()) is not None:
            around.update()


def discard(widgets: Iterable[QWidget], layout: QLayout | None = None) -> None:
    """Hide widgets and remove them from their layout now; they are deleted a moment later."""
    for widget in widgets:
        if layout is not None:
            layout.removeWidget(widget)
        widget.hide()
        widget.deleteLater()


def as_many(
    widgets: list[_Widget], n: int, make: Callable[[], _Widget], layout: QBoxLayout
) -> list[_Widget]:
    """Return exactly `n` shown widgets: those given, and new ones at the end."""
    while len(widgets) < n:
        widgets.append(make())
        layout.addWidget(widgets[-1])
    for at, widget in enumerate(widgets):
        widget.setVisible(at < n)
    return widgets[:n]


def styled(widget: _Widget, **properties: str) -> _Widget:
    """Return the widget, with properties that the style sheet selects by (`look.style`)."""
    for name, value in properties.items():
        widget.setProperty(name, value)
    return widget


def set_look(widget: QWidget, **properties: str) -> None:
    """Change style properties of a widget that is already shown."""
    changed = {name: v for name, v in properties.items() if widget.property(name) != v}
    if changed:
        restyle(styled(widget, **changed))


class FlowLayout(QLayout):
    """Layout from left to right, then downwards: an item that does not fit begins the next line.

    Its owner sets its own height by `heightForWidth`: Qt caps a nested layout at its size hint,
    which knows no width. Margins and spacing are as of any layout.
    """

    def __init__(self, parent: QWidget | None = None, spacing: int = 6) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(spacing)

    def addItem(self, item: QLayoutItem) -> None:
        """Add an item."""
        self._items.append(item)

    def count(self) -> int:
        """Return the number of items."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        """Return an item, or None after the last."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        """Remove and return an item, or None after the last."""
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        """Return no direction."""
        return Qt.Orientation(0)

    def heightForWidth(self, width: int) -> int:
        """Return the height of all lines in pixels."""
        return self._arrange(QRect(0, 0, width, 0), moves=False)

    def setGeometry(self, rect: QRect) -> None:
        """Place all items."""
        super().setGeometry(rect)
        self._arrange(rect, moves=True)

    def sizeHint(self) -> QSize:
        """Return the size of a single line."""
        hints = [item.sizeHint() for item in self._items]
        width = sum(hint.width() + self.spacing() for hint in hints)
        return QSize(width, max((hint.height() for hint in hints), default=0))

    def minimumSize(self) -> QSize:
        """Return the narrowest possible size."""
        heights = [item.minimumSize().height() for item in self._items]
        return QSize(0, max(heights, default=0))

    def _arrange(self, rect: QRect, *, moves: bool) -> int:
        x, y, line = rect.x(), rect.y(), 0
        for item in self._items:
            if item.isEmpty():
                continue
            size = item.sizeHint().boundedTo(QSize(max(rect.width(), 1), item.sizeHint().height()))
            if line and x + size.width() > rect.x() + rect.width():
                x, y, line = rect.x(), y + line + self.spacing(), 0
            if moves:
                item.setGeometry(QRect(x, y, size.width(), size.height()))
            x += size.width() + self.spacing()
            line = max(line, size.height())
        return y + line - rect.y()
