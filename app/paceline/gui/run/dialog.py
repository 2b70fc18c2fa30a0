"""The dialog about the making of a reply. It decides nothing.

From top to bottom it has figures, plot, times, drafters, settings, models.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from PySide6.QtCore import QSize, Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from paceline.chat.auto_words import decision_rows
from paceline.chat.decisions import Mix
from paceline.gui.kit.background import Slices
from paceline.gui.kit.card import FactsCard, FoldCard
from paceline.gui.kit.dialogs import within_screen
from paceline.gui.kit.labels import BreakingLabel, text_label, with_soft_breaks
from paceline.gui.kit.layouts import column_of, row_of, styled
from paceline.gui.kit.sentences import said
from paceline.gui.look.current import look
from paceline.gui.look.scale import scaled
from paceline.gui.look.style import RUN
from paceline.gui.plot.bars import TimeBar
from paceline.gui.plot.plot_words import spoken
from paceline.gui.plot.speed_plot import SpeedPlot
from paceline.gui.run.cards import FiguresCard, ModelFactsCard
from paceline.gui.run.drafters_card import DraftersCard
from paceline.gui.run.run_words import settings_rows, times
from paceline.gui.run.sameness import SamenessStrip
from paceline.gui.state.figures import gain_of
from paceline.gui.state.metrics import StepMetrics
from paceline.gui.state.sources import Sources
from paceline.run_record import RunRecord

PLOT_HEIGHTS = (150, 96)
STEPS_AT_ONCE = 400
"""Number of steps processed at once; some 3 ms of work."""


class ReplyPage(QScrollArea):
    """Page of a `RunRecord`; unknown facts are left out.

    It fills itself from top to bottom, one card per turn of the event loop: at once would freeze
    the window noticeably. Until it is complete, only the upper cards exist.
    """

    png_wanted = Signal()
    csv_wanted = Signal()
    hash_wanted = Signal(str)
    """The model's role: target or draft"""
    hash_unwanted = Signal()

    def __init__(self, sources: Sources) -> None:
        super().__init__()
        self._sources = sources
        self._record: RunRecord | None = None
        self._obstacles: Mapping[str, str] = {}
        self._judges = True
        self._filling = Slices(self)
        self.metrics = StepMetrics(sources)
        self.models: dict[str, ModelFactsCard] = {}
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        page = styled(QWidget(), kind="page")
        self._cards = column_of(on=page, margins=(20, 16, 20, 20), spacing=12)
        self.problem = styled(QFrame(), kind="notice", tone="danger")
        self.problem_text = text_label("", "", wraps=True, plain=True)
        QVBoxLayout(self.problem).addWidget(self.problem_text)
        self.figures = FiguresCard()
        self._cards.addWidget(self.problem)
        self._cards.addWidget(self.figures)
        self._cards.addStretch(1)
        self.setWidget(page)
        self._has_cards = False

    def show_record(
        self, record: RunRecord, obstacles: Mapping[str, str], *, judges: bool = True
    ) -> None:
        """Show a run.

        Args:
            record: The run.
            obstacles: Why the file of "target" or "draft" cannot be hashed, or empty if it can.
            judges: Whether a loss may be shown.
        """
        self._record, self._obstacles, self._judges = record, obstacles, judges
        error = record.error
        self.problem.setVisible(error is not None)
        if error is not None:
            self.problem_text.setText(said(error.message, error.hint))
        self.figures.show_record(record, judges=judges)
        self._filling.start(self._fill(record))

    def _fill(self, record: RunRecord) -> Iterator[None]:
        """Make or show one part between two turns of the event loop."""
        if not self._has_cards:
            yield from self._make_cards()
            self._has_cards = True
        self.metrics.clear()
        decided = Mix()
        steps = record.last_part
        for begin in range(0, len(steps), STEPS_AT_ONCE):
            for step in steps[begin : begin + STEPS_AT_ONCE]:
                self.metrics.push(step)
                decided.add(step)
            yield
        self.plot.range.reset()
        self.plot.setVisible(self.metrics.n_steps > 0)
        self.draw()
        yield
        shares = times(record)
        self.times.show_times(shares)
        self.times.setVisible(shares.total_s > 0)
        yield
        self.drafters.show_run(record, self.metrics)
        yield
        title, judges = self._sources.full_title, self._judges
        rows = decision_rows(decided, title, record.stats, judges=judges)
        self.decisions.show_rows([(said(name), said(words)) for name, words in rows])
        self.settings.show_rows(settings_rows(record))
        yield
        self.prompt.setVisible(bool(record.system_prompt))
        self.prompt_text.setText(with_soft_breaks(record.system_prompt))
        self.models["target"].show_model(record.target, obstacle=self._obstacles["target"])
        yield
        self.models["draft"].show_model(record.draft, obstacle=self._obstacles["draft"])
        self.notes.show_rows([("", said(note)) for note in record.notes])

    def _make_cards(self) -> Iterator[None]:
        self.plot = SpeedPlot(
            self.metrics,
            self._sources,
            heights=PLOT_HEIGHTS,
            span=0,
            is_live=False,
            parent=self.widget(),
        )
        self.plot.tools.png.triggered.connect(self.png_wanted)
        self.plot.tools.csv.triggered.connect(self.csv_wanted)
        self._add(self.plot)
        yield
        self.times = TimeBar(shows_seconds=True, parent=self.widget())
        self._add(self.times)
        yield
        self.drafters = DraftersCard(self._sources, self.widget())
        self._add(self.drafters)
        self.decisions = FactsCard(self.tr("What Auto decided"), self.widget())
        self._add(self.decisions)
        self.settings = FactsCard(self.tr("Settings"), self.widget())
        self._add(self.settings)
        self.prompt = FoldCard(self.widget())
        self.prompt.set_title(self.tr("System prompt"))
        self.prompt_text = BreakingLabel()
        self.prompt.body.addWidget(self.prompt_text)
        self._add(self.prompt)
        yield
        for name, title in (("target", self.tr("Model")), ("draft", self.tr("Draft model"))):
            card = self.models[name] = ModelFactsCard(name, title, self.widget())
            card.hash_wanted.connect(self.hash_wanted)
            card.hash_unwanted.connect(self.hash_unwanted)
            self._add(card)
        yield
        self.notes = FactsCard(self.tr("Notes"), self.widget())
        self._add(self.notes)
        yield

    def _add(self, card: QWidget) -> None:
        """Add a card below the others, hidden while it is empty."""
        card.hide()
        self._cards.insertWidget(self._cards.count() - 1, card)

    def draw(self) -> None:
        """Draw the plot, which is impossible while it is hidden."""
        record = self._record
        if record is None or not self._has_cards:
            return
        stats = record.stats
        plain = stats.plain_tokens_per_s if stats is not None else None
        ending = spoken(self.metrics, self._sources, stats, judges=self._judges)
        self.plot.refresh(plain, ending, gain_of(stats, judges=self._judges).plain)


