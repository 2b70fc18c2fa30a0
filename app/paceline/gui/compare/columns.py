"""Two replies side by side: each under its title, with a clock, growing in the chat's colours."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QBoxLayout, QFrame, QSizePolicy, QWidget

from paceline.chat.reply import Reply, TurnOptions, known_of, to_record
from paceline.gui.chat.links import MessageRequests
from paceline.gui.chat.markdown.found import Hits
from paceline.gui.chat.markdown.provenance import Provenance
from paceline.gui.chat.messages.reply_body import ReplyBody
from paceline.gui.compare.outcome import begin_of_word, first_difference, outcome_words, speedup
from paceline.gui.kit.announcer import Announcer
from paceline.gui.kit.dialogs import scrolling
from paceline.gui.kit.labels import BreakingLabel, YieldingLabel, say, text_label
from paceline.gui.kit.layouts import Refits, column_of, row_of, set_look, styled
from paceline.gui.kit.sentences import said
from paceline.gui.kit.translation import local
from paceline.gui.look.current import look
from paceline.gui.look.scale import GAP, HALF, STEP, px
from paceline.gui.run.run_words import ending_words
from paceline.gui.state.figures import seconds_text, speed_text
from paceline.gui.state.metrics import StepMetrics
from paceline.gui.state.sources import Sources
from paceline.messages import StepCommitted, TurnEvent, TurnFailed, TurnFinished
from paceline.run_record import RunError

_PAUSE_MS = 33
"""Interval between two updates of a growing text."""
_NARROW_PX, _TEXT_PX = 400, 96
"""The width below which the columns stack, and the minimum height of a text."""


class ReplyColumn(QFrame):
    """One reply with the clock of its writing, which starts with the first token.

    `begin` empties it, `receive` receives the events of a turn, `pass_time` moves the clock between
    them. The caller supplies the time, in seconds from the turn's start; nothing here runs by
    itself. After `TurnFinished`, `TurnFailed` or `fail` the column no longer changes, and its clock
    shows the seconds from which the speed is computed.

    Attributes:
        reply: The reply so far; its `submitted_s` is 0.
        foot: Layout for the owner's widgets below the text of a finished reply.
    """

    ended = Signal()

    def __init__(self, sources: Sources, requests: MessageRequests | None = None) -> None:
        super().__init__()
        self.setProperty("kind", "card")
        self._sources, self._requests = sources, requests
        self._title = styled(YieldingLabel(keeps=8), role="title")
        self._clock = text_label("", "heading")
        self._speed = text_label("", "muted")
        self._status = text_label("", "muted", wraps=True)
        self._end = styled(BreakingLabel(), role="small")
        self._page = styled(QWidget(), kind="page")
        self._texts = column_of(self._status, None, on=self._page, margins=0, spacing=0)
        self._area = scrolling(self._page, self.tr("Reply"))
        self._area.setMinimumHeight(px(_TEXT_PX))
        self._bar = self._area.verticalScrollBar()
        self._bar.rangeChanged.connect(self._on_range)
        self._bar.valueChanged.connect(self._on_scrolled)
        self._is_at_end = True
        self.foot = row_of(spacing=STEP)
        baseline = Qt.AlignmentFlag.AlignBaseline
        head = row_of((self._clock, 0, baseline), None, (self._speed, 0, baseline), spacing=STEP)
        column_of(
            *(self._title, head, (self._area, 1), self._end, self.foot),
            on=self, margins=(14, 12, 14, 12), spacing=HALF,
        )  # fmt: skip
        # Makes both columns equally wide, whatever their content.
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
        self._flush = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._flush.timeout.connect(self._show)
        self._body: ReplyBody | None = None
        self.begin("")
        look.changed.connect(self._renew)

    def begin(self, title: str) -> None:
        """Empty the column and set its title."""
        self._flush.stop()
        self.reply = Reply("", "", TurnOptions(), submitted_s=0.0)
        self._metrics = StepMetrics(self._sources)
        self._provenance = Provenance(self._sources)
        if self._body is not None:
            self._texts.removeWidget(self._body)
            self._body.hide()
            self._body.deleteLater()
        self._body = ReplyBody(self._provenance, self._requests)
        self._texts.insertWidget(1, self._body)
        self._body.setAccessibleName(self.tr("Reply: {}").format(title))
        self._area.setAccessibleName(self.tr("Reply: {}").format(title))
        self._is_at_end = True
        self.setAccessibleName(title)
        self._title.setText(title)
        for label in (self._clock, self._speed, self._end):
            say(label, " ")  # the line keeps its height
        self.wait("")

    def wait(self, words: str) -> None:
        """Show words in place of the text until it begins."""
        say(self._status, words)

    def receive(self, at_s: float, event: TurnEvent) -> None:
        """Apply an event of the turn, with the seconds since its start; ignored after the end."""
        reply = self.reply
        if reply.has_ended:
            return
        if isinstance(event, StepCommitted):
            self._provenance.add(event)
            self._metrics.push(event)
        reply.grow(event, at_s)
        self.pass_time(at_s)
        match event:
            case TurnFinished():
                reply.status = "finished"
                self._show_clock(event.stats.decode_s)
                self._finish()
            case TurnFailed():
                self.fail(RunError(event.code, event.message, event.hint))
            case _ if not self._flush.isActive():
                self._flush.start()

    def pass_time(self, at_s: float) -> None:
        """Show the seconds since the turn's start; ignored after the end."""
        reply = self.reply
        if reply.has_ended:
            return
        if reply.first_token_s is not None:
            self._show_clock(at_s - reply.first_token_s)
        elif reply.n_prompt:
            share = 100 * reply.n_prefilled / reply.n_prompt
            words = self.tr("Reading the prompt: {:.0f} %, {}…")
            self.wait(words.format(share, self._clock_text(at_s)))

    def fail(self, error: RunError) -> None:
        """End the reply with an error; the clock stops."""
        if self.reply.has_ended:
            return
        self.reply.status, self.reply.error = "failed", error
        self._finish()

    @property
    def shown_text(self) -> str:
        """Readable text of the reply, without markup."""
        assert self._body is not None
        return self._body.plain_text

    @property
    def words(self) -> dict[str, str]:
        """Words around the text: "title", "clock", "speed", "status" and "end"."""
        labels = {
            "title": self._title, "clock": self._clock, "speed": self._speed,
            "status": self._status, "end": self._end,
        }  # fmt: skip
        return {name: "" if x.isHidden() else x.text().strip() for name, x in labels.items()}

    def mark(self, at: int) -> None:
        """Mark the word at this character of the reply's text."""
        text, begin = self.reply.text, begin_of_word(self.reply.text, at)
        word = text[begin:].split(maxsplit=1)
        if word and self._body is not None:
            at = text.index(word[0], begin)
            span = (at, at + len(word[0]))
            self._body.mark(Hits((span,), span))

    # ------------------------------------------------------------------------------- private

    def _finish(self) -> None:
        self._flush.stop()
        self._show()
        say(self._end, self._end_words())
        self.ended.emit()

    def _show_clock(self, seconds: float) -> None:
        self._clock.setText(self._clock_text(seconds))

    def _clock_text(self, seconds: float) -> str:
        jumps = look.reduces_motion and not self.reply.has_ended
        words = self.tr("{:.0f} s") if jumps else self.tr("{:.1f} s")
        return words.format(local(seconds // 1 if jumps else seconds))

    @Slot()
    def _show(self) -> None:
        reply, body = self.reply, self._body
        assert body is not None
        if reply.steps or reply.has_ended:
            self.wait("")
        if reply.text:
            body.set_caret(not reply.has_ended)
            body.show_source(reply.text, is_final=reply.has_ended, known=known_of(reply))
        # The final speed must be the figure from which the outcome is computed.
        rate = reply.stats.tokens_per_s if reply.has_ended and reply.stats else None
        if rate is None:
            rate = self._metrics.tokens_per_s
        if rate:
            self._speed.setText(self.tr("{} tokens/s").format(speed_text(rate)))

    def _end_words(self) -> str:
        reply, stats = self.reply, self.reply.stats
        parts = []
        if reply.error is not None:
            parts.append(said(reply.error.message, reply.error.hint))
        elif reply.reason != "eog":
            parts.append(ending_words(to_record(reply)))
        if stats is not None:
            parts.append(
                self.tr("Read the prompt in {}\u00a0s, wrote {} tokens in {}\u00a0s.").format(
                    seconds_text(stats.prefill_s),
                    f"{local(stats.n_generated):,}",
                    seconds_text(stats.decode_s),
                )
            )
        return " ".join(filter(None, parts))

    @Slot()
    def _renew(self) -> None:
        assert self._body is not None
        self._body.renew()
        self._area.setMinimumHeight(px(_TEXT_PX))

    @Slot(int, int)
    def _on_range(self, _least: int, most: int) -> None:
        """Follow the end of the text while it is in view."""
        if self._is_at_end:
            self._bar.setValue(most)

    @Slot(int)
    def _on_scrolled(self, value: int) -> None:
        self._is_at_end = value >= self._bar.maximum()


class TwoColumns(Refits, QWidget):
    """Two replies to one prompt beside each other, or one below the other in a narrow window.

    ``begin`` names both. Each `ReplyColumn` (`left`, `right`) is fed by ``receive(at_s, event)``
    with the events of its turn and the seconds since that turn's start, in any order of the two,
    and by ``pass_time(at_s)`` some ten times a second between them. The events may come from a
    recording or from the engine. When both replies have ended, one line gives the outcome, and the
    first word that differs is marked.

    The owner sets the height: each text scrolls within its column and follows its end.

    Attributes:
        left: The first column, the base of the comparison.
        right: The other one.
    """

    ended = Signal()
    """Both replies have ended."""

    def __init__(self, sources: Sources, requests: MessageRequests | None = None) -> None:
        """Show two empty columns.

        Args:
            sources: The names of drafters, and their colours.
            requests: Handles links and code to save; None for the columns' own.
        """
        super().__init__()
        self.left, self.right = (ReplyColumn(sources, requests) for _ in range(2))
        self._both = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._both.setSpacing(GAP)
        for column in (self.left, self.right):
            self._both.addWidget(column, 1)
            column.ended.connect(self._on_ended)
        self._outcome = text_label(" ", "ratio", wraps=True)
        self._announcer = Announcer(self)
        column_of((self._both, 1), self._outcome, on=self, margins=0, spacing=STEP)

    def begin(self, left: str, right: str) -> None:
        """Empty both columns, under these titles."""
        self.left.begin(left)
        self.right.begin(right)
        self._outcome.setText(" ")  # the line keeps its height

    @property
    def outcome(self) -> str:
        """The outcome in one line; empty while a reply is being written."""
        return self._outcome.text().strip()

    def sizeHint(self) -> QSize:
        """Return the size for some lines of both texts."""
        return QSize(px(720), px(360))

    def _fit(self) -> None:
        """Put the columns side by side if they fit."""
        is_narrow = self.width() < px(_NARROW_PX)
        direction = QBoxLayout.Direction
        self._both.setDirection(direction.TopToBottom if is_narrow else direction.LeftToRight)

    @Slot()
    def _on_ended(self) -> None:
        left, right = self.left.reply, self.right.reply
        if not (left.has_ended and right.has_ended):
            return
        speed = speedup(left, right)
        is_gain = speed is not None and speed.verdict == "gain"
        set_look(self._outcome, tone="gain" if is_gain else "even")
        self._outcome.setText(outcome_words(left, right) or " ")
        at = first_difference(left.text, right.text)
        if at is not None and left.text and right.text:
            self.left.mark(at)
            self.right.mark(at)
        self._announcer.finish(self.outcome)
        self.ended.emit()
