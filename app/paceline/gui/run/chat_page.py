"""All replies of a conversation side by side; one of them can be opened."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import cast

from PySide6.QtCore import QModelIndex, QRect, QRectF, QSize, Signal, Slot
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QFrame, QListView, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from paceline.chat.reply import Reply
from paceline.conversation import Conversation
from paceline.figures import Speedup
from paceline.gui.kit.labels import text_label
from paceline.gui.kit.layouts import column_of, styled
from paceline.gui.kit.row_painting import LEFT, RIGHT, draw_text, paint_state, show_rows
from paceline.gui.kit.rows import ROW, Index, Rows
from paceline.gui.kit.sentences import said
from paceline.gui.kit.translation import local
from paceline.gui.look.current import look
from paceline.gui.look.scale import COMPACT, SMALL, px
from paceline.gui.look.theme import ui_font
from paceline.gui.plot.plot_words import entries_html
from paceline.gui.state.figures import percent_text, ratio_text, speed_text
from paceline.gui.state.sources import Sources


@dataclass(frozen=True, slots=True)
class ReplyRow:
    """One reply; figures are None where they are not known.

    Attributes:
        message_id: Its message.
        number: Which reply of the path it is, from 1.
        question: The beginning of what it answers.
        tokens_per_s: Its speed.
        plain_tokens_per_s: The plain estimate, where there is a speed-up.
        speedup: Its speed over that; None: nothing was drafted, or it is not known.
        n_tokens: Tokens generated.
        n_drafted: Drafted tokens that were judged.
        n_by_model: Accepted tokens of draft models.
        n_by_lookup: Accepted tokens of others.
        strategy: What it was drafted with.
        problem: Why it has no figures.
    """

    message_id: str
    number: int
    question: str
    tokens_per_s: float | None = None
    plain_tokens_per_s: float | None = None
    speedup: Speedup | None = None
    n_tokens: int = 0
    n_drafted: int = 0
    n_by_model: int = 0
    n_by_lookup: int = 0
    strategy: str = ""
    problem: str = ""

    @property
    def acceptance_rate(self) -> float | None:
        """Accepted of the judged tokens."""
        accepted = self.n_by_model + self.n_by_lookup
        return accepted / self.n_drafted if self.n_drafted > 0 else None


def reply_rows(
    conversation: Conversation, reply_of: Callable[[str], Reply | None], sources: Sources
) -> tuple[ReplyRow, ...]:
    """The replies on the active path, first one first."""
    path = conversation.path()
    rows: list[ReplyRow] = []
    for before, message in zip((None, *path), path, strict=False):
        if message.role == "assistant":
            question = " ".join(before.content.split())[:200] if before is not None else ""
            reply = reply_of(message.message_id)
            rows.append(_row(message.message_id, len(rows) + 1, question, reply, sources))
    return tuple(rows)


def _row(
    message_id: str, number: int, question: str, reply: Reply | None, sources: Sources
) -> ReplyRow:
    if reply is None or reply.stats is None or not reply.has_ended:
        problem = said(reply.error.message) if reply is not None and reply.error is not None else ""
        strategy = reply.strategy if reply is not None else ""
        return ReplyRow(message_id, number, question, strategy=strategy, problem=problem)
    stats = reply.stats
    by_model = sum(
        s.tokens_accepted for s in stats.by_drafter if sources.kind(s.drafter) == "draft"
    )
    return ReplyRow(
        message_id,
        number,
        question,
        stats.tokens_per_s,
        stats.plain_tokens_per_s if stats.speedup is not None else None,
        stats.speedup,
        stats.n_generated,
        stats.n_drafted - stats.n_discarded,
        by_model,
        stats.n_accepted - by_model,
        reply.strategy,
    )


class ReplyList(Rows[ReplyRow]):
    """Replies by their questions, with their figures for those who hear them."""

    fastest = 0.0
    """The longest bar, in tokens per second"""

    def set_rows(self, rows: Iterable[ReplyRow]) -> None:
        """Show these replies."""
        super().set_rows(rows)
        speeds = [v for r in self.rows for v in (r.tokens_per_s, r.plain_tokens_per_s) if v]
        self.fastest = max(speeds, default=0.0)

    def title(self, row: ReplyRow) -> str:
        """Say what was asked."""
        return row.question or self.tr("Reply {}").format(row.number)

    def tip(self, row: ReplyRow) -> str:
        """Say what is spoken."""
        return self.spoken(row)

    def spoken(self, row: ReplyRow) -> str:
        """A row in one sentence."""
        parts = [self.tr("Reply {}").format(row.number)]
        if row.tokens_per_s is None:
            parts.append(row.problem or self.tr("no figures"))
            return ", ".join(parts)
        parts.append(self.tr("{} tokens per second").format(speed_text(row.tokens_per_s)))
        if row.speedup is not None:
            parts.append(self.tr("{} of plain").format(ratio_text(row.speedup.ratio)))
        if row.acceptance_rate is not None:
            parts.append(self.tr("{} accepted").format(percent_text(row.acceptance_rate)))
        parts.append(self.tr("{:,} tokens").format(local(row.n_tokens)))
        parts.append(row.strategy)
        return ", ".join(filter(None, parts))


ROW_PX = 58
BAR_PX = 8
_FIGURE_PX = 118


class ReplyBars(QStyledItemDelegate):
    """A row: the question, speed with a mark for plain decoding, acceptance by source."""

    def sizeHint(self, _option: QStyleOptionViewItem, _index: Index) -> QSize:
        """All rows are as high."""
        return QSize(320, px(ROW_PX))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint one row."""
        row: ReplyRow = index.data(ROW)
        model = cast("ReplyList", index.model())
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rect = QRect(option.rect).adjusted(0, 1, 0, -1)
        paint_state(painter, rect, option.state)
        inner = rect.adjusted(12, 6, -12, -6)
        third = inner.height() // 3
        painter.setFont(ui_font(COMPACT))
        painter.setPen(QColor(look.theme.text))
        title = QRect(inner.left(), inner.top(), inner.width(), third)
        room = title.adjusted(0, 0, -px(_FIGURE_PX), 0)
        draw_text(painter, room, f"{row.number}  {index.data()}")
        painter.setFont(ui_font(SMALL))
        if row.n_tokens:
            painter.setPen(QColor(look.theme.muted))
            painter.drawText(title, RIGHT, self.tr("{:,} tokens").format(local(row.n_tokens)))
        speed = QRect(inner.left(), inner.top() + third, inner.width(), third)
        drafts = QRect(inner.left(), inner.top() + 2 * third, inner.width(), third)
        if row.tokens_per_s is None:
            painter.setPen(QColor(look.theme.muted))
            painter.drawText(speed, LEFT, row.problem or self.tr("no figures"))
        else:
            self._paint_speed(painter, speed, row, model.fastest)
            self._paint_drafts(painter, drafts, row)
        painter.restore()

    def _paint_speed(self, painter: QPainter, rect: QRect, row: ReplyRow, fastest: float) -> None:
        theme, speed = look.theme, row.tokens_per_s or 0.0
        bar = self._ground(painter, rect)
        tone = row.speedup.verdict if row.speedup is not None else "even"
        colour = {"gain": theme.accent, "even": theme.muted, "loss": theme.danger}[tone]
        length = bar.width() * speed / max(fastest, 1e-9)
        painter.fillRect(QRectF(bar.left(), bar.top(), length, bar.height()), QColor(colour))
        if row.plain_tokens_per_s:
            at = bar.left() + bar.width() * row.plain_tokens_per_s / max(fastest, 1e-9)
            mark = QRectF(min(at, bar.right() - 2) - 1, bar.top() - 3, 2, bar.height() + 6)
            painter.fillRect(mark, QColor(theme.text))
        ratio = f" · {ratio_text(row.speedup.ratio)}" if row.speedup is not None else ""
        words = self.tr("{} t/s").format(speed_text(speed)) + ratio
        self._paint_figure(painter, rect, words)

    def _paint_drafts(self, painter: QPainter, rect: QRect, row: ReplyRow) -> None:
        theme, rate = look.theme, row.acceptance_rate
        if rate is None:
            painter.setPen(QColor(theme.muted))
            painter.drawText(rect, LEFT, self.tr("nothing drafted"))
            return
        bar = self._ground(painter, rect)
        left = bar.left()
        for n, colour in ((row.n_by_model, theme.accent), (row.n_by_lookup, theme.lookup)):
            width = bar.width() * n / row.n_drafted
            painter.fillRect(QRectF(left, bar.top(), width, bar.height()), QColor(colour))
            left += width
        words = self.tr("{} of {:,}").format(percent_text(rate), local(row.n_drafted))
        self._paint_figure(painter, rect, words)

    def _ground(self, painter: QPainter, rect: QRect) -> QRectF:
        """Paint the ground of a bar and return its rectangle."""
        top = rect.center().y() - BAR_PX / 2 + 1
        bar = QRectF(rect.left(), top, rect.width() - px(_FIGURE_PX), BAR_PX)
        painter.fillRect(bar, QColor(look.theme.line))
        return bar

    def _paint_figure(self, painter: QPainter, rect: QRect, words: str) -> None:
        painter.setPen(QColor(look.theme.text))
        painter.drawText(rect, RIGHT, words)


