"""What was found on this machine: short facts side by side, below each other where it is narrow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from paceline.gui.widgets.card import Card

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QResizeEvent

    from paceline.gui.viewmodels.machine import Fact

_FACT_PX = 170


class _FactLabels(QWidget):
    """Title, value and remark."""

    def __init__(self) -> None:
        super().__init__()
        self._labels = [QLabel(), QLabel(), QLabel()]
        column = QGridLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setVerticalSpacing(1)
        roles = ("section", "value", "small")
        for row, (label, role) in enumerate(zip(self._labels, roles, strict=True)):
            label.setProperty("role", role)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(True)
            column.addWidget(label, row, 0)
        column.setRowStretch(len(roles), 1)

    def show_fact(self, fact: Fact) -> None:
        for label, text in zip(self._labels, (fact.title, fact.value, fact.remark), strict=True):
            label.setText(text)
            label.setVisible(bool(text))
        self.setAccessibleName(f"{fact.title}: {fact.value} {fact.remark}".strip())


class MachineCard(Card):
    """Facts that may change while one looks at them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.set_title(self.tr("Found on this machine"))
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(18)
        self._grid.setVerticalSpacing(12)
        self.body.addLayout(self._grid)
        self._facts: list[_FactLabels] = []
        self._n_columns = 0

    def show_facts(self, facts: Sequence[Fact]) -> None:
        """Show these facts."""
        if len(facts) != len(self._facts):
            for labels in self._facts:
                self._grid.removeWidget(labels)
                labels.deleteLater()
            self._facts = [_FactLabels() for _ in facts]
            self._n_columns = 0
        for labels, fact in zip(self._facts, facts, strict=True):
            labels.show_fact(fact)
        self._lay_out()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Use as many columns as there is room for."""
        super().resizeEvent(event)
        self._lay_out()

    def _lay_out(self) -> None:
        most = max(1, min(len(self._facts) or 1, (self.width() - 28) // _FACT_PX))
        rows = -(-len(self._facts) // most)
        n_columns = -(-len(self._facts) // max(rows, 1)) or 1  # 2 and 2, not 3 and 1
        if n_columns == self._n_columns:
            return
        for column in range(max(n_columns, self._n_columns)):
            self._grid.setColumnStretch(column, 1 if column < n_columns else 0)
        self._n_columns = n_columns
        for at, labels in enumerate(self._facts):
            self._grid.addWidget(labels, at // n_columns, at % n_columns)
