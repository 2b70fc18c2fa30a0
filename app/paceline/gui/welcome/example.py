"""The recorded example: one question answered alone and with drafts, side by side, at its own pace.

Both columns begin to write together: the prefill is the same work for both, and is left out. The
engine is not used, and no chat is involved. Main thread.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QPushButton, QWidget

from paceline.chat.recording import RecordedTurn, Recording, read_recording
from paceline.errors import UserError
from paceline.gui.compare.columns import ReplyColumn, TwoColumns
from paceline.gui.kit.labels import YieldingLabel, text_label
from paceline.gui.kit.layouts import column_of, row_of, styled
from paceline.gui.kit.sentences import said
from paceline.gui.look.current import look
from paceline.gui.look.scale import HALF, STEP
from paceline.gui.state.sources import Sources
from paceline.messages import StepCommitted, TurnEvent

_TICK_MS = 16
_WAIT_MS = 700
"""Pause after the window has appeared, so that the first tokens are seen."""


class Example(QWidget):
    """Plays when it is first shown, and by `play`; with reduced motion it is finished at once.

    Attributes:
        columns: Both replies.
        again: The button that plays it again.
    """

    def __init__(
        self, sources: Sources, file: Path, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        """Keep the arguments; the file is read later.

        Args:
            sources: The names of drafters, and their colours.
            file: The recording.
            clock: Returns seconds from an arbitrary moment.
        """
        super().__init__()
        self._file, self._clock = file, clock
        self._recording: Recording | None = None
        self._queues: list[tuple[ReplyColumn, deque[tuple[float, TurnEvent]], float]] = []
        self._began = 0.0
        self._tick = QTimer(self, interval=_TICK_MS, timerType=Qt.TimerType.PreciseTimer)
        self._tick.timeout.connect(self._on_tick)
        self._wait = QTimer(self, singleShot=True)
        self._wait.timeout.connect(self.play)
        self.columns = TwoColumns(sources)
        self.question = styled(YieldingLabel(), role="muted")
        self.origin = text_label("", "small", wraps=True, plain=True)
        self.again = styled(QPushButton(self.tr("Again")), kind="quiet")
        self.again.clicked.connect(self.play)
        foot = row_of((self.origin, 1), (self.again, 0, Qt.AlignmentFlag.AlignTop), spacing=STEP)
        self.columns.begin(self.tr("Without drafts"), self.tr("With drafts"))
        column_of(self.question, (self.columns, 1), foot, on=self, margins=0, spacing=HALF)

    @property
    def is_over(self) -> bool:
        """Return whether both replies are shown to their ends."""
        return bool(self._queues) and not any(queue for _, queue, _ in self._queues)

    @Slot()
    def play(self) -> None:
        """Play it from its beginning."""
        recording = self._read()
        if recording is None:
            return
        self.columns.begin(self.tr("Without drafts"), self.tr("With drafts"))
        self._queues = [
            (column, deque(turn), _first_token_s(turn))
            for column, turn in (
                (self.columns.left, recording.alone), (self.columns.right, recording.drafted),
            )
        ]  # fmt: skip
        if look.reduces_motion:
            self.show_at(math.inf)
        else:
            self._began = self._clock()
            self._tick.start()

    def show_at(self, seconds: float) -> None:
        """Show both replies `seconds` after their first tokens; time never goes back."""
        for column, queue, read_s in self._queues:
            while queue and queue[0][0] <= read_s + seconds:
                column.receive(*queue.popleft())
            column.pass_time(read_s + seconds)

    @Slot()
    def _on_tick(self) -> None:
        self.show_at(self._clock() - self._began)
        if self.is_over:
            self._tick.stop()

    def _read(self) -> Recording | None:
        """Return the recording and show its description, or return None if it cannot be read."""
        if self._recording is None:
            try:
                self._recording = recording = read_recording(self._file)
            except UserError as error:
                self.origin.setText(said(error.message, error.hint))
                self.again.hide()
                return None
            asked = recording.question.split("\n", 1)[0].rstrip(":")
            self.question.setText(self.tr("Asked: {}").format(asked))
            self.question.setToolTip(recording.question)
            self.origin.setText(
                self.tr("Recorded on {} with {}, {}.").format(
                    recording.machine, recording.target.name, recording.date
                )
            )
        return self._recording

    def showEvent(self, event: QShowEvent) -> None:
        """Play it in a moment, unless it was played to its end."""
        super().showEvent(event)
        if not self.is_over and self._read() is not None:
            self._wait.start(0 if look.reduces_motion else _WAIT_MS)

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop playing."""
        super().hideEvent(event)
        self._wait.stop()
        self._tick.stop()


def _first_token_s(turn: RecordedTurn) -> float:
    return next((at_s for at_s, event in turn if isinstance(event, StepCommitted)), 0.0)
