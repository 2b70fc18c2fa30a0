"""Dialogs for files and folders, reading and writing in the background, the file manager.

No dialog blocks. Content to be saved is also made in the background, once a file has been chosen;
an existing file is replaced atomically. Where the system cannot show a selected file, as on Linux
without D-Bus, the file's folder is opened. Main thread, except `read_text`, `write_made`, `png_of`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import (
    QBuffer,
    QFileInfo,
    QIODevice,
    QObject,
    QProcess,
    Qt,
    QUrl,
    Signal,
    Slot,
)
from PySide6.QtGui import QDesktopServices, QIcon, QImage
from PySide6.QtWidgets import (
    QFileDialog,
    QFileIconProvider,
    QHeaderView,
    QPushButton,
    QToolButton,
    QTreeView,
    QWidget,
)
from shiboken6 import isValid

from paceline.errors import UserError
from paceline.files import open_ordinary, write_whole
from paceline.gui.kit.background import Background
from paceline.gui.kit.labels import ElidedLabel, YieldingLabel
from paceline.gui.kit.layouts import column_of, row_of, styled
from paceline.gui.kit.notices import Notifications
from paceline.gui.kit.translation import translator
from paceline.gui.look.current import look

Take = Callable[[str], None]
Make = Callable[[], bytes | str]
_NAME_PX = 400
PNG_SCALE = 2.0
"""Scale of saved pictures, for sharp screens."""
_Mode = QFileDialog.FileMode


_BUTTONS = {
    "backButton": "chevron-left",
    "forwardButton": "chevron-right",
    "toParentButton": "chevron-up",
    "newFolderButton": "plus",
    "listModeButton": "",
    "detailModeButton": "",
}
"""Buttons of Qt's dialog, with their icons; one view of the files is enough."""


_TYPE = 2
"""Column of the kind of file."""


class _Icons(QFileIconProvider):
    """Icons of files and folders as in the rest of the window."""

    def icon(self, what: QFileInfo | QFileIconProvider.IconType) -> QIcon:
        """Return the icon of a folder or of a file."""
        is_file = (
            what.isFile()
            if isinstance(what, QFileInfo)
            else what == QFileIconProvider.IconType.File
        )
        return look.icon("file" if is_file else "folder")


class FileChooser(QObject):
    """One dialog at a time, which starts in the folder of the last choice, and at first at home.

    Attributes:
        dialog: The open dialog; a second request is ignored meanwhile.
    """

    chosen = Signal(str)
    """The chosen file or the first of several, the folder, or the place to save to."""
    files_chosen = Signal(list)
    """All chosen files."""
    closed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._folder = str(Path.home())
        self._icons = _Icons()
        self.dialog: QFileDialog | None = None

    @property
    def is_open(self) -> bool:
        """Return whether a dialog is open."""
        # A dialog that is deleted with its window does not signal that it was closed.
        return self.dialog is not None and isValid(self.dialog)

    def remember(self, path: str) -> None:
        """Start in this file's folder the next time."""
        self._folder = str(Path(path).parent)

    def ask_file(self, window: QWidget, title: str, kinds: str) -> None:
        """Ask for a file that exists.

        Args:
            window: The window below the dialog.
            title: The dialog's title.
            kinds: The filters, e.g. ``"Presets (*.json);;All files (*)"``.
        """
        self._ask(window, title, kinds, _Mode.ExistingFile)

    def ask_files(self, window: QWidget, title: str, kinds: str = "") -> None:
        """Ask for one or more files that exist; see `ask_file`."""
        self._ask(window, title, kinds, _Mode.ExistingFiles)

    def ask_folder(self, window: QWidget, title: str) -> None:
        """Ask for a folder."""
        self._ask(window, title, "", _Mode.Directory)

    def ask_place(self, window: QWidget, title: str, name: str, kinds: str) -> None:
        """Ask for a place to save to; `name` is proposed, with its ending."""
        self._ask(window, title, kinds, _Mode.AnyFile, name)

    def _ask(self, window: QWidget, title: str, kinds: str, mode: _Mode, name: str = "") -> None:
        if self.is_open:
            return
        dialog = QFileDialog(window, title, self._folder, kinds, fileMode=mode)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._dress(dialog)
        if mode == _Mode.Directory:
            dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        if mode == _Mode.AnyFile:
            dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
            dialog.setDefaultSuffix(Path(name).suffix.lstrip("."))
            dialog.selectFile(name)
        dialog.filesSelected.connect(self._on_chosen)  # emitted for a single file as well
        dialog.finished.connect(self._on_finished)
        self.dialog = dialog
        dialog.open()

    def _dress(self, dialog: QFileDialog) -> None:
        """Put our icons on Qt's own dialog, and fit its columns to their words.

        The system's dialog has other parts and keeps its own icons.
        """
        dialog.setIconProvider(self._icons)
        if (files := dialog.findChild(QTreeView)) is not None:
            files.header().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
            files.header().hideSection(_TYPE)  # "unknown" for models
        for name, icon in _BUTTONS.items():
            button = dialog.findChild(QToolButton, name)
            if button is not None:
                button.setIcon(look.icon(icon))
                button.setVisible(bool(icon))

    @Slot(list)
    def _on_chosen(self, paths: list[str]) -> None:
        if paths:
            self.remember(paths[0])
            self.chosen.emit(paths[0])
            self.files_chosen.emit(paths)

    @Slot()
    def _on_finished(self) -> None:
        self.dialog = None
        self.closed.emit()


