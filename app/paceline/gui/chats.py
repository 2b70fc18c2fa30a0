"""Everything in the window that is about chats, put together around one session."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from paceline.gui.chat_controller import ChatController
from paceline.gui.conversations_controller import ConversationsController
from paceline.gui.unsent_controller import UnsentController

if TYPE_CHECKING:
    from paceline.chat.session import ChatSession
    from paceline.gui.main_window import MainWindow
    from paceline.gui.notifications import Notifications
    from paceline.gui.storage_controller import StorageController
    from paceline.gui.viewmodels.chat import ChatSignals
    from paceline.gui.viewmodels.live import LiveFigures
    from paceline.gui.viewmodels.pair import PairModel
    from paceline.settings import WindowSettings


class Chats(QObject):
    """The chat view, the composer and the sidebar, bound to a session and what it is kept in."""

    def __init__(
        self,
        *,
        session: ChatSession,
        signals: ChatSignals,
        storage: StorageController,
        live: LiveFigures,
        pair: PairModel,
        window: MainWindow,
        notifications: Notifications,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._storage = storage
        self.chat = ChatController(
            session=session,
            signals=signals,
            live=live,
            pair=pair,
            pane=window.chat_pane,
            notifications=notifications,
            parent=self,
        )
        self.conversations = ConversationsController(
            session=session,
            signals=signals,
            chat=self.chat,
            sidebar=window.sidebar,
            composer=window.chat_pane.composer,
            pair=pair,
            notifications=notifications,
            parent=self,
        )
        self.unsent = UnsentController(session, signals, window.chat_pane.composer, self)
        window.chat_pane.errors.action_requested.connect(self.chat.on_action)
        window.chat_pane.errors.action_requested.connect(storage.on_action)
        window.actions_.new_chat.triggered.connect(self.conversations.new_chat)
        window.actions_.stop.triggered.connect(self.chat.stop)
        window.actions_.regenerate.triggered.connect(self.chat.regenerate)

    def start(self, open_conversation: str) -> None:
        """Show what was open when the program ended, and tell how the chats were found."""
        self._storage.start()
        self.conversations.start(open_conversation, self._storage.leftovers)

    def remembered(self, window: WindowSettings) -> WindowSettings:
        """How the window was left, with the conversation that is shown."""
        shown = self._session.current
        is_kept = not shown.private and self._session.summary(shown.conversation_id) is not None
        return replace(window, open_conversation=shown.conversation_id if is_kept else "")

    def keep(self) -> None:
        """Keep now what waits for a quiet moment; and of a running reply what it has."""
        self.unsent.keep()
        self.chat.keep_place()
        self._session.close()
