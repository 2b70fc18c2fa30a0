"""A file that may be chosen or not: its name, a button that chooses, one that takes it away."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from paceline.gui.file_chooser import FileChooser
from paceline.gui.widgets.elided_label import ElidedLabel
from paceline.gui.widgets.yielding import YieldingLabel

_NAME_PX = 400


class FileField(QWidget):
    """Holds a path; empty: none."""

    changed = Signal()

    def __init__(
        self, title: str, explanation: str, file_filter: str, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._title, self._filter = title, file_filter
        self._path = ""
        self.files = FileChooser(self)
        self.files.chosen.connect(self.take)
        label = YieldingLabel(title, keeps=8)
        label.setProperty("role", "muted")
        self.name = ElidedLabel(_NAME_PX, Qt.TextElideMode.ElideMiddle)
        self.choose = QPushButton(self.tr("Choose…"))
        self.clear = QPushButton(self.tr("Remove"))
        for button in (self.choose, self.clear):
            button.setProperty("kind", "link")
            button.setAccessibleName(f"{title}: {button.text()}")
        for widget in (self, label, self.choose):
            widget.setToolTip(explanation)
        self.choose.setAccessibleDescription(explanation)
        row = QHBoxLayout()
        row.setSpacing(4)
        row.addWidget(label)
        row.addStretch(1)
        row.addWidget(self.choose)
        row.addWidget(self.clear)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addLayout(row)
        column.addWidget(self.name)  # a line of its own: beside the buttons nothing is left of it
        self.choose.clicked.connect(self._on_choose)
        self.clear.clicked.connect(self._on_clear)
        self.show_path("")

    @property
    def path(self) -> str:
        """The file."""
        return self._path

    def show_path(self, path: str) -> None:
        """Show a file without telling anybody."""
        self._path = path
        self.name.set_full_text(Path(path).name)
        self.name.setToolTip(path)
        self.name.setVisible(bool(path))
        self.clear.setVisible(bool(path))

    @Slot()
    def _on_choose(self) -> None:
        if self._path:
            self.files.remember(self._path)
        self.files.ask_file(self.window(), self._title, self._filter)

    @Slot(str)
    def take(self, path: str) -> None:
        """Take a file, and tell."""
        if path != self._path:
            self.show_path(path)
            self.changed.emit()

    @Slot()
    def _on_clear(self) -> None:
        self.take("")
