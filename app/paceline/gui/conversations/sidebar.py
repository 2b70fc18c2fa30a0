"""The list of chats: new chat, search, tags, the list, actions on a row, undo."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer, Signal, SignalInstance, Slot
from PySide6.QtGui import QAction, QHideEvent, QKeySequence, QShowEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QMenu,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from paceline.conversation import ConversationSummary
from paceline.gui.conversations.chat_finder import ChatFinder
from paceline.gui.conversations.folders import FolderChoice, FolderMenu
from paceline.gui.conversations.groups import ARCHIVE
from paceline.gui.conversations.model import ConversationList, clean_tag
from paceline.gui.conversations.tags import TagEditor
from paceline.gui.kit.labels import ElidedLabel
from paceline.gui.kit.layouts import column_of, row_of, styled
from paceline.gui.look.current import look
from paceline.gui.look.style import SIDEBAR

MIN_PX = 180
_MARGIN_PX = 12
_MINUTE_MS = 60_000
"""Interval between two updates of the chats' ages."""
UNDO_MS = 10_000
"""Time in which a deletion can be undone."""
_LABEL_PX = 400


class ChatMenu(QObject):
    """Actions on the list's current chat: the menu of a row, and the list's keys."""

    def __init__(self, list_: QWidget) -> None:
        super().__init__(list_)
        self._list = list_
        self.open = self._make(self.tr("Open"))
        self.rename = self._make(self.tr("Rename"), "edit", QKeySequence(Qt.Key.Key_F2))
        self.pin = self._make(self.tr("Pin"), "pin", QKeySequence("Ctrl+D"))
        self.tags = self._make(self.tr("Tags…"), "tag", QKeySequence("Ctrl+T"))
        self.move = self._make(self.tr("Move to folder"), "folder", QKeySequence("Ctrl+M"))
        self.archive = self._make(self.tr("Archive"), "archive", QKeySequence("Ctrl+Shift+A"))
        self.export = self._make(self.tr("Export…"), "export")
        self.copy = self._make(self.tr("Copy as Markdown"), "copy")
        delete = QKeySequence(QKeySequence.StandardKey.Delete)
        self.delete = self._make(self.tr("Delete"), "trash", delete)

    def popup(
        self,
        summary: ConversationSummary,
        point: QPoint,
        folders_in: Callable[[QWidget], QMenu],
    ) -> QMenu:
        """Open a chat's menu at a place on the screen, including the menu of folders."""
        self.pin.setText(self.tr("Unpin") if summary.pinned else self.tr("Pin"))
        self.archive.setText(self.tr("Unarchive") if summary.archived else self.tr("Archive"))
        menu = QMenu(self._list)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addActions([self.open, self.rename, self.pin, self.tags])
        menu.addMenu(folders_in(menu))
        menu.addSeparator()
        menu.addActions([self.export, self.copy])
        menu.addSeparator()
        menu.addActions([self.archive, self.delete])
        menu.popup(point)
        return menu

    def _make(self, text: str, icon: str = "", keys: QKeySequence | None = None) -> QAction:
        action = QAction(text, self)
        if icon:
            action.setIcon(look.icon(icon))
        if keys is not None:
            action.setShortcut(keys)
        action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        action.setShortcutVisibleInContextMenu(True)
        self._list.addAction(action)
        return action


class UndoBar(QFrame):
    """The offer to undo a deletion; hidden at first and again after a while."""

    wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "notice")
        self.words = styled(ElidedLabel(_LABEL_PX, Qt.TextElideMode.ElideRight), role="small")
        self.button = styled(QPushButton(self.tr("Undo")), kind="quiet")
        self.button.clicked.connect(self._on_clicked)
        row_of(self.words, None, self.button, on=self, margins=(10, 2, 4, 2))
        self.hide()
        self._timer = QTimer(self, singleShot=True, interval=UNDO_MS)
        self._timer.timeout.connect(self.hide)

    def offer(self, words: str) -> None:
        """Show the bar, for the whole time again."""
        self.words.setText(words)
        self.button.setAccessibleDescription(words)
        self.show()
        self._timer.start()

    def take_back(self) -> None:
        """Hide the bar without a signal."""
        self._timer.stop()
        self.hide()

    @Slot()
    def _on_clicked(self) -> None:
        self.take_back()
        self.wanted.emit()


