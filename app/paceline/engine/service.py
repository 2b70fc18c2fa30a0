"""Commands in, events out: the engine as one object, whoever hosts it.

`handle` carries a command out and returns when it is done; it runs on one thread, which owns both
models. Between two steps of a reply it looks for a `Tune`; cancelling is a flag. Whatever goes
wrong in a load or a turn becomes an event here.

Long, because it is the one place where commands become events.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Literal

from paceline.engine.answers import no_model, not_running
from paceline.engine.backend import Backend, LanguageModel
from paceline.engine.calibration import IdleCalibration
from paceline.engine.cancel import CancelFlag
from paceline.engine.catching_up import CatchingUp
from paceline.engine.control.costs import MAX_WIDTH
from paceline.engine.counting import count_tokens
from paceline.engine.drafters.registry import available
from paceline.engine.facts import Facts
from paceline.engine.failures import describe_failure
from paceline.engine.forgetting import forget
from paceline.engine.full_calibration import calibrated
from paceline.engine.heap import give_back_freed_memory
from paceline.engine.known_costs import keep_costs, recall_costs
from paceline.engine.native import llama_backend
from paceline.engine.pair import LoadedPair
from paceline.engine.self_test import self_test
from paceline.engine.stats import Activity, activity_of
from paceline.engine.thread_choice import ThreadChooser
from paceline.engine.thread_choice import note as thread_note
from paceline.engine.turn import Turn
from paceline.engine.vocabulary_fit import vocabulary_mismatch
from paceline.errors import CancelledError, ModelError
from paceline.messages import (
    Calibrate,
    CancelTurn,
    Command,
    CountTokens,
    DescribeEngine,
    Event,
    Forget,
    Forgotten,
    LoadFailed,
    LoadPair,
    LoadProgressed,
    ModelParams,
    PairLoaded,
    Reset,
    Sameness,
    SamenessChanged,
    Shutdown,
    StartTurn,
    Tune,
    TurnFailed,
    Unload,
    Unloaded,
)


class EngineService:
    """Holds at most one pair and runs at most one turn.

    Args:
        emit: Takes every event, on the thread that calls `handle`.
        take_tune: Returns a waiting `Tune` for the turn, if there is one; called between steps.
        cancel: Polled by everything that may take long.
        backend: Makes the backend at first use; None takes llama.cpp.
    """

    def __init__(
        self,
        emit: Callable[[Event], None],
        *,
        take_tune: Callable[[str], Tune | None],
        cancel: CancelFlag,
        backend: Callable[[], Backend] | None = None,
    ) -> None:
        self._emit = emit
        self._take_tune = take_tune
        self._cancel = cancel
        self._make_backend = backend or llama_backend
        self._backend: Backend | None = None
        self._pair: LoadedPair | None = None
        self._opening: tuple[LanguageModel, ...] = ()
        self._calibration: IdleCalibration | None = None
        self._catching_up: CatchingUp | None = None
        self._told: tuple[bool | None, str] = None, ""

    def handle(self, command: Command) -> None:
        """Carry out one command; every failure of a load or a turn becomes an event.

        Raises:
            Exception: The native library cannot even be loaded or asked what it is.
        """
        match command:
            case LoadPair():
                self._load(command)
            case StartTurn():
                self._start_turn(command)
            case Tune() | DescribeEngine() | CountTokens() | Forget():
                self._emit(self._answer(command))
            case Calibrate():
                self._calibrate(command)
            case Reset():
                if self._pair is not None:
                    self._pair.forget(keeps_rates=command.keeps_rates)
            case Unload():
                self._unload()
                self._emit(Unloaded())
            case Shutdown():
                self._unload()
            case CancelTurn():
                pass  # the inbox has set the flag already

    def _answer(self, command: Tune | DescribeEngine | CountTokens | Forget) -> Event:
        match command:
            case Tune():
                return not_running(command)
            case DescribeEngine():
                return self._get_backend().describe()
            case CountTokens():
                return count_tokens(self._pair, command)
            case Forget():
                return self._forget(command)

    # ---------------------------------------------------------------------------------- load

    def _get_backend(self) -> Backend:
        if self._backend is None:
            self._backend = self._make_backend()
        return self._backend

    def _unload(self) -> None:
        self._calibration = self._catching_up = None
        if self._pair:
            keep_costs(self._pair)
            self._pair.close()
            self._pair = None
            give_back_freed_memory()

    def _load(self, command: LoadPair) -> None:
        began = time.perf_counter()
        try:
            if self._cancel.is_set():  # stopped while it was waiting: what is loaded stays
                raise CancelledError
            self._unload()
            self._pair = self.open_pair(command)
        except Exception as error:
            smaller_ctx = error.smaller_ctx if isinstance(error, ModelError) else 0
            failure = describe_failure(error)
            self._emit(LoadFailed(command.request_id, *failure, smaller_ctx=smaller_ctx))
            return
        finally:
            self._opening = ()
        self._calibration = IdleCalibration(self._pair, is_known=recall_costs(self._pair))
        self._catching_up = CatchingUp(self._pair)
        target, draft = self._pair.target.model, self._pair.draft
        sameness = self._pair.promise.sameness
        self._told = sameness.holds, sameness.basis
        self._emit(
            PairLoaded(
                command.request_id,
                target.info,
                draft.model.info if draft else None,
                time.perf_counter() - began,
                (*_load_notes(self._pair), *self._pair.notes),
                sameness,
            )
        )

    def open_pair(self, command: LoadPair) -> LoadedPair:
        """Load a pair for whoever asks; `handle` keeps the one that it loads itself.

        Raises:
            UserError: A model cannot be used, or the two do not fit together.
            CancelledError: The flag was set.
        """
        facts = Facts(command.cache_dir)
        told = self._get_backend().choose_kernels(
            command.kernels, facts, command.cache_dir, self._cancel
        )
        target = self._load_model(command, command.target, "target")
        draft: LanguageModel | None = None
        try:
            if command.draft:
                draft = self._load_model(command, command.draft, "draft")
                mismatch = vocabulary_mismatch(target.vocab, draft.vocab)
                if mismatch:
                    raise ModelError(
                        "vocabulary-mismatch",
                        f"“{draft.info.name}” cannot draft for “{target.info.name}”: "
                        f"{mismatch.text}.",
                        "Take a smaller model of the target's own family, or prompt-lookup, which "
                        "needs none.",
                    )
            notes = (*told, *_choose_threads(command, target, draft, facts))
            pair = LoadedPair(
                target,
                draft,
                facts,
                memory_dir=command.memory_dir,
                lookup_cache=command.lookup_cache,
                is_exact=command.exact,
            )
            pair.promise.measure()
            pair.notes = notes
            return pair
        except BaseException:
            if draft:
                draft.close()
            target.close()
            raise

    def _load_model(
        self, command: LoadPair, params: ModelParams, stage: Literal["target", "draft"]
    ) -> LanguageModel:
        """Load one model and see it decode; by then, its load has been told as complete."""
        last = -1.0

        def progress(fraction: float) -> None:
            nonlocal last
            if fraction - last >= 0.01 or fraction >= 1:
                last = fraction
                self._emit(LoadProgressed(command.request_id, stage, fraction))

        progress(0.0)  # so that a crash before the library's first word is not another model's
        n_rows = 1 if stage == "draft" else MAX_WIDTH
        model = self._get_backend().load(
            params, n_rows=n_rows, cancel=self._cancel, progress=progress
        )
        self._opening = (*self._opening, model)
        try:
            if last < 1:
                progress(1.0)
            model.can_rollback = self_test(model)
            uses = model.kernel_uses() if stage == "target" else ()
            model.info = replace(model.info, can_rollback=model.can_rollback, kernels=uses)
        except BaseException:
            model.close()
            raise
        return model

    # ---------------------------------------------------------------------------------- turn

    def _start_turn(self, command: StartTurn) -> None:
        if self._pair is None:
            self._emit(no_model(command.turn_id))
            return
        try:
            seed = secrets.randbits(32) if command.seed is None else command.seed
            if self._pair.settle():
                self._calibration = IdleCalibration(self._pair, is_known=recall_costs(self._pair))
                self._tell(self._pair.promise.sameness)
            Turn(
                self._pair,
                command,
                seed,
                self._emit,
                take_tune=self._take_tune,
                cancel=self._cancel,
            ).run()
        except Exception as error:
            failure = describe_failure(error)
            if self._pair is not None and self._pair.is_lost:
                # Told first: whoever asks again on hearing of the failure must load first.
                self._unload()
                self._emit(Unloaded())
            self._emit(TurnFailed(command.turn_id, *failure))

    # ------------------------------------------------------------------------------ learning

    def _forget(self, command: Forget) -> Forgotten:
        if self._pair is not None:
            self._pair.kept.clear()  # indexes of chats, which are built again where they are needed
        if not command.memory_dir:  # which must not be the current folder
            return Forgotten(command.chat)
        return Forgotten(command.chat, forget(Path(command.memory_dir), command.chat, available()))

    # ---------------------------------------------------------------------------- measuring

    def idle(self) -> bool:
        """Measure what steps cost, let the draft model catch up, or compare rows: a little of it.

        False: nothing is left to do.

        Setting the flag stops it at once, and changes nothing about the next reply.

        Raises:
            ComputeFailedError: Neither contexts nor device can be trusted any more.
        """
        if self._calibration is not None and self._calibration.slice():
            return True
        if self._catching_up is not None and self._catching_up.slice():
            return True
        if self._pair is None or not self._pair.look():
            return False
        sameness = self._pair.promise.sameness
        if (sameness.holds, sameness.basis) != self._told:
            self._tell(sameness)
        return True

    def _tell(self, sameness: Sameness) -> None:
        self._told = sameness.holds, sameness.basis
        self._emit(SamenessChanged(sameness))

    def _calibrate(self, command: Calibrate) -> None:
        answer = calibrated(self._pair, command)
        if self._pair is not None and self._pair.is_lost:
            self._unload()
            self._emit(Unloaded())
        elif self._pair is not None and not answer.problem:
            self._calibration = None
        self._emit(answer)

    # ------------------------------------------------------------------------------ watching

    @property
    def own_kernels(self) -> str:
        """The build of own kernels that is switched on; empty: none is. Any thread may ask."""
        backend = self._backend
        return backend.own_kernels if backend is not None else ""

    def activity(self) -> Activity | None:
        """Return the native decode that is running; None: there is none, or Python is at work.

        Any thread may ask at any time. It looks at attributes that the engine's thread replaces
        and never changes, so it takes no lock and waits for nothing. Models that are being loaded
        count from the moment that their weights are there.
        """
        pair = self._pair
        return activity_of((*self._opening, *(pair.models if pair else ())))


def _choose_threads(
    command: LoadPair, target: LanguageModel, draft: LanguageModel | None, facts: Facts
) -> tuple[str, ...]:
    """Choose the counts that were left open; returns what is to be told about them."""
    chooser = ThreadChooser(facts)
    choices = [(target, chooser.choose(target, command.target))]
    if draft and command.draft:
        choices.append((draft, chooser.choose(draft, command.draft, target)))
    return tuple(thread_note(model.info.name, choice) for model, choice in choices if choice)


def _load_notes(pair: LoadedPair) -> tuple[str, ...]:
    target, draft = pair.target.model, pair.draft.model if pair.draft else None
    notes = []
    if not target.info.has_template:
        notes.append("The file has no chat template; ChatML is used, which most models know.")
    if not target.can_rollback:
        notes.append("This model cannot take tokens back, so it runs without speculation.")
    if draft and draft.n_ctx < target.n_ctx:
        notes.append(
            f"The draft model's context ends at {draft.n_ctx} tokens; longer chats go on plainly."
        )
    sameness = pair.promise.sameness
    if sameness.is_exact:  # asked for, so it is to say what it does
        notes.append(sameness.words)
    return tuple(notes)
