"""The list of downloads in a window of its own, which blocks nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QVBoxLayout, QWidget

from paceline.gui.widgets.downloads_panel import DownloadsPanel

if TYPE_CHECKING:
    from paceline.gui.theme import Theme
    from paceline.gui.viewmodels.downloads import DownloadsModel


class DownloadsDialog(QDialog):
    """Shows a `DownloadsPanel`; gone when it is closed."""

    def __init__(self, model: DownloadsModel, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Downloads"))
        self.panel = DownloadsPanel(model, theme)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(12)
        column.addWidget(self.panel, 1)
        column.addWidget(buttons)
        self.setMinimumSize(380, 240)
        self.resize(self.sizeHint())  # a hint alone gives way to the height of wrapped text

    def sizeHint(self) -> QSize:
        """Room for about four downloads."""
        return QSize(560, 520)
