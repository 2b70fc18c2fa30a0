"""Reading ahead while a message is written: when it is requested, and its display.

The prompt is built and counted when nothing has been typed for a moment; then its certain part is
read. Main thread.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot

from paceline.chat.prompt import GradualPrompt
from paceline.chat.reading_ahead import AheadReader, certain_part, turn_that_may_come
from paceline.conversation import Message
from paceline.gui.chat.composer import Composer
from paceline.gui.chat.composer_controllers import ContextMeterController
from paceline.gui.context import AppContext
from paceline.gui.kit.translation import local
from paceline.hosting.power import is_on_battery


class ReadingAheadController(QObject):
    """Lets the engine read ahead the certain part of the prompt, and shows that in the meter."""

    def __init__(
        self,
        context: AppContext,
        composer: Composer,
        counting: ContextMeterController,
        parent: QObject,
    ) -> None:
        """Connect the parts.

        Args:
            context: The program's parts.
            composer: Has the unsent message and the meter.
            counting: Signals when to read, with the prompt.
            parent: Qt's parent.
        """
        super().__init__(parent)
        self._session, self._shown = context.session, context.shown
        self._next_reply = context.next_reply
        self._composer, self._counting = composer, counting
        self._reader = AheadReader(context.client, self._on_progress)
        self._wanted = context.settings.setting("reads_ahead")
        self._wanted.changed.connect(self._on_wanted)
        counting.asked.connect(self._on_asked)
        for gone in (context.shown.leaving, context.shown.path_changed, context.pair.changed):
            gone.connect(self._drop)
        context.signals.started.connect(self._drop)

    @Slot()
    def _on_wanted(self) -> None:
        self._drop()
        self._counting.ask_soon()

    @Slot()
    def _drop(self) -> None:
        self._reader.drop()
        self._composer.meter.show_ahead("")

    @Slot(object)
    def _on_asked(self, prompt: GradualPrompt) -> None:
        """Have the newest text read; `prompt` has the chat without it."""
        if not self._wanted.value or is_on_battery():
            self._drop()
            words = self.tr("On battery, nothing is read ahead.")
            off = self.tr("Nothing is read ahead: it is switched off.")
            self._composer.meter.show_ahead(words if self._wanted.value else off)
            return
        text, files = certain_part(self._composer.text_before_caret), self._composer.attachments
        is_begun = bool(text or files)
        unsent = [Message.of_text("", None, "user", text, attachments=files)] if is_begun else []
        messages = prompt.messages(*unsent)
        if not messages:
            self._drop()
            return
        chat = self._shown.conversation
        self._session.states.on_begin(chat.conversation_id)
        self._reader.read(turn_that_may_come(chat, messages, self._next_reply.options()))

    def _on_progress(self) -> None:
        progress = self._reader.progress
        self._composer.meter.show_ahead(self._words(progress.n_read, progress.n_certain))
        if not progress.is_over and not self._reader.is_reading:
            self._counting.ask_soon()  # it was interrupted by another request

    def _words(self, n_read: int, n_certain: int) -> str:
        if not n_certain:
            return ""
        if n_read >= n_certain:
            return self.tr("{} tokens are read already.").format(f"{local(n_read):,}")
        figures = (f"{local(n):,}" for n in (n_read, n_certain))
        return self.tr("Read so far: {} of {} tokens.").format(*figures)
