"""Identity of a run's files: fingerprints of loaded models, and SHA-256 on demand.

Reading samples for a fingerprint takes milliseconds from memory and much longer from a sleeping
disk, and a whole file takes minutes, so both are read in the background, and the GUI thread only
looks results up.
"""

from __future__ import annotations

import threading
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from paceline.catalog.local.fingerprint import fingerprint_of, sha256_of
from paceline.chat.pair import PairState
from paceline.errors import CancelledError, UserError
from paceline.gui.kit.background import Background
from paceline.gui.state.pair import PairModel


class ModelHashes(QObject):
    """Results by path, kept while the program runs; main thread."""

    found = Signal(str)
    """Path of a model whose fingerprint has become known"""
    progressed = Signal(str, int)
    """Path of a file whose SHA-256 is being computed, and per cent; also emitted from the pool"""
    ended = Signal(str)
    """Path of a file whose SHA-256 is known, was cancelled, or could not be computed"""
    failed = Signal(object)
    """UserError: the file could not be read"""

    def __init__(self, pair: PairModel, background: Background, parent: QObject) -> None:
        super().__init__(parent)
        self._background = background
        self._fingerprints: dict[str, str] = {}
        self._asked: set[str] = set()
        self._hashes: dict[str, str] = {}
        self._running: dict[str, threading.Event] = {}
        pair.changed.connect(self._on_pair)
        self._on_pair(pair.state)

    # -------------------------------------------------------------- fingerprints of loaded models

    def fingerprint_of(self, path: str) -> str:
        """Return the fingerprint of a loaded model, or empty until it is known."""
        return self._fingerprints.get(path, "")

    @Slot(object)
    def _on_pair(self, state: PairState) -> None:
        if state.status != "ready":
            self._asked.clear()  # a file may have changed when it is loaded again
            return
        for model in (state.target, state.draft):
            if model is not None and model.path and model.path not in self._asked:
                self._asked.add(model.path)
                # If the file is gone, replies have no fingerprint.
                samples = partial(fingerprint_of, Path(model.path))
                self._background.start(samples, partial(self._on_samples, model.path))

    def _on_samples(self, path: str, digest: str) -> None:
        self._fingerprints[path] = digest
        self.found.emit(path)

    # ------------------------------------------------------------------------ SHA-256 on demand

    def sha256_of(self, path: str) -> str:
        """Return the SHA-256 of a whole file in hex, or empty until it is known."""
        return self._hashes.get(path, "")

    def start(self, path: str) -> None:
        """Begin to read a whole file."""
        if path in self._running or path in self._hashes:
            return
        stop = self._running[path] = threading.Event()
        self.progressed.emit(path, 0)
        self._background.start(
            partial(self._read, path, stop),
            partial(self._on_read, path),
            partial(self._on_failed, path),
        )

    def cancel(self) -> None:
        """Stop reading whole files."""
        for stop in self._running.values():
            stop.set()

    def _read(self, path: str, stop: threading.Event) -> str:
        """Read a whole file in the pool; return its hash, or empty if it was stopped."""
        reported = 0

        def on_progress(n_read: int, n_bytes: int) -> None:
            nonlocal reported
            percent = 100 * n_read // max(n_bytes, 1)
            if percent != reported:
                reported = percent
                self.progressed.emit(path, percent)

        try:
            return sha256_of(Path(path), stop.is_set, on_progress)
        except CancelledError:
            return ""

    def _on_read(self, path: str, digest: str) -> None:
        self._running.pop(path, None)
        if digest:
            self._hashes[path] = digest
        self.ended.emit(path)

    def _on_failed(self, path: str, error: UserError) -> None:
        self._running.pop(path, None)
        self.ended.emit(path)
        self.failed.emit(error)
