"""Short ways to make what windows are made of: boxes with their contents, widgets with their look.

`FlowLayout` places widgets in lines, as words are.
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
them; a gap in pixels; None, alone or with a stretch: room that is left."""
Margins = int | tuple[int, int, int, int]
"""In pixels: all around, or left, top, right and bottom."""
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
        margins: None: as the style has them on a widget, and none in another layout.
        spacing: Pixels between two of them; None: as the style has it.
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
        across: Pixels between two columns; -1: as the style has it.
        down: The same between two rows.
        stretches: The columns that take the room that is left.
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
    """Return a row that keeps a widget in its middle, as wide as there is room, or as it may be."""
    return row_of((None, 0), (widget, 1), (None, 0), margins=margins, spacing=0)


def rounded(popup: QWidget) -> None:
    """Paint nothing outside of what is in a popup; call it before it is shown."""
    flags = Qt.WindowType.FramelessWindowHint | Qt.WindowType.NoDropShadowWindowHint
    popup.setWindowFlags(popup.windowFlags() | flags)
    popup.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)


class Popup(QWidget):
    """A `card` with round corners that closes when anything else is clicked, and by Esc."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        rounded(self)
        self.card = QFrame()  # Qt paints no ground of the style sheet on a translucent window
        self.card.setProperty("kind", "card")
        column_of(self.card, on=self, margins=0)


def fill(box: QBoxLayout, *parts: Part) -> None:
    """Put parts into a box, after what is in it; see `row_of`."""
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
            name: What the button does.
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
    """A widget that gives its parts other places, or other words, in another size: by `_fit`."""

    def _fit(self) -> None:
        raise NotImplementedError

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit everything in anew."""
        super().resizeEvent(event)  # type: ignore[misc]  # the widget's
        self._fit()


class RefitsWords(Refits):
    """The same for words whose widths decide: they are fitted in anew in another font, too."""

    def changeEvent(self, event: QEvent) -> None:
        """Fit everything in anew."""
        super().changeEvent(event)  # type: ignore[misc]  # the widget's
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fit()


class Shown(QWidget):
    """A page of a stack that asks for no room while another one is in front."""

    def heightForWidth(self, width: int) -> int:
        """Pixels that all lines take; -1: none are shown."""
        return -1 if self.isHidden() else super().heightForWidth(width)

    def sizeHint(self) -> QSize:
        """What the parts ask for."""
        return QSize(0, 0) if self.isHidden() else super().sizeHint()

    def minimumSizeHint(self) -> QSize:
        """What they need."""
        return QSize(0, 0) if self.isHidden() else super().minimumSizeHint()


class Strip(QFrame):
    """A frame in a line of its own that comes and goes."""

    def showEvent(self, event: QShowEvent) -> None:
        """Have all around it painted anew: X11 shows it before it has its place.

        It is too wide then, and the messages below take its picture along when they scroll.
        """
        super().showEvent(event)
        if (around := self.parentWidget()) is not None:
            around.update()


def discard(widgets: Iterable[QWidget], layout: QLayout | None = None) -> None:
    """Take widgets out of sight and out of their layout now; they are deleted a moment later."""
    for widget in widgets:
        if layout is not None:
            layout.removeWidget(widget)
        widget.hide()
        widget.deleteLater()


def as_many(
    widgets: list[_Widget], n: int, make: Callable[[], _Widget], layout: QBoxLayout
) -> list[_Widget]:
    """Show `n` widgets, which are returned, of those that there are and of new ones at the end."""
    while len(widgets) < n:
        widgets.append(make())
        layout.addWidget(widgets[-1])
    for at, widget in enumerate(widgets):
        widget.setVisible(at < n)
    return widgets[:n]


def styled(widget: _Widget, **properties: str) -> _Widget:
    """Return the widget, with properties by which the style sheet knows it (`look.style`)."""
    for name, value in properties.items():
        widget.setProperty(name, value)
    return widget


def set_look(widget: QWidget, **properties: str) -> None:
    """Change such properties of a widget that is shown already."""
    changed = {name: v for name, v in properties.items() if widget.property(name) != v}
    if changed:
        restyle(styled(widget, **changed))


class FlowLayout(QLayout):
    """From left to right, then downwards: what has no room begins the next line.

    Its owner gives itself the height (`heightForWidth`): Qt caps a nested layout at its size hint,
    which knows no width. Margins and spacing are as of any layout.
    """

    def __init__(self, parent: QWidget | None = None, spacing: int = 6) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(spacing)

    def addItem(self, item: QLayoutItem) -> None:
        """Take an item."""
        self._items.append(item)

    def count(self) -> int:
        """How many there are."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        """One of them; None after the end."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        """Give one back."""
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        """Nowhere."""
        return Qt.Orientation(0)

    def heightForWidth(self, width: int) -> int:
        """Pixels that all lines take."""
        return self._arrange(QRect(0, 0, width, 0), moves=False)

    def setGeometry(self, rect: QRect) -> None:
        """Place all items."""
        super().setGeometry(rect)
        self._arrange(rect, moves=True)

    def sizeHint(self) -> QSize:
        """One line."""
        hints = [item.sizeHint() for item in self._items]
        width = sum(hint.width() + self.spacing() for hint in hints)
        return QSize(width, max((hint.height() for hint in hints), default=0))

    def minimumSize(self) -> QSize:
        """As narrow as needed."""
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
