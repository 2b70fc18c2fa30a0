"""The live plot: accepted over drafted tokens per step, and the speed against plain decoding.

It is fed by one display timer, not by events. Cheap on purpose: a fixed number of steps, ranges
set by hand, pens of one pixel, no antialiasing, nothing while hidden.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget

from paceline.gui.viewmodels.figures import speed_text
from paceline.gui.widgets.card import Card

if TYPE_CHECKING:
    from paceline.gui.theme import Theme
    from paceline.gui.viewmodels.metrics import StepMetrics, StepWindow

SHOWN_STEPS = 96
_BAR_WIDTH = 0.7


def _plot(height: int) -> pg.PlotWidget:
    plot = pg.PlotWidget()
    plot.setFixedHeight(height)
    plot.setFrameShape(QFrame.Shape.NoFrame)
    plot.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    plot.setAntialiasing(False)
    plot.setMenuEnabled(False)
    plot.setMouseEnabled(False, False)
    plot.hideButtons()
    item = plot.getPlotItem()
    item.hideAxis("left")
    item.hideAxis("bottom")
    item.setContentsMargins(0, 0, 0, 0)
    item.disableAutoRange()
    # The plot would take the panel's wheel.
    plot.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
    return plot


def _bars() -> pg.BarGraphItem:
    return pg.BarGraphItem(x=[], height=[], width=_BAR_WIDTH, pen=None)


class SpeedPlot(Card):
    """Bars and line over the last `SHOWN_STEPS` steps of one reply."""

    def __init__(self, metrics: StepMetrics, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.set_title(self.tr("Accepted of drafted, per step"))
        self._metrics = metrics
        self._bars_plot = _plot(92)
        self._line_plot = _plot(64)
        # Overlaid from behind: all that was drafted, what was accepted, the draft model's part.
        self.drafted, self.accepted, self.by_model = _bars(), _bars(), _bars()
        for bars in (self.drafted, self.accepted, self.by_model):
            self._bars_plot.addItem(bars)
        self.speed = pg.PlotCurveItem(antialias=False)
        self.plain = pg.PlotCurveItem(antialias=False)
        self._line_plot.addItem(self.plain)
        self._line_plot.addItem(self.speed)
        self._legend = QLabel()
        self._legend.setProperty("role", "small")
        line_title = QLabel(self.tr("Tokens per second"))
        line_title.setProperty("role", "title")
        self._plain_label = QLabel()
        self._plain_label.setProperty("role", "small")
        self._plain_label.setAlignment(Qt.AlignmentFlag.AlignRight)
        lines = QVBoxLayout()
        lines.setSpacing(4)
        lines.addWidget(self._bars_plot)
        lines.addWidget(self._legend)
        lines.addSpacing(6)
        lines.addWidget(line_title)
        lines.addWidget(self._line_plot)
        lines.addWidget(self._plain_label)
        self.body.addLayout(lines)
        self.set_theme(theme)
        self.refresh(None)

    def set_theme(self, theme: Theme) -> None:
        """Use another theme's colours."""
        for plot in (self._bars_plot, self._line_plot):
            plot.setBackground(theme.surface)
        self.drafted.setOpts(brush=theme.rejected)
        self.accepted.setOpts(brush=theme.lookup)
        self.by_model.setOpts(brush=theme.accent)
        self.speed.setPen(pg.mkPen(theme.accent, width=1))
        self.plain.setPen(pg.mkPen(theme.muted, width=1, style=Qt.PenStyle.DashLine))
        self._legend.setText(
            " &nbsp; ".join(
                f'<span style="color:{colour}">■</span>&nbsp;{text.replace(" ", "&nbsp;")}'
                for colour, text in (
                    (theme.accent, self.tr("draft model")),
                    (theme.lookup, self.tr("lookup")),
                    (theme.rejected, self.tr("rejected")),
                )
            )
        )

    def refresh(self, plain_tokens_per_s: float | None) -> None:
        """Draw what the metrics hold now; does nothing while hidden."""
        if not self.isVisible() and self._metrics.n_steps:
            return
        window = self._metrics.window(SHOWN_STEPS)
        steps = np.arange(window.first, window.first + len(window.drafted), dtype=float)
        self._draw_bars(window, steps)
        self._draw_speed(window, steps, plain_tokens_per_s)

    def _draw_bars(self, window: StepWindow, steps: np.ndarray) -> None:
        self.drafted.setOpts(x=steps, height=window.drafted)
        self.accepted.setOpts(x=steps, height=window.accepted)
        self.by_model.setOpts(x=steps, height=window.by_model)
        top = max(4.0, float(window.drafted.max(initial=0)))
        self._set_range(self._bars_plot, window.first, top * 1.02)
        self._bars_plot.setAccessibleName(
            self.tr("{} of {} drafted tokens accepted in {} steps").format(
                self._metrics.n_accepted, self._metrics.n_drafted, self._metrics.n_steps
            )
        )

    def _draw_speed(self, window: StepWindow, steps: np.ndarray, plain: float | None) -> None:
        self.speed.setData(steps, window.tokens_per_s)
        first, last = window.first - 0.5, window.first + SHOWN_STEPS - 0.5
        if plain:
            self.plain.setData(np.array([first, last]), np.array([plain, plain]))
            self._plain_label.setText(self.tr("plain estimate {}").format(speed_text(plain)))
        else:
            self.plain.setData(np.empty(0), np.empty(0))
            self._plain_label.setText(self.tr("no plain steps measured yet"))
        top = max(float(window.tokens_per_s.max(initial=0)), plain or 0.0, 1.0)
        self._set_range(self._line_plot, window.first, top * 1.12)

    @staticmethod
    def _set_range(plot: pg.PlotWidget, first: int, top: float) -> None:
        plot.getPlotItem().getViewBox().setRange(
            xRange=(first - 0.5, first + SHOWN_STEPS - 0.5),
            yRange=(0, top),
            padding=0,
            disableAutoRange=True,
        )
