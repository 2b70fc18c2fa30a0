"""One of the three ways to begin: a title, a sentence, and buttons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from paceline.gui.widgets.card import Card
from paceline.gui.widgets.welcome.option_button import OptionButton

if TYPE_CHECKING:
    from collections.abc import Sequence


class WayCard(Card):
    """Options, one click each, and below them a button for whoever wants something else."""

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
