"""The live plot: accepted over drafted tokens per step, and the speed against plain decoding.

It is fed by one display timer, not by events. Cheap on purpose: a fixed number of steps, ranges
set by hand, pens of one pixel, no antialiasing, nothing while hidden.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from paceline.gui.viewmodels.figures import speed_text
from paceline.gui.widgets.card import Card

if TYPE_CHECKING:
    from paceline.gui.theme import Theme
    from paceline.gui.viewmodels.metrics import StepMetrics, StepWindow
    from paceline.gui.viewmodels.sources import Sources

SHOWN_STEPS = 80
FEW_STEPS = 40
"""A short reply fills half as many places, so that it fills the plot."""
_BAR_WIDTH = 0.7
_ROOM_ABOVE_BARS, _ROOM_ABOVE_LINE = 1.2, 1.34
"""The scale is written above what is drawn."""


class _Plot:
    """A view with one box for curves: no axes, no menu, no mouse.

    A `PlotWidget` would bring menus that outlive it.
    """

    def __init__(self, height: int) -> None:
        self.view = pg.GraphicsView()
        self.view.setFixedHeight(height)
        self.view.setFrameShape(QFrame.Shape.NoFrame)
        self.view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.view.setAntialiasing(False)
        # The plot would take the panel's wheel.
        self.view.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.box = pg.ViewBox(enableMenu=False, enableMouse=False)
        self.box.disableAutoRange()
        self.view.setCentralItem(self.box)
        self.scale = QLabel(self.view)
        self.scale.setProperty("role", "scale")
        self.scale.move(2, 0)

    def set_scale(self, words: str) -> None:
        """Say in the corner how high the plot is."""
        self.scale.setText(words)
        self.scale.adjustSize()

    def set_range(self, first: int, n_places: int, top: float) -> None:
        """Show `n_places` steps from `first` on, and values from 0 to `top`."""
        x_range = (first - 0.5, first + n_places - 0.5)
        self.box.setRange(xRange=x_range, yRange=(0, top), padding=0, disableAutoRange=True)


def _bars() -> pg.BarGraphItem:
    return pg.BarGraphItem(x=[], height=[], width=_BAR_WIDTH, pen=None)


class SpeedPlot(Card):
    """Bars and line over the last `SHOWN_STEPS` steps of one reply."""

    def __init__(
        self,
        metrics: StepMetrics,
        sources: Sources,
        theme: Theme,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.set_title(self.tr("Accepted of drafted, per step"))
        self._metrics = metrics
        self._sources = sources
        self._named: tuple[str, ...] = ()
        self._places = FEW_STEPS
        self._bars_plot = _Plot(92)
        self._line_plot = _Plot(64)
        # Overlaid from behind: all that was drafted, what was accepted, the draft model's part.
        self.drafted, self.accepted, self.by_model = _bars(), _bars(), _bars()
        for bars in (self.drafted, self.accepted, self.by_model):
            self._bars_plot.box.addItem(bars)
        self.speed = pg.PlotCurveItem(antialias=False)
        self.plain = pg.PlotCurveItem(antialias=False)
        self._line_plot.box.addItem(self.plain)
        self._line_plot.box.addItem(self.speed)
        self._legend = QLabel()
        self._legend.setProperty("role", "legend")
        self._legend.setWordWrap(True)
        line_title = QLabel(self.tr("Tokens per second"))
        line_title.setProperty("role", "title")
        self._plain_label = QLabel()
        self._plain_label.setProperty("role", "small")
        heading = QHBoxLayout()
        heading.addWidget(line_title)
        heading.addStretch(1)
        heading.addWidget(self._plain_label)
        lines = QVBoxLayout()
        lines.setSpacing(4)
        lines.addWidget(self._bars_plot.view)
        lines.addWidget(self._legend)
        lines.addSpacing(6)
        lines.addLayout(heading)
        lines.addWidget(self._line_plot.view)
        self.body.addLayout(lines)
        self.set_theme(theme)
        self.refresh(None)

    @property
    def bars_range(self) -> tuple[list[float], list[float]]:
        """What the bars' axes show: x from, to; y from, to."""
        x_range, y_range = self._bars_plot.box.viewRange()
        return list(x_range), list(y_range)

    @property
    def scales(self) -> tuple[str, str]:
        """What the corners of both plots say."""
        return self._bars_plot.scale.text(), self._line_plot.scale.text()

    @property
    def plain_text(self) -> str:
        """What is said about plain decoding."""
        return self._plain_label.text()

    def set_theme(self, theme: Theme) -> None:
        """Use another theme's colours."""
        for plot in (self._bars_plot, self._line_plot):
            plot.view.setBackground(theme.surface)
        self.drafted.setOpts(brush=theme.rejected)
        self.accepted.setOpts(brush=theme.lookup)
        self.by_model.setOpts(brush=theme.accent)
        self.speed.setPen(pg.mkPen(theme.accent, width=1))
        self.plain.setPen(pg.mkPen(theme.muted, width=1, style=Qt.PenStyle.DashLine))
        self._theme = theme
        self._show_legend()

    def refresh(self, plain_tokens_per_s: float | None) -> None:
        """Draw what the metrics hold now; does nothing while hidden."""
        if not self.isVisible() and self._metrics.n_steps:
            return
        if tuple(self._metrics.tallies) != self._named:
            self._named = tuple(self._metrics.tallies)
            self._show_legend()
        window = self._metrics.window(SHOWN_STEPS)
        self._places = FEW_STEPS if self._metrics.n_steps <= FEW_STEPS else SHOWN_STEPS
        steps = np.arange(window.first, window.first + len(window.drafted), dtype=float)
        self._draw_bars(window, steps)
        self._draw_speed(window, steps, plain_tokens_per_s)

    @property
    def legend(self) -> str:
        """What the colours of the bars mean, as rich text."""
        return self._legend.text()

    def _show_legend(self) -> None:
        """Name the drafters of the reply beside their colours, or the kinds that there are."""
        names: dict[str, list[str]] = {"draft": [], "lookup": []}
        for drafter_id in self._named:
            names[self._sources.kind(drafter_id)].append(self._sources.title(drafter_id))
        if not self._named:
            names = {"draft": [self.tr("draft model")], "lookup": [self.tr("lookup")]}
        elif len(names["lookup"]) > 1:
            # One colour has one entry; the card of the drafters tells them apart.
            names["lookup"] = [self.tr("lookups")]
        theme = self._theme
        entries = (
            *((theme.accent, name) for name in names["draft"]),
            *((theme.lookup, name) for name in names["lookup"]),
            (theme.rejected, self.tr("rejected")),
        )
        self._legend.setText(
            " &nbsp; ".join(
                f'<span style="color:{colour}">■</span>&nbsp;{escape(text).replace(" ", "&nbsp;")}'
                for colour, text in entries
            )
        )

    def _draw_bars(self, window: StepWindow, steps: np.ndarray) -> None:
        self.drafted.setOpts(x=steps, height=window.drafted)
        self.accepted.setOpts(x=steps, height=window.accepted)
        self.by_model.setOpts(x=steps, height=window.by_model)
        most = float(window.drafted.max(initial=0))
        top = max(4.0, most)
        if most:
            self._bars_plot.set_scale(self.tr("max {:.0f} drafted").format(most))
        else:
            is_empty = len(window.drafted) == 0
            self._bars_plot.set_scale("" if is_empty else self.tr("no drafts in these steps"))
        self._bars_plot.set_range(window.first, self._places, top * _ROOM_ABOVE_BARS)
        self._bars_plot.view.setAccessibleName(
            self.tr("{} of {} drafted tokens accepted in {} steps").format(
                self._metrics.n_accepted, self._metrics.n_drafted, self._metrics.n_steps
            )
        )

    def _draw_speed(self, window: StepWindow, steps: np.ndarray, plain: float | None) -> None:
        self.speed.setData(steps, window.tokens_per_s)
        first, last = window.first - 0.5, window.first + self._places - 0.5
        if plain:
            self.plain.setData(np.array([first, last]), np.array([plain, plain]))
            self._plain_label.setText(self.tr("- - plain estimate {}").format(speed_text(plain)))
        else:
            self.plain.setData(np.empty(0), np.empty(0))
            self._plain_label.setText(self.tr("plain not measured yet"))
        fastest = float(window.tokens_per_s.max(initial=0))
        self._line_plot.set_scale(self.tr("max {}").format(speed_text(fastest)) if fastest else "")
        top = max(fastest, plain or 0.0, 1.0)
        self._line_plot.set_range(window.first, self._places, top * _ROOM_ABOVE_LINE)
