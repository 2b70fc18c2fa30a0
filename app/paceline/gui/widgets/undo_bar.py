"""The offer to bring back what was just deleted; it goes by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton

from paceline.gui.widgets.elided_label import ElidedLabel

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

UNDO_MS = 10_000
_LABEL_PX = 400


class UndoBar(QFrame):
    """What was deleted and a button; hidden while there is nothing to undo."""

    wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "notice")
        self._words = ElidedLabel(_LABEL_PX, Qt.TextElideMode.ElideRight)
        self._words.setProperty("role", "small")
        self.button = QPushButton(self.tr("Undo"))
        self.button.setProperty("kind", "quiet")
        self.button.clicked.connect(self._on_clicked)
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 2, 4, 2)
        row.addWidget(self._words)
        row.addStretch(1)
        row.addWidget(self.button)
        self.hide()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(UNDO_MS)
        self._timer.timeout.connect(self.hide)

    @property
    def words(self) -> str:
        """What it says."""
        return self._words.full_text

    def offer(self, words: str) -> None:
        """Show the bar, for the whole time again."""
        self._words.set_full_text(words)
        self.button.setAccessibleDescription(words)
        self.show()
        self._timer.start()

    def take_back(self) -> None:
        """Hide the bar; nothing is said."""
        self._timer.stop()
        self.hide()

    @Slot()
    def _on_clicked(self) -> None:
        self.take_back()
        self.wanted.emit()
