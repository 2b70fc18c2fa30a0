"""Strategies per pair of models: the one that was used last, and those with a name.

A pair is known by the names of its files: moved models keep what belongs to them. Main thread.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from paceline.chat.presets import clean_name
from paceline.settings import MAX_PRESETS, DraftPreset

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paceline.chat.pair import Pair

PairKey = tuple[str, str]
"""File names of target and draft model; no draft model is empty."""
MAX_LAST = 50
"""Pairs whose last strategy is remembered"""


def key_of(pair: Pair) -> PairKey:
    """Return what a pair is known by."""
    return Path(pair.target.path).name, Path(pair.draft.path).name if pair.draft else ""


class DraftPresets(QObject):
    """The list, and the pair that it is about now."""

    changed = Signal()
    """The list, or the pair"""
    kept_changed = Signal()
    """What is to be saved"""

    def __init__(self, presets: Sequence[DraftPreset] = (), parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._presets = tuple(presets)
        self._pair: PairKey | None = None

    @property
    def presets(self) -> tuple[DraftPreset, ...]:
        """All of them, as they are saved; of those without a name the newest last."""
        return self._presets

    @property
    def pair(self) -> PairKey | None:
        """The pair that is loaded; None: there is none."""
        return self._pair

    def set_pair(self, pair: PairKey | None) -> None:
        """Know what is loaded."""
        if pair != self._pair:
            self._pair = pair
            self.changed.emit()

    @property
    def last(self) -> str:
        """The strategy that was used last with this pair; empty: none."""
        found = self._find("")
        return found.strategy if found is not None else ""

    @property
    def named(self) -> tuple[DraftPreset, ...]:
        """Those of this pair that have a name."""
        return tuple(p for p in self._presets if p.name and (p.target, p.draft) == self._pair)

    def remember(self, strategy: str) -> None:
        """Keep the strategy as what was used last with this pair."""
        if self._pair is None or strategy == self.last:
            return
        others = [p for p in self._presets if p is not self._find("")]
        n_too_many = sum(not p.name for p in others) - MAX_LAST + 1
        oldest = [p for p in others if not p.name][: max(n_too_many, 0)]
        kept = [p for p in others if not any(p is old for old in oldest)]
        self._set((*kept, DraftPreset("", *self._pair, strategy)))

    def obstacle(self, name: str, but: str = "") -> str:
        """Why a preset of this pair cannot have a name, in words; empty: it can."""
        name = clean_name(name)
        if not name:
            return self.tr("Give the preset a name.")
        if any(p.name.casefold() == name.casefold() for p in self.named if p.name != but):
            return self.tr("There is a preset of this name.")
        return ""

    @property
    def room(self) -> int:
        """How many more can have a name."""
        return MAX_PRESETS - sum(bool(preset.name) for preset in self._presets)

    def save_as(self, name: str, strategy: str) -> None:
        """Keep a strategy for this pair under a name without obstacle."""
        if self._pair is not None:
            self._set((*self._presets, DraftPreset(clean_name(name), *self._pair, strategy)))

    def strategy_of(self, name: str) -> str:
        """The strategy of a preset of this pair; empty: there is no such one."""
        found = self._find(name)
        return found.strategy if found is not None else ""

    def rename(self, old: str, new: str) -> None:
        """Give a preset of this pair another name without obstacle."""
        found = self._find(old)
        if found is not None:
            renamed = replace(found, name=clean_name(new))
            self._set(tuple(renamed if p is found else p for p in self._presets))

    def delete(self, name: str) -> None:
        """Drop a preset of this pair."""
        found = self._find(name)
        if found is not None:
            self._set(tuple(p for p in self._presets if p is not found))

    def _find(self, name: str) -> DraftPreset | None:
        mine = [p for p in self._presets if (p.target, p.draft) == self._pair and p.name == name]
        return mine[0] if mine else None

    def _set(self, presets: tuple[DraftPreset, ...]) -> None:
        self._presets = presets
        self.changed.emit()
        self.kept_changed.emit()
