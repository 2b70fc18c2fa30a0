"""Keeps the list of models up to date, and does what can be done with a model file.

A refresh reads headers for seconds or minutes, so it has a thread of its own; what it finds comes
here in batches. Folders are watched, and looked through anyway now and then while the list is seen:
a watcher tells of new names, but not of a file that is still growing, nor of anything on some
network disks.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import (
    QCoreApplication,
    QFile,
    QFileSystemWatcher,
    QObject,
    QTimer,
    Signal,
    Slot,
)

from paceline.catalog.library import LibraryEntry
from paceline.catalog.words import file_size
from paceline.errors import UserError
from paceline.gui.background import Background
from paceline.gui.library_scan import Found, Scan
from paceline.gui.notifications import ask_to_delete
from paceline.gui.reveal import reveal
from paceline.gui.viewmodels.library import place_title

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from PySide6.QtWidgets import QDialog, QWidget

    from paceline.catalog.library import Library
    from paceline.gui.notifications import Notifications
    from paceline.gui.viewmodels.library import LibraryModel

SETTLE_MS = 700
"""What comes within this time behind a change is one change."""
POLL_MS = 30_000
END_MS = 1000
LIBRARY = "library"
"""Topic of notices about model files."""


def _tr(text: str) -> str:
    return QCoreApplication.translate("LibraryController", text)


class LibraryController(QObject):
    """Owns the thread of the refresh and the watcher; main thread."""

    busy_changed = Signal(bool)
    """Whether a refresh is under way."""
    refreshed = Signal()
    """A refresh has ended; the list is complete."""
    folders_changed = Signal(tuple)
    """The user's own folders, as texts."""

    def __init__(
        self,
        library: Library,
        model: LibraryModel,
        *,
        notifications: Notifications,
        window: QWidget,
        is_loaded: Callable[[Path], bool] = lambda _: False,
        folders: Sequence[str] = (),
    ) -> None:
        """Start nothing yet.

        Args:
            library: Finds the models; its places should contain what `folders_changed` tells.
            model: Shows them.
            notifications: Where failures go.
            window: Parent of dialogs, and of this.
            is_loaded: Whether the engine has a file open.
            folders: The user's own folders.
        """
        super().__init__(window)
        self._library = library
        self._model = model
        self._notifications = notifications
        self._window = window
        self._is_loaded = is_loaded
        self._folders = tuple(folders)
        self._background = Background(self)
        self._scan: Scan | None = None
        self._is_wanted_again = self._is_closed = False
        self._watcher = QFileSystemWatcher(self)
        self._watcher.directoryChanged.connect(self._on_changed)
        self._settle = QTimer(self)
        self._settle.setSingleShot(True)
        self._settle.setInterval(SETTLE_MS)
        self._settle.timeout.connect(self.refresh)
        self._poll = QTimer(self)
        self._poll.setInterval(POLL_MS)
        self._poll.timeout.connect(self.refresh)
        self.dialog: QDialog | None = None
        self._doomed: LibraryEntry | None = None

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
        self._scan = Scan(self._library, begins_empty=not self._model.entries)
        self._scan.found.connect(self._on_found)
        self._background.start(self._scan, self._on_scanned, self._on_scan_failed)
        self.busy_changed.emit(True)  # noqa: FBT003

    def set_visible(self, is_visible: bool) -> None:  # noqa: FBT001
        """Know whether anybody sees the list; only then it is refreshed now and then."""
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
        self._model.update(entries)
        if self._scan is not None:
            self._scan.go_on()

    def _on_scanned(self, result: object) -> None:
        if isinstance(result, Found):
            self._model.update(result.entries)
            if result.is_whole:
                self._model.retain({entry.file.path for entry in result.entries})
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

    # --------------------------------------------------------------------------------- folders

    @property
    def folders(self) -> tuple[str, ...]:
        """The user's own folders."""
        return self._folders

    def add_folder(self, folder: str) -> None:
        """Look for models in this folder, too."""
        if folder and folder not in self._folders:
            self.set_folders((*self._folders, folder))

    def remove_folder(self, folder: str) -> None:
        """Look there no more; nothing in it is touched."""
        self.set_folders(tuple(f for f in self._folders if f != folder))

    def current_folders(self) -> tuple[str, ...]:
        """Return the user's own folders."""
        return self._folders

    def set_folders(self, folders: tuple[str, ...]) -> None:
        """Look for models in these folders, besides those found by themselves."""
        if folders != self._folders:
            self._folders = folders
            self.folders_changed.emit(folders)
            self.refresh()

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
        name = entry.file.name
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
        self._doomed = entry
        self.dialog = ask_to_delete(
            self._window,
            self.tr("Delete this model?"),
            self.tr("“{}” ({}) is moved to the trash.").format(name, file_size(entry.file.n_bytes)),
            self.tr("Move to trash"),
        )
        self.dialog.accepted.connect(self._on_delete)
        self.dialog.finished.connect(self._on_dialog_finished)

    def _refuses_loaded(self, entry: LibraryEntry) -> bool:
        is_loaded = any(self._is_loaded(part) for part in entry.file.parts)
        if is_loaded:
            self._notifications.error(
                self.tr("“{}” is loaded now.").format(entry.file.name),
                self.tr("Load another model, then delete it."),
                topic=LIBRARY,
            )
        return is_loaded

    @Slot()
    def _on_dialog_finished(self) -> None:
        self.dialog = None

    @Slot()
    def _on_delete(self) -> None:
        entry, self._doomed = self._doomed, None
        # It may have been loaded while the question was open.
        if entry is None or self._is_closed or self._refuses_loaded(entry):
            return
        self._background.start(_MoveToTrash(entry), self._on_deleted, self._on_not_deleted)

    def _on_deleted(self, _result: object) -> None:
        self.refresh()

    def _on_not_deleted(self, error: UserError) -> None:
        self._notifications.error(error.message, error.hint, topic=LIBRARY)
        self.refresh()


class _MoveToTrash:
    """Moves the files of a model to the trash, off the main thread."""

    def __init__(self, entry: LibraryEntry) -> None:
        self._entry = entry

    def __call__(self) -> None:
        """Move them, and remove folders that are empty then.

        Raises:
            UserError: A file cannot be moved there.
        """
        for part in self._entry.file.parts:
            file = QFile(str(part))
            if part.exists() and not file.moveToTrash():
                raise UserError(
                    "not-deleted",
                    _tr("“{}” cannot be moved to the trash: {}.").format(
                        part.name, file.errorString()
                    ),
                    _tr("Delete it in the file manager; it is in {}.").format(part.parent),
                )
        folder = self._entry.file.path.parent
        with contextlib.suppress(OSError):  # they hold something else
            folder.rmdir()  # REPO
            folder.parent.rmdir()  # OWNER
