"""Controller between the chat session and the conversation's widgets: chat view and composer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QObject, QTimer, QUrl, Slot
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QWidget

from paceline.chat.auto_words import drafted_words, reasons_words
from paceline.chat.conversations import DeletedMessages
from paceline.chat.decisions import mix_of
from paceline.chat.reply import Reply, known_of
from paceline.chat.syntax.code import file_pattern
from paceline.conversation import Attachment, Conversation, Message, later_turns, title_of
from paceline.errors import UserError
from paceline.gui.chat.links import describe_link
from paceline.gui.chat.messages.message_item import ShownMessage
from paceline.gui.chat.messages.reply_view import ReplyView
from paceline.gui.chat.view import ChatPane
from paceline.gui.context import AppContext
from paceline.gui.kit.file_dialogs import SaveFile
from paceline.gui.kit.notices import Action
from paceline.gui.kit.sentences import said
from paceline.gui.kit.translation import local
from paceline.gui.state import figures
from paceline.gui.state.chat_lines import title_text
from paceline.gui.state.live import LiveFigures
from paceline.gui.state.pair import PairModel
from paceline.gui.state.programs import ProgramReplies
from paceline.hosting.exit_reasons import DIED
from paceline.messages import StepCommitted
from paceline.run_record import CLOSED, INTERRUPTED

_STEM = "code"
_WAITING_MS = 250
_DELETED, _LATER = "deleted messages", "later turns"


class ChatController(QObject):
    """Translates the user's actions into use cases, and the session's events into text."""

    def __init__(self, context: AppContext, pane: ChatPane, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session = context.session
        self._shown = shown = context.shown
        self._options, self._undoing = context.next_reply.options, context.undoing
        self._take_back: Callable[[], object] | None = None
        self._live, self._pair = context.live, context.pair
        self._chat, self._composer = pane.chat, pane.composer
        self._notices, self._actions = context.notices, context.actions
        self._send_key = context.settings.setting("send_key")
        self._chat.keeps = self._keeps = context.settings.setting("keeps_on_edit")
        self._writer = ReplyWriter(
            context.pair, context.programs, context.live, session.clock, self
        )
        self._waiting = QTimer(self, interval=_WAITING_MS)
        self._waiting.timeout.connect(self._on_waited)
        self._code = CodeSaver(context.save_file, context.window, self)
        self._shown_id, self._stays = "", False
        signals = context.signals
        shown.leaving.connect(self.keep_place)
        shown.path_changed.connect(self._on_shown)
        signals.started.connect(self._on_started)
        signals.progressed.connect(self._on_progressed)
        signals.grew.connect(self._on_grew)
        signals.ended.connect(self._on_ended)
        signals.list_changed.connect(self._show_busy)  # these words contain titles
        context.pair.changed.connect(self._on_pair_changed)
        context.programs.changed.connect(self._on_pair_changed)
        context.actions.stop.triggered.connect(session.stop)
        context.actions.regenerate.triggered.connect(self._on_regenerate)
        context.actions.renew.triggered.connect(self._on_renew)
        context.actions.later_turns.triggered.connect(self.bring_up_to_date)
        context.actions.continue_reply.triggered.connect(self._on_continue)
        context.actions.copy_reply.triggered.connect(self._on_copy_reply)
        self._composer.message_submitted.connect(self.send)
        self._composer.stop_requested.connect(session.stop)
        self._composer.edit.edit_last_requested.connect(self._on_edit_last)
        self._composer.elsewhere.button.clicked.connect(self._on_elsewhere)
        chat = self._chat
        chat.fill_wanted.connect(self._on_fill_wanted)
        chat.edit_submitted.connect(self.edit)
        chat.regenerate_requested.connect(self.regenerate)
        chat.delete_requested.connect(self._on_delete)
        chat.continue_requested.connect(self.continue_reply)
        chat.sibling_requested.connect(self._on_sibling)
        chat.branch_requested.connect(self._on_branch)
        chat.origin_requested.connect(self._on_origin)
        chat.requests.link_activated.connect(self._on_link)
        chat.requests.code_save_requested.connect(self._code.save)
        chat.requests.code_wrap_requested.connect(context.actions.wrap_code.trigger)
        self._send_key.changed.connect(self._show_send_key)
        self._show_send_key()
        self._on_shown(shown.conversation)

    # ----------------------------------------------------------------------------- user actions

    @Slot(str, object)
    def send(self, text: str, attachments: tuple[Attachment, ...] = ()) -> bool:
        """Send a message in the shown chat; return False if it is blank or a reply is running."""
        reply = self._session.send(self._shown.id, text, self._options, attachments)
        return reply is not None

    @Slot(str)
    def regenerate(self, message_id: str = "", *, keeps: bool = False) -> bool:
        """Answer a question of the shown chat once more; see `ChatSession.regenerate`."""
        reply = self._session.regenerate(self._shown.id, self._options, message_id, keeps=keeps)
        return reply is not None

    @Slot(str)
    def continue_reply(self, message_id: str = "") -> bool:
        """Continue a reply of the shown chat, the last one for an empty id."""
        reply = self._session.continue_reply(self._shown.id, self._options, message_id)
        return reply is not None

    @Slot(str, str)
    def edit(self, message_id: str, text: str) -> bool:
        """Edit a message of the shown chat; a question is then answered."""
        old = self._shown.conversation.messages.get(message_id)
        if old is not None and old.role == "assistant":
            return self._session.edit_reply(self._shown.id, message_id, text)
        reply = self._session.edit(
            self._shown.id, message_id, text, self._options, keeps=self._keeps.value
        )
        return reply is not None

    @Slot()
    def bring_up_to_date(self) -> bool:
        """Ask again in the shown chat the later questions of an older branch."""
        return self._session.bring_up_to_date(self._shown.id, self._options) is not None

    @Slot()
    def _on_edit_last(self) -> None:
        """Start to edit the user's last message in the shown chat."""
        for message in reversed(self._shown.conversation.path()):
            if message.role == "user":
                self._chat.begin_edit(message.message_id)
                return

    @Slot()
    def _on_elsewhere(self) -> None:
        """Show the chat in which a reply is being written."""
        if self._session.active is not None:
            self._notices.attempt(self._shown.show, self._session.active.conversation_id)
            self._composer.setFocus()

    @Slot()
    def _on_regenerate(self) -> None:
        """Answer the last question again."""
        self.regenerate()

    @Slot()
    def _on_renew(self) -> None:
        """Answer the last question again with the seed of the shown reply."""
        self.regenerate(keeps=True)

    @Slot()
    def _on_continue(self) -> None:
        """Continue the last reply."""
        self.continue_reply()

    @Slot()
    def _on_copy_reply(self) -> None:
        """Copy the text of the last shown reply."""
        for message in reversed(self._shown.conversation.path()):
            if message.role == "assistant" and message.text:
                QGuiApplication.clipboard().setText(message.text)
                return

    @Slot()
    def _show_send_key(self) -> None:
        key = self._send_key.value
        self._composer.edit.set_send_key(key)
        self._chat.set_send_key(key)

    @Slot()
    def keep_place(self) -> None:
        """Store the scroll position of the shown conversation."""
        self._shown.keep_place(self._chat.place())

    @Slot(str, int)
    def _on_sibling(self, message_id: str, step: int) -> None:
        self._stays = True
        self._session.turn_to_sibling(self._shown.id, message_id, step)
        self._stays = False

    @Slot(str)
    def _on_delete(self, message_id: str) -> None:
        """Delete at once; the notice can undo it until the next deletion or change of chats."""
        deleted = self._session.delete_message(self._shown.id, message_id)
        if deleted is None:
            return
        n = len(deleted.messages)
        words = (
            self.tr("The message was deleted.") if n == 1 else self.tr("{} messages were deleted.")
        )
        self._take_back = partial(self._notices.attempt, self._undelete, deleted)
        self._undoing.offer(self._take_back)
        undo = Action(self.tr("Undo"), self._take_back)
        self._notices.inform(words.format(n), action=undo, topic=_DELETED)

    def _undelete(self, deleted: DeletedMessages) -> None:
        """Restore deleted messages in the chat where they are shown."""
        self._forget_deleted()
        self._shown.show(deleted.conversation_id)
        self._session.undelete(deleted)

    def _forget_deleted(self) -> None:
        """Withdraw the offer to restore messages."""
        self._undoing.withdraw(self._take_back)
        self._take_back = None
        self._notices.resolved.emit(_DELETED)

    @Slot(str)
    def _on_branch(self, message_id: str) -> None:
        self._notices.attempt(self._branch, message_id)

    def _branch(self, message_id: str) -> None:
        """Show a new chat with the shown path up to this message, unless it is unfinished."""
        chat_id = self._session.branch(self._shown.id, message_id)
        if chat_id:
            self._shown.show(chat_id)

    @Slot()
    def _on_origin(self) -> None:
        """Show the original of the shown chat, at the message where they part."""
        origin, known = self._shown.conversation.origin, self._session.conversations.summary
        if origin is None or known(origin.conversation_id) is None:
            return  # the line says that the chat was deleted
        place = origin.conversation_id, origin.message_id
        if self._notices.attempt(self._shown.show_message, *place):
            self._chat.go_to(origin.message_id)

    @Slot(str)
    def _on_link(self, address: str) -> None:
        url = QUrl(address)
        if url.scheme() not in ("http", "https"):
            return
        shown, warning = describe_link(address)
        question = self.tr("Open {}?").format(shown)
        open_it = Action(self.tr("Open"), partial(QDesktopServices.openUrl, url))
        self._notices.ask(f"{question} {warning}".strip(), open_it)

    # --------------------------------------------------------------------------- session events

    @Slot(object)
    def _on_shown(self, conversation: Conversation) -> None:
        is_same = conversation.conversation_id == self._shown_id
        if not is_same:
            self._forget_deleted()
            self._notices.resolved.emit(_LATER)
        place = None
        if not is_same:
            place = self._shown.place
        elif self._stays:
            place = self._chat.place()
        self._shown_id = conversation.conversation_id
        path = conversation.path()
        self._chat.show_path([self._as_shown(conversation, message) for message in path], place)
        self._show_figures(path)
        self._show_busy()

    def _show_figures(self, path: Sequence[Message]) -> None:
        """Show the figures of the last reply on the path in the panel."""
        replies = (self._reply(message.message_id) for message in reversed(path))
        self._live.show(next((reply for reply in replies if reply is not None), None))

    @Slot(object, str)
    def _on_fill_wanted(self, view: ReplyView, message_id: str) -> None:
        reply = self._reply(message_id)
        if reply is not None:
            self._writer.fill(view, reply)
        else:  # an imported chat, without figures
            view.finish(self._shown.conversation.messages[message_id].text)

    @Slot(object)
    def _on_started(self, reply: Reply) -> None:
        self._show_writing()
        if not self._shown.has(reply):
            return
        current = self._shown.conversation
        # Otherwise the reply was shown together with the path.
        if self._chat.reply_view(reply.message_id) is None:
            for message in current.path()[-2:]:
                self._chat.add(self._as_shown(current, message))
        self._live.show(reply)
        self._show_status(reply)
        self._show_busy()
        self._show_later()

    @Slot(object)
    def _on_progressed(self, reply: Reply) -> None:
        self._show_writing()
        if self._shown.has(reply):
            self._show_status(reply)
        if reply.status == "prefill":
            self._waiting.start()

    @Slot()
    def _on_waited(self) -> None:
        """Count down the time left for the prefill."""
        reply = self._session.active
        if reply is None or reply.status != "prefill":
            self._waiting.stop()
        elif self._shown.has(reply):
            self._show_status(reply)

    @Slot(object, object)
    def _on_grew(self, reply: Reply, step: StepCommitted) -> None:
        view = self._view_of(reply)
        if view is not None:
            view.append(step)
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
        if self._shown.has(reply):
            self._offer_later(reply)
        else:  # otherwise the next question would be out of view
            self._session.leave_later()

    @Slot(object)
    def _on_pair_changed(self) -> None:
        reply = self._session.active
        if reply is not None:
            self._show_status(reply)

    # ---------------------------------------------------------------------------- later turns

    def _show_later(self) -> None:
        """Show the progress of repeating later turns; an older offer is out of date."""
        self._notices.resolved.emit(_LATER)
        later = self._session.later
        if later is not None:
            words = self.tr("Bringing later turns up to date: {} of {}.")
            stop = Action(self.tr("Stop"), self._session.stop)
            message = words.format(later.n_asked, later.n_questions)
            self._notices.inform(message, action=stop, topic=_LATER)

    def _offer_later(self, reply: Reply) -> None:
        """Offer to repeat an older branch's later questions, unless they are being repeated."""
        has_failed = reply.error is not None or reply.reason == "cancelled"
        if self._session.later is not None and not has_failed:
            if self._session.later.is_last:
                self._notices.resolved.emit(_LATER)
            return
        self._notices.resolved.emit(_LATER)
        turns = later_turns(self._shown.conversation)
        n = sum(message.role == "user" for message in turns)
        if n and not has_failed:
            words = (
                self.tr("A later question is in the older version only.")
                if n == 1
                else self.tr("{} later questions are in the older version only.")
            )
            ask = Action(self.tr("Ask here, too"), self.bring_up_to_date)
            self._notices.inform(words.format(n), action=ask, topic=_LATER)

    # --------------------------------------------------------------------------------- showing

    def _reply(self, message_id: str) -> Reply | None:
        """Return a reply's record, without its steps where these cannot be read."""
        try:
            return self._shown.full_reply(message_id)
        except UserError:
            return self._shown.reply(message_id)

    def _view_of(self, reply: Reply) -> ReplyView | None:
        return self._chat.reply_view(reply.message_id) if self._shown.has(reply) else None

    @Slot()
    def _show_busy(self) -> None:
        reply = self._session.active
        is_busy, elsewhere = reply is not None, None
        if reply is not None and not self._shown.has(reply):
            elsewhere = self._session.conversations.summary(reply.conversation_id)
        self._composer.set_busy(is_busy, title_of(title_text(elsewhere)) if elsewhere else "")
        self._chat.set_busy(is_busy)
        # Esc belongs to fields and menus while there is nothing to stop.
        self._actions.stop.setEnabled(is_busy)
        self._actions.regenerate.setDisabled(is_busy)
        path = self._shown.conversation.path()
        can_go_on = bool(path) and path[-1].role == "assistant" and bool(path[-1].text)
        self._actions.continue_reply.setEnabled(can_go_on and not is_busy)
        self._actions.renew.setEnabled(can_go_on and not is_busy)
        has_later = not is_busy and bool(later_turns(self._shown.conversation))
        self._actions.later_turns.setEnabled(has_later)

    def _show_writing(self) -> None:
        reply = self._session.active
        self._pair.set_writing(reply is not None and reply.submitted_s is not None)

    def _show_status(self, reply: Reply) -> None:
        view = self._view_of(reply)
        if view is not None:
            self._writer.show_status(view, reply)

    def _as_shown(self, conversation: Conversation, message: Message) -> ShownMessage:
        """Return a message in the form that the view takes."""
        place, n_siblings = conversation.place_of(message.message_id)
        origin, words = conversation.origin, ""
        if origin is not None and origin.here == message.message_id:
            original = self._session.conversations.summary(origin.conversation_id)
            words = self.tr("Branched here from a chat that was deleted")
            if original is not None:
                words = self.tr("Branched here from “{}”").format(title_text(original))
        return ShownMessage(
            message.message_id, message.role, message.text, message.attachments, n_siblings,
            place, words,
        )  # fmt: skip


