"""The live plot: accepted over drafted tokens per step, and the speed against plain decoding.

One display timer updates it, not events. It is cheap on purpose: a bounded number of bars, ranges
set by hand, pens of one pixel, no antialiasing, no work while hidden or paused.

While a reply grows, the plot follows it: its newest steps, all steps, or a zoomed part. A paused
plot keeps its range while the reply continues; then, and when the reply has ended, it can be moved.
The controls in its header (pause, time window, and a menu with the rest) are faint until the
pointer or the keyboard focus reaches them.

In a saved picture it is wider and sharper than in the window, and without controls.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal, Slot
from PySide6.QtGui import QAction, QActionGroup, QColor, QEnterEvent, QImage, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QToolButton, QWidget

from paceline.gui.kit.background import Slices
from paceline.gui.kit.card import Card
from paceline.gui.kit.file_dialogs import PNG_SCALE
from paceline.gui.kit.labels import YieldingLabel, say, text_label
from paceline.gui.kit.layouts import IconButton, column_of, row_of, styled
from paceline.gui.look.current import look
from paceline.gui.look.style import plot_stylesheet
from paceline.gui.plot.plot_canvas import ZOOM_IN, ZOOM_OUT, Bars, Line, PlotCanvas, PlotCursor
from paceline.gui.plot.plot_words import legend_html
from paceline.gui.state.figures import speed_text
from paceline.gui.state.metrics import StepMetrics, StepWindow
from paceline.gui.state.sources import Sources

SPANS = (40, 80, 200)
"""Offered time windows in steps, besides the whole reply."""
USUAL_SPAN = 80
MIN_STEPS = 8
"""Minimum number of steps when zooming; fewer bars would be blocks."""


@dataclass(slots=True)
class PlotRange:
    """State of a plot's controls.

    Attributes:
        span: Number of steps shown while following; 0 for all.
        is_paused: Whether it is paused.
        n_steps: Number of steps, now or when it was paused.
    """

    span: int = USUAL_SPAN
    is_paused: bool = False
    n_steps: int = 0
    _zoomed: int = 0
    _first: int | None = None

    def update(self, n_steps: int) -> None:
        """Set the present number of steps."""
        if n_steps < self.n_steps:  # another reply
            self.is_paused = False
            self.reset()
        if not self.is_paused:
            self.n_steps = n_steps

    def shown(self) -> tuple[int, int, int]:
        """Return the first step to draw, the number of steps to draw, and that of places."""
        n_places = self._zoomed or self._places()
        n_drawn = min(n_places, self.n_steps)
        newest = self.n_steps - n_drawn
        first = newest if self._first is None else min(max(self._first, 0), newest)
        return first, n_drawn, n_places

    def pause(self, *, is_paused: bool) -> None:
        """Pause, or continue with the newest steps."""
        self.is_paused = is_paused
        if not is_paused:
            self._first = None

    def set_span(self, span: int) -> None:
        """Show the newest `span` steps, or all for 0."""
        self.span = span
        self.reset()

    def reset(self) -> None:
        """Return to the time window."""
        self._zoomed, self._first = 0, None

    def zoom(self, factor: float, at: float = 1.0) -> None:
        """Show `factor` times as many steps around a position: 0 is the left edge, 1 the right."""
        first, n_drawn, n_places = self.shown()
        limit = max(self.n_steps, MIN_STEPS)
        wanted = round(n_places * factor)
        if wanted == n_places:
            wanted += 1 if factor > 1 else -1
        self._zoomed = min(max(wanted, MIN_STEPS), limit)
        if first + n_drawn < self.n_steps or self.is_paused:
            self._first = round(first + (n_places - self._zoomed) * at)

    def move(self, n_steps: int, *, may_move: bool) -> None:
        """Move by `n_steps` if paused, or if the reply has ended (`may_move`)."""
        if self.is_paused or may_move:
            first, n_drawn, _ = self.shown()
            self._first = min(max(first + n_steps, 0), self.n_steps - n_drawn)

    def _places(self) -> int:
        if not self.span:
            return max(self.n_steps, MIN_STEPS)
        # A short reply has half as many places, so that it fills the plot.
        is_short = self.span == USUAL_SPAN and self.n_steps <= self.span // 2
        return self.span // 2 if is_short else self.span


class PlotTools(QWidget):
    """Controls of the plot: emits the user's actions; `SpeedPlot` carries them out."""

    paused = Signal(bool)
    span_chosen = Signal(int)
    """Number of steps; 0 for all"""
    zoom_wanted = Signal(float)
    reset_wanted = Signal()

    def __init__(self, *, may_pause: bool = True, span: int = USUAL_SPAN) -> None:
        super().__init__()
        self.may_pause = may_pause
        self.pause = IconButton("pause", self.tr("Hold the plot"), kind="tiny")
        self.pause.setCheckable(True)
        if not may_pause:
            self.pause.hide()
        self.pause.toggled.connect(self._on_paused)
        self.span = IconButton("", self.tr("Steps that are shown"), kind="tiny")
        self.more = IconButton("more", self.tr("More of this plot"), kind="tiny")
        self.menu = QMenu(self)
        spans = QMenu(self)
        group = QActionGroup(self)
        for steps in (*SPANS, 0):
            text = self.tr("Last {} steps").format(steps) if steps else self.tr("Whole reply")
            action = spans.addAction(text)
            action.setCheckable(True)
            action.setChecked(steps == span)
            action.setData(steps)
            group.addAction(action)
        group.triggered.connect(self._on_span)
        self.spans = group.actions()
        for text, keys, slot in (
            (self.tr("Zoom in"), "+", self._on_zoom_in),
            (self.tr("Zoom out"), "-", self._on_zoom_out),
            (self.tr("Reset the view"), "0", self.reset_wanted),
        ):
            self.menu.addAction(f"{text}\t{keys}").triggered.connect(slot)
        self.menu.addSeparator()
        self.png = self.menu.addAction(self.tr("Export PNG…"))
        self.csv = self.menu.addAction(self.tr("Export CSV…"))
        for button in (self.pause, self.span, self.more):
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        for button, menu in ((self.span, spans), (self.more, self.menu)):
            button.setMenu(menu)
            button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        row_of(self.pause, self.span, self.more, on=self, margins=0, spacing=0)
        self._show_span(span)
        self._show_icons()
        self.set_has_steps(has_steps=False)

    def set_has_steps(self, *, has_steps: bool) -> None:
        """Enable exports only with steps."""
        self.png.setEnabled(has_steps)
        self.csv.setEnabled(has_steps)

    def enterEvent(self, event: QEnterEvent) -> None:
        """Show that the pointer is here."""
        super().enterEvent(event)
        self._show_icons()

    def leaveEvent(self, event: QEvent) -> None:
        """Show that the pointer has left."""
        super().leaveEvent(event)
        self._show_icons()

    def _show_icons(self) -> None:
        tint = "muted" if self.underMouse() else "faint"
        if self.pause.isChecked():
            self.pause.setIcon(look.icon("play", "lookup"))
        else:
            self.pause.setIcon(look.icon("pause", tint))
        self.more.setIcon(look.icon("more", tint))

    def _show_span(self, steps: int) -> None:
        self.span.setText(str(steps) if steps else self.tr("all"))

    @Slot(bool)
    def _on_paused(self, is_paused: bool) -> None:  # noqa: FBT001
        name = self.tr("Go on") if is_paused else self.tr("Hold the plot")
        self.pause.setToolTip(name)
        self.pause.setAccessibleName(name)
        self._show_icons()
        self.paused.emit(is_paused)

    @Slot(QAction)
    def _on_span(self, action: QAction) -> None:
        self._show_span(action.data())
        self.span_chosen.emit(action.data())

    @Slot()
    def _on_zoom_in(self) -> None:
        self.zoom_wanted.emit(ZOOM_IN)

    @Slot()
    def _on_zoom_out(self) -> None:
        self.zoom_wanted.emit(ZOOM_OUT)


