"""A table of figures, in which columns give way where there is no room for them."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QAbstractTableModel, Qt
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QTableView

from paceline.gui.kit.layouts import RefitsWords
from paceline.gui.look.scale import px

ROW_PX = 38
_BESIDE_PX = 22
"""Pixels of a cell beside its text."""
_NAME_PX = 220
"""Names get so much before other columns get anything, if they are as long."""


class FiguresTable(RefitsWords, QTableView):
    """Rows of texts; one of them is chosen.

    Args:
        figures: The texts.
        name: The column that takes the room that is left.
        giving_way: Columns that are hidden where there is no room, the first one first.
    """

    def __init__(self, figures: QAbstractTableModel, name: int, giving_way: Sequence[int]) -> None:
        super().__init__()
        self._name, self._giving_way = name, tuple(giving_way)
        self.setModel(figures)
        self.setProperty("kind", "figures")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalHeader().hide()
        header = self.horizontalHeader()
        header.setSectionsClickable(False)
        header.setHighlightSections(False)
        header.setMinimumSectionSize(10)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setSectionResizeMode(name, QHeaderView.ResizeMode.Stretch)

    def refit(self) -> None:
        """Give columns the room that their texts take now."""
        self._fit()

    def _fit(self) -> None:
        """Leave columns out that there is no room for."""
        self.verticalHeader().setDefaultSectionSize(px(ROW_PX))
        widths = {column: self._wanted(column) for column in range(self.model().columnCount())}
        shown = set(widths)
        for column in self._giving_way:
            if sum(widths[each] for each in shown) <= self.viewport().width():
                break
            shown.discard(column)
        for column, width in widths.items():
            self.setColumnHidden(column, column not in shown)
            if column != self._name:
                self.setColumnWidth(column, width)
        self.updateGeometry()

    def _wanted(self, column: int) -> int:
        """Return the width that a column's texts take."""
        model, metrics = self.model(), self.fontMetrics()
        texts = [model.index(row, column).data() for row in range(model.rowCount())]
        texts.append(model.headerData(column, Qt.Orientation.Horizontal))
        width = max(metrics.horizontalAdvance(text) for text in texts) + px(_BESIDE_PX)
        return min(width, px(_NAME_PX)) if column == self._name else width
