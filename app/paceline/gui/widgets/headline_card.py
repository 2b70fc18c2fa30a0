"""The large figures: tokens per second, the ratio to plain decoding, and a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from paceline.gui.theme import restyle
from paceline.gui.widgets.card import Card
from paceline.gui.widgets.yielding import YieldingLabel

if TYPE_CHECKING:
    from paceline.gui.viewmodels.figures import Headline


class HeadlineCard(Card):
    """Shows a `Headline`; without one it says what will be here."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(self.tr("Speed"))
        self.speed = QLabel()
        self.speed.setProperty("role", "big")
        self._unit = QLabel(self.tr("tokens/s"))
        self._unit.setProperty("role", "muted")
        self.ratio = QLabel()
        self.ratio.setProperty("role", "ratio")
        self.ratio.setToolTip(self.tr("Times the estimated speed without speculation"))
        self.plain = YieldingLabel()
        self.plain.setProperty("role", "small")
        self.plain.setToolTip(self.tr("Estimated tokens per second without speculation"))
        self.sentence = QLabel()
        self.sentence.setProperty("role", "small")
        self.sentence.setWordWrap(True)
        row = QHBoxLayout()
        row.setSpacing(6)
        baseline = Qt.AlignmentFlag.AlignBaseline
        row.addWidget(self.speed, 0, baseline)
        row.addWidget(self._unit, 0, baseline)
        row.addStretch(1)
        row.addWidget(self.plain, 0, baseline)
        row.addWidget(self.ratio, 0, baseline)
        self.body.setSpacing(2)
        self.body.addLayout(row)
        self.body.addWidget(self.sentence)

    def show_headline(self, headline: Headline) -> None:
        """Show these figures."""
        self.speed.setText(headline.speed or "–")
        self.plain.setText(headline.plain)
        self.ratio.setText(headline.ratio)
        if self.ratio.property("tone") != headline.tone:
            self.ratio.setProperty("tone", headline.tone)
            restyle(self.ratio)
        self.sentence.setText(
            headline.sentence or self.tr("The speed of the next reply appears here, live.")
        )
