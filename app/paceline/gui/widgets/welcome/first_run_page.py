"""The first page that anybody sees: what this is, what was found, and three ways to begin.

It stands where the chat will be, so that the window behind it is the window itself and nothing has
to be closed. Whoever just writes a message needs none of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
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

from paceline.gui.widgets.welcome.machine_card import MachineCard
from paceline.gui.widgets.welcome.way_card import WayCard

if TYPE_CHECKING:
    from PySide6.QtGui import QPixmap, QResizeEvent

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
