"""Where the time of a reply goes: one bar in five colours that are no source's colours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QRectF, QSize
from PySide6.QtGui import QColor, QPainter, QPainterPath
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from paceline.gui.kit.card import Card
from paceline.gui.look.current import look
from paceline.gui.plot.plot_words import entries_html
from paceline.gui.state.figures import percent_text, seconds_text
from paceline.gui.state.metrics import TimeShares

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent


_HEIGHT = 10


class _Bar(QWidget):
    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.parts: list[tuple[float, str]] = []
        """Shares of the width, and the names of their colours in the theme"""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(120, _HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
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
    """The bar, and its parts in words below; with their seconds if `tells_seconds`."""

    def __init__(self, *, tells_seconds: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tells_seconds = tells_seconds
        self.set_title(self.tr("Where the time goes"))
        self._times = TimeShares()
        self._bar = _Bar()
        self.legend = QLabel()
        self.legend.setProperty("role", "legend")
        self.legend.setWordWrap(True)
        self.body.addWidget(self._bar)
        self.body.addWidget(self.legend)
        self.show_times(self._times)

    def changeEvent(self, event: QEvent) -> None:
        """The legend is rich text in the theme's colours."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange and hasattr(self, "legend"):
            self.show_times(self._times)

    def show_times(self, times: TimeShares) -> None:
        """Show how these seconds are shared out."""
        self._times = times
        parts = [
            (self.tr("verify"), times.verify_s, "time_verify"),
            (self.tr("draft"), times.draft_s, "time_draft"),
            (self.tr("sampling"), times.sample_s, "time_sample"),
            (self.tr("rest"), times.rest_s, "time_rest"),
        ]
        if times.prefill_s:  # not known before the end
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
        if self._tells_seconds:
            words = self.tr("{} ({} s)").format(words, seconds_text(seconds))
        return words
