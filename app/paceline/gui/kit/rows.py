"""A list of values for a view, each with its words; views and delegates get the value by `ROW`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from paceline.names import visible

Index = QModelIndex | QPersistentModelIndex
ROW = int(Qt.ItemDataRole.UserRole) + 1
"""The value of a row."""
_Row = TypeVar("_Row")


class Rows(QAbstractListModel, Generic[_Row]):
    """Shows values; a class for each kind of them has the words.

    Attributes:
        rows: The values.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: tuple[_Row, ...] = ()

    def set_rows(self, rows: Iterable[_Row]) -> None:
        """Show other ones."""
        self.beginResetModel()
        self.rows = tuple(rows)
        self.endResetModel()

    def add_rows(self, rows: Sequence[_Row]) -> None:
        """Show some more below."""
        if rows:
            n_before = len(self.rows)
            self.beginInsertRows(QModelIndex(), n_before, n_before + len(rows) - 1)
            self.rows += tuple(rows)
            self.endInsertRows()

    def title(self, row: _Row) -> str:
        """What a row is called."""
        raise NotImplementedError

    def spoken(self, row: _Row) -> str:
        """What a screen reader says of it."""
        return self.title(row)

    def tip(self, _row: _Row) -> str:
        """What is said while the pointer rests on it; empty: nothing."""
        return ""

    def rowCount(self, parent: Index | None = None) -> int:
        """How many there are."""
        return 0 if parent is not None and parent.isValid() else len(self.rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The value of a row, or words about it."""
        if not index.isValid():
            return None
        row = self.rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return visible(self.title(row))
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return visible(self.spoken(row))
        if role == Qt.ItemDataRole.ToolTipRole:
            return visible(self.tip(row)) or None
        return row if role == ROW else None
