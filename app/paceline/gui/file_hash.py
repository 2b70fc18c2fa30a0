"""The SHA-256 of whole model files, one at a time, in the background and only when asked for."""

from __future__ import annotations

import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from paceline.catalog.fingerprint import sha256_of
from paceline.errors import CancelledError

if TYPE_CHECKING:
    from paceline.errors import UserError
    from paceline.gui.background import Background

PER_CENT = 100


class FileHash(QObject):
    """Reads files and remembers what came out while the program runs."""

    progressed = Signal(str, int)
    """Path, per cent"""
    ended = Signal(str)
    """Path: its hash is known, or it was cancelled, or could not be read"""
    failed = Signal(object)
    """UserError"""

    def __init__(self, background: Background, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._background = background
        self._known: dict[str, str] = {}
        self._running: dict[str, threading.Event] = {}

    def known(self, path: str) -> str:
        """The hash in hex; empty until it is known."""
        return self._known.get(path, "")

    def start(self, path: str) -> None:
        """Begin to read a file."""
        if path in self._running or path in self._known:
            return
        stop = self._running[path] = threading.Event()
        self.progressed.emit(path, 0)
        self._background.start(
            partial(self._read, path, stop), self._on_read, partial(self._on_failed, path)
        )

    def cancel(self, path: str = "") -> None:
        """Stop reading a file, or all."""
        for name, stop in self._running.items():
            if path in ("", name):
                stop.set()

    def _read(self, path: str, stop: threading.Event) -> tuple[str, str]:
        """Runs in the pool; an empty hash: it was stopped."""
        told = 0

        def on_progress(n_read: int, n_bytes: int) -> None:
            nonlocal told
            percent = PER_CENT * n_read // max(n_bytes, 1)
            if percent != told:
                told = percent
                self.progressed.emit(path, percent)

        try:
            return path, sha256_of(Path(path), stop.is_set, on_progress)
        except CancelledError:
            return path, ""

    @Slot(object)
    def _on_read(self, result: object) -> None:
        assert isinstance(result, tuple)
        path, digest = result
        self._running.pop(path, None)
        if digest:
            self._known[path] = digest
        self.ended.emit(path)

    def _on_failed(self, path: str, error: UserError) -> None:
        self._running.pop(path, None)
        self.ended.emit(path)
        self.failed.emit(error)
