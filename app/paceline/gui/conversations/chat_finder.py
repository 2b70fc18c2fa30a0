"""Search field, tags, and the chats or the hits below them.

The whole search, tags included, is the text of the field (a tag is ``#tag``), and pressing a tag
writes it there. So the user always sees what restricts the list, and Esc clears all of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QPoint, Qt, Signal, Slot
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QContextMenuEvent,
    QDrag,
    QDropEvent,
    QKeyEvent,
    QMouseEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QListView, QPushButton, QStackedWidget, QWidget

from paceline.conversation import ConversationSummary, Folder, SearchHit
from paceline.gui.conversations.found_list import FoundList
from paceline.gui.conversations.model import (
    CHAT_MIME,
    FOLDER_ROLE,
    ID_ROLE,
    ChatQuery,
    ConversationList,
    parse,
    with_tag,
)
from paceline.gui.conversations.rows import ConversationRow
from paceline.gui.conversations.tags import TagBar
from paceline.gui.kit.labels import say, text_label
from paceline.gui.kit.layouts import column_of
from paceline.gui.kit.row_painting import show_rows
from paceline.gui.kit.search_field import SearchField
from paceline.gui.look.current import look
from paceline.storage.search import passes_over, words_of

_FOLDER_KEYS: dict[int, bool | None] = {
    Qt.Key.Key_Right: True,
    Qt.Key.Key_Left: False,
    Qt.Key.Key_Return: None,
    Qt.Key.Key_Enter: None,
    Qt.Key.Key_Space: None,
}
"""Keys on a folder: open, close, or toggle."""


class ChatList(QListView):
    """List view of the rows of a `ConversationList`."""

    opened = Signal(str)
    tag_clicked = Signal(str)
    menu_wanted = Signal(QPoint)
    """A menu for the current chat or folder is requested at this place on the screen."""
    dropped = Signal(str, str)
    """A chat was dragged to a folder or the archive of this id, or out of them (empty)."""
    left_upwards = Signal()
    """Up was pressed on the first chat."""

    def __init__(self, model: ConversationList) -> None:
        super().__init__()
        self._chats = model
        self.setProperty("kind", "chats")
        self.setAccessibleName(self.tr("Chats"))
        self.setModel(model)
        self.setUniformItemSizes(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self._rows = ConversationRow(self)
        show_rows(self, self._rows)
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragDrop)
        self.setDragDropOverwriteMode(True)  # allows no drop between two rows
        look.follow(self._fit)
        self.clicked.connect(self._on_clicked)
        self.activated.connect(self._on_activated)

    @Slot()
    def _fit(self) -> None:
        """Set the rows' height for the present density."""
        self.scheduleDelayedItemsLayout()

    def mark_shown(self, conversation_id: str) -> None:
        """Mark the shown chat, independent of keyboard focus and menu."""
        self._rows.shown_id = conversation_id
        self.viewport().update()

    @property
    def current_id(self) -> str:
        """Id of the chat with the keyboard focus, or empty."""
        return str(self.currentIndex().data(ID_ROLE) or "")

    @property
    def has_current(self) -> bool:
        """Return whether a chat or a folder has the keyboard focus."""
        return self.currentIndex().flags() != Qt.ItemFlag.NoItemFlags

    @property
    def current_folder(self) -> Folder | None:
        """The folder with the keyboard focus; None without one, and for the archive."""
        line = self.currentIndex().data(FOLDER_ROLE)
        return line.folder if line is not None and not line.is_archive else None

    @Slot()
    def take_focus(self) -> None:
        """Take the keyboard focus, with a row selected to go on from."""
        self.setFocus(Qt.FocusReason.TabFocusReason)
        if not self.current_id:
            self.setCurrentIndex(self._chats.first_chat())

    def moveCursor(
        self, action: QAbstractItemView.CursorAction, modifiers: Qt.KeyboardModifier
    ) -> QModelIndex:
        """Return the row that a key leads to, below a heading rather than on it."""
        index = super().moveCursor(action, modifiers)
        if index.isValid() and index.flags() == Qt.ItemFlag.NoItemFlags:
            return self._chats.index(index.row() + 1)
        return index

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Search for a tag, open a row's menu, or handle the click as a list does."""
        point = event.position().toPoint()
        index = self.indexAt(point)
        if _has_menu(index) and event.button() == Qt.MouseButton.LeftButton:
            rect = self.visualRect(index)
            tag = self._rows.tag_at(rect, index, point)
            if tag:
                self.tag_clicked.emit(tag)
                return
            if self._rows.is_more(rect, index, point):
                self._open_menu(index, point)
                return
        super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Leave the list upwards at its upper end; open and close folders."""
        is_plain = not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        current = self.currentIndex()
        line = current.data(FOLDER_ROLE)
        if event.key() == Qt.Key.Key_Up and is_plain:
            above = range(current.row())
            if not any(self._chats.flags(self._chats.index(row)) for row in above):
                self.left_upwards.emit()
                return
        if line is not None and event.key() in _FOLDER_KEYS:
            on = _FOLDER_KEYS[event.key()]
            self._chats.set_open(line.folder.folder_id, on=not line.is_open if on is None else on)
            return
        super().keyPressEvent(event)

    # ------------------------------------------------------------------------------- dragging

    def startDrag(self, _actions: Qt.DropAction) -> None:
        """Drag the current chat; Qt would remove its row afterwards."""
        index = self.currentIndex()
        if index.data(ID_ROLE):
            drag = QDrag(self)
            drag.setMimeData(self._chats.mimeData([index]))
            drag.setPixmap(self.viewport().grab(self.visualRect(index)))
            drag.exec(Qt.DropAction.MoveAction)

    def dropEvent(self, event: QDropEvent) -> None:
        """Emit the dropped chat and its new place."""
        conversation_id = bytes(event.mimeData().data(CHAT_MIME).data()).decode()
        if conversation_id:
            folder = self._chats.folder_at(self.indexAt(event.position().toPoint()))
            event.acceptProposedAction()
            self.setState(QAbstractItemView.State.NoState)
            self.viewport().update()
            self.dropped.emit(conversation_id, folder.folder_id if folder is not None else "")

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Open the menu of the row at the pointer or, by key, of the current row."""
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            index = self.currentIndex()
            point = self.visualRect(index).center()
        else:
            point = self.viewport().mapFromGlobal(event.globalPos())
            index = self.indexAt(point)
        if _has_menu(index):
            self._open_menu(index, point)

    def _open_menu(self, index: QModelIndex, point: QPoint) -> None:
        self.setCurrentIndex(index)
        self.menu_wanted.emit(self.viewport().mapToGlobal(point))

    @Slot(QModelIndex)
    def _on_activated(self, index: QModelIndex) -> None:
        conversation_id = index.data(ID_ROLE)
        if conversation_id:
            self.opened.emit(str(conversation_id))

    @Slot(QModelIndex)
    def _on_clicked(self, index: QModelIndex) -> None:
        line = index.data(FOLDER_ROLE)
        if line is not None:
            self._chats.set_open(line.folder.folder_id, on=not line.is_open)
        else:
            self._on_activated(index)


