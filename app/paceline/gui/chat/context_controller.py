"""Keeps the context meter true: asks the engine what a chat takes, and follows a running reply.

The engine is asked when nothing has been typed for a while. During a reply it has no time for
questions, and the reply's own figures say the same.
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from paceline.chat.prompt import GradualPrompt
from paceline.conversation import Message
from paceline.gui.chat.context_meter import ContextUse, use_of
from paceline.messages import CountTokens, TokensCounted, TurnStarted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from PySide6.QtCore import SignalInstance

    from paceline.chat.reply import Reply, TurnOptions
    from paceline.conversation import Attachment
    from paceline.gui.chat.composer import Composer
    from paceline.gui.context import AppContext
    from paceline.messages import ChatMessage, Event

ASK_AFTER_MS = 250
"""After the last key press or change of a setting."""
FOLLOW_EVERY_MS = 400
TURN_S = 0.004
"""A prompt is put together for this long between two events."""


class ContextMeterController(QObject):
    """Binds the composer's meter to session, settings and engine."""

    counted = Signal(object)
    """The `ContextUse` with what is being written; an empty one where that is not known"""

    def __init__(
        self,
        context: AppContext,
        composer: Composer,
        turn_options: Callable[[], TurnOptions],
        options_changed: SignalInstance,
        parent: QObject | None = None,
    ) -> None:
        """Connect the meter.

        Args:
            context: The program's parts.
            composer: Has the meter, and what is being written.
            turn_options: What the next reply would use.
            options_changed: Emitted when that may have changed.
            parent: Qt's parent.
        """
        super().__init__(parent)
        self._session = context.session
        self._client = context.client
        self._pair = context.pair
        self._turn_options = turn_options
        self._composer = composer
        self._meter = composer.meter
        self._attachments: tuple[Attachment, ...] = ()
        self._n_asked = 0
        self._asked: tuple[tuple[ChatMessage, ...], bool, int] = (), False, 0
        self._n_cut = 0  # of the running reply
        self._prompt = GradualPrompt()
        self._ask = QTimer(self)
        self._ask.setSingleShot(True)
        self._ask.timeout.connect(self.ask_now)
        self._follow = QTimer(self)
        self._follow.setSingleShot(True)
        self._follow.setInterval(FOLLOW_EVERY_MS)
        self._follow.timeout.connect(self._show_reply)
        context.session.add_observer(self._on_event)
        composer.edit.textChanged.connect(self.ask_soon)
        composer.attachments_changed.connect(self.set_attachments)
        options_changed.connect(self.ask_soon)
        signals = context.signals
        signals.shown.connect(self._on_shown)
        signals.changed.connect(self.ask_soon)
        signals.started.connect(self._on_started)
        signals.progressed.connect(self._on_moved)
        signals.grew.connect(self._on_moved)
        signals.ended.connect(self._on_ended)
        context.pair.changed.connect(self._on_shown)
        self._on_shown()

    @Slot()
    def ask_soon(self) -> None:
        """Ask the engine anew when nothing more changes for a moment."""
        self._ask.start(ASK_AFTER_MS)

    @Slot(object)
    def set_attachments(self, attachments: Sequence[Attachment]) -> None:
        """Count files with what is being written."""
        self._attachments = tuple(attachments)
        self.ask_soon()

    @Slot()
    def ask_now(self) -> None:
        """Ask the engine how many tokens the chat has with what is being written.

        The prompt of a long chat is put together bit by bit, between events, before it is counted.
        """
        self._ask.stop()
        target = self._pair.state.target
        is_ready = self._pair.state.status == "ready" and self._session.active is None
        if target is None or not is_ready:
            return
        options, settings = self._turn_options(), self._session.conversations.settings
        path = self._session.current.path()
        if not self._prompt.take(path, settings.system_prompt, perf_counter() + TURN_S):
            self._ask.start(0)
            return
        text = self._composer.text.strip()
        unsent = []
        if text or self._attachments:
            unsent = [Message("", None, "user", text, attachments=self._attachments)]
        messages = self._prompt.messages(*unsent)
        if not messages:
            use = ContextUse(0, target.n_ctx, room=settings.max_tokens)
            self._meter.show_use(use)
            self.counted.emit(use)
            return
        self._n_asked += 1
        self._asked = messages, bool(unsent), settings.max_tokens
        self._client.submit(
            CountTokens(
                self._request_id, messages, settings.max_tokens, options.cuts, options.prompting
            )
        )

    # ------------------------------------------------------------------------------- within

    @property
    def _request_id(self) -> str:
        return f"meter-{self._n_asked}"

    def _on_event(self, event: Event) -> None:
        if isinstance(event, TokensCounted):
            if event.request_id == self._request_id and self._session.active is None:
                messages, has_unsent, room = self._asked
                if event.n_ctx:  # otherwise the models have just gone
                    use = use_of(event, messages, has_unsent=has_unsent, room=room)
                    self._meter.show_use(use)
                    self.counted.emit(use)
        elif isinstance(event, TurnStarted):
            self._n_cut = event.n_cut

    @Slot()
    def _on_shown(self) -> None:
        active, current = self._session.active, self._session.current
        if self._pair.state.status != "ready":
            self._meter.show_use(ContextUse())
            self.counted.emit(ContextUse())  # a message would wait for the models
        elif active is None:
            if not current.path():
                self._show_figures(0, 0)
            self.ask_soon()
        elif active.conversation_id != current.conversation_id:
            self._show_last_reply()

    @Slot(object)
    def _on_started(self, reply: Reply) -> None:
        del reply
        self._n_asked += 1  # an answer that is still under way is out of date
        self._n_cut = 0
        self._ask.stop()

    @Slot()
    def _on_moved(self) -> None:
        if not self._follow.isActive():
            self._follow.start()

    @Slot(object)
    def _on_ended(self, reply: Reply) -> None:
        del reply
        self._follow.stop()
        self.ask_soon()

    @Slot()
    def _show_reply(self) -> None:
        """Show what the running reply has filled, if it is the shown chat's."""
        reply = self._session.active
        current = self._session.current
        if reply is not None and reply.conversation_id == current.conversation_id:
            self._show_figures(reply.n_prompt, len(reply.traces))

    def _show_last_reply(self) -> None:
        """Show what the last reply of the shown chat has left, while another chat has one."""
        for message in reversed(self._session.current.path()):
            reply = self._session.conversations.reply_of(message.message_id)
            if reply is not None and reply.stats is not None:
                self._show_figures(reply.stats.n_prompt, reply.stats.n_generated)
                return
        self._show_figures(0, 0)

    def _show_figures(self, n_prompt: int, n_reply: int) -> None:
        target = self._pair.state.target
        if target is not None:
            n_used = min(n_prompt + n_reply, target.n_ctx)
            use = ContextUse(
                n_used, target.n_ctx, n_chat=n_prompt, n_reply=n_reply, n_cut=self._n_cut
            )
            self._meter.show_use(use)
