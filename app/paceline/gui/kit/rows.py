"""A list of values for a view, with their words; views and delegates get the value by `ROW`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import groupby
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from paceline.names import visible

Index = QModelIndex | QPersistentModelIndex
ROW = int(Qt.ItemDataRole.UserRole) + 1
"""Role of a row's value."""
_Row = TypeVar("_Row")


class Rows(QAbstractListModel, Generic[_Row]):
    """Model of values; subclasses supply the words.

    Attributes:
        rows: The values.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: tuple[_Row, ...] = ()

    def set_rows(self, rows: Iterable[_Row]) -> None:
        """Replace the rows."""
        self.beginResetModel()
        self.rows = tuple(rows)
        self.endResetModel()

    def update_rows(self, rows: Iterable[_Row], key: Callable[[_Row], Hashable]) -> None:
        """Replace the rows; views keep their scroll position and selection.

        Args:
            rows: The new rows.
            key: Returns the identity of a row, unique and constant while its value changes.
        """
        rows = tuple(rows)
        place = {key(row): at for at, row in enumerate(rows)}
        gone = [at for at, row in enumerate(self.rows) if key(row) not in place]
        for first, last in reversed(_runs(gone)):
            self.beginRemoveRows(QModelIndex(), first, last)
            self.rows = self.rows[:first] + self.rows[last + 1 :]
            self.endRemoveRows()
        self._reorder([place[key(row)] for row in self.rows])
        known = {key(row) for row in self.rows}
        for first, last in _runs([at for at, row in enumerate(rows) if key(row) not in known]):
            self.beginInsertRows(QModelIndex(), first, last)
            self.rows = self.rows[:first] + rows[first : last + 1] + self.rows[first:]
            self.endInsertRows()
        before, self.rows = self.rows, rows
        changed = [at for at, (a, b) in enumerate(zip(before, rows, strict=True)) if a != b]
        for first, last in _runs(changed):
            self.dataChanged.emit(self.index(first), self.index(last))

    def _reorder(self, places: Sequence[int]) -> None:
        """Sort the rows by their new places."""
        order = sorted(range(len(places)), key=places.__getitem__)
        if order == list(range(len(places))):
            return
        self.layoutAboutToBeChanged.emit()
        now_at = {before: now for now, before in enumerate(order)}
        self.rows = tuple(self.rows[before] for before in order)
        held = self.persistentIndexList()
        self.changePersistentIndexList(held, [self.index(now_at[each.row()]) for each in held])
        self.layoutChanged.emit()

    def title(self, row: _Row) -> str:
        """Return the title of a row."""
        raise NotImplementedError

    def spoken(self, row: _Row) -> str:
        """Return the words for screen readers."""
        return self.title(row)

    def tip(self, _row: _Row) -> str:
        """Return the tool tip, or empty."""
        return ""

    def rowCount(self, parent: Index | None = None) -> int:
        """Return the number of rows."""
        return 0 if parent is not None and parent.isValid() else len(self.rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return the value of a row, or words about it."""
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


def _runs(places: Iterable[int]) -> list[tuple[int, int]]:
    """Return the first and the last of each run of places that follow one another."""
    runs = [list(run) for _, run in groupby(enumerate(places), lambda pair: pair[1] - pair[0])]
    return [(run[0][1], run[-1][1]) for run in runs]
