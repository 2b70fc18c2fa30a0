"""Reasons of Auto's decisions: costs of steps, acceptance, and the balance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Slot
from PySide6.QtGui import QColor, QFontMetrics, QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QToolTip, QWidget

from paceline.chat.auto_words import (
    Accepted,
    balance,
    by_confidence,
    by_place,
    cost_words,
    is_used,
    outlook_words,
    shown_costs,
    unused_words,
)
from paceline.figures import WidthCost
from paceline.gui.kit.background import Slices
from paceline.gui.kit.card import FoldCard
from paceline.gui.kit.labels import YieldingLabel, say, text_label
from paceline.gui.kit.layouts import as_many, column_of, discard, fill, row_of, set_look, styled
from paceline.gui.kit.row_painting import RIGHT
from paceline.gui.kit.sentences import said
from paceline.gui.look.current import look
from paceline.gui.look.scale import SMALL, px
from paceline.gui.look.theme import ui_font
from paceline.gui.plot.bars import Bar, BarChart, BarStyle
from paceline.gui.state.figures import duration_text, ratio_text
from paceline.gui.state.sources import Sources
from paceline.messages import ControlReported, Outlook

_TITLE_LETTERS = 10
_RATES = BarStyle(height=56, axis=14, widest=26, width=96, gaps=(3, 1), narrow=9)
_MIN_OPACITY, _OPAQUE_FROM_TOKENS = 0.3, 8.0
"""Opacity of a bar that rests on hardly any tokens, and number of tokens from which it is
opaque."""
_ROW_PX, _BAR_PX, _GAP_PX = 18, 9, 8
_WIDEST_TEXTS = ("88", "888.8\u202fms", "88.88×")
"""Widest texts that the three columns of text have space for at least."""


class CostBars(QWidget):
    """A row per width: the width, a bar, milliseconds, and the ratio to one token."""

    def __init__(self) -> None:
        super().__init__()
        self.costs: list[WidthCost] = []
        self.texts: list[tuple[str, str, str]] = []
        """The texts of each row: the width, its time, and the ratio."""
        self._words: list[str] = []
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_costs(self, costs: Sequence[WidthCost]) -> None:
        """Show costs; hidden without any."""
        costs = shown_costs(costs)
        self.setVisible(bool(costs))
        if costs == self.costs:
            return
        before = self.minimumSizeHint()
        self.costs = costs
        plain = next((cost.seconds for cost in costs if cost.width == 1), 0.0)
        self.texts = [
            (
                str(cost.width),
                duration_text(cost.seconds),
                ratio_text(cost.seconds / plain) if plain else "",
            )
            for cost in costs
        ]
        self._words = [said(cost_words(cost, plain)) for cost in costs]
        self.setAccessibleName(self.tr("Cost of a step by its tokens"))
        self.setAccessibleDescription("; ".join(self._words))
        if self.minimumSizeHint() != before:
            self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """Return the size of a line per width."""
        return QSize(200, px(_ROW_PX) * max(len(self.costs), 1))

    def minimumSizeHint(self) -> QSize:
        """Return the size of the texts and a short bar."""
        return QSize(sum(self._columns()) + 3 * _GAP_PX + 24, self.sizeHint().height())

    def _columns(self) -> list[int]:
        metrics = QFontMetrics(ui_font(SMALL))
        columns = zip(_WIDEST_TEXTS, *self.texts, strict=True)
        return [max(map(metrics.horizontalAdvance, column)) for column in columns]

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the rows from the top."""
        theme = look.theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(ui_font(SMALL))
        height, bar = px(_ROW_PX), px(_BAR_PX)
        first, second, third = self._columns()
        left = first + _GAP_PX
        right = self.width() - second - third - _GAP_PX
        room = max(right - left - _GAP_PX, 8)
        colour = QColor(theme.time_verify)
        most_s = max((cost.seconds for cost in self.costs), default=0.0)
        for at, (cost, (width, time, ratio)) in enumerate(zip(self.costs, self.texts, strict=True)):
            top = at * height
            painter.setPen(QColor(theme.muted))
            painter.drawText(QRectF(0, top, first, height), RIGHT, width)
            place = QRectF(
                left, top + (height - bar) / 2, max(room * cost.seconds / most_s, 2.0), bar
            )
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            painter.drawRoundedRect(place, 2, 2)
            painter.setPen(QColor(theme.text))
            painter.drawText(QRectF(right, top, second, height), RIGHT, time)
            painter.setPen(QColor(theme.muted))
            end = QRectF(self.width() - third, top, third, height)
            painter.drawText(end, RIGHT, ratio)
        painter.end()

    def event(self, event: QEvent) -> bool:
        """Show the meaning of the bar under the pointer."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            at = event.pos().y() // px(_ROW_PX)
            QToolTip.showText(event.globalPos(), "".join(self._words[at : at + 1]), self)
            return True
        return super().event(event)


class RateBars(QWidget):
    """Chart of acceptance rates, with its title below.

    Args:
        title: The order of its bars.
        name: Its name for screen readers, with a place for the drafter's.
    """

    def __init__(self, title: str, name: str) -> None:
        super().__init__()
        self._name = name
        self.chart = BarChart(_RATES)
        words = styled(YieldingLabel(title, keeps=6), role="small")
        column_of(self.chart, words, on=self, margins=0, spacing=3)

    def show_rates(self, rates: Iterable[Accepted], drafter: str, colour: str) -> None:
        """Show acceptance rates; hidden without any."""
        bars = [
            Bar(
                rate.share,
                rate.label,
                said(rate.words),
                _MIN_OPACITY + (1 - _MIN_OPACITY) * min(rate.weight / _OPAQUE_FROM_TOKENS, 1.0),
            )
            for rate in rates
        ]
        self.chart.show_bars(bars, colour)
        self.chart.setAccessibleName(self._name.format(drafter))
        self.chart.setAccessibleDescription("; ".join(bar.words for bar in bars))
        self.setVisible(bool(bars))


class DrafterBlock(QWidget):
    """One drafter: name and state, its results, and two charts side by side."""

    def __init__(self) -> None:
        super().__init__()
        self.dot = text_label("●", "dot")
        self.title = YieldingLabel(keeps=_TITLE_LETTERS)
        self.state = text_label("", "pill")
        head = row_of(self.dot, (self.title, 1), self.state, spacing=6)
        self.facts = text_label(wraps=True, plain=True)
        self.places = RateBars(
            self.tr("by place in the draft"), self.tr("{}: right by place in the draft")
        )
        self.classes = RateBars(
            self.tr("by how sure it was, in %"), self.tr("{}: right by how sure it was")
        )
        charts = row_of((self.places, 1), (self.classes, 1), spacing=12)
        column_of(head, self.facts, charts, on=self, margins=(0, 0, 0, 4), spacing=4)

    def show_drafter(self, outlook: Outlook, sources: Sources) -> None:
        """Show what Auto knows of a drafter."""
        title = sources.full_title(outlook.drafter)
        state = self.tr("in use") if outlook.is_open else self.tr("paused")
        facts = said(outlook_words(outlook))
        colour = "accent" if sources.kind(outlook.drafter) == "draft" else "lookup"
        set_look(self.dot, tone=colour)
        self.title.setText(title)
        self.state.setText(state)
        set_look(self.state, tone=colour if outlook.is_open else "muted")
        self.facts.setText(facts)
        self.places.show_rates(by_place(outlook), title, colour)
        self.classes.show_rates(by_confidence(outlook), title, colour)
        self.setAccessibleName(f"{title}, {state}. {facts}")


class WhyCard(FoldCard):
    """Card of a `ControlReported`; drawn only while it is open."""

    def __init__(self, sources: Sources) -> None:
        super().__init__()
        self.set_title(self.tr("Why"))
        self.toggle.setToolTip(self.tr("What Auto measures, and how it decides"))
        self._sources = sources
        self._report: ControlReported | None = None
        self._drawn: ControlReported | None = None
        self.blocks: list[DrafterBlock] = []
        self.hint = text_label(
            self.tr("Auto tells here what it measures, as soon as it writes."), wraps=True
        )
        self.content_of_report = QWidget()
        self.costs = CostBars()
        self._drafters = column_of(spacing=8)
        self._adding = Slices(self)
        self.unused = text_label(wraps=True, plain=True)
        self.balance: list[QLabel] = []
        self._balance = column_of(spacing=4)
        self._costs_title, accepted, balance = (
            text_label(title, "section", wraps=True)
            for title in (
                self.tr("What a step costs, by its tokens"),
                self.tr("Guesses that were right"),
                self.tr("Balance"),
            )
        )
        column_of(
            self._costs_title, self.costs, 6,
            accepted, self._drafters, self.unused, 6,
            balance, self._balance,
            on=self.content_of_report, margins=0, spacing=6,
        )  # fmt: skip
        fill(self.body, self.hint, self.content_of_report)
        self.content_of_report.hide()
        self.toggled.connect(self._on_open)

    def show_report(self, report: ControlReported | None) -> None:
        """Show a report, or that there is none yet."""
        self._report = report
        if self.toggle.isChecked() and report is not self._drawn:
            self._draw()

    @Slot(bool)
    def _on_open(self, is_open: bool) -> None:  # noqa: FBT001
        if is_open and self._report is not self._drawn:
            self._draw()

    def _add_blocks(self, outlooks: Sequence[Outlook]) -> Iterator[None]:
        for outlook in outlooks:
            block = DrafterBlock()
            block.show_drafter(outlook, self._sources)
            self.blocks.append(block)
            self._drafters.addWidget(block)
            yield  # several at once would be noticeable

    def _draw(self) -> None:
        report = self._drawn = self._report
        self._adding.start(iter(()))
        self.hint.setVisible(report is None)
        self.content_of_report.setVisible(report is not None)
        if report is None:
            return
        self.costs.show_costs(report.costs)
        self._costs_title.setVisible(bool(self.costs.costs))
        used = sorted(filter(is_used, report.drafters), key=lambda outlook: -outlook.n_judged)
        discard(self.blocks[len(used) :], self._drafters)
        del self.blocks[len(used) :]
        for block, outlook in zip(self.blocks, used, strict=False):
            block.show_drafter(outlook, self._sources)
        self._adding.start(self._add_blocks(used[len(self.blocks) :]))
        say(self.unused, said(unused_words(report.drafters, self._sources.full_title)))
        lines = list(balance(report))
        make = partial(text_label, wraps=True, plain=True)
        labels = as_many(self.balance, len(lines), make, self._balance)
        for label, words in zip(labels, lines, strict=True):
            label.setText(said(words))
