"""What an empty chat shows: a heading, a sentence, and questions that one click sends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from paceline.gui.widgets.welcome.option_button import OptionButton

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QResizeEvent

_WIDEST = 640
_TWO_FROM = 460


class StartPage(QWidget):
    """Centred; the questions stand in two columns where there is room."""

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
            # Those that stand in one row are of one height.
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
