"""What a load that killed the engine tells: during what, with which file, and what to try instead.

Builds of llama.cpp exist whose code for special instructions (AMX) crashes as soon as two tokens
are decoded. The self-test behind every load shows that before a reply is lost to it, and the models
are then loaded a second time without the buffers that lead to this code. Where Paceline's own
kernels have left a mark, the same load is tried once more: the engine does not use them again.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

from paceline.engine.kernel_marks import marks
from paceline.hosting.deaths import NOT_STARTED, OUT_OF_MEMORY, Death
from paceline.messages import (
    Event,
    LoadFailed,
    LoadPair,
    LoadProgressed,
    ModelParams,
    PairLoaded,
)

_logger = logging.getLogger(__name__)


def without_extra_bufts(command: LoadPair) -> LoadPair | None:
    """Return the same load without extra buffers; None when it was without already."""
    if not _has_extra_bufts(command.target) and not _has_extra_bufts(command.draft):
        return None
    draft = replace(command.draft, extra_bufts=False) if command.draft else None
    return replace(command, target=replace(command.target, extra_bufts=False), draft=draft)


def _has_extra_bufts(params: ModelParams | None) -> bool:
    return params is not None and params.extra_bufts


class LoadWatch:
    """Follows one load by its events.

    Attributes:
        command: The load.
        is_over: Whether the engine has answered.

    Args:
        command: The load.
        note: Why it is a second try; told to the user when it succeeds.
    """

    def __init__(self, command: LoadPair, note: str = "") -> None:
        self.command = command
        self._note = note
        self._marks = marks(command.cache_dir)
        self._params: ModelParams = command.target
        self.is_over = False
        self._has_weights = False

    def hear(self, event: Event) -> Event:
        """Note an event of the load; returns it, with the note where it tells of success."""
        if getattr(event, "request_id", "") != self.command.request_id:
            return event
        match event:
            case LoadProgressed():
                draft = self.command.draft
                self._params = draft if draft and event.stage == "draft" else self.command.target
                self._has_weights = event.fraction >= 1
            case PairLoaded():
                self.is_over = True
                if self._note:
                    return replace(event, notes=(*event.notes, self._told(self._note)))
            case LoadFailed():
                self.is_over = True
            case _:
                pass
        return event

    def next_try(self, death: Death) -> LoadWatch | None:
        """Return what to try after a death; None: there is nothing else."""
        if marks(self.command.cache_dir) - self._marks:
            _logger.warning("the models are loaded again without own kernels")
            return LoadWatch(self.command, self._note)
        again = without_extra_bufts(self.command)
        if again is None or not self.died_in_self_test(death):
            return None
        _logger.warning("the models are loaded again without extra buffers")
        return LoadWatch(again, death.reason)

    def died_in_self_test(self, death: Death) -> bool:
        """Whether native code crashed when a model's weights were all there."""
        return not self.is_over and self._has_weights and death.is_native

    def explain(self, death: Death) -> tuple[str, str]:
        """Return message and hint for a load that ended the engine."""
        if death.code == NOT_STARTED:
            return death.reason, death.hint
        name = Path(self._params.path).name
        message = f"The engine ended while it loaded “{name}”. {death.reason}"
        if death.code == OUT_OF_MEMORY or not death.is_native:
            return message, death.hint
        return message, "The file may be damaged: download it again, or choose another one."

    @staticmethod
    def _told(reason: str) -> str:
        return (
            f"{reason} So the models were loaded again without the special instructions of this "
            "CPU, which is a little slower."
        )
