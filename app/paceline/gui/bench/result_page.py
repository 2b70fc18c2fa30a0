"""Results of a benchmark, also while it runs: a verdict, bars, and a table of figures.

A button in each row of the table chooses its strategy.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor
from PySide6.QtWidgets import (
    QFrame,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QWidget,
)

from paceline.bench.runs import Report
from paceline.bench.verdict import verdict
from paceline.gui.bench import words
from paceline.gui.bench.chart import BenchChart
from paceline.gui.bench.rows import BenchRow, remarks, rows_of
from paceline.gui.bench.words import in_use
from paceline.gui.kit.announcer import Announcer
from paceline.gui.kit.card import Card
from paceline.gui.kit.figures_table import ROW_PX, FiguresModel, FiguresTable
from paceline.gui.kit.labels import (
    BreakingLabel,
    say,
    text_label,
    with_soft_breaks,
    without_soft_breaks,
)
from paceline.gui.kit.layouts import column_of, fill, row_of, set_look, styled
from paceline.gui.kit.rows import Index
from paceline.gui.kit.sentences import said
from paceline.gui.kit.translation import local, translator
from paceline.gui.look.current import look
from paceline.gui.look.scale import GAP, HALF, PAGE, STEP, px
from paceline.gui.plot.plot_words import entries_html
from paceline.gui.state.figures import percent_text, speed_text

NAME, SPEED, RATIO, WHOLE, SPREAD, RIGHT, PER_STEP, SAME, RUNS, USE = range(10)
_BESIDE_BUTTON_PX = 14
"""Pixels of a cell beside its button."""
_GIVING_WAY = (PER_STEP, RUNS, SPREAD, SAME, RIGHT, SPEED)
"""Columns that are hidden where space is short, the first one first."""


class BenchTableModel(FiguresModel):
    """Rows of figures as texts."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(USE + 1, (NAME,), parent)
        self.rows: tuple[BenchRow, ...] = ()

    def set_rows(self, rows: Sequence[BenchRow]) -> None:
        """Replace the figures; strategies that remain keep their rows."""
        is_same = [row.strategy for row in rows] == [row.strategy for row in self.rows]
        if is_same:
            self.rows = tuple(rows)
            if rows:
                self.dataChanged.emit(self.index(0, 0), self.index(len(rows) - 1, USE))
            return
        self.beginResetModel()
        self.rows = tuple(rows)
        self.endResetModel()

    def rowCount(self, parent: Index | None = None) -> int:
        """Return one row per strategy."""
        return 0 if parent is not None and parent.isValid() else len(self.rows)

    def titles(self) -> tuple[str, ...]:
        """Return the names of the columns."""
        return (
            self.tr("Strategy"), self.tr("Tokens/s"), self.tr("Writing"), self.tr("Whole reply"),
            self.tr("Quartiles"), self.tr("Right"), self.tr("Per step"), self.tr("Same text"),
            self.tr("Replies"), "",
        )  # fmt: skip

    def explanations(self) -> tuple[str, ...]:
        """Return a sentence about each column."""
        return (
            "",
            self.tr("Tokens per second of plain decoding, times the ratio of writing"),
            self.tr("How many times as fast as plain decoding it writes, the prompt not counted"),
            self.tr("How many times as fast a reply is there, with the reading of its prompt"),
            self.tr("Half of the repeats are between these, in writing"),
            self.tr("Guesses that were right"),
            self.tr("Tokens that a step of the model commits"),
            self.tr("Whether the replies are plain decoding's, token by token"),
            self.tr("Replies that were measured"),
            "",
        )

    def hint(self, row: int, column: int) -> str:
        """Return the strategy and its problem, if any."""
        del column
        found = self.rows[row]
        return "\n".join(each for each in (found.title, found.strategy, found.problem) if each)

    def text(self, row: int, column: int) -> str:
        """Return a figure of a strategy."""
        found = self.rows[row]
        if column == NAME:
            return found.title
        if found.speedup is None:
            return "–" if column in (SPEED, RATIO, WHOLE) else ""
        _, low, high = found.speedup
        same = {None: "", True: self.tr("yes"), False: self.tr("no")}[found.same_text]
        return {
            SPEED: "–" if found.tokens_per_s is None else speed_text(found.tokens_per_s),
            RATIO: found.ratio_text or "–",
            WHOLE: found.whole_text or "–",
            SPREAD: "" if found.kind == "plain" else f"{local(low):.2f}–{local(high):.2f}",
            RIGHT: "" if found.acceptance is None else percent_text(found.acceptance),
            PER_STEP: "" if found.per_step is None else f"{local(found.per_step):.2f}",
            SAME: same,
            RUNS: str(found.n_runs),
        }.get(column, "")

    def colour(self, row: int, column: int) -> QColor | None:
        """Return the colour of a ratio or of a failure."""
        found = self.rows[row]
        theme = look.theme
        if found.problem and found.speedup is None:
            return QColor(theme.muted)
        if column == RATIO and found.speedup is not None and found.kind != "plain":
            tones = {"gain": theme.accent, "even": theme.muted, "loss": theme.danger}
            return QColor(tones[found.speedup.verdict])
        return QColor(theme.danger) if column == SAME and found.same_text is False else None


