"""The models on this computer as a list for views: sorted here, filtered by a proxy.

Rows come in batches while the files are looked into; the list is never reset, so that a view keeps
its selection and its place. Rows are ordered here, once per batch, because a proxy that sorts would
ask Python for every comparison. Main thread.
"""

from __future__ import annotations

import bisect
from typing import TYPE_CHECKING, Any, Literal

from PySide6.QtCore import (
    QAbstractListModel,
    QCoreApplication,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from pathlib import Path

    from paceline.catalog.local.library import LibraryEntry

ENTRY_ROLE = int(Qt.ItemDataRole.UserRole) + 1
"""The row's `LibraryEntry`."""

Index = QModelIndex | QPersistentModelIndex
_Key = tuple[Any, ...]
_TOP = QModelIndex()


Order = Literal["name", "largest", "smallest", "place"]


def place_title(source: str) -> str:
    """Return what the owner of a place is called."""
    titles = {
        "paceline": "Paceline",
        "folder": QCoreApplication.translate("Library", "Folder"),
        "hugging-face": "Hugging Face",
        "lm-studio": "LM Studio",
        "ollama": "Ollama",
        "built-in": QCoreApplication.translate("Library", "Built in"),
    }
    return titles.get(source, source)


class LibraryModel(QAbstractListModel):
    """One row per model."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[LibraryEntry] = []
        self._keys: list[_Key] = []
        self._entries: dict[Path, LibraryEntry] = {}
        self._order: Order = "name"

    # --------------------------------------------------------------------------------- content

    @property
    def entries(self) -> tuple[LibraryEntry, ...]:
        """All models, in the order of the rows."""
        return tuple(self._rows)

    def entry_of(self, path: Path) -> LibraryEntry | None:
        """Return the model at a path; None when it is not in the list."""
        return self._entries.get(path)

    def row_of(self, path: Path) -> int:
        """Return the row of a model; -1 when it is not in the list."""
        entry = self._entries.get(path)
        return -1 if entry is None else bisect.bisect_left(self._keys, self._key(entry))

    def update(self, entries: Iterable[LibraryEntry]) -> None:
        """Show these beside the ones that are there, in place of what they were before."""
        new: list[tuple[_Key, LibraryEntry]] = []
        moving = []
        for path, entry in {entry.file.path: entry for entry in entries}.items():
            was, key = self._entries.get(path), self._key(entry)
            if was is None:
                new.append((key, entry))
            elif entry == was:
                continue
            elif key == self._key(was):
                row = self.row_of(path)
                self._rows[row] = self._entries[path] = entry
                self.dataChanged.emit(self.index(row), self.index(row))
            else:
                moving.append(entry)
        if moving:
            self._reorder(moving)
        self._insert(sorted(new, key=_first))

    def retain(self, paths: Collection[Path]) -> None:
        """Take away all models but these."""
        for row in range(len(self._rows) - 1, -1, -1):
            path = self._rows[row].file.path
            if path not in paths:
                self.beginRemoveRows(_TOP, row, row)
                del self._rows[row], self._keys[row], self._entries[path]
                self.endRemoveRows()

    def _insert(self, new: list[tuple[_Key, LibraryEntry]]) -> None:
        """Insert sorted rows; those that become neighbours in one step."""
        at = 0
        while at < len(new):
            place = bisect.bisect_left(self._keys, new[at][0])
            end = len(new)
            if place < len(self._keys):
                end = bisect.bisect_left(new, self._keys[place], key=_first)
            run = new[at:end]
            self.beginInsertRows(_TOP, place, place + len(run) - 1)
            self._keys[place:place] = [key for key, _ in run]
            self._rows[place:place] = [entry for _, entry in run]
            self._entries.update((entry.file.path, entry) for _, entry in run)
            self.endInsertRows()
            at = end

    # ------------------------------------------------------------------------------------ order

    def order_by(self, order: Order) -> None:
        """Put the rows in another order."""
        self._order = order
        self._reorder()

    def _reorder(self, changed: Sequence[LibraryEntry] = ()) -> None:
        """Put all rows in order, some of them with new content; views keep what is chosen."""
        self.layoutAboutToBeChanged.emit()
        held = [(index, self._rows[index.row()].file.path) for index in self.persistentIndexList()]
        self._entries.update((entry.file.path, entry) for entry in changed)
        pairs = sorted(((self._key(e), e) for e in self._entries.values()), key=_first)
        self._keys = [key for key, _ in pairs]
        self._rows = [entry for _, entry in pairs]
        self.changePersistentIndexList(
            [index for index, _ in held],
            [self.index(self.row_of(path)) for _, path in held],
        )
        self.layoutChanged.emit()

    def _key(self, entry: LibraryEntry) -> _Key:
        """Return what a row is ordered by; no two rows have the same."""
        file = entry.file
        first = {
            "name": 0,
            "largest": -file.n_bytes,
            "smallest": file.n_bytes,
            "place": place_title(file.source).casefold(),
        }[self._order]
        return first, file.name.casefold(), str(file.path)

    # ------------------------------------------------------------------------------------- Qt

    def rowCount(self, parent: Index = _TOP) -> int:
        """Number of models."""
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The name of a model, the model itself, or where it lies and what is wrong with it."""
        if not index.isValid():
            return None
        entry = self._rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return entry.file.name
        if role == ENTRY_ROLE:
            return entry
        if role == Qt.ItemDataRole.ToolTipRole:
            return f"{entry.file.path}\n{entry.problem}".strip()
        return None


def _first(pair: tuple[_Key, LibraryEntry]) -> _Key:
    return pair[0]
