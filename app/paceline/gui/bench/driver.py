"""Runs a benchmark on the window's own engine, beside the session.

`paceline.bench.runner` yields the next command, which is requested here as idle work: a reply that
the user requests interrupts it, and it is requested again after the reply. The results do not
change by that. Its turns belong to no chat and are not stored. It ends with the results so far when
the engine dies or other models are loaded. Lives on the session's thread.
"""

from __future__ import annotations

from functools import partial
from typing import Literal, Protocol

from paceline.bench.plan import Plan
from paceline.bench.runner import BenchRun, Progress
from paceline.bench.runs import Report
from paceline.chat.pair import PairLoader
from paceline.chat.session import ChatSession
from paceline.hosting.broker import Priority, Ticket
from paceline.hosting.client import EngineClient
from paceline.messages import (
    Calibrated,
    Command,
    DescribeEngine,
    EngineDied,
    Event,
    Reset,
    StartTurn,
    TurnFailed,
    TurnFinished,
)

Ending = Literal["done", "stopped", "died", "other-models"]
"""Reasons why a benchmark is over: complete, cancelled, or its engine or its models are gone."""


class BenchListener(Protocol):
    """Listener to a benchmark; called on the session's thread."""

    def bench_progressed(self) -> None:
        """Receive progress: something was measured, has begun, or is paused."""

    def bench_ended(self, report: Report, ending: Ending, reason: str) -> None:
        """Receive the end; `reason` is the engine's own sentence, where it has one."""


class BenchDriver:
    """Runs a benchmark; at most one at a time."""

    def __init__(
        self,
        client: EngineClient,
        session: ChatSession,
        loader: PairLoader,
        listener: BenchListener,
    ) -> None:
        self._client = client
        self._session = session
        self._loader = loader
        self._listener = listener
        self._run: BenchRun | None = None
        self._command: Command | None = None
        self._ticket: Ticket | None = None
        self._is_overtaken = False
        self._stops = False
        client.watch(self._on_engine)

    @property
    def is_running(self) -> bool:
        """Return whether a benchmark is running, paused or not."""
        return self._run is not None

    @property
    def is_paused(self) -> bool:
        """Return whether it waits for a reply to be written."""
        return self._run is not None and self._session.active is not None

    @property
    def progress(self) -> Progress | None:
        """Progress of the running benchmark, or None."""
        return self._run.progress if self._run is not None else None

    def report(self) -> Report | None:
        """Return the results so far of the running benchmark, or None without one."""
        return self._run.result() if self._run is not None else None

    def start(self, plan: Plan) -> bool:
        """Start; return False if a benchmark is running already or no models are loaded."""
        state = self._loader.state
        if self._run is not None or state.status != "ready" or state.target is None:
            return False
        self._run = BenchRun(plan, state.target, state.draft, settings=state.pair)
        self._command = self._ticket = None
        self._is_overtaken = self._stops = False
        self._go_on()
        return True

    def stop(self) -> None:
        """Stop with the results so far; the listener is called when the engine has stopped."""
        run = self._run
        if run is None or self._stops:
            return
        self._stops = True
        run.stop()
        if self._ticket is None or isinstance(self._command, DescribeEngine):
            self._end("stopped")
        else:
            self._ticket.cancel()

    def reply_began(self) -> None:
        """Pause for a requested reply: the next run would not directly follow its reset."""
        ticket = self._ticket
        if ticket and ticket.state == "waiting" and isinstance(self._command, StartTurn):
            self._is_overtaken = True
            ticket.cancel()
        if self._run is not None:
            self._listener.bench_progressed()

    def reply_ended(self) -> None:
        """Continue after the reply."""
        self._go_on()
        if self._run is not None:
            self._listener.bench_progressed()

    def models_changed(self) -> None:
        """End for other models, or none: further figures would be of another pair."""
        run = self._run
        if run is None or self._loader.state.status in ("ready", "dead"):
            return
        if self._ticket is not None:
            self._ticket.cancel()
        self._end("other-models")

    # ------------------------------------------------------------------------------- private

    def _go_on(self) -> None:
        """Request the next command, unless a reply is being written."""
        run = self._run
        if run is None or self._ticket is not None or self._session.active is not None:
            return
        if self._command is not None:  # the interrupted command
            if isinstance(self._command, StartTurn):
                self._request(Reset())
            self._request(self._command)
            return
        while (command := run.next_command()) is not None:
            self._request(command)
        if run.is_over:
            self._end("done")

    def _request(self, command: Command) -> None:
        hear = partial(self._on_event, command)
        ticket = self._client.request(command, Priority.IDLE, hear, "benchmark")
        if not isinstance(command, Reset):  # it has no answer
            self._command, self._ticket = command, ticket

    def _on_engine(self, event: Event) -> None:
        run = self._run
        if run is not None and isinstance(event, EngineDied):
            run.on_event(event)
            self._end("died", event.reason)

    def _on_event(self, command: Command, event: Event) -> None:
        """Handle an answer; `_end` already knows of a dead engine or other models."""
        run, ticket = self._run, self._ticket
        if run is None or ticket is None or command is not self._command:
            return
        if event is not ticket.answer:
            return
        self._ticket = None
        if self._stops:
            self._end("stopped")
            return
        gave_way, self._is_overtaken = ticket.gave_way or self._is_overtaken, False
        if gave_way and _was_cancelled(event):
            self._go_on()
            return
        self._command = None
        run.on_event(event)
        self._go_on()
        if self._run is not None:
            self._listener.bench_progressed()

    def _end(self, ending: Ending, reason: str = "") -> None:
        run, self._run = self._run, None
        assert run is not None
        if ending in ("done", "stopped") and self._session.active is None:
            # The user's Auto must not keep what it learned of these prompts.
            self._client.request(Reset())
        self._command = self._ticket = None
        self._listener.bench_ended(run.result(), ending, reason)


def _was_cancelled(event: Event) -> bool:
    match event:
        case Calibrated():
            return bool(event.problem)  # it persists, so it is reported again
        case TurnFinished():
            return event.reason == "cancelled"
        case TurnFailed():
            return event.code == "cancelled"
        case _:
            return False
