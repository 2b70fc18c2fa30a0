"""The page for choosing a benchmark's strategies, prompts, and number of repeats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QSignalBlocker, Signal, Slot
from PySide6.QtWidgets import QBoxLayout, QLabel, QPushButton, QStackedWidget, QWidget

from paceline.bench.workload import Workload
from paceline.gui.bench.choices import Contender
from paceline.gui.bench.words import prompt_title
from paceline.gui.kit.card import Card, FoldSection
from paceline.gui.kit.fields import Segments, WholeNumber
from paceline.gui.kit.labels import YieldingCheckBox, say, text_label
from paceline.gui.kit.layouts import Refits, column_of, discard, fill, row_of, styled
from paceline.gui.kit.translation import local
from paceline.gui.look.scale import GAP, HALF, PAGE, STEP, px

SHIPPED, CHAT = "shipped", "chat"
USUAL_QUESTIONS, MAX_QUESTIONS = 4, 50


class PromptsCard(Card):
    """Two sources, one page for each."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.set_title(self.tr("Prompts"))
        self.boxes: dict[str, YieldingCheckBox] = {}
        self._n_questions = 0
        self.source = Segments(
            (
                (SHIPPED, self.tr("Shipped ones"), self.tr("Different kinds of work")),
                (CHAT, self.tr("This chat"), self.tr("The last questions of the shown chat")),
            )
        )
        self.source.setAccessibleName(self.tr("Where the prompts come from"))
        self.source.show_value(SHIPPED)
        self.source.chosen.connect(self._on_source)
        self._pages = QStackedWidget()
        self._pages.addWidget(self._make_shipped())
        self._pages.addWidget(self._make_chat())
        fill(self.body, self.source, self._pages)

    def _make_shipped(self) -> QWidget:
        page = QWidget()
        self._list = column_of(spacing=HALF)
        self.problem = text_label(wraps=True, plain=True)
        self.problem.hide()
        self.all = QPushButton(self.tr("All"), autoDefault=False)
        self.none = QPushButton(self.tr("None"), autoDefault=False)
        self.all.setAccessibleName(self.tr("Tick all prompts"))
        self.none.setAccessibleName(self.tr("Tick no prompt"))
        self.all.clicked.connect(self._on_all)
        self.none.clicked.connect(self._on_none)
        row = row_of(spacing=HALF)
        for button in (self.all, self.none):
            button.setProperty("kind", "link")
            row.addWidget(button)
        row.addStretch(1)
        column_of(
            self._list, self.problem, row, None, on=page, margins=(0, HALF, 0, 0), spacing=HALF
        )
        return page

    def _make_chat(self) -> QWidget:
        page = QWidget()
        self.questions = styled(WholeNumber(1, MAX_QUESTIONS), kind="")
        self.questions.setValue(USUAL_QUESTIONS)
        self.questions.setAccessibleName(self.tr("Questions"))
        self.questions.valueChanged.connect(self.changed)
        self.chat_words = text_label(wraps=True)
        label = QLabel(self.tr("Last questions"))
        label.setBuddy(self.questions)
        row = row_of((label, 1), self.questions, spacing=GAP)
        column_of(row, self.chat_words, None, on=page, margins=(0, HALF, 0, 0))
        return page

    # -------------------------------------------------------------------------------- choice

    @property
    def is_chat(self) -> bool:
        """Return whether the prompts are the chat's."""
        return self.source.value == CHAT

    @property
    def names(self) -> tuple[str, ...]:
        """The shipped prompts that are ticked."""
        return tuple(name for name, box in self.boxes.items() if box.isChecked())

    @property
    def n_questions(self) -> int:
        """Number of questions of the chat that are used."""
        return min(self.questions.value(), self._n_questions)

    def choose(self, choice: SetupChoice) -> None:
        """Restore an earlier choice."""
        for name, box in self.boxes.items():
            box.setChecked(name in choice.prompts)
        self.questions.setValue(choice.n_questions)
        self.source.show_value(CHAT if choice.is_chat else SHIPPED)
        self._on_source(self.source.value)

    # -------------------------------------------------------------------------------- display

    def show_shipped(self, workloads: Sequence[Workload], problem: str = "") -> None:
        """Offer these prompts, all ticked, or say why there are none."""
        discard(self.boxes.values())
        self.boxes = {}
        for workload in workloads:
            box = YieldingCheckBox(prompt_title(workload.name))
            box.setChecked(True)
            words = self.tr("Up to {} tokens, temperature {:g}").format(
                workload.max_tokens, local(workload.sampling.temperature)
            )
            box.setToolTip(words)
            box.toggled.connect(self.changed)
            self._list.addWidget(box)
            self.boxes[workload.name] = box
        say(self.problem, problem)
        self.all.setEnabled(bool(workloads))
        self.none.setEnabled(bool(workloads))

    def show_chat(self, n_questions: int, n_tokens: int) -> None:
        """Set the number of questions in the shown chat and the length of the answers."""
        self._n_questions = n_questions
        self.questions.setMaximum(max(min(n_questions, MAX_QUESTIONS), 1))
        self.questions.setEnabled(n_questions > 0)
        if n_questions:
            words = self.tr(
                "Each with everything that was said before it, sampled as the panel says; answers "
                "end at {} tokens."
            ).format(n_tokens)
        else:
            words = self.tr("The shown chat has no questions yet.")
        self.chat_words.setText(words)

    @Slot(str)
    def _on_source(self, source: str) -> None:
        self._pages.setCurrentIndex((SHIPPED, CHAT).index(source))
        self.changed.emit()

    @Slot()
    def _on_all(self) -> None:
        self._tick(is_on=True)

    @Slot()
    def _on_none(self) -> None:
        self._tick(is_on=False)

    def _tick(self, *, is_on: bool) -> None:
        for box in self.boxes.values():
            with QSignalBlocker(box):
                box.setChecked(is_on)
        self.changed.emit()