HEIGHTS = (92, 76)
"""Heights of bars and line in the panel, in device-independent pixels."""
_BAR_WIDTH = 0.7
_MIN_TOP = 4.0
"""Minimum top of the bars' axis, in tokens."""


class SpeedPlot(Card):
    """Bars and line over the steps of a reply; `PlotRange` decides which steps."""

    def __init__(
        self,
        metrics: StepMetrics,
        sources: Sources,
        *,
        heights: tuple[int, int] = HEIGHTS,
        span: int = USUAL_SPAN,
        is_live: bool = True,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent=parent)
        self.set_title(self.tr("Guesses that were right"))
        self.title.setToolTip(
            self.tr("A bar is a step: the tokens that were guessed, and those that were right")
        )
        self.setAccessibleName(self.tr("Guesses that were right, per step"))
        self._metrics = metrics
        self._sources = sources
        self._named: tuple[str, ...] = ()
        self.plain_tokens_per_s: float | None = None
        """The drawn speed of plain decoding, in tokens per second."""
        self.plain_text = ""
        """The speed of plain decoding in words, where a gain is shown."""
        self._has_ended = not is_live
        self.range = PlotRange(span)
        self.tools = PlotTools(may_pause=is_live, span=span)
        self.header.addWidget(self.tools)
        self.header.setSpacing(4)
        self.bars_canvas, self.line_canvas = (PlotCanvas(height) for height in heights)
        # Painted over each other in this order: all drafted tokens, the accepted ones, the draft
        # model's part.
        self.drafted, self.accepted, self.by_model = (Bars() for _ in range(3))
        self._pointer = PlotCursor(
            bars=self.bars_canvas,
            line=self.line_canvas,
            metrics=metrics,
            sources=sources,
            parent=self,
        )
        for bars in (self.drafted, self.accepted, self.by_model):
            self.bars_canvas.box.addItem(bars)
        self.speed, self.plain = Line(), Line()
        self.line_canvas.box.addItem(self.plain)
        self.line_canvas.box.addItem(self.speed)
        self.legend = text_label("", "legend", wraps=True)
        self.legend.setToolTip(
            self.tr(
                "The colours are those of the chat: words that a draft model guessed are "
                "underlined, those of a lookup dotted; plain words the model wrote alone."
            )
        )
        line_title = styled(YieldingLabel(self.tr("Tokens per second"), keeps=16), role="title")
        # Elided in the middle, since a number ends the text.
        self.plain_words = styled(YieldingLabel(mode=Qt.TextElideMode.ElideMiddle), role="small")
        heading = row_of(line_title, None, self.plain_words)
        lines = column_of(
            _with_axis(self.bars_canvas),
            self.legend,
            6,
            heading,
            _with_axis(self.line_canvas),
            spacing=4,
        )
        self.body.addLayout(lines)
        self._connect()
        self._pen_width = 1.0
        look.follow(self._tint)
        self.refresh(None)

    def _connect(self) -> None:
        self.tools.paused.connect(self._on_paused)
        self.tools.span_chosen.connect(self._on_span)
        self.tools.zoom_wanted.connect(self._on_zoom)
        self.tools.reset_wanted.connect(self._on_reset)
        for canvas in (self.bars_canvas, self.line_canvas):
            canvas.zoomed.connect(self._on_zoom)
            canvas.moved.connect(self._on_moved)
            canvas.reset_wanted.connect(self._on_reset)
            canvas.pause_wanted.connect(self._on_pause_key)
            canvas.menu_wanted.connect(self.tools.menu.popup)

    @Slot()
    def _tint(self) -> None:
        theme = look.theme
        for canvas in (self.bars_canvas, self.line_canvas):
            canvas.tint()
        self.drafted.setOpts(brush=theme.rejected)
        self.accepted.setOpts(brush=theme.lookup)
        self.by_model.setOpts(brush=theme.accent)
        width = self._pen_width
        self.speed.setPen(pg.mkPen(theme.accent, width=width))
        self.plain.setPen(pg.mkPen(theme.muted, width=width, style=Qt.PenStyle.DashLine))
        self._show_legend()

    def refresh(
        self, plain_tokens_per_s: float | None, ending: str = "", plain_text: str = ""
    ) -> None:
        """Draw the present metrics; a hidden plot draws when it is shown.

        Args:
            plain_tokens_per_s: Speed of plain decoding, or None if it is unknown.
            ending: The reply in words, once it has ended; the plot can be moved then.
            plain_text: The speed of plain decoding in words, or empty.
        """
        if self.tools.may_pause:
            self._has_ended = bool(ending)
        self.range.update(self._metrics.n_steps)
        self.tools.pause.setChecked(self.range.is_paused)
        self.tools.set_has_steps(has_steps=self._metrics.n_steps > 0)
        if ending != self.bars_canvas.accessibleDescription():
            self.bars_canvas.setAccessibleDescription(ending)
        self.plain_tokens_per_s, self.plain_text = plain_tokens_per_s, plain_text
        if not self.range.is_paused and (self.isVisible() or not self._metrics.n_steps):
            self._draw()

    def showEvent(self, event: QShowEvent) -> None:
        """Draw the steps that arrived while it was hidden."""
        super().showEvent(event)
        self.range.update(self._metrics.n_steps)
        if not self.range.is_paused:
            self._draw()

    def show_asker(self, asker: str) -> None:
        """Show which program's reply is drawn; empty for the shown chat's."""
        say(self.remark, self.tr("for {}").format(asker) if asker else "")

    def draw(self, plain_tokens_per_s: float | None, plain_text: str) -> None:
        """Draw the present range."""
        self.plain_tokens_per_s, self.plain_text = plain_tokens_per_s, plain_text
        self._draw()

    def twin(self, heights: tuple[int, int], pen_width: float, parent: QWidget) -> SpeedPlot:
        """Return a plot of the same part in another size, without controls; `draw` draws it."""
        twin = SpeedPlot(
            self._metrics, self._sources, heights=heights, is_live=False, parent=parent
        )
        twin.range = self.range
        twin.tools.hide()
        twin._pen_width = pen_width
        twin._tint()
        return twin

    # ------------------------------------------------------------------------------- drawing

    def _draw(self) -> None:
        if tuple(self._metrics.tallies) != self._named:
            self._named = tuple(self._metrics.tallies)
            self._show_legend()
        first, n_drawn, n_places = self.range.shown()
        window = self._metrics.window(n_drawn, first)
        self._draw_bars(window, n_places)
        self._draw_speed(window, n_places)
        self._pointer.show_window(window)
        for canvas in (self.bars_canvas, self.line_canvas):
            canvas.redraw()

    def _show_legend(self) -> None:
        self.legend.setText(legend_html(self._named, self._sources))

    def _draw_bars(self, window: StepWindow, n_places: int) -> None:
        steps, width = window.steps, _BAR_WIDTH * window.per_place
        self.drafted.setOpts(x=steps, height=window.drafted, width=width)
        self.accepted.setOpts(x=steps, height=window.accepted, width=width)
        self.by_model.setOpts(x=steps, height=window.by_model, width=width)
        most = float(window.drafted.max(initial=0))
        note = "" if most else self.tr("no drafts in these steps")
        if not self._metrics.n_steps:
            note = self.tr("one bar for each step of a reply")
        self.bars_canvas.set_note(note)
        self.bars_canvas.set_steps(window.first, n_places, max(_MIN_TOP, most))
        drafted = self._metrics.whole
        self.bars_canvas.setAccessibleName(
            self.tr("{} of {} guesses were right in {} steps").format(
                drafted.tokens_accepted, drafted.tokens, self._metrics.n_steps
            )
        )

    def _draw_speed(self, window: StepWindow, n_places: int) -> None:
        self.speed.setData(window.steps, window.tokens_per_s)
        first, last = window.first - 0.5, window.first + n_places - 0.5
        plain = self.plain_tokens_per_s
        if plain:
            self.plain.setData(np.array([first, last]), np.array([plain, plain]))
            self.plain_words.setText(
                f"- - {self.plain_text}" if self.plain_text else self.tr("- - alone")
            )
        else:
            self.plain.setData(np.empty(0), np.empty(0))
            self.plain_words.setText(self.tr("alone: –"))
        fastest = float(window.tokens_per_s.max(initial=0))
        self.line_canvas.set_steps(window.first, n_places, max(fastest, plain or 0.0, 1.0))
        self.line_canvas.setAccessibleName(
            self.tr("Tokens per second, at most {}").format(speed_text(fastest))
        )

    # ------------------------------------------------------------------------- user actions

    @Slot(bool)
    def _on_paused(self, is_paused: bool) -> None:  # noqa: FBT001
        self.range.pause(is_paused=is_paused)
        badge = self.tr("held at step {}").format(self.range.n_steps) if is_paused else ""
        self.bars_canvas.set_badge(badge)
        self.range.update(self._metrics.n_steps)
        self._draw()

    @Slot()
    def _on_pause_key(self) -> None:
        if self.tools.may_pause:
            self.tools.pause.toggle()

    @Slot(int)
    def _on_span(self, span: int) -> None:
        self.range.set_span(span)
        self._draw()

    @Slot(float)
    @Slot(float, float)
    def _on_zoom(self, factor: float, at: float = 1.0) -> None:
        self.range.zoom(factor, at)
        self._draw()

    @Slot(float)
    def _on_moved(self, n_steps: float) -> None:
        self.range.move(round(n_steps), may_move=self._has_ended)
        self._draw()

    @Slot()
    def _on_reset(self) -> None:
        self.range.reset()
        self._draw()


