"""Runs a benchmark on the window's own engine, beside the session.

`paceline.bench.runner` says what comes next; here that is submitted, and a reply that the user asks
for goes first: what is under way is cancelled, and repeated after the reply is written. The
benchmark does not notice. Its turns belong to no chat and nothing is remembered. It ends,
with what it has, when the engine dies or other models are loaded. Lives on the session's thread.
"""

from __future__ import annotations

from typing import Literal, Protocol

from msgspec import structs

from paceline.bench.plan import Plan
from paceline.bench.runner import BenchRun, Progress
from paceline.bench.runs import Report
from paceline.chat.pair import PairLoader
from paceline.chat.session import ChatSession
from paceline.hosting.client import EngineClient
from paceline.messages import (
    Calibrate,
    Calibrated,
    Command,
    EngineDied,
    Event,
    Reset,
    StartTurn,
    TurnFailed,
    TurnFinished,
    Unloaded,
)

Ending = Literal["done", "stopped", "died", "other-models"]
"""Why a benchmark is over: it is complete, was cancelled, or its engine or its models are gone."""


class BenchListener(Protocol):
    """Shows the benchmark; called on the session's thread."""

    def bench_progressed(self) -> None:
        """Something was measured, begun, or is paused."""

    def bench_ended(self, report: Report, ending: Ending, reason: str) -> None:
        """No more will be measured; `reason` is the engine's own sentence, where it has one."""


class BenchDriver:
    """At most one benchmark at a time."""

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
        self._command: StartTurn | Calibrate | None = None
        self._request_id = ""
        self._n_tries = 0
        self._gives_way = False
        self._stops = False
        client.set_listener(self._on_event)

    @property
    def is_running(self) -> bool:
        """Whether a benchmark is under way, paused or not."""
        return self._run is not None

    @property
    def is_paused(self) -> bool:
        """Whether it waits for a reply to be written."""
        return self._run is not None and self._session.active is not None

    @property
    def progress(self) -> Progress | None:
        """How far it is; None: nothing is under way."""
        return self._run.progress if self._run is not None else None

    def report(self) -> Report | None:
        """What was measured so far; None: nothing is under way."""
        return self._run.result() if self._run is not None else None

    def start(self, plan: Plan) -> bool:
        """Begin; False: one is under way already, or no models are loaded."""
        state = self._loader.state
        if self._run is not None or state.status != "ready" or state.target is None:
            return False
        self._run = BenchRun(plan, state.target, state.draft, settings=state.pair)
        self._command, self._request_id = None, ""
        self._gives_way = self._stops = False
        self._go_on()
        return True

    def stop(self) -> None:
        """End it with what it has; the listener is called when the engine has stopped."""
        run = self._run
        if run is None or self._stops:
            return
        self._stops = True
        run.stop()
        if self._request_id:
            self._client.cancel(self._request_id)
        else:
            self._end("stopped")

    def reply_began(self) -> None:
        """A reply is requested: interrupt the measurement for it."""
        if self._request_id and not self._gives_way:
            self._gives_way = True
            self._client.cancel(self._request_id)
        if self._run is not None:
            self._listener.bench_progressed()

    def reply_ended(self) -> None:
        """The reply has ended: go on."""
        self._go_on()
        if self._run is not None:
            self._listener.bench_progressed()

    def models_changed(self) -> None:
        """Other models are being loaded, or none: what is measured from now on is another pair."""
        run = self._run
        if run is None or self._loader.state.status in ("ready", "dead"):
            return
        if self._request_id:
            self._client.cancel(self._request_id)
        self._end("other-models")

    # ------------------------------------------------------------------------------- private

    def _go_on(self) -> None:
        """Submit what comes next, unless a reply is being written."""
        run = self._run
        if run is None or self._request_id or self._session.active is not None:
            return
        if self._command is not None:  # what was interrupted
            if isinstance(self._command, StartTurn):
                self._client.submit(Reset())
            self._submit(self._command)
            return
        while (command := run.next_command()) is not None:
            self._submit(command)
        if run.is_over:
            self._end("done")

    def _submit(self, command: Command) -> None:
        """Submit it under a name of its own, so that a cancelled try is not taken for this one."""
        if isinstance(command, StartTurn):
            self._request_id = f"{command.turn_id}-{self._n_tries}"
            named: Command = structs.replace(command, turn_id=self._request_id)
        elif isinstance(command, Calibrate):
            self._request_id = f"{command.request_id}-{self._n_tries}"
            named = structs.replace(command, request_id=self._request_id)
        else:
            self._client.submit(command)
            return
        self._n_tries += 1
        self._command = command
        self._client.submit(named)

    def _on_event(self, event: Event) -> None:
        run = self._run
        if run is None:
            return
        if isinstance(event, EngineDied):
            run.on_event(event)
            self._end("died", event.reason)
        elif isinstance(event, (TurnFinished, TurnFailed)):
            if event.turn_id == self._request_id:
                self._on_answer(run, event)
        elif isinstance(event, Calibrated):
            if event.request_id == self._request_id:
                self._on_answer(run, event)
        elif not isinstance(event, Unloaded):  # `models_changed` hears of that
            run.on_event(event)
            self._go_on()

    def _on_answer(self, run: BenchRun, event: TurnFinished | TurnFailed | Calibrated) -> None:
        command = self._command
        assert command is not None
        self._request_id = ""
        if self._stops:
            self._end("stopped")
            return
        gave_way, self._gives_way = self._gives_way, False
        if gave_way and _was_cancelled(event):
            self._go_on()
            return
        self._command = None
        if isinstance(command, StartTurn) and not isinstance(event, Calibrated):
            event = structs.replace(event, turn_id=command.turn_id)
        run.on_event(event)
        self._go_on()
        if self._run is not None:
            self._listener.bench_progressed()

    def _end(self, ending: Ending, reason: str = "") -> None:
        run, self._run = self._run, None
        assert run is not None
        if ending in ("done", "stopped") and self._session.active is None:
            self._client.submit(Reset())  # what Auto learned of these prompts is not the user's
        self._command, self._request_id = None, ""
        self._listener.bench_ended(run.result(), ending, reason)


def _was_cancelled(event: TurnFinished | TurnFailed | Calibrated) -> bool:
    if isinstance(event, Calibrated):
        return bool(event.problem)  # present in any case, so it is reported again
    return (event.reason if isinstance(event, TurnFinished) else event.code) == "cancelled"
