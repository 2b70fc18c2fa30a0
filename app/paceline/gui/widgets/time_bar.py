"""Where the time of a reply goes: one bar in four colours that are no source's colours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QColor, QPainter, QPainterPath
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from paceline.gui.viewmodels.figures import percent_text
from paceline.gui.viewmodels.metrics import TimeShares
from paceline.gui.widgets.card import Card

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent

    from paceline.gui.theme import Theme

_HEIGHT = 10


class _Bar(QWidget):
    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.parts: list[tuple[float, QColor]] = []
        self.ground = QColor()
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
        painter.fillRect(self.rect(), self.ground)
        left = 0.0
        for share, colour in self.parts:
            width = share * self.width()
            painter.fillRect(QRectF(left, 0, width, _HEIGHT), colour)
            left += width


class TimeBar(Card):
    """The bar, and its parts in words below."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.set_title(self.tr("Where the time goes"))
        self._times = TimeShares()
        self._bar = _Bar()
        self.legend = QLabel()
        self.legend.setProperty("role", "legend")
        self.legend.setWordWrap(True)
        self.body.addWidget(self._bar)
        self.body.addWidget(self.legend)
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Use another theme's colours."""
        self._theme = theme
        self._bar.ground = QColor(theme.line)
        self.show_times(self._times)

    def show_times(self, times: TimeShares) -> None:
        """Show how these seconds are shared out."""
        self._times = times
        theme = self._theme
        parts = (
            (self.tr("verify"), times.verify_s, theme.time_verify),
            (self.tr("draft"), times.draft_s, theme.time_draft),
            (self.tr("sampling"), times.sample_s, theme.time_sample),
            (self.tr("rest"), times.rest_s, theme.time_rest),
        )
        total = times.total_s
        shares = [(name, seconds / total if total else 0.0, c) for name, seconds, c in parts]
        self._bar.parts = [(share, QColor(colour)) for _, share, colour in shares]
        self._bar.update()
        words = [f"{name} {percent_text(share)}" if total else name for name, share, _ in shares]
        self._bar.setAccessibleName(", ".join(words))
        self.legend.setText(
            " ".join(
                f'<span style="color:{colour}">●</span>&nbsp;{_unbroken(text)}'
                for text, (_, _, colour) in zip(words, shares, strict=True)
            )
        )


def _unbroken(text: str) -> str:
    """A text that does not break, for a label with rich text."""
    return text.replace(" ", "&nbsp;").replace("\u202f", "&nbsp;")
