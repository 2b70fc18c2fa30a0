"""The list of chats: new chat, search, tags, the list, what can be done with a row, undo."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import (
    QHBoxLayout,
    QMenu,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from paceline.gui.whole_style import SIDEBAR
from paceline.gui.widgets.chat_finder import ChatFinder
from paceline.gui.widgets.chat_menu import ChatMenu
from paceline.gui.widgets.tag_editor import TagEditor
from paceline.gui.widgets.undo_bar import UndoBar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtCore import SignalInstance
    from PySide6.QtGui import QHideEvent, QShowEvent

    from paceline.conversation import ConversationSummary, SearchHit
    from paceline.gui.icons import Icons
    from paceline.gui.theme import Theme
    from paceline.gui.viewmodels.conversations import ConversationList

MIN_PX = 180
_MARGIN_PX = 12
_MINUTE_MS = 60_000
"""How old a chat is said to be is looked up so often."""


class Sidebar(QWidget):
    """Shows a `ConversationList` and what a search found, and reports what the user wants."""

    new_requested = Signal(bool)
    """Whether it shall be private."""
    chosen = Signal(str)
    hit_chosen = Signal(str, str, tuple)
    """Ids of the chat and the message (empty: the chat as a whole), and the words."""
    search_wanted = Signal(str)
    """Words to search for; `show_hits` takes what is found."""
    rename_requested = Signal(str, str)
    pin_requested = Signal(str, bool)
    tag_requested = Signal(str, tuple)
    delete_requested = Signal(str)
    undo_requested = Signal()
    export_requested = Signal(str)
    copy_requested = Signal(str)
    import_requested = Signal()

    def __init__(
        self, model: ConversationList, theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName(SIDEBAR)
        self.setProperty("kind", "sidebar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._model = model
        self._shown_id = ""
        self._writing_id = ""
        self.finder = ChatFinder(model, theme)
        self.search, self.list = self.finder.search, self.finder.list
        self.menu = ChatMenu(self.list)
        self.rename_action, self.delete_action = self.menu.rename, self.menu.delete
        self.undo_bar = UndoBar()
        self.undo_button = self.undo_bar.button
        column = QVBoxLayout(self)
        column.setContentsMargins(_MARGIN_PX, _MARGIN_PX, _MARGIN_PX, _MARGIN_PX)
        column.setSpacing(8)
        column.addLayout(self._make_new_row())
        column.addWidget(self.finder, 1)
        column.addWidget(self.undo_bar)
        self._minute = QTimer(self)
        self._minute.setInterval(_MINUTE_MS)
        self._minute.timeout.connect(model.refresh)
        self._connect()
        self.set_theme(theme)

    def set_theme(self, theme: Theme, icons: Icons | None = None) -> None:
        """Use another theme's colours and icons."""
        self._theme = theme
        self.finder.set_theme(theme, icons)
        if icons is not None:
            self.new_button.setIcon(icons.icon("plus", theme.accent_text))
            self.new_menu_button.setIcon(icons.icon("chevron-down", theme.accent_text))
            self.private_action.setIcon(icons.icon("lock"))
            self.import_action.setIcon(icons.icon("import"))
            self.menu.set_icons(icons)
        self._set_least_width()

    def _set_least_width(self) -> None:
        """Large text must still fit on the button at the top."""
        self.new_button.ensurePolished()
        self.new_menu_button.ensurePolished()
        buttons = self.new_button.sizeHint().width() + 1 + self.new_menu_button.sizeHint().width()
        self.setMinimumWidth(max(MIN_PX, buttons + 2 * _MARGIN_PX))

    # ------------------------------------------------------------------------------ what it shows

    def set_summaries(self, summaries: tuple[ConversationSummary, ...]) -> None:
        """Show these chats, in whatever order they come."""
        self._model.set_summaries(summaries)

    def set_writing(self, conversation_id: str) -> None:
        """Say in which chat a reply is being written; empty: in none."""
        self._model.set_note(self._writing_id, "")
        self._model.set_note(conversation_id, self.tr("writing…"))
        self._writing_id = conversation_id

    def show_hits(self, hits: Sequence[SearchHit], *, is_cut: bool = False) -> None:
        """Show what the last search found, the best first.

        Args:
            hits: Messages and titles.
            is_cut: Whether there are more than these.
        """
        self.finder.show_hits(hits, is_cut=is_cut)

    def select(self, conversation_id: str) -> None:
        """Mark a conversation as the one that is shown; an unknown one marks none."""
        self._shown_id = conversation_id
        self.finder.select(conversation_id)

    @property
    def has_shown(self) -> bool:
        """Whether the conversation that is shown is one of the list, found or not."""
        return self._model.summary(self._shown_id) is not None

    def show_undo(self, title: str) -> None:
        """Offer to bring a deleted conversation back, for a while."""
        self.undo_bar.offer(self.tr("Deleted “{}”").format(title or self.tr("New chat")))

    def hide_undo(self) -> None:
        """Take the offer back."""
        self.undo_bar.take_back()

    # ------------------------------------------------------------------- what menus and keys ask

    @Slot()
    def focus_search(self) -> None:
        """Put the keyboard into the search field."""
        self.finder.focus_search()

    @Slot()
    def want_private(self) -> None:
        """Ask for a new private chat."""
        self.new_requested.emit(True)  # noqa: FBT003 - a signal has no names

    def rename_shown(self) -> None:
        """Edit the title of the conversation that is shown."""
        self.finder.go_to_shown()
        self.rename_action.trigger()

    @Slot()
    def pin_shown(self) -> None:
        """Pin the conversation that is shown, or no longer."""
        self._flip_pin(self._shown_id)

    @Slot()
    def tag_shown(self) -> None:
        """Open the editor for the tags of the conversation that is shown."""
        self._edit_tags(self._shown_id)

    def delete_shown(self) -> None:
        """Ask for the conversation that is shown to be deleted."""
        if self.has_shown:
            self.delete_requested.emit(self._shown_id)

    # --------------------------------------------------------------------------------- the parts

    def _make_new_row(self) -> QHBoxLayout:
        self.new_button = QPushButton(self.tr("New chat"))
        self.new_button.setProperty("kind", "primary")
        self.new_button.setProperty("split", "left")
        self.new_menu_button = QToolButton()
        self.new_menu_button.setProperty("kind", "primary")
        self.new_menu_button.setProperty("split", "right")
        self.new_menu_button.setAccessibleName(self.tr("More ways to begin"))
        self.new_menu_button.setToolTip(self.tr("Private chat, import"))
        self.new_menu_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.new_menu_button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        # As high as its neighbour, whose hint is lower.
        policy = QSizePolicy.Policy
        self.new_menu_button.setSizePolicy(policy.Fixed, policy.Ignored)
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        self.private_action = menu.addAction(self.tr("New private chat"))
        self.private_action.setToolTip(self.tr("Nothing of it is stored or remembered."))
        menu.addSeparator()
        self.import_action = menu.addAction(self.tr("Import…"))
        self.new_menu_button.setMenu(menu)
        row = QHBoxLayout()
        row.setSpacing(1)
        row.addWidget(self.new_button, 1)
        row.addWidget(self.new_menu_button)
        return row

    def _connect(self) -> None:
        self.new_button.clicked.connect(self._on_new)
        self.private_action.triggered.connect(self.want_private)
        self.import_action.triggered.connect(self.import_requested)
        self.finder.chosen.connect(self.chosen)
        self.finder.hit_chosen.connect(self.hit_chosen)
        self.finder.search_wanted.connect(self.search_wanted)
        self.list.menu_wanted.connect(self._on_menu)
        self.undo_bar.wanted.connect(self.undo_requested)
        self._model.rename_requested.connect(self.rename_requested)
        menu = self.menu
        menu.open_wanted.connect(self._on_open)
        menu.rename_wanted.connect(self._on_rename)
        menu.pin_wanted.connect(self._on_pin)
        menu.tags_wanted.connect(self._on_edit_tags)
        menu.export_wanted.connect(self._on_export)
        menu.copy_wanted.connect(self._on_copy)
        menu.delete_wanted.connect(self._on_delete)

    def showEvent(self, event: QShowEvent) -> None:
        """Keep the times right while they are seen."""
        super().showEvent(event)
        self._model.refresh()
        self._minute.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """Rest."""
        super().hideEvent(event)
        self._minute.stop()

    # ------------------------------------------------------------------------------ what users do

    @Slot()
    def _on_new(self) -> None:
        self.new_requested.emit(False)  # noqa: FBT003 - a signal has no names

    @Slot(QPoint)
    def _on_menu(self, point: QPoint) -> None:
        summary = self._model.summary(self.list.current_id)
        if summary is not None:
            self.menu.popup(summary, point)

    @Slot()
    def _on_open(self) -> None:
        self._tell(self.chosen)

    @Slot()
    def _on_rename(self) -> None:
        if self.list.current_id:
            self.list.edit(self.list.currentIndex())

    @Slot()
    def _on_pin(self) -> None:
        self._flip_pin(self.list.current_id)

    @Slot()
    def _on_edit_tags(self) -> None:
        self._edit_tags(self.list.current_id)

    @Slot()
    def _on_export(self) -> None:
        self._tell(self.export_requested)

    @Slot()
    def _on_copy(self) -> None:
        self._tell(self.copy_requested)

    @Slot()
    def _on_delete(self) -> None:
        self._tell(self.delete_requested)

    def _tell(self, wanted: SignalInstance) -> None:
        if self.list.current_id:
            wanted.emit(self.list.current_id)

    def _flip_pin(self, conversation_id: str) -> None:
        summary = self._model.summary(conversation_id)
        if summary is not None:
            self.pin_requested.emit(conversation_id, not summary.pinned)

    def _edit_tags(self, conversation_id: str) -> None:
        summary = self._model.summary(conversation_id)
        if summary is None:
            return
        editor = TagEditor(summary, self._model.tags, self._theme, self.window())
        editor.tagged.connect(self.tag_requested)
        editor.open()
