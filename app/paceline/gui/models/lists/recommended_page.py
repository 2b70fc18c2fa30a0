"""The page of curated pairs: each row opens with the words of its source."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QUrl, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QPushButton, QWidget

from paceline.catalog.judge.curated import CuratedPair
from paceline.gui.kit.labels import text_label
from paceline.gui.kit.layouts import row_of, styled
from paceline.gui.look.current import look
from paceline.gui.models.candidates import Candidate
from paceline.gui.models.lists.offers import Offer, recommended_drafts, recommended_pairs
from paceline.gui.models.lists.page import Instead, Page


class RecommendedPage(Page):
    """Curated pairs; in the first step a row picks both models, in the second a draft model."""

    def __init__(self, pairs: Sequence[CuratedPair]) -> None:
        super().__init__(name=self.tr("Recommended pairs"), opens=True)
        self._pairs = pairs
        self.intro = text_label(wraps=True)
        self.bar.addWidget(self.intro, 1)
        self.source_button = styled(QPushButton(self.tr("Open the source")), kind="link")
        self.source_button.setIcon(look.icon("external"))
        self.source_button.setAccessibleName(self.tr("Open the source in the browser"))
        self.source_button.clicked.connect(self._on_source)
        self.column.addLayout(row_of(self.source_button, None))
        self.rows.selectionModel().currentChanged.connect(self._on_current)
        self.refresh()

    @property
    def _drafts_for(self) -> Candidate | None:
        """The target whose draft models are shown, or None while pairs are shown."""
        return self.picks.target if self.picks.step != 1 else None

    def offers(self) -> list[Offer]:
        """Return pairs for the free memory, or the draft models for the chosen target."""
        if (target := self._drafts_for) is not None:
            return recommended_drafts(self._pairs, target)
        return recommended_pairs(self._pairs, self.machine)

    def instead(self) -> Instead | None:
        """Return that nothing is recommended for a target."""
        if self.rows.offers.rows:
            return None
        return Instead(
            self.tr("No draft model is recommended for this model"),
            self.tr("Look among the installed ones, or search on Hugging Face."),
        )

    def follow(self, *, was_in_front: QWidget | None) -> None:
        """Show what the rows are."""
        del was_in_front
        words = self.tr("Pairs that were reported to work; what suits this machine comes first.")
        if (target := self._drafts_for) is not None:
            words = self.tr("Draft models that were reported to work with {}.").format(target.title)
        self.intro.setText(words)
        self._on_current()

    def show_pair(self, pair: CuratedPair) -> None:
        """Go to a pair and pick it if its files are named; nothing is downloaded by that."""
        for at, offer in enumerate(self.rows.offers.rows):
            if offer.origin == pair:
                self.rows.show_row(at)
                self.picked.emit(offer)
                return

    @property
    def _source(self) -> str:
        """Address of the report on the open row, or empty."""
        pair = self.rows.current.origin if self.rows.current is not None else None
        if isinstance(pair, CuratedPair) and pair.evidence is not None:
            return pair.evidence.url
        return ""

    @Slot()
    def _on_current(self) -> None:
        self.source_button.setEnabled(bool(self._source))

    @Slot()
    def _on_source(self) -> None:
        QDesktopServices.openUrl(QUrl(self._source))
