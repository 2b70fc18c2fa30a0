"""Controller between chat session and list of chats: choose, search, sort, delete, undo."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, QTimer, Slot

from paceline.conversation import Conversation, Folder
from paceline.errors import UserError
from paceline.gui.context import AppContext
from paceline.gui.conversations.folders import FolderEditor
from paceline.gui.conversations.sidebar import UNDO_MS, Sidebar
from paceline.gui.state.chat_lines import title_text

MAX_HITS = 50
"""Maximum number of shown hits; a search with more is too wide to be useful."""


class ConversationsController(QObject):
    """Carries out the user's requests in the sidebar, and keeps the list up to date."""

    def __init__(
        self,
        context: AppContext,
        sidebar: Sidebar,
        *,
        write: Callable[[], None],
        go_to: Callable[[str, Sequence[str]], None],
        keep_place: Callable[[], None],
        parent: QObject | None = None,
    ) -> None:
        """Connect sidebar and session.

        Args:
            context: The program's parts.
            sidebar: The list of chats.
            write: Focuses the message field.
            go_to: Scrolls to a message of the shown chat and marks words in it.
            keep_place: Stores the scroll position of the shown chat.
            parent: Qt's parent.
        """
        super().__init__(parent)
        self._session, self._shown = context.session, context.shown
        self._sidebar = sidebar
        self._write, self._go_to, self._keep_place = write, go_to, keep_place
        self._notices, self._settings = context.notices, context.settings
        self._leftovers: Callable[[], Sequence[str]] = tuple
        self._undoing = context.undoing
        self._deleted: str | Folder = ""
        self._purge = QTimer(self, singleShot=True, interval=UNDO_MS)
        self._purge.timeout.connect(self._on_undo_over)
        # Until then, another window may still undo a deletion.
        self._others = QTimer(self, singleShot=True, interval=UNDO_MS)
        self._others.timeout.connect(self._on_leftovers)
        signals = context.signals
        signals.list_changed.connect(self._on_list_changed)
        context.shown.path_changed.connect(self._on_shown)
        signals.started.connect(self._on_writing)
        signals.ended.connect(self._on_writing)
        context.actions.new_chat.triggered.connect(self.new_chat)
        context.actions.new_private.triggered.connect(self.new_private_chat)
        sidebar.new_button.clicked.connect(self.new_chat)
        sidebar.private_action.triggered.connect(self.new_private_chat)
        sidebar.finder.chosen.connect(self._show)
        sidebar.finder.hit_chosen.connect(self._on_hit)
        sidebar.finder.search_wanted.connect(self._on_search)
        sidebar.model.rename_requested.connect(self._on_rename)
        sidebar.pin_requested.connect(self._on_pin)
        sidebar.tag_requested.connect(self._on_tag)
        sidebar.delete_requested.connect(self._on_delete)
        sidebar.archive_requested.connect(self._on_archive)
        sidebar.move_requested.connect(self._on_move)
        sidebar.new_chat_wanted.connect(self._on_new_in)
        sidebar.folder_wanted.connect(self._on_new_folder)
        sidebar.folder_edit_wanted.connect(self._on_edit_folder)
        sidebar.folder_delete_requested.connect(self._on_delete_folder)
        sidebar.model.folder_renamed.connect(self._on_rename_folder)
        sidebar.model.open_folders(context.settings.value("open_folders"))
        sidebar.model.open_changed.connect(self._on_open_folders)
        sidebar.undo_bar.wanted.connect(self._on_undo)
        self._on_list_changed()

    def start(self, open_conversation: str, leftovers: Callable[[], Sequence[str]]) -> None:
        """Show the chat that was open when the program ended.

        Args:
            open_conversation: Its id; ignored if the chat no longer exists.
            leftovers: Returns the conversations that were deleted before; they are purged once no
                window can undo that any more.
        """
        self._leftovers = leftovers
        self._others.start()
        if self._session.conversations.summary(open_conversation) is not None:
            self._show(open_conversation)

    @property
    def open_conversation(self) -> str:
        """Id of the shown conversation; empty for one that is not stored."""
        shown = self._shown.conversation
        line = self._session.conversations.summary(shown.conversation_id)
        return shown.conversation_id if line is not None and not shown.private else ""

    # ----------------------------------------------------------------------------- user actions

    @Slot()
    def new_chat(self) -> None:
        """Show an empty conversation and focus the message field."""
        self._new(private=False)

    @Slot()
    def new_private_chat(self) -> None:
        """Show an empty conversation that is not stored."""
        self._new(private=True)

    def _new(self, *, private: bool, folder_id: str = "") -> None:
        self._sidebar.search.clear()
        self._shown.new(private=private, folder_id=folder_id)
        self._write()

    @Slot(str)
    def _show(self, conversation_id: str) -> bool:
        is_shown = self._notices.attempt(self._shown.show, conversation_id)
        if not is_shown:
            self._sidebar.select(self._shown.id)
        return is_shown

    @Slot(str, str, object)
    def _on_hit(self, conversation_id: str, message_id: str, words: Sequence[str]) -> None:
        if not self._show(conversation_id):
            return
        if message_id:
            self._shown.show_message(conversation_id, message_id)
            self._go_to(message_id, words)

    @Slot(str)
    def _on_search(self, text: str) -> None:
        try:
            hits = self._session.conversations.search(text, MAX_HITS + 1)
        except UserError as error:
            self._notices.user_error(error)
            hits = ()
        self._sidebar.finder.show_hits(hits[:MAX_HITS], is_cut=len(hits) > MAX_HITS)

    @Slot(str, str)
    def _on_rename(self, conversation_id: str, title: str) -> None:
        self._notices.attempt(self._session.rename, conversation_id, title)

    @Slot(str, bool)
    def _on_pin(self, conversation_id: str, on: bool) -> None:  # noqa: FBT001
        self._notices.attempt(self._session.pin, conversation_id, on)

    @Slot(str, object)
    def _on_tag(self, conversation_id: str, tags: Sequence[str]) -> None:
        self._notices.attempt(self._session.tag, conversation_id, tags)

    @Slot(str, bool)
    def _on_archive(self, conversation_id: str, on: bool) -> None:  # noqa: FBT001
        self._notices.attempt(self._session.archive, conversation_id, on)

    @Slot(str, str)
    def _on_move(self, conversation_id: str, folder_id: str) -> None:
        self._notices.attempt(self._session.move, conversation_id, folder_id)

    @Slot(str)
    def _on_new_in(self, folder_id: str) -> None:
        """Show an empty chat in a folder, which is opened."""
        self._sidebar.model.set_open(folder_id, on=True)
        self._new(private=False, folder_id=folder_id)

    @Slot(str)
    def _on_new_folder(self, conversation_id: str) -> None:
        self._edit(Folder(self._session.conversations.new_id(), ""), conversation_id)

    @Slot(str)
    def _on_edit_folder(self, folder_id: str) -> None:
        folder = self._session.conversations.folders.get(folder_id)
        if folder is not None:
            self._edit(folder)

    def _edit(self, folder: Folder, conversation_id: str = "") -> None:
        editor = FolderEditor(folder, conversation_id, self._sidebar.window())
        editor.saved.connect(self._on_folder)
        editor.open()

    @Slot(object, str)
    def _on_folder(self, folder: Folder, conversation_id: str) -> None:
        self._notices.attempt(self._session.put_folder, folder)
        if conversation_id:
            self._on_move(conversation_id, folder.folder_id)

    @Slot(str, str)
    def _on_rename_folder(self, folder_id: str, name: str) -> None:
        folder = self._session.conversations.folders.get(folder_id)
        if folder is not None:
            self._notices.attempt(self._session.put_folder, replace(folder, name=name))

    @Slot()
    def _on_open_folders(self) -> None:
        self._settings.set("open_folders", self._sidebar.model.opened)

    @Slot(str)
    def _on_delete(self, conversation_id: str) -> None:
        """Delete a chat, which can be undone for a while; the previous deletion becomes final."""
        summary = self._session.conversations.summary(conversation_id)
        if summary is None:
            return
        self._on_undo_over()
        self._keep_place()
        self._session.remove(conversation_id)
        self._offer_undo(conversation_id, title_text(summary))

    @Slot(str)
    def _on_delete_folder(self, folder_id: str) -> None:
        """Delete a folder so that it can be undone for a while; its chats stay."""
        folder = self._session.conversations.folders.get(folder_id)
        if folder is not None:
            self._on_undo_over()
            self._session.remove_folder(folder_id)
            self._offer_undo(folder, folder.name)

    def _offer_undo(self, deleted: str | Folder, title: str) -> None:
        self._deleted = deleted
        self._purge.start()
        self._sidebar.show_undo(title)
        self._undoing.offer(self._press_undo)

    def _press_undo(self) -> None:
        self._sidebar.undo_bar.button.click()

    @Slot()
    def _on_undo(self) -> None:
        deleted, self._deleted = self._deleted, ""
        self._purge.stop()
        self._undoing.withdraw(self._press_undo)
        if isinstance(deleted, Folder):
            self._session.put_folder(deleted)
        elif deleted:
            self._session.restore(deleted)
            self._show(deleted)

    @Slot()
    def _on_undo_over(self) -> None:
        deleted, self._deleted = self._deleted, ""
        self._purge.stop()
        if deleted:
            self._sidebar.undo_bar.take_back()
            self._undoing.withdraw(self._press_undo)
        if isinstance(deleted, str) and deleted:
            self._session.conversations.purge(deleted)

    # --------------------------------------------------------------------------- session events

    @Slot()
    def look_again(self) -> None:
        """Also list the chats that could not be read before."""
        with contextlib.suppress(UserError):  # they still cannot be read
            self._session.look_again()

    @Slot()
    def _on_list_changed(self) -> None:
        self._sidebar.model.set_folders(self._session.conversations.folders.all)
        self._sidebar.model.set_summaries(self._session.summaries)
        self._sidebar.select(self._shown.id)

    @Slot(object)
    def _on_shown(self, conversation: Conversation) -> None:
        self._sidebar.select(conversation.conversation_id)

    @Slot()
    def _on_writing(self) -> None:
        reply = self._session.active
        self._sidebar.set_writing(reply.conversation_id if reply is not None else "")

    @Slot()
    def _on_leftovers(self) -> None:
        """Purge the chats that were deleted in the last session."""
        for conversation_id in self._leftovers():
            self._session.conversations.purge(conversation_id)