class ReplyWriter(QObject):
    """Writes a reply's data into its view: status, figures, notes, errors."""

    def __init__(
        self,
        pair: PairModel,
        programs: ProgramReplies,
        live: LiveFigures,
        clock: Callable[[], float],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._pair, self._programs, self._live, self._clock = pair, programs, live, clock

    def fill(self, view: ReplyView, reply: Reply) -> None:
        """Write everything into a view that has just been made."""
        view.set_known(known_of(reply))
        for step in reply.steps:
            view.append(step)
        if reply.has_ended:
            self.close(view, reply)
        else:
            self.show_status(view, reply)

    def show_status(self, view: ReplyView, reply: Reply) -> None:
        """Show the status before the first token."""
        view.set_known(known_of(reply))
        if reply.stopping:
            view.set_status(self.tr("Stopping…"))
        elif reply.status == "waiting":
            state = self._pair.state
            if state.status == "loading":
                words = self.tr("Waiting for the models: {:.0f} % loaded…")
                view.set_status(words.format(state.fraction * 100))
            elif self._programs.asker:
                words = self.tr("{} is being answered; this message is next…")
                view.set_status(words.format(self._programs.asker))
            else:
                view.set_status(self.tr("Waiting for the engine…"))
        elif reply.wait is not None and reply.status == "prefill":
            view.set_status(said(reply.wait.words(self._clock())))
        else:
            view.set_status("")

    def close(self, view: ReplyView, reply: Reply) -> None:
        """Write the end of a reply."""
        view.set_status("")
        view.finish(reply.text, known_of(reply))
        speed = figures.speed_of(reply)
        decided = mix_of(reply.last_part)
        judges = self._live.judges
        line = figures.stats_line(reply, judges=judges)
        rows = (
            figures.stats_details(reply, judges=judges),
            said(drafted_words(decided)),
            said(reasons_words(decided)),
        )
        details = "\n".join(filter(None, rows))
        view.set_stats(line, details, tokens_per_s=speed)
        edited = figures.edited_words() if reply.edited else ""
        mark = figures.cut_words().get(reply.reason or "eog", "") if reply.text else ""
        left_out = self._cut_note(reply.n_cut) if reply.n_cut else ""
        error = reply.error
        ended = self._end_note(error.code) if error is not None else ""
        limit = f"{local(reply.options.settings.max_tokens):,}"
        notes = edited, mark.format(limit), ended if reply.text else "", left_out
        view.set_note(" ".join(filter(None, notes)))
        if not reply.text:
            view.set_status(self.tr("Stopped.") if reply.reason == "cancelled" else ended)
        if error is None or ended:
            return
        message, hint = said(error.message), said(error.hint)
        if error.code == DIED:  # the notice gives reason and remedy, and it is soon out of date
            message = self.tr("The engine ended while this reply was being written.")
            hint = self.tr("What was written before is kept.") if reply.text else ""
        view.set_error(message, hint)

    def _end_note(self, code: str) -> str:
        """Return the note for a reply that ended with the program, which is no failure; else ""."""
        if code == CLOSED.code:
            return self.tr("Stopped when the program was closed.")
        if code == INTERRUPTED.code:
            return self.tr("Stopped when the program ended.")
        return ""

    def _cut_note(self, n_cut: int) -> str:
        if n_cut == 1:
            return self.tr("The oldest message was left out: the context is full.")
        return self.tr("The oldest {} messages were left out: the context is full.").format(n_cut)


class CodeSaver(QObject):
    """Saves a block of code from a reply to a file that the user chooses.

    The proposed name depends on the code's language; the dialog asks before it replaces a file.
    """

    def __init__(self, save: SaveFile, window: QWidget, parent: QObject) -> None:
        super().__init__(parent)
        self._save = save
        self._window = window

    @Slot(str, str)
    def save(self, language: str, code: str) -> None:
        """Ask for a place, then write.

        Args:
            language: As the author of the code named it; may be empty or unknown.
            code: The text; the file gets a newline at its end.
        """
        pattern = file_pattern(language)
        name = pattern.replace("*", _STEM)
        everything = self.tr("All files (*)")
        kinds = self.tr("Code ({})").format(pattern) + f";;{everything}"
        made = code if code.endswith("\n") else f"{code}\n"
        self._save.ask(self._window, self.tr("Save the code"), name, kinds, lambda: made)
