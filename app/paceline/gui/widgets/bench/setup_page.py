"""What a benchmark is to compare: strategies, prompts, and how often."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtWidgets import QBoxLayout, QCheckBox, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from paceline.gui.scale import GAP, HALF, PAGE, STEP, px
from paceline.gui.widgets.bench.prompts_card import PromptsCard
from paceline.gui.widgets.card import Card, FoldSection
from paceline.gui.widgets.fields import WholeNumber
from paceline.gui.widgets.settings.page import small_text
from paceline.gui.widgets.yielding import YieldingCheckBox

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QResizeEvent

    from paceline.gui.viewmodels.bench_choices import Contender

FEWEST, USUAL, MOST = 2, 3, 20
"""Repeats: quartiles of one say nothing."""
_TWO_COLUMNS_PX = 700


class SetupPage(QWidget):
    """Cards with ticks; it decides nothing."""

    changed = Signal()
    """Something else is chosen"""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "page")
        self._offered: tuple[Contender, ...] = ()
        self._boxes: dict[str, YieldingCheckBox] = {}
        self._ticked: dict[str, bool] = {}
        self.heading = QLabel(self.tr("Which strategy is fastest here?"))
        self.heading.setProperty("role", "heading")
        self.heading.setWordWrap(True)
        self.pair = small_text("")
        self.pair.setTextFormat(Qt.TextFormat.PlainText)
        intro = QLabel(
            self.tr(
                "The same replies are generated with each strategy, in turn and several times, and "
                "their times are compared. Your chats stay as they are."
            )
        )
        intro.setProperty("role", "muted")
        intro.setWordWrap(True)
        self.prompts = PromptsCard()
        self.prompts.changed.connect(self.changed)
        right = QVBoxLayout()
        right.setSpacing(GAP)
        right.addWidget(self.prompts)
        right.addWidget(self._make_repeats())
        right.addStretch(1)
        left = QVBoxLayout()
        left.addWidget(self._make_strategies())
        left.addStretch(1)
        self._columns = QHBoxLayout()
        self._columns.setSpacing(GAP)
        self._columns.addLayout(left, 1)
        self._columns.addLayout(right, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(PAGE, PAGE - STEP, PAGE, PAGE)
        column.setSpacing(STEP)
        column.addWidget(self.heading)
        column.addWidget(intro)
        column.addWidget(self.pair)
        column.addSpacing(HALF)
        column.addLayout(self._columns)
        column.addStretch(1)

    def _make_strategies(self) -> Card:
        card = Card()
        card.set_title(self.tr("Strategies"))
        self._usual = QVBoxLayout()
        self._usual.setSpacing(HALF)
        self.fold = FoldSection()
        self.fold.set_title(self.tr("More strategies"))
        self._further = QVBoxLayout()
        self._further.setSpacing(HALF)
        self.fold.body.addLayout(self._further)
        self.obstacles = small_text("")
        self.obstacles.setTextFormat(Qt.TextFormat.PlainText)
        card.body.addLayout(self._usual)
        card.body.addWidget(self.obstacles)
        card.body.addWidget(self.fold)
        return card

    def _make_repeats(self) -> Card:
        card = Card()
        card.set_title(self.tr("Repeats"))
        self.repeats = WholeNumber(FEWEST, MOST)
        self.repeats.setProperty("kind", "")
        self.repeats.setValue(USUAL)
        self.repeats.setAccessibleName(self.tr("Repeats"))
        self.repeats.valueChanged.connect(self.changed)
        words = small_text(
            self.tr("More repeats take longer and tell small differences apart from chance.")
        )
        self.repeats.setAccessibleDescription(words.text())
        row = QHBoxLayout()
        row.setSpacing(GAP)
        row.addWidget(words, 1)
        row.addWidget(self.repeats)
        card.body.addLayout(row)
        return card

    # ------------------------------------------------------------------------ what is chosen

    @property
    def strategies(self) -> tuple[str, ...]:
        """What is ticked and can be measured."""
        return tuple(c.strategy for c in self._offered if self._boxes[c.strategy].isChecked())

    @property
    def n_repeats(self) -> int:
        """How often each reply is generated with each strategy."""
        return self.repeats.value()

    def box(self, strategy: str) -> QCheckBox:
        """The box of a strategy that is offered."""
        return self._boxes[strategy]

    @property
    def offered(self) -> tuple[Contender, ...]:
        """All that can be ticked, and what cannot, with its reason."""
        return self._offered

    # -------------------------------------------------------------------------- what is shown

    def show_pair(self, words: str) -> None:
        """Name the models."""
        self.pair.setText(words)

    def show_contenders(self, contenders: Sequence[Contender]) -> None:
        """Offer these; what was ticked before stays so."""
        if tuple(contenders) == self._offered:
            return
        if [c.strategy for c in contenders] != [c.strategy for c in self._offered]:
            for box in self._boxes.values():
                box.hide()
                box.deleteLater()
            self._boxes = {c.strategy: self._make_box(c) for c in contenders}
        self._offered = tuple(contenders)
        for c in contenders:
            box = self._boxes[c.strategy]
            box.setText(c.title)
            box.setEnabled(not c.obstacle and not c.is_needed)
            with QSignalBlocker(box):  # what cannot be measured is not ticked until it can
                box.setChecked(not c.obstacle and (c.is_needed or self._ticked[c.strategy]))
            description = c.obstacle or c.summary
            box.setToolTip(description)
            box.setAccessibleDescription(description)
        reasons = dict.fromkeys(c.obstacle for c in contenders if c.obstacle and c.is_usual)
        self.obstacles.setText("\n".join(reasons))
        self.obstacles.setVisible(bool(reasons))
        self.fold.setVisible(any(not c.is_usual for c in contenders))
        self.changed.emit()

    def _make_box(self, contender: Contender) -> YieldingCheckBox:
        box = YieldingCheckBox(contender.title)
        self._ticked.setdefault(contender.strategy, contender.is_usual)
        box.toggled.connect(self._on_toggled)
        (self._usual if contender.is_usual else self._further).addWidget(box)
        return box

    @Slot()
    def _on_toggled(self) -> None:
        for strategy, box in self._boxes.items():
            if box.isEnabled():
                self._ticked[strategy] = box.isChecked()
        self.changed.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the cards below each other where there is no room beside."""
        super().resizeEvent(event)
        is_wide = self.width() >= px(_TWO_COLUMNS_PX)
        beside, below = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
        self._columns.setDirection(beside if is_wide else below)

    @Slot()
    def focus_first(self) -> None:
        """Give the keyboard to the first box that can be ticked."""
        for box in self._boxes.values():
            if box.isEnabled():
                box.setFocus()
                return
