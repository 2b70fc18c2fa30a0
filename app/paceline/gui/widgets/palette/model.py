"""The rows of the palette for Qt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, Qt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paceline.gui.widgets.palette.commands import Row

ROW_ROLE = int(Qt.ItemDataRole.UserRole)

Index = QModelIndex | QPersistentModelIndex


class PaletteModel(QAbstractListModel):
    """A list of `Row`s."""

    _rows: Sequence[Row] = ()

    def show_rows(self, rows: Sequence[Row]) -> None:
        """Show other ones."""
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    def rowCount(self, parent: Index | None = None) -> int:
        """How many there are."""
        return 0 if parent is not None and parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        """A title, a row, or the words of a screen reader."""
        row = self._rows[index.row()]
        command = row.command
        if role == Qt.ItemDataRole.DisplayRole:
            return command.title
        if role == ROW_ROLE:
            return row
        if role == Qt.ItemDataRole.ToolTipRole:
            return command.obstacle or None
        if role == Qt.ItemDataRole.AccessibleTextRole:
            parts = (command.title, command.group, command.keys, command.obstacle)
            return ", ".join(part for part in parts if part)
        return None
