"""An engine by hand for the benchmark's tests: it answers with the times that a test gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from message_samples import sample
from paceline.messages import (
    Calibrate,
    Calibrated,
    Command,
    DescribeEngine,
    EngineDescribed,
    Event,
    ModelInfo,
    Reset,
    StartTurn,
    TurnFailed,
    TurnFinished,
    TurnStats,
    WidthCost,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from paceline.bench.runner import BenchRun

COSTS = (WidthCost(1, 0.01, 4), WidthCost(2, 0.019, 4))


def model(path: str = "/home/somebody/models/target.gguf") -> ModelInfo:
    """A loaded model."""
    info: ModelInfo = sample(ModelInfo)
    return ModelInfo(**{name: getattr(info, name) for name in info.__slots__} | {"path": path})


def stats(
    total_s: float,
    prefill_s: float = 0.0,
    n_tokens: int = 10,
    drafted: tuple[int, int] = (0, 0),
    plain_s: float | None = None,
) -> TurnStats:
    """The figures of a reply; `drafted`: tokens drafted and accepted; `plain_s`: see `Run`."""
    decode_s = total_s - prefill_s
    n_steps = n_tokens - 1 - drafted[1]
    return TurnStats(
        True, 20, 0, n_tokens, prefill_s, decode_s, total_s, n_tokens / decode_s,
        n_tokens / plain_s if plain_s else None, n_steps,
        drafted[0], drafted[1], 0, None, None, 0.0,
    )  # fmt: skip


Reply = TurnFinished | TurnFailed


class Engine:
    """Carries commands out by `reply`, which gives a turn's last event; notes all of them."""

    def __init__(self, reply: Callable[[StartTurn], Event | None]) -> None:
        self.reply = reply
        self.commands: list[Command] = []

    def ask(self, command: Command) -> list[Event]:
        """Answer a command."""
        self.commands.append(command)
        match command:
            case DescribeEngine():
                described: EngineDescribed = sample(EngineDescribed)
                return [described]
            case Calibrate():
                return [Calibrated(1, COSTS)]
            case StartTurn():
                answer = self.reply(command)
                return [] if answer is None else [answer]
            case Reset():
                return []
            case _:
                raise AssertionError(command)

    def drive(self, run: BenchRun, most: int = 100_000) -> None:
        """Carry a benchmark out to its end, or `most` commands of it."""
        for _ in range(most):
            command = run.next_command()
            if command is None:
                return
            for event in self.ask(command):
                run.on_event(event)

    @property
    def turns(self) -> list[StartTurn]:
        """The turns so far."""
        return [command for command in self.commands if isinstance(command, StartTurn)]


def finished(command: StartTurn, figures: TurnStats, tokens: tuple[int, ...] = ()) -> TurnFinished:
    """The end of a turn."""
    ids = tokens or tuple(range(figures.n_generated))
    return TurnFinished("length", "text", ids, command.seed or 0, command.strategy, figures)
