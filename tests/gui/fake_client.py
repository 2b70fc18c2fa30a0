"""A scripted `EngineClient`: records commands, and the test says what the engine answers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from paceline.engine.draft.strategy import complete
from paceline.messages import (
    Command,
    DraftCount,
    EngineDescribed,
    FiguresReported,
    LoadPair,
    ModelInfo,
    PairLoaded,
    Remember,
    Remembered,
    StartTurn,
    StepCommitted,
    TokenTrace,
    TurnFinished,
    TurnStarted,
    TurnStats,
)

if TYPE_CHECKING:
    from paceline.hosting.client import Listener
    from paceline.messages import Event

C = TypeVar("C")

STATS = TurnStats(
    batch_invariant=None,
    n_prompt=10,
    n_reused=0,
    n_generated=100,
    prefill_s=0.1,
    decode_s=2.0,
    total_s=2.1,
    tokens_per_s=41.2,
    plain_tokens_per_s=21.6,
    n_steps=40,
    n_drafted=320,
    n_accepted=222,
    n_discarded=8,
    acceptance_rate=222 / 312,
    mean_committed_per_step=2.475,
    overhead_s=0.05,
    plain_low=18.0,
    plain_high=25.9,
)
"""A clear gain: 1.91 times plain decoding, 1.59 to 2.29."""


class FakeClient:
    """Takes commands without doing anything; `emit` plays the engine.

    Attributes:
        takes_texts: Whether a `Remember` is answered at once.
    """

    def __init__(self) -> None:
        self.takes_texts = True
        self.commands: list[Command] = []
        self.cancelled: list[str] = []
        self.is_closed = False
        self._listener: Listener | None = None

    def submit(self, command: Command) -> None:
        self.commands.append(command)
        if isinstance(command, Remember) and self.takes_texts:
            self.emit(Remembered(command.chat))

    def cancel(self, request_id: str) -> None:
        self.cancelled.append(request_id)

    def set_listener(self, listener: Listener | None) -> None:
        self._listener = listener

    def close(self) -> bool:
        self.is_closed = True
        return True

    @property
    def is_alive(self) -> bool:
        return not self.is_closed

    # ------------------------------------------------------------------- what the engine does

    def emit(self, event: Event) -> None:
        assert self._listener is not None
        self._listener(event)

    def last(self, kind: type[C]) -> C:
        """The newest command of a kind."""
        return [c for c in self.commands if isinstance(c, kind)][-1]

    def all(self, kind: type[C]) -> list[C]:
        return [c for c in self.commands if isinstance(c, kind)]

    def finish_load(self, *notes: str, file_id: str = "") -> None:
        """Load what was asked for last; `file_id` is the target's."""
        command = self.last(LoadPair)
        has_file = command.mtp not in ("auto", "off")
        drafter = command.draft.path if command.draft else command.mtp if has_file else ""
        self.emit(
            PairLoaded(
                command.request_id,
                replace(model_info(command.target.path), file_id=file_id),
                model_info(drafter) if drafter else None,
                0.1,
                tuple(notes),
            )
        )

    def start_turn(self) -> str:
        """Begin the turn that was asked for last; returns its id."""
        turn_id = self.last(StartTurn).turn_id
        self.emit(TurnStarted(turn_id, 10, 0, 7))
        return turn_id

    def step(self, text: str, number: int = 1, *, drafter: str = "draft") -> None:
        """Commit one step of the last turn: all but its last token were drafted and accepted."""
        turn_id = self.last(StartTurn).turn_id
        self.emit(step_of(turn_id, text, number, drafter=drafter))

    def figures(self, stats: TurnStats = STATS) -> None:
        """Tell the figures of the last turn so far."""
        self.emit(FiguresReported(self.last(StartTurn).turn_id, stats))

    def finish_turn(self, text: str, *, stats: TurnStats = STATS) -> None:
        """End the last turn."""
        command = self.last(StartTurn)
        used = complete(command.strategy).value
        self.emit(TurnFinished(command.turn_id, "eog", text, (1, 2, 3), 7, used, stats))

    def reply(self, text: str, *, stats: TurnStats = STATS) -> None:
        """One whole turn."""
        self.start_turn()
        self.step(text[:1], 0)
        self.step(text[1:], 1)
        self.finish_turn(text, stats=stats)


def model_info(path: str) -> ModelInfo:
    return ModelInfo(
        path=path,
        name="",
        architecture="llama",
        description="",
        n_params=1,
        size_bytes=1,
        n_ctx=2048,
        n_ctx_train=2048,
        n_vocab=100,
        n_layers=2,
        n_threads=1,
        n_threads_batch=1,
        n_gpu_layers=0,
        can_rollback=True,
        has_template=True,
    )


def step_of(
    turn_id: str,
    text: str,
    number: int,
    *,
    drafter: str = "draft",
    n_rejected: int = 1,
    total_s: float = 0.02,
) -> StepCommitted:
    """A step with three tokens, two of them drafted; step 0 has one token and no draft."""
    if number == 0:
        trace = TokenTrace(1, "target", -1, None, len(text))
        return StepCommitted(turn_id, 0, (trace,), text, (), 0.0, 0.0, 0.001, total_s)
    traces = (
        TokenTrace(1, drafter, 0, 0.9, len(text)),
        TokenTrace(2, drafter, 1, 0.8, len(text)),
        TokenTrace(3, "target", -1, None, len(text)),
    )
    counts = (DraftCount(drafter, 2 + n_rejected, 2),)
    return StepCommitted(turn_id, number, traces, text, counts, 0.004, 0.012, 0.001, total_s)


def plain_step(turn_id: str, number: int, total_s: float = 0.05) -> StepCommitted:
    trace = TokenTrace(1, "target", -1, None, number)
    return StepCommitted(turn_id, number, (trace,), "x", (), 0.0, 0.04, 0.001, total_s, plain=True)


def described(*, supports_gpu: bool = False) -> EngineDescribed:
    return EngineDescribed("0.3.36", "CPU : AVX2 = 1", supports_gpu, ())


def without_plain(stats: TurnStats = STATS) -> TurnStats:
    """The same where nothing is known of plain decoding."""
    return replace(stats, plain_tokens_per_s=None, plain_low=None, plain_high=None)


def perhaps(stats: TurnStats = STATS) -> TurnStats:
    """The same where it may be a gain or a loss."""
    return replace(stats, plain_low=stats.tokens_per_s * 0.5, plain_high=stats.tokens_per_s * 1.2)


def at_speed(tokens_per_s: float, stats: TurnStats = STATS) -> TurnStats:
    """The same at another speed, against the same plain decoding."""
    return replace(stats, tokens_per_s=tokens_per_s)


def undrafted(stats: TurnStats = STATS) -> TurnStats:
    """The same where nothing was drafted."""
    return replace(stats, n_drafted=0, n_accepted=0, n_discarded=0, acceptance_rate=None)
