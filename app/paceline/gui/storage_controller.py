"""The archive of chats in the window: opens it, reports what keeps it from writing, and closes it.

The archive reports problems on its own thread; a Qt signal brings them here. Nothing is lost while
a problem lasts, and the notice disappears when writing works again.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from paceline.gui.kit.notices import Action, Notifications
from paceline.storage.archive import Archive, ConversationStore
from paceline.storage.problems import Opened, StorageError, StorageProblem

CHATS_FILE = "chats.db"
"""Name of the database, below `Paths.data_dir`."""
STORAGE = "storage"
"""Topic of notices about chats that cannot be written."""


class StorageController(QObject):
    """Owner of the archive, or of its replacement where there can be none."""

    reported = Signal(object)
    """A problem, None or `Opened` (other chats may be readable now); emitted on the archive's
    thread"""

    def __init__(
        self, path: Path | None, notifications: Notifications, parent: QObject | None = None
    ) -> None:
        """Open the archive, which works with any file and any disk.

        Args:
            path: The database; None to keep chats only while the window lives.
            notifications: Receives reports of problems.
            parent: Owns this object.
        """
        super().__init__(parent)
        self._notifications = notifications
        self._archive: Archive | None = None
        self.opened = Opened()
        self.store = ConversationStore()
        self.reported.connect(self._on_reported)
        if path is None:
            return
        self._archive = self.store = Archive(
            path, on_problem=self.reported.emit, on_mended=self.reported.emit
        )
        self.opened = self._archive.open()

    def start(self) -> None:
        """Report the result of opening; called when the window is shown."""
        if self._archive is not None:  # its problem was reported before there was a window
            self._on_reported(self._archive.problem)
        self._report_opening(self.opened)

    def leftovers(self) -> tuple[str, ...]:
        """Return deleted chats of earlier sessions that are not purged yet, unless restored.

        Another window on the same file may have deleted them, and may undo that.
        """
        if self._archive is None or not self.opened.removed:
            return ()
        try:
            removed = self._archive.removed()
        except StorageError:  # the next start purges them
            return ()
        return tuple(name for name in self.opened.removed if name in removed)

    def close(self) -> None:
        """Write the remaining changes; if that fails, they are saved in a rescue file."""
        if self._archive is not None:
            self._archive.close()

    def _report_opening(self, opened: Opened) -> None:
        for note in opened.notes:
            self._notifications.warn(note)

    @Slot(object)
    def _on_reported(self, report: StorageProblem | Opened | None) -> None:
        if isinstance(report, Opened):
            self._report_opening(report)
            return
        self._notifications.resolved.emit(STORAGE)
        if report is not None:
            action = None
            if not report.is_lasting and self._archive is not None:
                action = Action(self.tr("Try again"), self._archive.retry)
            self._notifications.error(report.message, report.hint, action=action, topic=STORAGE)
