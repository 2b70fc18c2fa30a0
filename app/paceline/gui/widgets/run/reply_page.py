"""One reply from top to bottom: figures, plot, times, drafters, settings, models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QFrame, QLabel, QScrollArea, QVBoxLayout, QWidget

from paceline.gui.viewmodels import run_details
from paceline.gui.viewmodels.decision_rows import decision_rows
from paceline.gui.viewmodels.decisions import Mix
from paceline.gui.viewmodels.metrics import StepMetrics
from paceline.gui.viewmodels.plot_words import spoken
from paceline.gui.widgets.card import FoldCard
from paceline.gui.widgets.run.drafters_card import DraftersCard
from paceline.gui.widgets.run.facts_card import FactsCard
from paceline.gui.widgets.run.figures_card import FiguresCard
from paceline.gui.widgets.run.models_card import ModelCard
from paceline.gui.widgets.soft_breaks import BreakingLabel, with_soft_breaks
from paceline.gui.widgets.speed_plot import SpeedPlot
from paceline.gui.widgets.time_bar import TimeBar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paceline.gui.icons import Icons
    from paceline.gui.theme import Theme
    from paceline.gui.viewmodels.sources import Sources
    from paceline.run_record import RunRecord

PLOT_HEIGHTS = (150, 96)
STEPS_AT_ONCE = 400
"""Some 3 ms of work."""


class ReplyPage(QScrollArea):
    """Shows a `RunRecord`; what is not known is not shown.

    It fills itself from top to bottom, one card per turn of the event loop: all at once would stop
    the window for longer than the eye forgives. `filled` tells the end; before it, only the cards
    above are there.
    """

    filled = Signal()
    png_wanted = Signal()
    csv_wanted = Signal()
    hash_wanted = Signal(str)
    """Of which model: target, draft"""
    hash_unwanted = Signal()

    def __init__(self, sources: Sources, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._sources, self._theme = sources, theme
        self._icons: Icons | None = None
        self._record: RunRecord | None = None
        self._obstacles = {"target": "", "draft": ""}
        self._stages: Iterator[None] = iter(())
        self.metrics = StepMetrics(sources)
        self.models: dict[str, ModelCard] = {}
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        page = QWidget()
        page.setProperty("kind", "page")
        self._cards = QVBoxLayout(page)
        self._cards.setContentsMargins(20, 16, 20, 20)
        self._cards.setSpacing(12)
        self.problem = QFrame()
        self.problem.setProperty("kind", "notice")
        self.problem.setProperty("tone", "danger")
        self.problem_text = QLabel()
        self.problem_text.setWordWrap(True)
        self.problem_text.setTextFormat(Qt.TextFormat.PlainText)
        QVBoxLayout(self.problem).addWidget(self.problem_text)
        self.figures = FiguresCard()
        self._cards.addWidget(self.problem)
        self._cards.addWidget(self.figures)
        self._cards.addStretch(1)
        self.setWidget(page)
        self._next = QTimer(self)
        self._next.timeout.connect(self._on_next)
        self._has_cards = False

    @property
    def is_filled(self) -> bool:
        """Whether everything is shown that is known."""
        return self._record is not None and not self._next.isActive()

    def set_theme(self, theme: Theme, icons: Icons) -> None:
        """Use another theme's colours."""
        self._theme, self._icons = theme, icons
        if self._has_cards:
            self.plot.set_theme(theme)
            self.plot.set_icons(icons)
            self.times.set_theme(theme)
            self.drafters.set_theme(theme)

    def show_record(self, record: RunRecord, *, target_obstacle: str, draft_obstacle: str) -> None:
        """Show a run; the obstacles say why a model's file cannot be hashed, empty: it can."""
        self._record = record
        self._obstacles = {"target": target_obstacle, "draft": draft_obstacle}
        error = record.error
        self.problem.setVisible(error is not None)
        if error is not None:
            self.problem_text.setText(f"{error.message} {error.hint}".strip())
        self.figures.show_record(record)
        self._stages = self._fill(record)
        self._next.start(0)

    @Slot()
    def _on_next(self) -> None:
        try:
            next(self._stages)
        except StopIteration:
            self._next.stop()
            self.filled.emit()

    def _fill(self, record: RunRecord) -> Iterator[None]:
        """Make or show one part between two turns of the event loop."""
        if not self._has_cards:
            yield from self._make_cards()
            self._has_cards = True
        self.metrics.clear()
        decided = Mix()
        for begin in range(0, len(record.steps), STEPS_AT_ONCE):
            for step in record.steps[begin : begin + STEPS_AT_ONCE]:
                self.metrics.push(step)
                decided.add(step)
            yield
        self.plot.range.reset()
        self.plot.setVisible(self.metrics.n_steps > 0)
        self.draw()
        yield
        times = run_details.times(record)
        self.times.show_times(times)
        self.times.setVisible(times.total_s > 0)
        yield
        self.drafters.show_run(record, self.metrics)
        yield
        speedup = record.stats.speedup if record.stats is not None else None
        self.decisions.show_rows(decision_rows(decided, self._sources, speedup))
        self.settings.show_rows(run_details.settings_rows(record))
        yield
        self.prompt.setVisible(bool(record.system_prompt))
        self.prompt_text.setText(with_soft_breaks(record.system_prompt))
        self.models["target"].show_model(record.target, obstacle=self._obstacles["target"])
        yield
        self.models["draft"].show_model(record.draft, obstacle=self._obstacles["draft"])
        self.notes.show_rows([("", note) for note in record.notes])
        yield

    def _make_cards(self) -> Iterator[None]:
        self.plot = SpeedPlot(
            self.metrics,
            self._sources,
            self._theme,
            heights=PLOT_HEIGHTS,
            span=0,
            is_live=False,
            parent=self.widget(),
        )
        if self._icons is not None:
            self.plot.set_icons(self._icons)
        self.plot.png_wanted.connect(self.png_wanted)
        self.plot.csv_wanted.connect(self.csv_wanted)
        self._add(self.plot)
        yield
        self.times = TimeBar(self._theme, tells_seconds=True, parent=self.widget())
        self._add(self.times)
        yield
        self.drafters = DraftersCard(self._sources, self._theme, self.widget())
        self._add(self.drafters)
        self.decisions = FactsCard(self.tr("What Auto decided"), self.widget())
        self._add(self.decisions)
        self.settings = FactsCard(self.tr("Settings"), self.widget())
        self._add(self.settings)
        self.prompt = FoldCard(self.widget())
        self.prompt.set_title(self.tr("System prompt"))
        self.prompt_text = BreakingLabel()
        self.prompt_text.setTextFormat(Qt.TextFormat.PlainText)
        self.prompt.body.addWidget(self.prompt_text)
        self._add(self.prompt)
        yield
        for name, title in (("target", self.tr("Target")), ("draft", self.tr("Draft model"))):
            card = self.models[name] = ModelCard(name, title, self.widget())
            card.hash_wanted.connect(self.hash_wanted)
            card.hash_unwanted.connect(self.hash_unwanted)
            self._add(card)
        yield
        self.notes = FactsCard(self.tr("Notes"), self.widget())
        self._add(self.notes)
        yield

    def _add(self, card: QWidget) -> None:
        """Put a card below the others; hidden until there is something in it."""
        card.hide()
        self._cards.insertWidget(self._cards.count() - 1, card)

    def draw(self) -> None:
        """Draw the plot; it cannot while it is hidden."""
        record = self._record
        if record is None or not self._has_cards:
            return
        plain = record.stats.plain_tokens_per_s if record.stats is not None else None
        self.plot.refresh(plain, spoken(self.metrics, self._sources, record.stats))
