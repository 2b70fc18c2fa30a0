"""What a benchmark is to compare: strategies, prompts, and how often.

Strategies come as contenders: the usual ones, the rest, and for some why they cannot be measured.
Prompts are shipped, or questions of the shown chat.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QSignalBlocker, Signal, Slot
from PySide6.QtWidgets import (
    QBoxLayout,
    QCheckBox,
    QLabel,
    QPushButton,
    QStackedWidget,
    QWidget,
)

from paceline.bench.workload import Workload
from paceline.chat.prompt import GradualPrompt, build_messages
from paceline.gui.bench.words import PLAIN, prompt_title, title_of
from paceline.gui.kit.card import Card, FoldSection
from paceline.gui.kit.fields import Segments, WholeNumber
from paceline.gui.kit.labels import YieldingCheckBox, text_label
from paceline.gui.kit.layouts import column_of, fill, row_of, styled
from paceline.gui.kit.translation import local
from paceline.gui.look.scale import GAP, HALF, PAGE, STEP, px
from paceline.gui.state.speculation import GROUPS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from PySide6.QtGui import QResizeEvent

    from paceline.conversation import Conversation, Message
    from paceline.gui.state.speculation import SpeculationModel
    from paceline.params import ReplySettings


CHAT_TOKENS = 128
"""Tokens that a question of a chat is answered with at most; more change the ratios little."""
_NAME_LETTERS = 48
_SEED = 1


def n_questions(conversation: Conversation) -> int:
    """How many questions the shown path has."""
    return sum(message.role == "user" for message in conversation.path())


def chat_workloads(
    conversation: Conversation, settings: ReplySettings, n_last: int
) -> tuple[Workload, ...]:
    """Return the last questions of the shown path, each after everything that came before it.

    Args:
        conversation: The chat.
        settings: How its replies are generated.
        n_last: How many questions.
    """
    path, prompt = conversation.path(), GradualPrompt()
    found = []
    for at, workload in _outlines(path, settings, n_last):
        prompt.take(path[: at + 1], settings.system_prompt, inf)
        found.append(replace(workload, messages=prompt.messages()))
    return tuple(found)


def chat_outline(
    conversation: Conversation, settings: ReplySettings, n_last: int
) -> tuple[Workload, ...]:
    """Return the same with the questions alone, to count by: a long chat costs next to nothing."""
    return tuple(workload for _, workload in _outlines(conversation.path(), settings, n_last))


def _outlines(
    path: Sequence[Message], settings: ReplySettings, n_last: int
) -> Iterator[tuple[int, Workload]]:
    """Yield the last questions with their places in the path."""
    asked = [at for at, message in enumerate(path) if message.role == "user"]
    for number, at in enumerate(asked, 1):
        if number > len(asked) - n_last:
            yield (
                at,
                Workload(
                    f"{number}. {_beginning(path[at].content)}".strip(),
                    build_messages(path[at : at + 1]),
                    max_tokens=min(settings.max_tokens, CHAT_TOKENS),
                    sampling=settings.sampling,
                    seed=_SEED if settings.seed is None else settings.seed,
                ),
            )


def _beginning(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _NAME_LETTERS else f"{words[: _NAME_LETTERS - 1]}…"


USUAL = (PLAIN, "auto", "draft:n_max=3", "draft:n_max=8", "suffix", "suffix+draft")
"""Ticked at first."""
LENGTHS = (1, 2, 4, 6, 12)
"""Further draft lengths, in the folded part."""


def _tr(text: str) -> str:
    return QCoreApplication.translate("BenchChoices", text)


@dataclass(frozen=True, slots=True)
class Contender:
    """One strategy that can be ticked.

    Attributes:
        strategy: Its text.
        title: What it is called.
        summary: What it does, in a sentence.
        is_usual: Whether it stands above the fold.
        obstacle: Why it cannot be measured here; empty: it can.
    """

    strategy: str
    title: str
    summary: str
    is_usual: bool
    obstacle: str = ""

    @property
    def is_needed(self) -> bool:
        """Whether everything is compared with it."""
        return self.strategy == PLAIN


def contenders(
    speculation: SpeculationModel, *, can_rollback: bool = True
) -> tuple[Contender, ...]:
    """Return everything that can be compared, the usual ones first.

    Args:
        speculation: Knows the strategies and the one that is chosen now.
        can_rollback: Whether the loaded target can take tokens back.
    """
    found: dict[str, bool] = {}
    for strategy in USUAL:
        found.setdefault(strategy, True)
    found.setdefault(speculation.text, True)
    for strategy in _further(speculation):
        found.setdefault(strategy, False)
    return tuple(
        _contender(speculation, strategy, is_usual=is_usual, can_rollback=can_rollback)
        for strategy, is_usual in found.items()
        if speculation.knows(strategy)
    )


def _further(speculation: SpeculationModel) -> Iterator[str]:
    yield "draft:n_max=auto"
    for length in LENGTHS:
        yield f"draft:n_max={length}"
    for group in GROUPS:
        for choice in speculation.choices(group):
            yield choice.name


def _contender(
    speculation: SpeculationModel, strategy: str, *, is_usual: bool, can_rollback: bool
) -> Contender:
    choice = speculation.choice_of_text(strategy)
    obstacle = ""
    if strategy != PLAIN:
        obstacle = speculation.obstacle(choice.name)
        if not can_rollback:
            obstacle = _tr("This target cannot take tokens back, so nothing can be drafted for it.")
    title = title_of(strategy)
    if strategy == speculation.text and strategy not in USUAL:
        title = _tr("{}, as in the panel").format(title)
    return Contender(strategy, title, _summary(speculation, strategy), is_usual, obstacle)


def _summary(speculation: SpeculationModel, strategy: str) -> str:
    if strategy == PLAIN:
        return _tr("Everything is compared with this, so it is always measured.")
    return speculation.choice_of_text(strategy).summary


SHIPPED, CHAT = "shipped", "chat"
USUAL_QUESTIONS, MOST_QUESTIONS = 4, 50


class PromptsCard(Card):
    """Two sources, one page for each."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.set_title(self.tr("Prompts"))
        self._boxes: dict[str, YieldingCheckBox] = {}
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
        self.all = QPushButton(self.tr("All"))
        self.none = QPushButton(self.tr("None"))
        self.all.setAccessibleName(self.tr("Tick all prompts"))
        self.none.setAccessibleName(self.tr("Tick no prompt"))
        self.all.clicked.connect(self._on_all)
        self.none.clicked.connect(self._on_none)
        row = row_of(spacing=HALF)
        for button in (self.all, self.none):
            button.setProperty("kind", "link")
            button.setAutoDefault(False)
            row.addWidget(button)
        row.addStretch(1)
        column_of(
            self._list, self.problem, row, None, on=page, margins=(0, HALF, 0, 0), spacing=HALF
        )
        return page

    def _make_chat(self) -> QWidget:
        page = QWidget()
        self.questions = styled(WholeNumber(1, MOST_QUESTIONS), kind="")
        self.questions.setValue(USUAL_QUESTIONS)
        self.questions.setAccessibleName(self.tr("Questions"))
        self.questions.valueChanged.connect(self.changed)
        self.chat_words = text_label(wraps=True)
        label = QLabel(self.tr("Last questions"))
        label.setBuddy(self.questions)
        row = row_of((label, 1), self.questions, spacing=GAP)
        column_of(row, self.chat_words, None, on=page, margins=(0, HALF, 0, 0))
        return page

    # ------------------------------------------------------------------------ what is chosen

    @property
    def is_chat(self) -> bool:
        """Whether the prompts are the chat's."""
        return self.source.value == CHAT

    @property
    def names(self) -> tuple[str, ...]:
        """The shipped prompts that are ticked."""
        return tuple(name for name, box in self._boxes.items() if box.isChecked())

    @property
    def n_questions(self) -> int:
        """How many questions of the chat are used."""
        return min(self.questions.value(), self._n_questions)

    def box(self, name: str) -> YieldingCheckBox:
        """The box of a shipped prompt."""
        return self._boxes[name]

    # -------------------------------------------------------------------------- what is shown

    def show_shipped(self, workloads: Sequence[Workload], problem: str = "") -> None:
        """Offer these, all ticked; or say why there are none."""
        for box in self._boxes.values():
            box.hide()
            box.deleteLater()
        self._boxes = {}
        for workload in workloads:
            box = YieldingCheckBox(prompt_title(workload.name))
            box.setChecked(True)
            words = self.tr("Up to {} tokens, temperature {:g}").format(
                workload.max_tokens, local(workload.sampling.temperature)
            )
            box.setToolTip(words)
            box.setAccessibleDescription(words)
            box.toggled.connect(self.changed)
            self._list.addWidget(box)
            self._boxes[workload.name] = box
        self.problem.setText(problem)
        self.problem.setVisible(bool(problem))
        self.all.setEnabled(bool(workloads))
        self.none.setEnabled(bool(workloads))

    def show_chat(self, n_questions: int, n_tokens: int) -> None:
        """Take how many questions the shown chat has, and how long answers get."""
        self._n_questions = n_questions
        self.questions.setMaximum(max(min(n_questions, MOST_QUESTIONS), 1))
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
        for box in self._boxes.values():
            with QSignalBlocker(box):
                box.setChecked(is_on)
        self.changed.emit()


FEWEST, USUAL_REPEATS, MOST = 2, 3, 20
"""Repeats: quartiles of one say nothing."""
_TWO_COLUMNS_PX = 700


class SetupPage(QWidget):
    """Cards with ticks; the controller decides what follows."""

    changed = Signal()
    """Something else is chosen"""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "page")
        self._offered: tuple[Contender, ...] = ()
        self._boxes: dict[str, YieldingCheckBox] = {}
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
        self.repeats = styled(WholeNumber(FEWEST, MOST), kind="")
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
