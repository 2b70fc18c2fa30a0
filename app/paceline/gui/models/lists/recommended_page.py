"""The page of curated pairs: each with what its source says of it.

What is not known of a pair has no line. Its speed on this machine is not: nothing that was measured
with one model says how fast another one is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QModelIndex, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QPushButton

from paceline.catalog.judge.curated import CuratedPair
from paceline.gui.kit.card import Card
from paceline.gui.kit.labels import ElidedLabel, say, text_label
from paceline.gui.kit.layouts import row_of, styled
from paceline.gui.kit.rows import ROW, Index, Rows
from paceline.gui.kit.sentences import said
from paceline.gui.kit.translation import known_size, translator
from paceline.gui.look.current import look
from paceline.gui.models.candidates import Candidate, Picks, facts, spoken
from paceline.gui.models.lists.page import Badge, Page, RowText
from paceline.gui.state.pair import file_name

_tr = translator("RecommendedPairs")


@dataclass(frozen=True, slots=True)
class Recommendation:
    """A pair, and whether this machine can hold its target.

    Attributes:
        pair: As it is curated.
        fits: None: the target's size or the memory is not known.
        lacks_gpu: Whether it is for a GPU, and there is none here.
    """

    pair: CuratedPair
    fits: bool | None
    lacks_gpu: bool = False


class RecommendedPairs(Rows[Recommendation]):
    """Pairs to load come first, of these what fits; within that the order of the list."""

    def __init__(self, pairs: Sequence[CuratedPair]) -> None:
        super().__init__()
        self._pairs = tuple(pairs)

    def show_pairs(self, n_free: int, *, has_gpu: bool) -> None:
        """Show all pairs; `n_free` bytes of memory are free, 0: not known."""
        rows = [
            Recommendation(
                pair,
                fits := _fits(pair, n_free),
                lacks_gpu=fits is True and pair.machine == "gpu" and not has_gpu,
            )
            for pair in self._pairs
        ]
        self.set_rows(
            sorted(rows, key=lambda r: (not r.pair.is_usable, r.fits is False, r.lacks_gpu))
        )

    def show_drafts(self, target: Candidate) -> None:
        """Show the draft models for a target, each once, or that it needs none."""
        known = f"{target.title} {target.repo}", target.architecture, target.n_params
        drafts = {
            pair.draft_reference or pair.draft_repo: pair
            for pair in reversed(self._pairs)
            if pair.kind != "dflash" and pair.is_for(*known)
        }
        self.set_rows(Recommendation(pair, None) for pair in reversed(drafts.values()))

    def title(self, row: Recommendation) -> str:
        """Name the pair."""
        return said(row.pair.title)

    def spoken(self, row: Recommendation) -> str:
        """Say who drafts, and whether it suits this machine."""
        pair = row.pair
        drafted = self.tr("drafted by {}").format(pair.draft_file or pair.draft_repo)
        return spoken(self.title(row), said(pair.drafter) or drafted, fit_text(row))


def fit_text(row: Recommendation) -> str:
    """Return whether a pair suits this machine; empty: that is not known."""
    if row.lacks_gpu:
        return _tr("for a GPU")
    return {True: _tr("fits the memory"), False: _tr("needs more memory"), None: ""}[row.fits]


def has_head_inside(pair: CuratedPair) -> bool:
    """Whether the target's file holds what drafts for it."""
    return pair.kind == "mtp" and not pair.draft_repo


def target_candidate(pair: CuratedPair) -> Candidate | None:
    """Return the target to fetch; None: the pair names no file."""
    if pair.target_file is None:
        return None
    found = _candidate(pair.target_reference, pair.target_repo, pair.target_file, 0)
    return replace(found, has_head=has_head_inside(pair))


def draft_candidate(pair: CuratedPair) -> Candidate | None:
    """Return the draft model or head to fetch; None: the pair names no file, or has none."""
    if pair.draft_file is None or not pair.is_usable:
        return None
    found = _candidate(
        pair.draft_reference, pair.draft_repo, pair.draft_file, pair.draft_bytes or 0
    )
    return replace(found, is_head=pair.kind == "mtp")


def evidence_text(pair: CuratedPair) -> str:
    """Return where a pair was reported, and when, as one line; empty: it is not known."""
    if pair.evidence is None:
        return ""
    return facts(_tr("Source: {}").format(pair.evidence.url), pair.evidence.date or "")


def _candidate(reference: str, repo: str, file: str, n_bytes: int) -> Candidate:
    return Candidate(
        reference=reference,
        title=file_name(file),
        subtitle=repo,
        n_bytes=n_bytes,
        is_here=False,
        files=(file,),
        repo=repo,
    )


def _fits(pair: CuratedPair, n_free: int) -> bool | None:
    if not n_free or pair.least_memory is None or not pair.is_usable:
        return None
    return pair.least_memory <= n_free


_LINE_PX = 600


