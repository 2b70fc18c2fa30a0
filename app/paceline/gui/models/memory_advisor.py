"""Plans memory for loads: automatic values before a load, and what would help after a failure.

The engine itself only knows "all layers", the usual context, and llama.cpp's error; what both
models can have together is in the plan that the picker shows, too. On a build without GPUs
only the context is to be decided, and that only where memory may be short.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QCoreApplication, QObject, Signal

from paceline.gui.models.load_column import AUTO, AUTO_CTX
from paceline.gui.models.look_at_pair import size_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from paceline.catalog.memory.values import MemoryPlan, Saving
    from paceline.chat.pair import Pair
    from paceline.errors import UserError
    from paceline.gui.kit.background import Background
    from paceline.gui.state.current_devices import CurrentDevices


def saving_title(saving: Saving) -> str:
    """Return what a button says; empty for what only the user can find, such as another model."""
    return {
        "windows": _tr("Keep no more than the windows"),
        "draft-cache": _tr("Quantise the draft's cache"),
        "draft-on-cpu": _tr("Draft on the processor"),
        "draft-context": _tr("Shorten the draft's context"),
        "lookups": _tr("Use lookups, no draft model"),
        "no-head": _tr("Use lookups, no MTP head"),
    }.get(saving, "")


def _tr(text: str) -> str:
    return QCoreApplication.translate("Savings", text)


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
        if engine.supports_gpu and any(model.n_gpu_layers == AUTO for model in models):
            return True
        has_open_context = any(model.n_ctx == AUTO_CTX for model in models)
        n_bytes = sum(size_of(model.path) for model in models)
        return has_open_context and _is_tight(n_bytes, self._devices.n_free)

    def decide(self, pair: Pair) -> None:
        """Decide GPU layers and contexts, for one pair at a time; `decided` follows."""
        self._question = pair
        self._plan(pair, self._on_planned, self._on_no_plan)

    def give_up(self) -> None:
        """Something else is loaded: drop the answer."""
        self._question = None

    def advise(self, pair: Pair) -> bool:
        """Have `advised` say what would help a pair that did not fit; false: no plan is made."""
        if self._devices.planner is None or not self._devices.room.devices:
            return False
        self._plan(pair, self._on_advice, self._on_no_advice)
        return True

    def _plan(
        self,
        pair: Pair,
        done: Callable[[Pair, object], None],
        failed: Callable[[Pair, UserError], None],
    ) -> None:
        if (planner := self._devices.planner) is not None:
            plan = partial(planner.plan, self._devices.look(), pair)
            self._background.start(plan, partial(done, pair), partial(failed, pair))

    def _on_planned(self, pair: Pair, answer: object) -> None:
        plan = cast("MemoryPlan", answer)
        if pair is self._question:
            self.decided.emit(pair, replace(pair, target=plan.target, draft=plan.draft))

    def _on_no_plan(self, pair: Pair, _error: UserError) -> None:
        if pair is self._question:
            self.decided.emit(pair, None)

    def _on_advice(self, pair: Pair, answer: object) -> None:
        plan = cast("MemoryPlan", answer)
        usable = [remedy for remedy in plan.remedies if saving_title(remedy.saving)]
        self.advised.emit(pair, usable[0] if usable else None)

    def _on_no_advice(self, pair: Pair, _error: UserError) -> None:
        self.advised.emit(pair, None)


def _is_tight(n_bytes: int, n_free: int) -> bool:
    """Whether models of this size might not find room for the usual context.

    In 4096 tokens hardly any cache is larger than its model's weights.
    """
    return 2 * n_bytes + _BESIDE_WEIGHTS > n_free
