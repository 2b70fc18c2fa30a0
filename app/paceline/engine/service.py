"""Commands in, events out: the engine as one object, the same in every host.

`handle` carries a command out and returns when it is done; it runs on one thread, which owns both
models. Between two steps of a reply it looks for a `Tune` or a `Remember`; cancelling is a flag.
Every failure of a load or a turn becomes an event here.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Literal, TypeVar

from msgspec import structs

from paceline.engine.aside import say_aside
from paceline.engine.auto.costs import MAX_WIDTH
from paceline.engine.cancel import CancelFlag
from paceline.engine.draft.heads import head_title
from paceline.engine.encoding import encode
from paceline.engine.facts import Facts
from paceline.engine.idle import IdleWork
from paceline.engine.last_prompts import LastPrompts
from paceline.engine.measure.calibration import calibrated
from paceline.engine.measure.known import keep_costs, recall_acceptance
from paceline.engine.measure.reading import machine_reading
from paceline.engine.measure.thread_choice import ThreadChooser
from paceline.engine.measure.thread_choice import note as thread_note
from paceline.engine.model.backend import Backend, LanguageModel
from paceline.engine.model.context import BatchWidths
from paceline.engine.model.kept_states import KeptStates
from paceline.engine.model.model_file import check_in_place, written_parts
from paceline.engine.model.state_files import StateFolder, drop_files
from paceline.engine.model.states import MOST_STATES, GoingBack
from paceline.engine.model.stored_states import StateStore, state_memory
from paceline.engine.model.translation import LEAST_SHARE, Translation, words_on_translation
from paceline.engine.model.vocabularies import vocabulary_mismatch
from paceline.engine.native import give_back_freed_memory, llama_backend
from paceline.engine.pair import LoadedPair
from paceline.engine.prompt.formats import words_on
from paceline.engine.prompt.renderer import renderer
from paceline.engine.read_ahead import read_ahead
from paceline.engine.refusals import describe_failure, no_model, not_running
from paceline.engine.request import count_tokens, render_prompt
from paceline.engine.sameness.evidence import Evidence, evidence_key
from paceline.engine.sameness.look import TESTED_WIDTHS, check_going_back, self_test
from paceline.engine.stats import Activity
from paceline.engine.turn import Turn
from paceline.errors import CancelledError, ModelError, UserError
from paceline.messages import (
    AsideAnswered,
    Calibrate,
    Cancel,
    Command,
    CountTokens,
    DescribeEngine,
    DraftModel,
    DropStates,
    Encode,
    Event,
    LoadFailed,
    LoadPair,
    LoadProgressed,
    MeasureReading,
    ModelParams,
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
    StateStorage,
    TargetHead,
    Translating,
    Tune,
    TurnFailed,
    Unload,
    Unloaded,
)
from paceline.params import file_of, params_of
from paceline.sentence import sentence

_T = TypeVar("_T")
_log = logging.getLogger(__name__)


class EngineService:
    """Holds at most one pair and runs at most one turn.

    Args:
        emit: Takes every event, on the thread that calls `handle`.
        take_between: Returns a waiting command that can be carried out between two steps of the
            running turn, if there is one.
        cancel: Polled by everything that may take long.
        backend: Makes the backend at first use; None takes llama.cpp.
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
        self._opening: tuple[LanguageModel, ...] = ()
        self._idle_work: IdleWork | None = None
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
            case DescribeEngine():
                return self._get_backend().describe()
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
            if self._cancel.is_set():  # stopped while it was waiting: what is loaded stays
                raise CancelledError
            self._unload()
            self._pair = self.open_pair(command)
        except Exception as error:
            smaller_ctx = error.smaller_ctx if isinstance(error, ModelError) else 0
            failure = describe_failure(error)
            self._emit(LoadFailed(*failure, smaller_ctx=smaller_ctx))
            return
        finally:
            self._opening = ()
        self._last_prompts.begin_load()
        self._pair.last_prompts = self._last_prompts
        self._idle_work = IdleWork(self._pair)
        target, draft = self._pair.target.model, self._pair.draft
        sameness = self._pair.promise.sameness
        self._told = sameness.holds, sameness.basis
        self._emit(
            PairLoaded(
                target.info,
                draft.model.info if draft else None,
                time.perf_counter() - began,
                (*_load_notes(self._pair), *self._pair.notes),
                sameness,
            )
        )

    def open_pair(self, command: LoadPair) -> LoadedPair:
        """Load a pair, which the caller owns; `handle` keeps the one that it loads itself.

        Raises:
            UserError: A model cannot be used, or the two do not fit together.
            CancelledError: The flag was set.
        """
        renderer().start()  # it is there when the models are
        files = written_parts(_files_of(command))  # what is written while they load is noticed, too
        facts = Facts(command.cache_dir)
        told = self._get_backend().choose_kernels(
            command.kernels, facts, command.cache_dir, self._cancel
        )
        load = partial(self._get_backend().load, cancel=self._cancel)
        drafting = command.drafting
        with_head = isinstance(drafting, TargetHead) and _is_inside(drafting, command.target)
        load_target = partial(load, command.target, n_rows=MAX_WIDTH, with_head=with_head)
        target = self._load_model("target", load_target, facts)
        draft: LanguageModel | None = None
        translation: Translation | None = None
        try:
            match drafting:
                case DraftModel(params=params, translating=how):
                    load_draft = partial(load, params, n_rows=1)
                    draft = self._load_model("draft", load_draft, facts)
                    translation, words = _translated(target, draft, how)
                    told = (*told, *words)
                case TargetHead(kind=kind):
                    draft, failure = self._load_head(command, drafting, target, facts)
                    told = (*told, *failure)
                    if draft is not None:
                        _check_tokens(kind, target, draft)
                case None:
                    pass
            if command.exact and target.forgets:
                told = (*told, _NOT_EXACT)
            notes = (*told, *_choose_threads(command, target, draft, facts))
            pair = LoadedPair(
                target,
                draft,
                facts,
                translation=translation,
                lookup_cache=command.lookup_cache,
                is_exact=command.exact,
            )
            recall_acceptance(pair)
            pair.promise.measure()
            pair.states = self._states(pair, command.states)
            pair.notes, pair.files = notes, files
            check_in_place(files)
            return pair
        except BaseException:
            if draft:
                draft.close()
            target.close()
            raise

    def _states(self, pair: LoadedPair, storage: StateStorage | None) -> KeptStates | None:
        if storage is None:
            return None
        devices = self._get_backend().describe().devices
        n_free = next((each.free_bytes for each in devices if each.kind == "cpu"), 0)
        most = state_memory(n_free, storage.memory_bytes)
        is_filed = bool(storage.folder) and storage.disk_bytes != 0
        files = StateFolder(storage.folder, storage.disk_bytes) if is_filed else None
        return KeptStates(pair.target, pair.draft, StateStore(most, files))

    def _load_head(
        self, command: LoadPair, wanted: TargetHead, target: LanguageModel, facts: Facts
    ) -> tuple[LanguageModel | None, tuple[str, ...]]:
        """Load the head that is asked for, or the one that the target's file has.

        Returns:
            The head, if there is one, and what is to be told. One in the target's file may fail.
        """
        load = partial(self._get_backend().load_head, target, wanted.kind, cancel=self._cancel)
        if not _is_inside(wanted, command.target):
            params = replace(command.target, path=wanted.file)
            return self._load_model("draft", partial(load, params), facts), ()
        try:
            head = load(command.target, progress=lambda _fraction: None)  # it takes no time
            return (self._tried(head, "draft", facts) if head is not None else None), ()
        except CancelledError:
            raise
        except UserError as error:
            return None, (
                sentence(
                    "The model's {head} is not used. {message}",
                    head=head_title(wanted.kind),
                    message=error.message,
                ),
            )

    def _load_model(
        self,
        stage: Literal["target", "draft"],
        load: Callable[..., LanguageModel | None],
        facts: Facts,
    ) -> LanguageModel:
        """Load one model and see it decode; by then, its load has been told as complete."""
        last = -1.0

        def progress(fraction: float) -> None:
            nonlocal last
            if fraction - last >= 0.01 or fraction >= 1:
                last = fraction
                self._emit(LoadProgressed(stage, fraction))

        progress(0.0)  # so that a crash before the library's first word is not another model's
        model = load(progress=progress)
        assert model is not None
        if last < 1:
            progress(1.0)
        return self._tried(model, stage, facts)

    def _tried(
        self, model: LanguageModel, stage: Literal["target", "draft"], facts: Facts
    ) -> LanguageModel:
        """See a model decode that was just loaded; free one that does not."""
        self._opening = (*self._opening, model)
        try:
            model.can_rollback, apart = self_test(model)
            if apart:
                seen = BatchWidths(highest=max(TESTED_WIDTHS))
                Evidence(facts, evidence_key(model)).add(seen, len(TESTED_WIDTHS), 0, apart)
            model.max_rollback = model.n_ctx if model.can_rollback else 0
            if not model.can_rollback:
                model.keep_states(MOST_STATES if stage == "target" else 0)
                check_going_back(model)
            uses = model.kernel_uses() if stage == "target" else ()
            model.info = structs.replace(
                model.info, can_rollback=model.max_rollback > 0, kernels=uses
            )
        except BaseException:
            model.close()
            raise
        return model

    # ---------------------------------------------------------------------------------- turn

    def _start_turn(self, command: StartTurn) -> None:
        if self._pair is None:
            self._emit(no_model())
            return
        try:
            seed = secrets.randbits(32) if command.seed is None else command.seed
            if self._pair.settle() and self._idle_work is not None:
                self._idle_work.calibrate_anew()
                self._tell(self._pair.promise.sameness)
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
            self._leave_lost()  # told first: who asks again on hearing of the failure must load
            self._emit(TurnFailed(*failure))

    def _end_states(self) -> None:
        if self._pair is not None and self._pair.states is not None and not self._pair.is_lost:
            self._pair.states.end()

    def _leave_lost(self) -> None:
        """Free a pair that can do no more."""
        if self._pair is not None and self._pair.is_lost:
            self._unload()
            self._emit(Unloaded())

    def _unasked(self, work: Callable[[LoadedPair], _T], otherwise: _T) -> _T:
        """Return what comes of work that nobody waits for; `otherwise` where it fails."""
        try:
            if self._pair is not None:
                return work(self._pair)
        except Exception:
            _log.exception("what nobody waits for has failed")
            self._leave_lost()
        return otherwise

    def _take_tune(self) -> Tune | None:
        """Carry out what need not wait for the turn's end, and return what is for the turn."""
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
            return  # who hands texts in does so again after a load
        self._pair.earlier.put(command.chat, command.texts)
        if not (command.texts or command.makes_room):
            self._pair.kept.clear()  # indexes of chats, which are built again where they are needed
        while command.at_once and not self._cancel.is_set() and self._pair.earlier.slice():
            pass
        self._emit(Remembered(command.chat))

    # ---------------------------------------------------------------------------- measuring

    def idle(self) -> bool:
        """Measure what steps cost, let the draft model catch up, index texts, or compare rows.

        A little of it.

        False: nothing is left to do.

        Setting the flag stops it at once, and changes nothing about the next reply.

        Raises:
            ComputeFailedError: Neither contexts nor device can be trusted any more.
        """
        if self._idle_work is None or self._pair is None or not self._idle_work.slice():
            return False
        self._tell_if_new(self._pair)
        return True

    def _tell_if_new(self, pair: LoadedPair) -> None:
        sameness = pair.promise.sameness
        if (sameness.holds, sameness.basis) != self._told:
            self._tell(sameness)

    def _tell(self, sameness: Sameness) -> None:
        self._told = sameness.holds, sameness.basis
        self._emit(SamenessChanged(sameness))

    def _leave_text(self) -> None:
        """Keep the states of what the contexts hold, which are emptied next."""
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
            self._tell_if_new(self._pair)
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
        for model in (*self._opening, *(pair.models if pair else ())):
            running = model.decoding  # read once: it may end at any time
            if running is not None:
                return Activity(*running, model.slowest_s)
        return None