def _has_menu(index: QModelIndex) -> bool:
    line = index.data(FOLDER_ROLE)
    return bool(index.data(ID_ROLE)) or (line is not None and not line.is_archive)


class EmptyNote(QWidget):
    """Explanation of an empty list: a title, a sentence or two, and a button."""

    def __init__(self) -> None:
        super().__init__()
        self.title = text_label("", "title", wraps=True, plain=True)
        self.hint = text_label(wraps=True, plain=True)
        self.button = QPushButton()
        self.button.hide()
        column_of(
            self.title,
            self.hint,
            (self.button, 0, Qt.AlignmentFlag.AlignLeft),
            None,
            on=self,
            margins=(10, 24, 10, 10),
            spacing=6,
        )

    def say(self, title: str, hint: str, button: str = "") -> None:
        """Show these words; the button is hidden without words."""
        self.title.setText(title)
        self.hint.setText(hint)
        say(self.button, button)


class ChatFinder(QWidget):
    """A `ConversationList`, whole or restricted by a search.

    Attributes:
        shown_id: The id of the shown chat.
    """

    chosen = Signal(str)
    hit_chosen = Signal(str, str, tuple)
    search_wanted = Signal(str)

    def __init__(self, model: ConversationList) -> None:
        super().__init__()
        self._model = model
        self.shown_id = ""
        self._query = ChatQuery()
        self._hits: Sequence[SearchHit] | None = None
        self._is_cut = False
        self.search = SearchField(self.tr("Search chats"), self.tr("Ctrl Shift F"))
        self.tags = TagBar()
        self.list = ChatList(model)
        self.found = FoundList()
        self.empty = EmptyNote()
        self.pages = QStackedWidget()
        for page in (self.list, self.found, self.empty):
            self.pages.addWidget(page)
        column_of(self.search, self.tags, (self.pages, 1), on=self, margins=0, spacing=8)
        self.search.wanted.connect(self._on_search)
        self.search.confirmed.connect(self._on_confirmed)
        self.search.left_downwards.connect(self._on_down)
        self.tags.toggled.connect(self._on_tag)
        self.list.opened.connect(self.chosen)
        self.list.tag_clicked.connect(self.search_tag)
        self.list.left_upwards.connect(self.focus_search)
        self.found.hit_chosen.connect(self._on_hit)
        self.found.view.left_upwards.connect(self.focus_search)
        self.found.view.dismissed.connect(self._on_dismissed)
        self.empty.button.clicked.connect(self._on_dismissed)
        model.tags_changed.connect(self._show_tags)
        for changed in (
            model.modelReset, model.rowsInserted, model.rowsRemoved, model.rowsMoved,
            model.dataChanged,
        ):  # fmt: skip
            changed.connect(self._on_rows)
        model.rowsMoved.connect(self._on_moved)
        self._show_page()

    def show_hits(self, hits: Sequence[SearchHit], *, is_cut: bool = False) -> None:
        """Show the hits of the last search, the best first.

        Args:
            hits: Messages and titles.
            is_cut: Whether there are more than these.
        """
        if self._query.text:
            self._hits, self._is_cut = hits, is_cut
            self._refresh_hits()
            self._show_page()
            words = self.found.summary.text() or self.empty.title.text()
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self.search, words))

    def select(self, conversation_id: str) -> None:
        """Mark the shown chat; a row that the user moved to keeps the keyboard focus."""
        is_same = conversation_id == self.shown_id
        self.shown_id = conversation_id
        self.list.mark_shown(conversation_id)
        index = self.shown_index()
        if is_same and self.list.hasFocus() and self.list.has_current:
            return
        selection = self.list.selectionModel()
        flag = selection.SelectionFlag
        if not index.isValid():
            selection.setCurrentIndex(QModelIndex(), flag.Clear)
        elif index != self.list.currentIndex():
            selection.setCurrentIndex(index, flag.ClearAndSelect)
            self.list.scrollTo(index)

    def shown_index(self) -> QModelIndex:
        """Return the row of the shown chat; invalid where a search hides it."""
        return self._model.index(self._model.row_of(self.shown_id))

    def go_to_shown(self) -> None:
        """Show the row of the shown chat, whatever search or folder hides it."""
        if self.pages.currentWidget() is not self.list or not self.shown_index().isValid():
            self.search.clear()
            folder = self._model.folder_of(self.shown_id)
            if folder is not None:
                self._model.set_open(folder.folder_id, on=True)
        self.list.setCurrentIndex(self.shown_index())

    @Slot()
    def focus_search(self) -> None:
        """Focus the search field."""
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    # ----------------------------------------------------------------------------------- private

    def _show_page(self) -> None:
        query = self._query
        page: QWidget = self.list
        if query.text and self._hits is not None:
            page = self.found
            if self.found.is_empty:
                page = self.empty
                self._say_nothing_found()
        elif self._model.rowCount() == 0:
            page = self.empty
            if query.tags:
                self.empty.say(
                    self.tr("No chat has the tag “{}”.").format("”, “".join(query.tags)),
                    self.tr("Tags are put on a chat in its menu."),
                    self.tr("Show all chats"),
                )
            else:
                self.empty.say(
                    self.tr("No chats yet"),
                    self.tr("Write a message to begin. Every chat is kept here with its speed."),
                )
        self.pages.setCurrentWidget(page)

    def _say_nothing_found(self) -> None:
        text, show_all = self._query.text, self.tr("Show all chats")
        if not words_of(text):
            hint = self.tr("Letters and digits are: write a word that stands near “{}”.")
            title = self.tr("Signs and emoji are not searched")
            self.empty.say(title, hint.format(text), show_all)
            return
        hint = self.tr("Titles, messages and replies were searched. Try fewer or shorter words.")
        if self._query.tags:
            hint = self.tr("Only chats with the tag “{}” were searched.").format(
                "”, “".join(self._query.tags)
            )
        if passes_over(text):
            hint = " ".join((hint, self.tr("Signs and emoji are not searched.")))
        self.empty.say(self.tr("Nothing has “{}”.").format(text), hint, show_all)

    def _refresh_hits(self) -> None:
        if self._hits is not None:
            self.found.show_hits(
                self._hits,
                self._wanted_summary,
                is_cut=self._is_cut,
                passes_over=passes_over(self._query.text),
            )

    def _wanted_summary(self, conversation_id: str) -> ConversationSummary | None:
        accepts = self._model.accepts(conversation_id)
        return self._model.summary(conversation_id) if accepts else None

    @Slot()
    def _show_tags(self) -> None:
        self.tags.show_tags(self._model.tags, self._query.tags)

    @Slot()
    def _on_rows(self) -> None:
        self._refresh_hits()
        self._show_page()
        if not self.list.has_current:  # Qt goes to the next row, even to a heading
            self.select(self.shown_id)

    @Slot()
    def _on_moved(self) -> None:
        """Scroll along with the shown chat when it moves to the top."""
        index = self.shown_index()
        if index.isValid() and not self.list.hasFocus():
            self.list.scrollTo(index)

    @Slot(str)
    def _on_search(self, text: str) -> None:
        self._query = parse(text)
        self._hits = None
        self._model.set_query(self._query)
        self._show_tags()
        if self._query.text:
            self.search_wanted.emit(self._query.text)
        self._show_page()
        self.select(self.shown_id)

    @Slot()
    def _on_confirmed(self) -> None:
        if self.pages.currentWidget() is self.found:
            self.found.choose_first()
        elif self._query.tags:
            conversation_id = self._model.first_chat().data(ID_ROLE)
            if conversation_id:
                self.chosen.emit(str(conversation_id))

    @Slot()
    def _on_down(self) -> None:
        page = self.pages.currentWidget()
        if page is self.found:
            self.found.take_focus()
        elif page is self.list:
            self.list.take_focus()

    @Slot()
    def _on_dismissed(self) -> None:
        self.search.clear()
        self.focus_search()

    @Slot(str, bool)
    def _on_tag(self, tag: str, on: bool) -> None:  # noqa: FBT001
        self.search.setText(with_tag(self.search.text(), tag, on=on))
        self.search.emit_now()

    @Slot(str)
    def search_tag(self, tag: str) -> None:
        """Add a tag, or the name of a folder, to the search."""
        self._on_tag(tag, on=True)

    @Slot(str, str)
    def _on_hit(self, conversation_id: str, message_id: str) -> None:
        self.hit_chosen.emit(conversation_id, message_id, self._query.words)
