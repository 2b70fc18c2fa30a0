"""The running downloads in one line, at the foot of the picker."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QProgressBar, QSizePolicy, QVBoxLayout, QWidget

from paceline.gui.widgets.elided_label import ElidedLabel

if TYPE_CHECKING:
    from paceline.gui.viewmodels.downloads import DownloadsModel

_TEXT_PX = 420


class DownloadStrip(QWidget):
    """Shows a `DownloadsModel`; hidden while nothing is under way."""

    def __init__(self, model: DownloadsModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.line = ElidedLabel(_TEXT_PX, Qt.TextElideMode.ElideMiddle)
        self.line.setProperty("role", "small")
        self.line.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.bar = QProgressBar()
        self.bar.setRange(0, 1000)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(self.tr("Progress of the downloads"))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(self.line)
        column.addWidget(self.bar)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        model.changed.connect(self.show_downloads)
        self.show_downloads()

    @Slot()
    def show_downloads(self) -> None:
        """Show how they stand now."""
        summary = self._model.summary
        self.line.set_full_text(summary)
        self.line.setToolTip(summary)
        self.bar.setValue(self._model.progress)
        self.setAccessibleName(summary)
        self.setVisible(bool(summary))
