"""Parts of a message that are wider than it; each has a scroll bar of its own.

The view paints such a part through a window, so the position under the pointer differs from that in
the document.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import ceil
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QKeyEvent, QTextDocument, QWheelEvent
from PySide6.QtWidgets import QAbstractSlider, QScrollBar, QWidget

from paceline.gui.chat.markdown.formulas import PlacedFormula, formula_rect
from paceline.gui.look.scale import px

BAR_PX = 10
_STEP_PX = 40
_NOTCH = 120
"""Rotation of one notch of a wheel, in eighths of a degree."""
_ABOVE_PX, _BELOW_PX = 3, 4
"""Pixels by which marks and underlines of tokens extend beyond a formula."""


class SideBar(QScrollBar):
    """Scrolls a block of code or a formula sideways; vertical scrolling is left to the chat."""

    def __init__(self, canvas: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, canvas)
        self._canvas = canvas
        self.setAccessibleName(self.tr("Scroll sideways"))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSingleStep(px(_STEP_PX))
        self.hide()

    def sliderChange(self, change: QAbstractSlider.SliderChange) -> None:
        """Paint the scrolled part at its new position."""
        super().sliderChange(change)
        if change == self.SliderChange.SliderValueChange:
            self._canvas.update()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll by horizontal wheels only."""
        self.turn(event)

    def turn(self, event: QWheelEvent) -> None:
        """Scroll by a horizontal wheel or by Shift and a wheel; ignore others."""
        pixels, turned = event.pixelDelta(), event.angleDelta()
        delta = pixels if not pixels.isNull() else turned * px(_STEP_PX) / _NOTCH
        way = delta.x()
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            way = way or delta.y()
        elif abs(delta.x()) <= abs(delta.y()):
            way = 0
        before = self.value()
        self.setValue(before - way)
        event.setAccepted(self.value() != before)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Scroll by horizontal keys; leave the others to the conversation."""
        actions = {
            Qt.Key.Key_Left: self.SliderAction.SliderSingleStepSub,
            Qt.Key.Key_Right: self.SliderAction.SliderSingleStepAdd,
        }
        action = actions.get(Qt.Key(event.key()))
        if action is None:
            event.ignore()
        else:
            self.triggerAction(action)


class SideWindow(NamedTuple):
    """The visible part of content that is wider than the message.

    Attributes:
        rect: The visible rectangle in document coordinates.
        shift: The scroll offset in pixels.
        start: The document position of the first character.
        end: The position after the last character.
        bar: Its scroll bar.
    """

    rect: QRectF
    shift: int
    start: int
    end: int
    bar: SideBar


def shift_at(windows: Iterable[SideWindow], at: QPointF) -> int:
    """Return the scroll offset of the content at a point, in pixels."""
    return next((window.shift for window in windows if window.rect.contains(at)), 0)


def turn(windows: Iterable[SideWindow], event: QWheelEvent) -> None:
    """Let a horizontal wheel scroll the content below the pointer; ignore other wheels."""
    event.ignore()
    for window in windows:
        if window.rect.contains(event.position()):
            window.bar.turn(event)


def reveal(windows: Iterable[SideWindow], position: int, x: float) -> None:
    """Scroll until a document position at this x coordinate is visible."""
    for window in windows:
        seen = x - window.shift
        is_seen = window.rect.left() <= seen <= window.rect.right()
        if window.start <= position <= window.end and not is_seen:
            window.bar.setValue(window.bar.value() + round(seen - window.rect.center().x()))


class BarsOnFormulas:
    """Bars below display formulas that are wider than the text around them."""

    def __init__(self, document: QTextDocument, canvas: QWidget) -> None:
        self._document = document
        self._canvas = canvas
        self._bars: list[tuple[PlacedFormula, SideBar]] = []

    def place(self, formulas: Sequence[PlacedFormula]) -> None:
        """Position bars where they are needed."""
        wide = [placed for placed in formulas if placed.own_px > self._sides(placed)[1] + 1]
        while len(self._bars) > len(wide):
            self._bars.pop()[1].deleteLater()
        bars = [bar for _, bar in self._bars]
        bars += [SideBar(self._canvas) for _ in wide[len(bars) :]]
        self._bars = list(zip(wide, bars, strict=True))
        for placed, bar in self._bars:
            room = self._room(placed)
            top = round(room.bottom()) + _BELOW_PX
            bar.setGeometry(QRect(round(room.left()), top, round(room.width()), px(BAR_PX)))
            bar.setPageStep(round(room.width()))
            bar.setRange(0, ceil(placed.own_px - room.width()))
            bar.show()

    @property
    def has_last(self) -> bool:
        """Return whether the document ends with such a formula, whose bar needs space below it."""
        last = self._document.characterCount() - 1
        return bool(self._bars) and self._bars[-1][0].position + 1 == last

    def windows(self) -> Iterator[SideWindow]:
        """Return the windows on such formulas, from the top."""
        for placed, bar in self._bars:
            room, begin = self._room(placed), formula_rect(self._document, placed).left()
            rect = room.adjusted(0, -_ABOVE_PX, 0, _BELOW_PX)
            shift = bar.value() + round(begin - room.left())
            yield SideWindow(rect, shift, placed.position, placed.position + 1, bar)

    def _room(self, placed: PlacedFormula) -> QRectF:
        """Return the space for a formula in its paragraph, in the formula's height."""
        rect, (left, width) = formula_rect(self._document, placed), self._sides(placed)
        return QRectF(left, rect.top(), width, rect.height())

    def _sides(self, placed: PlacedFormula) -> tuple[float, float]:
        """Return the left edge and the width of a formula's paragraph."""
        around = self._document.findBlock(placed.position).blockFormat()
        left, right = around.leftMargin(), around.rightMargin()
        return left, max(self._document.textWidth() - left - right, 1)
