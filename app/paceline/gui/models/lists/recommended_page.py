"""The page of curated pairs: each with what its source says of it.

What is not known of a pair has no line. Its speed on this machine is not: nothing that was measured
with one model says how fast another one is.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QUrl, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QPushButton, QWidget

from paceline.catalog.judge.curated import CuratedPair
from paceline.gui.kit.card import Card
from paceline.gui.kit.labels import ElidedLabel, say, text_label
from paceline.gui.kit.layouts import fill, row_of, styled
from paceline.gui.kit.sentences import said
from paceline.gui.look.current import look
from paceline.gui.models.candidates import Candidate, facts
from paceline.gui.models.lists.offers import Offer, recommended_drafts, recommended_pairs
from paceline.gui.models.lists.page import Instead, Page

_LINE_PX = 600


class PairDetails(Card):
    """The facts about a pair, with their sources."""

    def __init__(self) -> None:
        super().__init__()
        self._url = ""
        self.gain = text_label("", "", wraps=True)
        self.files = styled(ElidedLabel(_LINE_PX), role="small")
        self.needs = text_label(wraps=True)
        self.checked = text_label(wraps=True)
        self.source = styled(ElidedLabel(_LINE_PX), role="small")
        self.source_button = styled(QPushButton(self.tr("Open")), kind="link")
        self.source_button.setIcon(look.icon("external"))
        self.source_button.setAccessibleName(self.tr("Open the source in the browser"))
        self.source_button.clicked.connect(self._on_source)
        row = row_of(self.source, self.source_button, None, spacing=4)
        fill(self.body, self.gain, self.needs, self.files, self.checked, row)

    def show_pair(self, pair: CuratedPair) -> None:
        """Show what is known of this one."""
        self.set_title(said(pair.title))
        gain = said(str(pair.gain or ""))
        say(self.gain, self.tr("Reported: {}").format(gain) if gain else "")
        self.needs.setText(self.tr("For {}").format(said(pair.needs)))
        draft = facts(pair.draft_repo, pair.draft_file or "")
        self.files.setText(self.tr("Drafter: {}").format(said(pair.drafter) or draft))
        words = {True: self.tr("compared, they agree"), False: self.tr("compared, they differ")}
        checked = words[pair.vocabulary_checked] if pair.vocabulary_checked is not None else ""
        is_said = bool(checked) and not pair.drafter
        say(self.checked, self.tr("Vocabularies: {}").format(checked) if is_said else "")
        evidence = pair.evidence
        self._url, day = (evidence.url, evidence.date or "") if evidence is not None else ("", "")
        source = facts(self.tr("Source: {}").format(self._url), day) if evidence is not None else ""
        self.source.setText(source)
        self.source_button.setVisible(bool(self._url))

    @Slot()
    def _on_source(self) -> None:
        QDesktopServices.openUrl(QUrl(self._url))


class RecommendedPage(Page):
    """Curated pairs; in the first step a row picks both models, in the second a draft model."""

    def __init__(self, pairs: Sequence[CuratedPair]) -> None:
        super().__init__(name=self.tr("Recommended pairs"))
        self._pairs = pairs
        self.intro = text_label(wraps=True)
        self.bar.addWidget(self.intro, 1)
        self.details = PairDetails()
        self.column.addWidget(self.details)
        self.rows.selectionModel().currentChanged.connect(self._on_current)
        self.refresh()

    @property
    def _drafts_for(self) -> Candidate | None:
        """The target that draft models are shown for; None: pairs are shown."""
        return self.picks.target if self.picks.step != 1 else None

    def offers(self) -> list[Offer]:
        """Return pairs for the free memory, or the draft models for the chosen target."""
        if (target := self._drafts_for) is not None:
            return recommended_drafts(self._pairs, target)
        return recommended_pairs(self._pairs, self.n_free, has_gpu=self.has_gpu)

    def instead(self) -> Instead | None:
        """Return that nothing is recommended for a target."""
        if self.rows.offers.rows:
            return None
        return Instead(
            self.tr("No draft model is recommended for this target"),
            self.tr("Look among the installed ones, or search on Hugging Face."),
        )

    def follow(self, *, was_in_front: QWidget | None) -> None:
        """Show what the rows are, and what is known of one of them."""
        del was_in_front
        words = self.tr("Pairs that were reported to work; what fits the memory comes first.")
        if (target := self._drafts_for) is not None:
            words = self.tr("Draft models that were reported to work with {}.").format(target.title)
        self.intro.setText(words)
        self.details.setVisible(bool(self.rows.offers.rows))
        if not self.rows.currentIndex().isValid():
            self.rows.show_row(0)
        self._on_current()  # of another target the same row can be about another pair

    def show_pair(self, pair: CuratedPair) -> None:
        """Go to a pair and pick it, where its files are named; nothing is fetched by that."""
        for at, offer in enumerate(self.rows.offers.rows):
            if offer.origin == pair:
                self.rows.show_row(at)
                if offer.role == "pair":
                    self.picked.emit(offer)
                return

    @Slot()
    def _on_current(self) -> None:
        offer = self.rows.current
        if offer is not None and isinstance(offer.origin, CuratedPair):
            self.details.show_pair(offer.origin)
