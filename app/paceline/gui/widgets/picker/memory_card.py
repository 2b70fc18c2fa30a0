"""Whether a pair finds room: one bar per device, and the ways to make it fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget

from paceline.gui.theme import restyle
from paceline.gui.viewmodels.savings import saving_title
from paceline.gui.widgets.card import Card
from paceline.gui.widgets.picker.memory_bar import MemoryBar
from paceline.gui.widgets.soft_breaks import with_soft_breaks

if TYPE_CHECKING:
    from paceline.catalog.memory_values import MemoryPlan, MemoryRemedy
    from paceline.gui.theme import Theme


class _Way(QWidget):
    """A remedy: what to do, and below what it means."""

    chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._remedy: MemoryRemedy | None = None
        self.button = QPushButton()
        self.button.clicked.connect(self._on_clicked)
        self.button.setProperty("kind", "compact")
        self.text = QLabel()
        self.text.setProperty("role", "small")
        self.text.setWordWrap(True)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 2, 0, 2)
        column.setSpacing(2)
        column.addWidget(self.button, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.text)

    def show_remedy(self, remedy: MemoryRemedy) -> None:
        """Offer this; without a button where only the user can find what is needed."""
        self._remedy = remedy
        title = saving_title(remedy.saving)
        self.button.setText(title)
        self.button.setVisible(bool(title))
        self.button.setAccessibleDescription(remedy.text)
        self.text.setText(with_soft_breaks(remedy.text))

    @Slot()
    def _on_clicked(self) -> None:
        self.chosen.emit(self._remedy)


class MemoryCard(Card):
    """Shows a `MemoryPlan`; an older one stays until the next one is there."""

    remedy_chosen = Signal(object)
    """MemoryRemedy"""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._plan: MemoryPlan | None = None
        self.set_title(self.tr("Memory"))
        self.pill = QLabel()
        self.pill.setProperty("role", "pill")
        self.header.addWidget(self.pill)
        self.problem = QLabel()
        self.problem.setProperty("role", "small")
        self.problem.setWordWrap(True)
        self.bars: list[MemoryBar] = []
        self.ways: list[_Way] = []
        self._bar_rows = QVBoxLayout()
        self._bar_rows.setSpacing(12)
        self._way_rows = QVBoxLayout()
        self._way_rows.setSpacing(4)
        self.help = QLabel(self.tr("What would help:"))
        self.help.setProperty("role", "title")
        self.body.addWidget(self.problem)
        self.body.addLayout(self._bar_rows)
        self.body.addWidget(self.help)
        self.body.addLayout(self._way_rows)
        self.show_plan(None)

    def set_theme(self, theme: Theme) -> None:
        """Use another theme's colours."""
        self._theme = theme
        for bar in self.bars:
            bar.set_theme(theme)

    def show_plan(self, plan: MemoryPlan | None, problem: str = "") -> None:
        """Show what a pair takes; None: not known yet, or why not."""
        self._plan = plan
        words, tone = self.tr("Working it out…"), "muted"
        if plan is not None:
            words, tone = (
                (self.tr("fits"), "accent") if plan.fits else (self.tr("does not fit"), "danger")
            )
        elif problem:
            words, tone = self.tr("not known"), "muted"
        self.pill.setText(words)
        self.pill.setProperty("tone", tone)
        restyle(self.pill)
        is_rough = plan is not None and not plan.is_measured
        self.problem.setText(with_soft_breaks(problem or self.tr("Estimated from the headers.")))
        self.problem.setVisible(bool(problem) or is_rough)
        self._show_bars(plan)
        self._show_ways(plan)

    def _show_bars(self, plan: MemoryPlan | None) -> None:
        devices = plan.devices if plan is not None else ()
        while len(self.bars) < len(devices):
            bar = MemoryBar(self._theme)
            self.bars.append(bar)
            self._bar_rows.addWidget(bar)
        for at, bar in enumerate(self.bars):
            bar.setVisible(at < len(devices))
            if at < len(devices):
                bar.show_plan(devices[at], is_only=len(devices) == 1)

    def _show_ways(self, plan: MemoryPlan | None) -> None:
        remedies = plan.remedies if plan is not None and not plan.fits else ()
        self.help.setVisible(bool(remedies))
        while len(self.ways) < len(remedies):
            way = _Way()
            way.chosen.connect(self.remedy_chosen)
            self.ways.append(way)
            self._way_rows.addWidget(way)
        for at, way in enumerate(self.ways):
            way.setVisible(at < len(remedies))
            if at < len(remedies):
                way.show_remedy(remedies[at])
