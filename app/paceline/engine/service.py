"""The engine as one object: receives commands and emits events, the same in every host.

`handle` carries out a command and returns when it is done; it runs on one thread, which owns both
models. Between two steps of a reply it checks for a `Tune` or a `Remember`; cancelling works by a
flag. Every failure of a load or a turn becomes an event here.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from paceline.engine.aside import say_aside
from paceline.engine.cancel import CancelFlag
from paceline.engine.encoding import encode
from paceline.engine.facts import Facts
from paceline.engine.idle import IdleWork
from paceline.engine.last_prompts import LastPrompts
from paceline.engine.measure.calibration import calibrated
from paceline.engine.measure.known import keep_costs
from paceline.engine.measure.reading import machine_reading
from paceline.engine.model.backend import Backend
from paceline.engine.model.rpc_servers import RpcServerError
from paceline.engine.model.state_files import drop_files
from paceline.engine.native import give_back_freed_memory, llama_backend
from paceline.engine.opening import PairOpening
from paceline.engine.pair import LoadedPair
from paceline.engine.read_ahead import read_ahead
from paceline.engine.refusals import describe_failure, no_model, not_running
from paceline.engine.request import count_tokens, render_prompt
from paceline.engine.stats import Activity
from paceline.engine.turn import Turn
from paceline.errors import CancelledError, ModelError
from paceline.messages import (
    AsideAnswered,
    Calibrate,
    Cancel,
    Command,
    CountTokens,
    DescribeEngine,
    DropStates,
    Encode,
    Event,
    LoadFailed,
    LoadPair,
    MeasureReading,
    PairLoaded,
    ReadAhead,
    ReadAheadEnded,
    ReadingMeasured,
    Remember,
    Remembered,
    RenderPrompt,
    Reset,
    Sameness,
    SamenessChanged,
    SayAside,
    Shutdown,
    StartTurn,
    StatesDropped,
    Tune,
    TurnFailed,
    Unload,
    Unloaded,
)

_T = TypeVar("_T")
_log = logging.getLogger(__name__)


class EngineService:
    """Holds at most one pair and runs at most one turn.

    Args:
        emit: Called with every event, on the thread that calls `handle`.
        take_between: Returns a waiting command that can be carried out between two steps of the
            running turn, or None.
        cancel: Flag that is polled by all long work.
        backend: Factory of the backend, called at first use; None for llama.cpp.
    """

    def __init__(
        self,
        emit: Callable[[Event], None],
        *,
        take_between: Callable[[], Tune | Remember | DropStates | None],
        cancel: CancelFlag,
        backend: Callable[[], Backend] | None = None,
    ) -> None:
        self._emit = emit
        self._take_between = take_between
        self._cancel = cancel
        self._make_backend = backend or llama_backend
        self._backend: Backend | None = None
        self._pair: LoadedPair | None = None
        self._last_prompts = LastPrompts()
        self._opening: PairOpening | None = None
        self._idle_work: IdleWork | None = None
        self._reported: tuple[bool | None, str] = None, ""

    def handle(self, command: Command) -> None:
        """Carry out one command; every failure of a load or a turn becomes an event.

        Raises:
            Exception: The native library cannot be loaded or described.
        """
        match command:
            case LoadPair():
                self._load(command)
            case StartTurn():
                self._start_turn(command)
            case (
                Tune()
                | DescribeEngine()
                | CountTokens()
                | RenderPrompt()
                | Encode()
                | SayAside()
                | ReadAhead()
            ):
                self._emit(self._answer(command))
            case MeasureReading(cache_dir=folder):
                reading = machine_reading(self._get_backend(), Facts(folder), self._cancel)
                self._emit(ReadingMeasured(reading))
            case Remember() | DropStates():
                self._let_know(command)
            case Calibrate():
                self._calibrate()
            case Reset():
                if self._pair is not None:
                    self._leave_text()
                    self._pair.forget(keeps_rates=command.keeps_rates)
            case Unload():
                self._unload()
                self._emit(Unloaded())
            case Shutdown():
                self._unload()
            case Cancel():
                pass  # the broker has set the flag already

    def _answer(
        self,
        command: Tune | DescribeEngine | CountTokens | RenderPrompt | Encode | SayAside | ReadAhead,
    ) -> Event:
        match command:
            case Tune():
                return not_running(command.strategy)
            case DescribeEngine(servers=servers):
                return self._get_backend().describe(servers)
            case CountTokens():
                return count_tokens(self._pair, command)
            case RenderPrompt():
                return render_prompt(self._pair, command)
            case Encode():
                return encode(self._pair, command)
            case SayAside():
                saying = partial(say_aside, command=command, cancel=self._cancel)
                return AsideAnswered(self._unasked(saying, ""))
            case ReadAhead(turn=turn):
                ahead = partial(read_ahead, turn=turn, tell=self._emit, cancel=self._cancel)
                return self._unasked(ahead, ReadAheadEnded())

    # ---------------------------------------------------------------------------------- load

    def _get_backend(self) -> Backend:
        if self._backend is None:
            self._backend = self._make_backend()
        return self._backend

    def _unload(self) -> None:
        self._idle_work = None
        if self._pair:
            keep_costs(self._pair)
            self._pair.close()
            self._pair = None
            give_back_freed_memory()

    def _load(self, command: LoadPair) -> None:
        began = time.perf_counter()
        try:
            if self._cancel.is_set():  # stopped while waiting: the loaded pair stays
                raise CancelledError
            self._unload()
            self._opening = PairOpening(self._get_backend, self._emit, self._cancel)
            self._pair = self._opening.open(command)
        except Exception as error:
            smaller_ctx = error.smaller_ctx if isinstance(error, ModelError) else 0
            lost = error.problems if isinstance(error, RpcServerError) else ()
            failure = describe_failure(error)
            self._emit(LoadFailed(*failure, smaller_ctx=smaller_ctx, lost=lost))
            return
        finally:
            self._opening = None
        self._last_prompts.begin_load()
        self._pair.last_prompts = self._last_prompts
        self._idle_work = IdleWork(self._pair)
        target, draft = self._pair.target.model, self._pair.draft
        sameness = self._pair.promise.sameness
        self._reported = sameness.holds, sameness.basis
        self._emit(
            PairLoaded(
                target.info,
                draft.model.info if draft else None,
                time.perf_counter() - began,
                self._pair.notes,
                sameness,
                self._pair.memory,
            )
        )

    # ---------------------------------------------------------------------------------- turn

    def _start_turn(self, command: StartTurn) -> None:
        if self._pair is None:
            self._emit(no_model())
            return
        try:
            seed = secrets.randbits(32) if command.seed is None else command.seed
            if self._pair.choose_widths() and self._idle_work is not None:
                self._idle_work.calibrate_anew()
                self._emit_sameness(self._pair.promise.sameness)
            turn = Turn(
                self._pair,
                command,
                seed,
                self._emit,
                take_tune=self._take_tune,
                cancel=self._cancel,
            )
            for _ in turn.run():  # every step has been emitted already
                pass
            self._end_states()
        except Exception as error:
            failure = describe_failure(error)
            self._end_states()
            self._leave_lost()  # after the event: a program that then asks again must load first
            self._emit(TurnFailed(*failure))

    def _end_states(self) -> None:
        if self._pair is not None and self._pair.states is not None and not self._pair.is_lost:
            self._pair.states.end()

    def _leave_lost(self) -> None:
        """Free a pair that can no longer be used."""
        if self._pair is not None and self._pair.is_lost:
            self._unload()
            self._emit(Unloaded())

    def _unasked(self, work: Callable[[LoadedPair], _T], otherwise: _T) -> _T:
        """Return the result of idle-time work, or `otherwise` if it fails."""
        try:
            if self._pair is not None:
                return work(self._pair)
        except Exception:
            _log.exception("work in idle time has failed")
            self._leave_lost()
        return otherwise

    def _take_tune(self) -> Tune | None:
        """Carry out commands that need not wait for the turn's end; return one for the turn."""
        while isinstance(command := self._take_between(), (Remember, DropStates)):
            self._let_know(command)
        return command

    def _let_know(self, command: Remember | DropStates) -> None:
        if isinstance(command, Remember):
            self._remember(command)
        else:
            self._forget_states(command)

    def _forget_states(self, command: DropStates) -> None:
        self._last_prompts.forget(command.owners)
        if self._pair is not None and self._pair.states is not None:
            self._pair.states.forget(command.owners)
        drop_files(command.folder, command.owners)
        self._emit(StatesDropped())

    def _remember(self, command: Remember) -> None:
        if self._pair is None:
            return  # the sender sends its texts again after a load
        self._pair.earlier.put(command.chat, command.texts)
        if not (command.texts or command.makes_room):
            self._pair.kept.clear()  # indexes of chats, which are built again when needed
        while command.at_once and not self._cancel.is_set() and self._pair.earlier.slice():
            pass
        self._emit(Remembered(command.chat))

    # ---------------------------------------------------------------------------- measuring

    def idle(self) -> bool:
        """Do one slice of idle work: measure costs, catch up the draft model, index, compare rows.

        Returns:
            False if nothing is left to do.

        Setting the flag stops it at once, and changes nothing about the next reply.

        Raises:
            ComputeFailedError: Neither contexts nor device can be trusted any more.
        """
        if self._idle_work is None or self._pair is None or not self._idle_work.slice():
            return False
        self._emit_if_new(self._pair)
        return True

    def _emit_if_new(self, pair: LoadedPair) -> None:
        sameness = pair.promise.sameness
        if (sameness.holds, sameness.basis) != self._reported:
            self._emit_sameness(sameness)

    def _emit_sameness(self, sameness: Sameness) -> None:
        self._reported = sameness.holds, sameness.basis
        self._emit(SamenessChanged(sameness))

    def _leave_text(self) -> None:
        """Store the states of what the contexts hold, which are emptied next."""
        if self._pair is not None and self._pair.states is not None and not self._pair.is_lost:
            self._pair.states.leave()

    def _calibrate(self) -> None:
        self._leave_text()
        answer = calibrated(self._pair)
        if self._pair is not None and self._pair.is_lost:
            self._unload()
            self._emit(Unloaded())
        elif self._idle_work is not None and self._pair is not None and not answer.problem:
            self._idle_work.stop_calibrating()
            self._emit_if_new(self._pair)
        self._emit(answer)

    # ------------------------------------------------------------------------------ watching

    @property
    def own_kernels(self) -> str:
        """The build of active own kernels; empty if none is active. Any thread may read it."""
        backend = self._backend
        return backend.own_kernels if backend is not None else ""

    def activity(self) -> Activity | None:
        """Return the native decode that is running, or None if there is none or Python is at work.

        Any thread may call it at any time. It reads attributes that the engine's thread replaces
        and never modifies, so it takes no lock and waits for nothing. Models that are being loaded
        count as soon as their weights are loaded.
        """
        pair, opening = self._pair, self._opening
        loading = opening.models if opening is not None else ()
        for model in (*loading, *(pair.models if pair else ())):
            running = model.decoding  # read once: it may change at any time
            if running is not None:
                return Activity(*running)
        return None
