"""The pair of models for the widgets: its state, in names and sentences."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from paceline import starter
from paceline.chat.pair import PairListener, PairState
from paceline.engine.model.model_file import model_name as whole_name
from paceline.messages import LoadFailed, ModelInfo, ModelParams
from paceline.names import visible


class PairModel(QObject, PairListener):
    """Holder of the pair's last state; signals every change.

    Attributes:
        state: The present state.
    """

    changed = Signal(object)
    """PairState"""
    sameness_found = Signal(object)
    """PairState, in which `sameness` alone is new"""
    failed = Signal(object, bool)
    """LoadFailed, and whether the previous working pair is being loaded again"""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.state = PairState()
        self._is_writing = False
        self._titles: dict[str, str] = {}

    @property
    def waits_for_reply(self) -> bool:
        """Return whether a load waits until the running reply is written."""
        state = self.state
        return state.status == "loading" and not state.has_begun and self._is_writing

    def set_writing(self, is_writing: bool) -> None:  # noqa: FBT001
        """Store whether the engine is writing a reply."""
        if is_writing == self._is_writing:
            return
        self._is_writing = is_writing
        if self.state.status == "loading" and not self.state.has_begun:
            self.changed.emit(self.state)

    def pair_changed(self, state: PairState) -> None:
        """Store the state and the models' titles, and emit `changed`."""
        self.state = state
        if state.pair is not None:
            self._learn_title(state.target, state.pair.target)
            self._learn_title(state.draft, state.pair.draft)
        self.changed.emit(state)

    def sameness_changed(self, state: PairState) -> None:
        """Store the state, in which `sameness` is new, and emit `sameness_found`."""
        self.state = state
        self.sameness_found.emit(state)

    def load_failed(self, failure: LoadFailed, *, falls_back: bool) -> None:
        """Emit why a load failed, and whether the pair before it is loaded again."""
        self.failed.emit(failure, falls_back)

    @property
    def target_name(self) -> str:
        """Name of the target, loaded or not; empty without one."""
        pair = self.state.pair
        return self._name(self.state.target, pair.target if pair else None)

    @property
    def draft_name(self) -> str:
        """Name of the draft model; empty without one."""
        pair = self.state.pair
        return self._name(self.state.draft, pair.draft if pair else None)

    def _learn_title(self, info: ModelInfo | None, params: ModelParams | None) -> None:
        if info is not None and params is not None:
            self._titles[params.path] = info.name

    def _name(self, info: ModelInfo | None, params: ModelParams | None) -> str:
        if params is None:  # a head has no file of its own
            return visible(info.name) if info is not None else ""
        return model_name(params.path, self._titles.get(params.path, ""))


def model_name(reference: str, title: str = "") -> str:
    """Return a model's name for display: its file's, or its title where that is shorter.

    The first model has the name that the first page gives it, since its header has the name of a
    training run.

    Args:
        reference: Its path or ``hf:OWNER/REPO:FILE``, or empty for no model.
        title: The title in its header with the type of its weights, or empty if unknown.
    """
    path = reference.rpartition(":")[2] if reference.startswith("hf:") else reference
    if starter.is_called(Path(path).name):
        return starter.NAME
    file = visible(whole_name(Path(path).name))
    return visible(title) if title and len(title) < len(file) else file
