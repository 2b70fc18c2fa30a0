"""Why Auto does what it does: costs of steps, what is accepted, and the balance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from paceline.gui.theme import restyle
from paceline.gui.viewmodels.why import why
from paceline.gui.widgets.card import FoldCard
from paceline.gui.widgets.cost_bars import CostBars
from paceline.gui.widgets.plot_legend import entries_html
from paceline.gui.widgets.rate_bars import RateBars
from paceline.gui.widgets.yielding import YieldingLabel

if TYPE_CHECKING:
    from paceline.gui.theme import Theme
    from paceline.gui.viewmodels.sources import Sources
    from paceline.gui.viewmodels.why import DrafterView
    from paceline.messages import ControlReported

_TITLE_LETTERS = 10


def _small(text: str = "") -> QLabel:
    label = QLabel(text)
    label.setProperty("role", "small")
    label.setWordWrap(True)
    label.setTextFormat(Qt.TextFormat.PlainText)
    return label


class DrafterBlock(QWidget):
    """One drafter: name and state, what it did, and two charts side by side."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._kind = ""
        self.dot = QLabel("●")
        self.title = YieldingLabel(keeps=_TITLE_LETTERS)
        self.state = QLabel()
        self.state.setProperty("role", "pill")
        head = QHBoxLayout()
        head.setSpacing(6)
        head.addWidget(self.dot)
        head.addWidget(self.title, 1)
        head.addWidget(self.state)
        self.facts = _small()
        self.places, self.classes = RateBars(theme), RateBars(theme)
        self._by_place, self._by_class = QWidget(), QWidget()
        charts = QHBoxLayout()
        charts.setSpacing(12)
        for holder, name, chart in (
            (self._by_place, self.tr("by place in the draft"), self.places),
            (self._by_class, self.tr("by confidence"), self.classes),
        ):
            column = QVBoxLayout(holder)
            column.setContentsMargins(0, 0, 0, 0)
            column.setSpacing(3)
            column.addWidget(chart)
            words = YieldingLabel(name, keeps=6)
            words.setProperty("role", "small")
            column.addWidget(words)
            charts.addWidget(holder, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 4)
        column.setSpacing(4)
        column.addLayout(head)
        column.addWidget(self.facts)
        column.addLayout(charts)

    def set_theme(self, theme: Theme) -> None:
        """Use another theme's colours."""
        self._theme = theme
        self.places.set_theme(theme)
        self.classes.set_theme(theme)
        self._tint()

    def show_drafter(self, view: DrafterView) -> None:
        """Show what is known of a drafter."""
        self._kind = view.kind
        self._tint()
        self.title.setText(view.title)
        self.state.setText(view.state)
        tone = ("accent" if view.kind == "draft" else "lookup") if view.is_open else "muted"
        if self.state.property("tone") != tone:
            self.state.setProperty("tone", tone)
            restyle(self.state)
        self.facts.setText(view.facts)
        is_model = view.kind == "draft"
        by_place = self.tr("{}: accepted by place in the draft").format(view.title)
        by_class = self.tr("{}: accepted by confidence").format(view.title)
        self.places.show_bars(by_place, view.places, is_model=is_model)
        self.classes.show_bars(by_class, view.classes, is_model=is_model)
        self._by_place.setVisible(bool(view.places))
        self._by_class.setVisible(bool(view.classes))
        self.setAccessibleName(f"{view.title}, {view.state}. {view.facts}")

    def _tint(self) -> None:
        colour = self._theme.accent if self._kind == "draft" else self._theme.lookup
        if self.dot.property("tint") != colour:  # a style sheet costs more than all the rest here
            self.dot.setProperty("tint", colour)
            self.dot.setStyleSheet(f"color: {colour}")


