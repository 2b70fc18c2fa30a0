"""Before a load: files are checked, and automatic values decided by a plan of memory.

A wrong file must not cost the user the models that work, so files are checked before the loaded
pair is given up for them, by functions for worker threads. Pairs are refused here for the same
reasons as by the engine, but sooner and with a better message.

The plan also says what would help after a failure. The engine itself only knows "all layers", the
usual context, and llama.cpp's error; what both models can have together is in the plan that the
picker shows, too. On a build without GPUs only the context is to be decided, and that only where
memory may be short.
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
_TOO_SLOW = "takes-too-long"
"""A sleeping disk is no reason against a model; the engine waits longer."""

_logger = logging.getLogger(__name__)

_tr = translator("LoadChecks")


class RefusedPairError(ModelError):
    """The draft model cannot draft for the target.

    Attributes:
        pair: What was to be loaded.
    """

    def __init__(self, pair: Pair, verdict: PairVerdict) -> None:
        super().__init__(verdict.reasons[0].code, verdict.reasons[0].text)
        self.pair = pair


def examined(pair: Pair, paths: tuple[str, ...], models: Judge | None = None) -> Pair:
    """Return a pair, of which some files are new, if it can be used.

    Raises:
        RefusedPairError: The two do not go together.
        UserError: A file is no GGUF file, cannot be read, or cannot be used.
    """
    for path in paths:
        check_is_gguf(path)
    try:
        return pair if models is None else _judged(pair, models)
    except ModelError as error:
        if error.code != _TOO_SLOW:
            raise
        _logger.warning("%s; the engine will judge it", error.message)
        return pair


def _judged(pair: Pair, models: Judge) -> Pair:
    target = models.examine(pair.target.path)
    if len(pair.files) == 1:
        return pair
    # Without a remedy: to find one, the library and the Hub may have to be searched.
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
    """Whether all files are there; touches the disk."""
    return all(Path(file).is_file() for file in pair.files)


def check_is_gguf(path: str) -> None:
    """Read a file's first bytes.

    Raises:
        UserError: It is no GGUF file, or cannot be read.
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
    """One path per model: of a split one its first part, or another one where that is missing."""
    models: dict[str, str] = {}
    for path in paths:
        models.setdefault(part_names(path)[0], str(first_part(Path(path))))
    return list(models.values())


def size_of(path: str) -> int:
    """Bytes of a model, all its parts together; 0 when it cannot be read."""
    try:
        return model_at(Path(path)).n_bytes
    except ModelError:
        return 0


def saving_title(saving: Saving, drafting: Drafting) -> str:
    """Return what a button says; empty for what only the user can find, such as another model.

    Args:
        saving: What is given up.
        drafting: What drafts until then.
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


_BESIDE_WEIGHTS = 2**30
"""Bytes; buffers, and what should stay free."""


class MemoryAdvisor(QObject):
    """Answers by signals, on the main thread; the newest question of each kind counts."""

    decided = Signal(object, object)
    """A pair, and the same with automatic values decided (None: they cannot be)"""
    advised = Signal(object, object)
    """A pair that found no room, and a `MemoryRemedy` or None"""

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
        """Whether the devices are known, or no plans are made."""
        return self._devices.planner is None or self._devices.description is not None

    def has_to_decide(self, pair: Pair) -> bool:
        """Whether something of this pair is automatic that depends on what is free."""
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
        """Decide GPU layers and contexts, for one pair at a time; `decided` follows."""
        self._question = pair
        self._plan(pair, self._on_planned)

    def give_up(self) -> None:
        """Something else is loaded: drop the answer."""
        self._question = None

    def advise(self, pair: Pair) -> bool:
        """Have `advised` say what would help a pair that did not fit; false: no plan is made."""
        if self._devices.planner is None or not self._devices.room.devices:
            return False
        self._plan(pair, self._on_advice)
        return True

    def _plan(self, pair: Pair, done: Callable[[Pair, MemoryPlan | UserError], None]) -> None:
        if (planner := self._devices.planner) is not None:
            plan, told = partial(planner.plan, self._devices.look(), pair), partial(done, pair)
            self._background.start(plan, told, told)

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
    """Whether models of this size might not find room for the usual context.

    In 4096 tokens hardly any cache is larger than its model's weights.
    """
    return 2 * n_bytes + _BESIDE_WEIGHTS > n_free
