"""The head of a run: its figures in a row, and what plain decoding would have given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from paceline.gui.theme import restyle
from paceline.gui.viewmodels import run_details
from paceline.gui.widgets.card import Card

if TYPE_CHECKING:
    from paceline.run_record import RunRecord


class FiguresCard(Card):
    """Captions above figures, and a sentence below."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(self.tr("Figures"))
        self.heading = QLabel()
        self.heading.setProperty("role", "muted")
        self.heading.setWordWrap(True)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(20)
        self._grid.setVerticalSpacing(2)
        self.values: list[QLabel] = []
        self.plain = QLabel()
        self.plain.setProperty("role", "small")
        self.plain.setWordWrap(True)
        self.body.addWidget(self.heading)
        self.body.addLayout(self._grid)
        self.body.addWidget(self.plain)

    def show_record(self, record: RunRecord) -> None:
        """Show the figures of this run."""
        self.heading.setText(run_details.heading(record))
        words = run_details.plain_words(record)
        self.plain.setText(words)
        self.plain.setVisible(bool(words))
        figures = run_details.figures(record)
        while len(self.values) < len(figures):
            self._add_column()
        for at, figure in enumerate(figures):
            value = self.values[at]
            caption = self._grid.itemAtPosition(0, at)
            assert caption is not None
            label = caption.widget()
            assert isinstance(label, QLabel)
            label.setText(figure.caption)
            unit = f" {figure.unit}" if figure.unit else ""
            value.setText(f"{figure.value}{unit}" if figure.value else "–")
            value.setProperty("tone", figure.tone or "")
            value.setAccessibleName(f"{figure.caption}: {value.text()}")
            restyle(value)

    def _add_column(self) -> None:
        at = len(self.values)
        caption, value = QLabel(), QLabel()
        caption.setProperty("role", "small")
        value.setProperty("role", "figure")
        self.values.append(value)
        self._grid.addWidget(caption, 0, at)
        self._grid.addWidget(value, 1, at)
        self._grid.setColumnStretch(at, 1)
