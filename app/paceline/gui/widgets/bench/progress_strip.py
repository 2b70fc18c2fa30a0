"""How a benchmark stands: what is being measured, time left, and a way to stop it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QProgressBar, QPushButton, QVBoxLayout

from paceline.gui.scale import GAP, HALF, STEP
from paceline.gui.theme import restyle

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

_PARTS = 1000


class ProgressStrip(QFrame):
    """Two lines above a bar."""

    stop_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "notice")
        self.state = QLabel()
        self.state.setWordWrap(True)
        self.state.setTextFormat(Qt.TextFormat.PlainText)
        self.left = QLabel()
        self.left.setProperty("role", "muted")
        self.now = QLabel()
        self.now.setProperty("role", "small")
        self.now.setWordWrap(True)
        self.now.setTextFormat(Qt.TextFormat.PlainText)
        self.bar = QProgressBar()
        self.bar.setRange(0, _PARTS)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(self.tr("Replies that are measured"))
        self.stop = QPushButton(self.tr("Cancel"))
        self.stop.setProperty("kind", "stop")
        self.stop.setAutoDefault(False)
        self.stop.setAccessibleName(self.tr("Cancel the benchmark"))
        self.stop.setAccessibleDescription(self.tr("What was measured so far stays"))
        self.stop.setToolTip(self.tr("What was measured so far stays"))
        self.stop.clicked.connect(self.stop_wanted)
        words = QVBoxLayout()
        words.setSpacing(HALF)
        line = QHBoxLayout()
        line.setSpacing(GAP)
        line.addWidget(self.state, 1)
        line.addWidget(self.left)
        words.addLayout(line)
        words.addWidget(self.now)
        words.addWidget(self.bar)
        row = QHBoxLayout(self)
        row.setContentsMargins(14, STEP + 2, 14, STEP + 2)
        row.setSpacing(2 * STEP)
        row.addLayout(words, 1)
        row.addWidget(self.stop)

    def show_progress(
        self, state: str, now: str, left: str, fraction: float | None, *, is_paused: bool = False
    ) -> None:
        """Show how it stands.

        Args:
            state: The first line.
            now: What is being measured.
            left: Time left.
            fraction: How much is done, 0..1; None: it has not begun to measure.
            is_paused: Whether it waits for something.
        """
        self.state.setText(state)
        self.now.setText(now)
        self.left.setText(left)
        self.bar.setValue(round((fraction or 0.0) * _PARTS))
        self.bar.setAccessibleDescription(state)
        tone = "lookup" if is_paused else ""
        if self.property("tone") != tone:
            self.setProperty("tone", tone)
            restyle(self)
