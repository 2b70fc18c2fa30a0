"""Pairs that somebody has reported to work: each with its source, and what nobody has checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QWidget

from paceline.catalog.curated import NOT_CHECKED
from paceline.gui.viewmodels.candidates import facts, size_text
from paceline.gui.viewmodels.pair import file_name
from paceline.gui.viewmodels.recommended import (
    PAIR_ROLE,
    Recommendation,
    RecommendedPairs,
    draft_candidate,
    evidence_text,
    target_candidate,
)
from paceline.gui.widgets.card import Card
from paceline.gui.widgets.elided_label import ElidedLabel
from paceline.gui.widgets.picker.model_rows import Badge, RowText
from paceline.gui.widgets.picker.page import Page

if TYPE_CHECKING:
    from PySide6.QtCore import QModelIndex
    from PySide6.QtGui import QIcon

    from paceline.catalog.curated import CuratedPair
    from paceline.gui.theme import Theme
    from paceline.gui.viewmodels.picks import Picks
    from paceline.gui.widgets.picker.model_rows import Index

_LINE_PX = 600


class RecommendedPage(Page):
    """Curated pairs; in the first step a row stands for both models, in the second for a draft."""

    pair_picked = Signal(object, object)
    """Target and draft model, two candidates"""
    repository_wanted = Signal(str)
    """The pair names a repository and no file: ``OWNER/NAME``"""

    def __init__(
        self, model: RecommendedPairs, theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent=parent, name=self.tr("Recommended pairs"), theme=theme)
        self._model = model
        self._picks: Picks | None = None
        self._n_free = 0
        self.intro = QLabel()
        self.intro.setProperty("role", "small")
        self.intro.setWordWrap(True)
        self.bar.addWidget(self.intro, 1)
        self.rows.setModel(model)
        self.column.addWidget(self._make_details())
        self.rows.selectionModel().currentChanged.connect(self._on_current)
        model.modelReset.connect(self._on_reset)
        self._on_reset()

    def _make_details(self) -> Card:
        self.details = Card()
        self.gain = QLabel()
        self.gain.setWordWrap(True)
        self.files = ElidedLabel(_LINE_PX)
        self.files.setProperty("role", "small")
        self.checked = QLabel()
        self.checked.setProperty("role", "small")
        self.source = ElidedLabel(_LINE_PX)
        self.source.setProperty("role", "small")
        self.source_button = QPushButton(self.tr("Open"))
        self.source_button.setProperty("kind", "link")
        self.source_button.setAccessibleName(self.tr("Open the source in the browser"))
        self.source_button.clicked.connect(self._on_source)
        row = QHBoxLayout()
        row.setSpacing(4)
        row.addWidget(self.source)
        row.addWidget(self.source_button)
        row.addStretch(1)
        for widget in (self.gain, self.files, self.checked):
            self.details.body.addWidget(widget)
        self.details.body.addLayout(row)
        return self.details

    def set_external_icon(self, icon: QIcon) -> None:
        """Show an icon on the button that opens the source."""
        self.source_button.setIcon(icon)

    def show_picks(self, picks: Picks, n_free: int) -> None:
        """Show pairs for `n_free` bytes of memory, or the draft models for the chosen target."""
        before, self._picks = self._picks, picks
        is_same = (
            before is not None
            and (before.step, n_free) == (picks.step, self._n_free)
            and (picks.step == 1 or before.target == picks.target)
        )
        self._n_free = n_free
        if is_same:
            self.rows.viewport().update()
            return
        if picks.step == 2 and picks.target is not None:
            self.intro.setText(
                self.tr("Draft models that were reported to work with {}.").format(
                    picks.target.title
                )
            )
            self._model.show_drafts(picks.target)
        else:
            self.intro.setText(
                self.tr("Pairs that were reported to work; what fits this machine comes first.")
            )
            self._model.show_pairs(n_free)

    def row_text(self, index: Index) -> RowText:
        """What a row says."""
        row = index.data(PAIR_ROLE)
        if not isinstance(row, Recommendation):
            return RowText("")
        pair, is_draft = row.pair, self._is_second_step
        draft = file_name(pair.draft_file) if pair.draft_file else pair.draft_repo
        badges = []
        if row.fits is not None:
            fits = Badge(self.tr("fits this machine"), "accent")
            badges.append(fits if row.fits else Badge(self.tr("needs more memory"), "lookup"))
        return RowText(
            title=draft if is_draft else pair.title,
            facts=pair.gain or self.tr("gain {}").format(NOT_CHECKED)
            if is_draft
            else self.tr("drafted by {}").format(draft),
            size=size_text(pair.draft_bytes or 0) if is_draft else "",
            badges=tuple(badges),
            is_picked=self._is_picked(row),
            is_dimmed=row.fits is False,
        )

    def pick(self, index: QModelIndex) -> bool:
        """Take a row: both models in the first step, the draft model in the second."""
        row = index.data(PAIR_ROLE)
        if not isinstance(row, Recommendation):
            return False
        draft, target = draft_candidate(row.pair), target_candidate(row.pair)
        if self._is_second_step:
            if draft is None:
                self.repository_wanted.emit(row.pair.draft_repo)
                return False
            self.picked.emit(draft)
            return True
        if draft is None or target is None:
            missing = row.pair.draft_repo if target is not None else row.pair.target_repo
            self.repository_wanted.emit(missing)
            return False
        self.pair_picked.emit(target, draft)
        return True

    def show_pair(self, pair: CuratedPair) -> None:
        """Go to a pair and take it, where its files are named; nothing is fetched by that."""
        for row in range(self._model.rowCount()):
            index = self._model.index(row, 0)
            if index.data(PAIR_ROLE).pair == pair:
                self.rows.setCurrentIndex(index)
                if pair.target_reference and pair.draft_reference:
                    self.pick(index)
                return

    @property
    def _is_second_step(self) -> bool:
        return self._picks is not None and self._picks.step == 2

    def _is_picked(self, row: Recommendation) -> bool:
        picks = self._picks
        if picks is None or picks.draft is None:
            return False
        is_draft = picks.draft.reference == row.pair.draft_reference
        if picks.step == 2:
            return is_draft
        target = picks.target
        return is_draft and target is not None and target.reference == row.pair.target_reference

    @Slot()
    def _on_reset(self) -> None:
        is_empty = self._model.rowCount() == 0
        self.stack.setCurrentWidget(self.state if is_empty else self.rows)
        self.details.setVisible(not is_empty)
        self.state.show_state(
            self.tr("No draft model is recommended for this target"),
            self.tr("Look among the installed ones, or search on Hugging Face."),
        )
        if not is_empty:
            self.rows.setCurrentIndex(self._model.index(0, 0))
            self._on_current()

    @Slot()
    def _on_current(self) -> None:
        row = self.rows.currentIndex().data(PAIR_ROLE)
        if not isinstance(row, Recommendation):
            return
        pair = row.pair
        self.details.set_title(pair.title)
        self.gain.setText(self.tr("Reported: {}").format(pair.gain or NOT_CHECKED))
        self.files.set_full_text(
            self.tr("Draft model: {}").format(
                facts(pair.draft_repo, pair.draft_file or self.tr("file {}").format(NOT_CHECKED))
            )
        )
        words = {True: self.tr("compared, they agree"), False: self.tr("compared, they differ")}
        checked = NOT_CHECKED
        if pair.vocabulary_checked is not None:
            checked = words[pair.vocabulary_checked]
        self.checked.setText(self.tr("Vocabularies: {}").format(checked))
        self.source.set_full_text(evidence_text(pair))
        self.source_button.setVisible(pair.evidence is not None)

    @Slot()
    def _on_source(self) -> None:
        row = self.rows.currentIndex().data(PAIR_ROLE)
        if isinstance(row, Recommendation) and row.pair.evidence is not None:
            QDesktopServices.openUrl(QUrl(row.pair.evidence.url))
