"""Between the chat session and what shows it: chat view, composer, list of conversations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices, QGuiApplication

from paceline.gui.viewmodels import figures
from paceline.hosting.deaths import DIED

if TYPE_CHECKING:
    from paceline.chat.reply import Reply
    from paceline.chat.session import ChatSession
    from paceline.conversation import Conversation, Message
    from paceline.gui.notifications import Notifications
    from paceline.gui.viewmodels.chat import ChatSignals
    from paceline.gui.viewmodels.conversations import ConversationList
    from paceline.gui.viewmodels.live import LiveFigures
    from paceline.gui.viewmodels.pair import PairModel
    from paceline.gui.widgets.chat_pane import ChatPane
    from paceline.gui.widgets.reply_view import ReplyView
    from paceline.gui.widgets.sidebar import Sidebar
    from paceline.messages import StepCommitted


OPEN_LINK = "open-link"
"""Name of the action that the question about a link offers."""
_LINK_CHARS = 200


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
        sidebar: Sidebar,
        conversations: ConversationList,
        notifications: Notifications,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._live = live
        self._pair = pair
        self._chat, self._composer = pane.chat, pane.composer
        self._sidebar = sidebar
        self._list = conversations
        self._notifications = notifications
        self._link = QUrl()
        self._view: ReplyView | None = None
        self._deleted: Conversation | None = None
        signals.list_changed.connect(self._on_list_changed)
        signals.shown.connect(self._on_shown)
        signals.started.connect(self._on_started)
        signals.progressed.connect(self._on_progressed)
        signals.grew.connect(self._on_grew)
        signals.ended.connect(self._on_ended)
        pair.changed.connect(self._on_pair_changed)
        live.refreshed.connect(self._on_figures)
        self._composer.text_submitted.connect(self.send)
        self._composer.stop_requested.connect(self.stop)
        self._chat.link_activated.connect(self._on_link)
        self._chat.copy_requested.connect(self._on_copy)
        self._chat.regenerate_requested.connect(self.regenerate)
        sidebar.new_requested.connect(self.new_chat)
        sidebar.chosen.connect(self._on_chosen)
        sidebar.delete_requested.connect(self._on_delete)
        sidebar.undo_requested.connect(self._on_undo)
        conversations.rename_requested.connect(self._on_rename)
        self._on_shown(session.current)

    # ---------------------------------------------------------------------------- what users do

    @Slot(str)
    def send(self, text: str) -> None:
        """Send a message; while a reply runs nothing happens."""
        self._session.send(text)

    @Slot()
    def stop(self) -> None:
        """Stop the reply that is under way."""
        self._session.stop()

    @Slot()
    def regenerate(self) -> None:
        """Answer the last question once more."""
        self._session.regenerate()

    @Slot()
    def new_chat(self) -> None:
        """Show an empty conversation, with the keyboard where one writes."""
        self._sidebar.search.clear()
        self._session.new()
        self._composer.setFocus()

    @Slot(str)
    def _on_chosen(self, conversation_id: str) -> None:
        self._session.show(conversation_id)

    @Slot(str, str)
    def _on_rename(self, conversation_id: str, title: str) -> None:
        self._session.rename(conversation_id, title)

    @Slot(str)
    def _on_delete(self, conversation_id: str) -> None:
        self._deleted = self._session.remove(conversation_id)
        self._sidebar.show_undo(self._deleted.title)

    @Slot()
    def _on_undo(self) -> None:
        if self._deleted is not None:
            self._session.restore(self._deleted)
            self._deleted = None

    @Slot(str)
    def _on_link(self, address: str) -> None:
        url = QUrl(address)
        if url.scheme() not in ("http", "https"):
            return
        self._link = url
        shown = url.toEncoded().toStdString()
        shown = shown if len(shown) <= _LINK_CHARS else f"{shown[:_LINK_CHARS]}…"
        self._notifications.ask(
            self.tr("Open {}?").format(shown), action=OPEN_LINK, text=self.tr("Open")
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

    @Slot()
    def _on_list_changed(self) -> None:
        self._list.set_conversations(tuple(self._session.conversations.values()))
        self._sidebar.select(self._session.current.conversation_id)

    @Slot(object)
    def _on_shown(self, conversation: Conversation) -> None:
        self._view = None
        self._chat.clear()
        path = conversation.path()
        replies = [self._show_message(message) for message in path]
        shown = [reply for reply in replies if reply is not None]
        self._live.show(shown[-1] if shown else None)
        self._composer.set_hint("")
        if shown:
            self._show_context(shown[-1])
        if not path:
            self._chat.show_welcome(
                self.tr("What shall we write?"),
                self.tr(
                    "Choose in the panel who writes ahead; every word is still the target's "
                    "own. The figures show whether it pays."
                ),
            )
        self._sidebar.select(conversation.conversation_id)
        self._show_busy()

    def _show_message(self, message: Message) -> Reply | None:
        if message.role == "user":
            self._chat.add_user(message.content)
            return None
        reply = self._session.reply_of(message.message_id)
        view = self._chat.begin_reply()
        if reply is None:
            view.append(message.content, ())
            view.finish(message.content)
            return None
        for step in reply.steps:
            self._append(view, step)
        if reply.has_ended:
            self._close(view, reply)
        else:
            self._view = view
            self._show_status(reply)
        return reply

    @Slot(object)
    def _on_started(self, reply: Reply) -> None:
        self._show_writing()
        if not self._is_shown(reply):
            return
        if self._view is None:  # else the whole conversation has just been shown anew
            self._chat.add_user(self._session.current.path()[-2].content)
            self._view = self._chat.begin_reply()
        self._live.show(reply)
        self._show_status(reply)
        self._show_busy()

    @Slot(object)
    def _on_progressed(self, reply: Reply) -> None:
        self._show_writing()
        if self._is_shown(reply):
            self._show_status(reply)
            self._show_context(reply)

    @Slot(object, object)
    def _on_grew(self, reply: Reply, step: StepCommitted) -> None:
        if self._is_shown(reply) and self._view is not None:
            self._append(self._view, step)
            if step.step == 0:
                self._view.set_status("")
        if self._live.reply is reply:
            self._live.add(step)

    @Slot()
    def _on_figures(self) -> None:
        reply = self._live.reply
        if reply is not None and self._is_shown(reply):
            self._show_context(reply)

    @Slot(object)
    def _on_ended(self, reply: Reply) -> None:
        if self._view is not None and self._is_shown(reply):
            self._close(self._view, reply)
            self._view = None
            self._show_context(reply)
        if self._live.reply is reply:
            self._live.finish()
        self._show_busy()
        self._show_writing()

    @Slot(object)
    def _on_pair_changed(self) -> None:
        reply = self._session.active
        if reply is not None and self._is_shown(reply):
            self._show_status(reply)

    # --------------------------------------------------------------------------------- showing

    def _is_shown(self, reply: Reply) -> bool:
        return reply.conversation_id == self._session.current.conversation_id

    def _show_busy(self) -> None:
        is_busy = self._session.active is not None
        self._composer.set_busy(is_busy)
        self.busy_changed.emit(is_busy)

    def _show_writing(self) -> None:
        reply = self._session.active
        self._pair.set_writing(reply is not None and reply.submitted_s is not None)

    def _show_status(self, reply: Reply) -> None:
        if self._view is None:
            return
        if reply.stopping:
            self._view.set_status(self.tr("Stopping…"))
        elif reply.status == "waiting":
            state = self._pair.state
            if state.status == "loading":
                words = self.tr("Waiting for the models: {:.0f} % loaded…")
                self._view.set_status(words.format(state.fraction * 100))
            else:
                self._view.set_status(self.tr("Waiting for the engine…"))
        elif reply.status == "prefill" and reply.n_prompt:
            share = reply.n_prefilled / reply.n_prompt
            self._view.set_status(self.tr("Reading the prompt: {:.0f} %…").format(share * 100))
        else:
            self._view.set_status("")

    def _show_context(self, reply: Reply) -> None:
        target = self._pair.state.target
        if target is not None and reply.n_prompt:
            used = min(reply.n_prompt + len(reply.traces), target.n_ctx)
            words = self.tr("Context {} of {}")
            self._composer.set_hint(words.format(f"{used:,}", f"{target.n_ctx:,}"))

    def _close(self, view: ReplyView, reply: Reply) -> None:
        view.set_status("")
        view.finish(reply.text)
        view.set_stats(figures.stats_line(reply), figures.stats_details(reply))
        if reply.reason == "cancelled" and not reply.text:
            view.set_status(self.tr("Stopped."))
        error = reply.error
        if error is not None:
            hint = error.hint
            if error.code == DIED:  # the notice says what to do, and it is soon out of date
                hint = self.tr("What was written before is kept.") if reply.text else ""
            view.set_error(error.message, hint)

    def _append(self, view: ReplyView, step: StepCommitted) -> None:
        n_drafted = sum(count.n_drafted for count in step.drafted)
        view.append(
            step.text,
            step.tokens,
            step=step.step,
            n_drafted=n_drafted,
            sources=self._live.sources,
        )
