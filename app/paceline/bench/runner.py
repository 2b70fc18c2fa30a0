"""A benchmark as a state machine: it returns the next command and processes its events.

So it runs with any client, at the command line, which waits for each event, and in the window,
which gets them later, without a thread or a loop of its own:

    run = BenchRun(plan, target, draft)
    while (command := run.next_command()) is not None:
        for event in client.request(command):
            run.on_event(event)

Both models are loaded before. A `Reset` comes before every run, so that nothing is left in memory
of the one before.

How long the rest will take is estimated from what was measured so far. The warm-up has every prompt
once with a short plain reply, which gives the time of its prefill and of a step; so there is a
forecast before the first run that counts. A strategy's own run replaces the guess, and the first
ones of a workload scale those that have not run.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import PurePath

from paceline.bench.plan import WARM_UP_TOKENS, Cell, Plan, is_controlled
from paceline.bench.runs import (
    Conditions,
    Drafted,
    Failure,
    Report,
    Run,
    describe_machine,
    load_average,
    summarise,
    text_mark,
)
from paceline.chat.pair import Pair
from paceline.chat.reply import model_record
from paceline.messages import (
    Calibrate,
    Calibrated,
    Command,
    DescribeEngine,
    EngineDescribed,
    EngineDied,
    Event,
    ModelInfo,
    Reset,
    TurnFailed,
    TurnFinished,
    Unloaded,
)
from paceline.params import moved
from paceline.sentence import sentence

BETWEEN_S = 0.02
"""Seconds between two runs: a reset, and the passing of commands and events."""


class Forecast:
    """Collects times per workload and strategy."""

    def __init__(self) -> None:
        self._plain: dict[str, float] = {}
        self._measured: dict[tuple[str, str], tuple[float, int]] = {}

    def add(self, cell: Cell, run: Run) -> None:
        """Add the times of a finished run."""
        workload = cell.workload
        if cell.repeat == 0:
            n_steps = max(run.n_tokens - 1, 1)
            seconds = run.prefill_s + run.decode_s * (workload.max_tokens - 1) / n_steps
            self._plain.setdefault(workload.name, seconds)
            return
        key = workload.name, cell.strategy
        total, n = self._measured.get(key, (0.0, 0))
        self._measured[key] = total + run.total_s, n + 1

    def left_s(self, current: Cell | None, cells: Iterable[Cell]) -> float | None:
        """Return the seconds that these runs take, or None if nothing is known."""
        if not self._plain and not self._measured:
            return None
        runs = [cell for cell in (current, *cells) if cell is not None]
        return sum(self._seconds(cell) + BETWEEN_S for cell in runs)

    def _seconds(self, cell: Cell) -> float:
        name = cell.workload.name
        plain = self._plain.get(name, max(self._plain.values(), default=0.0))
        if cell.repeat == 0:
            return plain / 4  # a prefill and a few steps
        total, n = self._measured.get((name, cell.strategy), (0.0, 0))
        if n:
            return total / n
        others = [t / k for (other, _), (t, k) in self._measured.items() if other == name]
        return sum(others) / len(others) if others else plain


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a benchmark.

    Attributes:
        stage: "prepare" (describes, calibrates, warms up), "measure" or "done".
        n_done: Number of finished runs that count.
        n_total: Number of all runs that count.
        cell: The run that is under way, or None if there is none.
        left_s: Estimated remaining seconds, or None before the first measurement.
        passed_s: Seconds since it began.
    """

    stage: str
    n_done: int
    n_total: int
    cell: Cell | None
    left_s: float | None
    passed_s: float = 0.0


