"""The pairs used last, for the menu and for the next start."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from paceline import starter
from paceline.catalog.models import Models
from paceline.chat.pair import Pair
from paceline.codec import made_of
from paceline.gui.state.pair import model_name
from paceline.names import visible
from paceline.params import DraftModel, ModelParams, with_params
from paceline.paths import demo_pair
from paceline.settings import MAX_PAIRS, SavedPair


def first_pairs(resources: Path, models: Models | None) -> tuple[Pair, Pair | None]:
    """Return the built-in pair, and the starter if its file exists."""
    target, draft = (ModelParams(str(path)) for path in demo_pair(resources))
    folders = models.download_folders if models is not None else ()
    file = next(filter(None, map(starter.find, folders)), None)
    demo = Pair(target, DraftModel(draft))
    return demo, Pair(ModelParams(str(file))) if file is not None else None


class SavedPairs(QObject):
    """Saved pairs, the newest first; a pair replaces an older one of the same files.

    The built-in models are stored under an empty path, since their place changes if the program is
    moved, or unpacked again at every start.
    """

    changed = Signal()

    def __init__(
        self, pairs: Sequence[SavedPair], demo: Pair, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.pairs = tuple(pairs)
        """The pairs as they are stored in the settings."""
        self._demo = demo

    @property
    def titles(self) -> tuple[str, ...]:
        """Names of the pairs: by their files, or by their titles where these are shorter."""
        return tuple(map(self._title, range(len(self.pairs))))

    def _title(self, at: int) -> str:
        by_files = pair_title(*map(model_name, self.pair(at).files))
        called = visible(self.pairs[at].name)
        return called if called and len(called) < len(by_files) else by_files

    def pair(self, at: int) -> Pair:
        """Return a pair to load."""
        pair, demo = Pair.of(self.pairs[at]), self._demo
        draft = pair.draft
        if draft is not None:
            draft = _located(draft, demo.draft.path if demo.draft else "")
        return replace(
            pair,
            target=_located(pair.target, demo.target.path),
            drafting=with_params(pair.drafting, draft),
        )

    def row_of(self, pair: Pair | None) -> int:
        """Return the index of the pair with these models, or -1."""
        if pair is None:
            return -1
        rows = [at for at in range(len(self.pairs)) if self.pair(at).files == pair.files]
        return rows[0] if rows else -1

    def remember(self, pair: Pair, name: str = "") -> None:
        """Put a working pair to the front."""
        demo = self._demo
        draft = pair.draft
        if draft is not None and demo.draft is not None:
            draft = _portable(draft, demo.draft.path)
        target = _portable(pair.target, demo.target.path)
        saved = made_of(SavedPair, pair.kept, target=target, draft=draft, name=name)
        at = self.row_of(pair)
        others = [other for row, other in enumerate(self.pairs) if row != at]
        self._set((saved, *others)[:MAX_PAIRS])

    def forget(self, at: int) -> None:
        """Remove a pair."""
        self._set((*self.pairs[:at], *self.pairs[at + 1 :]))

    @Slot()
    def forget_all(self) -> None:
        """Remove all pairs."""
        self._set(())

    def _set(self, pairs: tuple[SavedPair, ...]) -> None:
        if pairs != self.pairs:
            self.pairs = pairs
            self.changed.emit()


def _portable(params: ModelParams, built_in: str) -> ModelParams:
    return replace(params, path="") if params.path == built_in else params


def _located(params: ModelParams, built_in: str) -> ModelParams:
    return params if params.path else replace(params, path=built_in)


def pair_title(target: str, draft: str = "") -> str:
    """Return the title of a pair of models with these names."""
    return f"{target} + {draft}" if draft else target
