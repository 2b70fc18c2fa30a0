"""A view with one box for curves and an axis; mouse and keys; the step they point at.

A `PlotWidget` would bring menus that outlive it. Without Ctrl the wheel scrolls the panel around
the plot.
"""

from __future__ import annotations

import math

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QObject, QPoint, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QGraphicsView, QLabel, QSizePolicy, QToolTip, QWidget

from paceline.gui.kit.labels import say
from paceline.gui.kit.layouts import styled
from paceline.gui.kit.translation import local
from paceline.gui.look.current import look
from paceline.gui.look.scale import TINY
from paceline.gui.look.theme import ui_font
from paceline.gui.plot.plot_words import place_words, step_words
from paceline.gui.state.metrics import StepMetrics, StepWindow
from paceline.gui.state.sources import Sources

ZOOM_IN, ZOOM_OUT = 0.8, 1.25
"""Factors of one step of zooming."""
_STEPS_BY_KEY = {Qt.Key.Key_PageUp: -10, Qt.Key.Key_PageDown: 10}
_ZOOM_BY_KEY = {
    Qt.Key.Key_Plus: ZOOM_IN,
    Qt.Key.Key_Equal: ZOOM_IN,
    Qt.Key.Key_Minus: ZOOM_OUT,
}


_MAX_TICKS = 3
"""Maximum number of marks besides 0."""
_ROOM_ABOVE = 1.1
_WIDEST_NUMBER, _AXIS_GAP = "8888", 5


def ticks(top: float) -> list[float]:
    """Return round values from 0 to `top`, which is above 0; as many as an axis has space for."""
    power = 10.0 ** math.floor(math.log10(top / _MAX_TICKS))
    step = next(unit * power for unit in (1, 2, 5, 10) if top / (unit * power) <= _MAX_TICKS)
    return [at * step for at in range(int(top / step) + 1)]


