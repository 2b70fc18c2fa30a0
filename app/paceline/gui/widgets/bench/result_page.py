"""What a benchmark found, also while it runs: a verdict, bars, and the figures as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget

from paceline.gui.scale import GAP, HALF, PAGE, STEP
from paceline.gui.theme import restyle
from paceline.gui.viewmodels.bench_titles import prompt_title
from paceline.gui.widgets.announcer import Announcer
from paceline.gui.widgets.bench.chart import BenchChart
from paceline.gui.widgets.bench.chart_paint import axis_end
from paceline.gui.widgets.bench.progress_strip import ProgressStrip
from paceline.gui.widgets.bench.table import BenchTable
from paceline.gui.widgets.card import Card
from paceline.gui.widgets.fields import Choice
from paceline.gui.widgets.plot_legend import entries_html
from paceline.gui.widgets.soft_breaks import BreakingLabel, with_soft_breaks, without_soft_breaks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paceline.gui.theme import Theme
    from paceline.gui.viewmodels.bench_rows import BenchPanel, Verdict


class ResultPage(QWidget):
    """One panel at a time: all prompts, or one that is chosen."""

    used = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "page")
        self._panels: tuple[BenchPanel, ...] = ()
        self._in_use = ""
        self._announcer = Announcer(self)
        self.strip = ProgressStrip()
        self._verdict = QFrame()
        self._verdict.setProperty("kind", "notice")
        self.sentence = BreakingLabel()
        self.sentence.setProperty("role", "title")
        self.details = BreakingLabel()
        self.details.setProperty("role", "small")
        for label in (self.sentence, self.details):
            label.setTextFormat(Qt.TextFormat.PlainText)
        words = QVBoxLayout(self._verdict)
        words.setContentsMargins(14, STEP + 2, 14, STEP + 2)
        words.setSpacing(HALF)
        words.addWidget(self.sentence)
        words.addWidget(self.details)
        self.scope = Choice()
        self.scope.setMinimumContentsLength(16)
        self.scope.setAccessibleName(self.tr("Prompts that are shown"))
        self.scope.activated.connect(self._on_scope)
        self.chart = BenchChart(theme)
        self.legend = QLabel()
        self.legend.setProperty("role", "legend")
        self.legend.setWordWrap(True)
        bars = Card()
        bars.set_title(self.tr("Speed, compared with plain decoding"))
        bars.header.addWidget(self.scope)
        bars.body.addWidget(self.chart)
        bars.body.addWidget(self.legend)
        self.table = BenchTable(theme)
        self.table.used.connect(self.used)
        figures = Card()
        figures.body.addWidget(self.table)
        self._cards = (bars, figures)
        self.remark = QLabel()
        self.remark.setProperty("role", "small")
        self.remark.setWordWrap(True)
        self.remark.setTextFormat(Qt.TextFormat.PlainText)
        column = QVBoxLayout(self)
        column.setContentsMargins(PAGE, PAGE - STEP, PAGE, PAGE)
        column.setSpacing(GAP)
        for widget in (self.strip, self._verdict, bars, figures, self.remark):
            column.addWidget(widget)
        column.addStretch(1)
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Use another theme's colours, or another size of text."""
        self.chart.set_theme(theme)
        self.table.set_theme(theme)
        drafters = entries_html(
            (
                (theme.accent, self.tr("draft model")),
                (theme.lookup, self.tr("lookups")),
                (theme.line_strong, self.tr("plain decoding")),
            )
        )
        self.legend.setText(
            f"{drafters} &nbsp; {self.tr('The thin line has half of the repeats in it.')}"
        )

    @property
    def panels(self) -> tuple[BenchPanel, ...]:
        """All that can be shown."""
        return self._panels

    @property
    def shown(self) -> BenchPanel | None:
        """The panel that is shown."""
        at = self.scope.currentIndex()
        return self._panels[at] if 0 <= at < len(self._panels) else None

    def show_panels(self, panels: Sequence[BenchPanel], in_use: str) -> None:
        """Show figures; the prompts that are looked at stay."""
        if [panel.title for panel in panels] != [panel.title for panel in self._panels]:
            chosen = self.scope.currentText()
            self.scope.clear()
            names = [prompt_title(panel.title) for panel in panels]
            self.scope.addItems([name or self.tr("All prompts") for name in names])
            self.scope.setCurrentIndex(max(self.scope.findText(chosen), 0))
        self._panels, self._in_use = tuple(panels), in_use
        self.scope.setEnabled(len(panels) > 1)
        self._draw()

    def show_cards(self, *, has_figures: bool) -> None:
        """Show bars and table, or only the verdict where there is nothing for them to show."""
        for card in self._cards:
            card.setVisible(has_figures)

    def show_in_use(self, in_use: str) -> None:
        """Know which strategy the panel has."""
        self._in_use = in_use
        self._draw()

    def show_verdict(self, verdict: Verdict) -> None:
        """Say what the figures mean."""
        self.sentence.setText(with_soft_breaks(verdict.sentence))
        self.details.setText(with_soft_breaks(verdict.details))
        self.details.setVisible(bool(verdict.details))
        self._verdict.setAccessibleName(verdict.sentence)
        self._verdict.setAccessibleDescription(verdict.details)
        tone = "" if verdict.tone == "muted" else verdict.tone
        if self._verdict.property("tone") != tone:
            self._verdict.setProperty("tone", tone)
            restyle(self._verdict)

    def announce(self) -> None:
        """Read the verdict out to those who listen to the screen."""
        self._announcer.finish(without_soft_breaks(self.sentence.text()))

    def show_remark(self, words: str) -> None:
        """Say what it ran on and how long it took."""
        self.remark.setText(words)
        self.remark.setVisible(bool(words))

    @Slot()
    def _on_scope(self) -> None:
        self._draw()

    def _draw(self) -> None:
        panel = self.shown
        if panel is not None:
            self.chart.show_panel(panel, axis_end(list(self._panels)))
            self.table.show_rows(panel.rows, self._in_use)
