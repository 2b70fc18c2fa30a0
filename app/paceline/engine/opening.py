"""The opening of a pair: loading the models, testing their decodes, fitting them together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Literal

from msgspec import structs

from paceline.engine.auto.costs import MAX_WIDTH
from paceline.engine.cancel import CancelFlag
from paceline.engine.draft.heads import head_title
from paceline.engine.facts import Facts
from paceline.engine.measure.known import recall_acceptance
from paceline.engine.measure.thread_choice import ThreadChooser
from paceline.engine.measure.thread_choice import note as thread_note
from paceline.engine.model.backend import Backend, LanguageModel
from paceline.engine.model.context import BatchWidths
from paceline.engine.model.kept_states import KeptStates
from paceline.engine.model.model_file import check_in_place, written_parts
from paceline.engine.model.state_files import StateFolder
from paceline.engine.model.states import MAX_STATES, GoingBack, state_memory
from paceline.engine.model.stored_states import StateStore
from paceline.engine.model.translation import MIN_SHARE, Translation, words_on_translation
from paceline.engine.model.vocabularies import vocabulary_mismatch
from paceline.engine.pair import LoadedPair
from paceline.engine.prompt.formats import words_on
from paceline.engine.prompt.renderer import renderer
from paceline.engine.sameness.evidence import Evidence, evidence_key
from paceline.engine.sameness.look import TESTED_WIDTHS, check_going_back, self_test
from paceline.engine.sample.sampling import drawers
from paceline.errors import CancelledError, ModelError, UserError
from paceline.messages import (
    DraftModel,
    Event,
    LoadPair,
    LoadProgressed,
    ModelParams,
    StateStorage,
    TargetHead,
    Translating,
)
from paceline.params import file_of, params_of
from paceline.sentence import sentence

_NOT_TRANSLATED = sentence(
    "Both models read the same tokens, so there is nothing to translate or to replace in drafts."
)
_NOT_EXACT = sentence("Exact mode is not possible with a memory that overwrites what is far back.")


class PairOpening:
    """Loads one pair.

    Args:
        get_backend: Returns the backend that loads models.
        emit: Called with every `LoadProgressed`.
        cancel: Flag that is polled by all long work.

    Attributes:
        models: The models whose weights are loaded. Any thread may read it.
    """

    def __init__(
        self, get_backend: Callable[[], Backend], emit: Callable[[Event], None], cancel: CancelFlag
    ) -> None:
        self.models: tuple[LanguageModel, ...] = ()
        self._get_backend = get_backend
        self._emit = emit
        self._cancel = cancel
        self._backend: Backend

    def open(self, command: LoadPair) -> LoadedPair:
        """Load a pair, which the caller then owns.

        Raises:
            UserError: A model cannot be used, or the two do not fit together.
            CancelledError: The flag was set.
        """
        renderer().start()  # it is ready when the models are
        files = written_parts(_files_of(command))  # so that writes during the load are noticed, too
        facts = Facts(command.cache_dir)
        self._backend = backend = self._get_backend()
        backend.connect(command.servers)
        told = backend.choose_kernels(command.kernels, facts, command.cache_dir, self._cancel)
        load = partial(backend.load, cancel=self._cancel)
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
                make_drawer=drawers(command.cache_dir),
            )
            recall_acceptance(pair)
            pair.promise.measure()
            pair.states = _states(pair, command.states, backend)
            pair.notes, pair.files = (*_load_notes(pair), *notes), files
            check_in_place(files)
            return pair
        except BaseException:
            if draft:
                draft.close()
            target.close()
            raise

    def _load_head(
        self, command: LoadPair, wanted: TargetHead, target: LanguageModel, facts: Facts
    ) -> tuple[LanguageModel | None, tuple[str, ...]]:
        """Load the requested head, or the one in the target's file.

        Returns:
            The head or None, and notes for the user. A head in the target's file may fail to load.
        """
        load = partial(self._backend.load_head, target, wanted.kind, cancel=self._cancel)
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
        """Load one model and test its decodes; by then the load was reported as complete."""
        last = -1.0

        def progress(fraction: float) -> None:
            nonlocal last
            if fraction - last >= 0.01 or fraction >= 1:
                last = fraction
                self._emit(LoadProgressed(stage, fraction))

        progress(0.0)  # so that an early crash in the library is not blamed on another model
        model = load(progress=progress)
        assert model is not None
        if last < 1:
            progress(1.0)
        return self._tried(model, stage, facts)

    def _tried(
        self, model: LanguageModel, stage: Literal["target", "draft"], facts: Facts
    ) -> LanguageModel:
        """Test the decodes of a model that was just loaded, and free it if they fail."""
        self.models = (*self.models, model)
        try:
            model.can_rollback, apart = self_test(model)
            if apart:
                seen = BatchWidths(highest=max(TESTED_WIDTHS))
                Evidence(facts, evidence_key(model)).add(seen, len(TESTED_WIDTHS), 0, apart)
            model.max_rollback = model.n_ctx if model.can_rollback else 0
            if not model.can_rollback:
                model.keep_states(MAX_STATES if stage == "target" else 0)
                check_going_back(model)
            uses = model.kernel_uses() if stage == "target" else ()
            model.info = structs.replace(
                model.info, can_rollback=model.max_rollback > 0, kernels=uses
            )
        except BaseException:
            model.close()
            raise
        return model


def _states(pair: LoadedPair, storage: StateStorage | None, backend: Backend) -> KeptStates | None:
    """Return the object that stores states of a pair's contexts, or None if they are not stored."""
    if storage is None:
        return None
    devices = backend.describe().devices
    n_free = next((each.free_bytes for each in devices if each.kind == "cpu"), 0)
    most = state_memory(n_free, storage.memory_bytes)
    is_filed = bool(storage.folder) and storage.disk_bytes != 0
    files = StateFolder(storage.folder, storage.disk_bytes) if is_filed else None
    return KeptStates(pair.target, pair.draft, StateStore(most, files))


