"""One refresh of the library on a worker's thread, told to the main thread in batches."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from paceline.catalog.library import LibraryEntry

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from paceline.catalog.library import Library
    from paceline.catalog.places import Place

_MAX_WATCHED = 256
"""Folders; some systems hold a file open for each."""
_BATCH, _BATCH_S = 64, 0.1
_TAKEN_S = 1.0


@dataclass(frozen=True, slots=True)
class Found:
    """What a refresh came to; not whole when it was stopped."""

    entries: tuple[LibraryEntry, ...]
    folders: tuple[str, ...]
    is_whole: bool


class Scan(QObject):
    """One refresh: lives on the main thread, called on a worker's."""

    found = Signal(list)

    def __init__(self, library: Library, *, begins_empty: bool) -> None:
        super().__init__()
        self._library = library
        self._begins_empty = begins_empty
        self._is_stopped = threading.Event()
        self._is_taken = threading.Event()
        self._batch: list[LibraryEntry] = []
        self._sent_s = 0.0

    def stop(self) -> None:
        """End soon, with what is found by then; any thread."""
        self._is_stopped.set()
        self._is_taken.set()

    def go_on(self) -> None:
        """Know that a batch has been taken."""
        self._is_taken.set()

    def __call__(self) -> Found:
        """Refresh; runs on the worker's thread."""
        if self._begins_empty:
            for entry in self._library.known():
                self._on_entry(entry)
        entries = self._library.refresh(self._on_entry, self._is_stopped.is_set)
        is_whole = not self._is_stopped.is_set()
        folders = _folders_to_watch(self._library.places(), entries) if is_whole else ()
        return Found(entries, folders, is_whole)

    def _on_entry(self, entry: LibraryEntry) -> None:
        self._batch.append(entry)
        if len(self._batch) < _BATCH and time.monotonic() - self._sent_s < _BATCH_S:
            return
        batch, self._batch = self._batch, []
        self._is_taken.clear()
        if not self._is_stopped.is_set():
            self.found.emit(batch)
            # One at a time: several that wait would be taken without a paint in between.
            self._is_taken.wait(_TAKEN_S)
        self._sent_s = time.monotonic()


def _folders_to_watch(places: Sequence[Place], entries: Sequence[LibraryEntry]) -> tuple[str, ...]:
    """Return the folders that exist, then those with models in them and all in between."""
    roots = [place.folder for place in places if place.folder.is_dir()]
    below: dict[Path, None] = dict.fromkeys(roots)
    for entry in entries:
        chain = [entry.file.path.parent, *entry.file.path.parent.parents]
        ends = [at for at, folder in enumerate(chain) if folder in roots]
        below.update(dict.fromkeys(chain[: ends[0] if ends else 1]))
    return tuple(map(str, below))[:_MAX_WATCHED]
