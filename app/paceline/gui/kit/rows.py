"""A list of values for a view, each with its words; views and delegates get the value by `ROW`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import groupby
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

    def update_rows(self, rows: Iterable[_Row], key: Callable[[_Row], Hashable]) -> None:
        """Show other ones; views keep their place and what is chosen.

        Args:
            rows: All of them.
            key: What a row is known by while its value changes; no two rows have the same.
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
        """Sort the rows by the places that they are to have."""
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


def _runs(places: Iterable[int]) -> list[tuple[int, int]]:
    """Return the first and the last of each run of places that follow one another."""
    runs = [list(run) for _, run in groupby(enumerate(places), lambda pair: pair[1] - pair[0])]
    return [(run[0][1], run[-1][1]) for run in runs]
