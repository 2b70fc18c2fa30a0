"""Menu and editor of folders of chats, and the choice of a folder for a chat."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QDialog, QLineEdit, QMenu, QWidget

from paceline.conversation import ConversationSummary, Folder
from paceline.gui.conversations.model import MAX_TAG_CHARS
from paceline.gui.kit.dialogs import deciding_box
from paceline.gui.kit.fields import LeavingEdit
from paceline.gui.kit.labels import text_label
from paceline.gui.kit.layouts import column_of
from paceline.gui.look.current import look
from paceline.gui.look.scale import px
from paceline.names import visible

_WIDTH_PX, _TEXT_PX = 420, 120
_MAX_NAME_CHARS = 4 * MAX_TAG_CHARS


class FolderMenu(QMenu):
    """Menu of a folder; each signal has its id."""

    new_chat_wanted = Signal(str)
    search_wanted = Signal(str)
    edit_wanted = Signal(str)
    delete_wanted = Signal(str)

    def __init__(self, folder: Folder, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._id = folder.folder_id
        self.new_chat = self.addAction(look.icon("plus"), self.tr("New chat in it"))
        self.search = self.addAction(look.icon("search"), self.tr("Search in it"))
        self.edit = self.addAction(look.icon("edit"), self.tr("Name and instructions…"))
        self.addSeparator()
        self.delete = self.addAction(look.icon("trash"), self.tr("Delete the folder"))
        self.triggered.connect(self._on_action)

    @Slot(QAction)
    def _on_action(self, action: QAction) -> None:
        wanted = {
            self.new_chat: self.new_chat_wanted,
            self.search: self.search_wanted,
            self.edit: self.edit_wanted,
            self.delete: self.delete_wanted,
        }
        wanted[action].emit(self._id)


class FolderChoice(QMenu):
    """The folders that a chat can be moved to."""

    chosen = Signal(str, str)
    """The chat's id, and the folder's or an empty text"""
    new_wanted = Signal(str)
    """Id of the chat that needs a new folder"""

    def __init__(
        self, summary: ConversationSummary, folders: Sequence[Folder], parent: QWidget
    ) -> None:
        super().__init__(self.tr("Move to folder"), parent)
        self.setIcon(look.icon("folder"))
        self._id = summary.conversation_id
        known = {folder.folder_id for folder in folders}
        for folder in folders:
            action = self.addAction(visible(folder.name).replace("&", "&&"))
            action.setData(folder.folder_id)
            action.setCheckable(True)
            action.setChecked(folder.folder_id == summary.folder_id)
        if summary.folder_id in known:
            self.addAction(self.tr("No folder")).setData("")
        self.addSeparator()
        self._new = self.addAction(look.icon("plus"), self.tr("New folder…"))
        self.triggered.connect(self._on_action)

    @Slot(QAction)
    def _on_action(self, action: QAction) -> None:
        if action is self._new:
            self.new_wanted.emit(self._id)
        else:
            self.chosen.emit(self._id, str(action.data() or ""))


class FolderEditor(QDialog):
    """Name and instructions of a folder; nothing changes before it is accepted."""

    saved = Signal(object, str)
    """The `Folder`, and the id of the chat to move into it, or empty."""

    def __init__(self, folder: Folder, chat_id: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Folder") if folder.name else self.tr("New folder"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._folder, self._chat_id = folder, chat_id
        self.name = QLineEdit(folder.name, maxLength=_MAX_NAME_CHARS)
        self.name.setPlaceholderText(self.tr("Name of the folder"))
        self.name.setAccessibleName(self.tr("Name of the folder"))
        self.instructions = LeavingEdit(folder.instructions)
        self.instructions.setPlaceholderText(self.tr("Instructions, such as: Answer briefly."))
        self.instructions.setAccessibleName(self.tr("Instructions"))
        self.instructions.setMinimumHeight(px(_TEXT_PX))
        explanation = self.tr(
            "The model gets the instructions in every chat of the folder, before the chat's own "
            "system prompt."
        )
        buttons, self.save_button = deciding_box(self, self.tr("Save"), self._on_accepted)
        column_of(
            self.name,
            (self.instructions, 1),
            text_label(explanation, wraps=True),
            buttons,
            on=self,
            margins=(20, 18, 20, 16),
            spacing=10,
        )
        self.name.textChanged.connect(self._on_name)
        self.resize(px(_WIDTH_PX), self.sizeHint().height())
        self._on_name()

    @Slot()
    def _on_name(self) -> None:
        self.save_button.setEnabled(bool(self.name.text().strip()))

    @Slot()
    def _on_accepted(self) -> None:
        self.accept()
        name, instructions = self.name.text(), self.instructions.toPlainText()
        self.saved.emit(Folder(self._folder.folder_id, name, instructions), self._chat_id)
