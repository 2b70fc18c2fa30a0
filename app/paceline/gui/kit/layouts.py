"""Rows and columns in one expression, and a layout that places widgets in lines, as words are."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLayout, QLayoutItem, QVBoxLayout, QWidget

Part = QWidget | QLayout | int | tuple[Any, ...] | None
"""A widget or layout, alone or in a tuple with its stretch and alignment, as `QBoxLayout` takes
them; a gap in pixels; None: all room that is left."""
Margins = int | tuple[int, int, int, int]
"""In pixels: all around, or left, top, right and bottom."""


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
    _fill(box, parts, margins, spacing)
    return box


def column_of(
    *parts: Part,
    on: QWidget | None = None,
    margins: Margins | None = None,
    spacing: int | None = None,
) -> QVBoxLayout:
    """Put parts below each other; see `row_of`."""
    box = QVBoxLayout(on) if on is not None else QVBoxLayout()
    _fill(box, parts, margins, spacing)
    return box


def _fill(
    box: QBoxLayout, parts: tuple[Part, ...], margins: Margins | None, spacing: int | None
) -> None:
    if margins is not None:
        box.setContentsMargins(*(margins if isinstance(margins, tuple) else (margins,) * 4))
    if spacing is not None:
        box.setSpacing(spacing)
    for part in parts:
        if part is None:
            box.addStretch(1)
        elif isinstance(part, int):
            box.addSpacing(part)
        else:
            widget, *how = part if isinstance(part, tuple) else (part,)
            (box.addLayout if isinstance(widget, QLayout) else box.addWidget)(widget, *how)


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