class RecommendedPage(Page):
    """Curated pairs; in the first step a row picks both models, in the second a draft model."""

    pair_picked = Signal(object, object)
    """Target and draft model or head, two candidates; None: the target's own head"""
    repository_wanted = Signal(str)
    """The pair names a repository and no file: ``OWNER/NAME``"""

    def __init__(self, model: RecommendedPairs) -> None:
        super().__init__(name=self.tr("Recommended pairs"))
        self._model = model
        self._shown: tuple[object, ...] = ()
        self.intro = text_label(wraps=True)
        self.bar.addWidget(self.intro, 1)
        self.rows.setModel(model)
        self.column.addWidget(self._make_details())
        self.rows.selectionModel().currentChanged.connect(self._on_current)
        model.modelReset.connect(self._on_reset)
        self._on_reset()

    def _make_details(self) -> Card:
        self.details = Card()
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
        for widget in (self.gain, self.needs, self.files, self.checked):
            self.details.body.addWidget(widget)
        self.details.body.addLayout(row)
        return self.details

    def show_picks(self, picks: Picks, n_free: int, *, has_gpu: bool) -> None:
        """Show pairs for `n_free` bytes of memory, or the draft models for the chosen target."""
        self.picks, before = picks, self._shown
        self._shown = picks.step, n_free, has_gpu, picks.target if picks.step == 2 else None
        if self._shown == before:
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
                self.tr("Pairs that were reported to work; what fits the memory comes first.")
            )
            self._model.show_pairs(n_free, has_gpu=has_gpu)

    def row_text(self, index: Index) -> RowText:
        """What a row says."""
        row: Recommendation = index.data(ROW)
        pair, is_draft = row.pair, self.picks.step == 2
        draft = file_name(pair.draft_file) if pair.draft_file else pair.draft_repo
        is_praised = row.fits and not row.lacks_gpu
        fits = Badge(fit_text(row), "accent" if is_praised else "lookup")
        gain = said(str(pair.gain or ""))
        if is_draft:
            size = known_size(pair.draft_bytes or 0)
            title = self.tr("No draft model") if pair.kind == "lookup" else draft
            title = self.tr("MTP head inside") if has_head_inside(pair) else title
            return RowText(title, gain, size, is_picked=self._is_picked(row))
        return RowText(
            title=self._model.title(row),
            facts=said(pair.drafter) or self.tr("drafted by {}").format(draft),
            badges=(fits,) if fits.text else (),
            # What is no pair to load leads to its files, if anywhere.
            is_picked=self._is_picked(row) if pair.is_usable else None,
            is_dimmed=row.fits is False or pair.kind == "dflash",
        )

    def pick(self, index: QModelIndex) -> bool:
        """Take a row: both models in the first step, the draft model in the second."""
        row: Recommendation = index.data(ROW)
        pair = row.pair
        draft, target = draft_candidate(pair), target_candidate(pair)
        if pair.kind == "lookup":
            if self.picks.step == 2:
                self.picked.emit(None)
            return self.picks.step == 2
        if self.picks.step == 2 and has_head_inside(pair):
            self.head_picked.emit()
            return True
        if self.picks.step == 2:
            if draft is None:
                self.repository_wanted.emit(pair.draft_repo)
                return False
            self.picked.emit(draft)
            return True
        if target is None or (draft is None and not has_head_inside(pair)):
            is_draft = target is not None and pair.is_usable
            self.repository_wanted.emit(pair.draft_repo if is_draft else pair.target_repo)
            return False
        self.pair_picked.emit(target, draft)
        return True

    def show_pair(self, pair: CuratedPair) -> None:
        """Go to a pair and take it, where its files are named; nothing is fetched by that."""
        for row in range(self._model.rowCount()):
            index = self._model.index(row, 0)
            if index.data(ROW).pair == pair:
                self.rows.setCurrentIndex(index)
                if pair.target_reference and (pair.draft_reference or has_head_inside(pair)):
                    self.pick(index)
                return

    def _is_picked(self, row: Recommendation) -> bool:
        picks = self.picks
        if row.pair.kind == "lookup":
            return picks.step == 2 and picks.does_without
        target = picks.target
        if has_head_inside(row.pair) and target is not None:
            is_target = picks.step == 2 or target.reference == row.pair.target_reference
            return is_target and picks.drafts_itself
        if picks.draft is None:
            return False
        is_draft = picks.draft.reference == row.pair.draft_reference
        if picks.step == 2:
            return is_draft
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
        row = self.rows.currentIndex().data(ROW)
        if not isinstance(row, Recommendation):
            return
        pair = row.pair
        self.details.set_title(self._model.title(row))
        gain = said(str(pair.gain or ""))
        say(self.gain, self.tr("Reported: {}").format(gain) if gain else "")
        self.needs.setText(self.tr("For {}").format(said(pair.needs)))
        draft = facts(pair.draft_repo, pair.draft_file or "")
        self.files.setText(self.tr("Drafter: {}").format(said(pair.drafter) or draft))
        words = {True: self.tr("compared, they agree"), False: self.tr("compared, they differ")}
        checked = words[pair.vocabulary_checked] if pair.vocabulary_checked is not None else ""
        is_said = bool(checked) and not pair.drafter
        say(self.checked, self.tr("Vocabularies: {}").format(checked) if is_said else "")
        self.source.setText(evidence_text(pair))
        self.source_button.setVisible(pair.evidence is not None)

    @Slot()
    def _on_source(self) -> None:
        row = self.rows.currentIndex().data(ROW)
        if isinstance(row, Recommendation) and row.pair.evidence is not None:
            QDesktopServices.openUrl(QUrl(row.pair.evidence.url))
