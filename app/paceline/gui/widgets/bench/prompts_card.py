"""Which prompts a benchmark uses: some of those that are shipped, or the last ones of the chat."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from paceline.gui.scale import GAP, HALF
from paceline.gui.viewmodels.bench_titles import prompt_title
from paceline.gui.widgets.card import Card
from paceline.gui.widgets.fields import WholeNumber
from paceline.gui.widgets.segments import Segments
from paceline.gui.widgets.settings.page import small_text
from paceline.gui.widgets.yielding import YieldingCheckBox

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paceline.bench.workload import Workload

SHIPPED, CHAT = "shipped", "chat"
USUAL_QUESTIONS, MOST_QUESTIONS = 4, 50


class PromptsCard(Card):
    """Two sources, one page for each."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
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
        self.body.addWidget(self.source)
        self.body.addWidget(self._pages)

    def _make_shipped(self) -> QWidget:
        page = QWidget()
        self._list = QVBoxLayout()
        self._list.setSpacing(HALF)
        self.problem = small_text("")
        self.problem.setTextFormat(Qt.TextFormat.PlainText)
        self.problem.hide()
        self.all = QPushButton(self.tr("All"))
        self.none = QPushButton(self.tr("None"))
        self.all.setAccessibleName(self.tr("Tick all prompts"))
        self.none.setAccessibleName(self.tr("Tick no prompt"))
        self.all.clicked.connect(self._on_all)
        self.none.clicked.connect(self._on_none)
        row = QHBoxLayout()
        row.setSpacing(HALF)
        for button in (self.all, self.none):
            button.setProperty("kind", "link")
            button.setAutoDefault(False)
            row.addWidget(button)
        row.addStretch(1)
        column = QVBoxLayout(page)
        column.setContentsMargins(0, HALF, 0, 0)
        column.setSpacing(HALF)
        column.addLayout(self._list)
        column.addWidget(self.problem)
        column.addLayout(row)
        column.addStretch(1)
        return page

    def _make_chat(self) -> QWidget:
        page = QWidget()
        self.questions = WholeNumber(1, MOST_QUESTIONS)
        self.questions.setProperty("kind", "")
        self.questions.setValue(USUAL_QUESTIONS)
        self.questions.setAccessibleName(self.tr("Questions"))
        self.questions.valueChanged.connect(self.changed)
        self.chat_words = small_text("")
        label = QLabel(self.tr("Last questions"))
        label.setBuddy(self.questions)
        row = QHBoxLayout()
        row.setSpacing(GAP)
        row.addWidget(label, 1)
        row.addWidget(self.questions)
        column = QVBoxLayout(page)
        column.setContentsMargins(0, HALF, 0, 0)
        column.addLayout(row)
        column.addWidget(self.chat_words)
        column.addStretch(1)
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
                workload.max_tokens, workload.sampling.temperature
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
        """Know how many questions the shown chat has, and how long answers get."""
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
