"""Who drafted what in the reply that is shown: a line per drafter, and more when unfolded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QToolButton, QVBoxLayout, QWidget

from paceline.gui.widgets.card import Card
from paceline.gui.widgets.elided_label import ElidedLabel
from paceline.gui.widgets.place_bars import PlaceBars
from paceline.gui.widgets.yielding import YieldingLabel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paceline.gui.theme import Theme
    from paceline.gui.viewmodels.drafter_rows import DrafterRow

_TITLE_PX = 200
_RATE_PX = 44


class _Line(QWidget):
    """One drafter: its colour and name, accepted of drafted, the rate, and the details."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.dot = QLabel("●")
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
        self.bars = PlaceBars()
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

    def show_row(self, row: DrafterRow, theme: Theme) -> None:
        """Show this drafter."""
        colour = theme.accent if row.kind == "draft" else theme.lookup
        if self.dot.property("tint") != colour:  # a style sheet costs more than all the rest here
            self.dot.setProperty("tint", colour)
            self.dot.setStyleSheet(f"color: {colour}")
        self.title.set_full_text(row.title)
        self.title.setToolTip(row.drafter_id)
        self.figures.setText(row.figures)
        self.rate.setText(row.rate)
        self.rate.setVisible(bool(row.rate))
        self.details.setText("\n".join(row.details))
        self.bars.show_counts(row.per_position, colour, theme.line_strong)
        self.bars_title.setVisible(any(row.per_position))
        self.setAccessibleName(f"{row.title}: {row.figures} {row.rate}".strip())


class DrafterCard(Card):
    """Hidden while nobody has drafted anything."""

    toggled = Signal(bool)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.set_title(self.tr("Drafters"), self.tr("accepted of drafted"))
        self._theme = theme
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

    def set_theme(self, theme: Theme) -> None:
        """Use another theme's colours."""
        self._theme = theme
        rows, self._rows = self._rows, ()
        self.show_rows(rows)

    def show_rows(self, rows: Sequence[DrafterRow]) -> None:
        """Show these drafters."""
        rows = tuple(rows)
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
            line.show_row(row, self._theme)
        self.setVisible(bool(rows))

    @Slot(bool)
    def _on_toggled(self, is_open: bool) -> None:  # noqa: FBT001
        self.toggle.setText(self.tr("Less") if is_open else self.tr("Details"))
        for line in self.lines:
            line.more.setVisible(is_open)
        self.toggled.emit(is_open)
