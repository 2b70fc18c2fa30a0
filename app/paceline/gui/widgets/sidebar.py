"""The list of conversations: new chat, search, rename, delete with undo."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPoint, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListView,
    QMenu,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from paceline.gui.viewmodels.conversations import ID_ROLE, ConversationFilter, ConversationList
from paceline.gui.widgets.conversation_row import ConversationRow
from paceline.gui.widgets.elided_label import ElidedLabel
from paceline.gui.widgets.search_field import SearchField

if TYPE_CHECKING:
    from PySide6.QtGui import QIcon

    from paceline.gui.theme import Theme

UNDO_MS = 10_000


class Sidebar(QWidget):
    """Shows a `ConversationList` and reports what the user wants."""

    new_requested = Signal()
    chosen = Signal(str)
    delete_requested = Signal(str)
    undo_requested = Signal()

    def __init__(
        self, model: ConversationList, theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setProperty("kind", "sidebar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setMinimumWidth(180)
        self._model = model
        self._shown_id = ""
        self._filter = ConversationFilter(model, self)
        self.new_button = QPushButton(self.tr("New chat"))
        self.new_button.setProperty("kind", "primary")
        self.new_button.clicked.connect(self.new_requested)
        self.search = SearchField(self.tr("Search chats"))
        self._search_icon = QAction(self)
        self.search.addAction(self._search_icon, QLineEdit.ActionPosition.LeadingPosition)
        self.search.textChanged.connect(self._on_search)
        self.list = QListView()
        self.list.setProperty("kind", "chats")
        self.list.setAccessibleName(self.tr("Chats"))
        self.list.setModel(self._filter)
        self.list.setMouseTracking(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.list.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self.list.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self._rows = ConversationRow(theme, self.list)
        self.list.setItemDelegate(self._rows)
        self.list.clicked.connect(self._on_chosen)
        self.list.activated.connect(self._on_chosen)
        self.list.customContextMenuRequested.connect(self._on_menu)
        self._empty = QLabel(self.tr("No chat contains these words."))
        self._empty.setProperty("role", "small")
        self._empty.setWordWrap(True)
        self._empty.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 12, 12, 12)
        column.setSpacing(10)
        column.addWidget(self.new_button)
        column.addWidget(self.search)
        column.addWidget(self._empty)
        column.addWidget(self.list, 1)
        column.addWidget(self._make_undo_bar())
        self._make_actions()

    def set_theme(self, theme: Theme) -> None:
        """Use another theme's colours."""
        self._rows.set_theme(theme)
        self.list.viewport().update()

    def set_icons(self, new: QIcon, search: QIcon) -> None:
        """Show icons on the button for a new chat and in the search field."""
        self.new_button.setIcon(new)
        self._search_icon.setIcon(search)

    def select(self, conversation_id: str) -> None:
        """Mark a conversation as the one that is shown; an unknown one marks none."""
        self._shown_id = conversation_id
        index = self._shown_index()
        selection = self.list.selectionModel()
        flag = selection.SelectionFlag
        if index.isValid():
            selection.setCurrentIndex(index, flag.ClearAndSelect)
            self.list.scrollTo(index)
        else:
            selection.setCurrentIndex(QModelIndex(), flag.Clear)

    @property
    def has_shown(self) -> bool:
        """Whether the conversation that is shown is one of the list, found or not."""
        return self._model.row_of(self._shown_id) >= 0

    def rename_shown(self) -> None:
        """Edit the title of the conversation that is shown."""
        if not self._shown_index().isValid():
            self.search.clear()
        self.select(self._shown_id)
        self.rename_action.trigger()

    def delete_shown(self) -> None:
        """Ask for the conversation that is shown to be deleted."""
        if self.has_shown:
            self.delete_requested.emit(self._shown_id)

    def show_undo(self, title: str) -> None:
        """Offer to bring a deleted conversation back, for a while."""
        self._deleted.set_full_text(self.tr("Deleted “{}”").format(title))
        self.undo_bar.show()
        self._undo_timer.start(UNDO_MS)

    def hide_undo(self) -> None:
        """Take the offer back."""
        self._undo_timer.stop()
        self.undo_bar.hide()

    def focus_search(self) -> None:
        """Put the keyboard into the search field."""
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    def _shown_index(self) -> QModelIndex:
        return self._filter.mapFromSource(self._model.index(self._model.row_of(self._shown_id)))

    def _make_undo_bar(self) -> QFrame:
        self.undo_bar = QFrame()
        self.undo_bar.setProperty("kind", "notice")
        self._deleted = ElidedLabel(400, Qt.TextElideMode.ElideRight)
        self._deleted.setProperty("role", "small")
        self.undo_button = QPushButton(self.tr("Undo"))
        self.undo_button.setProperty("kind", "quiet")
        self.undo_button.clicked.connect(self._on_undo)
        row = QHBoxLayout(self.undo_bar)
        row.setContentsMargins(10, 2, 4, 2)
        row.addWidget(self._deleted)
        row.addStretch(1)
        row.addWidget(self.undo_button)
        self.undo_bar.hide()
        self._undo_timer = QTimer(self)
        self._undo_timer.setSingleShot(True)
        self._undo_timer.timeout.connect(self.undo_bar.hide)
        return self.undo_bar

    def _make_actions(self) -> None:
        self.rename_action = QAction(self.tr("Rename"), self)
        self.rename_action.setShortcut(QKeySequence(Qt.Key.Key_F2))
        self.rename_action.triggered.connect(self._on_rename)
        self.delete_action = QAction(self.tr("Delete"), self)
        self.delete_action.setShortcut(QKeySequence(QKeySequence.StandardKey.Delete))
        self.delete_action.triggered.connect(self._on_delete)
        for action in (self.rename_action, self.delete_action):
            action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            self.list.addAction(action)

    @Slot(str)
    def _on_search(self, text: str) -> None:
        self._filter.set_search(text)
        self.select(self._shown_id)
        self._empty.setVisible(bool(text.strip()) and self._filter.rowCount() == 0)

    @Slot(QModelIndex)
    def _on_chosen(self, index: QModelIndex) -> None:
        self.chosen.emit(str(index.data(ID_ROLE)))

    @Slot(QPoint)
    def _on_menu(self, position: QPoint) -> None:
        index = self.list.indexAt(position)
        if not index.isValid():
            return
        self.list.setCurrentIndex(index)
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addActions([self.rename_action, self.delete_action])
        menu.popup(self.list.viewport().mapToGlobal(position))

    @Slot()
    def _on_rename(self) -> None:
        index = self.list.currentIndex()
        if index.isValid():
            self.list.edit(index)

    @Slot()
    def _on_delete(self) -> None:
        index = self.list.currentIndex()
        if index.isValid():
            self.delete_requested.emit(str(index.data(ID_ROLE)))

    @Slot()
    def _on_undo(self) -> None:
        self.hide_undo()
        self.undo_requested.emit()
