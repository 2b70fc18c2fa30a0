"""How a check of sameness stands: progress with a way to stop it, then what it found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
)

from paceline.gui.theme import restyle
from paceline.gui.viewmodels.sameness_words import SamenessWords, progress_words

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget


class SamenessStrip(QFrame):
    """Hidden while there is nothing to tell."""

    stop_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "notice")
        self.verdict = QLabel()
        self.verdict.setWordWrap(True)
        self.verdict.setTextFormat(Qt.TextFormat.PlainText)
        self.verdict.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.details = QLabel()
        self.details.setProperty("role", "small")
        self.details.setWordWrap(True)
        self.details.setTextFormat(Qt.TextFormat.PlainText)
        self.details.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.bar = QProgressBar()
        self.bar.setFixedWidth(160)
        self.bar.setAccessibleName(self.tr("Tokens compared"))
        self.stop = QPushButton(self.tr("Stop"))
        self.stop.setProperty("kind", "compact")
        self.stop.setAccessibleName(self.tr("Stop the check"))
        self.stop.clicked.connect(self.stop_wanted)
        row = QHBoxLayout()
        row.setSpacing(12)
        row.addWidget(self.verdict, 1)
        row.addWidget(self.bar)
        row.addWidget(self.stop)
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 8, 14, 8)
        column.setSpacing(4)
        column.addLayout(row)
        column.addWidget(self.details)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.hide()

    def clear(self) -> None:
        """There is nothing to tell."""
        self.hide()

    def show_progress(self, n_same: int, n_tokens: int) -> None:
        """A check is under way."""
        self.verdict.setText(progress_words(n_same, n_tokens))
        self.bar.setRange(0, max(n_tokens, 1))
        self.bar.setValue(n_same)
        self.bar.show()
        self.stop.show()
        self.details.hide()
        self._set_tone("")
        self.show()

    def show_words(self, words: SamenessWords) -> None:
        """A check is over, or cannot be made."""
        self.verdict.setText(words.verdict)
        self.details.setText(words.details)
        self.details.setVisible(bool(words.details))
        self.bar.hide()
        self.stop.hide()
        self._set_tone(words.tone)
        self.setAccessibleName(words.verdict)
        self.setAccessibleDescription(words.details)
        self.show()

    def show_problem(self, message: str) -> None:
        """Something else failed."""
        self.show_words(SamenessWords("danger", message))

    def _set_tone(self, tone: str) -> None:
        if self.property("tone") != tone:
            self.setProperty("tone", tone)
            restyle(self)
