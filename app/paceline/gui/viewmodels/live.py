"""The figures of one reply while it grows: fed by events, shown at the pace of one timer.

Events come hundreds of times per second, eyes take a dozen; so `add` only stores, and the timer
tells the widgets to draw. It runs while a reply runs and not otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from paceline.engine.drafters import forced
from paceline.gui.viewmodels.figures import Headline, asks_drafter, headline
from paceline.gui.viewmodels.metrics import StepMetrics
from paceline.gui.viewmodels.plot_words import spoken

if TYPE_CHECKING:
    from paceline.chat.reply import Reply
    from paceline.gui.viewmodels.sources import Sources
    from paceline.messages import StepCommitted

REFRESH_MS = 150
TICKS_PER_REFRESH = 3
"""Of the plot, for one of the figures."""


class LiveFigures(QObject):
    """The metrics of the reply that is shown, and when to draw them again."""

    refreshed = Signal()
    """All figures are to be drawn."""
    moved = Signal()
    """The plot alone is to be drawn: figures that change faster cannot be read."""

    def __init__(self, sources: Sources, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.sources = sources
        self.metrics = StepMetrics(sources)
        self._reply: Reply | None = None
        self._n_ticks = 0
        self._timer = QTimer(self)
        self._timer.setInterval(REFRESH_MS)
        self._timer.timeout.connect(self._on_tick)

    @property
    def reply(self) -> Reply | None:
        """The reply whose figures these are."""
        return self._reply

    @property
    def is_running(self) -> bool:
        """Whether the timer runs."""
        return self._timer.isActive()

    @property
    def plain_tokens_per_s(self) -> float | None:
        """The speed without speculation, measured in this reply or known from before."""
        known = self._reply.plain_tokens_per_s if self._reply is not None else None
        if self._reply is not None and self._reply.has_ended and known:
            return known
        return self.metrics.plain_tokens_per_s or known

    @property
    def headline(self) -> Headline:
        """The large figures."""
        reply = self._reply
        if reply is None:
            return Headline()
        used = [name for name in self.metrics.tallies if name != forced.INFO.id]
        if not self.metrics.tallies:
            used = reply.strategy.split(":")[0].split("+")
        title = self.sources.title(used[0]) if len(used) == 1 else self.tr("Speculation")
        asks = asks_drafter(reply)
        return headline(self.metrics, title, self.plain_tokens_per_s, reply.stats, asks=asks)

    @property
    def ending(self) -> str:
        """The reply in words, once it has ended; empty before."""
        reply = self._reply
        if reply is None or not reply.has_ended:
            return ""
        speed = reply.stats.tokens_per_s if reply.stats is not None else self.metrics.tokens_per_s
        plain = self.plain_tokens_per_s if asks_drafter(reply) else None
        return spoken(self.metrics, self.sources, speed, plain)

    def show(self, reply: Reply | None) -> None:
        """Take over all that is known of a reply; None: there is none."""
        self._reply = reply
        self.metrics.clear()
        if reply is not None:
            for step in reply.steps:
                self.metrics.push(step)
        if reply is not None and not reply.has_ended:
            self._timer.start()
        else:
            self._timer.stop()
        self.refreshed.emit()

    def add(self, step: StepCommitted) -> None:
        """Add a step of the reply that is shown."""
        self.metrics.push(step)

    def finish(self) -> None:
        """The reply has ended: draw once more, then rest."""
        self._timer.stop()
        self.refreshed.emit()

    @Slot()
    def _on_tick(self) -> None:
        self._n_ticks += 1
        if self._n_ticks % TICKS_PER_REFRESH:
            self.moved.emit()
        else:
            self.refreshed.emit()
