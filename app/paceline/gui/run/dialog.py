"""The dialog that shows how a reply was made. It decides nothing.

A reply is shown from top to bottom: figures, plot, times, drafters, settings, models.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from paceline.chat.decisions import Mix
from paceline.chat.sameness import CannotCompare, Differs, Result, Same
from paceline.gui.kit.background import Slices
from paceline.gui.kit.card import FactsCard, FoldCard
from paceline.gui.kit.dialogs import within_screen
from paceline.gui.kit.labels import BreakingLabel, say, text_label, with_soft_breaks
from paceline.gui.kit.layouts import column_of, row_of, set_look, styled
from paceline.gui.kit.sentences import said
from paceline.gui.kit.translation import local, translator
from paceline.gui.look.current import look
from paceline.gui.look.scale import scaled
from paceline.gui.look.style import RUN
from paceline.gui.plot.bars import TimeBar
from paceline.gui.plot.plot_words import spoken
from paceline.gui.plot.speed_plot import SpeedPlot
from paceline.gui.run.cards import DraftersCard, FiguresCard, ModelCard, settings_rows, times
from paceline.gui.state.auto_words import decision_rows
from paceline.gui.state.metrics import StepMetrics
from paceline.gui.state.sources import Sources
from paceline.run_record import RunRecord


@dataclass(frozen=True, slots=True)
class SamenessWords:
    """A verdict, and the reasons for it."""

    tone: Literal["accent", "lookup", "danger", "muted"]
    verdict: str
    details: str = ""


_tr = translator("SamenessWords")


def progress_words(n_same: int, n_tokens: int) -> str:
    """How far a check is."""
    return _tr("{:,} of {:,} tokens the same").format(local(n_same), local(n_tokens))


def result_words(result: Result) -> SamenessWords:
    """What came out."""
    if isinstance(result, Same):
        return SamenessWords(
            "accent",
            _tr("The same: all {:,} tokens are what plain decoding gives.").format(
                local(result.n_tokens)
            ),
        )
    if isinstance(result, CannotCompare):
        return SamenessWords("muted", said(result.message), said(result.hint))
    return _different(result)


def _different(result: Differs) -> SamenessWords:
    expected = _quoted(result.expected)
    found = _quoted(result.found)
    verdict = _tr("Token {:,} of {:,} differs: the reply has {}, plain decoding {}.").format(
        local(result.index + 1), local(result.n_tokens), expected, found
    )
    details = [_tr("Both have before: “…{}”").format(result.before)] if result.before else []
    if result.margin is None:
        details.append(_tr("No change of one logit gives plain decoding the reply's token."))
    else:
        change = _tr("If one logit changes by {:.3g}, plain decoding has the reply's token, too.")
        details.append(change.format(local(result.margin)))
    if result.is_promised:
        details.append(
            _tr(
                "This pair gives the same text with any strategy here, so this should not be; "
                "please report it with the run record."
            )
        )
        return SamenessWords("danger", verdict, "\n".join(details))
    details.append(_explanation(result))
    return SamenessWords("lookup", verdict, "\n".join(details))


def _explanation(result: Differs) -> str:
    """Why a difference that no promise excludes can be."""
    cure = _tr("Exact mode (in the loading settings) avoids that.")
    most = result.logit_difference
    if result.is_exact:
        words = _tr("Was the reply made with other settings or kernels, or not in exact mode?")
    elif result.reused is not None and result.reused[0] != result.reused[1]:
        words = _tr(
            "Of the prompt, {:,} tokens were reused then and {:,} now; what was computed in other "
            "batches can differ by rounding."
        ).format(*map(local, result.reused))
        words = f"{words} {cure}"
    elif most is None:
        words = _tr("How far logits depend on the width of a batch was not looked at here yet.")
        words = f"{words} {cure}"
    # Each of the two logits that are compared may be off by so much.
    elif most > 0 and result.margin is not None and result.margin <= 2 * most:
        words = _tr(
            "That is a near-tie: between batch widths a logit was seen to differ by up to {:.2g} "
            "here."
        ).format(local(most))
        words = f"{words} {cure}"
    else:
        words = _tr(
            "Rounding was not seen to do so much here (up to {:.2g} in a logit). Was the reply "
            "made with other kernels, threads, devices or cache types?"
        ).format(local(most))
    return words


def _quoted(text: str) -> str:
    if not text:
        return _tr("its end, or a token without text")
    return "“{}”".format(text.replace("\n", "⏎"))


class SamenessStrip(QFrame):
    """Hidden while no check runs and no result is known."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "notice")
        self.verdict = text_label("", "", wraps=True, plain=True)
        self.verdict.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.details = text_label(wraps=True, plain=True)
        self.details.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.bar = QProgressBar()
        self.bar.setFixedWidth(160)
        self.bar.setAccessibleName(self.tr("Tokens compared"))
        self.stop = styled(QPushButton(self.tr("Stop")), kind="compact")
        self.stop.setAccessibleName(self.tr("Stop the check"))
        row = row_of((self.verdict, 1), self.bar, self.stop, spacing=12)
        column_of(row, self.details, on=self, margins=(14, 8, 14, 8), spacing=4)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.hide()

    def show_progress(self, n_same: int, n_tokens: int) -> None:
        """A check is under way."""
        self.verdict.setText(progress_words(n_same, n_tokens))
        self.bar.setRange(0, max(n_tokens, 1))
        self.bar.setValue(n_same)
        self.bar.show()
        self.stop.show()
        self.details.hide()
        set_look(self, tone="")
        self.show()

    def show_words(self, words: SamenessWords) -> None:
        """A check is over, or cannot be made."""
        self.verdict.setText(words.verdict)
        say(self.details, words.details)
        self.bar.hide()
        self.stop.hide()
        set_look(self, tone=words.tone)
        self.setAccessibleName(words.verdict)
        self.setAccessibleDescription(words.details)
        self.show()

    def show_problem(self, message: str) -> None:
        """Show an error that is no result of a check."""
        self.show_words(SamenessWords("danger", message))


