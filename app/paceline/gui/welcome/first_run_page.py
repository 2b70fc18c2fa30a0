"""The page of the first start: what this is, what was found here, and three ways to begin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from paceline.gui.kit.card import Card
from paceline.gui.welcome.first_pairs import own_models
from paceline.gui.welcome.option_button import OptionButton
from paceline.sizes import readable_size

if TYPE_CHECKING:
    from PySide6.QtGui import QPixmap, QResizeEvent

    from paceline.catalog.local.library import LibraryEntry
    from paceline.messages import DeviceInfo

_FACT_PX = 170
_WIDEST = 1080
_THREE_FROM, _TWO_FROM = 780, 600
"""Widths of the page from which ways stand beside each other."""


class FirstRunPage(QScrollArea):
    """Shows; who decides what is in it is `WelcomeController`."""

    skipped = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName(self.tr("Welcome"))
        self.sign = QLabel()
        self.machine = MachineCard()
        self.first = WayCard("", "")
        self.own = WayCard(self.tr("Use a model of yours"), "")
        self.get = WayCard(self.tr("Get a recommended pair"), "")
        self.demo = QPushButton(self.tr("Try the built-in pair"))
        self.demo.setToolTip(
            self.tr("Two tiny models, one drafting for the other: how a pair works together.")
        )
        self.skip = QPushButton(self.tr("Skip this page"))
        for button in (self.demo, self.skip):
            button.setProperty("kind", "quiet")
        self.skip.clicked.connect(self.skipped)
        self._ways = QGridLayout()
        self._ways.setSpacing(14)
        self._n_columns = 0
        self._build()
        self._lay_out()

    def _build(self) -> None:
        title = QLabel("Paceline")
        title.setProperty("role", "heading")
        sentence = QLabel(
            self.tr(
                "Chat with language models on your own machine, made faster by speculative "
                "decoding that you can watch at work."
            )
        )
        sentence.setProperty("role", "muted")
        sentence.setWordWrap(True)
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(title)
        words.addWidget(sentence)
        head = QHBoxLayout()
        head.setSpacing(14)
        head.addWidget(self.sign, 0, Qt.AlignmentFlag.AlignTop)
        head.addLayout(words, 1)
        column = QVBoxLayout()
        column.setSpacing(16)
        column.addStretch(1)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(self.demo)
        buttons.addWidget(self.skip)
        buttons.addStretch(1)
        column.addLayout(head)
        column.addLayout(self._ways)
        column.addLayout(buttons)
        column.addWidget(self.machine)
        column.addStretch(2)
        inside = QWidget()
        inside.setLayout(column)
        inside.setMaximumWidth(_WIDEST)
        page = QWidget()
        page.setObjectName("chat_page")
        page.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        row = QHBoxLayout(page)
        row.setContentsMargins(24, 20, 24, 20)
        row.addStretch(1)
        row.addWidget(inside, 1000)
        row.addStretch(1)
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

    def show_sign(self, picture: QPixmap) -> None:
        """Show the program's sign."""
        self.sign.setPixmap(picture)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the ways beside or below each other."""
        super().resizeEvent(event)
        self._lay_out()

    def _lay_out(self) -> None:
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
    other_chosen = Signal()

    def __init__(self, title: str, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.set_title(title)
        self._text = QLabel()
        self._text.setProperty("role", "muted")
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        self._text.setWordWrap(True)
        self.options: list[OptionButton] = []
        self.other = QPushButton()
        self.other.clicked.connect(self.other_chosen)
        self.other.hide()
        self.body.setSpacing(8)
        self.body.addWidget(self._text)
        self.body.addStretch(1)
        self.body.addWidget(self.other, 0, Qt.AlignmentFlag.AlignLeft)
        self.say(text)

    def say(self, text: str) -> None:
        """Show another sentence."""
        self._text.setText(text)

    def offer_other(self, text: str, *, is_main: bool = False) -> None:
        """Show the button at the bottom."""
        self.other.setProperty("kind", "primary" if is_main else None)
        self.other.setText(text)
        self.other.setVisible(bool(text))

    def offer(self, options: Sequence[tuple[str, str]]) -> None:
        """Show these options, each a line and a remark; the same ones stay as they are."""
        for button, (text, remark) in zip(self.options, options, strict=False):
            button.say(text, remark)
        for text, remark in options[len(self.options) :]:
            button = OptionButton(text, remark)
            button.clicked.connect(self._on_clicked)
            self.options.append(button)
            self.body.insertWidget(self.body.count() - 2, button)
        for button in self.options[len(options) :]:
            self.body.removeWidget(button)
            button.deleteLater()
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
        free = _tr("{} free").format(readable_size(cpu.free_bytes))
        facts.append(Fact(_tr("Processor"), cpu.description.strip() or cpu.name))
        facts.append(Fact(_tr("Memory"), readable_size(cpu.total_bytes), free))
    for gpu in gpus[:2]:
        size = _tr("{} of memory").format(readable_size(gpu.total_bytes))
        facts.append(Fact(_tr("Graphics"), gpu.description.strip() or gpu.name, size))
    if not gpus:
        facts.append(
            Fact(_tr("Graphics"), _tr("processor only"), _tr("no GPU that llama.cpp can use"))
        )
    return tuple(facts)


def models_fact(entries: Sequence[LibraryEntry], *, is_looking: bool) -> Fact:
    """Return what is known of the models on this computer so far."""
    own = own_models(entries)
    title = _tr("Your models")
    remark = _tr("still looking…") if is_looking else ""
    if not own:
        return Fact(title, _tr("looking…") if is_looking else _tr("none yet"))
    size = readable_size(sum(each.file.n_bytes for each in own))
    if len(own) == 1:
        return Fact(title, _tr("1 model, {}").format(size), remark)
    return Fact(title, _tr("{} models, {}").format(len(own), size), remark)


class MachineCard(Card):
    """Facts that may change while one looks at them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.set_title(self.tr("Found on this machine"))
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(18)
        self._grid.setVerticalSpacing(12)
        self.body.addLayout(self._grid)
        self._facts: list[_FactLabels] = []
        self._n_columns = 0

    def show_facts(self, facts: Sequence[Fact]) -> None:
        """Show these facts."""
        if len(facts) != len(self._facts):
            for labels in self._facts:
                self._grid.removeWidget(labels)
                labels.deleteLater()
            self._facts = [_FactLabels() for _ in facts]
            self._n_columns = 0
        for labels, fact in zip(self._facts, facts, strict=True):
            labels.show_fact(fact)
        self._lay_out()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Use as many columns as there is room for."""
        super().resizeEvent(event)
        self._lay_out()

    def _lay_out(self) -> None:
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
        self._labels = [QLabel(), QLabel(), QLabel()]
        column = QGridLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setVerticalSpacing(1)
        roles = ("section", "value", "small")
        for row, (label, role) in enumerate(zip(self._labels, roles, strict=True)):
            label.setProperty("role", role)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(True)
            column.addWidget(label, row, 0)
        column.setRowStretch(len(roles), 1)

    def show_fact(self, fact: Fact) -> None:
        for label, text in zip(self._labels, (fact.title, fact.value, fact.remark), strict=True):
            label.setText(text)
            label.setVisible(bool(text))
        self.setAccessibleName(f"{fact.title}: {fact.value} {fact.remark}".strip())


def _tr(text: str) -> str:
    return QCoreApplication.translate("Machine", text)