_NOT_TRANSLATED = sentence(
    "Both models read the same tokens, so there is nothing to translate or to replace in drafts."
)
_NOT_EXACT = sentence("Exact mode is not possible with a memory that overwrites what is far back.")


def _is_inside(head: TargetHead, target: ModelParams) -> bool:
    """Return whether a head that may draft is the one in the target's file."""
    return head.file in ("", target.path)


def _files_of(command: LoadPair) -> tuple[str, ...]:
    """Return the models that a command names."""
    return tuple(filter(None, (command.target.path, file_of(command.drafting))))


def _check_tokens(kind: str, target: LanguageModel, head: LanguageModel) -> None:
    """Refuse a head of other tokens than the target's, which no head can translate.

    Raises:
        ModelError: It has others.
    """
    if mismatch := vocabulary_mismatch(target.vocab, head.vocab):
        raise ModelError(
            "wrong-head",
            "The {head} is for other tokens than the model's: {text}.",
            "Choose the head that was made for this model, or none.",
            head=head_title(kind),
            text=mismatch.text,
        )


def _translated(
    target: LanguageModel, draft: LanguageModel, how: Translating
) -> tuple[Translation | None, tuple[str, ...]]:
    """Return the translation between two vocabularies, where they differ, and what is to be told.

    Raises:
        ModelError: They differ too much.
    """
    mismatch = vocabulary_mismatch(target.vocab, draft.vocab)
    if mismatch is None:
        return None, (_NOT_TRANSLATED,) if how != Translating() else ()
    translation = Translation(target.vocab, draft.vocab, how)
    words = words_on_translation(mismatch, translation.share)
    if translation.share < LEAST_SHARE:
        raise ModelError(
            "vocabulary-mismatch",
            "“{name}” cannot draft for “{target}”. {words}",
            "Take a smaller model of the main model's own family, or lookups, which need none.",
            name=draft.info.name,
            target=target.info.name,
            words=words,
        )
    return translation, (words,)


