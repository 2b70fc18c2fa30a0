"""The dialog of a benchmark that was made elsewhere: what it found, and what it was made with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QVBoxLayout, QWidget

from paceline.gui.bench import words
from paceline.gui.bench.dialog import SIZE
from paceline.gui.bench.result_page import ResultPage, show_report
from paceline.gui.kit.card import FactsCard
from paceline.gui.kit.dialogs import closing_row, scrolling
from paceline.gui.look.scale import GAP, PAGE, scaled
from paceline.gui.look.style import BENCH
from paceline.gui.state.figures import model_rows

if TYPE_CHECKING:
    from paceline.bench.runs import Report
    from paceline.gui.kit.card import Row


class PassportDialog(QDialog):
    """One report above the facts about models and machine.

    Args:
        report: What was measured.
        chosen: The strategy that the panel has.
        parent: What the dialog stands over.
    """

    def __init__(self, report: Report, chosen: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Passport of {}").format(report.conditions.target.file))
        self.setObjectName(BENCH)
        self.results = ResultPage()
        self.results.strip.hide()
        self.cards = tuple(self._cards(report))
        page = QWidget()
        page.setProperty("kind", "page")
        facts = QVBoxLayout()
        facts.setContentsMargins(PAGE, 0, PAGE, PAGE)
        facts.setSpacing(GAP)
        for card in self.cards:
            facts.addWidget(card)
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.results)
        column.addLayout(facts)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(scrolling(page, self.tr("Passport")), 1)
        whole.addWidget(closing_row(self))
        self.resize(scaled(SIZE).boundedTo(self.screen().availableSize()))
        show_report(self.results, report, chosen, ending=words.measured_text(report))

    def _cards(self, report: Report) -> list[FactsCard]:
        made = report.conditions
        facts: list[tuple[str, tuple[Row, ...]]] = [
            (title, (*model_rows(model), *([("SHA-256", model.sha256)] if model.sha256 else ())))
            for title, model in (
                (self.tr("Target"), made.target),
                (self.tr("Draft model"), made.draft),
            )
            if model is not None
        ]
        facts += [
            (self.tr("Machine"), words.machine_rows(made)),
            (self.tr("What a step takes"), words.cost_rows(made)),
            (self.tr("Accepted of all drafted tokens"), words.acceptance_rows(report)),
        ]
        cards = []
        for title, rows in facts:
            card = FactsCard(title)
            card.show_rows(rows)
            cards.append(card)
        return cards
