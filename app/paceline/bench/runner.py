"""A benchmark as a partner in a conversation: it says the next command and hears every event.

So it runs wherever an engine is, at the command line (`submit` returns when all is done) and in the
window (events come later), without a thread or a loop of its own:

    run = BenchRun(plan, target, draft)

    def go_on():                               # at the beginning, and behind every event
        while (command := run.next_command()) is not None:
            client.submit(command)

    def listener(event):
        run.on_event(event)
        go_on()                                # a client whose `submit` waits does this by itself

Both models are loaded before. Every run stands behind a `Reset`, so that nothing is left in memory
of the one before. Events of other turns are none of its business.
"""

from __future__ import annotations

import time
import uuid
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paceline.bench import machine
from paceline.bench.forecast import Forecast
from paceline.bench.plan import WARM_UP_TOKENS, is_controlled
from paceline.bench.runs import Failure, Run
from paceline.bench.summary import summarise
from paceline.messages import (
    Calibrate,
    Calibrated,
    DescribeEngine,
    EngineDescribed,
    EngineDied,
    Reset,
    StartTurn,
    TurnFailed,
    TurnFinished,
    Unloaded,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from paceline.bench.plan import Cell, Plan
    from paceline.bench.runs import Report
    from paceline.messages import Command, Event, ModelInfo


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a benchmark is.

    Attributes:
        stage: "prepare" (describes, calibrates, warms up), "measure" or "done".
        n_done: Runs that count and are over.
        n_total: How many there will be.
        cell: The run that is under way; None: there is none.
        left_s: Seconds that remain, by what was measured; None: nothing was yet.
    """

    stage: str
    n_done: int
    n_total: int
    cell: Cell | None
    left_s: float | None


class BenchRun:
    """One benchmark, from the first command to the report. Lives on the caller's thread.

    Args:
        plan: From `make_plan`.
        target: The loaded target.
        draft: The loaded draft model; None: there is none.
        clock: Seconds that only grow.
    """

    def __init__(
        self,
        plan: Plan,
        target: ModelInfo,
        draft: ModelInfo | None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._plan = plan
        self._models = target, draft
        self._clock = clock
        self._prefix = f"bench-{uuid.uuid4().hex}"
        self._warm_up, self._cells = deque(plan.warm_up()), deque(plan.cells())
        self._forecast = Forecast()
        self._commands: deque[Command] = deque([DescribeEngine()])
        if any(map(is_controlled, plan.strategies)):
            self._commands.append(Calibrate(f"{self._prefix}-0"))
        self._engine: EngineDescribed | None = None
        self._calibrated: Calibrated | None = None
        self._cell: Cell | None = None
        self._request_id = ""
        self._awaits: type[Event] | None = None
        self._n_turns = 0
        self._n_total = plan.n_runs
        self._runs: list[Run] = []
        self._failures: list[Failure] = []
        self._is_stopped = self._is_unloaded = False
        self._began = clock()
        self._load = machine.load_average()

    # ------------------------------------------------------------------------------ driving

    def next_command(self) -> Command | None:
        """Return what the engine is to do next; None: an answer is awaited, or all is over."""
        if self._awaits is not None or self._is_stopped:
            return None
        if not self._commands:
            self._prepare_turn()
        if not self._commands:
            return None
        command = self._commands.popleft()
        match command:
            case DescribeEngine():
                self._awaits = EngineDescribed
            case Calibrate():
                self._awaits, self._request_id = Calibrated, command.request_id
            case StartTurn():
                self._awaits, self._request_id = TurnFinished, command.turn_id
            case _:
                pass  # a reset has no answer
        return command

    def on_event(self, event: Event) -> None:
        """Take an event of the engine; those that belong to others are ignored."""
        match event:
            case EngineDescribed() if self._awaits is EngineDescribed:
                self._engine, self._awaits = event, None
            case Calibrated() if self._awaits is Calibrated:
                self._calibrated, self._awaits, self._request_id = event, None, ""
                if self._is_unloaded:
                    self._end("unloaded", event.problem, "Load the models again.")
            case TurnFinished() if event.turn_id == self._request_id:
                self._finished(event)
            case TurnFailed() if event.turn_id == self._request_id:
                self._failed(event.code, event.message, event.hint)
            case EngineDied():
                self._end("engine-died", event.reason, event.hint)
            case Unloaded():
                self._is_unloaded = True
            case _:
                pass
        # Where a failure was the reason, it is told behind it, as the answer that is awaited.
        if self._is_unloaded and self._awaits is None:
            self._end("unloaded", "The models were unloaded.", "Load them, and begin again.")

    def stop(self) -> None:
        """Make no further run; what is under way is not counted. Cancel `request_id` then."""
        self._is_stopped = True

    @property
    def request_id(self) -> str:
        """The reply or calibration that is under way, for `EngineClient.cancel`; empty: none."""
        return self._request_id

    @property
    def is_over(self) -> bool:
        """Whether no command will follow and no answer is awaited."""
        if self._awaits is not None:
            return False
        return self._is_stopped or not (self._commands or self._warm_up or self._cells)

    @property
    def n_repeats(self) -> int:
        """How often everything is measured."""
        return self._plan.n_repeats

    @property
    def progress(self) -> Progress:
        """How far it is."""
        left = self._forecast.left_s(self._cell, [*self._warm_up, *self._cells])
        is_warming = bool(self._warm_up) or self._cell is None or self._cell.repeat == 0
        n_done = len(self._runs)
        stage = "done" if self.is_over else "prepare" if is_warming and not n_done else "measure"
        return Progress(stage, n_done, self._n_total, self._cell, left)

    def result(self) -> Report:
        """Return what was measured so far."""
        target, draft = self._models
        costs = self._calibrated.costs if self._calibrated else ()
        about = machine.describe(self._engine, target, self._load)
        return summarise(
            self._plan,
            self._runs,
            self._failures,
            [cost for cost in costs if cost.n_samples],
            self._notes(),
            machine=about,
            target=machine.describe_model(target),
            draft=machine.describe_model(draft) if draft else None,
            wall_s=self._clock() - self._began,
            is_complete=len(self._runs) == self._plan.n_runs,
            kernels=target.kernels,
        )

    def _notes(self) -> list[str]:
        notes = []
        problem = self._calibrated.problem if self._calibrated else ""
        if problem and not self._is_unloaded:
            notes.append(
                f"What steps cost could not be measured before, so Auto had to learn it: {problem}"
            )
        if self._plan.is_fresh and any(map(is_controlled, self._plan.strategies)):
            notes.append("Auto began every reply without knowing how often drafts are accepted.")
        return notes

    # -------------------------------------------------------------------------------- turns

    def _prepare_turn(self) -> None:
        queue = self._warm_up or self._cells
        if not queue:
            return
        self._cell = cell = queue.popleft()
        self._n_turns += 1
        turn_id = f"{self._prefix}-{self._n_turns}"
        most = WARM_UP_TOKENS if cell.repeat == 0 else None
        turn = cell.workload.turn(turn_id, cell.strategy, most)
        self._commands.extend((Reset(keeps_rates=not self._plan.is_fresh), turn))

    def _finished(self, event: TurnFinished) -> None:
        cell = self._leave_turn()
        stats = event.stats
        if self._is_stopped:
            return
        if event.reason == "cancelled":  # somebody else's doing
            self._is_stopped = True
            return
        run = Run(
            cell.workload.name, cell.strategy, cell.repeat, event.tokens,
            stats.prefill_s, stats.decode_s, stats.n_prompt, stats.n_steps,
            stats.n_drafted, stats.n_accepted, stats.n_discarded, stats.batch_invariant,
            stats.n_generated / plain if (plain := stats.plain_tokens_per_s) else None,
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
        self._request_id, self._awaits = "", None
        assert cell is not None
        return cell

    def _end(self, code: str, message: str, hint: str) -> None:
        """Make no further run, because there is nothing to run on."""
        if self.is_over:
            return
        cell, self._cell = self._cell, None
        where = (cell.workload.name, cell.strategy) if cell else ("", "")
        self._failures.append(Failure(*where, code, message, hint))
        self._request_id, self._awaits, self._is_stopped = "", None, True