def _is_inside(head: TargetHead, target: ModelParams) -> bool:
    """Return whether a head to draft with is the one in the target's file."""
    return head.file in ("", target.path)


def _files_of(command: LoadPair) -> tuple[str, ...]:
    """Return the paths of the models that a command names."""
    return tuple(filter(None, (command.target.path, file_of(command.drafting))))


def _check_tokens(kind: str, target: LanguageModel, head: LanguageModel) -> None:
    """Refuse a head with another vocabulary than the target's, since heads are not translated.

    Raises:
        ModelError: The vocabularies differ.
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
    """Return the translation of different vocabularies, or None, and notes for the user.

    Raises:
        ModelError: They differ too much.
    """
    mismatch = vocabulary_mismatch(target.vocab, draft.vocab)
    if mismatch is None:
        return None, (_NOT_TRANSLATED,) if how != Translating() else ()
    translation = Translation(target.vocab, draft.vocab, how)
    words = words_on_translation(mismatch, translation.share)
    if translation.share < MIN_SHARE:
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
    """Choose the thread counts that the user left open; return notes about them."""
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
    if back.way not in ("cells", "states"):  # the limit by states rarely matters for drafts
        notes.append(back.sentence)
    if draft and draft.n_ctx < target.n_ctx:
        notes.append(
            sentence(
                "The draft model's context ends at {n_ctx:,} tokens; of longer chats it "
                "knows the end alone.",
                n_ctx=draft.n_ctx,
            )
        )
    notes += _share_of_kernels(target)
    sameness = pair.promise.sameness
    if sameness.is_exact:  # the user asked for it, so a note says what it does
        notes.append(sameness.words)
    return tuple(notes)


def _share_of_kernels(target: LanguageModel) -> tuple[str, ...]:
    """Return which layers own kernels compute, if devices have the others."""
    info = target.info
    others = [each.device for each in target.memory if each.weights and each.device != "CPU"]
    # Devices get the last layers, and the output counts as one.
    n_here = min(max(info.n_layers + 1 - info.n_gpu_layers, 0), info.n_layers)
    if not (n_here and others and any(use.by == "own" for use in info.kernels)):
        return ()
    return (
        sentence(
            "Paceline's kernels compute the {n} of {n_layers} layers that stay on the processor; "
            "the others are computed by {names}.",
            n=n_here,
            n_layers=info.n_layers,
            names=", ".join(others),
        ),
    )


def _going_back(target: LanguageModel) -> GoingBack:
    if not target.max_rollback:
        return GoingBack("none")
    if not target.can_rollback:
        return GoingBack("copies" if target.needs_copies else "states", target.max_rollback)
    return GoingBack("windows" if target.forgets else "cells")