SIZE = QSize(900, 720)
SMALLEST = QSize(720, 440)


class RunDialog(QDialog):
    """The page of a reply above a row of buttons."""

    def __init__(self, sources: Sources, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("How this reply was made"))
        self._record: RunRecord | None = None
        self.setObjectName(RUN)
        self.reply_page = ReplyPage(sources)
        self.strip = SamenessStrip()
        column_of((self.reply_page, 1), self._make_foot(), on=self, margins=0, spacing=0)
        look.follow(self._fit)
        self.resize(within_screen(self, scaled(SIZE)))

    def _make_foot(self) -> QFrame:
        foot = styled(QFrame(), kind="foot")
        self.verify = QPushButton(self.tr("&Verify sameness"), autoDefault=False)
        self.copy = QPushButton(self.tr("&Copy run record"), autoDefault=False)
        self.save = QPushButton(self.tr("&Save…"), autoDefault=False)
        self.close_button = QPushButton(self.tr("Close"), autoDefault=False)
        self.copy.setToolTip(self.tr("As JSON, with all steps"))
        self.close_button.clicked.connect(self.reject)
        row = row_of(self.verify, None, self.copy, self.save, self.close_button, spacing=8)
        column_of(self.strip, row, on=foot, margins=(20, 12, 20, 12), spacing=10)
        return foot

    @Slot()
    def _fit(self) -> None:
        self.setMinimumSize(within_screen(self, scaled(SMALLEST)))

    def show_record(self, record: RunRecord, obstacles: Mapping[str, str], *, judges: bool) -> None:
        """Show another run; see `ReplyPage`."""
        self._record = record
        self.reply_page.show_record(record, obstacles, judges=judges)

    def set_verify_obstacle(self, obstacle: str) -> None:
        """Set why sameness cannot be verified now, or empty if it can."""
        self.verify.setEnabled(not obstacle)
        self.verify.setToolTip(
            obstacle or self.tr("Generates this reply once more without drafts, and compares")
        )

    def showEvent(self, event: QShowEvent) -> None:
        """Draw what could not be drawn while hidden."""
        super().showEvent(event)
        if self._record is not None:
            self.reply_page.draw()
