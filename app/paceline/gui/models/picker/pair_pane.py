"""The pair being picked, at the right of the picker: names, verdict, memory, how it is loaded.

Whether two models go together is told in words, then why, what to expect, and what to take instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from paceline.catalog.card import ModelCard
from paceline.catalog.judge.pairing import Remedy
from paceline.catalog.memory.values import MemoryRemedy
from paceline.chat.pair import Pair
from paceline.gui.kit.card import Card
from paceline.gui.kit.labels import ElidedLabel, text_label, with_soft_breaks
from paceline.gui.kit.layouts import (
    IconLabel,
    Refits,
    as_many,
    column_of,
    fill,
    grid_of,
    row_of,
    set_look,
    styled,
)
from paceline.gui.kit.sentences import said
from paceline.gui.kit.translation import known_size, local_weights
from paceline.gui.look.current import look
from paceline.gui.look.style import PICKER_PANE
from paceline.gui.models.candidates import Candidate, Picks, candidate_facts, facts
from paceline.gui.models.picker.load_form import LoadForm
from paceline.gui.models.picker.memory_card import MemoryCard
from paceline.gui.models.picker.pair_judgement import Judgement, PairJudgement
from paceline.gui.state.pair import model_name
from paceline.params import OWN_HEAD, Drafting, DraftModel, TargetHead, params_of

_AROUND_PX = 64
"""What stands beside the text of the button: its own margins and those of the card."""


class _Line(QWidget):
    """A sign and a sentence beside it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.sign = IconLabel(QIcon())
        self.sign.setContentsMargins(0, 1, 0, 1)  # stands in the middle of a line
        self.text = text_label("", "", wraps=True, plain=True)
        row_of(
            (self.sign, 0, Qt.AlignmentFlag.AlignTop),
            (self.text, 1),
            on=self,
            margins=0,
            spacing=8,
        )

    def show_line(self, icon: QIcon, text: str, level: str) -> None:
        """Show this; `level` is said to those who do not see the sign."""
        self.sign.show_icon(icon)
        self.text.setText(with_soft_breaks(text))
        self.text.setAccessibleName(f"{level}: {text}" if level else text)


class VerdictCard(Refits, Card):
    """Shows a `Judgement`, all but its plan."""

    remedy_taken = Signal(object)
    """Remedy"""
    asked_again = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._is_decided = self._has_draft = False
        self._remedy: Remedy | None = None
        self._offer = ""
        self.pill = text_label("", "pill")
        self.header.insertWidget(0, self.pill)
        self.lines: list[_Line] = []
        self._rows = column_of(spacing=6)
        self.gain = _Line()
        self.remedy_text = text_label("", "", wraps=True, plain=True)
        self.button = QPushButton()
        self.button.clicked.connect(self._on_clicked)
        below = grid_of(down=8)
        below.addWidget(self.gain, 0, 0)
        below.addWidget(self.remedy_text, 1, 0)
        below.addWidget(self.button, 2, 0, Qt.AlignmentFlag.AlignLeft)
        fill(self.body, self._rows, below)

    def show_judgement(
        self, judgement: Judgement, *, has_draft: bool, is_decided: bool = True
    ) -> None:
        """Show what is known; without a draft model there is nothing to go together.

        Args:
            judgement: What is known.
            has_draft: Whether a draft model is chosen, or a head in a file of its own.
            is_decided: Whether it, or to do without one, is the user's choice.
        """
        self._is_decided, self._has_draft = is_decided, has_draft
        verdict = judgement.verdict
        self._remedy = verdict.remedy if verdict is not None else None
        words, tone, lines = self._words(judgement)
        self.pill.setText(words)
        set_look(self.pill, tone=tone)
        self.setAccessibleName(words)
        shown = as_many(self.lines, len(lines), _Line, self._rows)
        for line, (level, text) in zip(shown, lines, strict=True):
            line.show_line(self._sign(level), text, self._level_name(level))
            line.sign.setVisible(bool(level))
        self._show_below(judgement)

    def _fit(self) -> None:
        """Show more or less of the model's name on the button."""
        if self._remedy is not None:
            room = max(self.contentsRect().width() - _AROUND_PX, 120)
            self.button.setText(
                self.fontMetrics().elidedText(self._offer, Qt.TextElideMode.ElideMiddle, room)
            )

    def _words(self, judgement: Judgement) -> tuple[str, str, Sequence[tuple[str, str]]]:
        """Return what the pill says, its tone, and the lines below it."""
        has_draft, verdict = self._has_draft, judgement.verdict
        match judgement.status:
            case "nothing":
                line = self.tr("Choose a target in the list.")
                return self.tr("Nothing chosen yet"), "muted", [("", line)]
            case "looking":
                both, one = (
                    self.tr("Reading the headers of both models."),
                    self.tr("Reading the header."),
                )
                return self.tr("Looking…"), "muted", [("", both if has_draft else one)]
            case "failed":
                lines = (("bad", said(judgement.problem)), ("", said(judgement.hint)))
                return self.tr("Cannot tell"), "danger", [each for each in lines if each[1]]
        if verdict is None and not self._is_decided:
            line = self.tr("Next, choose a draft model, or do without one.")
            return self.tr("No draft model yet"), "muted", [("", line)]
        if verdict is None:
            line = self.tr("Lookups draft from the text itself; that needs no second model.")
            return self.tr("No draft model"), "lookup", [("", line)]
        reasons = [(reason.level, said(reason.text)) for reason in verdict.reasons]
        if not verdict.ok:
            return self.tr("They do not fit"), "danger", reasons
        if verdict.translated is not None:
            return self.tr("They work by translation"), "muted", reasons
        both = self.tr("These two go together")
        return both if has_draft else self.tr("MTP head inside"), "accent", reasons

    def _show_below(self, judgement: Judgement) -> None:
        verdict = judgement.verdict
        gain = said(verdict.gain) if verdict is not None and verdict.ok else ""
        self.gain.setVisible(bool(gain))
        self.gain.show_line(look.icon("speed", "accent"), gain, self.tr("What to expect"))
        remedy = self._remedy
        self.remedy_text.setVisible(remedy is not None)
        self.remedy_text.setText(with_soft_breaks(said(remedy.text)) if remedy else "")
        if judgement.status == "failed":
            self.button.setText(self.tr("Look again"))
            self.button.setToolTip("")
            self.button.setAccessibleName(self.tr("Look again"))
        elif remedy is not None:
            self._offer = self._offer_of(remedy)
            self.button.setToolTip(self._offer)
            self.button.setAccessibleName(self._offer)
            self._fit()
        self.button.setVisible(judgement.status == "failed" or remedy is not None)

    def _offer_of(self, remedy: Remedy) -> str:
        name = model_name(remedy.draft or remedy.target)
        if remedy.target and remedy.draft:
            return self.tr("Swap the two models")
        return self.tr("Take {} instead").format(name) if name else self.tr("Take no draft model")

    def _sign(self, level: str) -> QIcon:
        name, colour = {
            "good": ("check", "accent"),
            "note": ("warning", "lookup"),
            "bad": ("close", "danger"),
        }.get(level, ("", "muted"))
        return look.icon(name, colour)

    def _level_name(self, level: str) -> str:
        return {
            "good": self.tr("Good"),
            "note": self.tr("Worth knowing"),
            "bad": self.tr("Problem"),
        }.get(level, "")

    @Slot()
    def _on_clicked(self) -> None:
        if self._remedy is not None:
            self.remedy_taken.emit(self._remedy)
        else:
            self.asked_again.emit()


