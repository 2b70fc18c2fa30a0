"""Whether two models go together: in words, then why, what to expect, what to take instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from paceline.gui.scale import ICON, px
from paceline.gui.theme import restyle
from paceline.gui.viewmodels.pair import model_name
from paceline.gui.widgets.card import Card
from paceline.gui.widgets.soft_breaks import with_soft_breaks

if TYPE_CHECKING:
    from PySide6.QtGui import QIcon, QResizeEvent

    from paceline.catalog.verdict import Level, Remedy, Verdict
    from paceline.gui.icons import Icons
    from paceline.gui.theme import Theme
    from paceline.gui.viewmodels.pair_judgement import Judgement

_AROUND_PX = 64
"""What stands beside the text of the button: its own margins and those of the card."""


class _Line(QWidget):
    """A sign and a sentence beside it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.sign = QLabel()
        self.text = QLabel()
        self.text.setWordWrap(True)
        self.text.setTextFormat(Qt.TextFormat.PlainText)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(self.sign, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.text, 1)

    def show_line(self, icon: QIcon, text: str, level: str) -> None:
        """Show this; `level` is said to those who do not see the sign."""
        side = px(ICON)
        self.sign.setFixedSize(side, side + 2)
        self.sign.setPixmap(icon.pixmap(side, side))
        self.text.setText(with_soft_breaks(text))
        self.text.setAccessibleName(f"{level}: {text}" if level else text)


class VerdictCard(Card):
    """Shows a `Judgement`, all but its plan."""

    remedy_taken = Signal(object)
    """Remedy"""
    asked_again = Signal()

    def __init__(self, theme: Theme, icons: Icons, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._icons = theme, icons
        self._judgement: Judgement | None = None
        self._has_draft = self._is_decided = False
        self._remedy: Remedy | None = None
        self._offer = ""
        self.pill = QLabel()
        self.pill.setProperty("role", "pill")
        self.header.insertWidget(0, self.pill)
        self.lines: list[_Line] = []
        self._rows = QVBoxLayout()
        self._rows.setSpacing(6)
        self.gain = _Line()
        self.remedy_text = QLabel()
        self.remedy_text.setWordWrap(True)
        self.remedy_text.setTextFormat(Qt.TextFormat.PlainText)
        self.button = QPushButton()
        self.button.clicked.connect(self._on_clicked)
        below = QGridLayout()
        below.setVerticalSpacing(8)
        below.addWidget(self.gain, 0, 0)
        below.addWidget(self.remedy_text, 1, 0)
        below.addWidget(self.button, 2, 0, Qt.AlignmentFlag.AlignLeft)
        self.body.addLayout(self._rows)
        self.body.addLayout(below)

    def set_theme(self, theme: Theme) -> None:
        """Use another theme's colours; the icons' theme is set before."""
        self._theme = theme
        if self._judgement is not None:
            self.show_judgement(
                self._judgement, has_draft=self._has_draft, is_decided=self._is_decided
            )

    def show_judgement(
        self, judgement: Judgement, *, has_draft: bool, is_decided: bool = True
    ) -> None:
        """Show what is known; without a draft model there is nothing to go together.

        Args:
            judgement: What is known.
            has_draft: Whether a draft model is chosen.
            is_decided: Whether it, or to do without one, is the user's choice.
        """
        self._judgement, self._has_draft = judgement, has_draft
        self._is_decided = is_decided
        self._remedy = None
        match judgement.status:
            case "nothing":
                self._show_pill(self.tr("Nothing chosen yet"), "muted")
                self._show_lines([("", self.tr("Choose a target in the list."))])
            case "looking":
                self._show_pill(self.tr("Looking…"), "muted")
                both = self.tr("Reading the headers of both models.")
                self._show_lines([("", both if has_draft else self.tr("Reading the header."))])
            case "failed":
                self._show_pill(self.tr("Cannot tell"), "danger")
                lines: list[tuple[Level | str, str]] = [("bad", judgement.problem)]
                self._show_lines(lines + ([("", judgement.hint)] if judgement.hint else []))
            case "known":
                self._show_verdict(judgement.verdict)
        self._show_below(judgement)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show more or less of the model's name on the button."""
        super().resizeEvent(event)
        self._elide()

    def _elide(self) -> None:
        if self._remedy is not None:
            room = max(self.contentsRect().width() - _AROUND_PX, 120)
            self.button.setText(
                self.fontMetrics().elidedText(self._offer, Qt.TextElideMode.ElideMiddle, room)
            )

    def _show_verdict(self, verdict: Verdict | None) -> None:
        if verdict is None and not self._is_decided:
            self._show_pill(self.tr("No draft model yet"), "muted")
            self._show_lines([("", self.tr("Next, choose a draft model, or do without one."))])
            return
        if verdict is None:
            self._show_pill(self.tr("No draft model"), "lookup")
            self._show_lines(
                [("", self.tr("Lookups draft from the text itself; that needs no second model."))]
            )
            return
        if verdict.ok:
            self._show_pill(self.tr("These two go together"), "accent")
        else:
            self._show_pill(self.tr("They do not fit"), "danger")
        self._show_lines([(reason.level, reason.text) for reason in verdict.reasons])
        self._remedy = verdict.remedy

    def _show_pill(self, words: str, tone: str) -> None:
        self.pill.setText(words)
        self.pill.setProperty("tone", tone)
        restyle(self.pill)
        self.setAccessibleName(words)

    def _show_lines(self, lines: list[tuple[Level | str, str]]) -> None:
        while len(self.lines) < len(lines):
            line = _Line()
            self.lines.append(line)
            self._rows.addWidget(line)
        for line, shown in zip(self.lines, [*lines, *[None] * len(self.lines)], strict=False):
            line.setVisible(shown is not None)
            if shown is not None:
                level, text = shown
                line.show_line(self._sign(level), text, self._level_name(level))
                line.sign.setVisible(bool(level))

    def _show_below(self, judgement: Judgement) -> None:
        verdict = judgement.verdict
        gain = verdict.gain if verdict is not None and verdict.ok else ""
        self.gain.setVisible(bool(gain))
        self.gain.show_line(
            self._icons.icon("speed", self._theme.accent), gain, self.tr("What to expect")
        )
        remedy = self._remedy
        self.remedy_text.setVisible(remedy is not None)
        self.remedy_text.setText(with_soft_breaks(remedy.text) if remedy else "")
        if judgement.status == "failed":
            self.button.setText(self.tr("Look again"))
            self.button.setToolTip("")
            self.button.setAccessibleName(self.tr("Look again"))
        elif remedy is not None:
            self._offer = self._offer_of(remedy)
            self.button.setToolTip(self._offer)
            self.button.setAccessibleName(self._offer)
            self._elide()
        self.button.setVisible(judgement.status == "failed" or remedy is not None)

    def _offer_of(self, remedy: Remedy) -> str:
        name = model_name(remedy.draft or remedy.target)
        if remedy.target and remedy.draft:
            return self.tr("Swap the two models")
        return self.tr("Take {} instead").format(name) if name else self.tr("Take no draft model")

    def _sign(self, level: Level | str) -> QIcon:
        name, colour = {
            "good": ("check", self._theme.accent),
            "note": ("warning", self._theme.lookup),
            "bad": ("close", self._theme.danger),
        }.get(level, ("", ""))
        return self._icons.icon(name, colour)

    def _level_name(self, level: Level | str) -> str:
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
