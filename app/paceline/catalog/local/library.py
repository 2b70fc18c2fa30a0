"""The models on this computer: found by name at once, then read one by one.

A file that cannot be used stays in the list with the reason, since a model that is silently missing
is hard to understand. Findings are remembered until the file changes, bad ones included: a file
that crashes its reader is not read at every start. No Qt.
"""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from paceline.catalog.card import ModelCard, card_version
from paceline.catalog.local.model_files import (
    ModelFile,
    Place,
    find_models,
    find_ollama_models,
    model_at,
)
from paceline.catalog.sidecar import Sidecar, sidecar_in_path, sidecar_of
from paceline.codec import CodecError, decode, encode
from paceline.errors import CancelledError, ModelError
from paceline.files import write_whole
from paceline.sentence import Sentence, UserText, joined, sentence
from paceline.sizes import part_and_whole

CURRENT_S = 60.0
SAVE_EVERY_S = 5.0
_PASSING = frozenset({"takes-too-long", "cannot-look", "changed", "file-not-found", "newer-model"})
"""Problems that may be gone the next time though the file is unchanged, as after a slow disk or
with a newer llama.cpp."""


class CardReader(Protocol):
    """The part of an `Inspector` that the library needs."""

    def card(self, path: Path, parts: Sequence[Path] = ()) -> ModelCard:
        """Return a file's card; raises ModelError, or CancelledError once it is closed."""


@dataclass(frozen=True, slots=True)
class LibraryEntry:
    """One model on this computer.

    Attributes:
        file: The file.
        card: Facts from its header, or None if it was not read or has a `problem`; a sidecar has
            both.
        problem: Why it cannot be used, in one sentence, or empty if no reason is known.
    """

    file: ModelFile
    card: ModelCard | None
    problem: UserText = ""

    @property
    def is_ours(self) -> bool:
        """Return whether this program has downloaded it, and so may delete it."""
        return self.file.source == "paceline"

    @property
    def sidecar(self) -> Sidecar | None:
        """The kind of sidecar, by name as long as its header is not read; None if it is none."""
        name = self.file.path.name
        return sidecar_of(self.card, name) if self.card else sidecar_in_path(name)


class Library:
    """Finds models and remembers their cards; any thread, but `refresh` takes long.

    Args:
        inspector: Reads headers.
        places: Returns the folders to search; called at every refresh.
        cache_file: File for the findings, or None to keep none.
    """

    def __init__(
        self,
        inspector: CardReader,
        *,
        places: Callable[[], Sequence[Place]],
        cache_file: Path | None,
    ) -> None:
        self._inspector = inspector
        self._places = places
        self._cache_file = cache_file
        self._is_saved = True
        self._refreshed: float | None = None
        self._guard = threading.Lock()

    def places(self) -> Sequence[Place]:
        """Return the folders that the next refresh will look through."""
        return self._places()

    def known(self) -> tuple[LibraryEntry, ...]:
        """Return the remembered entries without reading the folders, for a list's first paint.

        Files that are gone are still in it until the next refresh.
        """
        prefixes = tuple(_as_prefix(place.folder) for place in self._places())
        with self._guard:
            known = tuple(self._known.values())
        return tuple(entry for entry in known if str(entry.file.path).startswith(prefixes))

    def refresh(
        self,
        on_entry: Callable[[LibraryEntry], None] = lambda _: None,
        is_stopped: Callable[[], bool] = lambda: False,
    ) -> tuple[LibraryEntry, ...]:
        """Search all folders, then read all files that are new or changed; on a worker.

        Args:
            on_entry: Called for every file when it is found, and again when it was read.
            is_stopped: Polled between files; true ends the refresh and keeps the findings.

        Returns:
            All models; fewer when it was stopped.
        """
        entries = {}
        for entry in self.scan(is_stopped):
            entries[entry.file.path] = entry
            on_entry(entry)
        return tuple(entries.values())

    def scan(self, is_stopped: Callable[[], bool]) -> Generator[LibraryEntry, None, None]:
        """Do the same, and yield every file when it is found, and again when it was read."""
        entries: dict[Path, LibraryEntry] = {}
        for file in self._find(is_stopped):
            entry = self._remembered_of(file) or LibraryEntry(file, None)
            entries[file.path] = entry
            yield entry
        is_whole = not is_stopped()
        saved = time.monotonic()
        try:
            for path, entry in entries.items():
                if is_stopped():
                    break
                if entry.card is None and not entry.problem:
                    entries[path] = self._look_into(entry.file)
                    yield entries[path]
                    if time.monotonic() - saved > SAVE_EVERY_S:
                        self._save()
                        saved = time.monotonic()
        finally:
            if is_whole:
                self._forget_gone(entries)
                self._refreshed = time.monotonic()
            self._save()

    def current(self, is_stopped: Callable[[], bool] = lambda: False) -> tuple[LibraryEntry, ...]:
        """Return the entries of a refresh of the last minute; refresh now if there was none.

        Args:
            is_stopped: True ends that refresh; the entries found by then are returned.
        """
        refreshed = self._refreshed
        if refreshed is None or time.monotonic() - refreshed > CURRENT_S:
            self.refresh(is_stopped=is_stopped)
        return self.known()

    def look_at(self, path: Path) -> LibraryEntry:
        """Read one file, e.g. one that was dropped; blocks.

        Any part of a split model leads to the whole model. A file that cannot be used comes back
        with its `problem`.

        Raises:
            ModelError: There is no such file.
        """
        file = model_at(path)
        if known := self._remembered_of(file):
            return known
        entry = self._look_into(file)
        self._save()
        return entry

    # ----------------------------------------------------------------------------------- private

    def _find(self, is_stopped: Callable[[], bool]) -> Iterator[ModelFile]:
        """Yield each file once, for the first of the places that it lies in."""
        seen: set[tuple[int, int]] = set()
        for place in self._places():
            if is_stopped():
                return
            folder = place.folder.absolute()
            files = find_models(folder, source=place.source, is_stopped=is_stopped)
            if place.source == "ollama":
                files = find_ollama_models(folder)
            for file in files:
                try:
                    stat = file.path.stat()
                except OSError:
                    continue
                identity = stat.st_dev, stat.st_ino
                if identity not in seen:
                    seen.add(identity)
                    yield file

    def _look_into(self, file: ModelFile) -> LibraryEntry:
        card, problem, is_lasting = None, "", True
        if file.what_is_missing:
            problem = file.what_is_missing
        elif not all(os.access(part, os.R_OK) for part in file.parts):
            # Not remembered: a change of permissions leaves size and time as they are.
            problem, is_lasting = sentence("It cannot be read with your permissions."), False
        else:
            try:
                card = self._inspector.card(file.path, file.parts)
                reasons = why_no_model(card, file.path.name), _why_not_whole(card, file)
                problem = joined(reasons)
            except CancelledError:
                return LibraryEntry(file, None)
            except ModelError as error:
                problem, is_lasting = error.message, error.code not in _PASSING
        is_kept = card is not None and (not problem or card.sidecar)
        entry = LibraryEntry(file, card if is_kept else None, problem)
        if is_lasting:
            with self._guard:
                self._known[file.path] = entry
                self._is_saved = False
        return entry

    def _remembered_of(self, file: ModelFile) -> LibraryEntry | None:
        """Return the remembered entry of a file, if it has not changed since."""
        with self._guard:
            known = self._known.get(file.path)
        # Its name or place may be another one today.
        if known and file == replace(known.file, name=file.name, source=file.source):
            return replace(known, file=file)
        return None

    @cached_property
    def _known(self) -> dict[Path, LibraryEntry]:
        """Return the known entries by path; the guard must be held."""
        return read_cache(self._cache_file) if self._cache_file else {}

    def _forget_gone(self, entries: dict[Path, LibraryEntry]) -> None:
        """Drop what a complete refresh did not find, except files outside the current places."""
        with self._guard:
            known = self._known
            for path in [p for p in known if p not in entries and not p.exists()]:
                del known[path]
                self._is_saved = False
            for path, entry in entries.items():
                if path in known and known[path].file != entry.file:
                    known[path] = replace(known[path], file=entry.file)
                    self._is_saved = False

    def _save(self) -> None:
        with self._guard:
            if self._is_saved or self._cache_file is None:
                return
            self._is_saved = True
            known = tuple(self._known.values())
        write_cache(self._cache_file, known)


