"""The pair being picked, at the right of the picker: names, verdict, memory, settings of the load.

The verdict is given in words, followed by its reasons, the expected speed, and replacements.
"""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QSizePolicy, QWidget

from paceline.catalog.card import ModelCard
from paceline.catalog.judge.pairing import Remedy
from paceline.catalog.judge.speed import Speeds, expected, measured_speeds, work_of, work_of_head
from paceline.catalog.memory.values import MemoryRemedy
from paceline.chat.pair import Pair, PairState
from paceline.gui.kit.labels import ElidedLabel, text_label
from paceline.gui.kit.layouts import (
    column_of,
    grid_of,
    styled,
)
from paceline.gui.kit.sentences import said
from paceline.gui.kit.translation import known_size, local_weights
from paceline.gui.look.style import PICKER_PANE
from paceline.gui.models.candidates import Candidate, Picks, candidate_facts, facts
from paceline.gui.models.picker.load_form import LoadForm
from paceline.gui.models.picker.memory_card import MemoryCard
from paceline.gui.models.picker.pair_judgement import Judgement, PairJudgement
from paceline.gui.models.picker.verdict_card import VerdictCard
from paceline.gui.state.pair import model_name
from paceline.messages import Reading
from paceline.params import OWN_HEAD, Drafting, DraftModel, TargetHead, params_of

LOOKUPS = "suffix"
_NAME_PX = 400


class _Names(QWidget):
    """Names of the two models."""

    def __init__(self) -> None:
        super().__init__()
        grid = grid_of(on=self, margins=(2, 0, 2, 0), across=12, down=0, stretches=(1,))
        self.names, self.facts = [], []
        for at, role in enumerate((self.tr("Model"), self.tr("Draft"))):
            label = text_label(role, "muted")
            name = styled(ElidedLabel(_NAME_PX), role="title")
            fact = styled(ElidedLabel(_NAME_PX), role="small")
            for line in (name, fact):
                line.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
            grid.addWidget(label, 3 * at, 0)
            grid.addWidget(name, 3 * at, 1)
            grid.addWidget(fact, 3 * at + 1, 1)
            self.names.append(name)
            self.facts.append(fact)
        grid.setRowMinimumHeight(2, 8)

    def show_model(
        self, at: int, candidate: Candidate | None, card: ModelCard | None, nothing: str
    ) -> None:
        """Show the facts about one of the two, or words in its place."""
        self.names[at].setText(candidate.title if candidate else nothing)
        known = ""
        if candidate is not None and card is not None:
            # The weights alone are slightly smaller; for a file in no list only they are known.
            size = known_size(candidate.n_bytes or card.n_bytes)
            known = facts(local_weights(card.n_params), card.quantisation, size)
        elif candidate is not None:
            known = facts(candidate_facts(candidate), known_size(candidate.n_bytes))
        self.facts[at].setText(known or "\u00a0")  # keeps the height of the line
        whole = candidate.reference if candidate else ""
        self.names[at].setToolTip(whole)
        self.names[at].setAccessibleName(candidate.title if candidate else nothing)


