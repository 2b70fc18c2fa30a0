"""Plays the recorded example through the real window, in a private chat, at its own speed.

The session takes the recorded events as it takes the engine's, so colours, plot and figures are
what they always are; the engine is asked nothing. Main thread.
"""

from __future__ import annotations

import time
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QTimer, Slot

from paceline.chat.recording import Recording, read_recording
from paceline.chat.reply import Reply
from paceline.conversation import Conversation
from paceline.errors import UserError
from paceline.gui.context import AppContext
from paceline.messages import TurnEvent

EXAMPLE = "example"
"""Topic of the notice that says what is shown."""
_TICK_MS = 10


class ExamplePlayer(QObject):
    """Plays at most one example at a time; `play` begins, and the composer's Stop ends it."""

    def __init__(self, context: AppContext, file: Path, parent: QObject) -> None:
        super().__init__(parent)
        self._session, self._shown = context.session, context.shown
        self._notices = context.notices
        self._file = file
        self._reply: Reply | None = None
        self._events: list[tuple[float, TurnEvent]] = []
        self._began = 0.0
        self._shown_in = ""
        context.shown.path_changed.connect(self._on_shown)
        context.signals.started.connect(self._on_started)
        self._timer = QTimer(self, interval=_TICK_MS, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._on_tick)

    @Slot()
    def play(self) -> None:
        """Show the example in a chat that is not stored; nothing while a reply is written."""
        if self._session.active is not None:
            return
        try:
            recording = read_recording(self._file)
        except UserError as error:
            self._notices.user_error(error)
            return
        self._shown.new(private=True)
        self._shown_in = self._shown.id
        reply = self._session.begin_recorded(self._shown.id, recording)
        if reply is None:
            return
        self._notices.tell(self._words(recording), topic=EXAMPLE)
        self._reply = reply
        self._events = list(recording.events)
        self._began = time.perf_counter()
        self._timer.start()

    def _words(self, recording: Recording) -> str:
        return self.tr(
            "A recording: {} with Auto, made on {} ({}), at the speed that it had there."
        ).format(recording.target.name, recording.machine, recording.date)

    @Slot()
    def _on_tick(self) -> None:
        reply, elapsed = self._reply, time.perf_counter() - self._began
        if reply is None or reply.has_ended:
            self._end()
            return
        if reply.stopping:
            self._session.end_reply()
            self._end()
            return
        while self._events and self._events[0][0] <= elapsed:
            self._session.on_recorded(self._events.pop(0)[1])

    @Slot(object)
    def _on_shown(self, conversation: Conversation) -> None:
        """What is shown now is no recording."""
        if conversation.conversation_id != self._shown_in:
            self._notices.settled.emit(EXAMPLE)

    @Slot()
    def _on_started(self) -> None:
        """A reply begins; only `play` says that it is recorded, and later."""
        self._notices.settled.emit(EXAMPLE)

    def _end(self) -> None:
        self._timer.stop()
        self._reply, self._events = None, []
