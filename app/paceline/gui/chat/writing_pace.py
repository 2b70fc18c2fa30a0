"""When replies write what they collected: at 30 Hz at most, and slower when writing takes long.

So writing never takes more than a 40th of the time. Main thread.
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot

if TYPE_CHECKING:
    from paceline.gui.chat.messages.reply_view import ReplyView


FLUSH_MS = 33
MAX_FLUSH_MS = 500
TURN_S = 0.012
"""When many replies wait, or many messages are to be built, each turn works for this long."""
PAUSE = 40
"""Times as long as writing took, until the next time: painting costs twice as much again."""


class WritingPace(QObject):
    """Lets replies that wait write, one after the other."""

    wrote = Signal(object)
    """Carries the `ReplyView` that has just had its turn."""
    finished = Signal()
    """No reply waits any more."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._waiting: dict[ReplyView, None] = {}
        self._rests_until_s = 0.0
        self.timer = QTimer(self, singleShot=True, interval=FLUSH_MS)
        self.timer.timeout.connect(self.write)

    @property
    def is_idle(self) -> bool:
        """Whether no reply waits."""
        return not self._waiting

    def want(self, reply: ReplyView) -> None:
        """Let a reply write soon."""
        self._waiting[reply] = None
        if not self.timer.isActive():
            # What comes after a while, as the first words of a reply do, need not wait.
            self.timer.start(max(0, round((self._rests_until_s - perf_counter()) * 1_000)))

    def forget(self, reply: ReplyView) -> None:
        """Forget a reply that is gone, or about to go."""
        self._waiting.pop(reply, None)

    @Slot()
    def write(self) -> None:
        """Let replies write for one turn, and choose when the next one is."""
        start = perf_counter()
        # The last ones first: they are what the user sees.
        while self._waiting and perf_counter() - start < TURN_S:
            reply, _ = self._waiting.popitem()
            reply.flush_piece()
            self.wrote.emit(reply)
        pause_ms = round(PAUSE * (perf_counter() - start) * 1_000)
        pause_ms = max(FLUSH_MS, min(pause_ms, MAX_FLUSH_MS))
        if any(reply.is_partly_shown for reply in self._waiting):
            pause_ms = 0  # it is being opened; only other events come first
        self._rests_until_s = perf_counter() + pause_ms / 1_000
        self.timer.setInterval(pause_ms)
        if self._waiting:
            self.timer.start()
        else:
            self.finished.emit()
