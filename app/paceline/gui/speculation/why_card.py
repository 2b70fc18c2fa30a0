"""Why Auto does what it does: costs of steps, what is accepted, and the balance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Slot
from PySide6.QtGui import QColor, QFontMetrics, QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QToolTip, QWidget

from paceline.gui.kit.background import Slices
from paceline.gui.kit.card import FoldCard
from paceline.gui.kit.labels import YieldingLabel, say, text_label
from paceline.gui.kit.layouts import as_many, column_of, discard, fill, row_of, set_look, styled
from paceline.gui.kit.row_painting import RIGHT
from paceline.gui.look.current import look
from paceline.gui.look.scale import SMALL, px
from paceline.gui.look.theme import ui_font
from paceline.gui.plot.bars import Bar, BarChart, BarStyle
from paceline.gui.state.auto_words import CostRow, DrafterView, RateBar, why
from paceline.gui.state.sources import Sources
from paceline.messages import ControlReported

_TITLE_LETTERS = 10
_RATES = BarStyle(height=56, axis=14, widest=26, width=96, gaps=(3, 1), narrow=9)
_PALEST = 0.3
"""Opacity of a bar that rests on hardly any tokens; well-founded ones have 1."""
_ROW_PX, _BAR_PX, _GAP_PX = 18, 9, 8
_WIDEST = ("88", "888.8\u202fms", "88.88×")
"""What the three columns of text hold at least."""


class CostBars(QWidget):
    """A row per width: the width, a bar, milliseconds, and the ratio to one token."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: tuple[CostRow, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_rows(self, rows: tuple[CostRow, ...]) -> None:
        """Show these costs."""
        if rows == self.rows:
            return
        before = self.minimumSizeHint()
        self.rows = rows
        words = "; ".join(row.words for row in rows)
        self.setAccessibleName(self.tr("Cost of a step by its tokens"))
        self.setAccessibleDescription(words)
        if self.minimumSizeHint() != before:
            self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """A line per width."""
        return QSize(200, px(_ROW_PX) * max(len(self.rows), 1))

    def minimumSizeHint(self) -> QSize:
        """The texts, and a bar that still shows something."""
        return QSize(sum(self._columns()) + 3 * _GAP_PX + 24, self.sizeHint().height())

    def _columns(self) -> list[int]:
        metrics = QFontMetrics(ui_font(SMALL))
        texts = [_WIDEST, *((str(row.width), row.time, row.ratio) for row in self.rows)]
        return [max(map(metrics.horizontalAdvance, column)) for column in zip(*texts, strict=True)]

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
        for at, row in enumerate(self.rows):
            top = at * height
            painter.setPen(QColor(theme.muted))
            painter.drawText(QRectF(0, top, first, height), RIGHT, str(row.width))
            place = QRectF(left, top + (height - bar) / 2, max(room * row.share, 2.0), bar)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            painter.drawRoundedRect(place, 2, 2)
            painter.setPen(QColor(theme.text))
            painter.drawText(QRectF(right, top, second, height), RIGHT, row.time)
            painter.setPen(QColor(theme.muted))
            end = QRectF(self.width() - third, top, third, height)
            painter.drawText(end, RIGHT, row.ratio)
        painter.end()

    def event(self, event: QEvent) -> bool:
        """Say what a bar means when it is pointed at."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            at = event.pos().y() // px(_ROW_PX)
            words = self.rows[at].words if 0 <= at < len(self.rows) else ""
            QToolTip.showText(event.globalPos(), words, self)
            return True
        return super().event(event)


class DrafterBlock(QWidget):
    """One drafter: name and state, what it did, and two charts side by side."""

    def __init__(self) -> None:
        super().__init__()
        self.dot = text_label("●", "dot")
        self.title = YieldingLabel(keeps=_TITLE_LETTERS)
        self.state = text_label("", "pill")
        head = row_of(self.dot, (self.title, 1), self.state, spacing=6)
        self.facts = text_label(wraps=True, plain=True)
        self.places, self.classes = BarChart(_RATES), BarChart(_RATES)
        self._by_place, self._by_class = QWidget(), QWidget()
        charts = row_of(spacing=12)
        for holder, name, chart in (
            (self._by_place, self.tr("by place in the draft"), self.places),
            (self._by_class, self.tr("by how sure it was, in %"), self.classes),
        ):
            words = styled(YieldingLabel(name, keeps=6), role="small")
            column_of(chart, words, on=holder, margins=0, spacing=3)
            charts.addWidget(holder, 1)
        column_of(head, self.facts, charts, on=self, margins=(0, 0, 0, 4), spacing=4)

    def show_drafter(self, view: DrafterView) -> None:
        """Show what is known of a drafter."""
        colour = "accent" if view.kind == "draft" else "lookup"
        set_look(self.dot, tone=colour)
        self.title.setText(view.title)
        self.state.setText(view.state)
        set_look(self.state, tone=colour if view.is_open else "muted")
        self.facts.setText(view.facts)
        for chart, name, bars in (
            (self.places, self.tr("{}: accepted by place in the draft"), view.places),
            (self.classes, self.tr("{}: accepted by how sure it was"), view.classes),
        ):
            chart.show_bars([_bar(bar) for bar in bars], colour)
            chart.setAccessibleName(name.format(view.title))
            chart.setAccessibleDescription("; ".join(bar.words for bar in bars))
        self._by_place.setVisible(bool(view.places))
        self._by_class.setVisible(bool(view.classes))
        self.setAccessibleName(f"{view.title}, {view.state}. {view.facts}")


def _bar(rate: RateBar) -> Bar:
    return Bar(rate.share, rate.label, rate.words, _PALEST + (1 - _PALEST) * rate.belief)


class WhyCard(FoldCard):
    """Shows a `ControlReported`; draws only while it is open."""

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
                self.tr("What is accepted"),
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
        """Show what is known; None: there was no report yet."""
        self._report = report
        if self.toggle.isChecked() and report is not self._drawn:
            self._draw()

    @Slot(bool)
    def _on_open(self, is_open: bool) -> None:  # noqa: FBT001
        if is_open and self._report is not self._drawn:
            self._draw()

    def _add_blocks(self, views: Sequence[DrafterView]) -> Iterator[None]:
        for view in views:
            block = DrafterBlock()
            block.show_drafter(view)
            self.blocks.append(block)
            self._drafters.addWidget(block)
            yield  # several at once would be felt

    def _draw(self) -> None:
        report = self._drawn = self._report
        self._adding.start(iter(()))
        self.hint.setVisible(report is None)
        self.content_of_report.setVisible(report is not None)
        if report is None:
            return
        view = why(report, self._sources)
        self.costs.show_rows(view.costs)
        self._costs_title.setVisible(bool(view.costs))
        self.costs.setVisible(bool(view.costs))
        discard(self.blocks[len(view.drafters) :], self._drafters)
        del self.blocks[len(view.drafters) :]
        for block, drafter in zip(self.blocks, view.drafters, strict=False):
            block.show_drafter(drafter)
        self._adding.start(self._add_blocks(view.drafters[len(self.blocks) :]))
        say(self.unused, view.unused)
        make = partial(text_label, wraps=True, plain=True)
        labels = as_many(self.balance, len(view.balance), make, self._balance)
        for label, words in zip(labels, view.balance, strict=True):
            label.setText(words)
