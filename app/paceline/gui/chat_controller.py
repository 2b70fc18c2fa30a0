"""Between the chat session and what shows the conversation: chat view and composer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices, QGuiApplication

from paceline.errors import UserError
from paceline.gui.reply_writer import ReplyWriter
from paceline.gui.viewmodels.links import describe_link
from paceline.gui.viewmodels.shown import ShownMessage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paceline.chat.reply import Reply
    from paceline.chat.session import ChatSession
    from paceline.conversation import Attachment, Conversation, Message
    from paceline.gui.notifications import Notifications
    from paceline.gui.viewmodels.chat import ChatSignals
    from paceline.gui.viewmodels.live import LiveFigures
    from paceline.gui.viewmodels.pair import PairModel
    from paceline.gui.widgets.chat_pane import ChatPane
    from paceline.gui.widgets.reply_view import ReplyView
    from paceline.messages import StepCommitted


OPEN_LINK = "open-link"
"""Name of the action that the question about a link offers."""


class ChatController(QObject):
    """Turns what the user does into use cases, and what the session tells into text."""

    busy_changed = Signal(bool)
    """Whether a reply is under way"""

    def __init__(
        self,
        *,
        session: ChatSession,
        signals: ChatSignals,
        live: LiveFigures,
        pair: PairModel,
        pane: ChatPane,
        notifications: Notifications,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._live = live
        self._pair = pair
        self._chat, self._composer = pane.chat, pane.composer
        self._notifications = notifications
        self._writer = ReplyWriter(pair, live.sources, self)
        self._link = QUrl()
        self._shown_id = ""
        self._stays = False
        signals.shown.connect(self._on_shown)
        signals.started.connect(self._on_started)
        signals.progressed.connect(self._on_progressed)
        signals.grew.connect(self._on_grew)
        signals.ended.connect(self._on_ended)
        pair.changed.connect(self._on_pair_changed)
        self._composer.message_submitted.connect(self.send)
        self._composer.stop_requested.connect(self.stop)
        self._composer.edit_last_requested.connect(self.edit_last)
        chat = self._chat
        chat.fill_wanted.connect(self._on_fill_wanted)
        chat.link_activated.connect(self._on_link)
        chat.copy_requested.connect(self._on_copy)
        chat.edit_submitted.connect(self._on_edit)
        chat.regenerate_requested.connect(self._on_regenerate)
        chat.sibling_requested.connect(self._on_sibling)
        chat.branch_requested.connect(self._on_branch)
        self.busy_changed.connect(chat.set_busy)
        self._on_shown(session.current)

    # ---------------------------------------------------------------------------- what users do

    @Slot(str, object)
    def send(self, text: str, attachments: tuple[Attachment, ...] = ()) -> None:
        """Send a message; while a reply runs nothing happens."""
        self._session.send(text, attachments)

    @Slot()
    def edit_last(self) -> None:
        """Let the user's last message of the shown chat be edited."""
        for message in reversed(self._session.current.path()):
            if message.role == "user":
                self._chat.begin_edit(message.message_id)
                return

    @Slot()
    def stop(self) -> None:
        """Stop the reply that is under way."""
        self._session.stop()

    @Slot()
    def regenerate(self) -> None:
        """Answer the last question once more."""
        self._session.regenerate()

    @Slot()
    def keep_place(self) -> None:
        """Remember where the view of the shown conversation stands."""
        if self._shown_id:
            self._session.save_place(self._shown_id, self._chat.place())

    def go_to(self, message_id: str, words: Sequence[str] = ()) -> None:
        """Bring a message of the shown path into view, and mark these words in it."""
        self._chat.go_to(message_id, words)

    @Slot(str, str)
    def _on_edit(self, message_id: str, text: str) -> None:
        self._session.edit(message_id, text)

    @Slot(str)
    def _on_regenerate(self, message_id: str) -> None:
        self._session.regenerate(message_id)

    @Slot(str, int)
    def _on_sibling(self, message_id: str, step: int) -> None:
        self._stays = True
        self._session.show_sibling(message_id, step)
        self._stays = False

    @Slot(str)
    def _on_branch(self, message_id: str) -> None:
        try:
            self._session.branch(message_id)
        except UserError as error:
            self._notifications.user_error(error)

    @Slot(str)
    def _on_link(self, address: str) -> None:
        url = QUrl(address)
        if url.scheme() not in ("http", "https"):
            return
        self._link = url
        shown, warning = describe_link(address)
        question = self.tr("Open {}?").format(shown)
        self._notifications.ask(
            f"{question} {warning}".strip(), action=OPEN_LINK, text=self.tr("Open")
        )

    @Slot(str)
    def on_action(self, name: str) -> None:
        """Do what a notice of this controller offered."""
        if name == OPEN_LINK:
            QDesktopServices.openUrl(self._link)

    @Slot(str)
    def _on_copy(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)

    # ------------------------------------------------------------------- what the session tells

    @Slot(object)
    def _on_shown(self, conversation: Conversation) -> None:
        is_same = conversation.conversation_id == self._shown_id
        if not is_same:
            self.keep_place()
        place = None
        if not is_same:
            place = self._session.place(conversation.conversation_id)
        elif self._stays:
            place = self._chat.place()
        self._shown_id = conversation.conversation_id
        path = conversation.path()
        self._chat.show_path([_shown(conversation, message) for message in path], place)
        self._show_figures(path)
        self._show_busy()

    def _show_figures(self, path: Sequence[Message]) -> None:
        """Let the panel tell of the last reply on the path."""
        replies = (self._reply(message.message_id) for message in reversed(path))
        self._live.show(next((reply for reply in replies if reply is not None), None))

    @Slot(object, str)
    def _on_fill_wanted(self, view: ReplyView, message_id: str) -> None:
        reply = self._reply(message_id)
        if reply is not None:
            self._writer.fill(view, reply)
        else:  # a chat from elsewhere, without figures
            view.finish(self._session.current.messages[message_id].content)

    @Slot(object)
    def _on_started(self, reply: Reply) -> None:
        self._show_writing()
        if not self._is_shown(reply):
            return
        current = self._session.current
        if self._chat.reply_view(reply.message_id) is None:  # else all has just been shown anew
            for message in current.path()[-2:]:
                self._chat.add(_shown(current, message))
        self._live.show(reply)
        self._show_status(reply)
        self._show_busy()

    @Slot(object)
    def _on_progressed(self, reply: Reply) -> None:
        self._show_writing()
        if self._is_shown(reply):
            self._show_status(reply)

    @Slot(object, object)
    def _on_grew(self, reply: Reply, step: StepCommitted) -> None:
        view = self._view_of(reply)
        if view is not None:
            self._writer.append(view, step)
            if step.step == 0:
                view.set_status("")
        if self._live.reply is reply:
            self._live.add(step)

    @Slot(object)
    def _on_ended(self, reply: Reply) -> None:
        view = self._view_of(reply)
        if view is not None:
            self._writer.close(view, reply)
        if self._live.reply is reply:
            self._live.finish()
        self._show_busy()
        self._show_writing()

    @Slot(object)
    def _on_pair_changed(self) -> None:
        reply = self._session.active
        if reply is not None:
            self._show_status(reply)

    # --------------------------------------------------------------------------------- showing

    def _reply(self, message_id: str) -> Reply | None:
        """What is known of a reply; without its steps where these cannot be read."""
        try:
            return self._session.full_reply(message_id)
        except UserError:
            return self._session.reply_of(message_id)

    def _is_shown(self, reply: Reply) -> bool:
        return reply.conversation_id == self._session.current.conversation_id

    def _view_of(self, reply: Reply) -> ReplyView | None:
        return self._chat.reply_view(reply.message_id) if self._is_shown(reply) else None

    def _show_busy(self) -> None:
        is_busy = self._session.active is not None
        self._composer.set_busy(is_busy)
        self.busy_changed.emit(is_busy)

    def _show_writing(self) -> None:
        reply = self._session.active
        self._pair.set_writing(reply is not None and reply.submitted_s is not None)

    def _show_status(self, reply: Reply) -> None:
        view = self._view_of(reply)
        if view is not None:
            self._writer.show_status(view, reply)


def _shown(conversation: Conversation, message: Message) -> ShownMessage:
    """What the view is told about a message."""
    place, n_siblings = conversation.place_of(message.message_id)
    return ShownMessage(
        message.message_id,
        message.role,
        message.content,
        message.attachments,
        n_siblings,
        place,
    )