class BenchTable(FiguresTable):
    """A table as high as its rows; the page around it scrolls."""

    used = Signal(str)
    """The strategy of a row, to be used from now on"""

    def __init__(self) -> None:
        self.figures = BenchTableModel()
        super().__init__(self.figures, NAME, _GIVING_WAY)
        self.figures.setParent(self)
        self.buttons: dict[str, QPushButton] = {}
        self._in_use = ""
        self.setAccessibleName(self.tr("Figures of each strategy"))
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_rows(self, rows: Sequence[BenchRow], in_use: str) -> None:
        """Show figures; `in_use` is the panel's strategy."""
        before = [row.strategy for row in self.figures.rows]
        self.figures.set_rows(rows)
        self._in_use = in_use
        if [row.strategy for row in rows] != before:
            self._make_buttons()
        for strategy, button in self.buttons.items():
            is_in_use = strategy == in_use
            button.setText(self.tr("In use") if is_in_use else self.tr("Use this"))
            button.setEnabled(not is_in_use)
        self._fit()

    def _make_buttons(self) -> None:
        self.buttons = {}
        for at, row in enumerate(self.figures.rows):
            button = styled(QPushButton(self.tr("Use this"), autoDefault=False), kind="compact")
            button.setProperty("strategy", row.strategy)
            button.setAccessibleName(self.tr("Use {}").format(row.title))
            button.setToolTip(self.tr("Sets the strategy of the panel: {}").format(row.strategy))
            button.clicked.connect(self._on_used)
            self.buttons[row.strategy] = button
            self.setIndexWidget(self.figures.index(at, USE), button)

    def sizeHint(self) -> QSize:
        """Return the size of all rows and the header."""
        rows = self.figures.rowCount() * px(ROW_PX)
        return QSize(420, self.horizontalHeader().sizeHint().height() + rows + 2)

    def minimumSizeHint(self) -> QSize:
        """Return that height, and the minimum width."""
        return QSize(260, self.sizeHint().height())

    def _wanted(self, column: int) -> int:
        """Return the width that a column needs."""
        if column != USE:
            return super()._wanted(column)
        widths = [button.sizeHint().width() for button in self.buttons.values()]
        return max(widths, default=0) + px(_BESIDE_BUTTON_PX)

    @Slot()
    def _on_used(self) -> None:
        sender = self.sender()
        if sender is not None:
            self.used.emit(str(sender.property("strategy")))


_tr = translator("BenchView")


def show_report(
    results: ResultPage, report: Report, chosen: str, *, ending: str = "", is_running: bool = False
) -> None:
    """Show a report.

    Args:
        results: The page.
        report: The results so far, or all of them.
        chosen: The panel's strategy.
        ending: Why the benchmark ended early.
        is_running: Whether the benchmark is still running.
    """
    rows = rows_of(report)
    results.show_rows(rows, in_use(report.strategies, chosen))
    results.show_cards(has_figures=is_running or bool(report.runs))
    found, details = verdict(report, words.title_of), remarks(rows)
    sentence = said(found.sentence)
    if is_running:
        if report.runs:
            sentence = _tr("So far: {}").format(sentence)
        results.show_verdict(sentence, details)
        results.show_remark("")
        return
    if ending and not report.runs:
        results.show_verdict(ending, "\n".join(map(said, report.notes)))
        results.show_remark("")
        return
    lines = (
        ending,
        details,
        *map(said, report.notes),
        words.bound_text(report),
        words.busy_text(report),
    )
    tone = {"gain": "accent", "none": "lookup"}.get(found.kind, "")
    results.show_verdict(sentence, "\n".join(filter(None, lines)), tone)
    results.show_remark(words.remark_text(report))


