"""The list of conversations for a list view: newest first, in groups by day."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QSortFilterProxyModel,
    Qt,
    Signal,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paceline.conversation import Conversation

ID_ROLE = int(Qt.ItemDataRole.UserRole) + 1
SUBTITLE_ROLE = ID_ROLE + 1
GROUP_ROLE = ID_ROLE + 2
SEARCH_ROLE = ID_ROLE + 3

Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class Row:
    """One conversation as the list shows it; `search` is all its text in lower case."""

    conversation_id: str
    title: str
    subtitle: str
    group: str
    search: str


class ConversationList(QAbstractListModel):
    """Rows made from conversations; editing a title asks for a rename by a signal."""

    rename_requested = Signal(str, str)

    def __init__(
        self,
        subtitle_of: Callable[[Conversation], str],
        today: Callable[[], datetime.date] = datetime.date.today,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._subtitle_of = subtitle_of
        self._today = today
        self._rows: list[Row] = []

    def set_conversations(self, conversations: Sequence[Conversation]) -> None:
        """Show these; rows that stay keep their place in the view, and its selection."""
        rows = [self._row(c) for c in sorted(conversations, key=_created, reverse=True)]
        old_ids = [row.conversation_id for row in self._rows]
        new_ids = [row.conversation_id for row in rows]
        if old_ids == new_ids:
            for at, (old, new) in enumerate(zip(self._rows, rows, strict=True)):
                if old != new:
                    self._rows[at] = new
                    index = self.index(at)
                    self.dataChanged.emit(index, index)
            return
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    def row_of(self, conversation_id: str) -> int:
        """The row of a conversation; -1 when it is not in the list."""
        ids = [row.conversation_id for row in self._rows]
        return ids.index(conversation_id) if conversation_id in ids else -1

    def rowCount(self, parent: Index | None = None) -> int:
        """Number of conversations."""
        return 0 if parent is not None and parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """One field of a row."""
        if not index.isValid():
            return None
        row = self._rows[index.row()]
        fields: dict[int, str] = {
            Qt.ItemDataRole.DisplayRole: row.title,
            Qt.ItemDataRole.EditRole: row.title,
            Qt.ItemDataRole.ToolTipRole: row.title,
            Qt.ItemDataRole.AccessibleTextRole: f"{row.title}, {row.subtitle}",
            ID_ROLE: row.conversation_id,
            SUBTITLE_ROLE: row.subtitle,
            GROUP_ROLE: row.group,
            SEARCH_ROLE: row.search,
        }
        return fields.get(role)

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Ask for another title."""
        if role != Qt.ItemDataRole.EditRole or not index.isValid() or not str(value).strip():
            return False
        self.rename_requested.emit(self._rows[index.row()].conversation_id, str(value))
        return True

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Rows can be chosen and renamed."""
        return super().flags(index) | Qt.ItemFlag.ItemIsEditable

    def _row(self, conversation: Conversation) -> Row:
        texts = [conversation.title, *(m.content for m in conversation.messages.values())]
        return Row(
            conversation.conversation_id,
            conversation.title or self.tr("New chat"),
            self._subtitle_of(conversation),
            self._group(conversation),
            "\n".join(texts).casefold(),
        )

    def _group(self, conversation: Conversation) -> str:
        day = datetime.datetime.fromtimestamp(conversation.created_s).astimezone().date()
        age = (self._today() - day).days
        if age <= 0:
            return self.tr("Today")
        if age == 1:
            return self.tr("Yesterday")
        return self.tr("This week") if age < 7 else self.tr("Earlier")


def _created(conversation: Conversation) -> float:
    return conversation.created_s


class ConversationFilter(QSortFilterProxyModel):
    """Rows whose title or messages contain all the words of a search."""

    def __init__(self, source: ConversationList, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._words: list[str] = []
        self.setSourceModel(source)

    def set_search(self, text: str) -> None:
        """Show what contains every word of the text; empty shows all."""
        self.beginFilterChange()
        self._words = text.casefold().split()
        self.endFilterChange()

    def filterAcceptsRow(self, source_row: int, source_parent: Index) -> bool:
        """Whether a row is shown."""
        index = self.sourceModel().index(source_row, 0, source_parent)
        text = str(index.data(SEARCH_ROLE))
        return all(word in text for word in self._words)
