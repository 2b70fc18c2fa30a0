"""The models on this computer: the list for views, kept up to date, and what can be done with them.

The list is sorted here and filtered by a proxy.

Rows come in batches while the files are looked into; the list is never reset, so that a view keeps
its selection and its place. Rows are ordered here, once per batch, because a proxy that sorts would
ask Python for every comparison. Main thread.

A refresh reads headers for seconds or minutes, so it has a thread of its own; what it finds is
shown in batches. Folders are watched, and while the list is visible also searched from time to
time: a watcher reports new names, but not a file that is still growing, and nothing on some network
disks.
"""

from __future__ import annotations

import bisect
import contextlib
import threading
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from PySide6.QtCore import (
    QCoreApplication,
    QFile,
    QFileSystemWatcher,
    QModelIndex,
    QObject,
    QTimer,
    Signal,
    Slot,
)
from PySide6.QtWidgets import QWidget

from paceline.catalog.local.library import Library, LibraryEntry
from paceline.catalog.local.model_files import Place
from paceline.errors import UserError
from paceline.gui.kit.background import Background
from paceline.gui.kit.file_dialogs import reveal
from paceline.gui.kit.notices import Notifications, ask_to_delete
from paceline.gui.kit.rows import Rows
from paceline.gui.kit.sentences import said
from paceline.gui.kit.translation import local_size, translator
from paceline.names import visible

_Key = tuple[Any, ...]
_TOP = QModelIndex()

Order = Literal["name", "largest", "smallest", "place"]


def place_title(source: str) -> str:
    """Return what the owner of a place is called."""
    titles = {
        "paceline": "Paceline",
        "folder": QCoreApplication.translate("Library", "Folder"),
        "hugging-face": "Hugging Face",
        "lm-studio": "LM Studio",
        "ollama": "Ollama",
        "built-in": QCoreApplication.translate("Library", "Built in"),
    }
    return titles.get(source, source)


