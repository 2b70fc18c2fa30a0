"""The models on this computer: search, order, and what can be done with a file."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import (
    QConcatenateTablesProxyModel,
    QModelIndex,
    QObject,
    QPoint,
    QSortFilterProxyModel,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import QAction, QGuiApplication, QKeySequence
from PySide6.QtWidgets import QHBoxLayout, QMenu

from paceline.catalog.local.library import LibraryEntry
from paceline.gui.kit.labels import YieldingButton
from paceline.gui.kit.layouts import row_of
from paceline.gui.kit.rows import ROW, Index
from paceline.gui.kit.sentences import said
from paceline.gui.kit.translation import known_size, local_weights
from paceline.gui.look.current import look
from paceline.gui.models.candidates import (
    Candidate,
    Picks,
    candidate_facts,
    may_draft,
    of_entry,
    spoken,
    why_hardly,
)
from paceline.gui.models.lists.library import LibraryModel, place_title
from paceline.gui.models.lists.page import Badge, OptionRow, Page, RowText

SUITED, OTHER, BROKEN = range(3)


class _Part(QSortFilterProxyModel):
    """The rows of one rank that have all words of a search."""

    def __init__(self, source: LibraryModel, parent: QObject, rank: int) -> None:
        super().__init__(parent)
        self._rank = rank
        self._target: Candidate | None = None
        self._words: list[str] = []
        self.setSourceModel(source)

    def set_search(self, text: str) -> None:
        """Show what contains every word of the text; empty shows all."""
        self.beginFilterChange()
        self._words = text.casefold().split()
        self.endFilterChange()

    def set_target(self, target: Candidate | None) -> None:
        """Rank by this target; None: every usable model is suited."""
        if target != self._target:
            self.beginFilterChange()
            self._target = target
            self.endFilterChange()

    def filterAcceptsRow(self, source_row: int, source_parent: Index) -> bool:
        """Whether a row has this rank and the words."""
        entry = self.sourceModel().index(source_row, 0, source_parent).data(ROW)
        found = _search_text(entry) if self._words else ""
        is_found = all(word in found for word in self._words)
        return is_found and rank(entry, self._target) == self._rank


def _search_text(entry: LibraryEntry) -> str:
    card = entry.card
    fields = [entry.file.name]
    if card is not None:
        fields += [card.name, card.architecture, card.quantisation, local_weights(card.n_params)]
    return "\n".join(fields).casefold()


class SuitedFirst(QConcatenateTablesProxyModel):
    """Rows of a `LibraryModel`: those that may draft, then the others, then what is broken.

    Three filters one after the other instead of a sorting proxy, which would call Python for every
    comparison: noticeable with five hundred files. Entries are under `ROW`.
    """

    def __init__(self, source: LibraryModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.target: Candidate | None = None
        """The target that draft models are looked for; None: any model will do."""
        self._parts = tuple(_Part(source, self, rank) for rank in (SUITED, OTHER, BROKEN))
        for part in self._parts:
            self.addSourceModel(part)

    def set_target(self, target: Candidate | None) -> None:
        """Put models that will hardly draft for this target after the others."""
        self.target = target
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
        entry: LibraryEntry | None = super().data(index, ROW)
        if entry is None:
            return None
        candidate = of_entry(entry)
        return spoken(
            candidate.title,
            said(entry.problem) or candidate_facts(candidate),
            known_size(candidate.n_bytes),
            why_hardly(self.target, candidate),
            candidate.subtitle,
        )


def rank(entry: LibraryEntry, target: Candidate | None) -> int:
    """Return `SUITED`, `OTHER` or `BROKEN`, beside this target."""
    candidate = of_entry(entry)
    if entry.problem and not (target is not None and candidate.is_head):
        return BROKEN
    return SUITED if may_draft(target, candidate) else OTHER


class InstalledPage(Page):
    """A `LibraryModel`; `picked` with None is the wish to do without a draft model."""

    reveal_requested = Signal(object)
    """LibraryEntry"""
    trash_requested = Signal(object)
    recommended_wanted = Signal()

    def __init__(self, library: LibraryModel) -> None:
        super().__init__(name=self.tr("Models on this computer"))
        self._library = library
        self._step = 0
        self._is_looking = False
        self._model = SuitedFirst(library, self)
        self.bar.addWidget(self.make_search(self.tr("Search installed models")), 1)
        orders = (
            (self.tr("Name"), "name"),
            (self.tr("Largest first"), "largest"),
            (self.tr("Smallest first"), "smallest"),
            (self.tr("Place"), "place"),
        )
        self.sort = self.make_choice(self.tr("Order"), orders)
        self.bar.addWidget(self.sort)
        self.without = OptionRow(
            self.tr("No draft model: lookups only"),
            self.tr("Copies from what was written before; needs no second model and no memory."),
        )
        self.inside = OptionRow(
            self.tr("MTP head inside"),
            self.tr("The target's own last layers draft; that needs no second model."),
        )
        self.column.insertWidget(1, self.inside)
        self.column.insertWidget(2, self.without)
        self.rows.setModel(self._model)
        self.rows.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.rows.customContextMenuRequested.connect(self._on_menu)
        self.column.addLayout(self._make_foot())
        self._make_actions()
        self.search.textChanged.connect(self._model.set_search)
        self.search.textChanged.connect(self.show_count)
        self.sort.currentIndexChanged.connect(self._on_sort)
        self.inside.clicked.connect(self._on_inside)
        self.without.clicked.connect(self._on_without)
        self.state.asked.connect(self._on_asked)
        for changed in (self._model.rowsInserted, self._model.rowsRemoved, self._model.modelReset):
            changed.connect(self.show_count)
        self.show_count()

    def _make_foot(self) -> QHBoxLayout:
        self.open_button = YieldingButton(self.tr("Open a file…"))
        self.folder_button = YieldingButton(self.tr("Add a folder…"))
        self.open_button.setIcon(look.icon("file"))
        self.folder_button.setIcon(look.icon("folder"))
        self.open_button.setToolTip(self.tr("Pick a GGUF file that is not in the list"))
        self.folder_button.setToolTip(self.tr("Look for models in one more folder from now on"))
        return row_of(self.open_button, self.folder_button, None, spacing=8)

    def _make_actions(self) -> None:
        self.reveal = self._action(self.tr("Show in the file manager"), "Ctrl+E", self._on_reveal)
        self.copy_path = self._action(
            self.tr("Copy the path"), QKeySequence.StandardKey.Copy, self._on_copy
        )
        self.trash = self._action(
            self.tr("Move to the trash…"), QKeySequence.StandardKey.Delete, self._on_trash
        )

    def _action(self, text: str, key: QKeySequence.StandardKey | str, slot: object) -> QAction:
        action = QAction(text, self)
        action.setShortcut(QKeySequence(key))
        action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        action.triggered.connect(slot)
        self.rows.addAction(action)
        return action

    def show_picks(self, picks: Picks) -> None:
        """Mark what is picked; in the second step put models that may draft first."""
        self.picks = picks
        is_second = picks.step == 2
        self.without.setVisible(is_second)
        self.without.setChecked(is_second and picks.does_without)
        has_head = picks.target is not None and picks.target.has_head
        self.inside.setVisible(is_second and has_head)
        self.inside.setChecked(is_second and picks.drafts_itself)
        self._model.set_target(picks.target if is_second else None)
        self.rows.viewport().update()
        self.show_count()
        if picks.step != self._step:
            self._step = picks.step
            self.rows.show_row(self._row_of_picked())

    def _row_of_picked(self) -> int:
        """The row of what is picked in this step; -1: it is not in the list."""
        rows = range(self._model.rowCount())
        return next((row for row in rows if self._is_picked(self._reference_of(row))), -1)

    def _reference_of(self, row: int) -> str:
        entry: LibraryEntry = self._model.index(row, 0).data(ROW)
        return str(entry.file.path)

    def show_looking(self, is_looking: bool) -> None:  # noqa: FBT001
        """Show that folders are being searched, while nothing is found."""
        self._is_looking = is_looking
        self.show_count()

    @Slot()
    def show_count(self) -> None:
        """Show the list, or why there is none."""
        if self._model.rowCount():
            self.stack.setCurrentWidget(self.rows)
            return
        if self._library.rowCount():
            self.state.show_state(
                self.tr("No model contains these words"),
                action="clear",
                action_text=self.tr("Show all"),
            )
        elif self._is_looking:
            self.state.show_state(self.tr("Looking for models…"), is_busy=True)
        else:
            self.state.show_state(
                self.tr("No models on this computer yet"),
                self.tr("Take a recommended pair, search on Hugging Face, or open a GGUF file."),
                action="recommended",
                action_text=self.tr("See recommended pairs"),
            )
        self.stack.setCurrentWidget(self.state)

    def row_text(self, index: Index) -> RowText:
        """What a row says."""
        entry: LibraryEntry = index.data(ROW)
        candidate = of_entry(entry)
        badges = [Badge(place_title(entry.file.source))]
        problem = "" if self._may_pick(entry) else said(entry.problem)
        hardly = "" if problem else why_hardly(self._model.target, candidate)
        if hardly:
            badges.insert(0, Badge(hardly, "lookup"))
        return RowText(
            title=candidate.title,
            facts=candidate_facts(candidate) or self.tr("not looked into yet"),
            size=known_size(candidate.n_bytes),
            badges=tuple(badges),
            is_picked=self._is_picked(candidate.reference),
            is_dimmed=bool(problem or hardly),
            problem=problem,
        )

    def _may_pick(self, entry: LibraryEntry) -> bool:
        """Whether it can be picked: a model, or as a drafter an MTP head."""
        return not entry.problem or (self.picks.step == 2 and of_entry(entry).is_head)

    def pick(self, index: QModelIndex) -> bool:
        """Take a model, unless it cannot be used."""
        entry: LibraryEntry = index.data(ROW)
        if not self._may_pick(entry):
            return False
        self.picked.emit(of_entry(entry))
        return True

    def _is_picked(self, reference: str) -> bool:
        picked = self.picks.picked
        return picked is not None and picked.reference == reference

    def _current(self) -> LibraryEntry | None:
        entry: LibraryEntry | None = self.rows.currentIndex().data(ROW)
        return entry

    @Slot()
    def _on_sort(self) -> None:
        self._library.order_by(self.sort.currentData())

    @Slot(str)
    def _on_asked(self, action: str) -> None:
        if action == "clear":
            self.search.clear()
        else:
            self.recommended_wanted.emit()

    @Slot()
    def _on_inside(self) -> None:
        self.inside.setChecked(True)
        self.head_picked.emit()

    @Slot()
    def _on_without(self) -> None:
        self.without.setChecked(True)
        self.picked.emit(None)

    @Slot(QPoint)
    def _on_menu(self, position: QPoint) -> None:
        index = self.rows.indexAt(position)
        if not index.isValid():
            return
        self.rows.setCurrentIndex(index)
        entry = self._current()
        self.trash.setEnabled(entry is not None and entry.is_ours)
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addActions([self.reveal, self.copy_path])
        menu.addSeparator()
        menu.addAction(self.trash)
        menu.aboutToHide.connect(self._on_menu_closed)
        menu.popup(self.rows.viewport().mapToGlobal(position))

    @Slot()
    def _on_menu_closed(self) -> None:
        self.trash.setEnabled(True)

    @Slot()
    def _on_reveal(self) -> None:
        entry = self._current()
        if entry is not None:
            self.reveal_requested.emit(entry)

    @Slot()
    def _on_copy(self) -> None:
        entry = self._current()
        if entry is not None:
            QGuiApplication.clipboard().setText(str(entry.file.path))

    @Slot()
    def _on_trash(self) -> None:
        entry = self._current()
        if entry is not None and entry.is_ours:
            self.trash_requested.emit(entry)
