"""Cards of a run: its figures, and its models with their hashes.

The hash of a whole file is computed on demand.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QLabel, QProgressBar, QPushButton, QWidget

from paceline.gui.kit.card import NAME_PX, Card, FactsCard
from paceline.gui.kit.labels import BreakingLabel, say, text_label, with_soft_breaks
from paceline.gui.kit.layouts import grid_of, row_of, set_look, styled
from paceline.gui.run.run_words import figures, heading, plain_words
from paceline.gui.state.figures import model_rows
from paceline.run_record import ModelRecord, RunRecord


class FiguresCard(Card):
    """Captions above figures, and a sentence below."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(self.tr("Figures"))
        self.heading = text_label("", "muted", wraps=True, plain=True)
        self._grid = grid_of(across=20, down=2)
        self.values: list[QLabel] = []
        self._captions: list[QLabel] = []
        self.plain = text_label(wraps=True)
        self.body.addWidget(self.heading)
        self.body.addLayout(self._grid)
        self.body.addWidget(self.plain)

    def show_record(self, record: RunRecord, *, judges: bool = True) -> None:
        """Show the known figures of a run; a loss only if `judges`."""
        self.heading.setText(heading(record))
        words = plain_words(record, judges=judges)
        say(self.plain, words)
        for at, figure in enumerate(figures(record, judges=judges)):
            if at == len(self.values):
                self._add_column()
            value = self.values[at]
            for label in (value, self._captions[at]):
                label.setVisible(bool(figure.value))
            self._captions[at].setText(figure.caption)
            value.setText(f"{figure.value} {figure.unit}".rstrip())
            value.setAccessibleName(f"{figure.caption}: {value.text()}")
            set_look(value, tone=figure.tone or "")

    def _add_column(self) -> None:
        at = len(self.values)
        caption, value = text_label(), text_label(role="figure")
        self.values.append(value)
        self._captions.append(caption)
        self._grid.addWidget(caption, 0, at)
        self._grid.addWidget(value, 1, at)
        self._grid.setColumnStretch(at, 1)


class ModelFactsCard(FactsCard):
    """One model; below its rows the SHA-256 of the file, or a button for it."""

    hash_wanted = Signal(str)
    """The card's name"""
    hash_unwanted = Signal()

    def __init__(self, key: str, title: str, parent: QWidget | None) -> None:
        super().__init__(title, parent)
        self._key = key
        self.name = text_label(self.tr("SHA-256"), "muted")
        self.name.setFixedWidth(NAME_PX)
        self.value = styled(BreakingLabel(), role="value")
        self.button = styled(QPushButton(self.tr("Compute SHA-256")), kind="compact")
        self.button.clicked.connect(self._on_clicked)
        self.bar = QProgressBar(minimum=0, maximum=100)
        self.bar.setAccessibleName(self.tr("Reading the file"))
        self._is_reading = False
        row = row_of(
            (self.name, 0, Qt.AlignmentFlag.AlignTop),
            (self.value, 1),
            (self.bar, 1),
            self.button,
            spacing=12,
        )
        row.addStretch()
        self.body.addLayout(row)

    def show_model(self, model: ModelRecord | None, *, obstacle: str) -> None:
        """Show a model; `obstacle` is the reason why its file cannot be read now, or empty."""
        self.setVisible(model is not None)
        if model is None:
            return
        self.show_rows(model_rows(model))
        self.button.setEnabled(not obstacle)
        self.button.setToolTip(obstacle)
        self.show_hash(model.sha256)

    def show_hash(self, sha256: str) -> None:
        """Show the hash, or if it is empty the button for it."""
        self._is_reading = False
        say(self.value, with_soft_breaks(sha256))
        self.bar.hide()
        self.button.setText(self.tr("Compute SHA-256"))
        self.button.setVisible(not sha256)

    def show_progress(self, percent: int) -> None:
        """Show the read share of the file."""
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
