"""The figures of one reply while it grows: fed by events, shown at the pace of one timer.

The reply belongs to the shown chat or to another program. While a program's reply grows, changes of
the chat's figures wait until it is over.

Events arrive hundreds of times per second, more often than anyone can see; so `add` only stores,
and a timer lets the widgets draw. It runs only while a reply runs.
"""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from paceline.chat.decisions import DecisionLog
from paceline.chat.reply import Reply
from paceline.gui.state.figures import Headline, ShownGain, gain_of, headline
from paceline.gui.state.metrics import StepMetrics
from paceline.gui.state.settings_store import Setting
from paceline.gui.state.sources import Sources
from paceline.hosting.broker import EngineEvent
from paceline.messages import ControlReported, Event, PairLoaded, StepCommitted
from paceline.server.journal import Entry

REFRESH_MS = 150
FIRST_REPLIES = 3
"""Number of first replies in which Auto learns what drafts gain with the models here."""
TICKS_PER_REFRESH = 3
"""Refreshes of the plot for each refresh of the figures."""


class LiveFigures(QObject):
    """Metrics of the reply that is shown, and the pace at which they are drawn.

    Attributes:
        reply: The reply whose figures these are.
        asker: The program whose reply it is, or empty for a reply of the shown chat.
    """

    refreshed = Signal()
    """All figures are to be drawn."""
    moved = Signal()
    """Only the plot is to be drawn: figures that change faster cannot be read."""

    def __init__(self, sources: Sources, n_replies: Setting, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.sources = sources
        self._n_replies = n_replies
        self.metrics = StepMetrics(sources)
        self.decisions = DecisionLog()
        self._reported = ""
        self.report: ControlReported | None = None
        """The last report of Auto's knowledge about the loaded pair, or None."""
        self.pair: PairLoaded | None = None
        """The loaded models, as described by the engine."""
        self.reply: Reply | None = None
        self.asker = ""
        self._is_held = False
        self._put_off: tuple[Reply | None] | None = None
        self._n_ticks = 0
        self._has_figures = False
        self._timer = QTimer(self, interval=REFRESH_MS)
        self._timer.timeout.connect(self._on_tick)

    @property
    def judges(self) -> bool:
        """Return whether losses may be shown, which they are not in a home's first replies."""
        return bool(self._n_replies.value > FIRST_REPLIES)

    @Slot(object)
    def count(self, reply: Reply) -> None:
        """Count a reply that has ended."""
        if reply.status == "finished" and not self.judges:
            self._n_replies.set_value(self._n_replies.value + 1)

    @property
    def plain_tokens_per_s(self) -> float | None:
        """Estimated speed of plain decoding by the reply's own figures, or None if unknown."""
        stats = self.reply.stats if self.reply is not None else None
        return stats.plain_tokens_per_s if stats is not None else None

    @property
    def gain(self) -> ShownGain:
        """The gain of the reply as text."""
        return gain_of(self.reply.stats if self.reply is not None else None, judges=self.judges)

    @property
    def headline(self) -> Headline:
        """The large figures."""
        reply = self.reply
        if reply is None:
            return Headline()
        title, phase = self.sources.title, self.decisions.phase
        shown = headline(self.metrics, reply, phase, title, judges=self.judges)
        return replace(shown, asker=self.asker)

    def show(self, reply: Reply | None) -> None:
        """Show a chat's reply, or none. While a program's reply grows, this waits for its end."""
        if self._is_held:
            self._put_off = (reply,)
            return
        self._take(reply, "")
        if reply is not None:
            for step in reply.last_part:
                self.add(step)
        self._begin(is_growing=reply is not None and not reply.has_ended)

    def follow(self, reply: Reply, asker: str) -> None:
        """Show a program's reply from its first step on; `add` brings the steps."""
        self._is_held = True
        self._take(reply, asker)
        self._begin(is_growing=True)

    def leave(self, reply: Reply) -> None:
        """End a program's reply; its figures stay until a chat's reply is to be shown."""
        if self.reply is not reply:
            return
        self._is_held = False
        put_off, self._put_off = self._put_off, None
        if put_off is not None:
            self.show(*put_off)
        else:
            self.finish()

    @Slot(object)
    def on_program_began(self, entry: Entry) -> None:
        """Show the program's reply that begins."""
        self.follow(entry.reply, entry.caller.short)

    @Slot(object, object)
    def on_program_grew(self, entry: Entry, event: Event) -> None:
        """Apply an event in the turn of a program's reply."""
        if entry.reply is not self.reply:
            return
        if isinstance(event, StepCommitted):
            self.add(event)
        elif isinstance(event, ControlReported):
            self.show_report(entry.reply, event)

    @Slot(object)
    def on_program_ended(self, entry: Entry) -> None:
        """End the figures of a program's reply."""
        self.leave(entry.reply)

    def _take(self, reply: Reply | None, asker: str) -> None:
        self.reply, self.asker = reply, asker
        self.metrics.clear()
        self.decisions.clear()

    def _begin(self, *, is_growing: bool) -> None:
        if is_growing:
            self._n_ticks = TICKS_PER_REFRESH - 1
            self._has_figures = False
            self._timer.start()
        else:
            self._timer.stop()
        self._refresh()

    def add(self, step: StepCommitted) -> None:
        """Add a step of the reply that is shown."""
        self.metrics.push(step)
        self.decisions.push(step)

    def on_engine_event(self, event: EngineEvent) -> None:
        """Update the loaded models by an event of the engine."""
        if isinstance(event, PairLoaded):
            self.pair, self.report = event, None
            self.refreshed.emit()  # the plain-decoding costs of the previous pair no longer apply

    @Slot(object, object)
    def show_report(self, reply: Reply, report: ControlReported) -> None:
        """Update what Auto knows of the loaded pair."""
        if self.reply is not None and reply.message_id == self.reply.message_id:
            self.report, self._reported = report, reply.message_id

    def finish(self) -> None:
        """Draw once more and stop the timer: the reply has ended."""
        self._timer.stop()
        self._refresh()

    @property
    def own_report(self) -> ControlReported | None:
        """The last report of the reply that is shown."""
        is_own = self.reply is not None and self.reply.message_id == self._reported
        return self.report if is_own else None

    def _refresh(self) -> None:
        reply = self.reply
        if reply is not None:
            self.decisions.judge(
                stats=reply.stats,
                report=self.own_report,
                has_ended=reply.has_ended,
            )
        self.refreshed.emit()

    @Slot()
    def _on_tick(self) -> None:
        self._n_ticks += 1
        if not self._has_figures and self.headline.speed:
            self._has_figures = True
            # Makes the first figures appear together with the first bars.
            self._n_ticks = TICKS_PER_REFRESH
        if self._n_ticks % TICKS_PER_REFRESH:
            self.moved.emit()
        else:
            self._refresh()
