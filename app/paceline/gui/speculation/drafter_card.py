"""Who drafted what in the reply that is shown: a line per drafter, and more when unfolded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QToolButton, QVBoxLayout, QWidget

from paceline.gui.kit.card import Card
from paceline.gui.kit.labels import ElidedLabel, YieldingLabel
from paceline.gui.look.theme import restyle
from paceline.gui.plot.bar_chart import Bar, BarChart, BarStyle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paceline.gui.state.figures import DrafterRow

_TITLE_PX = 200
_RATE_PX = 44
_PLACES = BarStyle(height=24, axis=0, widest=14, width=120, gaps=(2, 0.5), narrow=5)
_LISTED = 16
"""Places that a screen reader reads; longer drafts are rare."""


class _Line(QWidget):
    """One drafter: its colour and name, accepted of drafted, the rate, and the details."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.dot = QLabel("●")
        self.dot.setProperty("role", "dot")
        self.title = ElidedLabel(_TITLE_PX, Qt.TextElideMode.ElideRight)
        self.figures = QLabel()
        self.figures.setProperty("role", "small")
        self.rate = QLabel()
        self.rate.setMinimumWidth(_RATE_PX)
        self.rate.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.details = QLabel()
        self.details.setProperty("role", "small")
        self.details.setWordWrap(True)
        self.bars_title = YieldingLabel(self.tr("accepted by place in the draft"))
        self.bars_title.setProperty("role", "small")
        self.bars = BarChart(_PLACES)
        row = QHBoxLayout()
        row.setSpacing(6)
        row.addWidget(self.dot)
        row.addWidget(self.title)
        row.addStretch(1)
        row.addWidget(self.figures)
        row.addWidget(self.rate)
        self.more = QWidget()
        more = QVBoxLayout(self.more)
        more.setContentsMargins(17, 0, 0, 6)
        more.setSpacing(3)
        more.addWidget(self.details)
        more.addWidget(self.bars_title)
        more.addWidget(self.bars)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addLayout(row)
        column.addWidget(self.more)

    def show_row(self, row: DrafterRow) -> None:
        """Show this drafter."""
        colour = "accent" if row.kind == "draft" else "lookup"
        if self.dot.property("tone") != colour:
            self.dot.setProperty("tone", colour)
            restyle(self.dot)
        self.title.set_full_text(row.title)
        self.title.setToolTip(row.drafter_id)
        self.figures.setText(row.tokens)
        self.rate.setText(row.rate)
        self.rate.setVisible(bool(row.rate))
        self.details.setText("\n".join(row.details))
        self._show_places(row.per_position, colour)
        self.setAccessibleName(f"{row.title}: {row.tokens} {row.rate}".strip())

    def _show_places(self, counts: tuple[int, ...], colour: str) -> None:
        """Show how many tokens were accepted at each place; the highest bar fills the height."""
        most = max(counts, default=0)
        self.bars.show_bars([Bar(count / most) for count in counts] if most else (), colour)
        listed = ", ".join(str(count) for count in counts[:_LISTED])
        more = "…" if len(counts) > _LISTED else ""
        words = self.tr("Accepted by place in the draft: {}").format(f"{listed}{more}")
        self.bars.setToolTip(words)
        self.bars.setAccessibleName(words)
        for widget in (self.bars, self.bars_title):
            widget.setVisible(most > 0)


class DrafterCard(Card):
    """Hidden while nothing has been drafted."""

    toggled = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.set_title(self.tr("Drafters"), self.tr("accepted of drafted"))
        self._rows: tuple[DrafterRow, ...] = ()
        self.lines: list[_Line] = []
        self.toggle = QToolButton()
        self.toggle.setProperty("kind", "link")
        self.toggle.setCheckable(True)
        self.toggle.setText(self.tr("Details"))
        self.toggle.setAccessibleName(self.tr("Details of the drafters"))
        self.toggle.toggled.connect(self._on_toggled)
        self.header.addWidget(self.toggle)
        self.hide()

    @property
    def is_open(self) -> bool:
        """Whether the details are shown."""
        return self.toggle.isChecked()

    def set_open(self, is_open: bool) -> None:  # noqa: FBT001
        """Show or hide the details."""
        self.toggle.setChecked(is_open)

    def show_rows(self, rows: Sequence[DrafterRow]) -> None:
        """Show those of these drafters that drafted."""
        rows = tuple(row for row in rows if row.tokens)
        if rows == self._rows:
            return
        self._rows = rows
        while len(self.lines) > len(rows):
            line = self.lines.pop()
            self.body.removeWidget(line)
            line.hide()
            line.deleteLater()
        while len(self.lines) < len(rows):
            line = _Line()
            line.more.setVisible(self.is_open)
            self.lines.append(line)
            self.body.addWidget(line)
        for line, row in zip(self.lines, rows, strict=True):
            line.show_row(row)
        self.setVisible(bool(rows))

    @Slot(bool)
    def _on_toggled(self, is_open: bool) -> None:  # noqa: FBT001
        self.toggle.setText(self.tr("Less") if is_open else self.tr("Details"))
        for line in self.lines:
            line.more.setVisible(is_open)
        self.toggled.emit(is_open)
