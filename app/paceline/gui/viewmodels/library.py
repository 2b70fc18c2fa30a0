"""The models on this computer as a table for views: sorted here, filtered by a proxy.

Rows come in batches while the files are looked into; the table is never reset, so that a view keeps
its selection and its place. Rows are ordered here, once per batch, because a proxy that sorts would
ask Python for every comparison. Main thread.
"""

from __future__ import annotations

import bisect
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QCoreApplication,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QSortFilterProxyModel,
    Qt,
)

from paceline.catalog import words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from pathlib import Path

    from paceline.catalog.library import LibraryEntry

ENTRY_ROLE = int(Qt.ItemDataRole.UserRole) + 1
"""The row's `LibraryEntry`."""

Index = QModelIndex | QPersistentModelIndex
_Key = tuple[Any, ...]
_TOP = QModelIndex()


class Column(IntEnum):
    """What the columns show."""

    NAME = 0
    ARCHITECTURE = 1
    PARAMETERS = 2
    QUANTISATION = 3
    CONTEXT = 4
    SIZE = 5
    PLACE = 6
    LICENSE = 7
    VOCABULARY = 8


_N_COLUMNS = len(Column)  # views ask for it thousands of times
_NUMBERS = (Column.PARAMETERS, Column.CONTEXT, Column.SIZE)


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


class LibraryModel(QAbstractTableModel):
    """One row per model, in the order of a column; what is not known comes last in any order."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[LibraryEntry] = []
        self._keys: list[_Key] = []
        self._entries: dict[Path, LibraryEntry] = {}
        self._column = Column.NAME
        self._is_descending = False

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
                self.dataChanged.emit(self.index(row, 0), self.index(row, len(Column) - 1))
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
        """Insert sorted rows, those that come to lie side by side at once."""
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

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Order the rows by a column."""
        if not 0 <= column < len(Column):
            return
        self._column = Column(column)
        self._is_descending = order == Qt.SortOrder.DescendingOrder
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
            [self.index(self.row_of(path), index.column()) for index, path in held],
        )
        self.layoutChanged.emit()

    def _key(self, entry: LibraryEntry) -> _Key:
        """Return what a row is ordered by; no two rows have the same."""
        value: Any
        if self._column in _NUMBERS:
            value = _number(entry, self._column)
            is_unknown = not value
            value = -value if self._is_descending else value
        else:
            value = text(entry, self._column).casefold()
            is_unknown = not value
            if self._is_descending:
                # A character less is more, and the end of a text is more than any character.
                value = (*(-ord(character) for character in value), 1)
        return is_unknown, value, entry.file.name.casefold(), str(entry.file.path)

    # ------------------------------------------------------------------------------------- Qt

    def rowCount(self, parent: Index = _TOP) -> int:
        """Number of models."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = _TOP) -> int:
        """Number of columns."""
        return 0 if parent.isValid() else _N_COLUMNS

    def headerData(
        self,
        section: int,
        orientation: Qt.Orientation,
        role: int = Qt.ItemDataRole.DisplayRole,
    ) -> Any:
        """The title of a column."""
        if orientation != Qt.Orientation.Horizontal or role != Qt.ItemDataRole.DisplayRole:
            return None
        return {
            Column.NAME: self.tr("Name"),
            Column.ARCHITECTURE: self.tr("Architecture"),
            Column.PARAMETERS: self.tr("Parameters"),
            Column.QUANTISATION: self.tr("Quantisation"),
            Column.CONTEXT: self.tr("Context"),
            Column.SIZE: self.tr("Size"),
            Column.PLACE: self.tr("Place"),
            Column.LICENSE: self.tr("Licence"),
            Column.VOCABULARY: self.tr("Vocabulary"),
        }[Column(section)]

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """One field of a model."""
        if not index.isValid():
            return None
        entry = self._rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return text(entry, Column(index.column()))
        if role == ENTRY_ROLE:
            return entry
        if role == Qt.ItemDataRole.ToolTipRole:
            return f"{entry.file.path}\n{entry.problem}".strip()
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return self._accessible_text(entry, Column(index.column()))
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() in _NUMBERS:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None

    @staticmethod
    def _accessible_text(entry: LibraryEntry, column: Column) -> str:
        shown = text(entry, column)
        return f"{shown}. {entry.problem}" if column is Column.NAME and entry.problem else shown


def text(entry: LibraryEntry, column: Column) -> str:
    """Return what a column says of a model; empty where nothing is known."""
    if column is Column.NAME:
        return entry.file.name
    if column is Column.SIZE:
        return words.file_size(entry.file.n_bytes)
    if column is Column.PLACE:
        return place_title(entry.file.source)
    card = entry.card
    if card is None:
        return ""
    if column is Column.PARAMETERS:
        return words.weights(card.n_params)
    if column is Column.CONTEXT:
        return words.tokens(card.n_ctx_train)
    fields = {
        Column.ARCHITECTURE: card.architecture,
        Column.QUANTISATION: card.quantisation,
        Column.LICENSE: card.license,
        Column.VOCABULARY: card.vocabulary,
    }
    return fields[column]


def _number(entry: LibraryEntry, column: Column) -> int:
    """Return the number behind a text; 0: not known, or there is none."""
    if column is Column.SIZE:
        return entry.file.n_bytes
    if entry.card is None:
        return 0
    return entry.card.n_params if column is Column.PARAMETERS else entry.card.n_ctx_train


def _first(pair: tuple[_Key, LibraryEntry]) -> _Key:
    return pair[0]


class LibraryFilter(QSortFilterProxyModel):
    """The models that have all words of a search in name, architecture or quantisation."""

    def __init__(self, source: LibraryModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._words: list[str] = []
        self._place = ""
        self._shows_unusable = True
        self.setSourceModel(source)

    def set_search(self, text: str) -> None:
        """Show what contains every word of the text; empty shows all."""
        self.beginFilterChange()
        self._words = text.casefold().split()
        self.endFilterChange()

    def set_place(self, source: str) -> None:
        """Show the models of one place (`ModelFile.source`); empty shows all."""
        self.beginFilterChange()
        self._place = source
        self.endFilterChange()

    def set_shows_unusable(self, shows: bool) -> None:  # noqa: FBT001
        """Show, or leave out, what has a problem."""
        self.beginFilterChange()
        self._shows_unusable = shows
        self.endFilterChange()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Have the source order its rows."""
        self.sourceModel().sort(column, order)

    def filterAcceptsRow(self, source_row: int, source_parent: Index) -> bool:
        """Whether a row is shown."""
        entry: LibraryEntry = (
            self.sourceModel().index(source_row, 0, source_parent).data(ENTRY_ROLE)
        )
        if self._place and entry.file.source != self._place:
            return False
        if entry.problem and not self._shows_unusable:
            return False
        if not self._words:
            return True
        haystack = _search_text(entry)
        return all(word in haystack for word in self._words)


def _search_text(entry: LibraryEntry) -> str:
    card = entry.card
    fields = [entry.file.name]
    if card is not None:
        fields += [card.name, card.architecture, card.quantisation, words.weights(card.n_params)]
    return "\n".join(fields).casefold()