class ChatPage(QWidget):
    """A legend and a list of bars."""

    chosen = Signal(str)
    """Id of the message whose run is to be shown"""

    def __init__(self) -> None:
        super().__init__()
        self.model = ReplyList(self)
        self.legend = text_label("", "legend", wraps=True)
        self.view = styled(QListView(uniformItemSizes=True), kind="replies")
        self.view.setAccessibleName(self.tr("Replies of this chat"))
        self.view.setFrameShape(QFrame.Shape.NoFrame)
        self.view.setModel(self.model)
        show_rows(self.view, ReplyBars(self))
        self.view.clicked.connect(self._on_chosen)
        self.view.activated.connect(self._on_chosen)
        column_of(self.legend, (self.view, 1), on=self, margins=(20, 16, 20, 12), spacing=8)
        look.follow(self._tell_legend)

    @Slot()
    def _tell_legend(self) -> None:
        theme = look.theme
        drafts = entries_html(
            (
                (theme.accent, self.tr("draft model")),
                (theme.lookup, self.tr("lookups")),
                (theme.line_strong, self.tr("not accepted")),
            )
        )
        mark = f'<span style="color:{theme.text}"><b>|</b></span>'
        self.legend.setText(
            self.tr("Above: tokens per second, {} plain estimate.").format(mark)
            + " &nbsp; "
            + self.tr("Below: what became of drafted tokens:")
            + f" &nbsp; {drafts}"
        )

    def select(self, message_id: str) -> None:
        """Mark the reply whose run is shown."""
        for at, row in enumerate(self.model.rows):
            if row.message_id == message_id:
                index = self.model.index(at)
                self.view.setCurrentIndex(index)
                self.view.scrollTo(index)

    @Slot(QModelIndex)
    def _on_chosen(self, index: QModelIndex) -> None:
        self.chosen.emit(index.data(ROW).message_id)