class PairPane(QWidget):
    """View of a pair of candidates that asks a `PairJudgement` about it."""

    changed = Signal()
    """The models, the knowledge about them, or their settings have changed."""
    remedy_taken = Signal(object)
    """Remedy"""

    def __init__(self, judgement: PairJudgement) -> None:
        super().__init__()
        self._reading: Reading | None = None
        self._loaded = PairState()
        self.setObjectName(PICKER_PANE)
        self.setProperty("kind", "page")
        self.judgement = judgement
        self.picks = Picks()
        """The shown picks."""
        self.names = _Names()
        self.verdict = VerdictCard()
        self.memory = MemoryCard()
        self.form = LoadForm()
        column_of(
            self.names, self.verdict, self.memory, self.form, None, on=self, margins=16, spacing=12
        )
        judgement.changed.connect(self._on_judged)
        self.verdict.remedy_taken.connect(self.remedy_taken)
        self.verdict.asked_again.connect(judgement.ask_again)
        self.memory.remedy_chosen.connect(self._on_remedy)
        self.form.changed.connect(self._on_form)
        self._show(judgement.judgement)

    def show_picks(self, picks: Picks) -> None:
        """Show and judge the picks."""
        before, self.picks = self.picks.target, picks
        now = picks.target
        if before is not None and now is not None and before.reference != now.reference:
            self.form.lookup_cache.show_path("")  # it belongs to the other model's vocabulary
        self._ask()

    def show_pair(self, pair: Pair) -> None:
        """Show how a pair is loaded, e.g. the loaded one when the picker opens."""
        self.form.show_pair(pair)
        self._ask()

    @Slot(object)
    def show_loaded(self, state: PairState) -> None:
        """Set the loaded pair, to compare its plan with its real use."""
        self._loaded = state
        self._show(self.judgement.judgement)

    def show_reading(self, reading: Reading | None) -> None:
        """Set the speed at which this machine reads weights; None if it is unknown."""
        if reading != self._reading:
            self._reading = reading
            self._show(self.judgement.judgement)

    def pair(self) -> Pair | None:
        """Return the models with the form's settings; paths may be ``hf:``.

        None without a target.
        """
        picks = self.picks
        if picks.target is None:
            return None
        form, draft = self.form, picks.draft
        drafting: Drafting = OWN_HEAD if picks.uses_head else None
        if draft is not None:
            drafting = DraftModel(form.draft_params(draft.reference))
            if draft.is_head:
                drafting = TargetHead(draft.head, draft.reference)
        target = form.target_params(picks.target.reference)
        return Pair(target, drafting, form.lookup_cache.path, form.exact.isChecked())

    @property
    def _has_draft_model(self) -> bool:
        return self.picks.draft is not None and not self.picks.draft.is_head

    def obstacle(self) -> str:
        """Return why this pair cannot be loaded, or empty if it can or that is unknown."""
        return said(self.judgement.judgement.obstacle) or self.form.problem

    @property
    def is_looking(self) -> bool:
        """Return whether models or memory are still being examined."""
        judgement = self.judgement.judgement
        is_planned = judgement.plan is not None or bool(judgement.plan_problem)
        return judgement.status == "looking" or (judgement.status == "known" and not is_planned)

    def _ask(self) -> None:
        has_target = self.picks.target is not None
        self.form.show_models(has_target=has_target, has_draft=self._has_draft_model)
        self.judgement.ask(self.pair())
        self._show(self.judgement.judgement)
        self.changed.emit()

    def _show(self, judgement: Judgement) -> None:
        picks = self.picks
        has_draft = picks.draft is not None
        drafts_itself = not has_draft and judgement.verdict is not None
        own = self.tr("MTP head inside") if drafts_itself else self.tr("none")
        self.names.show_model(0, picks.target, judgement.target, self.tr("not chosen yet"))
        self.names.show_model(1, picks.draft, judgement.draft, own)
        speeds = self._speeds(judgement)
        self.verdict.show_judgement(judgement, has_draft=has_draft, speeds=speeds)
        # The memory of a refused pair is of no interest.
        plan = judgement.plan if not judgement.obstacle else None
        is_looking = judgement.status in ("looking", "known") and not judgement.obstacle
        is_loaded = self._loaded.status == "ready" and self._loaded.pair == self.pair()
        self.memory.show_found(self._loaded.memory if is_loaded else ())
        self.memory.show_plan(plan, judgement.plan_problem, is_looking=is_looking)
        if judgement.status in ("known", "nothing"):
            draft = judgement.draft if self._has_draft_model else None
            self.form.show_cards(judgement.target, draft)
        self.form.show_plan(plan)

    def _speeds(self, judgement: Judgement) -> Speeds | None:
        """Return the measured speed of the pair or, without one, that expected by its headers."""
        if judgement.measured is not None:
            return measured_speeds(judgement.measured)
        if judgement.target is None or not judgement.target.n_bytes:
            return None
        draft = judgement.draft
        if draft is None:
            work = None
        else:
            work = work_of(draft) if self._has_draft_model else work_of_head(draft.n_bytes)
        return expected(work_of(judgement.target), self._reading, work)

    @Slot(object)
    def _on_judged(self, judgement: Judgement) -> None:
        self._show(judgement)
        if judgement.status == "known":  # the trained length may have shortened the context
            self.judgement.ask(self.pair())
        self.changed.emit()

    @Slot()
    def _on_form(self) -> None:
        self.judgement.ask(self.pair())
        self.changed.emit()

    @Slot(object)
    def _on_remedy(self, remedy: MemoryRemedy) -> None:
        """Load the models by a remedy; the picker handles remedies with other models."""
        pair = self.pair()
        draft_now = pair.draft.path if pair and pair.draft else ""
        if pair is None:
            return
        draft = params_of(remedy.drafting)
        draft_then = draft.path if draft else ""
        self.form.show_pair(replace(pair, target=remedy.target, drafting=remedy.drafting))
        is_other = draft_then != draft_now or remedy.saving == "no-head"
        if is_other or pair.target.path != remedy.target.path:
            name = model_name(draft_then)
            text = self.tr("Take {}.").format(name) if name else self.tr("Use lookups.")
            strategy = "" if draft_then else LOOKUPS
            self.remedy_taken.emit(
                Remedy(text, target=remedy.target.path, draft=draft_then, strategy=strategy)
            )
        self._on_form()
