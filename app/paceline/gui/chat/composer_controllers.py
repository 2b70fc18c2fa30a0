"""Controllers of the composer: unsent text and files, the context meter, too long messages.

The engine counts a chat's tokens when nothing has been typed for a while. During a reply it has no
time for that, and the reply's own figures give the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from paceline.chat.attachments import check_count, read_attachment
from paceline.chat.pair import Pair, PairState
from paceline.chat.prompt import GradualPrompt
from paceline.chat.reply import Reply
from paceline.conversation import Attachment, Message
from paceline.engine.model.model_params import DEFAULT_CTX
from paceline.errors import UserError
from paceline.gui.chat.composer import Composer
from paceline.gui.chat.context_meter import ContextUse, short_tokens, use_of
from paceline.gui.context import AppContext
from paceline.gui.kit.file_dialogs import FileChooser
from paceline.gui.state.current_devices import CurrentDevices, Room, RoomPlanner
from paceline.hosting.newest import NewestQuestion
from paceline.messages import Chat, ChatMessage, CountTokens, Event, TokensCounted
from paceline.params import with_params

KEEP_AFTER_MS = 400
"""Pause after the last key press before a draft is stored; a switch of chats and the program's end
store it at once."""


class UnsentController(QObject):
    """Connection of the composer with the draft of the shown chat."""

    def __init__(self, context: AppContext, composer: Composer, parent: QObject) -> None:
        super().__init__(parent)
        self._drafts, self._composer = context.drafts, composer
        self._timer = QTimer(self, singleShot=True, interval=KEEP_AFTER_MS)
        self._timer.timeout.connect(self.keep)
        if self._drafts.text or self._drafts.files:
            composer.show_unsent(self._drafts.text, self._drafts.files)
        composer.edit.textChanged.connect(self._timer.start)
        composer.files.changed.connect(self._timer.start)
        context.shown.leaving.connect(self.keep)
        context.drafts.turned.connect(self._on_turned)
        context.signals.started.connect(self.keep)

    @Slot()
    def keep(self) -> None:
        """Store the composer's content now."""
        self._timer.stop()
        self._drafts.write(self._composer.text, self._composer.attachments)

    @Slot()
    def _on_turned(self) -> None:
        self._composer.show_unsent(self._drafts.text, self._drafts.files)
        if self._composer.text == self._drafts.text:
            self._timer.stop()


