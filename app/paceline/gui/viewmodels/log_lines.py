"""The lines of the log that fit a level and some words, as a list for Qt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, Qt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtCore import QObject

    from paceline.gui.log_tail import LogLine

LEVEL_ROLE = int(Qt.ItemDataRole.UserRole)
MOST_LINES = 30_000

Index = QModelIndex | QPersistentModelIndex


class LogLines(QAbstractListModel):
    """Keeps all lines and shows some."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lines: list[LogLine] = []
        self._shown: list[LogLine] = []
        self._level = 0
        self._words: tuple[str, ...] = ()

    @property
    def last_level(self) -> int:
        """The level of the newest line."""
        return self._lines[-1].level if self._lines else 1

    @property
    def longest(self) -> str:
        """The longest of the lines that are shown."""
        return max((line.text for line in self._shown), key=len, default="")

    def replace(self, lines: Sequence[LogLine]) -> None:
        """Show another log."""
        self._lines = list(lines[-MOST_LINES:])
        self._filter()

    def append(self, lines: Sequence[LogLine]) -> None:
        """Add what is new; of very many lines the oldest go."""
        if len(self._lines) + len(lines) > MOST_LINES:
            self.replace([*self._lines, *lines])
            return
        self._lines += lines
        new = [line for line in lines if self._fits(line)]
        if new:
            first = len(self._shown)
            self.beginInsertRows(QModelIndex(), first, first + len(new) - 1)
            self._shown += new
            self.endInsertRows()

    def set_level(self, level: int) -> None:
        """Show lines of this level and above."""
        self._level = level
        self._filter()

    def set_search(self, text: str) -> None:
        """Show lines with all words of a text."""
        self._words = tuple(text.casefold().split())
        self._filter()

    def _filter(self) -> None:
        self.beginResetModel()
        self._shown = [line for line in self._lines if self._fits(line)]
        self.endResetModel()

    def _fits(self, line: LogLine) -> bool:
        if line.level < self._level:
            return False
        if not self._words:
            return True
        text = line.text.casefold()
        return all(word in text for word in self._words)

    def rowCount(self, parent: Index | None = None) -> int:
        """How many are shown."""
        return 0 if parent is not None and parent.isValid() else len(self._shown)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        """A line, and its level."""
        if role == Qt.ItemDataRole.DisplayRole:
            return self._shown[index.row()].text
        if role == LEVEL_ROLE:
            return self._shown[index.row()].level
        return None
