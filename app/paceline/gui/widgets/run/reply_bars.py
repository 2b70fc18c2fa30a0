"""How one reply of a conversation is painted in the list of its replies: two bars and figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from paceline.gui.scale import COMPACT, SMALL, px
from paceline.gui.theme import ui_font
from paceline.gui.viewmodels.figures import percent_text, ratio_text, speed_text
from paceline.gui.viewmodels.reply_rows import ROW_ROLE, ReplyList, ReplyRow

if TYPE_CHECKING:
    from PySide6.QtCore import QObject

    from paceline.gui.theme import Theme

Index = QModelIndex | QPersistentModelIndex

ROW_PX = 58
BAR_PX = 8
_FIGURE_PX = 118
_LEFT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
_RIGHT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight


class ReplyBars(QStyledItemDelegate):
    """A row: the question, speed with a mark for plain decoding, acceptance by source."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme

    def set_theme(self, theme: Theme) -> None:
        """Use another theme's colours."""
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """All rows are as high."""
        del option, index
        return QSize(320, px(ROW_PX))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint one row."""
        row, model = index.data(ROW_ROLE), index.model()
        if not isinstance(row, ReplyRow) or not isinstance(model, ReplyList):
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rect = QRect(option.rect).adjusted(0, 1, 0, -1)
        self._paint_ground(painter, rect, option.state)
        inner = rect.adjusted(12, 6, -12, -6)
        third = inner.height() // 3
        painter.setFont(ui_font(COMPACT))
        painter.setPen(QColor(self._theme.text))
        title = QRect(inner.left(), inner.top(), inner.width(), third)
        room = title.width() - px(_FIGURE_PX)
        words = f"{row.number}  {index.data()}"
        painter.drawText(
            title, _LEFT, painter.fontMetrics().elidedText(
                words, Qt.TextElideMode.ElideRight, room
            )
        )  # fmt: skip
        painter.setFont(ui_font(SMALL))
        if row.n_tokens:
            painter.setPen(QColor(self._theme.muted))
            painter.drawText(title, _RIGHT, self.tr("{:,} tokens").format(row.n_tokens))
        speed = QRect(inner.left(), inner.top() + third, inner.width(), third)
        drafts = QRect(inner.left(), inner.top() + 2 * third, inner.width(), third)
        if row.tokens_per_s is None:
            painter.setPen(QColor(self._theme.muted))
            painter.drawText(speed, _LEFT, row.problem or self.tr("no figures"))
        else:
            self._paint_speed(painter, speed, row, model.fastest)
            self._paint_drafts(painter, drafts, row)
        painter.restore()

    def _paint_ground(self, painter: QPainter, rect: QRect, state: QStyle.StateFlag) -> None:
        theme = self._theme
        is_chosen = bool(state & QStyle.StateFlag.State_Selected)
        if is_chosen or state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(theme.accent_soft if is_chosen else theme.hover))
            painter.drawRoundedRect(rect, 8, 8)
        if state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QPen(QColor(theme.accent), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(rect.adjusted(0, 0, -1, -1), 8, 8)

    def _paint_speed(self, painter: QPainter, rect: QRect, row: ReplyRow, fastest: float) -> None:
        theme, speed = self._theme, row.tokens_per_s or 0.0
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
        theme, rate = self._theme, row.acceptance_rate
        if rate is None:
            painter.setPen(QColor(theme.muted))
            painter.drawText(rect, _LEFT, self.tr("nothing drafted"))
            return
        bar = self._ground(painter, rect)
        left = bar.left()
        for n, colour in ((row.n_by_model, theme.accent), (row.n_by_lookup, theme.lookup)):
            width = bar.width() * n / row.n_drafted
            painter.fillRect(QRectF(left, bar.top(), width, bar.height()), QColor(colour))
            left += width
        words = self.tr("{} of {:,}").format(percent_text(rate), row.n_drafted)
        self._paint_figure(painter, rect, words)

    def _ground(self, painter: QPainter, rect: QRect) -> QRectF:
        """Paint where the bar may stand; returns that."""
        top = rect.center().y() - BAR_PX / 2 + 1
        bar = QRectF(rect.left(), top, rect.width() - px(_FIGURE_PX), BAR_PX)
        painter.fillRect(bar, QColor(self._theme.line))
        return bar

    def _paint_figure(self, painter: QPainter, rect: QRect, words: str) -> None:
        painter.setPen(QColor(self._theme.text))
        painter.drawText(rect, _RIGHT, words)