_PARTS = 1000


class ProgressStrip(QFrame):
    """Two lines above a bar."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "notice")
        self.state = text_label("", "", wraps=True, plain=True)
        self.left = text_label("", "muted")
        self.now = text_label(wraps=True, plain=True)
        self.bar = QProgressBar(minimum=0, maximum=_PARTS, textVisible=False)
        self.bar.setAccessibleName(self.tr("Replies that are measured"))
        self.stop = styled(QPushButton(self.tr("Cancel"), autoDefault=False), kind="stop")
        self.stop.setAccessibleName(self.tr("Cancel the benchmark"))
        self.stop.setToolTip(self.tr("What was measured so far stays"))
        line = row_of((self.state, 1), self.left, spacing=GAP)
        words = column_of(line, self.now, self.bar, spacing=HALF)
        row_of(
            (words, 1),
            self.stop,
            on=self,
            margins=(14, STEP + 2, 14, STEP + 2),
            spacing=2 * STEP,
        )

    def show_progress(
        self, state: str, now: str, left: str, fraction: float | None, *, is_paused: bool = False
    ) -> None:
        """Show the progress.

        Args:
            state: The first line.
            now: The present measurement.
            left: Time left.
            fraction: Finished share, 0..1, or None before the first measurement.
            is_paused: Whether it waits for something.
        """
        self.state.setText(state)
        self.now.setText(now)
        self.left.setText(left)
        self.bar.setRange(0, 0 if fraction is None else _PARTS)  # without an end it keeps moving
        self.bar.setValue(round((fraction or 0.0) * _PARTS))
        self.bar.setAccessibleDescription(state)
        tone = "lookup" if is_paused else ""
        set_look(self, tone=tone)


class ResultPage(QWidget):
    """The progress or the verdict above bars and table."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "page")
        self._announcer = Announcer(self)
        self.strip = ProgressStrip()
        self._verdict = styled(QFrame(), kind="notice")
        self.sentence = styled(BreakingLabel(), role="title")
        self.details = styled(BreakingLabel(), role="small")
        column_of(
            self.sentence,
            self.details,
            on=self._verdict,
            margins=(14, STEP + 2, 14, STEP + 2),
            spacing=HALF,
        )
        self.chart = BenchChart()
        self.legend = text_label("", "legend", wraps=True)
        bars = Card(self.tr("Speed of writing, compared with plain decoding"))
        fill(bars.body, self.chart, self.legend)
        self.table = BenchTable()
        figures = Card()
        figures.body.addWidget(self.table)
        self._cards = (bars, figures)
        self.remark = text_label(wraps=True, plain=True)
        column_of(
            self.strip,
            self._verdict,
            bars,
            figures,
            self.remark,
            None,
            on=self,
            margins=(PAGE, PAGE - STEP, PAGE, PAGE),
            spacing=GAP,
        )
        look.follow(self._show_legend)

    @Slot()
    def _show_legend(self) -> None:
        theme = look.theme
        drafters = entries_html(
            (
                (theme.accent, self.tr("draft model")),
                (theme.lookup, self.tr("lookups")),
                (theme.line_strong, self.tr("plain decoding")),
            )
        )
        self.legend.setText(f"{drafters} &nbsp; {self.tr('thin line: middle half')}")

    def show_rows(self, rows: Sequence[BenchRow], in_use: str) -> None:
        """Show figures, and mark the panel's strategy."""
        self.chart.show_rows(rows)
        self.table.show_rows(rows, in_use)

    def show_cards(self, *, has_figures: bool) -> None:
        """Show bars and table, or only the verdict if there are no figures."""
        for card in self._cards:
            card.setVisible(has_figures)

    def show_in_use(self, in_use: str) -> None:
        """Mark the panel's strategy."""
        self.table.show_rows(self.table.figures.rows, in_use)

    def show_verdict(self, sentence: str, details: str, tone: str = "") -> None:
        """Show the meaning of the figures, and further sentences."""
        self.sentence.setText(with_soft_breaks(sentence))
        say(self.details, with_soft_breaks(details))
        self._verdict.setAccessibleName(sentence)
        self._verdict.setAccessibleDescription(details)
        set_look(self._verdict, tone=tone)

    def announce(self) -> None:
        """Announce the verdict to screen readers."""
        self._announcer.finish(without_soft_breaks(self.sentence.text()))

    def show_remark(self, words: str) -> None:
        """Show the machine and the duration."""
        say(self.remark, words)
