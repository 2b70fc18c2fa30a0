"""Asks for files or a folder in a dialog that blocks nothing."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QFileDialog, QWidget
from shiboken6 import isValid

_Mode = QFileDialog.FileMode


class FileChooser(QObject):
    """One dialog at a time, which begins in the folder where something was chosen last.

    Attributes:
        dialog: The one that is open; asking for another does nothing meanwhile.
    """

    chosen = Signal(str)
    """The file, the folder or the place that was asked for."""
    files_chosen = Signal(list)
    """The files, where several were asked for."""
    closed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._folder = ""
        self.dialog: QFileDialog | None = None

    @property
    def is_open(self) -> bool:
        """Whether a dialog is open."""
        # One whose window is deleted goes with it, and then nobody says that it is closed.
        return self.dialog is not None and isValid(self.dialog)

    def remember(self, path: str) -> None:
        """Begin in this file's folder the next time."""
        self._folder = str(Path(path).parent)

    def ask_file(self, window: QWidget, title: str, kinds: str) -> None:
        """Ask for a file that exists.

        Args:
            window: What the dialog stands over.
            title: The dialog's title.
            kinds: The filters, e.g. ``"Presets (*.json);;All files (*)"``.
        """
        dialog = self._made(window, title, kinds, _Mode.ExistingFile)
        if dialog is not None:
            dialog.fileSelected.connect(self._on_chosen)
            dialog.open()

    def ask_files(self, window: QWidget, title: str, kinds: str = "") -> None:
        """Ask for one or more files that exist; see `ask_file`."""
        dialog = self._made(window, title, kinds, _Mode.ExistingFiles)
        if dialog is not None:
            dialog.filesSelected.connect(self._on_files_chosen)
            dialog.open()

    def ask_folder(self, window: QWidget, title: str) -> None:
        """Ask for a folder."""
        dialog = self._made(window, title, "", _Mode.Directory)
        if dialog is not None:
            dialog.setOption(QFileDialog.Option.ShowDirsOnly)
            dialog.fileSelected.connect(self._on_chosen)
            dialog.open()

    def ask_place(self, window: QWidget, title: str, name: str, kinds: str) -> None:
        """Ask where something is to be saved; `name` is proposed, with its ending."""
        dialog = self._made(window, title, kinds, _Mode.AnyFile)
        if dialog is not None:
            dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
            dialog.setDefaultSuffix(Path(name).suffix.lstrip("."))
            dialog.selectFile(name)
            dialog.fileSelected.connect(self._on_chosen)
            dialog.open()

    def _made(self, window: QWidget, title: str, kinds: str, mode: _Mode) -> QFileDialog | None:
        if self.is_open:
            return None
        self.dialog = QFileDialog(window, title, self._folder, kinds)
        self.dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.dialog.setFileMode(mode)
        self.dialog.finished.connect(self._on_finished)
        return self.dialog

    @Slot(str)
    def _on_chosen(self, path: str) -> None:
        self.remember(path)
        self.chosen.emit(path)

    @Slot(list)
    def _on_files_chosen(self, paths: list[str]) -> None:
        if paths:
            self.remember(paths[0])
            self.files_chosen.emit(paths)

    @Slot()
    def _on_finished(self) -> None:
        self.dialog = None
        self.closed.emit()
