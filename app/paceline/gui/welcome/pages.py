"""What an empty chat shows: at the first start the welcome page, later questions to begin with.

The welcome page says what this is, what was found here, and three ways to begin. The questions of
the start page suit the pair that is loaded. The demo pair has read Python's documentation and
nothing else, so it is asked about that alone. Other models get questions whose replies repeat
themselves in different ways, to show which drafter pays, and one whose reply does not: with
SmolLM2-135M, greedily and under Auto, they ran at 1.20, 1.12, 1.00 and 1.08 times plain decoding
(AVX-512, one thread). Models for code are recognised by their names, since nothing else tells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QWidget,
)

from paceline.catalog.judge.curated import words_of
from paceline.catalog.local.library import LibraryEntry
from paceline.gui.kit.card import Card
from paceline.gui.kit.labels import say, text_label
from paceline.gui.kit.layouts import Refits, column_of, discard, fill, grid_of, row_of
from paceline.gui.kit.translation import local_size, translator
from paceline.messages import DeviceInfo

_FACT_PX = 170
_WIDEST = 1080
_THREE_FROM, _TWO_FROM = 780, 600
"""Widths of the page from which ways stand beside each other."""


class FirstRunPage(Refits, QScrollArea):
    """Shows; who decides what is in it is `WelcomeController`."""

    def __init__(self) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName(self.tr("Welcome"))
        self.sign = QLabel()
        self.machine = MachineCard()
        self.first = WayCard("")
        self.own = WayCard(self.tr("Use a model of yours"))
        self.get = WayCard(self.tr("Get a recommended pair"))
        self.demo = QPushButton(self.tr("Try the built-in pair"))
        self.demo.setToolTip(
            self.tr("Two tiny models, one drafting for the other: how a pair works together.")
        )
        self.skip = QPushButton(self.tr("Skip this page"))
        for button in (self.demo, self.skip):
            button.setProperty("kind", "quiet")
        self._ways = grid_of(across=14, down=14)
        self._n_columns = 0
        self._build()
        self._fit()

    def _build(self) -> None:
        title = text_label("Paceline", "heading")
        sentence = text_label(
            self.tr(
                "Chat with language models on your own machine, made faster by speculative "
                "decoding that you can watch at work."
            ),
            "muted",
            wraps=True,
        )
        words = column_of(title, sentence, spacing=2)
        head = row_of((self.sign, 0, Qt.AlignmentFlag.AlignTop), (words, 1), spacing=14)
        column = column_of(None, spacing=16)
        buttons = row_of(None, self.demo, self.skip, None)
        fill(column, head, self._ways, buttons, self.machine, (None, 2))
        inside = QWidget(maximumWidth=_WIDEST)
        inside.setLayout(column)
        page = QWidget()
        page.setObjectName("chat_page")
        page.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        row_of(None, (inside, 1000), None, on=page, margins=(24, 20, 24, 20))
        self.setWidget(page)

    def show_first(self, name: str) -> None:
        """Say with whom the first chat is; empty: with the built-in pair."""
        self.demo.setVisible(bool(name))
        if name:
            self.first.set_title(self.tr("Chat now with {}").format(name))
            self.first.say(
                self.tr(
                    "A small model that talks, and is often wrong. Drafting shows in these replies:"
                )
            )
            return
        self.first.set_title(self.tr("Chat now with the built-in pair"))
        self.first.say(
            self.tr(
                "Two tiny models that have read Python's documentation: no source of answers, and "
                "too small to be made faster, but one sees how it works."
            )
        )

    def _fit(self) -> None:
        """Put the ways beside or below each other."""
        width = self.viewport().width()
        n_columns = 3 if width >= _THREE_FROM else 2 if width >= _TWO_FROM else 1
        if n_columns == self._n_columns:
            return
        self._n_columns = n_columns
        places = {
            1: ((0, 0, 1), (1, 0, 1), (2, 0, 1)),
            2: ((0, 0, 2), (1, 0, 1), (1, 1, 1)),
            3: ((0, 0, 1), (0, 1, 1), (0, 2, 1)),
        }[n_columns]
        for column in range(3):
            self._ways.setColumnStretch(column, 1 if column < n_columns else 0)
        for card, (row, at, span) in zip((self.first, self.own, self.get), places, strict=True):
            self._ways.addWidget(card, row, at, 1, span)


class WayCard(Card):
    """Options, one click each, and below them a button for another choice."""

    chosen = Signal(int)
    """An option was clicked: which."""

    def __init__(self, title: str) -> None:
        super().__init__(title)
        self._text = text_label("", "muted", wraps=True, plain=True)
        self.options: list[OptionButton] = []
        self.other = QPushButton()
        self.other.hide()
        self.body.setSpacing(8)
        fill(self.body, self._text, None, (self.other, 0, Qt.AlignmentFlag.AlignLeft))

    def say(self, text: str) -> None:
        """Show another sentence."""
        self._text.setText(text)

    def offer_other(self, text: str) -> None:
        """Show the button at the bottom."""
        say(self.other, text)

    def offer(self, options: Sequence[tuple[str, str]]) -> None:
        """Show these options, each a line and a remark; the same ones stay as they are."""
        for button, (text, remark) in zip(self.options, options, strict=False):
            button.say(text, remark)
        for text, remark in options[len(self.options) :]:
            button = OptionButton(text, remark)
            button.clicked.connect(self._on_clicked)
            self.options.append(button)
            self.body.insertWidget(self.body.count() - 2, button)
        discard(self.options[len(options) :], self.body)
        del self.options[len(options) :]

    @Slot()
    def _on_clicked(self) -> None:
        sender = self.sender()
        if isinstance(sender, OptionButton) and sender in self.options:
            self.chosen.emit(self.options.index(sender))


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that was found: what it is, and a remark in smaller type."""

    title: str
    value: str
    remark: str = ""


