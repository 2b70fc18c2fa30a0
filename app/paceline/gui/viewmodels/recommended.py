"""Curated pairs as rows: those that this machine can hold, or the draft models for one target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from paceline.catalog.curated import NOT_CHECKED, words_of
from paceline.gui.viewmodels.candidates import Candidate, facts, spoken
from paceline.gui.viewmodels.pair import file_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paceline.catalog.curated import CuratedPair

Index = QModelIndex | QPersistentModelIndex

PAIR_ROLE = int(Qt.ItemDataRole.UserRole) + 1
BYTES_PER_WEIGHT = 0.62
"""Of Q4_K_M, the usual choice: 4.9 bits (llama.cpp, tools/quantize) and some for the context."""


@dataclass(frozen=True, slots=True)
class Recommendation:
    """A pair, and whether this machine can hold its target.

    Attributes:
        pair: As it is curated.
        fits: None: nobody knows, since the target's size or the memory is not known.
    """

    pair: CuratedPair
    fits: bool | None


class RecommendedPairs(QAbstractListModel):
    """What fits comes first; within that the order of the list that is shipped."""

    def __init__(self, pairs: Sequence[CuratedPair], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pairs = tuple(pairs)
        self._rows: list[Recommendation] = []

    def show_pairs(self, n_free: int) -> None:
        """Show all pairs; `n_free` bytes of memory are free, 0: nobody knows."""
        rows = [Recommendation(pair, _fits(pair, n_free)) for pair in self._pairs]
        self._show(sorted(rows, key=lambda row: row.fits is False))

    def show_drafts(self, target: Candidate) -> None:
        """Show the draft models for a target, each once."""
        drafts = {
            pair.draft_reference or pair.draft_repo: pair
            for pair in reversed(self._pairs)
            if is_for(pair, target)
        }
        self._show([Recommendation(pair, None) for pair in reversed(drafts.values())])

    def _show(self, rows: list[Recommendation]) -> None:
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    def rowCount(self, parent: Index | None = None) -> int:
        """Number of pairs."""
        return 0 if parent is not None and parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The recommendation of a row, or its title."""
        if not index.isValid():
            return None
        row = self._rows[index.row()]
        if role == PAIR_ROLE:
            return row
        if role == Qt.ItemDataRole.AccessibleTextRole:
            draft = row.pair.draft_file or row.pair.draft_repo
            fits = {
                True: self.tr("fits this machine"),
                False: self.tr("needs more memory"),
                None: "",
            }[row.fits]
            return spoken(row.pair.title, self.tr("drafted by {}").format(draft), fits)
        return row.pair.title if role == Qt.ItemDataRole.DisplayRole else None


def is_for(pair: CuratedPair, target: Candidate) -> bool:
    """Whether a target, seen as a row, is that of a curated pair; its name is all there is."""
    if pair.target_architecture and target.architecture not in ("", pair.target_architecture):
        return False
    low, high = pair.target_params or (0, target.n_params)
    if target.n_params and not low <= target.n_params <= high:
        return False
    name = words_of(f"{target.title} {target.repo}")
    return name >= set(pair.target_words)


def target_candidate(pair: CuratedPair) -> Candidate | None:
    """Return the target to fetch; None: the pair names no file."""
    if pair.target_file is None:
        return None
    return _candidate(pair.target_reference, pair.target_repo, pair.target_file, 0)


def draft_candidate(pair: CuratedPair) -> Candidate | None:
    """Return the draft model to fetch; None: the pair names no file."""
    if pair.draft_file is None:
        return None
    return _candidate(pair.draft_reference, pair.draft_repo, pair.draft_file, pair.draft_bytes or 0)


def evidence_text(pair: CuratedPair) -> str:
    """Return where a pair was reported, and when, as one line."""
    if pair.evidence is None:
        return f"Source: {NOT_CHECKED}"
    return facts(f"Source: {pair.evidence.url}", pair.evidence.date or f"date {NOT_CHECKED}")


def _candidate(reference: str, repo: str, file: str, n_bytes: int) -> Candidate:
    return Candidate(
        reference=reference,
        title=file_name(file),
        subtitle=repo,
        n_bytes=n_bytes,
        is_here=False,
        files=(file,),
        repo=repo,
    )


def _fits(pair: CuratedPair, n_free: int) -> bool | None:
    if not n_free or pair.target_params is None:
        return None
    n_bytes = pair.target_params[1] * BYTES_PER_WEIGHT + (pair.draft_bytes or 0)
    return n_bytes <= n_free
