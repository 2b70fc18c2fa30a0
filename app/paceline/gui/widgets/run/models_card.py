"""The models of a run: what they were, and their hashes, of which the whole file's is on demand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QPushButton, QWidget

from paceline.gui.viewmodels.run_details import model_rows
from paceline.gui.widgets.run.facts_card import NAME_PX, FactsCard
from paceline.gui.widgets.soft_breaks import BreakingLabel, with_soft_breaks

if TYPE_CHECKING:
    from paceline.run_record import ModelRecord


class ModelCard(FactsCard):
    """One model; below its rows the SHA-256 of the file, or a button for it."""

    hash_wanted = Signal(str)
    """The card's name"""
    hash_unwanted = Signal()

    def __init__(self, key: str, title: str, parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self._key = key
        self.name = QLabel(self.tr("SHA-256"))
        self.name.setProperty("role", "muted")
        self.name.setFixedWidth(NAME_PX)
        self.value = BreakingLabel()
        self.value.setProperty("role", "value")
        self.button = QPushButton(self.tr("Compute SHA-256"))
        self.button.setProperty("kind", "compact")
        self.button.clicked.connect(self._on_clicked)
        self.bar = QProgressBar()
        self.bar.setRange(0, 100)
        self.bar.setAccessibleName(self.tr("Reading the file"))
        self._is_reading = False
        row = QHBoxLayout()
        row.setSpacing(12)
        row.addWidget(self.name, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.value, 1)
        row.addWidget(self.bar, 1)
        row.addWidget(self.button)
        row.addStretch()
        self.body.addLayout(row)

    def show_model(self, model: ModelRecord | None, *, obstacle: str) -> None:
        """Show a model; `obstacle` says why its file cannot be read now, empty: it can."""
        self.setVisible(model is not None)
        if model is None:
            return
        self.show_rows(model_rows(model))
        self.button.setEnabled(not obstacle)
        self.button.setToolTip(obstacle)
        self.show_hash(model.sha256)

    def show_hash(self, sha256: str) -> None:
        """Show the hash; empty: it can be asked for."""
        self._is_reading = False
        self.value.setText(with_soft_breaks(sha256))
        self.value.setVisible(bool(sha256))
        self.bar.hide()
        self.button.setText(self.tr("Compute SHA-256"))
        self.button.setVisible(not sha256)

    def show_progress(self, percent: int) -> None:
        """Show how much of the file has been read."""
        self._is_reading = True
        self.bar.setValue(percent)
        self.bar.show()
        self.button.setText(self.tr("Cancel"))

    @Slot()
    def _on_clicked(self) -> None:
        if self._is_reading:
            self.hash_unwanted.emit()
        else:
            self.hash_wanted.emit(self._key)
