"""The models on this computer: search, order, and actions on files."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, Signal, Slot
from PySide6.QtGui import QAction, QGuiApplication, QKeySequence
from PySide6.QtWidgets import QHBoxLayout, QMenu

from paceline.catalog.local.library import LibraryEntry
from paceline.gui.kit.labels import YieldingButton
from paceline.gui.kit.layouts import row_of
from paceline.gui.look.current import look
from paceline.gui.models.candidates import MachineFacts, Picks
from paceline.gui.models.lists.library import LibraryController
from paceline.gui.models.lists.model_list import OptionRow
from paceline.gui.models.lists.offers import Offer, head_inside, installed, lookups_only
from paceline.gui.models.lists.page import Instead, Page


class InstalledPage(Page):
    """The models of a library; in the second step also ways to draft without another model."""

    recommended_wanted = Signal()
    chosen = Signal(object)
    """Offer: the first that matches the typed words, by Enter"""

    def __init__(self, library: LibraryController) -> None:
        super().__init__(name=self.tr("Models on this computer"))
        self._library = library
        self.search = self.make_search(self.tr("Search installed models"))
        self.bar.addWidget(self.search, 1)
        orders = (
            (self.tr("Name"), "name"),
            (self.tr("Largest first"), "largest"),
            (self.tr("Smallest first"), "smallest"),
            (self.tr("Place"), "place"),
        )
        self.sort = self.make_choice(self.tr("Order"), orders)
        self.bar.addWidget(self.sort)
        self.inside, self.without = OptionRow(head_inside()), OptionRow(lookups_only())
        for at, option in enumerate((self.inside, self.without), start=1):
            self.column.insertWidget(at, option)
            option.picked.connect(self.picked)
        self.rows.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.rows.customContextMenuRequested.connect(self._on_menu)
        self.column.addLayout(self._make_foot())
        self._make_actions()
        self.search.textChanged.connect(self.refresh)
        self.search.confirmed.connect(self._on_enter)
        self.sort.currentIndexChanged.connect(self.refresh)
        library.changed.connect(self.refresh)
        self.refresh()

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
        self.rows.selectionModel().currentChanged.connect(self._on_current)
        self._on_current()

    def _action(self, text: str, key: QKeySequence.StandardKey | str, slot: object) -> QAction:
        action = QAction(text, self)
        action.setShortcut(QKeySequence(key))
        action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        action.triggered.connect(slot)
        self.rows.addAction(action)
        return action

    def offers(self) -> list[Offer]:
        """Return the models with the words; in the second step, suitable draft models first."""
        order, words = self.sort.currentData(), self.search.text()
        return installed(self._library.offers.values(), words, order, self.picks)

    def instead(self) -> Instead | None:
        """Return the reason for an empty list."""
        if self.rows.offers.rows:
            return None
        if self._library.offers:
            return Instead(
                self.tr("No model contains these words"),
                action_text=self.tr("Show all"),
                action=self.search.clear,
            )
        if self._library.is_busy:
            return Instead(self.tr("Looking for models…"), is_busy=True)
        return Instead(
            self.tr("No models on this computer yet"),
            self.tr("Take a recommended pair, search on Hugging Face, or open a GGUF file."),
            action_text=self.tr("See recommended pairs"),
            action=self.recommended_wanted.emit,
        )

    def show_picks(self, picks: Picks, machine: MachineFacts) -> None:
        """Mark the picks."""
        super().show_picks(picks, machine)
        is_second = picks.step != 1
        self.without.setVisible(is_second)
        self.without.setChecked(is_second and picks.does_without)
        self.inside.setVisible(is_second and picks.target is not None and picks.target.has_head)
        self.inside.setChecked(is_second and picks.drafts_itself)

    def begin(self, *, takes_focus: bool) -> None:
        """Come to the front; typing then searches."""
        if takes_focus:
            self.search.setFocus()

    @Slot()
    def _on_enter(self) -> None:
        rows = self.rows.offers.rows
        if self.search.text().strip() and rows:
            self.chosen.emit(rows[0])

    @property
    def _current(self) -> LibraryEntry | None:
        offer = self.rows.current
        return offer.origin if offer and isinstance(offer.origin, LibraryEntry) else None

    @Slot()
    def _on_current(self) -> None:
        entry = self._current
        self.trash.setEnabled(entry is not None and entry.is_ours)

    @Slot(QPoint)
    def _on_menu(self, position: QPoint) -> None:
        index = self.rows.indexAt(position)
        if not index.isValid():
            return
        self.rows.setCurrentIndex(index)
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addActions([self.reveal, self.copy_path])
        menu.addSeparator()
        menu.addAction(self.trash)
        menu.popup(self.rows.viewport().mapToGlobal(position))

    @Slot()
    def _on_reveal(self) -> None:
        if (entry := self._current) is not None:
            self._library.reveal(entry)

    @Slot()
    def _on_copy(self) -> None:
        if (entry := self._current) is not None:
            QGuiApplication.clipboard().setText(str(entry.file.path))

    @Slot()
    def _on_trash(self) -> None:
        if (entry := self._current) is not None:
            self._library.delete(entry)
