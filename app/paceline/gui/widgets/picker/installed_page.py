"""The models on this computer: search, order, and what can be done with a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt, Signal, Slot
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QHBoxLayout, QMenu, QPushButton, QWidget

from paceline.gui.viewmodels.candidates import candidate_facts, size_text
from paceline.gui.viewmodels.library import ENTRY_ROLE, Column, LibraryModel, place_title
from paceline.gui.viewmodels.picks import why_hardly
from paceline.gui.viewmodels.suited import SuitedFirst, of_entry
from paceline.gui.widgets.fields import Choice
from paceline.gui.widgets.picker.model_rows import Badge, OptionRow, RowText
from paceline.gui.widgets.picker.page import Page

if TYPE_CHECKING:
    from PySide6.QtCore import QModelIndex
    from PySide6.QtGui import QIcon

    from paceline.catalog.library import LibraryEntry
    from paceline.gui.theme import Theme
    from paceline.gui.viewmodels.picks import Picks
    from paceline.gui.widgets.picker.model_rows import Index


class InstalledPage(Page):
    """A `LibraryModel`; `picked` with None is the wish to do without a draft model."""

    open_requested = Signal()
    folder_requested = Signal()
    reveal_requested = Signal(object)
    """LibraryEntry"""
    copy_requested = Signal(object)
    trash_requested = Signal(object)
    recommended_wanted = Signal()

    def __init__(self, library: LibraryModel, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(name=self.tr("Models on this computer"), theme=theme, parent=parent)
        self._library = library
        self._picks: Picks | None = None
        self._is_looking = False
        self._model = SuitedFirst(library, self)
        self.bar.addWidget(self.make_search(self.tr("Search installed models")), 1)
        self.sort = Choice()
        self.sort.setAccessibleName(self.tr("Order"))
        self.sort.setToolTip(self.tr("Order"))
        self.sort.setMinimumContentsLength(12)
        for text, column, order in (
            (self.tr("Name"), Column.NAME, Qt.SortOrder.AscendingOrder),
            (self.tr("Largest first"), Column.SIZE, Qt.SortOrder.DescendingOrder),
            (self.tr("Smallest first"), Column.SIZE, Qt.SortOrder.AscendingOrder),
            (self.tr("Place"), Column.PLACE, Qt.SortOrder.AscendingOrder),
        ):
            self.sort.addItem(text, (int(column), order))
        self.bar.addWidget(self.sort)
        self.without = OptionRow(
            self.tr("No draft model: lookups only"),
            self.tr("Copies from what was written before; needs no second model and no memory."),
            theme,
        )
        self.column.insertWidget(1, self.without)
        self.rows.setModel(self._model)
        self.rows.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.rows.customContextMenuRequested.connect(self._on_menu)
        self.column.addLayout(self._make_foot())
        self._make_actions()
        self.search.textChanged.connect(self._model.set_search)
        self.search.textChanged.connect(self.show_count)
        self.sort.currentIndexChanged.connect(self._on_sort)
        self.without.clicked.connect(self._on_without)
        self.state.asked.connect(self._on_asked)
        for changed in (self._model.rowsInserted, self._model.rowsRemoved, self._model.modelReset):
            changed.connect(self.show_count)
        self.show_count()

    def _make_foot(self) -> QHBoxLayout:
        self.open_button = QPushButton(self.tr("Open a file…"))
        self.folder_button = QPushButton(self.tr("Add a folder…"))
        self.open_button.setToolTip(self.tr("Pick a GGUF file that is not in the list"))
        self.folder_button.setToolTip(self.tr("Look for models in one more folder from now on"))
        foot = QHBoxLayout()
        foot.setSpacing(8)
        foot.addWidget(self.open_button)
        foot.addWidget(self.folder_button)
        foot.addStretch(1)
        self.open_button.clicked.connect(self.open_requested)
        self.folder_button.clicked.connect(self.folder_requested)
        return foot

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

    def set_theme(self, theme: Theme) -> None:
        """Use another theme's colours."""
        super().set_theme(theme)
        self.without.set_theme(theme)

    def set_icons(self, file: QIcon, folder: QIcon) -> None:
        """Show icons on the buttons below the list."""
        self.open_button.setIcon(file)
        self.folder_button.setIcon(folder)

    def show_picks(self, picks: Picks) -> None:
        """Mark what is picked; in the second step put models that may draft first."""
        before, self._picks = self._picks, picks
        is_second = picks.step == 2
        self.without.setVisible(is_second)
        self.without.setChecked(is_second and picks.is_decided and picks.draft is None)
        self._model.set_target(picks.target if is_second else None)
        self.rows.viewport().update()
        self.show_count()
        if before is None or before.step != picks.step:
            self.rows.show_row(self._row_of_picked())

    def _row_of_picked(self) -> int:
        """The row of what is picked in this step; -1: it is not in the list."""
        rows = range(self._model.rowCount())
        return next((row for row in rows if self._is_picked(self._reference_of(row))), -1)

    def _reference_of(self, row: int) -> str:
        entry: LibraryEntry = self._model.index(row, 0).data(ENTRY_ROLE)
        return str(entry.file.path)

    def show_looking(self, is_looking: bool) -> None:  # noqa: FBT001
        """Say that folders are being looked through, while nothing is found."""
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
        entry: LibraryEntry | None = index.data(ENTRY_ROLE)
        if entry is None:
            return RowText("")
        candidate = of_entry(entry)
        badges = [Badge(place_title(entry.file.source))]
        hardly = "" if entry.problem else why_hardly(self._model.target, candidate)
        if hardly:
            badges.insert(0, Badge(hardly, "lookup"))
        return RowText(
            title=candidate.title,
            facts=candidate_facts(candidate) or self.tr("not looked into yet"),
            size=size_text(candidate.n_bytes),
            badges=tuple(badges),
            is_picked=self._is_picked(candidate.reference),
            is_dimmed=bool(entry.problem or hardly),
            problem=entry.problem,
        )

    def pick(self, index: QModelIndex) -> bool:
        """Take a model, unless it cannot be used."""
        entry: LibraryEntry | None = index.data(ENTRY_ROLE)
        if entry is None or entry.problem:
            return False
        self.picked.emit(of_entry(entry))
        return True

    def _is_picked(self, reference: str) -> bool:
        if self._picks is None:
            return False
        picked = self._picks.target if self._picks.step == 1 else self._picks.draft
        return picked is not None and picked.reference == reference

    def _current(self) -> LibraryEntry | None:
        entry: LibraryEntry | None = self.rows.currentIndex().data(ENTRY_ROLE)
        return entry

    @Slot()
    def _on_sort(self) -> None:
        column, order = self.sort.currentData()
        self._library.sort(column, order)

    @Slot(str)
    def _on_asked(self, action: str) -> None:
        if action == "clear":
            self.search.clear()
        else:
            self.recommended_wanted.emit()

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
            self.copy_requested.emit(entry)

    @Slot()
    def _on_trash(self) -> None:
        entry = self._current()
        if entry is not None and entry.is_ours:
            self.trash_requested.emit(entry)