class AttachmentsController(QObject):
    """Files for the message, chosen, dropped or pasted, which are read in the background.

    Files that cannot be attached are reported, the others are attached.
    """

    def __init__(self, context: AppContext, composer: Composer, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context
        self._composer = composer
        self.files = FileChooser(self)
        self.files.files_chosen.connect(self.attach)
        self.files.closed.connect(composer.setFocus)
        context.actions.attach.triggered.connect(self.ask)
        self._composer.attach.clicked.connect(self.ask)
        self._composer.edit.files_pasted.connect(self.attach)
        self._composer.text_refused.connect(context.notices.user_error)

    @Slot()
    def ask(self) -> None:
        """Ask the user for files."""
        self.files.ask_files(self._context.window, self.tr("Attach text or code files"))

    @Slot(list)
    def attach(self, paths: Sequence[str]) -> None:
        """Attach files; the chat is fixed until they are read."""
        if not self._context.notices.attempt(check_count, self._composer.attachments, len(paths)):
            return
        if paths:
            self.files.remember(paths[0])
        self._context.background.start(
            partial(_read, tuple(paths)), self._on_read, self._context.notices.user_error
        )

    def _on_read(self, result: object) -> None:
        assert isinstance(result, tuple)
        files, errors = result
        self._composer.files.add(files)
        others = self.tr("{} more files could not be attached either.")
        self._context.notices.user_errors(errors, others)
        if files and not errors:
            self._composer.setFocus()


def _read(paths: tuple[str, ...]) -> tuple[list[Attachment], list[UserError]]:
    files: list[Attachment] = []
    errors: list[UserError] = []
    for path in paths:
        try:
            files.append(read_attachment(Path(path)))
        except UserError as error:
            errors.append(error)
    return files, errors


ASK_AFTER_MS = 250
"""Pause after the last key press or change of a setting before tokens are counted."""
FOLLOW_EVERY_MS = 400
TURN_S = 0.004
"""Time slice for building a prompt between two events."""


class ContextMeterController(QObject):
    """Connection of the composer's meter with session, settings and engine."""

    counted = Signal(object)
    """The `ContextUse` including the unsent message, or an empty one where it is unknown."""
    asked = Signal(object)
    """The engine was asked to count; the `GradualPrompt` has the chat without the unsent
    message."""
    kept_from = Signal(str)
    """Id of the first message of the shown chat that the model sees, or empty if it sees all."""

    def __init__(
        self,
        context: AppContext,
        composer: Composer,
        parent: QObject,
    ) -> None:
        """Connect the meter.

        Args:
            context: The program's parts.
            composer: Has the meter and the unsent message.
            parent: Qt's parent.
        """
        super().__init__(parent)
        self._session, self._shown = context.session, context.shown
        self._next_reply = context.next_reply
        self._pair = context.pair
        self._composer = composer
        self._meter = composer.meter
        self._count = NewestQuestion(context.client, self._on_counted)
        self._asked: tuple[tuple[ChatMessage, ...], bool, int] = (), False, 0
        self._prompt = GradualPrompt()
        self._ask = QTimer(self, singleShot=True)
        self._ask.timeout.connect(self.ask_now)
        self._follow = QTimer(self, singleShot=True, interval=FOLLOW_EVERY_MS)
        self._follow.timeout.connect(self._show_reply)
        self.counted.connect(self._meter.show_use)
        composer.edit.textChanged.connect(self.ask_soon)
        composer.files.changed.connect(self.ask_soon)
        context.next_reply.changed.connect(self.ask_soon)
        signals, shown = context.signals, context.shown
        shown.path_changed.connect(self._on_shown)
        shown.details_changed.connect(self.ask_soon)
        signals.started.connect(self._on_started)
        signals.progressed.connect(self._on_moved)
        signals.grew.connect(self._on_moved)
        signals.ended.connect(self._on_ended)
        context.pair.changed.connect(self._on_shown)
        self._on_shown()

    @Slot()
    def ask_soon(self) -> None:
        """Count anew once nothing has changed for a moment."""
        self._ask.start(ASK_AFTER_MS)

    @Slot()
    def ask_now(self) -> None:
        """Count the tokens of the chat including the unsent message.

        The prompt of a long chat is built in slices between events before it is counted.
        """
        self._ask.stop()
        target = self._pair.state.target
        is_ready = self._pair.state.status == "ready" and self._session.active is None
        if target is None or not is_ready:
            return
        options, chat = self._next_reply.options(), self._shown.conversation
        settings = options.settings
        known = self._session.conversations.known_in(chat.conversation_id)
        end_s = perf_counter() + TURN_S
        if not self._prompt.take(chat.path(), settings.system_prompt, end_s, known):
            self._ask.start(0)
            return
        text, files = self._composer.text.strip(), self._composer.attachments
        unsent = (
            [Message.of_text("", None, "user", text, attachments=files)] if text or files else []
        )
        messages = self._prompt.messages(*unsent)
        if not messages:
            self.counted.emit(ContextUse(0, target.n_ctx, room=settings.max_tokens))
            return
        self._asked = messages, bool(unsent), settings.max_tokens
        prompt = Chat(messages, options.prompting, options.cuts)
        self._count.ask(CountTokens(prompt, settings.max_tokens))
        self.asked.emit(self._prompt)

    # ------------------------------------------------------------------------------- within

    def _on_counted(self, event: Event) -> None:
        if isinstance(event, TokensCounted) and self._session.active is None:
            messages, has_unsent, room = self._asked
            if event.n_ctx:  # otherwise the models have just been unloaded
                self.kept_from.emit(self._prompt.first_kept(event.n_cut))
                self.counted.emit(use_of(event, messages, has_unsent=has_unsent, room=room))

    @Slot()
    def _on_shown(self) -> None:
        active = self._session.active
        if self._pair.state.status != "ready":
            self.kept_from.emit("")
            self.counted.emit(ContextUse())  # the first message will wait for the models
        elif active is None:
            if not self._shown.conversation.path():
                self._show_figures(0, 0)
            self.ask_soon()
        elif not self._shown.has(active):
            self._show_last_reply()

    @Slot(object)
    def _on_started(self, _reply: Reply) -> None:
        self._count.drop()  # an awaited answer is out of date
        self._ask.stop()

    @Slot()
    def _on_moved(self) -> None:
        if not self._follow.isActive():
            self._follow.start()

    @Slot(object)
    def _on_ended(self, _reply: Reply) -> None:
        self._follow.stop()
        self.ask_soon()

    @Slot()
    def _show_reply(self) -> None:
        """Show how far the running reply has filled the context, if it is in the shown chat."""
        reply = self._session.active
        if reply is not None and self._shown.has(reply):
            self._show_figures(reply.n_prompt, len(reply.traces), reply.n_cut)
            self._show_kept(reply)

    def _show_kept(self, reply: Reply) -> None:
        """Show the first message that the model sees while it writes."""
        path = [m for m in self._shown.conversation.path() if m.message_id != reply.message_id]
        system_prompt = reply.options.settings.system_prompt
        known = self._session.conversations.known_in(reply.conversation_id)
        end_s = perf_counter() + TURN_S
        if reply.n_cut and self._prompt.take(path, system_prompt, end_s, known):
            self.kept_from.emit(self._prompt.first_kept(reply.n_cut))

    def _show_last_reply(self) -> None:
        """Show the state after the last reply of the shown chat, while another chat has one."""
        for message in reversed(self._shown.conversation.path()):
            reply = self._shown.reply(message.message_id)
            if reply is not None and reply.stats is not None:
                self._show_figures(reply.stats.n_prompt, reply.stats.n_generated, reply.n_cut)
                return
        self._show_figures(0, 0)

    def _show_figures(self, n_prompt: int, n_reply: int, n_cut: int = 0) -> None:
        target = self._pair.state.target
        if target is not None:
            n_used = min(n_prompt + n_reply, target.n_ctx)
            use = ContextUse(n_used, target.n_ctx, n_chat=n_prompt, n_reply=n_reply, n_cut=n_cut)
            self._meter.show_use(use)


_MIN_CTX = 1024


class LongerContext(QObject):
    """Offer of a longer context, by the context meter; main thread, plans in the pool."""

    def __init__(
        self,
        context: AppContext,
        composer: Composer,
        devices: CurrentDevices,
        load: Callable[[Pair], None],
    ) -> None:
        """Connect the parts; no message is held back yet.

        Args:
            context: The program's parts.
            composer: Contains the message.
            devices: Plan memory; if they cannot, only a load shows whether memory suffices.
            load: Loads a pair.
        """
        super().__init__(context.window)
        self._pair, self._background = context.pair, context.background
        self._composer, self._devices, self._load = composer, devices, load
        self._options: tuple[Pair, ...] = ()
        self._found: Pair | None = None
        self._has_no_room = False
        composer.held.button.clicked.connect(self._on_load)

    @Slot(object)
    def show_use(self, use: ContextUse) -> None:
        """Hold the message back if the counted prompt does not fit, or release it."""
        if not (use.is_refused and use.n_unsent):
            self._options, self._found = (), None
            self._composer.hold_back("")
            return
        options = options_for(self._pair.state, use)
        if options != self._options:
            self._options, self._found, self._has_no_room = options, None, False
            self._look_for_room()
        self._show()

    def _look_for_room(self) -> None:
        planner, options = self._devices.planner, self._options
        if options and planner is not None:
            job = partial(first_that_fits, planner, self._devices.refresh(), options)
            self._background.start(
                job, partial(self._on_planned, options), partial(self._on_no_plan, options)
            )
        elif options:
            self._found = options[0]

    def _on_planned(self, asked: tuple[Pair, ...], found: object) -> None:
        if asked is self._options:
            self._found = next((pair for pair in asked if pair is found), None)
            self._has_no_room = self._found is None
            self._show()

    def _on_no_plan(self, asked: tuple[Pair, ...], _error: UserError) -> None:
        self._on_planned(asked, asked[0])  # the load will report the problem

    def _show(self) -> None:
        found, why = self._found, ""
        button = ""
        if found is not None:
            n_ctx = found.target.n_ctx
            button = self.tr("Load with {} context").format(short_tokens(n_ctx, n_ctx))
        elif self._has_no_room:
            why = self.tr("Memory has no room for a longer one.")
        elif not self._options:
            why = self.tr("The model was trained for no more.")
        if why:
            why = f"{why} {self.tr('Shorten it, attach less, or start a new chat.')}"
        words = self.tr("Too long for the context.")
        self._composer.hold_back(f"{words} {why}".strip(), button)

    @Slot()
    def _on_load(self) -> None:
        if self._found is not None:
            self._load(self._found)


def options_for(state: PairState, use: ContextUse) -> tuple[Pair, ...]:
    """Return the loaded pair with longer contexts, the best one first, then the smallest one.

    The best one holds the whole chat and the longest reply allowed; the smallest one is just
    sufficient.
    """
    pair, target = state.pair, state.target
    if pair is None or target is None:
        return ()
    longest = target.n_ctx_train or 4 * DEFAULT_CTX
    sizes = [_MIN_CTX << n for n in range(32) if _MIN_CTX << n < longest] + [longest]
    n_prompt = use.n_used + use.n_cut_tokens
    enough = [n for n in sizes if n > max(n_prompt, target.n_ctx)]
    best = [n for n in enough if n >= n_prompt + use.room]
    return tuple(_with_ctx(state, pair, n) for n in dict.fromkeys((*best[:1], *enough[:1])))


def _with_ctx(state: PairState, pair: Pair, n_ctx: int) -> Pair:
    draft = pair.draft
    if draft is not None and state.draft is not None and state.draft.n_ctx < n_ctx:
        draft = replace(draft, n_ctx=min(n_ctx, state.draft.n_ctx_train or n_ctx))
    target = replace(pair.target, n_ctx=n_ctx)
    return replace(pair, target=target, drafting=with_params(pair.drafting, draft))


def first_that_fits(planner: RoomPlanner, room: Room, pairs: Sequence[Pair]) -> Pair | None:
    """Return the first of these pairs that fits into memory, or None. Worker thread.

    Raises:
        UserError: A file cannot be used.
    """
    return next((pair for pair in pairs if planner.plan(room, pair).fits), None)
