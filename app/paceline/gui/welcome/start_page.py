"""What an empty chat shows: a heading, a sentence, and questions that one click sends.

The questions suit the pair that is loaded. The demo pair has read Python's documentation and
nothing else, so it is asked about that alone. Other models get questions whose replies repeat
themselves in different ways, to show which drafter pays, and one whose reply does not: with
SmolLM2-135M, greedily and under Auto, they ran at 1.20, 1.12, 1.00 and 1.08 times plain decoding
(AVX-512, one thread). Models for code are recognised by their names, since nothing else tells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QCoreApplication, Qt, Signal, Slot
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from paceline.catalog.judge.curated import words_of
from paceline.gui.welcome.option_button import OptionButton

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QResizeEvent

_CODERS = frozenset({"coder", "code", "codestral", "starcoder", "codegemma", "devstral"})
_IN_ENGLISH = (
    "Write a JSON list of four cities, each with name, country and population.",
    "Write Python functions that add, subtract, multiply and divide two numbers.",
    "Explain what a lighthouse is.",
    "Write a Python class Point with methods to add, subtract and compare points.",
)
_WIDEST = 640
_TWO_FROM = 460


class StartPage(QWidget):
    """Centred; the questions are in two columns where there is room."""

    question_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title, self._body = QLabel(), QLabel()
        self._title.setProperty("role", "heading")
        self._body.setProperty("role", "muted")
        for label in (self._title, self._body):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            label.setWordWrap(True)
        self.questions: list[OptionButton] = []
        self._grid = QGridLayout()
        self._grid.setSpacing(10)
        self._n_columns = 0
        inside = QWidget()
        inside.setMaximumWidth(_WIDEST)
        column = QVBoxLayout(inside)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addStretch(1)
        column.addWidget(self._title)
        column.addWidget(self._body)
        column.addSpacing(10)
        column.addLayout(self._grid)
        column.addStretch(1)
        row = QHBoxLayout(self)
        row.setContentsMargins(24, 12, 24, 12)
        row.addStretch(1)
        row.addWidget(inside, 1000)
        row.addStretch(1)

    def say(self, title: str, body: str) -> None:
        """Show a heading and a sentence."""
        self._title.setText(title)
        self._body.setText(body)

    def offer(self, questions: Sequence[tuple[str, str]]) -> None:
        """Show these questions, each with a remark."""
        if [button.words for button in self.questions] == [text for text, _ in questions]:
            return
        for button in self.questions:
            self._grid.removeWidget(button)
            button.hide()
            button.deleteLater()
        self.questions = []
        for text, remark in questions:
            button = OptionButton(text, remark)
            # Those of one row have the same height.
            button.setSizePolicy(QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Minimum)
            button.clicked.connect(self._on_clicked)
            self.questions.append(button)
        self._n_columns = 0
        self._lay_out()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """One column where it is narrow."""
        super().resizeEvent(event)
        self._lay_out()

    def _lay_out(self) -> None:
        n_columns = 2 if self.width() >= _TWO_FROM else 1
        if n_columns == self._n_columns:
            return
        self._n_columns = n_columns
        self._grid.setColumnStretch(0, 1)
        self._grid.setColumnStretch(1, n_columns - 1)
        for at, button in enumerate(self.questions):
            self._grid.addWidget(button, at // n_columns, at % n_columns)

    @Slot()
    def _on_clicked(self) -> None:
        sender = self.sender()
        if isinstance(sender, OptionButton):
            self.question_chosen.emit(sender.words)


class Starter(NamedTuple):
    """One question, and what to look at in its reply; empty: nothing in particular."""

    text: str
    look: str = ""


def starters(target_name: str, *, is_demo: bool) -> tuple[Starter, ...]:
    """Return four questions, the most telling first.

    Args:
        target_name: What the target is called; may be empty.
        is_demo: Whether it is the built-in one.
    """
    if is_demo:
        return (
            # In English in every language of the interface: the models know no other language.
            Starter("How do I open a file?"),
            Starter("What does os.path.join do?"),
            Starter("Show me an example of a class."),
            Starter("How do I use argparse?"),
        )
    if words_of(target_name) & _CODERS:
        return (
            Starter(
                _tr(
                    "Rename the function add to plus and write all of it again:\n\n"
                    "def add(a, b):\n    return a + b\n\n"
                    "def add_all(numbers):\n    total = 0\n    for number in numbers:\n"
                    "        total = add(total, number)\n    return total"
                ),
                _tr("The code comes back from your own message."),
            ),
            Starter(
                _tr("Write unit tests for a function that parses dates."),
                _tr("Every test begins like the one before."),
            ),
            Starter(
                _tr("Write a Python dictionary of the months and their number of days."),
                _tr("Lines of one form: drafts of a few tokens."),
            ),
            Starter(
                _tr("Explain what a race condition is, with a short example."),
                _tr("Free text: little to draft from."),
            ),
        )
    looks = (
        _tr("Field names repeat, so lookups draft them."),
        _tr("Each function begins like the one before."),
        _tr("Free text: little to draft from, so plain speed."),
        _tr("Drafts of a few tokens, here and there."),
    )
    texts = _IN_ENGLISH
    if "smollm2" not in words_of(target_name):  # which knows no other language
        texts = (
            _tr("Write a JSON list of four cities, each with name, country and population."),
            _tr("Write Python functions that add, subtract, multiply and divide two numbers."),
            _tr("Explain what a lighthouse is."),
            _tr("Write a Python class Point with methods to add, subtract and compare points."),
        )
    return tuple(map(Starter, texts, looks))


def _tr(text: str) -> str:
    return QCoreApplication.translate("Starters", text)
