"""Fingerprints of the loaded models, computed in the background as soon as a pair is loaded.

A run record names the files that a reply came from; reading their samples takes milliseconds from
memory and much longer from a sleeping disk, so the GUI thread only looks up what is there.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from paceline.catalog import fingerprint

if TYPE_CHECKING:
    from paceline.chat.pair import PairState
    from paceline.errors import UserError
    from paceline.gui.background import Background
    from paceline.gui.viewmodels.pair import PairModel


class ModelFingerprints(QObject):
    """Looks at every pair that gets ready."""

    found = Signal(str)
    """Path of a model whose fingerprint is known now"""

    def __init__(
        self, pair: PairModel, background: Background, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._background = background
        self._reader = fingerprint.Fingerprints()
        self._known: dict[str, str] = {}
        self._asked: set[str] = set()
        pair.changed.connect(self._on_pair)
        self._on_pair(pair.state)

    def fingerprint_of(self, path: str) -> str:
        """The fingerprint of a loaded model; empty until it is known."""
        return self._known.get(path, "")

    @Slot(object)
    def _on_pair(self, state: PairState) -> None:
        if state.status != "ready":
            self._asked.clear()  # a file may be another one when it is loaded again
            return
        for model in (state.target, state.draft):
            if model is not None and model.path and model.path not in self._asked:
                self._asked.add(model.path)
                self._background.start(
                    partial(self._read, model.path), self._on_read, self._on_failed
                )

    def _read(self, path: str) -> tuple[str, str]:
        return path, self._reader.of(Path(path))

    @Slot(object)
    def _on_read(self, result: object) -> None:
        assert isinstance(result, tuple)
        path, digest = result
        self._known[path] = digest
        self.found.emit(path)

    @Slot(object)
    def _on_failed(self, error: UserError) -> None:
        """A file that was loaded and is gone: its replies stay without a fingerprint."""
