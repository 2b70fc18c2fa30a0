"""Results of a search: their number, and a list with a row per chat and per message."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QModelIndex, QObject, QRect, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QFont, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from paceline.conversation import ConversationSummary, SearchHit
from paceline.gui.conversations.rows import MARGIN_PX, MARK_PX, MarkedText, height_of
from paceline.gui.kit.labels import text_label
from paceline.gui.kit.layouts import column_of, styled
from paceline.gui.kit.row_painting import RIGHT, paint_state, show_rows
from paceline.gui.kit.rows import ROW, Index, Rows
from paceline.gui.kit.search_field import takes_escape
from paceline.gui.look.current import look
from paceline.gui.look.scale import COMPACT, SMALL, TINY
from paceline.gui.look.theme import ui_font
from paceline.gui.state.chat_lines import title_text
from paceline.names import visible

_INDENT_PX = 10
_AIR_PX = 6
_ABOVE_CHAT_PX = 6
_GAP_PX = 6
_MAX_LINES = 2
"""Maximum number of lines of a message."""


@dataclass(frozen=True, slots=True)
class FoundChat:
    """A chat with hits.

    Attributes:
        summary: The chat.
        title: Its title, or the words for a chat without one.
        marks: Positions of the words in the title, as (start, end) in characters.
        n_hits: Number of messages with hits; 0 if only the title has one.
    """

    summary: ConversationSummary
    title: str
    marks: tuple[tuple[int, int], ...] = ()
    n_hits: int = 0


class HitList(Rows[FoundChat | SearchHit]):
    """Hits as rows, ranked by the store.

    The hits of a chat are placed together, at its best one.
    """

    @property
    def n_chats(self) -> int:
        """Number of chats with hits."""
        return sum(isinstance(row, FoundChat) for row in self.rows)

    @property
    def n_messages(self) -> int:
        """Number of messages with hits."""
        return len(self.rows) - self.n_chats

    def show_hits(
        self,
        hits: Sequence[SearchHit],
        summary_of: Callable[[str], ConversationSummary | None],
    ) -> bool:
        """Show hits of known chats; return whether they differ from those before."""
        by_chat: dict[str, list[SearchHit]] = {}
        for hit in hits:
            by_chat.setdefault(hit.conversation_id, []).append(hit)
        rows: list[FoundChat | SearchHit] = []
        for conversation_id, found in by_chat.items():
            summary = summary_of(conversation_id)
            if summary is None:
                continue
            messages = [hit for hit in found if hit.message_id]
            named = [hit for hit in found if not hit.message_id]
            title = visible(named[0].snippet) if named else title_text(summary)
            marks = named[0].marks if named else ()
            rows.append(FoundChat(summary, title, marks, len(messages)))
            rows.extend(messages)
        is_new = tuple(rows) != self.rows
        if is_new:
            self.set_rows(rows)
        return is_new

    def title(self, row: FoundChat | SearchHit) -> str:
        """Return the title of a chat, or an extract of a message."""
        return row.title if isinstance(row, FoundChat) else row.snippet

    def tip(self, row: FoundChat | SearchHit) -> str:
        """Return the whole text, which may not fit into the row."""
        return self.title(row)

    def spoken(self, row: FoundChat | SearchHit) -> str:
        """Return the words for screen readers, with the number of hits in a chat."""
        if isinstance(row, FoundChat):
            words = self.tr("Chat: {}, found {} times").format(row.title, row.n_hits or 1)
            return f"{words}, {self.tr('archived')}" if row.summary.archived else words
        return row.snippet


class HitRow(QStyledItemDelegate):
    """Painter of chats with their number of hits, and of messages with marked words."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._lock, self._archive = look.icon("lock"), look.icon("archive")

    def sizeHint(self, _option: QStyleOptionViewItem, index: Index) -> QSize:
        """Return the size of one line for a chat, of two for a message."""
        if isinstance(index.data(ROW), FoundChat):
            return QSize(100, height_of(_title_font()) + 2 * _AIR_PX + _ABOVE_CHAT_PX)
        return QSize(100, _MAX_LINES * height_of(ui_font(SMALL)) + 2 * _AIR_PX)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint one row."""
        row = index.data(ROW)
        is_chat = isinstance(row, FoundChat)
        rect = QRect(option.rect)
        rect.adjust(0 if is_chat else _INDENT_PX, _ABOVE_CHAT_PX if is_chat else 0, 0, 0)
        inner = rect.adjusted(MARGIN_PX, _AIR_PX, -MARGIN_PX, -_AIR_PX)
        is_chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_state(painter, rect, option.state)
        if isinstance(row, FoundChat):
            self._paint_chat(painter, inner, row, is_chosen=is_chosen)
        elif isinstance(row, SearchHit):
            painter.setPen(QColor(look.theme.muted))
            text = MarkedText(row.snippet, row.marks, ui_font(SMALL), is_chosen)
            text.draw(painter, inner, _MAX_LINES)
        painter.restore()

    def _paint_chat(
        self, painter: QPainter, inner: QRect, row: FoundChat, *, is_chosen: bool
    ) -> None:
        middle = inner.center().y() - MARK_PX // 2 + 1
        if row.n_hits:
            painter.setFont(ui_font(TINY, QFont.Weight.DemiBold))
            painter.setPen(QColor(look.theme.muted))
            text = f"{row.n_hits}"
            painter.drawText(inner, RIGHT, text)
            width = painter.fontMetrics().horizontalAdvance(text)
            inner.setRight(inner.right() - width - _GAP_PX)
        for icon, on in ((self._lock, row.summary.private), (self._archive, row.summary.archived)):
            if on:
                place = QRect(inner.right() - MARK_PX, middle, MARK_PX, MARK_PX)
                icon.paint(painter, place)
                inner.setRight(place.left() - _GAP_PX)
        painter.setPen(QColor(look.theme.text))
        MarkedText(row.title, row.marks, _title_font(), is_chosen).draw(painter, inner)


def _title_font() -> QFont:
    return ui_font(COMPACT, QFont.Weight.Medium)


class FoundView(QListView):
    """The list; Up on its first row and Esc lead back to the field."""

    left_upwards = Signal()
    dismissed = Signal()

    def event(self, event: QEvent) -> bool:
        """Keep Esc from the window's shortcut."""
        return takes_escape(event) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Leave the list by key."""
        if event.key() == Qt.Key.Key_Escape:
            self.dismissed.emit()
        elif event.key() == Qt.Key.Key_Up and self.currentIndex().row() <= 0:
            self.left_upwards.emit()
        else:
            super().keyPressEvent(event)


class FoundList(QWidget):
    """Hits grouped by chat."""

    hit_chosen = Signal(str, str)
    """Ids of the chat and the message; the latter is empty for the chat as a whole."""

    def __init__(self) -> None:
        super().__init__()
        self._model = HitList(self)
        self.summary = text_label(wraps=True, plain=True)
        self.summary.setContentsMargins(6, 0, 6, 4)
        self.view = styled(FoundView(), kind="chats")
        self.view.setAccessibleName(self.tr("Search results"))
        self.view.setModel(self._model)
        show_rows(self.view, HitRow(self.view))
        self.view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.view.clicked.connect(self._on_chosen)
        self.view.activated.connect(self._on_chosen)
        column_of(self.summary, (self.view, 1), on=self, margins=0, spacing=2)

    def show_hits(
        self,
        hits: Sequence[SearchHit],
        summary_of: Callable[[str], ConversationSummary | None],
        *,
        is_cut: bool = False,
        passes_over: bool = False,
    ) -> None:
        """Show hits.

        Args:
            hits: The hits, the best first.
            summary_of: Returns a chat by its id, or None if it is not to be shown.
            is_cut: Whether there are more than these.
            passes_over: Whether the search ignored special characters.
        """
        if self._model.show_hits(hits, summary_of):
            self.view.scrollToTop()
        words = self._words(is_cut=is_cut)
        if words and passes_over:
            words = self.tr("{}, without the signs").format(words)
        self.summary.setText(words)

    @property
    def is_empty(self) -> bool:
        """Return whether nothing was found."""
        return self._model.rowCount() == 0

    @Slot()
    def take_focus(self) -> None:
        """Take the keyboard focus, with a row selected to go on from."""
        if not self.is_empty:
            self.view.setFocus(Qt.FocusReason.TabFocusReason)
            if not self.view.currentIndex().isValid():
                self.view.setCurrentIndex(self._model.index(0))

    def choose_first(self) -> None:
        """Choose the first chat if its title was found, otherwise its best message."""
        if self.is_empty:
            return
        index = self._model.index(0)
        row = index.data(ROW)
        if isinstance(row, FoundChat) and not row.marks and row.n_hits:
            index = self._model.index(1)
        self.view.setCurrentIndex(index)
        self._on_chosen(index)

    def _words(self, *, is_cut: bool) -> str:
        n, chats = self._model.n_messages, self._model.n_chats
        if self.is_empty:
            return ""
        if n == 0:
            return self.tr("1 chat") if chats == 1 else self.tr("{} chats").format(chats)
        if is_cut:
            return self.tr("The best {} hits").format(n)
        hits = self.tr("1 hit") if n == 1 else self.tr("{} hits").format(n)
        where = self.tr("in 1 chat") if chats == 1 else self.tr("in {} chats").format(chats)
        return f"{hits} {where}"

    @Slot(QModelIndex)
    def _on_chosen(self, index: QModelIndex) -> None:
        row = index.data(ROW)
        if isinstance(row, FoundChat):
            self.hit_chosen.emit(row.summary.conversation_id, "")
        elif row is not None:
            self.hit_chosen.emit(row.conversation_id, row.message_id)
