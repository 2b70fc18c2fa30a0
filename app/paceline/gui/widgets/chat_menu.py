"""What can be done with a chat of the list: the menu of a row, and the keys of the list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, Qt, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

if TYPE_CHECKING:
    from paceline.conversation import ConversationSummary
    from paceline.gui.icons import Icons


class ChatMenu(QObject):
    """Actions on the chat that has the list's keyboard; each tells which it was asked for."""

    open_wanted = Signal()
    rename_wanted = Signal()
    pin_wanted = Signal()
    tags_wanted = Signal()
    export_wanted = Signal()
    copy_wanted = Signal()
    delete_wanted = Signal()

    def __init__(self, list_: QWidget) -> None:
        super().__init__(list_)
        self._list = list_
        self.open = self._make(self.tr("Open"))
        self.rename = self._make(self.tr("Rename"), QKeySequence(Qt.Key.Key_F2))
        self.pin = self._make(self.tr("Pin"), QKeySequence("Ctrl+D"))
        self.tags = self._make(self.tr("Tags…"), QKeySequence("Ctrl+T"))
        self.export = self._make(self.tr("Export…"))
        self.copy = self._make(self.tr("Copy as Markdown"))
        self.delete = self._make(self.tr("Delete"), QKeySequence(QKeySequence.StandardKey.Delete))
        for action, wanted in (
            (self.open, self.open_wanted),
            (self.rename, self.rename_wanted),
            (self.pin, self.pin_wanted),
            (self.tags, self.tags_wanted),
            (self.export, self.export_wanted),
            (self.copy, self.copy_wanted),
            (self.delete, self.delete_wanted),
        ):
            action.triggered.connect(wanted)

    def set_icons(self, icons: Icons) -> None:
        """Show icons in the menu."""
        for action, name in (
            (self.rename, "edit"),
            (self.pin, "pin"),
            (self.tags, "tag"),
            (self.export, "export"),
            (self.copy, "copy"),
            (self.delete, "trash"),
        ):
            action.setIcon(icons.icon(name))

    def popup(self, summary: ConversationSummary, point: QPoint) -> QMenu:
        """Open the menu for a chat at a place on the screen."""
        self.pin.setText(self.tr("Unpin") if summary.pinned else self.tr("Pin"))
        menu = QMenu(self._list)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addActions([self.open, self.rename, self.pin, self.tags])
        menu.addSeparator()
        menu.addActions([self.export, self.copy])
        menu.addSeparator()
        menu.addAction(self.delete)
        menu.popup(point)
        return menu

    def _make(self, text: str, keys: QKeySequence | None = None) -> QAction:
        action = QAction(text, self)
        if keys is not None:
            action.setShortcut(keys)
        action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        action.setShortcutVisibleInContextMenu(True)
        self._list.addAction(action)
        return action