class Axis(QWidget):
    """Numbers at the left of a plot."""

    def __init__(self) -> None:
        super().__init__()
        self.values: list[float] = []
        self._top = 1.0
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Ignored)

    def show_values(self, values: list[float], top: float) -> None:
        """Show these values; `top` is the value of the upper edge."""
        if (values, top) != (self.values, self._top):
            self.values, self._top = values, top
            self.update()

    def sizeHint(self) -> QSize:
        """Return the size of the widest number."""
        return QSize(QFontMetrics(ui_font(TINY)).horizontalAdvance(_WIDEST_NUMBER) + _AXIS_GAP, 0)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint each number at its line, or inside the nearest edge."""
        painter = QPainter(self)
        painter.setFont(ui_font(TINY))
        painter.setPen(QColor(look.theme.muted))
        height = painter.fontMetrics().height()
        for value in self.values:
            top = self.height() * (1 - value / self._top) - height / 2
            top = min(max(top, 0.0), self.height() - height)
            place = QRectF(0, top, self.width() - _AXIS_GAP, height)
            flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(place, flags, f"{local(value):g}")


class Bars(pg.BarGraphItem):  # type: ignore[misc]  # it is not typed
    """Bars without outlines, which need no space around them: computing it costs the most."""

    def __init__(self) -> None:
        super().__init__(x=[], height=[], width=1.0, pen=None)

    def pixelPadding(self) -> float:
        """Return 0: no space around the drawing."""
        return 0.0


class Line(pg.PlotCurveItem):  # type: ignore[misc]
    """A thin line in a view that is always painted as a whole."""

    def __init__(self) -> None:
        super().__init__(antialias=False)

    def pixelPadding(self) -> float:
        """Return 0: no space around the drawing."""
        return 0.0


class PlotCanvas(pg.GraphicsView):  # type: ignore[misc]
    """Draws the content of `box`, and emits the user's actions.

    Attributes:
        axis: The numbers of its lines, to be placed at its left.
        marker: The mark of the current step.
    """

    zoomed = Signal(float, float)
    """Factor and position: 0 is the left edge, 1 the right"""
    moved = Signal(float)
    """Number of steps"""
    reset_wanted = Signal()
    pause_wanted = Signal()
    menu_wanted = Signal(QPoint)
    """Position on the screen"""
    pointed = Signal(float)
    """The pointer is over this step"""
    stepped = Signal(int)
    """The next step in this direction is requested by key."""
    left = Signal()
    """Pointer and focus have left."""

    def __init__(self, height: int) -> None:
        super().__init__()
        self.setFixedHeight(height)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setProperty("kind", "plot")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAntialiasing(False)
        self.setMouseTracking(True)
        self.viewport().setMouseTracking(True)
        # By default the view paints once for the words on it, once for the curves and once more for
        # the range, and each time everything below it.
        self.setViewportUpdateMode(QGraphicsView.ViewportUpdateMode.NoViewportUpdate)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.box = pg.ViewBox(enableMenu=False, enableMouse=False)
        self.box.disableAutoRange()
        self.setCentralItem(self.box)
        self.axis, self.marker, self._grid = Axis(), Bars(), Line()
        for below in (self.marker, self._grid):
            self.box.addItem(below)
        self.note = styled(QLabel(self), role="scale")
        self.note.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.note.hide()
        self.badge = styled(QLabel(self), role="pill", tone="lookup")
        self.badge.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.badge.hide()
        self._grabbed_x: float | None = None

    def tint(self) -> None:
        """Apply the present colours and size of text."""
        theme = look.theme
        self.setBackground(theme.surface)
        self.marker.setOpts(brush=theme.pressed)
        self._grid.setPen(pg.mkPen(theme.line))
        self.axis.update()
        self._place_words()

    def mark(self, step: float | None, width: float = 1.0) -> None:
        """Mark a step, or none."""
        if step is not None or len(self.marker.opts["x"]):
            steps = [] if step is None else [step]
            top = self.box.viewRange()[1][1]
            self.marker.setOpts(x=steps, height=[top] * len(steps), width=width)
            self.redraw()

    def set_badge(self, words: str) -> None:
        """Show special words in the corner; empty for none."""
        say(self.badge, words)
        self._place_words()

    def set_note(self, words: str) -> None:
        """Show words in the middle until something is drawn; empty afterwards."""
        if words != self.note.text():
            say(self.note, words)
            self._place_words()

    def set_steps(self, first: int, n_places: int, top: float) -> None:
        """Show `n_places` steps from `first` on, and values from 0 to `top`."""
        x_range = (first - 0.5, first + n_places - 0.5)
        values, top = ticks(top), top * _ROOM_ABOVE
        self._grid.setData(np.tile(x_range, len(values)), np.repeat(values, 2), connect="pairs")
        self.axis.show_values(values, top)
        self.box.setRange(xRange=x_range, yRange=(0, top), padding=0, disableAutoRange=True)

    def redraw(self) -> None:
        """Schedule one paint of the box's changes; the view schedules none."""
        self.viewport().update()

    def place_of(self, step: float) -> QPoint:
        """Return the position of a step at the lower edge, on the screen.

        A tool tip there is not in the way of the pointer, which would otherwise leave the plot.
        """
        (first, last), _ = self.box.viewRange()
        x = (step - first) / max(last - first, 1e-9) * self.viewport().width()
        place: QPoint = self.mapToGlobal(QPoint(round(x), self.height()))
        return place

    def _share(self, x: float) -> float:
        return x / max(int(self.viewport().width()), 1)

    def _step_at(self, x: float) -> float:
        (first, last), _ = self.box.viewRange()
        return float(first + (last - first) * self._share(x))

    def _place_words(self) -> None:
        self.badge.adjustSize()
        self.badge.move(self.width() - self.badge.width() - 2, 0)
        self.note.adjustSize()
        rest = self.size() - self.note.size()
        self.note.move(max(rest.width() // 2, 0), rest.height() // 2)

    # -------------------------------------------------------------------------------- events

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the words in their places."""
        super().resizeEvent(event)
        if hasattr(self, "badge"):  # the base class resizes itself in its constructor
            self._place_words()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom with Ctrl; otherwise leave the wheel to the scroll area."""
        turned = event.angleDelta().y()
        if not event.modifiers() & Qt.KeyboardModifier.ControlModifier or not turned:
            event.ignore()
            # The panel may scroll the plot away, which Qt does not report as leaving.
            self.left.emit()
            return
        event.accept()
        self.zoomed.emit(ZOOM_IN if turned > 0 else ZOOM_OUT, self._share(event.position().x()))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin to drag the plot."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._grabbed_x = event.position().x()
            event.accept()
        else:
            event.ignore()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """End the drag."""
        self._grabbed_x = None
        event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drag the plot, or emit the step under the pointer."""
        x = event.position().x()
        if self._grabbed_x is None:
            self.pointed.emit(self._step_at(x))
            return
        n_steps = self._step_at(self._grabbed_x) - self._step_at(x)
        if abs(n_steps) >= 1:
            self._grabbed_x = x
            self.moved.emit(n_steps)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Return to the time window."""
        event.accept()
        self.reset_wanted.emit()

    def viewportEvent(self, event: QEvent) -> bool:
        """Keep the tool tip: the scene has none, and would hide it."""
        return event.type() == QEvent.Type.ToolTip or bool(super().viewportEvent(event))

    def leaveEvent(self, event: QEvent) -> None:
        """Emit that the pointer has left."""
        super().leaveEvent(event)
        self.left.emit()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Open the menu with the other actions."""
        event.accept()
        self.menu_wanted.emit(event.globalPos())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Carry out by keys what the mouse does."""
        key = Qt.Key(event.key())
        if key in _ZOOM_BY_KEY:
            self.zoomed.emit(_ZOOM_BY_KEY[key], 1.0)
        elif key in _STEPS_BY_KEY:
            self.moved.emit(float(_STEPS_BY_KEY[key]))
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self.stepped.emit(-1 if key == Qt.Key.Key_Left else 1)
        elif key in (Qt.Key.Key_0, Qt.Key.Key_Home):
            self.reset_wanted.emit()
        elif key == Qt.Key.Key_Space:
            self.pause_wanted.emit()
        else:
            event.ignore()  # not passed to the base class, which scrolls
            return
        event.accept()


class PlotCursor(QObject):
    """The current step, which stays while the plot moves on, until pointer and focus leave."""

    def __init__(
        self,
        *,
        bars: PlotCanvas,
        line: PlotCanvas,
        metrics: StepMetrics,
        sources: Sources,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._bars, self._line = bars, line
        self._metrics, self._sources = metrics, sources
        self._window: StepWindow = metrics.window(0)
        self._step: int | None = None
        for canvas in (bars, line):
            canvas.pointed.connect(self._on_pointed)
            canvas.stepped.connect(self._on_stepped)
            canvas.left.connect(self._on_left)

    def show_window(self, window: StepWindow) -> None:
        """Follow the change of the drawn steps."""
        self._window = window
        self._mark()

    def _place(self) -> int | None:
        """Return the index of its place in the window, or None if it is outside."""
        if self._step is None:
            return None
        place = (self._step - self._window.first) // self._window.per_place
        return place if 0 <= place < len(self._window.drafted) else None

    def _mark(self) -> None:
        place, window = self._place(), self._window
        for canvas in (self._bars, self._line):
            if place is None:
                canvas.mark(None)
            else:
                canvas.mark(float(window.steps[place]), window.per_place)

    def _show_tip(self) -> None:
        place, window = self._place(), self._window
        if place is None:
            QToolTip.hideText()
            return
        at = window.first + place
        step = self._metrics.step(at)
        if window.per_place > 1 or step is None:
            words = place_words(window, place)
        else:
            words = step_words(at + 1, step, self._metrics.speed_at(at), self._sources)
        is_at_line = self._line.hasFocus() or self._line.underMouse()
        canvas = self._line if is_at_line else self._bars
        QToolTip.showText(canvas.place_of(float(window.steps[place])), words, canvas)
        if canvas.hasFocus():
            canvas.setAccessibleDescription(words.replace("\n", ", "))

    @Slot(float)
    def _on_pointed(self, step: float) -> None:
        """Point at a step, or at the newest where there is none yet."""
        window = self._window
        newest = window.first + len(window.drafted) * window.per_place - 1
        at = min(round(step), newest)
        if at != self._step:
            self._step = at
            self._mark()
            self._show_tip()

    @Slot(int)
    def _on_stepped(self, direction: int) -> None:
        window = self._window
        n_places = len(window.drafted)
        if not n_places:
            return
        place = self._place()
        place = n_places - 1 if place is None else min(max(place + direction, 0), n_places - 1)
        self._step = window.first + place * window.per_place
        self._mark()
        self._show_tip()

    @Slot()
    def _on_left(self) -> None:
        self._step = None
        QToolTip.hideText()
        self._mark()
