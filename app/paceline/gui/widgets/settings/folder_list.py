"""Folders to choose: one row each, with a button that takes it away, and one that adds another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QDir, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from paceline.gui.file_chooser import FileChooser
from paceline.gui.scale import HALF, STEP, icon_size
from paceline.gui.widgets.elided_label import ElidedLabel

if TYPE_CHECKING:
    from PySide6.QtGui import QIcon

    from paceline.gui.preferences import Preference

_WIDEST = 2000


class FolderRow(QWidget):
    """One folder."""

    removed = Signal(str)

    def __init__(self, folder: str, icon: QIcon, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._folder = folder
        self.name = ElidedLabel(_WIDEST, Qt.TextElideMode.ElideMiddle)
        self.name.set_full_text(QDir.toNativeSeparators(folder))
        self.name.setToolTip(self.name.full_text)
        self.remove = QToolButton()
        self.remove.setProperty("kind", "quiet")
        self.remove.setIcon(icon)
        self.remove.setIconSize(icon_size())
        self.remove.setAccessibleName(self.tr("Do not look in {}").format(self.name.full_text))
        self.remove.setToolTip(self.tr("Do not look here any more; nothing is deleted"))
        self.remove.clicked.connect(self._on_remove)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(STEP)
        row.addWidget(self.name, 1)
        row.addStretch(0)
        row.addWidget(self.remove)

    @Slot()
    def _on_remove(self) -> None:
        self.removed.emit(self._folder)


class FolderList(QWidget):
    """Shows a preference that is a tuple of folders."""

    def __init__(self, preference: Preference, icon: QIcon, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._preference = preference
        self._icon = icon
        self.rows: list[FolderRow] = []
        self.folders = FileChooser(self)
        self.folders.chosen.connect(self._on_chosen)
        self._empty = QLabel(self.tr("None of your own yet."))
        self._empty.setProperty("role", "small")
        self.add = QPushButton(self.tr("Add a folder…"))
        self.add.clicked.connect(self._on_add)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(HALF)
        self._column.addWidget(self._empty)
        self._column.addWidget(self.add, 0, Qt.AlignmentFlag.AlignLeft)
        preference.changed.connect(self._fill)
        self._fill()

    def set_icon(self, icon: QIcon) -> None:
        """Show another picture on the buttons that take a folder away."""
        self._icon = icon
        for row in self.rows:
            row.remove.setIcon(icon)

    @Slot()
    def _fill(self) -> None:
        for row in self.rows:
            row.hide()
            row.deleteLater()
        self.rows = [FolderRow(folder, self._icon) for folder in self._preference.value]
        for at, row in enumerate(self.rows):
            row.removed.connect(self._on_removed)
            self._column.insertWidget(at, row)
        self._empty.setVisible(not self.rows)

    @Slot(str)
    def _on_removed(self, folder: str) -> None:
        self._preference.set_value(tuple(f for f in self._preference.value if f != folder))
        self.add.setFocus()

    @Slot()
    def _on_add(self) -> None:
        self.folders.ask_folder(self, self.tr("Look for models in a folder"))

    @Slot(str)
    def _on_chosen(self, folder: str) -> None:
        if folder and folder not in self._preference.value:
            self._preference.set_value((*self._preference.value, folder))
