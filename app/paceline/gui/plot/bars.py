"""Small bar charts: upright bars for acceptance, and one bar for the parts of the time.

An upright bar is a share of the chart's full height: acceptance by position or class. The time of a
reply is one bar in five colours that no drafter has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Slot
from PySide6.QtGui import QColor, QHelpEvent, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from paceline.gui.kit.card import Card
from paceline.gui.kit.labels import text_label
from paceline.gui.kit.layouts import fill
from paceline.gui.look.current import look
from paceline.gui.look.scale import TINY, px
from paceline.gui.look.theme import ui_font
from paceline.gui.plot.plot_words import entries_html
from paceline.gui.state.figures import percent_text, seconds_text
from paceline.gui.state.metrics import TimeShares


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar.

    Attributes:
        share: Its height, 0..1 of the chart's.
        label: The text below it; may be empty.
        words: Its tool tip; empty for the chart's own.
        alpha: Opacity of its colour, 0..1.
    """

    share: float
    label: str = ""
    words: str = ""
    alpha: float = 1.0


@dataclass(frozen=True, slots=True)
class BarStyle:
    """Sizes of a chart in device-independent pixels of scale 1.

    Attributes:
        height: Height of the whole chart.
        axis: Height of the labels below the bars; 0 for none, with a line below the bars.
        widest: Maximum distance from one bar to the next.
        width: The preferred width; not scaled, like the next two.
        gaps: Gaps between wide bars, and between narrow ones.
        narrow: Distance from one bar to the next below which they are narrow.
    """

    height: int
    axis: int
    widest: int
    width: int
    gaps: tuple[float, float]
    narrow: float


class BarChart(QWidget):
    """Bars from the left in one colour of the theme; they become narrower the more there are."""

    def __init__(self, style: BarStyle) -> None:
        super().__init__()
        self.bars: tuple[Bar, ...] = ()
        self._style = style
        self._colour = "accent"
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_bars(self, bars: Sequence[Bar], colour: str) -> None:
        """Show bars in the theme's colour of this name."""
        if (tuple(bars), colour) != (self.bars, self._colour):
            self.bars, self._colour = tuple(bars), colour
            self.update()

    def sizeHint(self) -> QSize:
        """Return the preferred width; the chart may be wider."""
        return QSize(self._style.width, px(self._style.height))

    def minimumSizeHint(self) -> QSize:
        """Return half that width: narrow bars still show the shape."""
        return QSize(self._style.width // 2, px(self._style.height))

    def _step_px(self) -> float:
        return min(self.width() / max(len(self.bars), 1), px(self._style.widest))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the bars, and those labels that do not overlap."""
        style, theme = self._style, look.theme
        painter = QPainter(self)
        painter.setFont(ui_font(TINY))
        axis, step = px(style.axis), self._step_px()
        full = self.height() - (axis or 1)
        gap = style.gaps[0] if step >= style.narrow else style.gaps[1]
        ground = QColor(theme.hover if axis else theme.line_strong)
        free = 0.0  # left of it, labels are already drawn
        for at, bar in enumerate(self.bars):
            left, width = at * step, step - gap
            painter.fillRect(QRectF(left, 0 if axis else full, width, full if axis else 1), ground)
            colour = QColor(getattr(theme, self._colour))
            colour.setAlphaF(bar.alpha)
            least = 0.0 if axis or not bar.share else 1.0
            height = max(full * bar.share, least)
            painter.fillRect(QRectF(left, full - height, width, height), colour)
            wide = painter.fontMetrics().horizontalAdvance(bar.label)
            start = max(min(left + (width - wide) / 2, self.width() - wide), 0.0)
            if bar.label and start >= free:
                painter.setPen(QColor(theme.muted))
                below = QRectF(start, full + 1, wide + 1, axis - 1)
                painter.drawText(below, Qt.AlignmentFlag.AlignLeft, bar.label)
                free = start + wide + 2
        painter.end()

    def event(self, event: QEvent) -> bool:
        """Show the meaning of the bar under the pointer."""
        if event.type() != QEvent.Type.ToolTip or not isinstance(event, QHelpEvent):
            return super().event(event)
        at = int(event.pos().x() / self._step_px())
        words = self.bars[at].words if 0 <= at < len(self.bars) else ""
        if self.toolTip() and not words:
            return super().event(event)
        QToolTip.showText(event.globalPos(), words, self)
        return True


_HEIGHT = 10


class _Bar(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self.parts: list[tuple[float, str]] = []
        """Shares of the width, and the names of their colours in the theme."""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(120, _HEIGHT)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        outline = QPainterPath()
        outline.addRoundedRect(QRectF(self.rect()), _HEIGHT / 2, _HEIGHT / 2)
        painter.setClipPath(outline)
        painter.fillRect(self.rect(), QColor(look.theme.line))
        left = 0.0
        for share, colour in self.parts:
            width = share * self.width()
            painter.fillRect(QRectF(left, 0, width, _HEIGHT), QColor(getattr(look.theme, colour)))
            left += width


class TimeBar(Card):
    """Bar of the parts of a reply's time, with words below, and seconds if `shows_seconds`."""

    def __init__(self, *, shows_seconds: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._shows_seconds = shows_seconds
        self.set_title(self.tr("Where the time goes"))
        self._times = TimeShares()
        self._bar = _Bar()
        self.legend = text_label("", "legend", wraps=True)
        fill(self.body, self._bar, self.legend)
        look.follow(self._show)

    def show_times(self, times: TimeShares) -> None:
        """Show the shares of these seconds."""
        self._times = times
        self._show()

    @Slot()
    def _show(self) -> None:
        times = self._times
        parts = [
            (self.tr("verify"), times.verify_s, "time_verify"),
            (self.tr("draft"), times.draft_s, "time_draft"),
            (self.tr("sampling"), times.sample_s, "time_sample"),
            (self.tr("rest"), times.rest_s, "time_rest"),
        ]
        if times.prefill_s:  # unknown before the end
            parts.insert(0, (self.tr("prefill"), times.prefill_s, "time_prefill"))
        total = times.total_s
        shares = [seconds / total if total else 0.0 for _, seconds, _ in parts]
        names = [colour for _, _, colour in parts]
        self._bar.parts = list(zip(shares, names, strict=True))
        self._bar.update()
        words = [
            self._words(name, seconds, share) if total else name
            for share, (name, seconds, _) in zip(shares, parts, strict=True)
        ]
        self._bar.setAccessibleName(", ".join(words))
        colours = [getattr(look.theme, name) for name in names]
        self.legend.setText(entries_html(zip(colours, words, strict=True), "●"))

    def _words(self, name: str, seconds: float, share: float) -> str:
        words = f"{name} {percent_text(share)}"
        if self._shows_seconds:
            words = self.tr("{} ({} s)").format(words, seconds_text(seconds))
        return words
