"""The models of this computer: those that may draft first, then the others, then what is broken.

Three filters one below the other, and no sorting proxy: that would ask Python at every comparison,
and five hundred files would be felt.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QConcatenateTablesProxyModel, QObject, Qt

from paceline.catalog.hub.references import is_reference
from paceline.gui.viewmodels.candidates import (
    Candidate,
    candidate_facts,
    of_reference,
    size_text,
    spoken,
)
from paceline.gui.viewmodels.library import ENTRY_ROLE, LibraryFilter, LibraryModel, place_title
from paceline.gui.viewmodels.picks import may_draft, why_hardly

if TYPE_CHECKING:
    from paceline.catalog.library import LibraryEntry
    from paceline.gui.viewmodels.library import Index


SUITED, OTHER, BROKEN = range(3)


class _Part(LibraryFilter):
    """The rows of one rank."""

    def __init__(self, source: LibraryModel, parent: QObject, rank: int) -> None:
        self._rank = rank
        self._target: Candidate | None = None
        super().__init__(source, parent)

    def set_target(self, target: Candidate | None) -> None:
        """Tell ranks beside this target; None: whatever can be used is suited."""
        if target != self._target:
            self.beginFilterChange()
            self._target = target
            self.endFilterChange()

    def filterAcceptsRow(self, source_row: int, source_parent: Index) -> bool:
        """Whether a row has this rank."""
        if not super().filterAcceptsRow(source_row, source_parent):
            return False
        index = self.sourceModel().index(source_row, 0, source_parent)
        return rank(index.data(ENTRY_ROLE), self._target) == self._rank


class SuitedFirst(QConcatenateTablesProxyModel):
    """Rows of a `LibraryModel`; its entries are there under `ENTRY_ROLE`."""

    def __init__(self, source: LibraryModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._target: Candidate | None = None
        self._parts = tuple(_Part(source, self, rank) for rank in (SUITED, OTHER, BROKEN))
        for part in self._parts:
            self.addSourceModel(part)

    @property
    def target(self) -> Candidate | None:
        """The target that draft models are looked for; None: any model will do."""
        return self._target

    def set_target(self, target: Candidate | None) -> None:
        """Put models that will hardly draft for this target behind the others."""
        self._target = target
        for part in self._parts:
            part.set_target(target)

    def set_search(self, text: str) -> None:
        """Show what has every word of the text; empty shows all."""
        for part in self._parts:
            part.set_search(text)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """A field of a row; for a screen reader all that the row says."""
        if role != Qt.ItemDataRole.AccessibleTextRole:
            return super().data(index, role)
        entry: LibraryEntry | None = super().data(index, ENTRY_ROLE)
        if entry is None:
            return None
        candidate = of_entry(entry)
        return spoken(
            candidate.title,
            entry.problem or candidate_facts(candidate),
            size_text(candidate.n_bytes),
            why_hardly(self._target, candidate),
            candidate.subtitle,
        )


def rank(entry: LibraryEntry, target: Candidate | None) -> int:
    """Return `SUITED`, `OTHER` or `BROKEN`, beside this target."""
    if entry.problem:
        return BROKEN
    return SUITED if may_draft(target, of_entry(entry)) else OTHER


def of_entry(entry: LibraryEntry) -> Candidate:
    """Return the candidate for a model of this computer."""
    card, file = entry.card, entry.file
    return Candidate(
        reference=str(file.path),
        title=file.name,
        subtitle=place_title(file.source),
        n_bytes=file.n_bytes,
        n_params=card.n_params if card else 0,
        quantisation=card.quantisation if card else "",
        n_ctx_train=card.n_ctx_train if card else 0,
        problem=entry.problem,
        vocabulary=card.vocabulary if card else "",
        architecture=card.architecture if card else "",
    )


def of_path(reference: str, library: LibraryModel) -> Candidate:
    """Return the candidate for a path or ``hf:`` reference, with what the library knows of it.

    Raises:
        HubError: It begins with ``hf:`` and names no model.
    """
    entry = None if is_reference(reference) else library.entry_of(Path(reference))
    return of_entry(entry) if entry is not None else of_reference(reference)
