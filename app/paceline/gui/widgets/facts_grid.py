"""Names and what is said of them, in two columns, to select from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from paceline.gui.scale import HALF, STEP
from paceline.gui.widgets.soft_breaks import BreakingLabel, with_soft_breaks

if TYPE_CHECKING:
    from collections.abc import Sequence


class FactsGrid(QWidget):
    """Shows pairs of a name and a text."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(2 * STEP)
        self._grid.setVerticalSpacing(HALF)
        self._grid.setColumnStretch(1, 1)
        self._labels: list[QLabel] = []

    def show_facts(self, facts: Sequence[tuple[str, str]]) -> None:
        """Show these and no others."""
        for label in self._labels:
            label.hide()
            label.deleteLater()
        self._labels = []
        for row, (name, words) in enumerate(facts):
            title = QLabel(name)
            title.setProperty("role", "muted")
            text = BreakingLabel()
            text.setText(with_soft_breaks(words))
            text.setAccessibleName(f"{name}: {words}")
            self._grid.addWidget(title, row, 0, Qt.AlignmentFlag.AlignTop)
            self._grid.addWidget(text, row, 1)
            self._labels += [title, text]