class OpenFile(FileChooser):
    """Reader of one chosen file at a time."""

    def __init__(
        self, background: Background, notifications: Notifications, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._background = background
        self._notifications = notifications
        self._take: Take | None = None
        self._max_bytes = 0
        self.chosen.connect(self.read)

    def ask(self, window: QWidget, title: str, kinds: str, max_bytes: int, take: Take) -> None:
        """Open the dialog; `take` receives the text of the chosen file.

        Args:
            window: The window below the dialog.
            title: The dialog's title.
            kinds: The filter, e.g. ``"Presets (*.json)"``.
            max_bytes: A longer file is refused with an error.
            take: Called on the main thread; a `UserError` that it raises is shown.
        """
        if self.is_open:
            return
        self._take, self._max_bytes = take, max_bytes
        self.ask_file(window, title, kinds)

    @Slot(str)
    def read(self, path: str) -> None:
        """Read the chosen file."""
        job = partial(read_text, Path(path), self._max_bytes)
        self._background.start(job, self._on_read, self._notifications.user_error)

    @Slot(object)
    def _on_read(self, text: object) -> None:
        take, self._take = self._take, None
        if take is not None:
            self._notifications.attempt(take, str(text))


class SaveFile(FileChooser):
    """Writer of one chosen file at a time."""

    def __init__(
        self, background: Background, notifications: Notifications, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._background = background
        self._notifications = notifications
        self._make: Make | None = None
        self.chosen.connect(self.write)

    def ask(self, window: QWidget, title: str, name: str, kinds: str, make: Make) -> None:
        """Open the dialog; `make` returns the file's content when a place has been chosen.

        Args:
            window: The window below the dialog.
            title: The dialog's title.
            name: The proposed file name, with its ending.
            kinds: The filter, e.g. ``"Tables (*.csv)"``.
            make: Called at most once, in another thread; a `UserError` that it raises is shown.
        """
        if self.is_open:
            return
        self._make = make
        self.ask_place(window, title, name, kinds)

    @Slot(str)
    def write(self, path: str) -> None:
        """Write the requested content to this file."""
        make, self._make = self._make, None
        if make is None:
            return
        write = partial(write_made, Path(path), make)
        self._background.start(write, self._on_written, self._notifications.user_error)

    @Slot(object)
    def _on_written(self, name: object) -> None:
        self._notifications.inform(self.tr("Saved as {}.").format(name))


class FileField(QWidget):
    """Field for a path; empty without one."""

    changed = Signal()

    def __init__(self, title: str, explanation: str, file_filter: str) -> None:
        super().__init__()
        self._title, self._filter = title, file_filter
        self.path = ""
        """The file."""
        self.files = FileChooser(self)
        self.files.chosen.connect(self.set_path)
        label = styled(YieldingLabel(title, keeps=8), role="muted")
        self.name = ElidedLabel(_NAME_PX, Qt.TextElideMode.ElideMiddle)
        self.choose = QPushButton(self.tr("Choose…"))
        self.clear = QPushButton(self.tr("Remove"))
        for button in (self.choose, self.clear):
            button.setProperty("kind", "link")
            button.setAccessibleName(f"{title}: {button.text()}")
        for widget in (self, label, self.choose):
            widget.setToolTip(explanation)
        row = row_of(label, None, self.choose, self.clear, spacing=4)
        column = column_of(row, on=self, margins=0, spacing=2)
        # On a line of its own: beside the buttons it would have no space.
        column.addWidget(self.name)
        self.choose.clicked.connect(self._on_choose)
        self.clear.clicked.connect(self._on_clear)
        self.show_path("")

    def show_path(self, path: str) -> None:
        """Show a file without emitting a signal."""
        self.path = path
        self.name.setText(Path(path).name)
        self.name.setToolTip(path)
        self.name.setVisible(bool(path))
        self.clear.setVisible(bool(path))

    @Slot()
    def _on_choose(self) -> None:
        if self.path:
            self.files.remember(self.path)
        self.files.ask_file(self.window(), self._title, self._filter)

    @Slot(str)
    def set_path(self, path: str) -> None:
        """Set a file and emit the signal."""
        if path != self.path:
            self.show_path(path)
            self.changed.emit()

    @Slot()
    def _on_clear(self) -> None:
        self.set_path("")


def reveal(path: Path) -> bool:
    """Show a file in the file manager; return False without one."""
    return _choose(path) or open_folder(path.parent)


def open_folder(folder: Path) -> bool:
    """Open a folder in the file manager, or the nearest one above that exists.

    Returns:
        True if there is a file manager.
    """
    folder = next(place for place in (folder, *folder.parents) if place.exists())
    return QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))