class BenchRun:
    """One benchmark, from the first command to the report. Lives on the caller's thread.

    Args:
        plan: From `make_plan`.
        target: The loaded target.
        draft: The loaded draft model, or None if there is none.
        settings: Requested parameters of both, or None if not known.
        servers: RPC servers whose devices they may be on, as HOST:PORT.
    """

    def __init__(
        self,
        plan: Plan,
        target: ModelInfo,
        draft: ModelInfo | None,
        *,
        settings: Pair | None = None,
        servers: tuple[str, ...] = (),
    ) -> None:
        self._plan = plan
        self._models = target, draft
        self._settings = settings
        self._warm_up, self._cells = deque(plan.warm_up()), deque(plan.cells())
        self._forecast = Forecast()
        self._commands: deque[Command] = deque([DescribeEngine(servers), Calibrate()])
        self._engine: EngineDescribed | None = None
        self._calibrated: Calibrated | None = None
        self._cell: Cell | None = None
        self._is_waiting = False
        self._n_total = plan.n_runs
        self._runs: list[Run] = []
        self._failures: list[Failure] = []
        self._is_stopped = self._is_unloaded = False
        self._began = time.monotonic()
        self._load = load_average()

    # ------------------------------------------------------------------------------ driving

    def next_command(self) -> Command | None:
        """Return the next command, or None if an answer is awaited, or all is over."""
        if self._is_waiting or self._is_stopped:
            return None
        if not self._commands:
            self._prepare_turn()
        if not self._commands:
            return None
        command = self._commands.popleft()
        self._is_waiting = not isinstance(command, Reset)  # which has no answer
        return command

    def on_event(self, event: Event) -> None:
        """Process an event of the last command."""
        match event:
            case EngineDescribed():
                self._engine, self._is_waiting = event, False
            case Calibrated():
                self._calibrated, self._is_waiting = event, False
                if self._is_unloaded:
                    self._end("unloaded", event.problem, sentence("Load the models again."))
            case TurnFinished():
                self._finished(event)
            case TurnFailed():
                self._failed(event.code, event.message, event.hint)
            case EngineDied():
                self._end("engine-died", event.reason, event.hint)
            case Unloaded():
                self._is_unloaded = True
            case _:
                pass
        # Where a failure was the reason, it comes next, as the answer that is awaited.
        if self._is_unloaded and not self._is_waiting:
            self._end(
                "unloaded",
                sentence("The models were unloaded."),
                sentence("Load them, and begin again."),
            )

    def stop(self) -> None:
        """Make no further run; the running one is cancelled and does not count."""
        self._is_stopped = True

    @property
    def is_over(self) -> bool:
        """Return whether no command will follow and no answer is awaited."""
        if self._is_waiting:
            return False
        return self._is_stopped or not (self._commands or self._warm_up or self._cells)

    @property
    def n_repeats(self) -> int:
        """Return how often everything is measured."""
        return self._plan.n_repeats

    @property
    def progress(self) -> Progress:
        """Runs done and planned, and the estimated seconds left."""
        left = self._forecast.left_s(self._cell, [*self._warm_up, *self._cells])
        is_warming = bool(self._warm_up) or self._cell is None or self._cell.repeat == 0
        n_done = len(self._runs)
        stage = "done" if self.is_over else "prepare" if is_warming and not n_done else "measure"
        passed_s = time.monotonic() - self._began
        return Progress(stage, n_done, self._n_total, self._cell, left, passed_s)

    def result(self) -> Report:
        """Return the report of the runs so far."""
        return summarise(
            self._plan,
            self._runs,
            self._conditions(),
            failures=self._failures,
            notes=self._notes(),
            wall_s=time.monotonic() - self._began,
            is_complete=len(self._runs) == self._plan.n_runs,
        )

    def _conditions(self) -> Conditions:
        target, draft = self._models
        return Conditions(
            describe_machine(self._engine, target, self._load),
            model_record(target),
            model_record(draft) if draft else None,
            datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
            _without_folders(self._settings).kept if self._settings else None,
            target.kernels,
            self._calibrated.costs if self._calibrated else (),
            self._calibrated.draft_costs if self._calibrated else (),
        )

    def _notes(self) -> list[str]:
        notes = list[str]()
        problem = self._calibrated.problem if self._calibrated else ""
        has_auto = any(map(is_controlled, self._plan.strategies))
        if problem and not self._is_unloaded:
            words = sentence("What steps cost could not be measured: {problem}", problem=problem)
            if has_auto:
                words = sentence(
                    "What steps cost could not be measured, so Auto had to learn it: {problem}",
                    problem=problem,
                )
            notes.append(words)
        if self._plan.is_fresh and has_auto:
            notes.append(
                sentence("Auto began every reply without knowing how often guesses are right.")
            )
        return notes

    # -------------------------------------------------------------------------------- turns

    def _prepare_turn(self) -> None:
        queue = self._warm_up or self._cells
        if not queue:
            return
        self._cell = cell = queue.popleft()
        most = WARM_UP_TOKENS if cell.repeat == 0 else None
        turn = cell.workload.turn(cell.strategy, most)
        self._commands.extend((Reset(keeps_rates=not self._plan.is_fresh), turn))

    def _finished(self, event: TurnFinished) -> None:
        cell = self._leave_turn()
        stats = event.stats
        if self._is_stopped:
            return
        if event.reason == "cancelled":  # not by `stop`
            self._is_stopped = True
            return
        plain = stats.plain_tokens_per_s
        run = Run(
            cell.workload.name, cell.strategy, cell.repeat,
            len(event.tokens), text_mark(event.tokens),
            _micros(stats.prefill_s), _micros(stats.decode_s), stats.n_prompt, stats.n_steps,
            stats.n_drafted, stats.n_accepted, stats.n_discarded, stats.batch_invariant,
            _micros(stats.n_generated / plain) if plain else None,
            tuple(
                Drafted(d.drafter, d.tokens, d.tokens_accepted)
                for d in stats.by_drafter
                if d.tokens
            ),
        )  # fmt: skip
        self._forecast.add(cell, run)
        if cell.repeat:
            self._runs.append(run)

    def _failed(self, code: str, message: str, hint: str) -> None:
        """Note a failure, and leave out what would fail again."""
        cell = self._leave_turn()
        if self._is_stopped:
            return
        if code == "cancelled":
            self._is_stopped = True
            return
        name, strategy = cell.workload.name, cell.strategy
        self._failures.append(Failure(name, strategy, code, message, hint))
        is_plain = strategy == self._plan.strategies[0]

        def fails_too(other: Cell) -> bool:
            return other.workload.name == name and (is_plain or other.strategy == strategy)

        self._warm_up = deque(c for c in self._warm_up if not fails_too(c))
        self._cells = deque(c for c in self._cells if not fails_too(c))
        self._n_total = len(self._runs) + len(self._cells)
        self._is_stopped = self._is_unloaded  # nothing can run any more

    def _leave_turn(self) -> Cell:
        cell, self._cell = self._cell, None
        self._is_waiting = False
        assert cell is not None
        return cell

    def _end(self, code: str, message: str, hint: str) -> None:
        """Make no further run, because there is nothing to run on."""
        if self.is_over:
            return
        cell, self._cell = self._cell, None
        where = (cell.workload.name, cell.strategy) if cell else ("", "")
        self._failures.append(Failure(*where, code, message, hint))
        self._is_waiting, self._is_stopped = False, True


def _micros(seconds: float) -> float:
    """Return a time rounded as in reports, so that a report read again has the same figures."""
    return round(seconds, 6)


def _without_folders(settings: Pair) -> Pair:
    return replace(
        settings,
        target=replace(settings.target, path=_name(settings.target.path)),
        drafting=moved(settings.drafting, _name),
        lookup_cache=_name(settings.lookup_cache),
    )


def _name(path: str) -> str:
    return PurePath(path).name