def _as_prefix(folder: Path) -> str:
    """Return how the paths of all files below a folder begin."""
    return os.path.join(folder.absolute(), "")  # noqa: PTH118  pathlib drops the separator


def why_no_model(card: ModelCard, file_name: str) -> str:
    """Return why a valid and complete file cannot be used for chats, or empty if it can."""
    if sidecar := sidecar_of(card, file_name):
        return sidecar.sentence
    if not card.n_params:
        return sentence("It holds a vocabulary and no weights.")
    if not card.n_layers:
        return sentence(
            "It belongs to a model, as an adapter or a projector does, and is none itself."
        )
    return ""


def _why_not_whole(card: ModelCard, file: ModelFile) -> str:
    """Return the problem that a file holds fewer weights than its header promises, or empty."""
    if file.n_bytes >= card.n_bytes:
        return ""
    here, _ = part_and_whole(file.n_bytes, card.n_bytes)
    return sentence(
        "It is incomplete: {here} of {whole:size} are here.",
        here=Sentence("{n:.1f}" if "." in here else "{n:.0f}", {"n": float(here)}),
        whole=card.n_bytes,
    )


_logger = logging.getLogger(__name__)


def read_cache(cache_file: Path) -> dict[Path, LibraryEntry]:
    """Return what the cache file has, by path; records that cannot be read are left out.

    Reading a header takes up to 0.3 s and a library may have hundreds of files, so cards are kept
    by path, size of all parts and time of change, in one JSON file, which may be deleted at any
    time.
    """
    try:
        data: Any = json.loads(cache_file.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        _logger.info("the library's cache is not used: %s", error)
        return {}
    if not isinstance(data, dict) or data.get("version") != card_version():
        return {}
    records = data.get("files")
    if not isinstance(records, list):
        return {}
    found = (_entry(record) for record in records)
    return {entry.file.path: entry for entry in found if entry is not None}


def write_cache(cache_file: Path, entries: Collection[LibraryEntry]) -> None:
    """Replace the cache file; if it cannot be written, the next start only takes longer."""
    records = [*map(encode, entries)]
    text = json.dumps({"version": card_version(), "files": records}, separators=(",", ":"))
    try:
        write_whole(cache_file, text.encode())
    except OSError as error:
        _logger.info("the library's cache is not written: %s", error)


def _entry(record: Any) -> LibraryEntry | None:
    """Return the entry of a record, or None if it is unusable."""
    try:
        entry = decode(LibraryEntry, record)
    except CodecError:
        return None
    has_card = entry.card is not None and not entry.card.sidecar
    return entry if entry.file.parts and has_card is not bool(entry.problem) else None
