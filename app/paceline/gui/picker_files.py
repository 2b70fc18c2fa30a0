"""The picker and files that are not in its list: opened ones, added folders, copied paths."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QGuiApplication

from paceline.catalog.library import LibraryEntry
from paceline.gui.file_chooser import FileChooser
from paceline.gui.look_at_pair import first_parts
from paceline.gui.viewmodels.suited import of_entry

if TYPE_CHECKING:
    from paceline.catalog.models import Models
    from paceline.errors import UserError
    from paceline.gui.background import Background
    from paceline.gui.library_controller import LibraryController
    from paceline.gui.viewmodels.library import LibraryModel
    from paceline.gui.widgets.picker.dialog import PickerDialog


class PickerFiles(QObject):
    """Serves one dialog after the other; answers that come behind its end are dropped."""

    taken = Signal(object)
    """Candidate"""

    def __init__(
        self,
        models: Models,
        library: LibraryController,
        entries: LibraryModel,
        background: Background,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._models = models
        self._library = library
        self._entries = entries
        self._background = background
        self._dialog: PickerDialog | None = None
        self._file, self._folder = FileChooser(self), FileChooser(self)
        self._file.chosen.connect(self.take)
        self._folder.chosen.connect(library.add_folder)
        library.busy_changed.connect(self._on_busy)

    def serve(self, dialog: PickerDialog) -> None:
        """Listen to a dialog, and keep its list of models fresh."""
        self._dialog = dialog
        dialog.dropped.connect(self._on_dropped)
        page = dialog.installed
        page.open_requested.connect(self._on_open)
        page.folder_requested.connect(self._on_add_folder)
        page.reveal_requested.connect(self._library.reveal)
        page.trash_requested.connect(self._library.delete)
        page.copy_requested.connect(self._on_copy)
        self._library.set_visible(True)
        self._on_busy(self._library.is_busy)

    def leave(self) -> None:
        """The dialog is gone."""
        self._dialog = None
        self._library.set_visible(False)

    @Slot(str)
    def take(self, path: str) -> None:
        """Pick a file that need not be in the list."""
        look = partial(self._models.library.look_at, Path(path))
        self._background.start(look, self._on_looked_at, self._on_unusable)

    @Slot(bool)
    def _on_busy(self, is_busy: bool) -> None:  # noqa: FBT001
        if self._dialog is not None:
            self._dialog.installed.show_looking(is_busy)

    @Slot()
    def _on_open(self) -> None:
        if self._dialog is not None:
            kinds = self.tr("GGUF models (*.gguf);;All files (*)")
            self._file.ask_file(self._dialog, self.tr("Open a model"), kinds)

    @Slot(list)
    def _on_dropped(self, paths: list[str]) -> None:
        models = first_parts(paths)
        if len(models) == 1:
            self.take(models[0])
        elif self._dialog is not None:
            self._dialog.show_problem(self.tr("Drop one model at a time, for the step shown."))

    @Slot()
    def _on_add_folder(self) -> None:
        if self._dialog is not None:
            self._folder.ask_folder(self._dialog, self.tr("Add a folder with models"))

    def _on_looked_at(self, entry: object) -> None:
        if self._dialog is None or not isinstance(entry, LibraryEntry):
            return
        self._entries.update([entry])
        if entry.problem:
            self._dialog.show_problem(
                self.tr("“{}” cannot be used: {}").format(entry.file.name, entry.problem)
            )
        else:
            self.taken.emit(of_entry(entry))

    def _on_unusable(self, error: UserError) -> None:
        if self._dialog is not None:
            self._dialog.show_problem(f"{error.message} {error.hint}".strip())

    @Slot(object)
    def _on_copy(self, entry: LibraryEntry) -> None:
        QGuiApplication.clipboard().setText(str(entry.file.path))