_PICTURE_PX, _PICTURE_HEIGHTS = 960, (240, 160)


class PlotPicture(QObject):
    """Makes one picture at a time, in stages between which the event loop runs.

    At once it would freeze the window noticeably.
    """

    made = Signal(object)
    """QImage"""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._making = Slices(self)

    def start(self, plot: SpeedPlot) -> None:
        """Begin to draw the part that a plot shows; a picture in progress continues instead."""
        if not self._making.is_busy:
            stages = self._make(plot)
            next(stages)
            self._making.start(stages)

    def _make(self, plot: SpeedPlot) -> Iterator[None]:
        theme, plain, plain_text = look.theme, plot.plain_tokens_per_s, plot.plain_text
        holder = QWidget()  # in a window of its own, the plot could request a size
        holder.setStyleSheet(plot_stylesheet(theme))
        holder.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
        try:
            twin = plot.twin(_PICTURE_HEIGHTS, PNG_SCALE, holder)
            twin.setFixedWidth(_PICTURE_PX)
            holder.show()
            twin.adjustSize()
            twin.draw(plain, plain_text)
            yield
            image = QImage(twin.size() * PNG_SCALE, QImage.Format.Format_RGB32)
            image.setDevicePixelRatio(PNG_SCALE)
            image.fill(QColor(theme.window))
            yield
            twin.render(image, QPoint())
        finally:
            holder.close()
            holder.deleteLater()
        self.made.emit(image)


def _with_axis(canvas: PlotCanvas) -> QHBoxLayout:
    return row_of(canvas.axis, (canvas, 1), spacing=0)