def _choose_threads(
    command: LoadPair, target: LanguageModel, draft: LanguageModel | None, facts: Facts
) -> tuple[str, ...]:
    """Choose the counts that were left open; returns what is to be told about them."""
    chooser = ThreadChooser(facts)
    choices = [(target, chooser.choose(target, command.target))]
    if draft:
        params = params_of(command.drafting) or command.target
        choices.append((draft, chooser.choose(draft, params, target)))
    return tuple(thread_note(model.info.name, choice) for model, choice in choices if choice)


def _load_notes(pair: LoadedPair) -> tuple[str, ...]:
    target, draft = pair.target.model, pair.draft.model if pair.draft else None
    notes = []
    if pair.guessed is not None:
        notes.append(words_on(pair.guessed, target.vocab))
    back = _going_back(target)
    if back.way not in ("cells", "states"):  # states limit drafts to a length that is seldom wanted
        notes.append(back.sentence)
    if draft and draft.n_ctx < target.n_ctx:
        notes.append(
            sentence(
                "The draft model's context ends at {n_ctx:,} tokens; of longer chats it "
                "knows the end alone.",
                n_ctx=draft.n_ctx,
            )
        )
    sameness = pair.promise.sameness
    if sameness.is_exact:  # asked for, so it is to say what it does
        notes.append(sameness.words)
    return tuple(notes)


def _going_back(target: LanguageModel) -> GoingBack:
    if not target.max_rollback:
        return GoingBack("none")
    if not target.can_rollback:
        return GoingBack("copies" if target.needs_copies else "states", target.max_rollback)
    return GoingBack("windows" if target.forgets else "cells")
