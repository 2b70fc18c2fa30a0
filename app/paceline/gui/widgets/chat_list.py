"""The view of the list of chats: opens on a click, and knows its rows' small parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPoint, Qt, Signal, Slot
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QAbstractItemView, QListView, QWidget

from paceline.gui.viewmodels.conversations import ID_ROLE
from paceline.gui.widgets.conversation_row import ConversationRow

if TYPE_CHECKING:
    from PySide6.QtGui import QKeyEvent, QMouseEvent

    from paceline.gui.icons import Icons
    from paceline.gui.theme import Theme
    from paceline.gui.viewmodels.conversations import ConversationList


class ChatList(QListView):
    """Rows of a `ConversationList`."""

    opened = Signal(str)
    tag_clicked = Signal(str)
    menu_wanted = Signal(QPoint)
    """For the current chat, at this place on the screen."""
    left_upwards = Signal()
    """Up was pressed on the first chat."""

    def __init__(
        self, model: ConversationList, theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._chats = model
        self.setProperty("kind", "chats")
        self.setAccessibleName(self.tr("Chats"))
        self.setModel(model)
        self.setMouseTracking(True)
        self.setUniformItemSizes(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self._rows = ConversationRow(theme, self)
        self.setItemDelegate(self._rows)
        self.clicked.connect(self._on_activated)
        self.activated.connect(self._on_activated)

    def set_theme(self, theme: Theme, icons: Icons | None = None) -> None:
        """Use another theme's colours and icons."""
        self._rows.set_theme(theme, icons)
        self.scheduleDelayedItemsLayout()
        self.viewport().update()

    @property
    def current_id(self) -> str:
        """The chat that has the keyboard; empty: none."""
        return str(self.currentIndex().data(ID_ROLE) or "")

    @Slot()
    def take_focus(self) -> None:
        """Have the keyboard, with a row to go on from."""
        self.setFocus(Qt.FocusReason.TabFocusReason)
        if not self.current_id:
            self.setCurrentIndex(self._chats.first_chat())

    def moveCursor(
        self, action: QAbstractItemView.CursorAction, modifiers: Qt.KeyboardModifier
    ) -> QModelIndex:
        """Where a key leads: below a heading that it would end on."""
        index = super().moveCursor(action, modifiers)
        if index.isValid() and not index.data(ID_ROLE):
            return self._chats.index(index.row() + 1)
        return index

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Search for a tag, open a row's menu, or do what a list does."""
        point = event.position().toPoint()
        index = self.indexAt(point)
        if index.data(ID_ROLE) and event.button() == Qt.MouseButton.LeftButton:
            rect = self.visualRect(index)
            tag = self._rows.tag_at(rect, index, point)
            if tag:
                self.tag_clicked.emit(tag)
                return
            if self._rows.is_more(rect, point):
                self._open_menu(index, point)
                return
        super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Leave the list upwards at its upper end."""
        is_plain = not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if event.key() == Qt.Key.Key_Up and is_plain:
            current = self.currentIndex()
            if not current.isValid() or current == self._chats.first_chat():
                self.left_upwards.emit()
                return
        super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Open the menu of the row below the pointer, or by key of the current one."""
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            index = self.currentIndex()
            point = self.visualRect(index).center()
        else:
            point = self.viewport().mapFromGlobal(event.globalPos())
            index = self.indexAt(point)
        if index.data(ID_ROLE):
            self._open_menu(index, point)

    def _open_menu(self, index: QModelIndex, point: QPoint) -> None:
        self.setCurrentIndex(index)
        self.menu_wanted.emit(self.viewport().mapToGlobal(point))

    @Slot(QModelIndex)
    def _on_activated(self, index: QModelIndex) -> None:
        conversation_id = index.data(ID_ROLE)
        if conversation_id:
            self.opened.emit(str(conversation_id))