def machine_facts(devices: Sequence[DeviceInfo]) -> tuple[Fact, ...]:
    """Return processor, memory and graphics; no devices: the engine has not answered yet."""
    if not devices:
        looking = _tr("looking…")
        return (
            Fact(_tr("Processor"), looking),
            Fact(_tr("Memory"), looking),
            Fact(_tr("Graphics"), looking),
        )
    cpu = next((each for each in devices if each.kind == "cpu"), None)
    gpus = [each for each in devices if each.kind in ("gpu", "igpu")]
    facts = []
    if cpu is not None:
        free = _tr("{} free").format(local_size(cpu.free_bytes))
        facts.append(Fact(_tr("Processor"), cpu.description.strip() or cpu.name))
        facts.append(Fact(_tr("Memory"), local_size(cpu.total_bytes), free))
    for gpu in gpus[:2]:
        size = _tr("{} of memory").format(local_size(gpu.total_bytes))
        facts.append(Fact(_tr("Graphics"), gpu.description.strip() or gpu.name, size))
    if not gpus:
        facts.append(
            Fact(_tr("Graphics"), _tr("processor only"), _tr("no GPU that llama.cpp can use"))
        )
    return tuple(facts)


def models_fact(own: Sequence[LibraryEntry], *, is_looking: bool) -> Fact:
    """Return what is known of the user's models on this computer so far."""
    title = _tr("Your models")
    remark = _tr("still looking…") if is_looking else ""
    if not own:
        return Fact(title, _tr("looking…") if is_looking else _tr("none yet"))
    size = local_size(sum(each.file.n_bytes for each in own))
    if len(own) == 1:
        return Fact(title, _tr("1 model, {}").format(size), remark)
    return Fact(title, _tr("{} models, {}").format(len(own), size), remark)


