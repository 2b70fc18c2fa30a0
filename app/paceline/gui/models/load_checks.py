"""Checks before a load: of the files, and automatic values by a memory plan.

A wrong file must not cost the user the models that work, so files are checked before the loaded
pair is unloaded, by functions for worker threads. Pairs are refused here for the same reasons as by
the engine, but sooner and with a better message.

The plan also finds a remedy after a failure. The engine itself only knows "all layers", the usual
context, and llama.cpp's error; the memory of both models together is in the plan that the picker
shows, too. On a build without GPUs only the context is decided, and only where memory may be short.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from paceline.catalog.judge.pairing import PairVerdict, judge, judge_head
from paceline.catalog.local.model_files import model_at
from paceline.catalog.memory.values import MemoryPlan, Saving
from paceline.chat.pair import Pair
from paceline.engine.draft.heads import drafts_with, head_title
from paceline.engine.model.model_file import first_part, part_names
from paceline.errors import ModelError, UserError
from paceline.gui.kit.background import Background
from paceline.gui.kit.sentences import said
from paceline.gui.kit.translation import translator
from paceline.gui.models.picker.pair_judgement import Judge
from paceline.gui.state.current_devices import CurrentDevices
from paceline.gui.state.pair import model_name
from paceline.params import Drafting, TargetHead, drafter_of

_GGUF_MAGIC = b"GGUF"
_TIMED_OUT = "takes-too-long"
"""Error of a check that timed out; a sleeping disk is no reason against a model, and the engine
waits longer."""

_logger = logging.getLogger(__name__)

_tr = translator("LoadChecks")


class RefusedPairError(ModelError):
    """The draft model cannot draft for the target.

    Attributes:
        pair: The refused pair.
    """

    def __init__(self, pair: Pair, verdict: PairVerdict) -> None:
        super().__init__(verdict.reasons[0].code, verdict.reasons[0].text)
        self.pair = pair


def examined(pair: Pair, paths: tuple[str, ...], models: Judge | None = None) -> Pair:
    """Return a pair with new files if it can be used.

    Raises:
        RefusedPairError: The draft model cannot draft for the target.
        UserError: A file is no GGUF file, or cannot be read or used.
    """
    for path in paths:
        check_is_gguf(path)
    try:
        return pair if models is None else _judged(pair, models)
    except ModelError as error:
        if error.code != _TIMED_OUT:
            raise
        _logger.warning("%s; the engine will judge it", error.message)
        return pair


def _judged(pair: Pair, models: Judge) -> Pair:
    target = models.examine(pair.target.path)
    if len(pair.files) == 1:
        return pair
    # Without a remedy, since finding one may take a search of library and Hub.
    file = pair.files[1]
    card = models.card(file)
    head = drafts_with(card.sidecar)
    verdict = judge_head(target, card) if head else judge(target, models.examine(file))
    if head:
        pair = replace(pair, drafting=TargetHead(head, file))
    if not verdict.ok:
        raise RefusedPairError(pair, verdict)
    return pair


def is_here(pair: Pair) -> bool:
    """Return whether all files exist; reads the disk."""
    return all(Path(file).is_file() for file in pair.files)


def check_is_gguf(path: str) -> None:
    """Read a file's first bytes.

    Raises:
        UserError: The file is no GGUF file, or cannot be read.
    """
    name = model_name(path)
    try:
        with Path(path).open("rb") as file:
            magic = file.read(len(_GGUF_MAGIC))
    except OSError as error:
        raise UserError(
            "file-not-readable",
            _tr("“{}” cannot be read: {}.").format(name, error.strerror or error),
            _tr("Check that it is there and that you may read it."),
        ) from error
    if magic != _GGUF_MAGIC:
        raise ModelError(
            "not-a-gguf",
            _tr("“{}” is not a GGUF model file.").format(name),
            _tr("Choose a file that ends in .gguf; other formats must be converted first."),
        )


def first_parts(paths: list[str]) -> list[str]:
    """Return a path per model: of a split one the first part, or another if that is missing."""
    models: dict[str, str] = {}
    for path in paths:
        models.setdefault(part_names(path)[0], str(first_part(Path(path))))
    return list(models.values())


def size_of(path: str) -> int:
    """Return the bytes of a model, all parts together; 0 if it cannot be read."""
    try:
        return model_at(Path(path)).n_bytes
    except ModelError:
        return 0


def saving_title(saving: Saving, drafting: Drafting) -> str:
    """Return a button's text; empty for remedies that only the user can find.

    Args:
        saving: The remedy.
        drafting: The present drafter.
    """
    head = said(head_title(drafter_of(drafting)))
    return {
        "windows": _tr("Keep no more than the windows"),
        "draft-cache": _tr("Quantise the draft's cache"),
        "draft-on-cpu": _tr("Draft on the processor"),
        "draft-context": _tr("Shorten the draft's context"),
        "lookups": _tr("Use lookups, no draft model"),
        "no-head": _tr("Use lookups, no {}").format(head),
    }.get(saving, "")


_BUFFER_BYTES = 2**30
"""Bytes kept free beside the weights, for buffers."""


class MemoryAdvisor(QObject):
    """Asks for memory plans; answers by signals on the main thread.

    Of each kind, only the newest question counts.
    """

    decided = Signal(object, object)
    """A pair, and the same with automatic values decided, or None if that is impossible"""
    advised = Signal(object, object)
    """A pair that did not fit, and a `MemoryRemedy` or None"""

    def __init__(
        self,
        devices: CurrentDevices,
        background: Background,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._devices = devices
        self._background = background
        self._question: Pair | None = None

    @property
    def is_ready(self) -> bool:
        """Return whether the devices are known, or no plans are made."""
        return self._devices.planner is None or self._devices.description is not None

    def has_to_decide(self, pair: Pair) -> bool:
        """Return whether an automatic value of this pair depends on free memory."""
        models = [model for model in (pair.target, pair.draft) if model is not None]
        engine = self._devices.description
        if self._devices.planner is None or engine is None:
            return False
        if engine.supports_gpu and any(model.n_gpu_layers < 0 for model in models):
            return True
        has_open_context = any(not model.n_ctx for model in models)
        if has_open_context and self._devices.planner.usual_ctx:
            return True
        n_bytes = sum(size_of(model.path) for model in models)
        return has_open_context and _is_tight(n_bytes, self._devices.n_free)

    def decide(self, pair: Pair) -> None:
        """Decide GPU layers and contexts for one pair at a time; `decided` follows."""
        self._question = pair
        self._plan(pair, self._on_planned)

    def give_up(self) -> None:
        """Drop the answer: another pair is loaded."""
        self._question = None

    def advise(self, pair: Pair) -> bool:
        """Request a remedy for a pair that did not fit; return False if no plan is made."""
        if self._devices.planner is None or not self._devices.room.devices:
            return False
        self._plan(pair, self._on_advice)
        return True

    def _plan(self, pair: Pair, done: Callable[[Pair, MemoryPlan | UserError], None]) -> None:
        if (planner := self._devices.planner) is not None:
            plan, planned = (
                partial(planner.plan, self._devices.refresh(), pair),
                partial(done, pair),
            )
            self._background.start(plan, planned, planned)

    def _on_planned(self, pair: Pair, plan: MemoryPlan | UserError) -> None:
        if pair is self._question:
            decided = None
            if isinstance(plan, MemoryPlan):
                decided = replace(pair, target=plan.target, drafting=plan.drafting)
            self.decided.emit(pair, decided)

    def _on_advice(self, pair: Pair, plan: MemoryPlan | UserError) -> None:
        remedies = plan.remedies if isinstance(plan, MemoryPlan) else ()
        usable = [each for each in remedies if saving_title(each.saving, pair.drafting)]
        self.advised.emit(pair, usable[0] if usable else None)


def _is_tight(n_bytes: int, n_free: int) -> bool:
    """Return whether models of this size might not fit with the usual context.

    In 4096 tokens hardly any cache is larger than its model's weights.
    """
    return 2 * n_bytes + _BUFFER_BYTES > n_free
