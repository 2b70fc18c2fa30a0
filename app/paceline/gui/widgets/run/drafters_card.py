"""Who drafted what in a run: a table in llama.cpp's words, and bars by the place in the draft."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QGridLayout, QLabel, QVBoxLayout, QWidget

from paceline.gui.viewmodels.drafter_rows import DrafterFacts, drafter_facts
from paceline.gui.viewmodels.positions import Positions, positions
from paceline.gui.widgets.card import Card
from paceline.gui.widgets.run.position_chart import PositionChart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paceline.gui.theme import Theme
    from paceline.gui.viewmodels.metrics import StepMetrics
    from paceline.gui.viewmodels.sources import Sources
    from paceline.run_record import RunRecord


class DraftersCard(Card):
    """A row and a chart per drafter; hidden where nobody was asked."""

    def __init__(self, sources: Sources, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.set_title(self.tr("Drafters"))
        self._sources, self._theme = sources, theme
        self._facts: tuple[DrafterFacts, ...] = ()
        self._places: dict[str, Positions] = {}
        self.cells: list[list[QLabel]] = []
        self.charts: list[PositionChart] = []
        self._content = QWidget()
        self.body.addWidget(self._content)

    def set_theme(self, theme: Theme) -> None:
        """Use another theme's colours."""
        self._theme = theme
        self._show()

    def show_run(self, record: RunRecord, metrics: StepMetrics) -> None:
        """Show the drafters of a run, whose steps the metrics have."""
        self._facts = drafter_facts(metrics, record.stats, self._sources)
        self._places = positions(record.steps)
        self._show()

    def _show(self) -> None:
        """Build the content anew: it happens once per run, and when the theme changes."""
        self.setVisible(bool(self._facts))
        self._content.hide()
        self.body.removeWidget(self._content)
        self._content.deleteLater()
        self._content = QWidget()
        column = QVBoxLayout(self._content)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addLayout(self._make_table())
        self.charts = []
        shown = [facts for facts in self._facts if facts.drafter_id in self._places]
        if shown:
            title = QLabel(self.tr("Accepted, by the place in the draft"))
            title.setProperty("role", "small")
            column.addSpacing(8)
            column.addWidget(title)
            column.addLayout(self._make_charts(shown))
        self.body.addWidget(self._content)

    def _colour(self, drafter_id: str) -> str:
        is_model = self._sources.kind(drafter_id) == "draft"
        return self._theme.accent if is_model else self._theme.lookup

    def _make_table(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(16)
        names = (
            self.tr("Drafter"), self.tr("Tokens accepted"), self.tr("Rate"),
            self.tr("Drafts accepted"), self.tr("Calls"), self.tr("Time"), self.tr("Per draft"),
        )  # fmt: skip
        for column, name in enumerate(names):
            label = QLabel(name)
            label.setProperty("role", "small")
            grid.addWidget(label, 0, column)
        grid.setColumnStretch(0, 1)
        self.cells = []
        for row, facts in enumerate(self._facts, 1):
            texts = (
                facts.title, facts.tokens, facts.rate, facts.drafts, facts.calls, facts.seconds,
                facts.per_draft,
            )  # fmt: skip
            labels = [QLabel(text or "–") for text in texts]
            labels[0].setText(
                f'<span style="color:{self._colour(facts.drafter_id)}">●</span> {facts.title}'
            )
            labels[0].setAccessibleName(facts.title)
            for column, label in enumerate(labels):
                grid.addWidget(label, row, column)
            self.cells.append(labels)
        return grid

    def _make_charts(self, shown: Sequence[DrafterFacts]) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(24)
        theme = self._theme
        for at, facts in enumerate(shown):
            chart = PositionChart()
            chart.show_places(
                facts.title,
                self._places[facts.drafter_id],
                colour=self._colour(facts.drafter_id),
                ground=theme.hover,
                text=theme.muted,
            )
            title = QLabel(facts.title)
            title.setProperty("role", "small")
            grid.addWidget(chart, at // 2 * 2, at % 2)
            if len(shown) > 1:
                grid.addWidget(title, at // 2 * 2 + 1, at % 2)
            self.charts.append(chart)
        return grid
