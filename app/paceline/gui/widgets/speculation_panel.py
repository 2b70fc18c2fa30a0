"""The right pane: strategy, figures, live plot, time bar, and all settings, in one scroll area."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from paceline.chat.advice import MOST, advise
from paceline.chat.control_advice import findings
from paceline.gui.viewmodels.advice_words import advice_on
from paceline.gui.viewmodels.drafter_rows import drafter_rows
from paceline.gui.whole_style import PANEL
from paceline.gui.widgets.advice_line import AdviceLine
from paceline.gui.widgets.draft_settings import DraftSettings
from paceline.gui.widgets.drafter_card import DrafterCard
from paceline.gui.widgets.headline_card import HeadlineCard
from paceline.gui.widgets.learning_card import LearningCard
from paceline.gui.widgets.load_settings import LoadSettings
from paceline.gui.widgets.sampling_settings import SamplingSettings
from paceline.gui.widgets.speed_plot import SpeedPlot
from paceline.gui.widgets.strategy_picker import StrategyPicker
from paceline.gui.widgets.time_bar import TimeBar
from paceline.gui.widgets.why_card import WhyCard

if TYPE_CHECKING:
    from collections.abc import Iterable

    from PySide6.QtGui import QShowEvent

    from paceline.chat.advice import Advice
    from paceline.gui.theme import Theme
    from paceline.gui.viewmodels.live import LiveFigures
    from paceline.gui.viewmodels.speculation import SpeculationModel
    from paceline.gui.widgets.card import FoldSection

MIN_WIDTH = 346
"""What the cards need at least, at scale 1; below it their right edges would be cut off."""


class SpeculationPanel(QWidget):
    """Lays the cards out and draws the live ones when the figures say so."""

    sections_changed = Signal()

    def __init__(
        self,
        speculation: SpeculationModel,
        figures: LiveFigures,
        theme: Theme,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName(PANEL)
        self.setProperty("kind", "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setMinimumWidth(MIN_WIDTH)
        self._figures = figures
        self._speculation = speculation
        self.picker = StrategyPicker(speculation)
        self.headline = HeadlineCard()
        self.why = WhyCard(figures.sources, theme)
        self.advice = AdviceLine()
        self.plot = SpeedPlot(figures.metrics, figures.sources, theme)
        self.drafters = DrafterCard(theme)
        self.time_bar = TimeBar(theme)
        self.draft_settings = DraftSettings(speculation)
        self.learning = LearningCard()
        self.sampling = SamplingSettings()
        self.loading = LoadSettings()
        self._sections: dict[str, FoldSection | DrafterCard] = {
            "why": self.why,
            "drafters": self.drafters,
            "sampling": self.sampling,
            "loading": self.loading,
            "advanced": self.loading.advanced,
        }
        page = QWidget()
        page.setProperty("kind", "page")
        cards = QVBoxLayout(page)
        cards.setContentsMargins(14, 14, 14, 14)
        cards.setSpacing(12)
        for card in (
            self.picker, self.headline, self.why, self.plot, self.drafters, self.advice,
            self.time_bar, self.draft_settings, self.learning, self.sampling, self.loading,
        ):  # fmt: skip
            cards.addWidget(card)
        cards.addStretch(1)
        self._scroll = QScrollArea()
        self._scroll.setWidgetResizable(True)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.setWidget(page)
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 0, 0, 0)
        column.addWidget(self._scroll)
        for section in self._sections.values():
            section.toggled.connect(self._on_section_toggled)
        speculation.strategy_changed.connect(self._show_why)
        figures.refreshed.connect(self.refresh)
        figures.moved.connect(self._on_moved)
        self.refresh()

    @property
    def open_sections(self) -> tuple[str, ...]:
        """Names of the sections that are open."""
        return tuple(name for name, section in self._sections.items() if section.is_open)

    def open_only(self, names: Iterable[str]) -> None:
        """Open these sections and close the others."""
        wanted = set(names)
        for name, section in self._sections.items():
            section.set_open(name in wanted)

    def set_theme(self, theme: Theme) -> None:
        """Use another theme's colours."""
        self.plot.set_theme(theme)
        self.time_bar.set_theme(theme)
        self.drafters.set_theme(theme)
        self.why.set_theme(theme)

    def showEvent(self, event: QShowEvent) -> None:
        """Draw what was skipped while the panel was hidden."""
        super().showEvent(event)
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        """Draw the figures as they are; does nothing while hidden."""
        if not self.isVisible():
            return
        figures = self._figures
        self.headline.show_headline(figures.headline)
        self._show_why()
        self.plot.refresh(figures.plain_tokens_per_s, figures.ending)
        self.time_bar.show_times(figures.metrics.times)
        reply = figures.reply
        stats = reply.stats if reply is not None and reply.has_ended else None
        self.drafters.show_rows(drafter_rows(figures.metrics, stats, figures.sources))
        if reply is None or stats is None:
            self.advice.clear()
        else:
            self.advice.show_advice(
                reply.message_id, (*self._pair_advice(), *advise(stats, reply.strategy))[:MOST]
            )

    def _pair_advice(self) -> tuple[Advice, ...]:
        """What Auto found out about the pair in the reply that is shown."""
        figures = self._figures
        report, pair = figures.own_report, figures.pair
        if report is None or pair is None:
            return ()
        found = findings(
            report, models=figures.sources.models, target=pair.target, draft=pair.draft
        )
        return tuple(advice_on(finding, figures.sources) for finding in found)

    @Slot()
    def _show_why(self) -> None:
        """What Auto knows; hidden where it has nothing to decide."""
        figures = self._figures
        has_decided = figures.decisions.whole.n_steps > 0
        self.why.setVisible(has_decided or self._speculation.is_controlled)
        self.why.show_report(figures.report)

    @Slot()
    def _on_moved(self) -> None:
        figures = self._figures
        self.plot.refresh(figures.plain_tokens_per_s, figures.ending)

    @Slot()
    def _on_section_toggled(self) -> None:
        self.sections_changed.emit()
