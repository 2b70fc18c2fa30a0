"""Zones that appear while files are dragged over the window, one for each possible use."""

from __future__ import annotations

import contextlib
import os
from itertools import islice
from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QFrame, QWidget

from paceline.gui.kit.labels import text_label
from paceline.gui.kit.layouts import column_of, row_of, set_look, styled

_MODEL = ".gguf"
_CHATS = (".json", ".jsonl")
_MAX_ENTRIES = (400, 20)
"""Maximum number of entries that are read in a dragged folder, and in each folder in it."""


class DropZones(QWidget):
    """Cover over a window while files are dragged over it, with a zone for each possible use.

    Models: left for the target, right for the draft model. Folders with models: to be searched from
    now on. JSON: chats to open, or a file to attach. All other files can be attached.
    """

    dropped = Signal(list, bool)
    """Paths, and whether they were dropped on the draft model's zone"""
    folders_dropped = Signal(list)
    """Paths of folders with models"""
    chats_dropped = Signal(list)
    files_dropped = Signal(list)

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.setObjectName("drop_zones")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._target = self._make_zone(self.tr("Open as the model"), self.tr("writes the text"))
        self._draft = self._make_zone(self.tr("Use as draft model"), self.tr("guesses ahead"))
        self._folder = self._make_zone(
            self.tr("Look here for models"), self.tr("from now on, in this folder")
        )
        self._import = self._make_zone(self.tr("Open it"), self.tr("exported chats"))
        self._attach = self._make_zone(
            self.tr("Attach to the message"), self.tr("text and code files")
        )
        self._shown: tuple[QFrame, ...] = (self._target, self._draft)
        self._zones = (self._target, self._draft, self._folder, self._import, self._attach)
        row_of(*self._zones, on=self, margins=(24, 72, 24, 48), spacing=24)
        self.hide()
        window.setAcceptDrops(True)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle the window's drag and drop events."""
        if isinstance(event, QDragEnterEvent):
            if paths := local_files(event.mimeData()):
                event.acceptProposedAction()
                self._shown = self._zones_for(paths)
                self._show_over(watched, event.position().toPoint())
                return True
        elif isinstance(event, QDragMoveEvent):
            if local_files(event.mimeData()):
                event.acceptProposedAction()
                self._mark(event.position().toPoint())
                return True
        elif event.type() == QEvent.Type.DragLeave:
            self.hide()
        elif isinstance(event, QDropEvent):
            self.hide()
            if paths := local_files(event.mimeData()):
                event.acceptProposedAction()
                self._shown = self._zones_for(paths)
                self._emit(paths, self._zone_at(event.position().toPoint()))
                return True
        return super().eventFilter(watched, event)

    def use_files(self, paths: list[str]) -> None:
        """Treat files as if they were dropped on the first of their zones."""
        self._shown = self._zones_for(paths)
        self._emit(paths, self._shown[0])

    def _zones_for(self, paths: list[str]) -> tuple[QFrame, ...]:
        if _models(paths):
            return self._target, self._draft
        if model_folders(paths):
            return (self._folder,)
        if all(Path(path).suffix.lower() in _CHATS for path in paths):
            return self._import, self._attach
        return (self._attach,)

    def _emit(self, paths: list[str], zone: QFrame) -> None:
        if zone in (self._target, self._draft):
            models = _models(paths)
            self.dropped.emit(models, zone is self._draft)
            if rest := [path for path in paths if path not in models]:
                self.use_files(rest)
        elif zone is self._folder:
            folders = model_folders(paths)
            self.folders_dropped.emit(folders)
            if rest := [path for path in paths if path not in folders]:
                self.use_files(rest)
        elif zone is self._import:
            self.chats_dropped.emit(paths)
        else:
            self.files_dropped.emit(paths)

    def _show_over(self, window: QObject, position: QPoint) -> None:
        if isinstance(window, QWidget):
            self.setGeometry(window.rect())
        for zone in self._zones:
            zone.setVisible(zone in self._shown)
        self._mark(position)
        self.raise_()
        self.show()

    def _zone_at(self, position: QPoint) -> QFrame:
        at = position.x() * len(self._shown) // max(self.window().width(), 1)
        return self._shown[min(max(at, 0), len(self._shown) - 1)]

    def _mark(self, position: QPoint) -> None:
        chosen = self._zone_at(position)
        for zone in self._shown:
            set_look(zone, tone="accent" if zone is chosen else "")

    @staticmethod
    def _make_zone(title: str, explanation: str) -> QFrame:
        zone = styled(QFrame(), kind="dropzone")
        column_of(
            None,
            (text_label(title, "heading"), 0, Qt.AlignmentFlag.AlignHCenter),
            (text_label(explanation, "muted"), 0, Qt.AlignmentFlag.AlignHCenter),
            None,
            on=zone,
        )
        return zone


def local_files(data: QMimeData) -> list[str]:
    """Return the paths of the local files in dragged or pasted data."""
    return [url.toLocalFile() for url in data.urls() if url.isLocalFile()]


def model_files(data: QMimeData) -> list[str]:
    """Return the local ``.gguf`` files in dragged data."""
    return _models(local_files(data))


def _models(paths: list[str]) -> list[str]:
    return [path for path in paths if path.lower().endswith(_MODEL)]


def model_folders(paths: list[str]) -> list[str]:
    """Return those of these paths that are folders with models in them or one level below."""
    return [path for path in paths if _holds_models(path, *_MAX_ENTRIES)]


def _holds_models(folder: str, *most: int) -> bool:
    """Return whether a folder has models among its first entries; it may be on a slow disk."""
    with contextlib.suppress(OSError), os.scandir(folder) as found:
        entries = list(islice(found, most[0]))
        if any(entry.name.lower().endswith(_MODEL) for entry in entries):
            return True
        folders = [entry.path for entry in entries if entry.is_dir()]
        return any(_holds_models(each, *most[1:]) for each in folders if most[1:])
    return False
