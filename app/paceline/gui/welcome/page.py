"""The page of an empty chat: the recorded example at first, questions, and models to get.

It only shows its content; `WelcomeController` decides on it.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QLabel, QScrollArea, QWidget

from paceline.gui.kit.labels import say, text_label
from paceline.gui.kit.layouts import Refits, centred, column_of, discard, grid_of, row_of
from paceline.gui.look.current import look
from paceline.gui.look.scale import GAP, PAGE, STEP, px
from paceline.gui.welcome.example import Example
from paceline.gui.welcome.options import OfferCard, OptionButton
from paceline.gui.welcome.starters import Starter

_ALL_FROM, _TWO_FROM = 600, 400
"""Widths from which all questions, or two, are placed side by side."""


class WelcomePage(Refits, QScrollArea):
    """Page with the example and offers, or with questions alone.

    Attributes:
        questions: The buttons of the questions.
        first: Offers a first chat model.
        get, own: Offer models to download, and models of this computer.
    """

    question_chosen = Signal(object)
    """A `Starter` was clicked"""
    typed = Signal(str)
    """Letters were typed that no part of the page handles."""

    def __init__(self, example: Example) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName(self.tr("Welcome"))
        self.example = example
        self.sign = QLabel()
        self.first, self.get, self.own = OfferCard(), OfferCard(), OfferCard()
        self.questions: list[OptionButton] = []
        self._title = text_label("", "heading", wraps=True, plain=True)
        self._body = text_label("", "muted", wraps=True, plain=True)
        self._grid = grid_of(across=STEP, down=STEP)
        self._offers = QWidget()
        self._pairs = grid_of(on=self._offers, margins=0, across=STEP, down=STEP)
        self._n_columns = 0
        self._is_first = True
        self._build()

    def _build(self) -> None:
        name = text_label("Paceline", "heading")
        claim = text_label(
            self.tr(
                "Language models on your own machine, made faster by drafts: the text is the "
                "same, only faster."
            ),
            "muted",
            wraps=True,
        )
        self._head = QWidget()
        middle = Qt.AlignmentFlag.AlignVCenter
        row_of(
            (self.sign, 0, middle), (name, 0, middle), (claim, 1, middle),
            on=self._head, margins=0, spacing=GAP,
        )  # fmt: skip
        self._inside = inside = QWidget()
        self._column = column_of(
            None, self._head, (self.example, 1), STEP, self._title, self._body,
            self.first, self._grid, self._offers, None, on=inside, margins=0, spacing=STEP,
        )  # fmt: skip
        page = QWidget()
        page.setObjectName("chat_page")
        page.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        page.setLayout(centred(inside, margins=(PAGE, GAP, PAGE, GAP)))
        self.setWidget(page)
        look.follow(self._on_look)
        for part in (page, self.viewport()):  # opaque, they are not painted anew with their parents
            part.setAutoFillBackground(False)

    def show_first(self, *, is_first: bool) -> None:
        """Show the example and the offers, too, or only the questions."""
        self._is_first = is_first
        for part in (self._head, self.example, self._offers):
            part.setVisible(is_first)
        self._column.setStretch(0, 0 if is_first else 1)  # the example takes the available space
        self._column.setStretch(self._column.count() - 1, 0 if is_first else 1)
        self._fit()

    def say(self, title: str, body: str) -> None:
        """Show a heading and a sentence above the questions."""
        say(self._title, title)
        say(self._body, body)

    def offer(self, starters: Sequence[Starter]) -> None:
        """Show these questions."""
        if [button.starter for button in self.questions] == list(starters):
            return
        discard(self.questions, self._grid)
        self.questions = [OptionButton(starter) for starter in starters]
        for button in self.questions:
            button.clicked.connect(self._on_clicked)
        self._n_columns = 0
        self._fit()

    def _fit(self) -> None:
        """Place questions and offers side by side where they fit."""
        width = self.viewport().width() - 2 * PAGE
        is_wide = width >= px(_ALL_FROM)
        n_columns = 4 if is_wide and self._is_first else 2 if width >= px(_TWO_FROM) else 1
        if n_columns == self._n_columns:
            return
        self._n_columns = n_columns
        for column in range(4):
            self._grid.setColumnStretch(column, 1 if column < n_columns else 0)
        for at, button in enumerate(self.questions):
            self._grid.addWidget(button, at // n_columns, at % n_columns)
        for at, offer in enumerate((self.get, self.own)):
            self._pairs.addWidget(offer, *((0, at) if is_wide else (at, 0)))

    @Slot()
    def _on_look(self) -> None:
        """Set the composer's width."""
        self._inside.setMaximumWidth(look.column_px)

    @Slot()
    def _on_clicked(self) -> None:
        sender = self.sender()
        if isinstance(sender, OptionButton):
            self.question_chosen.emit(sender.starter)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Pass letters on, so that none is lost wherever the focus is."""
        commands = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
        if event.text().isprintable() and event.text() and not event.modifiers() & commands:
            self.typed.emit(event.text())
        else:
            super().keyPressEvent(event)