class LibraryModel(Rows[LibraryEntry]):
    """One row per model."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._keys: list[_Key] = []
        self._entries: dict[Path, LibraryEntry] = {}
        self._order: Order = "name"

    # --------------------------------------------------------------------------------- content

    def entry_of(self, path: Path) -> LibraryEntry | None:
        """Return the model at a path; None when it is not in the list."""
        return self._entries.get(path)

    def row_of(self, path: Path) -> int:
        """Return the row of a model; -1 when it is not in the list."""
        entry = self._entries.get(path)
        return -1 if entry is None else bisect.bisect_left(self._keys, self._key(entry))

    def update(self, entries: Iterable[LibraryEntry]) -> None:
        """Show these beside the ones that are there, in place of what they were before."""
        new: list[tuple[_Key, LibraryEntry]] = []
        moving = []
        for path, entry in {entry.file.path: entry for entry in entries}.items():
            was, key = self._entries.get(path), self._key(entry)
            if was is None:
                new.append((key, entry))
            elif entry == was:
                continue
            elif key == self._key(was):
                row = self.row_of(path)
                self.rows = (*self.rows[:row], entry, *self.rows[row + 1 :])
                self._entries[path] = entry
                self.dataChanged.emit(self.index(row), self.index(row))
            else:
                moving.append(entry)
        if moving:
            self._reorder(moving)
        self._insert(sorted(new, key=_first))

    def retain(self, paths: Collection[Path]) -> None:
        """Take away all models but these."""
        for row in range(len(self.rows) - 1, -1, -1):
            path = self.rows[row].file.path
            if path not in paths:
                self.beginRemoveRows(_TOP, row, row)
                self.rows = (*self.rows[:row], *self.rows[row + 1 :])
                del self._keys[row], self._entries[path]
                self.endRemoveRows()

    def _insert(self, new: list[tuple[_Key, LibraryEntry]]) -> None:
        """Insert sorted rows; those that become neighbours in one step."""
        at = 0
        while at < len(new):
            place = bisect.bisect_left(self._keys, new[at][0])
            end = len(new)
            if place < len(self._keys):
                end = bisect.bisect_left(new, self._keys[place], key=_first)
            run = new[at:end]
            self.beginInsertRows(_TOP, place, place + len(run) - 1)
            self._keys[place:place] = [key for key, _ in run]
            self.rows = (*self.rows[:place], *(e for _, e in run), *self.rows[place:])
            self._entries.update((entry.file.path, entry) for _, entry in run)
            self.endInsertRows()
            at = end

    # ------------------------------------------------------------------------------------ order

    def order_by(self, order: Order) -> None:
        """Put the rows in another order."""
        self._order = order
        self._reorder()

    def _reorder(self, changed: Sequence[LibraryEntry] = ()) -> None:
        """Put all rows in order, some of them with new content; views keep what is chosen."""
        self.layoutAboutToBeChanged.emit()
        held = [(index, self.rows[index.row()].file.path) for index in self.persistentIndexList()]
        self._entries.update((entry.file.path, entry) for entry in changed)
        pairs = sorted(((self._key(e), e) for e in self._entries.values()), key=_first)
        self._keys = [key for key, _ in pairs]
        self.rows = tuple(entry for _, entry in pairs)
        self.changePersistentIndexList(
            [index for index, _ in held],
            [self.index(self.row_of(path)) for _, path in held],
        )
        self.layoutChanged.emit()

    def _key(self, entry: LibraryEntry) -> _Key:
        """Return what a row is ordered by; no two rows have the same."""
        file = entry.file
        first = {
            "name": 0,
            "largest": -file.n_bytes,
            "smallest": file.n_bytes,
            "place": place_title(file.source).casefold(),
        }[self._order]
        return first, file.name.casefold(), str(file.path)

    # ------------------------------------------------------------------------------------ words

    def title(self, row: LibraryEntry) -> str:
        """The name of a model."""
        return row.file.name

    def tip(self, row: LibraryEntry) -> str:
        """Where it is and what is wrong with it."""
        return f"{row.file.path}\n{said(row.problem)}".strip()


def _first(pair: tuple[_Key, LibraryEntry]) -> _Key:
    return pair[0]


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
    """One refresh of the library, reported in batches; lives on the main thread.

    It is called on a worker's thread, and waits until a batch was taken before the next one.
    """

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
        """Go on with the next batch."""
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


SETTLE_MS = 700
"""Changes within this time count as one."""
POLL_MS = 30_000
END_MS = 1000
LIBRARY = "library"
"""Topic of notices about model files."""

_tr = translator("LibraryController")


class LibraryController(QObject):
    """Owns the thread of the refresh and the watcher; main thread."""

    busy_changed = Signal(bool)
    """Whether a refresh is under way."""
    refreshed = Signal()
    """A refresh has ended; the list is complete."""

    def __init__(
        self,
        library: Library,
        notifications: Notifications,
        window: QWidget,
        *,
        is_loaded: Callable[[Path], bool] = lambda _: False,
    ) -> None:
        """Start nothing yet.

        Args:
            library: Finds the models.
            notifications: Where failures go.
            window: Parent of dialogs, and of this.
            is_loaded: Whether the engine has a file open.
        """
        super().__init__(window)
        self._library = library
        self.model = LibraryModel(self)
        """The models, for the widgets"""
        self._notifications = notifications
        self._window = window
        self._is_loaded = is_loaded
        self._background = Background(self)
        self._scan: Scan | None = None
        self._is_wanted_again = self._is_closed = False
        self._watcher = QFileSystemWatcher(self)
        self._watcher.directoryChanged.connect(self._on_changed)
        self._settle = QTimer(self, singleShot=True, interval=SETTLE_MS)
        self._settle.timeout.connect(self.refresh)
        self._poll = QTimer(self, interval=POLL_MS)
        self._poll.timeout.connect(self.refresh)

    # --------------------------------------------------------------------------------- refresh

    @property
    def is_busy(self) -> bool:
        """Whether a refresh is under way."""
        return self._scan is not None

    @Slot()
    def refresh(self) -> None:
        """Look through all folders; one that is asked for meanwhile follows."""
        if self._is_closed:
            return
        if self._scan is not None:
            self._is_wanted_again = True
            return
        self._settle.stop()
        self._scan = Scan(self._library, begins_empty=not self.model.rows)
        self._scan.found.connect(self._on_found)
        self._background.start(self._scan, self._on_scanned, self._on_scan_failed)
        self.busy_changed.emit(True)  # noqa: FBT003

    def set_visible(self, is_visible: bool) -> None:  # noqa: FBT001
        """Refresh from time to time while the list is visible, and only then."""
        if not is_visible:
            self._poll.stop()
        elif not self._poll.isActive():
            self._poll.start()
            self.refresh()

    def close(self) -> bool:
        """Stop what is under way; false: a file is still being looked into after a second.

        An inspector that is closed before this gives up its file at once.
        """
        self._is_closed = True
        self._poll.stop()
        self._settle.stop()
        if self._scan is not None:
            self._scan.stop()
        return self._background.close(END_MS)

    @Slot(list)
    def _on_found(self, entries: list[LibraryEntry]) -> None:
        self.model.update(entries)
        if self._scan is not None:
            self._scan.go_on()

    def _on_scanned(self, result: Found) -> None:
        self.model.update(result.entries)
        if result.is_whole:
            self.model.retain({entry.file.path for entry in result.entries})
            self._watch(result.folders)
        self._end_scan()
        self.refreshed.emit()

    def _on_scan_failed(self, error: UserError) -> None:
        self._end_scan()
        self._notifications.user_error(error)

    def _end_scan(self) -> None:
        if self._scan is not None:
            self._scan.deleteLater()
        self._scan = None
        self.busy_changed.emit(False)  # noqa: FBT003
        if self._is_wanted_again:
            self._is_wanted_again = False
            self.refresh()

    def _watch(self, folders: Sequence[str]) -> None:
        """Watch these folders and no others."""
        watched = set(self._watcher.directories())
        gone, new = watched.difference(folders), set(folders).difference(watched)
        if gone:
            self._watcher.removePaths(sorted(gone))
        if new:
            self._watcher.addPaths(sorted(new))

    @Slot(str)
    def _on_changed(self, _folder: str) -> None:
        self._settle.start()

    # ----------------------------------------------------------------------------------- files

    def reveal(self, entry: LibraryEntry) -> None:
        """Show the file in the file manager."""
        if not entry.file.path.exists():
            self._notifications.error(
                self.tr("“{}” is not there any more.").format(entry.file.path.name), topic=LIBRARY
            )
            self.refresh()
        elif not reveal(entry.file.path):
            self._notifications.error(
                self.tr("No file manager could be opened."),
                self.tr("The file is {}.").format(entry.file.path),
                topic=LIBRARY,
            )

    def delete(self, entry: LibraryEntry) -> None:
        """Ask, then move the files of a model to the trash; only what this program downloaded."""
        name = visible(entry.file.name)
        if not entry.is_ours:
            self._notifications.error(
                self.tr("“{}” was not downloaded by Paceline.").format(name),
                self.tr("Delete it where it comes from: {}.").format(
                    place_title(entry.file.source)
                ),
                topic=LIBRARY,
            )
            return
        if self._refuses_loaded(entry):
            return
        ask_to_delete(
            self._window,
            self.tr("Delete this model?"),
            self.tr("“{}” ({}) is moved to the trash.").format(
                name, local_size(entry.file.n_bytes)
            ),
            self.tr("Move to trash"),
            partial(self._on_delete, entry),
        )

    def _refuses_loaded(self, entry: LibraryEntry) -> bool:
        is_loaded = any(self._is_loaded(part) for part in entry.file.parts)
        if is_loaded:
            self._notifications.error(
                self.tr("“{}” is loaded now.").format(entry.file.name),
                self.tr("Load another model, then delete it."),
                topic=LIBRARY,
            )
        return is_loaded

    def _on_delete(self, entry: LibraryEntry) -> None:
        # It may have been loaded while the question was open.
        if self._is_closed or self._refuses_loaded(entry):
            return
        self._background.start(
            partial(_move_to_trash, entry), self._on_deleted, self._on_not_deleted
        )

    def _on_deleted(self, _result: None) -> None:
        self.refresh()

    def _on_not_deleted(self, error: UserError) -> None:
        self._notifications.error(error.message, error.hint, topic=LIBRARY)
        self.refresh()


def _move_to_trash(entry: LibraryEntry) -> None:
    """Move the files of a model there, and remove folders that are empty then; any thread.

    Raises:
        UserError: A file cannot be moved there.
    """
    for part in entry.file.parts:
        file = QFile(str(part))
        if part.exists() and not file.moveToTrash():
            raise UserError(
                "not-deleted",
                _tr("“{}” cannot be moved to the trash: {}.").format(part.name, file.errorString()),
                _tr("Delete it in the file manager; it is in {}.").format(part.parent),
            )
    folder = entry.file.path.parent
    with contextlib.suppress(OSError):  # they hold something else
        folder.rmdir()  # REPO
        folder.parent.rmdir()  # OWNER
