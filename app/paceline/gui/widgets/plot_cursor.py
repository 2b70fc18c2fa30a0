"""The bar that is pointed at, by the mouse or by keys: marked, and told to eyes and ears."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QToolTip

from paceline.gui.viewmodels.plot_words import place_words, step_words

if TYPE_CHECKING:
    import pyqtgraph as pg

    from paceline.gui.viewmodels.metrics import StepMetrics, StepWindow
    from paceline.gui.viewmodels.sources import Sources
    from paceline.gui.widgets.plot_canvas import PlotCanvas


class PlotCursor(QObject):
    """Stays on its step while the plot moves on, until pointer and keyboard leave."""

    def __init__(
        self,
        *,
        bars: PlotCanvas,
        line: PlotCanvas,
        marker: pg.BarGraphItem,
        metrics: StepMetrics,
        sources: Sources,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._bars, self._line, self._marker = bars, line, marker
        self._metrics, self._sources = metrics, sources
        self._window: StepWindow = metrics.window(0)
        self._step: int | None = None
        for canvas in (bars, line):
            canvas.pointed.connect(self._on_pointed)
            canvas.stepped.connect(self._on_stepped)
            canvas.left.connect(self._on_left)

    def show_window(self, window: StepWindow) -> None:
        """Other steps are drawn now."""
        self._window = window
        self._mark()

    def _place(self) -> int | None:
        """Which place of the window it is at; None: it is not in the window."""
        if self._step is None:
            return None
        place = (self._step - self._window.first) // self._window.per_place
        return place if 0 <= place < len(self._window.drafted) else None

    def _mark(self) -> None:
        place, window = self._place(), self._window
        if place is None:
            if len(self._marker.opts["x"]):
                self._marker.setOpts(x=[], height=[])
                self._bars.redraw()
            return
        top = self._bars.box.viewRange()[1][1]
        self._marker.setOpts(x=[window.steps[place]], height=[top], width=float(window.per_place))
        self._bars.redraw()

    def _tell(self) -> None:
        place, window = self._place(), self._window
        if place is None:
            QToolTip.hideText()
            return
        facts = self._metrics.facts(window.first + place)
        if window.per_place > 1 or facts is None:
            words = place_words(window, place)
        else:
            words = step_words(facts, self._sources)
        is_at_line = self._line.hasFocus() or self._line.underMouse()
        canvas = self._line if is_at_line else self._bars
        QToolTip.showText(canvas.place_of(float(window.steps[place])), words, canvas)
        if canvas.hasFocus():
            canvas.setAccessibleDescription(words.replace("\n", ", "))

    @Slot(float)
    def _on_pointed(self, step: float) -> None:
        if round(step) != self._step:
            self._step = round(step)
            self._mark()
            self._tell()

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
        self._tell()

    @Slot()
    def _on_left(self) -> None:
        self._step = None
        QToolTip.hideText()
        self._mark()