@dataclass(frozen=True, slots=True)
class SetupChoice:
    """The choice of strategies, prompts and repeats to compare."""

    ticked: dict[str, bool]
    prompts: tuple[str, ...]
    is_chat: bool
    n_questions: int
    n_repeats: int


MIN_REPEATS, USUAL_REPEATS, MAX_REPEATS = 2, 3, 20
"""Number of repeats: quartiles of a single one say nothing."""
_TWO_COLUMNS_PX = 700


class SetupPage(Refits, QWidget):
    """Cards with ticks; the controller decides what follows."""

    changed = Signal()
    """Another choice was made."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "page")
        self.offered: tuple[Contender, ...] = ()
        """All strategies, also those that cannot be measured, with their reasons."""
        self.boxes: dict[str, YieldingCheckBox] = {}
        self._ticked: dict[str, bool] = {}
        self.heading = text_label(self.tr("Which strategy is fastest here?"), "heading", wraps=True)
        self.pair = text_label(wraps=True, plain=True)
        intro = text_label(
            self.tr(
                "The same replies are generated with each strategy, in turn and several times, and "
                "their times are compared. Your chats stay as they are."
            ),
            "muted",
            wraps=True,
        )
        self.prompts = PromptsCard()
        self.prompts.changed.connect(self.changed)
        right = column_of(self.prompts, self._make_repeats(), None, spacing=GAP)
        left = column_of(self._make_strategies(), None)
        self._columns = row_of((left, 1), (right, 1), spacing=GAP)
        column_of(
            self.heading,
            intro,
            self.pair,
            HALF,
            self._columns,
            None,
            on=self,
            margins=(PAGE, PAGE - STEP, PAGE, PAGE),
            spacing=STEP,
        )

    def _make_strategies(self) -> Card:
        card = Card(self.tr("Strategies"))
        self._usual = column_of(spacing=HALF)
        self.fold = FoldSection()
        self.fold.set_title(self.tr("More strategies"))
        self._further = column_of(spacing=HALF)
        self.fold.body.addLayout(self._further)
        self.obstacles = text_label(wraps=True, plain=True)
        fill(card.body, self._usual, self.obstacles, self.fold)
        return card

    def _make_repeats(self) -> Card:
        card = Card(self.tr("Repeats"))
        self.repeats = styled(WholeNumber(MIN_REPEATS, MAX_REPEATS), kind="")
        self.repeats.setValue(USUAL_REPEATS)
        self.repeats.setAccessibleName(self.tr("Repeats"))
        self.repeats.valueChanged.connect(self.changed)
        words = text_label(
            self.tr(
                "At least two, since one says nothing about chance; more take longer and tell "
                "smaller differences."
            ),
            wraps=True,
        )
        self.repeats.setAccessibleDescription(words.text())
        row = row_of((words, 1), self.repeats, spacing=GAP)
        card.body.addLayout(row)
        return card

    # -------------------------------------------------------------------------------- choice

    @property
    def choice(self) -> SetupChoice:
        """The whole choice."""
        prompts = self.prompts
        return SetupChoice(
            dict(self._ticked), prompts.names, prompts.is_chat, prompts.questions.value(),
            self.repeats.value(),
        )  # fmt: skip

    def choose(self, choice: SetupChoice) -> None:
        """Restore an earlier choice; the prompts are already offered."""
        self._ticked |= choice.ticked
        self.prompts.choose(choice)
        self.repeats.setValue(choice.n_repeats)

    @property
    def strategies(self) -> tuple[str, ...]:
        """Ticked strategies that can be measured."""
        return tuple(c.strategy for c in self.offered if self.boxes[c.strategy].isChecked())

    # -------------------------------------------------------------------------------- display

    def show_contenders(self, contenders: Sequence[Contender]) -> None:
        """Offer these; ticks of earlier ones are kept."""
        if tuple(contenders) == self.offered:
            return
        if [c.strategy for c in contenders] != [c.strategy for c in self.offered]:
            discard(self.boxes.values())
            self.boxes = {c.strategy: self._make_box(c) for c in contenders}
        self.offered = tuple(contenders)
        for c in contenders:
            box = self.boxes[c.strategy]
            box.setText(c.title)
            box.setEnabled(not c.obstacle and not c.is_needed)
            # A strategy that cannot be measured is not ticked until it can.
            with QSignalBlocker(box):
                box.setChecked(not c.obstacle and (c.is_needed or self._ticked[c.strategy]))
            description = c.obstacle or c.summary
            box.setToolTip(description)
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
        for strategy, box in self.boxes.items():
            if box.isEnabled():
                self._ticked[strategy] = box.isChecked()
        self.changed.emit()

    def _fit(self) -> None:
        """Put the cards side by side, or below each other where space is short."""
        is_wide = self.width() >= px(_TWO_COLUMNS_PX)
        beside, below = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
        self._columns.setDirection(beside if is_wide else below)

    @Slot()
    def focus_first(self) -> None:
        """Focus the first box that can be ticked."""
        for box in self.boxes.values():
            if box.isEnabled():
                box.setFocus()
                return
