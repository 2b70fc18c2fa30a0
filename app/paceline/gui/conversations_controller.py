"""Between the chat session and the list of conversations: choose, search, sort, delete, undo."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Slot

from paceline.errors import UserError
from paceline.gui.widgets.undo_bar import UNDO_MS
from paceline.messages import Forgotten

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paceline.chat.session import ChatSession
    from paceline.conversation import Conversation
    from paceline.gui.chat_controller import ChatController
    from paceline.gui.notifications import Notifications
    from paceline.gui.viewmodels.chat import ChatSignals
    from paceline.gui.viewmodels.pair import PairModel
    from paceline.gui.widgets.composer import Composer
    from paceline.gui.widgets.sidebar import Sidebar
    from paceline.messages import Event

MOST_HITS = 50
"""More are not shown; whoever gets so many looks for something else."""


class ConversationsController(QObject):
    """Turns what the user does in the sidebar into use cases, and keeps the list up to date."""

    def __init__(
        self,
        *,
        session: ChatSession,
        signals: ChatSignals,
        chat: ChatController,
        sidebar: Sidebar,
        composer: Composer,
        pair: PairModel,
        notifications: Notifications,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._chat = chat
        self._sidebar = sidebar
        self._composer = composer
        self._pair = pair
        self._notifications = notifications
        self._leftovers: Callable[[], Sequence[str]] | None = None
        self._deleted = ""
        self._has_told = False
        self._purge = QTimer(self)
        self._purge.setSingleShot(True)
        self._purge.setInterval(UNDO_MS)
        self._purge.timeout.connect(self._on_undo_over)
        self._others = QTimer(self)  # until then, another window may still take a deletion back
        self._others.setSingleShot(True)
        self._others.setInterval(UNDO_MS)
        self._others.timeout.connect(self._on_leftovers)
        signals.list_changed.connect(self._on_list_changed)
        signals.shown.connect(self._on_shown)
        signals.started.connect(self._on_writing)
        signals.ended.connect(self._on_writing)
        pair.changed.connect(self._on_leftovers)
        session.add_observer(self._on_event)
        sidebar.new_requested.connect(self._on_new)
        sidebar.chosen.connect(self._on_chosen)
        sidebar.hit_chosen.connect(self._on_hit)
        sidebar.search_wanted.connect(self._on_search)
        sidebar.rename_requested.connect(self._on_rename)
        sidebar.pin_requested.connect(self._on_pin)
        sidebar.tag_requested.connect(self._on_tag)
        sidebar.delete_requested.connect(self._on_delete)
        sidebar.undo_requested.connect(self._on_undo)
        self._on_list_changed()

    def start(self, open_conversation: str, leftovers: Callable[[], Sequence[str]]) -> None:
        """Show what was open when the program ended.

        Args:
            open_conversation: Its id; one that is not there any more is passed over.
            leftovers: Says which conversations were deleted then; they go for good once the
                engine can be told to forget them, too, and nobody can undo it any more.
        """
        self._leftovers = leftovers
        self._others.start()
        if self._session.summary(open_conversation) is not None:
            self._show(open_conversation)

    # ---------------------------------------------------------------------------- what users do

    @Slot()
    def new_chat(self) -> None:
        """Show an empty conversation, with the keyboard where one writes."""
        self._new(private=False)

    @Slot()
    def new_private_chat(self) -> None:
        """The same for one of which nothing is stored."""
        self._new(private=True)

    @Slot(bool)
    def _on_new(self, private: bool) -> None:  # noqa: FBT001
        self._new(private=private)

    def _new(self, *, private: bool) -> None:
        self._sidebar.search.clear()
        self._session.new(private=private)
        self._composer.setFocus()

    @Slot(str)
    def _on_chosen(self, conversation_id: str) -> None:
        self._show(conversation_id)

    def _show(self, conversation_id: str) -> bool:
        try:
            self._session.show(conversation_id)
        except UserError as error:
            self._notifications.user_error(error)
            self._sidebar.select(self._session.current.conversation_id)
            return False
        return True

    @Slot(str, str, object)
    def _on_hit(self, conversation_id: str, message_id: str, words: Sequence[str]) -> None:
        if not self._show(conversation_id):
            return
        if message_id:
            self._session.show_message(conversation_id, message_id)
            self._chat.go_to(message_id, words)

    @Slot(str)
    def _on_search(self, text: str) -> None:
        try:
            hits = self._session.search(text, MOST_HITS + 1)
        except UserError as error:
            self._notifications.user_error(error)
            hits = ()
        self._sidebar.show_hits(hits[:MOST_HITS], is_cut=len(hits) > MOST_HITS)

    @Slot(str, str)
    def _on_rename(self, conversation_id: str, title: str) -> None:
        self._try(self._session.rename, conversation_id, title)

    @Slot(str, bool)
    def _on_pin(self, conversation_id: str, on: bool) -> None:  # noqa: FBT001
        self._try(self._session.pin, conversation_id, on)

    @Slot(str, object)
    def _on_tag(self, conversation_id: str, tags: Sequence[str]) -> None:
        self._try(self._session.tag, conversation_id, tags)

    @Slot(str)
    def _on_delete(self, conversation_id: str) -> None:
        """Only the last deletion can be undone, for a while; the one before is final now."""
        summary = self._session.summary(conversation_id)
        if summary is None:
            return
        self._on_undo_over()
        self._chat.keep_place()
        self._session.remove(conversation_id)
        self._deleted = conversation_id
        self._purge.start()
        self._sidebar.show_undo(summary.title)

    @Slot()
    def _on_undo(self) -> None:
        deleted, self._deleted = self._deleted, ""
        self._purge.stop()
        if deleted:
            self._try(self._session.restore, deleted)

    @Slot()
    def _on_undo_over(self) -> None:
        deleted, self._deleted = self._deleted, ""
        self._purge.stop()
        if deleted:
            self._sidebar.hide_undo()
            self._session.purge(deleted)

    # ------------------------------------------------------------------- what the session tells

    @Slot()
    def _on_list_changed(self) -> None:
        self._sidebar.set_summaries(self._session.summaries)
        self._sidebar.select(self._session.current.conversation_id)

    @Slot(object)
    def _on_shown(self, conversation: Conversation) -> None:
        self._sidebar.select(conversation.conversation_id)

    @Slot()
    def _on_writing(self) -> None:
        reply = self._session.active
        self._sidebar.set_writing(reply.conversation_id if reply is not None else "")

    @Slot()
    def _on_leftovers(self) -> None:
        """The first loaded pair means that the engine knows whose memory it is."""
        if self._pair.state.status != "ready" or self._others.isActive() or not self._leftovers:
            return
        leftovers, self._leftovers = self._leftovers(), None
        for conversation_id in leftovers:
            self._session.purge(conversation_id)

    def _on_event(self, event: Event) -> None:
        """Tell once what could not be forgotten; the next start hands it in again."""
        if isinstance(event, Forgotten) and event.problem and not self._has_told:
            self._has_told = True
            self._notifications.warn(
                self.tr("A deleted chat is not forgotten yet. {}").format(event.problem),
                self.tr("It is tried again at the next start."),
            )

    def _try(self, use_case: Callable[..., None], *args: object) -> None:
        """Carry out what may find the conversation unreadable."""
        try:
            use_case(*args)
        except UserError as error:
            self._notifications.user_error(error)
