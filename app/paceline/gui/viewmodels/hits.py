"""What a search found, for a list view: a row per chat, and below it one per message.

The store ranks; here the hits of one chat are brought together, where its best one stands.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paceline.conversation import ConversationSummary, SearchHit

HIT_ROLE = int(Qt.ItemDataRole.UserRole) + 1
"""The `FoundChat` or the `SearchHit` of a row."""

Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class FoundChat:
    """A chat in which something was found.

    Attributes:
        summary: The chat.
        title: What it is called.
        marks: Where the words stand in the title, as (start, end) in characters.
        n_hits: Messages that have them; 0: only the title has.
    """

    summary: ConversationSummary
    title: str
    marks: tuple[tuple[int, int], ...] = ()
    n_hits: int = 0


class HitList(QAbstractListModel):
    """Rows made from hits."""

    def __init__(
        self, title_of: Callable[[ConversationSummary], str], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._title_of = title_of
        self._rows: list[FoundChat | SearchHit] = []

    @property
    def n_chats(self) -> int:
        """Number of chats in which something was found."""
        return sum(isinstance(row, FoundChat) for row in self._rows)

    @property
    def n_messages(self) -> int:
        """Number of messages that were found."""
        return len(self._rows) - self.n_chats

    def show_hits(
        self,
        hits: Sequence[SearchHit],
        summary_of: Callable[[str], ConversationSummary | None],
    ) -> bool:
        """Show these, without those of chats that nobody knows; returns whether that is new."""
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
            title = named[0].snippet if named else self._title_of(summary)
            marks = named[0].marks if named else ()
            rows.append(FoundChat(summary, title, marks, len(messages)))
            rows.extend(messages)
        if rows == self._rows:
            return False
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()
        return True

    def rowCount(self, parent: Index | None = None) -> int:
        """Number of rows."""
        return 0 if parent is not None and parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The row, or its text."""
        if not index.isValid():
            return None
        row = self._rows[index.row()]
        if role == HIT_ROLE:
            return row
        text = row.title if isinstance(row, FoundChat) else row.snippet
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return text
        if role != Qt.ItemDataRole.AccessibleTextRole:
            return None
        if isinstance(row, FoundChat):
            return self.tr("Chat: {}, found {} times").format(text, row.n_hits or 1)
        return text
