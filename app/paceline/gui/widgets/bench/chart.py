"""The bars of a benchmark in the dialog; they grow while it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QRectF, QSize
from PySide6.QtGui import QHelpEvent, QPainter
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from paceline.gui.viewmodels.bench_rows import BenchPanel
from paceline.gui.viewmodels.figures import percent_text, ratio_text, speed_text
from paceline.gui.widgets.bench.chart_paint import axis_end, paint_panel, panel_height, row_at

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent

    from paceline.gui.theme import Theme
    from paceline.gui.viewmodels.bench_rows import BenchRow


class BenchChart(QWidget):
    """One panel: all prompts, or one of them. What it shows stands in the table, too."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.panel = BenchPanel("", ())
        self._theme = theme
        self._longest = axis_end([])
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_theme(self, theme: Theme) -> None:
        """Use another theme's colours, or another size of text."""
        self._theme = theme
        self.updateGeometry()
        self.update()

    def show_panel(self, panel: BenchPanel, longest: float) -> None:
        """Show other bars on an axis up to this ratio."""
        if len(panel.rows) != len(self.panel.rows):
            self.updateGeometry()
        self.panel, self._longest = panel, longest
        self.updateGeometry()
        listed = "; ".join(self.words(row) for row in panel.rows)
        self.setAccessibleName(self.tr("Speed of each strategy: {}").format(listed))
        self.update()

    def words(self, row: BenchRow) -> str:
        """One bar in words."""
        if row.ratio is None:
            return self.tr("{}: {}").format(row.title, row.problem or self.tr("not measured"))
        parts = [self.tr("{} of plain decoding's speed").format(ratio_text(row.ratio))]
        if row.low is not None and row.high is not None and row.kind != "plain":
            parts.append(
                self.tr("half of the repeats between {} and {}").format(
                    ratio_text(row.low), ratio_text(row.high)
                )
            )
        if row.tokens_per_s is not None:
            parts.append(self.tr("{} tokens/s").format(speed_text(row.tokens_per_s)))
        if row.acceptance is not None:
            parts.append(self.tr("{} accepted").format(percent_text(row.acceptance)))
        return self.tr("{}: {}").format(row.title, ", ".join(parts))

    def sizeHint(self) -> QSize:
        """As high as the bars need, as wide as there is room."""
        return QSize(420, panel_height(len(self.panel.rows)))

    def minimumSizeHint(self) -> QSize:
        """Short bars."""
        return QSize(260, panel_height(len(self.panel.rows)))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the bars."""
        del event
        painter = QPainter(self)
        paint_panel(painter, QRectF(self.rect()), self.panel, self._theme, self._longest)
        painter.end()

    def event(self, event: QEvent) -> bool:
        """Say what a bar means when it is pointed at."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            at = row_at(event.pos().y(), len(self.panel.rows))
            if at is not None:
                QToolTip.showText(event.globalPos(), self.words(self.panel.rows[at]), self)
            else:
                QToolTip.hideText()
            return True
        return super().event(event)