class Sidebar(QWidget):
    """A `ConversationList` and the hits of a search; emits the user's requests."""

    pin_requested = Signal(str, bool)
    tag_requested = Signal(str, tuple)
    archive_requested = Signal(str, bool)
    move_requested = Signal(str, str)
    """A chat's id, and a folder's, or empty to take it out of its folder or of the archive"""
    folder_wanted = Signal(str)
    """Id of the chat for a new folder, or empty for a folder without chats"""
    new_chat_wanted = Signal(str)
    folder_edit_wanted = Signal(str)
    folder_delete_requested = Signal(str)
    delete_requested = Signal(str)
    export_requested = Signal(str)
    copy_requested = Signal(str)

    def __init__(self, model: ConversationList) -> None:
        super().__init__()
        self.setObjectName(SIDEBAR)
        self.setProperty("kind", "sidebar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.model = model
        self._writing_id = ""
        self.finder = ChatFinder(model)
        self.search, self.list = self.finder.search, self.finder.list
        self.menu = ChatMenu(self.list)
        self.undo_bar = UndoBar()
        column_of(
            self._make_new_row(),
            (self.finder, 1),
            self.undo_bar,
            on=self,
            margins=_MARGIN_PX,
            spacing=8,
        )
        self._minute = QTimer(self, interval=_MINUTE_MS)
        self._minute.timeout.connect(model.refresh)
        self._connect()
        self._set_least_width()

    def changeEvent(self, event: QEvent) -> None:
        """Adapt to another size of text."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange:
            self._set_least_width()

    def _set_least_width(self) -> None:
        """Set the minimum width so that large text fits on the button at the top."""
        self.new_button.ensurePolished()
        self.new_menu_button.ensurePolished()
        buttons = self.new_button.sizeHint().width() + 1 + self.new_menu_button.sizeHint().width()
        self.setMinimumWidth(max(MIN_PX, buttons + 2 * _MARGIN_PX))

    # ------------------------------------------------------------------------------------ display

    def set_writing(self, conversation_id: str) -> None:
        """Set the chat in which a reply is being written, or empty for none."""
        self.model.set_note(self._writing_id, "")
        self.model.set_note(conversation_id, self.tr("writing…"))
        self._writing_id = conversation_id

    def select(self, conversation_id: str) -> None:
        """Mark a chat as the shown one; an unknown id marks none."""
        self.finder.select(conversation_id)

    @property
    def has_shown(self) -> bool:
        """Return whether the shown chat is in the list, visible or not."""
        return self.model.summary(self.finder.shown_id) is not None

    def show_undo(self, title: str) -> None:
        """Offer to restore a deleted chat or folder, for a while."""
        self.undo_bar.offer(self.tr("Deleted “{}”").format(title))

    # ---------------------------------------------------------------------------- menus and keys

    def rename_shown(self) -> None:
        """Edit the title of the shown chat."""
        self.finder.go_to_shown()
        self.menu.rename.trigger()

    @Slot()
    def pin_shown(self) -> None:
        """Pin or unpin the shown chat."""
        self._flip_pin(self.finder.shown_id)

    @Slot()
    def archive_shown(self) -> None:
        """Archive the shown chat, or move it back."""
        self._flip_archive(self.finder.shown_id)

    def move_shown(self) -> None:
        """Ask for a folder for the shown chat."""
        self.finder.go_to_shown()
        self._on_move()

    @Slot()
    def tag_shown(self) -> None:
        """Open the editor for the tags of the shown chat."""
        self._edit_tags(self.finder.shown_id)

    def delete_shown(self) -> None:
        """Request the deletion of the shown chat."""
        if self.has_shown:
            self.delete_requested.emit(self.finder.shown_id)

    # --------------------------------------------------------------------------------- the parts

    def _make_new_row(self) -> QHBoxLayout:
        self.new_button = styled(QPushButton(self.tr("New chat")), kind="primary", split="left")
        self.new_button.setIcon(look.icon("plus", "accent_text"))
        self.new_menu_button = styled(QToolButton(), kind="primary", split="right")
        self.new_menu_button.setIcon(look.icon("chevron-down", "accent_text"))
        self.new_menu_button.setAccessibleName(self.tr("More ways to begin"))
        self.new_menu_button.setToolTip(self.tr("Private chat, folder, import"))
        self.new_menu_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.new_menu_button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        # As high as its neighbour, whose hint is lower.
        policy = QSizePolicy.Policy
        self.new_menu_button.setSizePolicy(policy.Fixed, policy.Ignored)
        menu = QMenu(self, toolTipsVisible=True)
        self.private_action = menu.addAction(look.icon("lock"), self.tr("New private chat"))
        self.private_action.setToolTip(self.tr("Nothing of it is stored or remembered."))
        menu.addSeparator()
        self.folder_action = menu.addAction(look.icon("folder"), self.tr("New folder…"))
        self.import_action = menu.addAction(look.icon("import"), self.tr("Import…"))
        self.new_menu_button.setMenu(menu)
        return row_of((self.new_button, 1), self.new_menu_button, spacing=1)

    def _connect(self) -> None:
        self.list.menu_wanted.connect(self._on_menu)
        self.list.dropped.connect(self._on_dropped)
        self.folder_action.triggered.connect(self._on_new_folder)
        menu = self.menu
        menu.open.triggered.connect(self._on_open)
        menu.rename.triggered.connect(self._on_rename)
        menu.pin.triggered.connect(self._on_pin)
        menu.tags.triggered.connect(self._on_edit_tags)
        menu.move.triggered.connect(self._on_move)
        menu.archive.triggered.connect(self._on_archive)
        menu.export.triggered.connect(self._on_export)
        menu.copy.triggered.connect(self._on_copy)
        menu.delete.triggered.connect(self._on_delete)

    def showEvent(self, event: QShowEvent) -> None:
        """Update the ages while they are visible."""
        super().showEvent(event)
        self.model.refresh()
        self._minute.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop the updates while the ages are hidden."""
        super().hideEvent(event)
        self._minute.stop()

    # ------------------------------------------------------------------------------- user actions

    @Slot(QPoint)
    def _on_menu(self, point: QPoint) -> None:
        summary, folder = self.model.summary(self.list.current_id), self.list.current_folder
        if summary is not None:
            self.menu.popup(summary, point, partial(self._folder_choice, summary))
        elif folder is not None:
            menu = FolderMenu(folder, self.list)
            menu.new_chat_wanted.connect(self.new_chat_wanted)
            menu.search_wanted.connect(self._on_search_in)
            menu.edit_wanted.connect(self.folder_edit_wanted)
            menu.delete_wanted.connect(self.folder_delete_requested)
            menu.popup(point)

    def _folder_choice(self, summary: ConversationSummary, parent: QWidget) -> FolderChoice:
        choice = FolderChoice(summary, self.model.folders, parent)
        choice.chosen.connect(self.move_requested)
        choice.new_wanted.connect(self.folder_wanted)
        return choice

    @Slot()
    def _on_move(self) -> None:
        """Offer folders for the current chat, beside its row."""
        summary = self.model.summary(self.list.current_id)
        if summary is not None:
            choice = self._folder_choice(summary, self.list)
            choice.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            rect = self.list.visualRect(self.list.currentIndex())
            choice.popup(self.list.viewport().mapToGlobal(rect.center()))

    @Slot(str, str)
    def _on_dropped(self, conversation_id: str, folder_id: str) -> None:
        if folder_id == ARCHIVE:
            self.archive_requested.emit(conversation_id, True)  # noqa: FBT003  a signal
        else:
            self.move_requested.emit(conversation_id, folder_id)

    @Slot()
    def _on_new_folder(self) -> None:
        self.folder_wanted.emit("")

    @Slot(str)
    def _on_search_in(self, folder_id: str) -> None:
        name = next((f.name for f in self.model.folders if f.folder_id == folder_id), "")
        self.finder.search_tag(clean_tag(name))
        self.finder.focus_search()

    @Slot()
    def _on_open(self) -> None:
        self._emit_for_current(self.finder.chosen)

    @Slot()
    def _on_rename(self) -> None:
        if self.list.current_id or self.list.current_folder:
            self.list.edit(self.list.currentIndex())

    @Slot()
    def _on_pin(self) -> None:
        self._flip_pin(self.list.current_id)

    @Slot()
    def _on_edit_tags(self) -> None:
        self._edit_tags(self.list.current_id)

    @Slot()
    def _on_export(self) -> None:
        self._emit_for_current(self.export_requested)

    @Slot()
    def _on_copy(self) -> None:
        self._emit_for_current(self.copy_requested)

    @Slot()
    def _on_delete(self) -> None:
        folder = self.list.current_folder
        if folder is not None:
            self.folder_delete_requested.emit(folder.folder_id)
        self._emit_for_current(self.delete_requested)

    @Slot()
    def _on_archive(self) -> None:
        self._flip_archive(self.list.current_id)

    def _flip_archive(self, conversation_id: str) -> None:
        summary = self.model.summary(conversation_id)
        if summary is not None:
            self.archive_requested.emit(conversation_id, not summary.archived)

    def _emit_for_current(self, wanted: SignalInstance) -> None:
        if self.list.current_id:
            wanted.emit(self.list.current_id)

    def _flip_pin(self, conversation_id: str) -> None:
        summary = self.model.summary(conversation_id)
        if summary is not None:
            self.pin_requested.emit(conversation_id, not summary.pinned)

    def _edit_tags(self, conversation_id: str) -> None:
        summary = self.model.summary(conversation_id)
        if summary is None:
            return
        editor = TagEditor(summary, self.model.tags, self.window())
        editor.tagged.connect(self.tag_requested)
        editor.open()