class MachineCard(Refits, Card):
    """Facts that may change while one looks at them."""

    def __init__(self) -> None:
        super().__init__()
        self.set_title(self.tr("Found on this machine"))
        self._grid = grid_of(across=18, down=12)
        self.body.addLayout(self._grid)
        self._facts: list[_FactLabels] = []
        self._n_columns = 0

    def show_facts(self, facts: Sequence[Fact]) -> None:
        """Show these facts."""
        if len(facts) != len(self._facts):
            discard(self._facts, self._grid)
            self._facts = [_FactLabels() for _ in facts]
            self._n_columns = 0
        for labels, fact in zip(self._facts, facts, strict=True):
            labels.show_fact(fact)
        self._fit()

    def _fit(self) -> None:
        """Use as many columns as there is room for."""
        most = max(1, min(len(self._facts) or 1, (self.width() - 28) // _FACT_PX))
        rows = -(-len(self._facts) // most)
        n_columns = -(-len(self._facts) // max(rows, 1)) or 1  # 2 and 2, not 3 and 1
        if n_columns == self._n_columns:
            return
        for column in range(max(n_columns, self._n_columns)):
            self._grid.setColumnStretch(column, 1 if column < n_columns else 0)
        self._n_columns = n_columns
        for at, labels in enumerate(self._facts):
            self._grid.addWidget(labels, at // n_columns, at % n_columns)


class _FactLabels(QWidget):
    """Title, value and remark."""

    def __init__(self) -> None:
        super().__init__()
        roles = ("section", "value", "small")
        self._labels = [text_label("", role, wraps=True, plain=True) for role in roles]
        column = grid_of(on=self, margins=0, down=1)
        for row, label in enumerate(self._labels):
            column.addWidget(label, row, 0)
        column.setRowStretch(len(roles), 1)

    def show_fact(self, fact: Fact) -> None:
        for label, text in zip(self._labels, (fact.title, fact.value, fact.remark), strict=True):
            say(label, text)
        self.setAccessibleName(f"{fact.title}: {fact.value} {fact.remark}".strip())


_tr = translator("Welcome")


_CODERS = frozenset({"coder", "code", "codestral", "starcoder", "codegemma", "devstral"})
_IN_ENGLISH = (
    "Write a JSON list of four cities, each with name, country and population.",
    "Write Python functions that add, subtract, multiply and divide two numbers.",
    "Explain what a lighthouse is.",
    "Write a Python class Point with methods to add, subtract and compare points.",
)
_QUESTIONS_PX = 640
_TWO_COLUMNS_FROM = 460


class StartPage(Refits, QWidget):
    """Centred; the questions are in two columns where there is room."""

    question_chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._title = text_label("", "heading", wraps=True, plain=True)
        self._body = text_label("", "muted", wraps=True, plain=True)
        for label in (self._title, self._body):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.questions: list[OptionButton] = []
        self._grid = grid_of(across=10, down=10)
        self._n_columns = 0
        inside = QWidget()
        inside.setMaximumWidth(_QUESTIONS_PX)
        column_of(
            None, self._title, self._body, 10, self._grid, None, on=inside, margins=0, spacing=8
        )
        row_of(None, (inside, 1000), None, on=self, margins=(24, 12, 24, 12))

    def say(self, title: str, body: str) -> None:
        """Show a heading and a sentence."""
        self._title.setText(title)
        self._body.setText(body)

    def offer(self, questions: Sequence[tuple[str, str]]) -> None:
        """Show these questions, each with a remark."""
        if [button.words for button in self.questions] == [text for text, _ in questions]:
            return
        discard(self.questions, self._grid)
        self.questions = []
        for text, remark in questions:
            button = OptionButton(text, remark)
            # Those of one row have the same height.
            button.setSizePolicy(QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Minimum)
            button.clicked.connect(self._on_clicked)
            self.questions.append(button)
        self._n_columns = 0
        self._fit()

    def _fit(self) -> None:
        """One column where it is narrow."""
        n_columns = 2 if self.width() >= _TWO_COLUMNS_FROM else 1
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


_MARGINS = (12, 8, 12, 8)


class OptionButton(Refits, QPushButton):
    """One thing to begin with: a line of text and a smaller one below, which break where they must.

    A `QPushButton` neither wraps nor shows two sizes of type; its labels here take no clicks, and
    the button is as high as they need.
    """

    def __init__(self, text: str, remark: str = "") -> None:
        super().__init__()
        self.setProperty("kind", "option")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._text = text_label("", "", wraps=True, plain=True)
        self._remark = text_label(wraps=True, plain=True)
        self._column = column_of(on=self, margins=_MARGINS, spacing=2)
        for label in (self._text, self._remark):
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            self._column.addWidget(label)
        self.say(text, remark)

    @property
    def words(self) -> str:
        """The main line."""
        return self._text.text()

    def say(self, text: str, remark: str = "") -> None:
        """Show other words."""
        self._text.setText(text)
        say(self._remark, remark)
        self.setAccessibleName(f"{text}. {remark}".strip(". ") if remark else text)
        self._fit()

    def sizeHint(self) -> QSize:
        """As high as the lines at this width."""
        return QSize(200, self._height())

    def minimumSizeHint(self) -> QSize:
        """Narrow, and never cut."""
        return QSize(120, self._height())

    def _height(self) -> int:
        left, top, right, bottom = _MARGINS
        width = max(self.width() - left - right, 80)
        labels = [each for each in (self._text, self._remark) if each.text()]
        lines = sum(label.heightForWidth(width) for label in labels)
        return top + bottom + lines + self._column.spacing() * (len(labels) - 1)

    def _fit(self) -> None:
        """Another width breaks the lines elsewhere."""
        self.setMinimumHeight(self._height())
        # A layout that is resized within its own resizing keeps the geometry from before.
        self._column.invalidate()
        self._column.activate()
