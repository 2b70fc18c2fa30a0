"""A choice between two or three things, side by side: a frame of buttons of which one is down."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtWidgets import QButtonGroup, QFrame, QHBoxLayout, QSizePolicy, QToolButton, QWidget

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtWidgets import QAbstractButton

_KEPT = 4
"""Letters of a word that stay; the frame around them takes about two more."""


class _Segment(QToolButton):
    """Cuts its word off where there is no room; the hover text says all."""

    def minimumSizeHint(self) -> QSize:
        """A few letters."""
        hint = self.sizeHint()
        room = (_KEPT + 2) * self.fontMetrics().averageCharWidth()
        return QSize(min(hint.width(), room), hint.height())


class Segments(QFrame):
    """Buttons with a value each; Tab reaches every one, Space chooses."""

    chosen = Signal(str)
    """The value of the button that was pressed"""

    def __init__(
        self, choices: Sequence[tuple[str, str, str]], parent: QWidget | None = None
    ) -> None:
        """Offer triples of a value, its name, and what it means."""
        super().__init__(parent)
        self.setProperty("kind", "segments")
        row = QHBoxLayout(self)
        row.setContentsMargins(2, 2, 2, 2)
        row.setSpacing(2)
        self._group = QButtonGroup(self)
        self.buttons: dict[str, QToolButton] = {}
        for value, name, explanation in choices:
            button = _Segment()
            button.setProperty("kind", "segment")
            button.setText(name)
            button.setCheckable(True)
            button.setToolTip(explanation)
            button.setAccessibleName(name)
            button.setAccessibleDescription(explanation)
            button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
            button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            self._group.addButton(button)
            self.buttons[value] = button
            row.addWidget(button)  # a stretch would make all equally wide, and cut one off
        self._group.buttonClicked.connect(self._on_clicked)

    @property
    def value(self) -> str:
        """What is chosen; empty: nothing yet."""
        return next((value for value, b in self.buttons.items() if b.isChecked()), "")

    def show_value(self, value: str) -> None:
        """Show a choice without telling anybody."""
        self.buttons[value].setChecked(True)

    @Slot("QAbstractButton*")
    def _on_clicked(self, clicked: QAbstractButton) -> None:
        for value, button in self.buttons.items():
            if button is clicked:
                self.chosen.emit(value)
