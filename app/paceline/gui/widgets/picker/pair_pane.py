"""The pair being picked, at the right of the picker: names, verdict, memory, how it is loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from paceline.catalog import words
from paceline.catalog.verdict import Remedy
from paceline.gui.viewmodels.candidates import candidate_facts, facts, size_text
from paceline.gui.viewmodels.pair import model_name
from paceline.gui.widgets.elided_label import ElidedLabel
from paceline.gui.widgets.local_style import panel_stylesheet
from paceline.gui.widgets.picker.load_form import LoadForm
from paceline.gui.widgets.picker.memory_card import MemoryCard
from paceline.gui.widgets.picker.verdict_card import VerdictCard

if TYPE_CHECKING:
    from paceline.catalog.card import ModelCard
    from paceline.catalog.memory_values import MemoryRemedy
    from paceline.gui.icons import Icons
    from paceline.gui.theme import Theme
    from paceline.gui.viewmodels.candidates import Candidate
    from paceline.gui.viewmodels.pair_judgement import Judgement, PairJudgement
    from paceline.messages import EngineDescribed
    from paceline.params import ModelParams

LOOKUPS = "suffix"
_NAME_PX = 400


class _Names(QWidget):
    """Which models these are."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        grid = QGridLayout(self)
        grid.setContentsMargins(2, 0, 2, 0)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(0)
        grid.setColumnStretch(1, 1)
        self.names, self.facts = [], []
        for at, role in enumerate((self.tr("Target"), self.tr("Draft"))):
            label = QLabel(role)
            label.setProperty("role", "muted")
            name = ElidedLabel(_NAME_PX)
            name.setProperty("role", "title")
            fact = ElidedLabel(_NAME_PX)
            fact.setProperty("role", "small")
            for line in (name, fact):
                line.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
            grid.addWidget(label, 3 * at, 0)
            grid.addWidget(name, 3 * at, 1)
            grid.addWidget(fact, 3 * at + 1, 1)
            self.names.append(name)
            self.facts.append(fact)
        grid.setRowMinimumHeight(2, 8)

    def show_model(
        self, at: int, candidate: Candidate | None, card: ModelCard | None, *, is_decided: bool
    ) -> None:
        """Show one of the two by what is known of it."""
        nobody = self.tr("none") if is_decided else self.tr("not chosen yet")
        self.names[at].set_full_text(candidate.title if candidate else nobody)
        known = ""
        if candidate is not None and card is not None:
            size = size_text(candidate.n_bytes)  # the weights alone are a little less
            known = facts(words.weights(card.n_params), card.quantisation, size)
        elif candidate is not None:
            known = facts(candidate_facts(candidate), size_text(candidate.n_bytes))
        self.facts[at].set_full_text(known)
        self.facts[at].setVisible(bool(known))
        whole = candidate.reference if candidate else ""
        self.names[at].setToolTip(whole)
        self.names[at].setAccessibleName(candidate.title if candidate else nobody)


class PairPane(QWidget):
    """Shows a pair of candidates and asks a `PairJudgement` about it."""

    changed = Signal()
    """The models, what is known of them, or how they are loaded"""
    remedy_taken = Signal(object)
    """Remedy"""

    def __init__(
        self, judgement: PairJudgement, theme: Theme, icons: Icons, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setProperty("kind", "page")
        self.judgement = judgement
        self._target: Candidate | None = None
        self._draft: Candidate | None = None
        self._is_decided = False
        self.names = _Names()
        self.verdict = VerdictCard(theme, icons)
        self.memory = MemoryCard(theme)
        self.form = LoadForm()
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(12)
        for part in (self.names, self.verdict, self.memory, self.form):
            column.addWidget(part)
        column.addStretch(1)
        self.setStyleSheet(panel_stylesheet(theme))
        judgement.changed.connect(self._on_judged)
        self.verdict.remedy_taken.connect(self.remedy_taken)
        self.verdict.asked_again.connect(judgement.ask_again)
        self.memory.remedy_chosen.connect(self._on_remedy)
        self.form.changed.connect(self._on_form)
        self._show(judgement.judgement)

    def set_theme(self, theme: Theme) -> None:
        """Use another theme's colours; the icons' theme is set before."""
        self.setStyleSheet(panel_stylesheet(theme))
        self.verdict.set_theme(theme)
        self.memory.set_theme(theme)

    def show_engine(self, description: EngineDescribed) -> None:
        """Know what the models can be put on; the judgement is told by itself."""
        self.form.show_engine(description)

    def show_target(self, candidate: Candidate | None) -> None:
        """Show and judge another target."""
        self._target = candidate
        self._ask()

    def show_draft(self, candidate: Candidate | None, *, is_decided: bool = True) -> None:
        """Show and judge another draft model; None: none, or none yet."""
        self._draft, self._is_decided = candidate, is_decided
        self._ask()

    def show_params(self, target: ModelParams, draft: ModelParams | None) -> None:
        """Show how a pair is loaded, e.g. the loaded one when the picker opens."""
        self.form.show_params(target, draft)
        self._ask()

    def params(self) -> tuple[ModelParams | None, ModelParams | None]:
        """Both models with what the form says; paths may be ``hf:`` references."""
        target, draft = self._target, self._draft
        return (
            self.form.target_params(target.reference) if target else None,
            self.form.draft_params(draft.reference) if draft else None,
        )

    def obstacle(self) -> str:
        """Why this pair cannot be loaded, in one sentence; empty: it can, or nobody knows yet."""
        return self.judgement.judgement.obstacle or self.form.problem

    def _ask(self) -> None:
        self.form.show_models(
            has_target=self._target is not None, has_draft=self._draft is not None
        )
        self.judgement.ask(*self.params())
        self._show(self.judgement.judgement)
        self.changed.emit()

    def _show(self, judgement: Judgement) -> None:
        has_draft, is_decided = self._draft is not None, self._is_decided
        self.names.show_model(0, self._target, judgement.target, is_decided=False)
        self.names.show_model(1, self._draft, judgement.draft, is_decided=is_decided)
        self.verdict.show_judgement(judgement, has_draft=has_draft, is_decided=is_decided)
        # What a refused pair would take is nobody's question.
        self.memory.setVisible(judgement.status == "known" and not judgement.obstacle)
        self.memory.show_plan(judgement.plan, judgement.plan_problem)
        if judgement.status == "known":
            self.form.show_cards(judgement.target, judgement.draft)
        self.form.show_plan(judgement.plan)

    @Slot(object)
    def _on_judged(self, judgement: Judgement) -> None:
        self._show(judgement)
        if judgement.status == "known":  # the trained length may have shortened the context
            self.judgement.ask(*self.params())
        self.changed.emit()

    @Slot()
    def _on_form(self) -> None:
        self.judgement.ask(*self.params())
        self.changed.emit()

    @Slot(object)
    def _on_remedy(self, remedy: MemoryRemedy) -> None:
        """Load the models as the remedy says; other models are the picker's matter."""
        target, draft = self.params()
        draft_now = draft.path if draft else ""
        draft_then = remedy.draft.path if remedy.draft else ""
        self.form.show_params(remedy.target, remedy.draft)
        if draft_then != draft_now or (target and target.path != remedy.target.path):
            name = model_name(draft_then)
            text = self.tr("Take {}.").format(name) if name else self.tr("Use lookups.")
            strategy = "" if draft_then else LOOKUPS
            self.remedy_taken.emit(
                Remedy(text, target=remedy.target.path, draft=draft_then, strategy=strategy)
            )
        self._on_form()