def read_text(path: Path, max_bytes: int) -> str:
    """Return the text of a small file.

    Raises:
        UserError: The file cannot be read, is too long, or is no text.
    """
    name = path.name
    try:
        with open_ordinary(path) as file:
            data = file.read(max_bytes + 1)
    except OSError as error:
        raise UserError(
            "cannot-read",
            "“{name}” cannot be read ({why}).",
            "Choose another.",
            name=name,
            why=error.strerror or error,
        ) from error
    if len(data) > max_bytes:
        raise UserError(
            "file-too-long",
            "“{name}” has more than {n:,} bytes.",
            "Choose a shorter one.",
            name=name,
            n=max_bytes,
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UserError(
            "no-text", "“{name}” is no text in UTF-8.", "Choose another.", name=name
        ) from None


_tr = translator("SaveFile")


def write_made(path: Path, make: Make) -> str:
    """Make a file's content and write it atomically; return the file's name.

    A lone surrogate, which no file can hold, is replaced: otherwise all would be lost.

    Raises:
        UserError: The file cannot be written.
    """
    try:
        made = make()
        write_whole(path, made.encode(errors="replace") if isinstance(made, str) else made)
    except OSError as error:
        raise UserError(
            "not-saved",
            _tr("“{}” could not be saved ({}).").format(path.name, error.strerror or error),
            _tr("Choose another folder."),
        ) from error
    return path.name


def png_of(image: QImage) -> bytes:
    """Return a picture as the content of a PNG file; any thread."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]  # the stubs want bytes
    return bytes(buffer.data().data())


def command_for(path: Path, platform: str) -> tuple[str, list[str]] | None:
    """Return the program and arguments that show a file selected, or None if there is none."""
    if platform == "win32":
        # The explorer parses its arguments in its own way; with quotes around all of it, it would
        # open a folder.
        return "explorer.exe", [f'/select,"{path}"']
    if platform == "darwin":
        return "open", ["-R", str(path)]
    return None


def _choose(path: Path) -> bool:
    command = command_for(path, sys.platform)
    if command is None:
        return False
    program, arguments = command
    process = QProcess()
    process.setProgram(program)
    if sys.platform == "win32":
        process.setNativeArguments(arguments[0])
    else:
        process.setArguments(arguments)
    return process.startDetached()[0]
