"""`paceline chat`: load a pair, generate one reply, print it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, assert_never

from paceline.chat.last_run import LastRun, save_last_run
from paceline.cli.auto_layers import decide_layers, planner
from paceline.cli.chat_options import LOAD_ID, TURN_ID, ChatRequest, read_request
from paceline.cli.hub_models import with_local_files
from paceline.cli.interrupts import EXIT_CODE, Interrupts
from paceline.cli.output import Results, remark
from paceline.cli.printer import JsonPrinter, Printer, TextPrinter
from paceline.errors import UserError
from paceline.hosting.deaths import AGAIN, DIED
from paceline.messages import (
    Calibrated,
    ControlReported,
    EngineDescribed,
    EngineDied,
    Event,
    FiguresReported,
    Forgotten,
    LoadFailed,
    LoadProgressed,
    PairLoaded,
    PrefillProgressed,
    SamenessChanged,
    StepCommitted,
    TextDiverged,
    TokensCounted,
    TuneApplied,
    TuneRejected,
    TurnFailed,
    TurnFinished,
    TurnStarted,
    Unloaded,
)
from paceline.paths import Paths

if TYPE_CHECKING:
    import argparse

    from paceline.cli.auto_layers import Planner
    from paceline.hosting.client import EngineClient
    from paceline.messages import LoadPair

USAGE_CODES = frozenset(
    {
        "bad-grammar",
        "bad-json-schema",
        "bad-strategy",
        "context-too-long",
        "empty-prompt",
        "no-such-device",
        "no-such-role",
        "no-such-token",
        "value-out-of-range",
    }
)
"""Codes of the engine's `ValueOutOfRangeError`: wrong usage (exit code 2), not a failure."""


class TurnError(UserError):
    """The engine reported that load or turn failed."""

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(code, message, hint)
        if code in USAGE_CODES:
            self.exit_code = 2
        elif code == "cancelled":
            self.exit_code = EXIT_CODE


def run(args: argparse.Namespace) -> int:
    """Carry out the command; returns the exit code.

    Raises:
        UserError: It cannot be done; says why.
    """
    with Interrupts() as interrupts:
        paths = Paths.from_environment()
        request = read_request(args, paths)
        load = with_local_files(request.load, paths, lambda: interrupts.hit)
        request = replace(request, load=load)
        from paceline.hosting.inline import InlineClient
        from paceline.hosting.service import make_engine_service, make_process_service

        make_service = make_process_service if args.host == "process" else make_engine_service
        client = InlineClient(make_service)
        run = ChatRun(client, request, interrupts, as_json=args.json, plan=planner(paths))
        return run.run()


class ChatRun:
    """One load and one turn, seen by the listener of an inline client.

    `plan` decides the GPU layers that were left open; without it llama.cpp does.
    """

    def __init__(
        self,
        client: EngineClient,
        request: ChatRequest,
        interrupts: Interrupts,
        *,
        as_json: bool,
        plan: Planner | None = None,
    ) -> None:
        self._plan = plan
        self._client = client
        self._request = request
        self._interrupts = interrupts
        self._results = Results(on_lost=self._cancel)
        self._printer: Printer = (JsonPrinter if as_json else TextPrinter)(self._results)
        self._loaded: PairLoaded | None = None
        self._finished: TurnFinished | None = None
        self._error: TurnError | None = None

    def run(self) -> int:
        """Load, generate, close; returns the exit code."""
        for note in self._request.notes:
            remark(note)
        self._client.set_listener(self._on_event)
        self._interrupts.when_hit(self._cancel)
        try:
            if not self._interrupts.hit:
                self._client.submit(self._decided_load())
            if self._loaded and not self._interrupts.hit:
                self._client.submit(self._request.turn)
        finally:
            self._printer.close()
            self._client.close()
        self._keep_figures()
        self._results.check()
        return self._exit_code()

    def _decided_load(self) -> LoadPair:
        load = self._request.load
        if self._plan is not None:
            load, notes = decide_layers(load, self._client, self._plan)
            self._tell(notes)
            self._client.set_listener(self._on_event)
        return load

    def _keep_figures(self) -> None:
        folder = self._request.last_run_dir
        if folder is not None and self._loaded and self._finished:
            run = LastRun.of(self._finished, self._loaded.target, self._loaded.draft)
            save_last_run(folder, run)

    def _exit_code(self) -> int:
        if self._error is not None:
            raise self._error
        if self._results.error is not None:
            return 0  # whoever read the results has gone away
        if self._finished is None:
            raise TurnError("cancelled", "Stopped before the reply began.")
        return EXIT_CODE if self._finished.reason == "cancelled" else 0

    def _cancel(self) -> None:
        self._client.cancel(LOAD_ID)
        self._client.cancel(TURN_ID)

    def _on_event(self, event: Event) -> None:
        if self._interrupts.hit:  # it may have come when there was nothing to cancel yet
            self._cancel()
        match event:
            case LoadProgressed() | PrefillProgressed():
                self._printer.progress(event)
            case PairLoaded():
                self._loaded = event
                self._tell(event.notes)
            case TurnStarted():
                self._tell(event.notes)
            case StepCommitted():
                self._printer.step(event)
            case ControlReported():
                self._printer.control(event)
            case TurnFinished():
                self._finished = event
                self._printer.finished(event)
            case LoadFailed() | TurnFailed():
                self._error = TurnError(event.code, event.message, event.hint)
            case EngineDied():
                # There is no next message here, which a window would start the engine with.
                hint = event.hint.replace(AGAIN, "Run the command again.")
                self._error = TurnError(DIED, event.reason, hint)
            case TuneRejected():
                remark(f"{event.message} {event.hint}")  # a drafter failed on the way
            case (
                EngineDescribed() | Unloaded() | TuneApplied() | TokensCounted() | Forgotten()
                | TextDiverged() | Calibrated() | SamenessChanged() | FiguresReported()
            ):  # fmt: skip
                pass  # nobody asked
            case _:
                assert_never(event)

    @staticmethod
    def _tell(notes: tuple[str, ...]) -> None:
        for note in notes:
            remark(note)
