"""The live plot: accepted over drafted tokens per step, and the speed against plain decoding.

It is fed by one display timer, not by events. Cheap on purpose: a bounded number of bars, ranges
set by hand, pens of one pixel, no antialiasing, nothing while hidden, nothing while it holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from paceline.gui.viewmodels.figures import speed_text
from paceline.gui.viewmodels.plot_range import USUAL_SPAN, PlotRange
from paceline.gui.widgets.card import Card
from paceline.gui.widgets.plot_canvas import PlotCanvas
from paceline.gui.widgets.plot_cursor import PlotCursor
from paceline.gui.widgets.plot_legend import legend_html
from paceline.gui.widgets.plot_tools import PlotTools
from paceline.gui.widgets.yielding import YieldingLabel

if TYPE_CHECKING:
    from paceline.gui.icons import Icons
    from paceline.gui.theme import Theme
    from paceline.gui.viewmodels.metrics import StepMetrics, StepWindow
    from paceline.gui.viewmodels.sources import Sources

HEIGHTS = (92, 64)
"""Of bars and line in the panel, in device-independent pixels."""
_BAR_WIDTH = 0.7
_ROOM_ABOVE_BARS, _ROOM_ABOVE_LINE = 1.2, 1.34
"""The scale is written above what is drawn."""


class _Bars(pg.BarGraphItem):  # type: ignore[misc]  # it is not typed
    """Bars without outlines, which need no room around them: asking for it costs the most."""

    def __init__(self) -> None:
        super().__init__(x=[], height=[], width=_BAR_WIDTH, pen=None)

    def pixelPadding(self) -> float:
        return 0.0


class _Line(pg.PlotCurveItem):  # type: ignore[misc]
    """A thin line in a view that is painted as a whole."""

    def __init__(self) -> None:
        super().__init__(antialias=False)

    def pixelPadding(self) -> float:
        return 0.0


class SpeedPlot(Card):
    """Bars and line over the steps of one reply; see `PlotRange` for which of them."""

    png_wanted = Signal()
    csv_wanted = Signal()

    def __init__(
        self,
        metrics: StepMetrics,
        sources: Sources,
        theme: Theme,
        *,
        heights: tuple[int, int] = HEIGHTS,
        span: int = USUAL_SPAN,
        is_live: bool = True,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.set_title(self.tr("Accepted of drafted"), self.tr("per step"))
        self.setAccessibleName(self.tr("Accepted of drafted, per step"))
        self._metrics = metrics
        self._sources = sources
        self._theme = theme
        self._named: tuple[str, ...] = ()
        self._icons: Icons | None = None
        self._plain: float | None = None
        self._has_ended = not is_live
        self.range = PlotRange(span)
        self.tools = PlotTools(may_pause=is_live, span=span)
        self.header.addWidget(self.tools)
        self.header.setSpacing(4)
        self.bars_canvas, self.line_canvas = (PlotCanvas(height) for height in heights)
        # Overlaid from behind: what is pointed at, all that was drafted, what was accepted, the
        # draft model's part.
        self.marker, self.drafted, self.accepted, self.by_model = (_Bars() for _ in range(4))
        self._pointer = PlotCursor(
            bars=self.bars_canvas,
            line=self.line_canvas,
            marker=self.marker,
            metrics=metrics,
            sources=sources,
            parent=self,
        )
        for bars in (self.marker, self.drafted, self.accepted, self.by_model):
            self.bars_canvas.box.addItem(bars)
        self.speed, self.plain = _Line(), _Line()
        self.line_canvas.box.addItem(self.plain)
        self.line_canvas.box.addItem(self.speed)
        self._legend = QLabel()
        self._legend.setProperty("role", "legend")
        self._legend.setWordWrap(True)
        line_title = YieldingLabel(self.tr("Tokens per second"), keeps=16)
        line_title.setProperty("role", "title")
        self._plain_label = YieldingLabel(mode=Qt.TextElideMode.ElideMiddle)  # a number ends it
        self._plain_label.setProperty("role", "small")
        heading = QHBoxLayout()
        heading.addWidget(line_title)
        heading.addStretch(1)
        heading.addWidget(self._plain_label)
        lines = QVBoxLayout()
        lines.setSpacing(4)
        lines.addWidget(self.bars_canvas)
        lines.addWidget(self._legend)
        lines.addSpacing(6)
        lines.addLayout(heading)
        lines.addWidget(self.line_canvas)
        self.body.addLayout(lines)
        self._connect()
        self.set_theme(theme)
        self.refresh(None)

    def _connect(self) -> None:
        self.tools.paused.connect(self._on_paused)
        self.tools.span_chosen.connect(self._on_span)
        self.tools.zoom_wanted.connect(self._on_zoom)
        self.tools.reset_wanted.connect(self._on_reset)
        self.tools.png_wanted.connect(self.png_wanted)
        self.tools.csv_wanted.connect(self.csv_wanted)
        for canvas in (self.bars_canvas, self.line_canvas):
            canvas.zoomed.connect(self._on_zoom)
            canvas.moved.connect(self._on_moved)
            canvas.reset_wanted.connect(self._on_reset)
            canvas.pause_wanted.connect(self._on_pause_key)
            canvas.menu_wanted.connect(self.tools.open_menu)

    @property
    def bars_range(self) -> tuple[list[float], list[float]]:
        """What the bars' axes show; x from, to; y from, to."""
        x_range, y_range = self.bars_canvas.box.viewRange()
        return list(x_range), list(y_range)

    @property
    def scales(self) -> tuple[str, str]:
        """What the corners of both plots say."""
        return self.bars_canvas.scale_label.text(), self.line_canvas.scale_label.text()

    @property
    def plain_text(self) -> str:
        """What is said about plain decoding."""
        return self._plain_label.text()

    @property
    def legend(self) -> str:
        """What the colours of the bars mean, as rich text."""
        return self._legend.text()

    def set_theme(self, theme: Theme) -> None:
        """Use another theme's colours."""
        self._theme = theme
        for canvas in (self.bars_canvas, self.line_canvas):
            canvas.setBackground(theme.surface)
            canvas.fit_words()
        self.marker.setOpts(brush=theme.pressed)
        self.drafted.setOpts(brush=theme.rejected)
        self.accepted.setOpts(brush=theme.lookup)
        self.by_model.setOpts(brush=theme.accent)
        self.speed.setPen(pg.mkPen(theme.accent, width=1))
        self.plain.setPen(pg.mkPen(theme.muted, width=1, style=Qt.PenStyle.DashLine))
        self._show_legend()
        if self._icons is not None:
            self.tools.set_icons(self._icons, theme)

    def set_icons(self, icons: Icons) -> None:
        """Take the icons for the controls, in the colours of the theme in force."""
        self._icons = icons
        self.tools.set_icons(icons, self._theme)

    def refresh(self, plain_tokens_per_s: float | None, ending: str = "") -> None:
        """Draw what the metrics hold now; does nothing while hidden.

        Args:
            plain_tokens_per_s: Speed without speculation, if anybody knows it.
            ending: The reply in words, once it has ended; it can be moved along then.
        """
        if not self.isVisible() and self._metrics.n_steps:
            return
        if self.tools.may_pause:
            self._has_ended = bool(ending)
        self.range.update(self._metrics.n_steps)
        self.tools.set_paused(is_paused=self.range.is_paused)
        self.tools.set_has_steps(has_steps=self._metrics.n_steps > 0)
        if ending != self.bars_canvas.accessibleDescription():
            self.bars_canvas.setAccessibleDescription(ending)
        self._plain = plain_tokens_per_s
        if not self.range.is_paused:
            self._draw()

    def draw(self, plain_tokens_per_s: float | None) -> None:
        """Draw, wherever the range is."""
        self._plain = plain_tokens_per_s
        self._draw()

    def twin(self, heights: tuple[int, int], pen_width: float, parent: QWidget) -> SpeedPlot:
        """A plot of the same part in another size, without controls; `draw` draws it."""
        twin = SpeedPlot(
            self._metrics, self._sources, self._theme, heights=heights, is_live=False, parent=parent
        )
        twin.range = self.range
        twin.tools.hide()
        accent, muted = QColor(self._theme.accent), QColor(self._theme.muted)
        twin.speed.setPen(pg.mkPen(accent, width=pen_width))
        twin.plain.setPen(pg.mkPen(muted, width=pen_width, style=Qt.PenStyle.DashLine))
        return twin

    @property
    def theme(self) -> Theme:
        """The colours in force."""
        return self._theme

    @property
    def plain_tokens_per_s(self) -> float | None:
        """The plain estimate that is drawn."""
        return self._plain

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
        self._legend.setText(legend_html(self._named, self._sources, self._theme))

    def _draw_bars(self, window: StepWindow, n_places: int) -> None:
        steps, width = window.steps, _BAR_WIDTH * window.per_place
        self.drafted.setOpts(x=steps, height=window.drafted, width=width)
        self.accepted.setOpts(x=steps, height=window.accepted, width=width)
        self.by_model.setOpts(x=steps, height=window.by_model, width=width)
        most = float(window.drafted.max(initial=0))
        top = max(4.0, most)
        has_steps = self._metrics.n_steps > 0
        self.bars_canvas.set_note("" if has_steps else self.tr("one bar for each step of a reply"))
        if most:
            self.bars_canvas.set_scale(self.tr("max {:.0f} drafted").format(most))
        else:
            is_empty = len(window.drafted) == 0
            self.bars_canvas.set_scale("" if is_empty else self.tr("no drafts in these steps"))
        self.bars_canvas.set_steps(window.first, n_places, top * _ROOM_ABOVE_BARS)
        self.bars_canvas.setAccessibleName(
            self.tr("{} of {} drafted tokens accepted in {} steps").format(
                self._metrics.n_accepted, self._metrics.n_drafted, self._metrics.n_steps
            )
        )

    def _draw_speed(self, window: StepWindow, n_places: int) -> None:
        self.speed.setData(window.steps, window.tokens_per_s)
        first, last = window.first - 0.5, window.first + n_places - 0.5
        plain = self._plain
        if plain:
            self.plain.setData(np.array([first, last]), np.array([plain, plain]))
            self._plain_label.setText(self.tr("- - plain estimate {}").format(speed_text(plain)))
        else:
            self.plain.setData(np.empty(0), np.empty(0))
            self._plain_label.setText(self.tr("plain not measured yet"))
        fastest = float(window.tokens_per_s.max(initial=0))
        words = self.tr("max {}").format(speed_text(fastest)) if fastest else ""
        self.line_canvas.set_scale(words)
        top = max(fastest, plain or 0.0, 1.0)
        self.line_canvas.set_steps(window.first, n_places, top * _ROOM_ABOVE_LINE)
        self.line_canvas.setAccessibleName(
            self.tr("Tokens per second, at most {}").format(speed_text(fastest))
        )

    # ------------------------------------------------------------------------ what users do

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
            self.tools.set_paused(is_paused=not self.range.is_paused)

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
