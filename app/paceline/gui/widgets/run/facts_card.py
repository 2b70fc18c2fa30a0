"""Rows of a name and a value; the values can be selected and copied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from paceline.gui.widgets.card import Card
from paceline.gui.widgets.soft_breaks import BreakingLabel, with_soft_breaks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paceline.gui.viewmodels.run_details import Row

NAME_PX = 132


class FactsCard(Card):
    """Shows what it is told, and hides when that is nothing."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.set_title(title)
        self.grid = QGridLayout()
        self.grid.setHorizontalSpacing(12)
        self.grid.setVerticalSpacing(6)
        self.grid.setColumnMinimumWidth(0, NAME_PX)
        self.grid.setColumnStretch(1, 1)
        self.body.addLayout(self.grid)
        self._rows: list[tuple[QLabel, BreakingLabel]] = []

    @property
    def rows(self) -> dict[str, str]:
        """What is shown, as it can be copied."""
        return {
            name.text(): value.property("whole")
            for name, value in self._rows
            if not name.isHidden()
        }

    def show_rows(self, rows: Sequence[Row]) -> None:
        """Show these rows in place of others."""
        while len(self._rows) < len(rows):
            self._add_row()
        for at, (name, value) in enumerate(self._rows):
            is_used = at < len(rows)
            name.setVisible(is_used)
            value.setVisible(is_used)
            if is_used:
                name.setText(rows[at][0])
                value.setText(with_soft_breaks(rows[at][1]))
                value.setProperty("whole", rows[at][1])
                value.setAccessibleName(f"{rows[at][0]}: {rows[at][1]}")
        self.setVisible(bool(rows))

    def _add_row(self) -> None:
        at = len(self._rows)
        name, value = QLabel(), BreakingLabel()
        name.setProperty("role", "muted")
        value.setProperty("role", "value")
        value.setTextFormat(Qt.TextFormat.PlainText)
        self._rows.append((name, value))
        top = Qt.AlignmentFlag.AlignTop
        self.grid.addWidget(name, at, 0, top)
        self.grid.addWidget(value, at, 1, top)
