"""The verdict on a pair, in large type: one sentence, and the reasons folded."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QPushButton, QWidget

from paceline.catalog.judge.first_choice import MIN_SPEEDUP
from paceline.catalog.judge.pairing import Remedy
from paceline.catalog.judge.speed import Speeds
from paceline.gui.kit.card import Card, FoldSection
from paceline.gui.kit.labels import text_label, with_soft_breaks
from paceline.gui.kit.layouts import (
    IconLabel,
    RefitsWords,
    as_many,
    column_of,
    fill,
    row_of,
    set_look,
)
from paceline.gui.kit.sentences import said
from paceline.gui.kit.translation import local, translator
from paceline.gui.look.current import look
from paceline.gui.models.lists.hub_search import OUT_OF_REACH
from paceline.gui.models.picker.pair_judgement import Judgement
from paceline.gui.state.pair import model_name

_AROUND_PX = 64
"""Pixels beside the text of the button: its own margins and those of the card."""


class _Line(QWidget):
    """An icon and a sentence beside it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.sign = IconLabel(QIcon())
        self.sign.setContentsMargins(0, 1, 0, 1)  # centred on the line
        self.text = text_label("", "", wraps=True, plain=True)
        top = Qt.AlignmentFlag.AlignTop
        row_of((self.sign, 0, top), (self.text, 1), on=self, margins=0, spacing=8)

    def show_line(self, icon: QIcon, text: str, level: str) -> None:
        """Show a line; `level` replaces the icon for screen readers."""
        self.sign.show_icon(icon)
        self.text.setText(with_soft_breaks(text))
        self.text.setAccessibleName(f"{level}: {text}" if level else text)


@dataclass(frozen=True, slots=True)
class Conclusion:
    """A conclusion in one or two words; `tone` is "gain", "even", "slower", "loss" or ""."""

    title: str
    tone: str = ""
    sentence: str = ""


