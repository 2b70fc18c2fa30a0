"""The models on this computer: their rows, kept up to date, and actions on files.

Rows come in batches while the files are inspected. Main thread.

A refresh reads headers for seconds or minutes, so it has a thread of its own, and its results are
shown in batches. Folders are watched and, while the list is visible, also scanned from time to
time: a watcher reports new names, but not a file that is still growing, and nothing on some network
disks.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Generator, Iterable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QFile, QFileSystemWatcher, QObject, QTimer, Signal, Slot
from PySide6.QtWidgets import QWidget

from paceline.catalog.hub.values import is_reference
from paceline.catalog.local.library import Library, LibraryEntry
from paceline.catalog.local.model_files import Place
from paceline.errors import UserError
from paceline.gui.kit.background import Background, Batch, next_batch
from paceline.gui.kit.file_dialogs import reveal
from paceline.gui.kit.notices import Notifications, ask_to_delete
from paceline.gui.kit.sentences import said
from paceline.gui.kit.translation import local_size, translator
from paceline.gui.models.candidates import Candidate, of_entry, of_reference
from paceline.gui.models.lists.offers import Offer, offer_of_entry
from paceline.names import visible

_MAX_WATCHED = 256
"""Maximum number of watched folders; some systems hold a file open for each."""
_BATCH, _BATCH_S = 64, 0.1


def _folders_to_watch(
    places: Callable[[], Sequence[Place]], entries: Sequence[LibraryEntry]
) -> tuple[str, ...]:
    """Return the existing folders, then those that contain models and all in between."""
    roots = [place.folder for place in places() if place.folder.is_dir()]
    below: dict[Path, None] = dict.fromkeys(roots)
    for entry in entries:
        chain = [entry.file.path.parent, *entry.file.path.parent.parents]
        ends = [at for at, folder in enumerate(chain) if folder in roots]
        below.update(dict.fromkeys(chain[: ends[0] if ends else 1]))
    return tuple(map(str, below))[:_MAX_WATCHED]


SETTLE_MS = 700
"""Interval within which changes count as one."""
POLL_MS = 30_000
CLOSE_TIMEOUT_MS = 1000
LIBRARY = "library"
"""Topic of notices about model files."""

_tr = translator("LibraryController")


class LibraryController(QObject):
    """Owner of the watcher and of the refresh thread; main thread."""

    changed = Signal()
    """The rows have changed, or a refresh has begun or ended."""
    refreshed = Signal()
    """A refresh has ended; the rows are complete."""
    opened = Signal(object)
    """Offer of a file that was opened"""
    refused = Signal(object, object)  # `str` would become Qt's text, which loses the arguments
    """The reason why an opened file cannot be used, and a remedy"""

    def __init__(
        self,
        library: Library,
        notifications: Notifications,
        window: QWidget,
        *,
        is_loaded: Callable[[Path], bool] = lambda _: False,
    ) -> None:
        """Keep the parts; nothing is started yet.

        Args:
            library: Finds models.
            notifications: Receives failures.
            window: Parent of dialogs, and of this.
            is_loaded: Returns whether the engine has a file open.
        """
        super().__init__(window)
        self._library = library
        self.offers: dict[Path, Offer] = {}
        """The rows by file, as in the first step."""
        self._notifications = notifications
        self._window = window
        self._is_loaded = is_loaded
        self._background = Background(self)
        self._stop = threading.Event()
        self._scan: Generator[LibraryEntry, None, None] | None = None
        self._seen: dict[Path, LibraryEntry] = {}
        self._is_wanted_again = False
        self._watcher = QFileSystemWatcher(self)
        self._watcher.directoryChanged.connect(self._on_changed)
        self._settle = QTimer(self, singleShot=True, interval=SETTLE_MS)
        self._settle.timeout.connect(self.refresh)
        self._poll = QTimer(self, interval=POLL_MS)
        self._poll.timeout.connect(self.refresh)

    # ---------------------------------------------------------------------------------- models

    @property
    def entries(self) -> tuple[LibraryEntry, ...]:
        """Known models."""
        rows = (offer.origin for offer in self.offers.values())
        return tuple(entry for entry in rows if isinstance(entry, LibraryEntry))

    def candidate(self, reference: str) -> Candidate:
        """Return the candidate of a path or an ``hf:`` reference, with all known facts.

        Raises:
            HubError: The reference begins with ``hf:`` and names no model.
        """
        here = None if is_reference(reference) else self.offers.get(Path(reference))
        return here.model if here is not None and here.model else of_reference(reference)

    def update(self, entries: Iterable[LibraryEntry]) -> None:
        """Add these models, in place of their earlier entries."""
        for entry in entries:
            known = self.offers.get(entry.file.path)
            if known is None or known.origin != entry:
                self.offers[entry.file.path] = offer_of_entry(entry)
        self.changed.emit()

    @Slot(str)
    def open_file(self, path: str) -> None:
        """Inspect a file that need not be in a list; `opened` or `refused` follows."""
        look = partial(self._library.look_at, Path(path))
        self._background.start(look, self._on_opened, self._on_unusable)

    def _on_opened(self, entry: LibraryEntry) -> None:
        self.update([entry])
        model = of_entry(entry)
        if entry.problem and not model.is_head:
            why = self.tr("“{}” cannot be used: {}").format(entry.file.name, said(entry.problem))
            self.refused.emit(why, "")
        else:
            self.opened.emit(Offer(model.reference, model.title, model=model))

    def _on_unusable(self, error: UserError) -> None:
        self.refused.emit(error.message, error.hint)

    # --------------------------------------------------------------------------------- refresh

    @property
    def is_busy(self) -> bool:
        """Return whether a refresh is running."""
        return self._scan is not None

    @Slot()
    def refresh(self) -> None:
        """Scan all folders; a request during a refresh is carried out after it."""
        if self._stop.is_set():
            return
        if self._scan is not None:
            self._is_wanted_again = True
            return
        self._settle.stop()
        self._scan, self._seen = self._library.scan(self._stop.is_set), {}
        if self.offers:
            self._go_on()
        else:
            self._background.start(self._library.known, self._on_known, self._on_scan_failed)
        self.changed.emit()

    def set_visible(self, is_visible: bool) -> None:  # noqa: FBT001
        """Refresh from time to time while the list is visible, and only then."""
        if not is_visible:
            self._poll.stop()
        elif not self._poll.isActive():
            self._poll.start()
            self.refresh()

    def close(self) -> bool:
        """Stop the refresh; return False if a file is still being inspected after a second.

        A closed inspector drops its file at once, so it should be closed before.
        """
        self._stop.set()
        self._poll.stop()
        self._settle.stop()
        has_ended = self._background.close(CLOSE_TIMEOUT_MS)
        if has_ended and self._scan is not None:
            self._scan.close()  # its results are kept
        return has_ended

    def _go_on(self) -> None:
        if self._scan is not None:
            look = partial(next_batch, self._scan, _BATCH, _BATCH_S)
            self._background.start(look, self._on_found, self._on_scan_failed)

    def _on_known(self, entries: tuple[LibraryEntry, ...]) -> None:
        if not self._stop.is_set():
            self.update(entries)
            self._go_on()

    def _on_found(self, batch: Batch[LibraryEntry]) -> None:
        if self._stop.is_set():
            return
        if batch.error is not None:
            self._on_scan_failed(batch.error)
            return
        self._seen.update((entry.file.path, entry) for entry in batch.values)
        if batch.is_last:
            self.offers = {path: row for path, row in self.offers.items() if path in self._seen}
        self.update(batch.values)
        if not batch.is_last:
            self._go_on()
            return
        folders = partial(_folders_to_watch, self._library.places, tuple(self._seen.values()))
        self._background.start(folders, self._on_whole, self._on_scan_failed)

    def _on_whole(self, folders: tuple[str, ...]) -> None:
        self._watch(folders)
        self._end_scan()
        self.refreshed.emit()

    def _on_scan_failed(self, error: UserError) -> None:
        self._end_scan()
        self._notifications.user_error(error)

    def _end_scan(self) -> None:
        self._scan = None
        self.changed.emit()
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
        """Ask, then move a model's files to the trash, except those of other programs."""
        if not entry.is_ours or self._refuses_loaded(entry):
            return
        ask_to_delete(
            self._window,
            self.tr("Delete this model?"),
            self.tr("“{}” ({}) is moved to the trash.").format(
                visible(entry.file.name), local_size(entry.file.n_bytes)
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
        if self._stop.is_set() or self._refuses_loaded(entry):
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
    """Move the files of a model to the trash, and remove empty folders; any thread.

    Raises:
        UserError: A file cannot be moved to the trash.
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
    with contextlib.suppress(OSError):  # the folders contain other files
        folder.rmdir()  # REPO
        folder.parent.rmdir()  # OWNER
