"""The drafters of a reply: a table in llama.cpp's words, and bars by position in the draft."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import accumulate, chain, repeat

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from paceline.gui.kit.card import Card
from paceline.gui.kit.labels import text_label
from paceline.gui.kit.layouts import column_of, grid_of
from paceline.gui.look.current import look
from paceline.gui.plot.bars import Bar, BarChart, BarStyle
from paceline.gui.state.figures import DrafterRow, drafter_rows, percent_text
from paceline.gui.state.metrics import StepMetrics
from paceline.gui.state.sources import Sources
from paceline.messages import DraftCount, StepCommitted
from paceline.run_record import RunRecord

_PLACES = BarStyle(height=96, axis=16, widest=36, width=160, gaps=(4, 1), narrow=14)
_MAX_NUMBERED_PLACES = 16
"""Number of positions up to which every bar has its number below it."""
_MAX_SPOKEN_PLACES = 8
"""Number of positions that a screen reader reads."""


def judged_by_place(steps: Iterable[StepCommitted]) -> dict[str, list[int]]:
    """Return the number of judged tokens by the drafter's id and the position in the draft.

    Tokens after the reply's end are not judged; drafters without judged tokens are left out.
    """
    changes: dict[str, list[int]] = {}  # changes of the number from one position to the next
    for step in steps:
        firsts: dict[str, int] = {}
        for trace in step.tokens:
            if trace.position >= 0:
                firsts.setdefault(trace.source, trace.position)
        begin = 0
        for count in sorted(step.drafted, key=lambda count: _order(count, firsts)):
            n_judged = count.n_drafted - count.n_discarded
            if n_judged > 0:
                numbers = changes.setdefault(count.drafter, [])
                numbers.extend([0] * (begin + n_judged + 1 - len(numbers)))
                numbers[begin] += 1
                numbers[begin + n_judged] -= 1
            begin += count.n_drafted
    return {name: list(accumulate(numbers[:-1])) for name, numbers in changes.items()}


def _order(count: DraftCount, firsts: dict[str, int]) -> tuple[bool, int]:
    return count.drafter not in firsts, firsts.get(count.drafter, 0)


class DraftersCard(Card):
    """A row and a chart per drafter; hidden where no drafter was called."""

    def __init__(self, sources: Sources, parent: QWidget | None) -> None:
        super().__init__(parent=parent)
        self.set_title(self.tr("Drafters"))
        self._sources = sources
        self._facts: tuple[DrafterRow, ...] = ()
        self.judged: dict[str, list[int]] = {}
        self.cells: list[list[QLabel]] = []
        self.charts: list[BarChart] = []
        self._content = QWidget()
        self.body.addWidget(self._content)
        look.follow(self._tint)

    def show_run(self, record: RunRecord, metrics: StepMetrics) -> None:
        """Show the drafters of a run; `metrics` contains its steps."""
        self._facts = drafter_rows(metrics, record.stats, self._sources)
        self.judged = judged_by_place(record.last_part)
        self.setVisible(bool(self._facts))
        self._content.hide()
        self.body.removeWidget(self._content)
        self._content.deleteLater()
        self._content = QWidget()
        column = column_of(self._make_table(), on=self._content, margins=0, spacing=6)
        self.charts = []
        shown = [facts for facts in self._facts if facts.drafter_id in self.judged]
        if shown:
            column.addSpacing(8)
            column.addWidget(
                text_label(self.tr("Guesses that were right, by their place in the draft"))
            )
            column.addLayout(self._make_charts(shown))
        self.body.addWidget(self._content)

    def _colour(self, drafter_id: str) -> str:
        """Return the name of a drafter's colour in the theme."""
        return "accent" if self._sources.kind(drafter_id) == "draft" else "lookup"

    @Slot()
    def _tint(self) -> None:
        for facts, labels in zip(self._facts, self.cells, strict=True):
            colour = getattr(look.theme, self._colour(facts.drafter_id))
            labels[0].setText(f'<span style="color:{colour}">●</span> {escape(facts.title)}')

    def _make_table(self) -> QGridLayout:
        grid = grid_of(across=16, stretches=(0,))
        names = (
            self.tr("Drafter"), self.tr("Guesses that were right"), self.tr("Rate"),
            self.tr("Drafts with a right guess"), self.tr("Calls"), self.tr("Time"),
            self.tr("Per draft"),
        )  # fmt: skip
        for column, name in enumerate(names):
            grid.addWidget(text_label(name), 0, column)
        self.cells = []
        for row, facts in enumerate(self._facts, 1):
            texts = (
                facts.title, facts.tokens, facts.rate, facts.drafts, facts.calls, facts.seconds,
                facts.per_draft,
            )  # fmt: skip
            labels = [QLabel(text or "–") for text in texts]
            labels[0].setAccessibleName(facts.title)
            for column, label in enumerate(labels):
                grid.addWidget(label, row, column)
            self.cells.append(labels)
        self._tint()
        return grid

    def _make_charts(self, shown: Sequence[DrafterRow]) -> QGridLayout:
        grid = grid_of(across=24)
        for at, facts in enumerate(shown):
            chart = self._chart(facts)
            grid.addWidget(chart, at // 2 * 2, at % 2)
            if len(shown) > 1:
                title = text_label(facts.title, plain=True)
                grid.addWidget(title, at // 2 * 2 + 1, at % 2)
            self.charts.append(chart)
        return grid

    def _chart(self, facts: DrafterRow) -> BarChart:
        """Return a chart in which a full bar means that every judged token was accepted."""
        judged = self.judged[facts.drafter_id]
        every = 1 if len(judged) <= _MAX_NUMBERED_PLACES else 4
        bars = [
            Bar(
                accepted / n if n else 0.0,
                "" if at % every else str(at + 1),
                self.tr("place {}: {} of {} ({})").format(
                    at + 1, accepted, n, percent_text(accepted / n) if n else "–"
                ),
            )
            for at, (n, accepted) in enumerate(
                zip(judged, chain(facts.per_position, repeat(0)), strict=False)
            )
        ]
        chart = BarChart(_PLACES)
        chart.show_bars(bars, self._colour(facts.drafter_id))
        listed = ", ".join(bar.words for bar in bars[:_MAX_SPOKEN_PLACES])
        chart.setAccessibleName(
            self.tr("{}, right by the place in the draft: {}").format(facts.title, listed)
        )
        return chart
