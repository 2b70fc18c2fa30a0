"""Rows of the list of chats, headings among them, and how a change of them is told to views.

The list of strings behind it is of blanks and only counts the rows: a view that lays out 10,000 of
them asks for their number at each, which takes 90 ms where Python has to answer. Main thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QStringListModel, Slot

from paceline.conversation import ConversationSummary
from paceline.gui.viewmodels.chat_groups import Heading

if TYPE_CHECKING:
    from PySide6.QtCore import QObject

Entry = ConversationSummary | Heading

FEW = 8
"""So many changed rows are told one by one."""
MANY = 500
"""When more rows than these come and go at once, the views begin anew."""


class ChatRows(QStringListModel):
    """Knows what stands in each row; what a row says is another's concern."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._entries: list[Entry] = []
        self._keys: list[str] = []
        # Connected before any view is: when they hear of a change, it has been made.
        self._coming: tuple[list[Entry], list[str]] = ([], [])
        self.rowsInserted.connect(self._on_rows)
        self.rowsRemoved.connect(self._on_rows)
        self.rowsMoved.connect(self._on_rows)
        self.modelReset.connect(self._on_rows)

    def apply(self, entries: list[Entry]) -> None:
        """Have these rows, and tell the views what is different."""
        old, keys = list(self._keys), [_name(entry) for entry in entries]
        before = list(self._entries)
        n = min(len(old), len(keys))
        top = 0 if old != keys else n
        while top < n and old[top] == keys[top]:
            top += 1
        below = 0
        while below < n - top and old[-1 - below] == keys[-1 - below]:
            below += 1
        end = len(keys) - below
        if max(len(old), len(keys)) - top - below > MANY:
            self._coming = (entries, keys)
            self.setStringList([""] * len(keys))
            return
        self.remove(top, len(old) - below - top)
        self.insert(top, entries[top:end])
        self._entries, self._keys = entries, keys
        self._tell_changed(dict(zip(old, before, strict=True)))

    def insert(self, at: int, new: list[Entry]) -> None:
        """Have these before a row."""
        if new:
            self._coming = (
                [*self._entries[:at], *new, *self._entries[at:]],
                [*self._keys[:at], *map(_name, new), *self._keys[at:]],
            )
            self.insertRows(at, len(new))

    def remove(self, at: int, n: int) -> None:
        """Have so many rows less."""
        if n > 0:
            self._coming = (
                [*self._entries[:at], *self._entries[at + n :]],
                [*self._keys[:at], *self._keys[at + n :]],
            )
            self.removeRows(at, n)

    def move(self, row: int, before: int) -> None:
        """Have a row stand before another one; views keep it selected."""
        entries, keys = list(self._entries), list(self._keys)
        at = before - (before > row)
        entries.insert(at, entries.pop(row))
        keys.insert(at, keys.pop(row))
        self._coming = (entries, keys)
        self.moveRows(QModelIndex(), row, 1, QModelIndex(), before)

    @Slot()
    def _on_rows(self) -> None:
        self._entries, self._keys = self._coming

    def _tell_changed(self, before: dict[str, Entry]) -> None:
        rows = [
            row
            for row, (key, entry) in enumerate(zip(self._keys, self._entries, strict=True))
            if (known := before.get(key)) is not entry and known is not None
        ]
        if len(rows) > FEW:  # comparing them costs more than painting what is seen of them
            self.dataChanged.emit(self.index(rows[0]), self.index(rows[-1]))
            return
        for row in rows:
            self.dataChanged.emit(self.index(row), self.index(row))


def moment(summary: ConversationSummary) -> float:
    """When a chat changed, in seconds since the epoch."""
    return summary.changed_s or summary.created_s


def sort_key(entry: Entry) -> tuple[bool, float, bool, str]:
    """Where an entry stands: pinned ones first, then the newest, equally new ones by their id.

    Behind a chat that changed at the very moment at which a group ends stands its heading.
    """
    if isinstance(entry, Heading):
        return (not entry.is_pinned, -entry.end_s, True, "")
    return (not entry.pinned, -moment(entry), False, entry.conversation_id)


def _name(entry: Entry) -> str:
    if isinstance(entry, Heading):
        return f"\0{entry.is_pinned:d}{entry.end_s}"
    return entry.conversation_id
