"""An engine client that plays a scripted reply back at a fixed number of tokens per second."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from time import perf_counter

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot

from paceline.hosting.client import QueuedClient
from paceline.messages import (
    Command,
    FiguresReported,
    LoadPair,
    ModelInfo,
    PairLoaded,
    StartTurn,
    StepCommitted,
    TurnFinished,
    TurnStarted,
    TurnStats,
)
from paceline.params import file_of
from scripted import stats_of, steps_of

FIGURES_EVERY_S = 0.5
"""Values as an engine reports them."""


class ReplayClient(QObject, QueuedClient):
    """Loads at once; every reply consists of these tokens. All on the thread that made it."""

    began = Signal()
    """Emitted just before the first step."""
    ended = Signal()
    """Emitted when the turn has ended."""

    def __init__(self, tokens: Sequence[str], tokens_per_s: float) -> None:
        QObject.__init__(self)
        QueuedClient.__init__(self)
        self._tokens = tokens
        self._tokens_per_s = tokens_per_s
        self._turn: StartTurn | None = None
        self._steps: tuple[StepCommitted, ...] = ()
        self._at = 0
        self._start_s = self._figures_s = 0.0
        self.n_tokens = 0
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._on_tick)

    def _drive(self) -> None:
        """Answer a load and start a turn; nothing else matters here."""
        while self._broker.running is None and (ticket := self._broker.take(0)) is not None:
            self._begin(ticket.command)
            if not isinstance(ticket.command, StartTurn):
                self._broker.done()

    def _begin(self, command: Command) -> None:
        if isinstance(command, LoadPair):
            drafter = file_of(command.drafting)
            self._broker.emit(
                PairLoaded(
                    _info(command.target.path),
                    _info(drafter) if drafter else None,
                    0.0,
                )
            )
        elif isinstance(command, StartTurn):
            self._turn = command
            self._steps = steps_of(self._tokens, 1, speed=self._tokens_per_s)
            self._at = self.n_tokens = 0
            self._broker.emit(TurnStarted(600, 0, 7))
            self._start_s = 0.0
            self._timer.start(0)

    def close(self) -> bool:
        """Stop playing."""
        self._timer.stop()
        return True

    @Slot()
    def _on_tick(self) -> None:
        if not self._start_s:
            self._start_s = self._figures_s = perf_counter()
            self.began.emit()
        # The timer fires once per step, like events of a real engine.
        due = (perf_counter() - self._start_s) * self._tokens_per_s
        while self._at < len(self._steps) and self.n_tokens < due:
            step = self._steps[self._at]
            self._at += 1
            self.n_tokens += len(step.tokens)
            self._broker.emit(step)
        if self._turn is not None and perf_counter() >= self._figures_s:
            self._figures_s += FIGURES_EVERY_S
            self._broker.emit(FiguresReported(self._stats()))
        if self._at < len(self._steps):
            next_s = self._start_s + self.n_tokens / self._tokens_per_s
            self._timer.start(max(ceil(1e3 * (next_s - perf_counter())), 0))
        elif self._turn is not None:
            turn, self._turn = self._turn, None
            self._broker.emit(
                TurnFinished(
                    "eog",
                    "".join(self._tokens),
                    (),
                    7,
                    turn.strategy,
                    self._stats(),
                )
            )
            self._broker.done()
            self._drive()
            self.ended.emit()

    def _stats(self) -> TurnStats:
        return stats_of(self._steps[: self._at], perf_counter() - self._start_s)


def _info(path: str) -> ModelInfo:
    return ModelInfo(
        path=path,
        name="replay",
        architecture="llama",
        description="",
        n_params=1,
        size_bytes=1,
        n_ctx=8192,
        n_ctx_train=8192,
        n_vocab=1000,
        n_layers=2,
        n_threads=1,
        n_threads_batch=1,
        n_gpu_layers=0,
        can_rollback=True,
        has_template=True,
    )
