"""A table of figures, which hides columns where space is short, and its model."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QObject, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QTableView

from paceline.gui.kit.layouts import RefitsWords
from paceline.gui.kit.rows import Index
from paceline.gui.look.scale import px

ROW_PX = 38
_BESIDE_PX = 22
"""Pixels of a cell beside its text."""
_NAME_PX = 220
"""Pixels reserved for names before other columns get any, if the names are that long."""


class FiguresModel(QAbstractTableModel):
    """Texts in columns, figures aligned right; subclasses supply the texts.

    Args:
        n_columns: All columns, hidden ones included.
        at_left: Columns that are aligned left, as words are.
        parent: Qt's parent.
    """

    def __init__(
        self, n_columns: int, at_left: Collection[int], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._n_columns, self._at_left = n_columns, at_left

    def titles(self) -> Sequence[str]:
        """Return the names of the columns."""
        raise NotImplementedError

    def explanations(self) -> Sequence[str]:
        """Return a sentence about each column, or empty if its name says enough."""
        raise NotImplementedError

    def text(self, row: int, column: int) -> str:
        """Return the text of a cell."""
        raise NotImplementedError

    def hint(self, row: int, column: int) -> str:
        """Return the tool tip of a cell, or empty."""
        raise NotImplementedError

    def colour(self, row: int, column: int) -> QColor | None:
        """Return the colour of a cell's text, or None for the usual one."""
        raise NotImplementedError

    def columnCount(self, parent: Index | None = None) -> int:
        """Return the number of all columns."""
        return 0 if parent is not None and parent.isValid() else self._n_columns

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """Return the name of a column, or its explanation."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self.titles()[section]
            case Qt.ItemDataRole.ToolTipRole:
                return self.explanations()[section]
            case Qt.ItemDataRole.TextAlignmentRole:
                return self._side(section)
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return the text of a cell, or its appearance."""
        if not index.isValid():
            return None
        row, column = index.row(), index.column()
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self.text(row, column)
            case Qt.ItemDataRole.ToolTipRole:
                return self.hint(row, column)
            case Qt.ItemDataRole.ForegroundRole:
                return self.colour(row, column)
            case Qt.ItemDataRole.TextAlignmentRole:
                return self._side(column)
        return None

    def _side(self, column: int) -> Qt.AlignmentFlag:
        is_left = column in self._at_left
        side = Qt.AlignmentFlag.AlignLeft if is_left else Qt.AlignmentFlag.AlignRight
        return side | Qt.AlignmentFlag.AlignVCenter


class FiguresTable(RefitsWords, QTableView):
    """Rows of texts; one of them is selected.

    Args:
        figures: The model with the texts.
        name: The column that takes the remaining width.
        giving_way: Columns that are hidden where space is short, the first one first.
    """

    def __init__(self, figures: FiguresModel, name: int, giving_way: Sequence[int]) -> None:
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
        """Fit the columns to the present widths of their texts."""
        self._fit()

    def _fit(self) -> None:
        """Hide columns that do not fit."""
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
        """Return the width of a column's texts."""
        model, metrics = self.model(), self.fontMetrics()
        texts = [model.index(row, column).data() for row in range(model.rowCount())]
        texts.append(model.headerData(column, Qt.Orientation.Horizontal))
        width = max(metrics.horizontalAdvance(text) for text in texts) + px(_BESIDE_PX)
        return min(width, px(_NAME_PX)) if column == self._name else width