class WhyCard(FoldCard):
    """Shows a `ControlReported`; draws only while it is open."""

    def __init__(self, sources: Sources, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.set_title(self.tr("Why"))
        self.toggle.setToolTip(self.tr("What Auto measures, and how it decides"))
        self._sources, self._theme = sources, theme
        self._report: ControlReported | None = None
        self._drawn: ControlReported | None = None
        self.blocks: list[DrafterBlock] = []
        self.hint = _small(self.tr("Auto tells here what it measures, as soon as it writes."))
        self.content_of_report = QWidget()
        self.costs = CostBars(theme)
        self._legend = QLabel()
        self._legend.setProperty("role", "legend")
        self._legend.setWordWrap(True)
        self._drafters = QVBoxLayout()
        self._drafters.setSpacing(8)
        self._missing: tuple[DrafterView, ...] = ()
        self._next = QTimer(self, singleShot=True, interval=0)
        self._next.timeout.connect(self._add_block)
        self.unused = _small()
        self.balance: list[QLabel] = []
        self._balance = QVBoxLayout()
        self._balance.setSpacing(4)
        column = QVBoxLayout(self.content_of_report)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        self._costs_title = self._section(self.tr("What a step costs, by its tokens"))
        column.addWidget(self._costs_title)
        column.addWidget(self.costs)
        column.addWidget(self._legend)
        column.addSpacing(6)
        column.addWidget(self._section(self.tr("What is accepted")))
        column.addLayout(self._drafters)
        column.addWidget(self.unused)
        column.addSpacing(6)
        column.addWidget(self._section(self.tr("Balance")))
        column.addLayout(self._balance)
        self.body.addWidget(self.hint)
        self.body.addWidget(self.content_of_report)
        self.content_of_report.hide()
        self.toggled.connect(self._on_open)
        self._tell_legend()

    @staticmethod
    def _section(text: str) -> QLabel:
        label = QLabel(text)
        label.setProperty("role", "section")
        label.setWordWrap(True)
        return label

    def set_theme(self, theme: Theme) -> None:
        """Use another theme's colours."""
        self._theme = theme
        self.costs.set_theme(theme)
        for block in self.blocks:
            block.set_theme(theme)
        self._tell_legend()

    def _tell_legend(self) -> None:
        colour = self._theme.time_verify
        entries = ((colour, self.tr("measured")), (colour, self.tr("derived")))
        signs = [entries_html([entry], sign) for entry, sign in zip(entries, "■▨", strict=True)]
        self._legend.setText(" &nbsp; ".join(signs))

    def show_report(self, report: ControlReported | None) -> None:
        """Show what is known; None: nothing was told yet."""
        self._report = report
        if self.is_open and report is not self._drawn:
            self._draw()

    @Slot(bool)
    def _on_open(self, is_open: bool) -> None:  # noqa: FBT001
        if is_open and self._report is not self._drawn:
            self._draw()

    @Slot()
    def _add_block(self) -> None:
        """Make one block between two turns of the event loop: several at once would be felt."""
        if not self._missing:
            return
        block = DrafterBlock(self._theme)
        block.show_drafter(self._missing[0])
        self._missing = self._missing[1:]
        self.blocks.append(block)
        self._drafters.addWidget(block)
        if self._missing:
            self._next.start()

    def _draw(self) -> None:
        report = self._drawn = self._report
        self._missing = ()
        self.hint.setVisible(report is None)
        self.content_of_report.setVisible(report is not None)
        if report is None:
            return
        view = why(report, self._sources)
        self.costs.show_rows(view.costs)
        for widget in (self._costs_title, self.costs, self._legend):
            widget.setVisible(bool(view.costs))
        while len(self.blocks) > len(view.drafters):
            block = self.blocks.pop()
            self._drafters.removeWidget(block)
            block.hide()
            block.deleteLater()
        for block, drafter in zip(self.blocks, view.drafters, strict=False):
            block.show_drafter(drafter)
        self._missing = view.drafters[len(self.blocks) :]
        if self._missing:
            self._next.start()
        self.unused.setText(view.unused)
        self.unused.setVisible(bool(view.unused))
        while len(self.balance) < len(view.balance):
            label = _small()
            self.balance.append(label)
            self._balance.addWidget(label)
        for at, label in enumerate(self.balance):
            label.setText(view.balance[at] if at < len(view.balance) else "")
            label.setVisible(at < len(view.balance))