LOOKUPS = "suffix"
_NAME_PX = 400


class _Names(QWidget):
    """Which models these are."""

    def __init__(self) -> None:
        super().__init__()
        grid = grid_of(on=self, margins=(2, 0, 2, 0), across=12, down=0, stretches=(1,))
        self.names, self.facts = [], []
        for at, role in enumerate((self.tr("Target"), self.tr("Draft"))):
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
        self, at: int, candidate: Candidate | None, card: ModelCard | None, nothing: str = ""
    ) -> None:
        """Show one of the two by what is known of it, or what stands in its place."""
        nothing = nothing or self.tr("not chosen yet")
        self.names[at].setText(candidate.title if candidate else nothing)
        known = ""
        if candidate is not None and card is not None:
            # The weights alone are a little less; of a file in no list they are what is known.
            size = known_size(candidate.n_bytes or card.n_bytes)
            known = facts(local_weights(card.n_params), card.quantisation, size)
        elif candidate is not None:
            known = facts(candidate_facts(candidate), known_size(candidate.n_bytes))
        self.facts[at].setText(known)
        self.facts[at].setVisible(bool(known))
        whole = candidate.reference if candidate else ""
        self.names[at].setToolTip(whole)
        self.names[at].setAccessibleName(candidate.title if candidate else nothing)


class PairPane(QWidget):
    """Shows a pair of candidates and asks a `PairJudgement` about it."""

    changed = Signal()
    """The models, what is known of them, or how they are loaded"""
    remedy_taken = Signal(object)
    """Remedy"""

    def __init__(self, judgement: PairJudgement) -> None:
        super().__init__()
        self.setObjectName(PICKER_PANE)
        self.setProperty("kind", "page")
        self.judgement = judgement
        self.picks = Picks()
        """What is shown"""
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
        """Show and judge what is picked."""
        before, self.picks = self.picks.target, picks
        now = picks.target
        if before is not None and now is not None and before.reference != now.reference:
            self.form.lookup_cache.show_path("")  # it belongs to the other one's vocabulary
        self._ask()

    def show_pair(self, pair: Pair) -> None:
        """Show how a pair is loaded, e.g. the loaded one when the picker opens."""
        self.form.show_pair(pair)
        self._ask()

    def pair(self) -> Pair | None:
        """The models with what the form says, paths may be ``hf:`` references; None: no target."""
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
        """Why this pair cannot be loaded, in one sentence; empty: it can, or not known yet."""
        return said(self.judgement.judgement.obstacle) or self.form.problem

    def _ask(self) -> None:
        has_target = self.picks.target is not None
        self.form.show_models(has_target=has_target, has_draft=self._has_draft_model)
        self.judgement.ask(self.pair())
        self._show(self.judgement.judgement)
        self.changed.emit()

    def _show(self, judgement: Judgement) -> None:
        picks = self.picks
        has_draft, is_decided = picks.draft is not None, picks.is_decided
        drafts_itself = not has_draft and judgement.verdict is not None
        nothing = self.tr("none") if is_decided else ""
        self.names.show_model(0, picks.target, judgement.target)
        self.names.show_model(
            1,
            picks.draft,
            judgement.draft,
            self.tr("MTP head inside") if drafts_itself else nothing,
        )
        self.verdict.show_judgement(judgement, has_draft=has_draft, is_decided=is_decided)
        # What a refused pair would take is of no interest. Meanwhile the card keeps its place.
        is_asked = judgement.status in ("looking", "known")
        self.memory.setVisible(is_asked and not judgement.obstacle)
        self.memory.show_plan(judgement.plan, judgement.plan_problem)
        if judgement.status == "known":
            draft = judgement.draft if self._has_draft_model else None
            self.form.show_cards(judgement.target, draft)
        self.form.show_plan(judgement.plan)

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
        """Load the models as the remedy says; other models are the picker's matter."""
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
