"""Cards of a reply: its large figures (speed, ratio to plain decoding), and its drafters.

Below a finished reply's figures is advice with a reason. Another card has a line per drafter, and
more when unfolded.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QToolButton, QWidget

from paceline.chat.advice import Advice
from paceline.engine.draft.strategy import strategy_text
from paceline.gui.kit.card import Card
from paceline.gui.kit.labels import ElidedLabel, YieldingLabel, say, text_label, with_soft_breaks
from paceline.gui.kit.layouts import (
    IconButton,
    as_many,
    column_of,
    discard,
    fill,
    row_of,
    set_look,
    styled,
)
from paceline.gui.kit.sentences import said
from paceline.gui.look.current import look
from paceline.gui.look.scale import SMALL
from paceline.gui.look.theme import ui_font
from paceline.gui.plot.bars import Bar, BarChart, BarStyle
from paceline.gui.state.figures import DrafterRow, Headline


class HeadlineCard(Card):
    """Card of a `Headline`; without one it shows what will be here."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(self.tr("Speed"))
        self.speed = text_label("", "big")
        self._unit = styled(YieldingLabel(keeps=8), role="muted")
        self.ratio = text_label("", "ratio")
        self.ratio.setToolTip(self.tr("How many times as fast as the model alone"))
        self.plain = styled(YieldingLabel(), role="small")
        self.plain.setToolTip(
            self.tr(
                "Tokens per second that the model would have written alone, one in each step: an "
                "estimate from this reply"
            )
        )
        self.sentence = text_label(wraps=True)
        self.sentence.setAlignment(Qt.AlignmentFlag.AlignTop)
        base = Qt.AlignmentFlag.AlignBaseline
        row = row_of(
            (self.speed, 0, base), (self._unit, 0, base), None, (self.ratio, 0, base), spacing=6
        )
        self.body.setSpacing(2)
        fill(self.body, row, self.plain, self.sentence)
        look.follow(self._fit)

    @Slot()
    def _fit(self) -> None:
        """Reserve two lines, so that the content below does not move when sentences change."""
        self.sentence.setMinimumHeight(2 * QFontMetrics(ui_font(SMALL)).lineSpacing())

    def show_headline(self, headline: Headline) -> None:
        """Show these figures."""
        self.speed.setText(headline.speed or "–")
        unit = self.tr("tokens/s for {}") if headline.asker else self.tr("tokens/s")
        self._unit.setText(unit.format(headline.asker))
        self.plain.setText(headline.plain)
        self.ratio.setText(headline.ratio)
        set_look(self.ratio, tone=headline.tone)
        self.sentence.setText(
            headline.sentence
            if headline.speed
            else self.tr("The speed of the next reply appears here, live.")
        )


