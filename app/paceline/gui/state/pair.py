"""The pair of models for the widgets: how it stands, in names and sentences."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from paceline import starter
from paceline.chat.pair import PairListener, PairState
from paceline.engine.model.model_file import model_name as whole_name
from paceline.messages import LoadFailed, ModelInfo, ModelParams
from paceline.names import visible


class PairModel(QObject, PairListener):
    """Keeps the last state and tells of every change.

    Attributes:
        state: How the pair stands now.
    """

    changed = Signal(object)
    """PairState"""
    sameness_found = Signal(object)
    """PairState, in which `sameness` alone is new"""
    failed = Signal(object, bool)
    """LoadFailed, and whether the pair that worked last is being loaded again"""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.state = PairState()
        self._is_writing = False
        self._titles: dict[str, str] = {}

    @property
    def waits_for_reply(self) -> bool:
        """Whether a load waits until the reply under way is written."""
        state = self.state
        return state.status == "loading" and not state.has_begun and self._is_writing

    def set_writing(self, is_writing: bool) -> None:  # noqa: FBT001
        """Know whether the engine is writing a reply."""
        if is_writing == self._is_writing:
            return
        self._is_writing = is_writing
        if self.state.status == "loading" and not self.state.has_begun:
            self.changed.emit(self.state)

    def pair_changed(self, state: PairState) -> None:
        """Keep the state, learn the models' titles, and tell."""
        self.state = state
        if state.pair is not None:
            self._learn_title(state.target, state.pair.target)
            self._learn_title(state.draft, state.pair.draft)
        self.changed.emit(state)

    def sameness_changed(self, state: PairState) -> None:
        """Keep the state, in which `sameness` is new, and tell."""
        self.state = state
        self.sameness_found.emit(state)

    def load_failed(self, failure: LoadFailed, *, falls_back: bool) -> None:
        """Tell why a load failed, and whether the pair before it is loaded again."""
        self.failed.emit(failure, falls_back)

    @property
    def target_name(self) -> str:
        """A name for the target, loaded or not; empty when there is none."""
        pair = self.state.pair
        return self._name(self.state.target, pair.target if pair else None)

    @property
    def draft_name(self) -> str:
        """A name for the draft model; empty when there is none."""
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
    """Return what a model is called everywhere: by its file, or by its title where that is shorter.

    The first model has the name that the first page gives it: its header has a training run's.

    Args:
        reference: Its path or ``hf:OWNER/REPO:FILE``; empty: there is no model.
        title: What its header says, with the type of its weights; empty: not known.
    """
    path = reference.rpartition(":")[2] if reference.startswith("hf:") else reference
    if starter.is_called(Path(path).name):
        return starter.NAME
    file = visible(whole_name(Path(path).name))
    return visible(title) if title and len(title) < len(file) else file