class VerdictCard(RefitsWords, Card):
    """Card of a `Judgement` without its plan: a conclusion, one sentence, and folded reasons."""

    remedy_taken = Signal(object)
    """Remedy"""
    asked_again = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._remedy: Remedy | None = None
        self._offer = ""
        self.conclusion = text_label("", "conclusion")
        self.sentence = text_label("", "", wraps=True, plain=True)
        self.sentence.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.button = QPushButton()
        self.button.clicked.connect(self._on_clicked)
        self.why = FoldSection()
        self.why.set_title(self.tr("Why"))
        policy = self.why.toggle.sizePolicy()
        policy.setRetainSizeWhenHidden(True)  # keeps the content below in its place
        self.why.toggle.setSizePolicy(policy)
        self.lines: list[_Line] = []
        self._rows = column_of(spacing=6)
        self.why.body.addLayout(self._rows)
        left = Qt.AlignmentFlag.AlignLeft
        fill(self.body, self.conclusion, self.sentence, (self.button, 0, left), self.why)

    def show_judgement(
        self, judgement: Judgement, *, has_draft: bool, speeds: Speeds | None = None
    ) -> None:
        """Show the judgement.

        Args:
            judgement: The judgement.
            has_draft: Whether a draft model is chosen, or a head in a file of its own.
            speeds: The expected speeds here, or None if unknown.
        """
        verdict = judgement.verdict
        self._remedy = verdict.remedy if verdict is not None else None
        found = self._concluded(judgement, speeds, has_draft=has_draft)
        self.conclusion.setText(found.title)
        set_look(self.conclusion, tone=found.tone)
        self.sentence.setText(with_soft_breaks(found.sentence))
        self.setAccessibleName(f"{found.title}. {found.sentence}")
        reasons = verdict.reasons if verdict is not None else ()
        lines: list[tuple[str, str]] = [(each.level, said(each.text)) for each in reasons]
        lines += [("", said(self._remedy.text))] if self._remedy is not None else []
        for line, (level, text) in zip(
            as_many(self.lines, len(lines), _Line, self._rows), lines, strict=True
        ):
            line.show_line(self._sign(level), text, self._level_name(level))
        self.why.toggle.setVisible(bool(lines))
        self._show_button(judgement)

    def _fit(self) -> None:
        """Reserve space for a sentence, and fit the model's name to the button."""
        self.sentence.setMinimumHeight(2 * self.sentence.fontMetrics().lineSpacing())
        if self._remedy is not None:
            room = max(self.contentsRect().width() - _AROUND_PX, 120)
            middle = Qt.TextElideMode.ElideMiddle
            self.button.setText(self.fontMetrics().elidedText(self._offer, middle, room))

    def _concluded(
        self, judgement: Judgement, speeds: Speeds | None, *, has_draft: bool
    ) -> Conclusion:
        """Return the conclusion on the pair, as far as it is known."""
        verdict = judgement.verdict
        match judgement.status:
            case "nothing":
                return Conclusion(
                    self.tr("No model yet"), "even", self.tr("Choose one in the list.")
                )
            case "looking":
                words = self.tr("Reading the headers of both models.")
                words = words if has_draft else self.tr("Reading the header.")
                return Conclusion(self.tr("Looking…"), "even", words)
            case "failed" if judgement.code in OUT_OF_REACH:
                words = self.tr("What is on Hugging Face can be looked into when you are online.")
                return Conclusion(self.tr("Not known"), "even", words)
            case "failed":
                words = said(judgement.problem, judgement.hint)
                return Conclusion(self.tr("Cannot tell"), "loss", words)
        if verdict is None:
            words = self.tr("Guesses are copied from the text itself; no second model is needed.")
            return Conclusion(self.tr("No draft model"), "", _and_speed(words, speeds))
        if not verdict.ok:
            words = said(verdict.reasons[0].text)
            return Conclusion(self.tr("Does not go together"), "loss", words)
        outlook, words = verdict.outlook, said(verdict.gain)
        if outlook == "good" and speeds and speeds.drafted and speeds.gain < MIN_SPEEDUP:
            outlook, words = "little", self.tr("On this machine drafts save little time.")
        elif (
            outlook != "good"
            and speeds
            and speeds.basis == "measured"
            and speeds.gain >= MIN_SPEEDUP
        ):
            outlook, words = "good", self.tr("On this machine drafts save time.")
        titles = {
            "good": (self.tr("Good"), "gain"),
            "little": (self.tr("Little gain"), "even"),
            "slower": (self.tr("Slower"), "slower"),
        }
        title, tone = titles.get(outlook, (self.tr("Can be tried"), ""))
        return Conclusion(title, tone, _and_speed(words, speeds, with_drafts=outlook == "good"))

    def _show_button(self, judgement: Judgement) -> None:
        """Offer the remedy, or to ask again."""
        again = judgement.status == "failed"
        if again or self._remedy is not None:
            offer = self.tr("Look again") if self._remedy is None else self._offer_of(self._remedy)
            self._offer = offer
            self.button.setText(offer)
            self.button.setToolTip("" if again else offer)
            self.button.setAccessibleName(offer)
            self._fit()
        self.button.setVisible(again or self._remedy is not None)

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
        }.get(level, ("speed", "muted"))
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


def _and_speed(words: str, speeds: Speeds | None, *, with_drafts: bool = True) -> str:
    """Return a sentence, preceded by the expected speed where that is known."""
    if speeds is None:
        return words
    basis = _tr("measured") if speeds.basis == "measured" else _tr("estimate")
    alone = f"{local(speeds.alone.rounded):g}"
    speed = _tr("About {} tokens/s alone ({}).").format(alone, basis)
    if with_drafts and speeds.drafted is not None:
        drafted = f"{local(speeds.drafted.rounded):g}"
        speed = _tr("About {} tokens/s alone, {} with drafts ({}).").format(alone, drafted, basis)
    return f"{speed} {words}"


_tr = translator("VerdictCard")