class AdviceLine(QFrame):
    """Advice, one piece at a time; dismissing it shows the next one for the same reply."""

    applied = Signal(object)
    """The `Strategy` that the advice names"""
    free_wanted = Signal()
    """The draft model is to be unloaded."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "notice")
        self._key = ""
        self._waiting: list[Advice] = []
        self._declined: set[str] = set()
        self.text = text_label("", "hint", wraps=True, plain=True)
        self.reason = text_label(wraps=True, plain=True)
        self.apply = styled(QPushButton(self.tr("Apply")), kind="compact")
        self.apply.clicked.connect(self._on_apply)
        self.close_button = IconButton("close", self.tr("Dismiss the advice"), self.tr("Dismiss"))
        self.close_button.clicked.connect(self._on_dismissed)
        words = column_of(
            self.text, self.reason, (self.apply, 0, Qt.AlignmentFlag.AlignLeft), spacing=4
        )
        row_of(
            (words, 1),
            (self.close_button, 0, Qt.AlignmentFlag.AlignTop),
            on=self,
            margins=(14, 10, 6, 10),
            spacing=6,
        )
        self.hide()

    @property
    def key(self) -> str:
        """Key of the reply that it is about, or empty."""
        return self._key

    def show_advice(self, key: str, advice: tuple[Advice, ...]) -> None:
        """Show the advice on a reply, identified by `key`, unless it was dismissed.

        Without a key it shows nothing: another reply is running, or none is shown.
        """
        if key != self._key:
            self._key = key
            self._waiting = [one for one in advice if one.code not in self._declined]
            self._show_next()

    def forget_pair(self) -> None:
        """Drop all advice and dismissals for another pair, to which neither need apply."""
        self._declined.clear()
        self._waiting = []
        self._show_next()

    def _show_next(self) -> None:
        if not self._waiting:
            self.hide()
            return
        advice = self._waiting[0]
        text, reason = said(advice.text), said(advice.reason)
        self.text.setText(with_soft_breaks(text))
        say(self.reason, with_soft_breaks(reason))
        self.apply.setVisible(advice.strategy is not None or advice.frees_bytes > 0)
        button = self.tr("Free its memory")
        effect = self.tr("Unloads the draft model; the main model is loaded again without it")
        if advice.strategy is not None:
            button = self.tr("Apply")
            effect = self.tr("Use {} from now on").format(strategy_text(advice.strategy))
        self.apply.setText(button)
        self.apply.setToolTip(effect)
        self.setAccessibleName(f"{text} {reason}".strip())
        self.show()

    @Slot()
    def _on_apply(self) -> None:
        strategy = self._waiting[0].strategy
        self._waiting = []
        self._show_next()
        if strategy is not None:
            self.applied.emit(strategy)
        else:
            self.free_wanted.emit()

    @Slot()
    def _on_dismissed(self) -> None:
        self._declined.update(one.code for one in self._waiting[:1] if one.strategy is None)
        del self._waiting[:1]
        self._show_next()


_TITLE_PX = 200
_RATE_PX = 44
_PLACES = BarStyle(height=24, axis=0, widest=14, width=120, gaps=(2, 0.5), narrow=5)
_MAX_SPOKEN_PLACES = 16
"""Number of positions that a screen reader reads; longer drafts are rare."""


class _Line(QWidget):
    """One drafter: its colour and name, its accepted tokens, the rate, and the details."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.dot = text_label("●", "dot")
        self.title = ElidedLabel(_TITLE_PX, Qt.TextElideMode.ElideRight)
        self.figures = text_label()
        self.rate = QLabel(alignment=Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.rate.setMinimumWidth(_RATE_PX)
        self.details = text_label(wraps=True)
        self.bars_title = styled(
            YieldingLabel(self.tr("right, by place in the draft")), role="small"
        )
        self.bars = BarChart(_PLACES)
        row = row_of(self.dot, self.title, None, self.figures, self.rate, spacing=6)
        self.more = QWidget()
        details = self.details, self.bars_title, self.bars
        column_of(*details, on=self.more, margins=(17, 0, 0, 6), spacing=3)
        column_of(row, self.more, on=self, margins=0, spacing=2)

    def show_row(self, row: DrafterRow, *, is_open: bool) -> None:
        """Show a drafter, with its details if they are open."""
        self.more.setVisible(is_open)
        colour = "accent" if row.kind == "draft" else "lookup"
        set_look(self.dot, tone=colour)
        self.title.setText(row.title)
        self.title.setToolTip(row.drafter_id)
        self.figures.setText(row.tokens)
        say(self.rate, row.rate)
        self.details.setText("\n".join(row.details))
        self._show_places(row.per_position, colour)
        self.setAccessibleName(f"{row.title}: {row.tokens} {row.rate}".strip())

    def _show_places(self, counts: tuple[int, ...], colour: str) -> None:
        """Show the number of accepted tokens at each position; the highest bar fills the height."""
        most = max(counts, default=0)
        self.bars.show_bars([Bar(count / most) for count in counts] if most else (), colour)
        listed = ", ".join(str(count) for count in counts[:_MAX_SPOKEN_PLACES])
        more = "…" if len(counts) > _MAX_SPOKEN_PLACES else ""
        words = self.tr("Right, by place in the draft: {}").format(f"{listed}{more}")
        self.bars.setToolTip(words)
        self.bars.setAccessibleName(words)
        for widget in (self.bars, self.bars_title):
            widget.setVisible(most > 0)


class DrafterCard(Card):
    """Card of the drafters; hidden until something is drafted."""

    toggled = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self.set_title(self.tr("Drafters"), self.tr("guesses that were right"))
        self._rows: tuple[DrafterRow, ...] = ()
        self.lines: list[_Line] = []
        self.toggle = styled(QToolButton(), kind="link")
        self.toggle.setCheckable(True)
        self.toggle.setText(self.tr("Details"))
        self.toggle.setAccessibleName(self.tr("Details of the drafters"))
        self.toggle.toggled.connect(self._on_toggled)
        self.header.addWidget(self.toggle)
        self.hide()

    def show_rows(self, rows: Sequence[DrafterRow]) -> None:
        """Show the drafters that have drafted."""
        rows = tuple(row for row in rows if row.tokens)
        if rows == self._rows:
            return
        self._rows = rows
        discard(self.lines[len(rows) :], self.body)
        self.lines = as_many(self.lines[: len(rows)], len(rows), _Line, self.body)
        for line, row in zip(self.lines, rows, strict=True):
            line.show_row(row, is_open=self.toggle.isChecked())
        self.setVisible(bool(rows))

    @Slot(bool)
    def _on_toggled(self, is_open: bool) -> None:  # noqa: FBT001
        self.toggle.setText(self.tr("Less") if is_open else self.tr("Details"))
        for line in self.lines:
            line.more.setVisible(is_open)
        self.toggled.emit(is_open)
