"""The list of chats for a list view: pinned ones first, then the newest change, under headings.

Made for 10,000 chats: nothing is worded before a view asks for the row, and a change tells the
view of the rows between the first and the last that differ, so that selection, scroll position and
an open field for a title survive. Belongs to the main thread.
"""

from __future__ import annotations

import datetime
import time
from bisect import bisect_left
from collections import Counter
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import (
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from paceline.gui.viewmodels.chat_groups import ChatGroups, Heading
from paceline.gui.viewmodels.chat_lines import second_lines, spoken_row, title_text
from paceline.gui.viewmodels.chat_query import ChatQuery
from paceline.gui.viewmodels.chat_rows import FEW, ChatRows, Entry, moment, sort_key

if TYPE_CHECKING:
    from collections.abc import Callable

    from paceline.conversation import ConversationSummary

ID_ROLE = int(Qt.ItemDataRole.UserRole) + 1
"""The chat's id; empty for a heading."""
SUBTITLE_ROLE = ID_ROLE + 1
"""The line below the title, whole."""
GROUP_ROLE = ID_ROLE + 2
"""The heading that the row stands under."""
SUMMARY_ROLE = ID_ROLE + 3
"""The `ConversationSummary`; None for a heading."""
LINES_ROLE = ID_ROLE + 4
"""The line below the title in ever shorter wordings."""

Index = QModelIndex | QPersistentModelIndex


class ConversationList(ChatRows):
    """Rows made from summaries; editing a title asks for a rename by a signal."""

    rename_requested = Signal(str, str)
    tags_changed = Signal()
    """Other tags, or other numbers of chats that have them."""

    def __init__(
        self,
        now: Callable[[], float] = time.time,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._now = now
        self._groups = ChatGroups(self._today())
        self._given: tuple[ConversationSummary, ...] = ()
        self._by_id: dict[str, ConversationSummary] = {}
        self._notes: dict[str, str] = {}
        self._tags: Counter[str] = Counter()
        self._query = ChatQuery()

    # ----------------------------------------------------------------------------- what is shown

    def set_summaries(self, summaries: tuple[ConversationSummary, ...]) -> None:
        """Show these, in whatever order they come."""
        changed = _changed(self._given, summaries)
        if changed is not None and len(changed) <= FEW and self._groups.today == self._today():
            for summary in changed:
                self.update_summary(summary)
            self._given = summaries
            return
        self._given = summaries
        self._by_id = {summary.conversation_id: summary for summary in summaries}
        self._count_tags()
        self._arrange()

    def update_summary(self, summary: ConversationSummary) -> None:
        """Show a chat that is new or has changed."""
        old = self._by_id.get(summary.conversation_id)
        row = self.row_of(summary.conversation_id)
        self._by_id[summary.conversation_id] = summary
        self._given = ()  # is no longer what is shown
        if self._is_wanted(summary):
            self._place(row, summary)
        elif row >= 0:
            self.remove(row, 1)
            self._drop_empty_heading(row)
        if old is None or old.tags != summary.tags:
            self._count_tags()

    def set_note(self, conversation_id: str, note: str) -> None:
        """Say what is happening in a chat in the place of its figures; empty: nothing."""
        if self._notes.get(conversation_id, "") == note:
            return
        if note:
            self._notes[conversation_id] = note
        else:
            self._notes.pop(conversation_id, None)
        row = self.row_of(conversation_id)
        if row >= 0:
            self.dataChanged.emit(self.index(row), self.index(row))

    def set_query(self, query: ChatQuery) -> None:
        """Show only chats with the tags of a search; its words are for whoever reads messages."""
        if query.tags != self._query.tags:
            self._query = query
            self._arrange()

    def refresh(self) -> None:
        """Say anew when everything was; behind midnight the groups are others, too."""
        if self._groups.today != self._today():
            self._arrange()
        if self._entries:
            self.dataChanged.emit(self.index(0), self.index(len(self._entries) - 1))

    # --------------------------------------------------------------------------------- questions

    @property
    def tags(self) -> tuple[str, ...]:
        """All tags, those of the most chats first."""
        return tuple(sorted(self._tags, key=lambda tag: (-self._tags[tag], tag.casefold())))

    @property
    def n_chats(self) -> int:
        """Number of chats, shown or not."""
        return len(self._by_id)

    def summary(self, conversation_id: str) -> ConversationSummary | None:
        """A chat by its id, shown or not."""
        return self._by_id.get(conversation_id)

    def accepts(self, conversation_id: str) -> bool:
        """Whether a chat is there and has the tags that are asked for."""
        summary = self._by_id.get(conversation_id)
        return summary is not None and self._is_wanted(summary)

    def row_of(self, conversation_id: str) -> int:
        """The row of a chat; -1 when it is not shown."""
        if conversation_id not in self._by_id:
            return -1
        try:
            return self._keys.index(conversation_id)
        except ValueError:
            return -1

    def first_chat(self) -> QModelIndex:
        """The uppermost row that is a chat; an invalid index where there is none."""
        return self.index(1, 0) if self._entries else QModelIndex()

    # ---------------------------------------------------------------------------- for the views

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """One field of a row."""
        if not index.isValid():
            return None
        entry = self._entries[index.row()]
        if isinstance(entry, Heading):
            return entry.name if role in _HEADING_ROLES else None
        if role == SUMMARY_ROLE:
            return entry
        if role == ID_ROLE:
            return entry.conversation_id
        if role in _TITLE_ROLES:
            return title_text(entry)
        if role == GROUP_ROLE:
            return self._heading_of(entry).name
        if role in _WORDED_ROLES:
            return self._words(entry, role)
        return None

    def _words(self, summary: ConversationSummary, role: int) -> str | tuple[str, ...]:
        note = self._notes.get(summary.conversation_id, "")
        if role in (LINES_ROLE, SUBTITLE_ROLE):
            lines = second_lines(summary, self._now(), note)
            return lines if role == LINES_ROLE else lines[0]
        return spoken_row(summary, self._now(), note)

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Ask for another title."""
        conversation_id = str(index.data(ID_ROLE) or "")
        title = " ".join(str(value).split())
        if role != Qt.ItemDataRole.EditRole or not conversation_id or not title:
            return False
        if title != self._by_id[conversation_id].title:
            self.rename_requested.emit(conversation_id, title)
        return True

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Chats can be chosen and renamed, headings are only read."""
        if not index.isValid() or isinstance(self._entries[index.row()], Heading):
            return Qt.ItemFlag.NoItemFlags
        return super().flags(index) | Qt.ItemFlag.ItemIsEditable

    # ----------------------------------------------------------------------------------- private

    def _today(self) -> datetime.date:
        return datetime.datetime.fromtimestamp(self._now()).astimezone().date()

    def _is_wanted(self, summary: ConversationSummary) -> bool:
        query = self._query
        return not query.tags or query.fits(summary.tags, frozenset(map(str.casefold, self._tags)))

    def _heading_of(self, entry: Entry) -> Heading:
        if isinstance(entry, Heading):
            return entry
        return self._groups.heading(moment(entry), is_pinned=entry.pinned)

    def _count_tags(self) -> None:
        tags = Counter(tag for s in self._by_id.values() if s.tags for tag in s.tags)
        if tags != self._tags:
            others = tags.keys() != self._tags.keys()
            self._tags = tags
            if others and self._query.tags:  # what began another tag may be a whole one now
                self._arrange()
            self.tags_changed.emit()

    def _arrange(self) -> None:
        """Sort and group everything."""
        today = self._today()
        if self._groups.today != today:
            self._groups = ChatGroups(today)
        shown = self._by_id.values() if not self._query.tags else self._wanted()
        entries: list[Entry] = []
        heading = None
        for summary in sorted(shown, key=sort_key):
            if (
                heading is None
                or heading.is_pinned != summary.pinned
                or (not summary.pinned and moment(summary) < heading.begin_s)
            ):
                heading = self._heading_of(summary)
                entries.append(heading)
            entries.append(summary)
        self.apply(entries)

    def _wanted(self) -> list[ConversationSummary]:
        known = frozenset(map(str.casefold, self._tags))
        fits = self._query.fits
        return [s for s in self._by_id.values() if s.tags and fits(s.tags, known)]

    def _place(self, row: int, summary: ConversationSummary) -> None:
        """Put a chat where it belongs, from a row or, if that is -1, from outside."""
        entries = self._entries
        heading = self._heading_of(summary)
        at = bisect_left(entries, sort_key(summary), key=sort_key)
        if at == 0 or self._heading_of(entries[at - 1]) != heading:
            self.insert(at, [heading])
            row += row >= at
            at += 1
        if row < 0:
            self.insert(at, [summary])
            return
        if at not in (row, row + 1):
            self.move(row, at)
            at -= at > row
            gap = row + 1 if at < row else row
        else:
            at, gap = row, row
        self._entries[at] = summary
        self.dataChanged.emit(self.index(at), self.index(at))
        self._drop_empty_heading(gap)

    def _drop_empty_heading(self, gap: int) -> None:
        """Take out the heading before this row if nothing of its group is left behind it."""
        entries = self._entries
        is_end = gap >= len(entries) or isinstance(entries[gap], Heading)
        if gap and is_end and isinstance(entries[gap - 1], Heading):
            self.remove(gap - 1, 1)


_HEADING_ROLES = (
    Qt.ItemDataRole.DisplayRole,
    Qt.ItemDataRole.AccessibleTextRole,
    GROUP_ROLE,
)
_TITLE_ROLES = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole)
_WORDED_ROLES = (
    Qt.ItemDataRole.ToolTipRole,
    Qt.ItemDataRole.AccessibleTextRole,
    SUBTITLE_ROLE,
    LINES_ROLE,
)


def _changed(
    old: tuple[ConversationSummary, ...], new: tuple[ConversationSummary, ...]
) -> list[ConversationSummary] | None:
    """What is different in new when only contents are; None: chats came, left or moved."""
    if not old or len(old) != len(new):
        return None
    pairs = [(a, b) for a, b in zip(old, new, strict=True) if a is not b]
    if any(a.conversation_id != b.conversation_id for a, b in pairs):
        return None
    return [b for a, b in pairs if a != b]
