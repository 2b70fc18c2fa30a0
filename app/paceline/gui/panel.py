"""The right pane: how fast replies are written, and how the chat's replies are drawn.

Two tabs: Speed has strategy, figures, plot and how models are loaded, Chat has what belongs to the
chat. What is advised stands below both at the foot, and only appears while no mouse points at the
panel: nothing that is about to be clicked moves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QScrollArea, QTabWidget, QVBoxLayout, QWidget

from paceline.chat.advice.control_advice import findings
from paceline.chat.advice.reply_advice import MOST, advise
from paceline.gui.kit.dialogs import scrolling
from paceline.gui.look.style import PANEL
from paceline.gui.models.load_settings import LoadSettings
from paceline.gui.plot.plot_words import spoken
from paceline.gui.plot.speed_plot import SpeedPlot
from paceline.gui.plot.time_bar import TimeBar
from paceline.gui.sampling.sampling_settings import SamplingSettings
from paceline.gui.speculation.draft_settings import DraftSettings
from paceline.gui.speculation.drafter_card import DrafterCard
from paceline.gui.speculation.headline_card import AdviceLine, HeadlineCard
from paceline.gui.speculation.learning import LearningCard
from paceline.gui.speculation.strategy_picker import StrategyPicker
from paceline.gui.speculation.why_card import WhyCard
from paceline.gui.state.auto_words import advice_on, advice_to_try
from paceline.gui.state.figures import drafter_rows

if TYPE_CHECKING:
    from collections.abc import Iterable

    from PySide6.QtCore import QEvent
    from PySide6.QtGui import QShowEvent

    from paceline.chat.advice.reply_advice import Advice
    from paceline.gui.kit.card import FoldSection
    from paceline.gui.state.live import LiveFigures
    from paceline.gui.state.speculation import SpeculationModel
    from paceline.settings import PanelTab

MIN_WIDTH = 346
"""What the cards need at least, at scale 1; below it their right edges would be cut off."""


class SpeculationPanel(QWidget):
    """Lays the cards out and draws the live ones when the figures say so."""

    view_changed = Signal()
    """A section was opened or closed, or the other tab was chosen"""

    def __init__(
        self,
        speculation: SpeculationModel,
        figures: LiveFigures,
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
        self.why = WhyCard(figures.sources)
        self.advice = AdviceLine()
        self.plot = SpeedPlot(figures.metrics, figures.sources)
        self.drafters = DrafterCard()
        self.time_bar = TimeBar()
        self.draft_settings = DraftSettings(speculation)
        self.learning = LearningCard()
        self.sampling = SamplingSettings()
        self.loading = LoadSettings()
        self._sections: dict[str, FoldSection | DrafterCard] = {
            "why": self.why,
            "drafters": self.drafters,
            "loading": self.loading,
            "advanced": self.loading.advanced,
        }
        speed = _page(
            self.picker, self.headline, self.plot, self.draft_settings, self.why, self.drafters,
            self.time_bar, self.learning, self.loading,
        )  # fmt: skip
        self._pages = {"speed": speed, "chat": _page(self.sampling)}
        self.tabs = QTabWidget()
        self.tabs.tabBar().setDrawBase(False)
        for name, title, what in (
            ("speed", self.tr("Speed"), self.tr("How fast replies are written, and why")),
            ("chat", self.tr("Chat"), self.tr("What this chat's replies are told and allowed")),
        ):
            self.tabs.setTabToolTip(self.tabs.addTab(self._pages[name], title), what)
        foot = QVBoxLayout()  # takes no room while there is no advice
        foot.setContentsMargins(14, 0, 26, 12)  # as wide as cards beside a scroll bar
        foot.addWidget(self.advice)
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.tabs, 1)
        column.addLayout(foot)
        for section in self._sections.values():
            section.toggled.connect(self.view_changed)
        self.tabs.currentChanged.connect(self.view_changed)
        speculation.strategy_changed.connect(self._show_why)
        figures.refreshed.connect(self.refresh)
        figures.moved.connect(self._draw_plot)
        self.refresh()

    @property
    def tab(self) -> PanelTab:
        """Which tab is shown."""
        return "chat" if self.tabs.currentWidget() is self._pages["chat"] else "speed"

    def show_tab(self, tab: PanelTab) -> None:
        """Show a tab."""
        self.tabs.setCurrentWidget(self._pages[tab])

    @property
    def open_sections(self) -> tuple[str, ...]:
        """Names of the sections that are open."""
        return tuple(name for name, section in self._sections.items() if section.is_open)

    def open_only(self, names: Iterable[str]) -> None:
        """Open these sections and close the others."""
        wanted = set(names)
        for name, section in self._sections.items():
            section.set_open(name in wanted)

    def showEvent(self, event: QShowEvent) -> None:
        """Draw what was skipped while the panel was hidden."""
        super().showEvent(event)
        self.refresh()

    def leaveEvent(self, event: QEvent) -> None:
        """Show or take away the advice that would have moved what was pointed at."""
        super().leaveEvent(event)
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        """Draw the figures as they are; does nothing while hidden."""
        if not self.isVisible():
            return
        figures = self._figures
        self.headline.show_headline(figures.headline)
        self._show_why()
        self._draw_plot()
        self.time_bar.show_times(figures.metrics.times)
        reply = figures.reply
        stats = reply.stats if reply is not None and reply.has_ended else None
        self.drafters.show_rows(drafter_rows(figures.metrics, stats, figures.sources))
        if self.underMouse():
            return  # `leaveEvent` brings the advice up to date
        if reply is None or stats is None:
            self.advice.clear()
        else:
            advice = map(self._in_words, advise(stats, reply.strategy))
            self.advice.show_advice(reply.message_id, (*self._pair_advice(), *advice)[:MOST])

    def _in_words(self, advice: Advice) -> Advice:
        """Name the strategy as its menu does, not by its text."""
        if not advice.strategy:
            return advice
        return advice_to_try(advice, self._speculation.told(advice.strategy))

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
    def _draw_plot(self) -> None:
        figures, reply = self._figures, self._figures.reply
        ending = ""
        if reply is not None and reply.has_ended:
            ending = spoken(figures.metrics, figures.sources, reply.stats)
        self.plot.refresh(figures.plain_tokens_per_s, ending)


def _page(*cards: QWidget) -> QScrollArea:
    """Return these cards, one below the other, in an area that scrolls."""
    page = QWidget()
    page.setProperty("kind", "page")
    column = QVBoxLayout(page)
    column.setContentsMargins(14, 14, 14, 14)
    column.setSpacing(12)
    for card in cards:
        column.addWidget(card)
    column.addStretch(1)
    return scrolling(page)