PLOT_HEIGHTS = (150, 96)
STEPS_AT_ONCE = 400
"""Some 3 ms of work."""


class ReplyPage(QScrollArea):
    """Shows a `RunRecord`; what is not known is not shown.

    It fills itself from top to bottom, one card per turn of the event loop: all at once would stop
    the window noticeably. Before the end, only the cards above are there.
    """

    png_wanted = Signal()
    csv_wanted = Signal()
    hash_wanted = Signal(str)
    """Of which model: target, draft"""
    hash_unwanted = Signal()

    def __init__(self, sources: Sources) -> None:
        super().__init__()
        self._sources = sources
        self._record: RunRecord | None = None
        self._obstacles: Mapping[str, str] = {}
        self._filling = Slices(self)
        self.metrics = StepMetrics(sources)
        self.models: dict[str, ModelCard] = {}
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

    def show_record(self, record: RunRecord, obstacles: Mapping[str, str]) -> None:
        """Show a run.

        Args:
            record: The run.
            obstacles: Of "target" and "draft": why its file cannot be hashed; empty: it can.
        """
        self._record, self._obstacles = record, obstacles
        error = record.error
        self.problem.setVisible(error is not None)
        if error is not None:
            self.problem_text.setText(said(error.message, error.hint))
        self.figures.show_record(record)
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
        speedup = record.stats.speedup if record.stats is not None else None
        self.decisions.show_rows(decision_rows(decided, self._sources, speedup))
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
        self.times = TimeBar(tells_seconds=True, parent=self.widget())
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

    def show_record(self, record: RunRecord, obstacles: Mapping[str, str]) -> None:
        """Show another run; see `ReplyPage`."""
        self._record = record
        self.reply_page.show_record(record, obstacles)

    def set_verify_obstacle(self, obstacle: str) -> None:
        """Say why no sameness can be verified now; empty: it can."""
        self.verify.setEnabled(not obstacle)
        self.verify.setToolTip(
            obstacle or self.tr("Generates this reply once more without drafts, and compares")
        )

    def showEvent(self, event: QShowEvent) -> None:
        """Draw what could not be drawn before."""
        super().showEvent(event)
        if self._record is not None:
            self.reply_page.draw()
