"""The list of chats for a list view: pinned ones first, then the newest change, under headings.

Made for 10,000 chats: nothing is worded before a view asks for the row, and a change tells the view
of the rows between the first and the last that differ, so that selection, scroll position and an
open field for a title survive. Belongs to the main thread.

Headings (pinned, by day, by week, by month) are rows of the list like the chats, so that all rows
have one height and a view need not ask for each. A heading sorts by the moment at which its group
ends, and thus finds its place among the chats by the same key as they do.
"""

from __future__ import annotations

import datetime
import math
import re
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import (
    QLocale,
    QModelIndex,
    QObject,
    QStringListModel,
    Qt,
    Signal,
    Slot,
)

from paceline.conversation import ConversationSummary
from paceline.gui.kit.rows import Index
from paceline.gui.kit.translation import translator
from paceline.gui.state.chat_lines import second_line, spoken_row, title_text

TAG_CHARS = 32
"""Longer tags are cut: they would not fit into a row."""

_TAG = re.compile(r"(?:^|(?<=\s))#(\S*)")


@dataclass(frozen=True, slots=True)
class ChatQuery:
    """A search.

    Attributes:
        text: What to search for, without the tags.
        tags: What chats must be marked with, without hash signs; beginnings count, too.
    """

    text: str = ""
    tags: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the text."""
        return tuple(self.text.split())

    def fits(self, tags: Iterable[str], known: frozenset[str]) -> bool:
        """Whether a chat with these tags is meant.

        Args:
            tags: The chat's.
            known: All tags there are, in lower case; a whole one is no beginning of others.
        """
        has = [tag.casefold() for tag in tags]
        return all(
            wanted in has if wanted in known else any(tag.startswith(wanted) for tag in has)
            for wanted in (tag.casefold() for tag in self.tags)
        )


def parse(text: str) -> ChatQuery:
    """Take apart what was typed; a lone hash sign asks for nothing yet."""
    tags = tuple(dict.fromkeys(tag for tag in _TAG.findall(text) if tag))
    return ChatQuery(" ".join(_TAG.sub(" ", text).split()), tags)


def with_tag(text: str, tag: str, *, on: bool) -> str:
    """The search text with a tag added or removed."""
    query = parse(text)
    others = [name for name in query.tags if name.casefold() != tag.casefold()]
    tags = [*others, tag] if on else others
    return " ".join((*(f"#{name}" for name in tags), query.text)).strip()


def clean_tag(text: str) -> str:
    """A tag from what was typed: one word, since a search takes it as one; may be empty."""
    return "-".join(text.strip().lstrip("#").split())[:TAG_CHARS].rstrip("-")


_FIRST_DAY = datetime.date(1971, 1, 1)
"""A chat from before then came from a file that names no time, which is kept as 0."""

_tr = translator("ChatGroups")


@dataclass(frozen=True, slots=True)
class Heading:
    """The line above a group.

    Attributes:
        name: What it says.
        is_pinned: Whether it stands above the pinned chats.
        end_s: Every chat of the group changed before this, in seconds since the epoch.
        begin_s: And none before this.
    """

    name: str
    is_pinned: bool
    end_s: float
    begin_s: float


class ChatGroups:
    """The groups as they are on one day."""

    def __init__(self, today: datetime.date) -> None:
        self.today = today
        day = datetime.timedelta(days=1)
        # Monday to Sunday is not what people call this week on a Monday; seven days are.
        starts = (
            (_tr("Today"), today),
            (_tr("Yesterday"), today - day),
            (_tr("This week"), today - 6 * day),
            (_tr("This month"), today.replace(day=1)),
        )
        self._recent: list[Heading] = []
        end_s = math.inf
        for name, start in starts:
            begin_s = _midnight(start)
            if begin_s < end_s:  # in the first days of a month the week reaches beyond it
                self._recent.append(Heading(name, is_pinned=False, end_s=end_s, begin_s=begin_s))
                end_s = begin_s
        self._undated = Heading(
            _tr("Undated"), is_pinned=False, end_s=_midnight(_FIRST_DAY), begin_s=-math.inf
        )

    def heading(self, changed_s: float, *, is_pinned: bool = False) -> Heading:
        """The heading of a chat that changed at this moment."""
        if is_pinned:
            return Heading(_tr("Pinned"), is_pinned=True, end_s=math.inf, begin_s=-math.inf)
        for heading in self._recent:
            if changed_s >= heading.begin_s:
                return heading
        if changed_s < self._undated.end_s:
            return self._undated
        return self._month(changed_s)

    def _month(self, changed_s: float) -> Heading:
        start = datetime.datetime.fromtimestamp(changed_s).astimezone().date().replace(day=1)
        following = (start + datetime.timedelta(days=31)).replace(day=1)
        name = QLocale().standaloneMonthName(start.month)
        if start.year != self.today.year:
            name = f"{name} {start.year}"
        end_s = min(_midnight(following), self._recent[-1].begin_s)
        return Heading(name, is_pinned=False, end_s=end_s, begin_s=_midnight(start))


def _midnight(day: datetime.date) -> float:
    return datetime.datetime.combine(day, datetime.time.min).astimezone().timestamp()


ID_ROLE = int(Qt.ItemDataRole.UserRole) + 1
"""The chat's id; empty for a heading."""
SUBTITLE_ROLE = ID_ROLE + 1
"""The line below the title."""
SUMMARY_ROLE = ID_ROLE + 2
"""The `ConversationSummary`; None for a heading."""

Entry = ConversationSummary | Heading

FEW = 8
"""Up to this many changed rows are told one by one."""
MANY = 500
"""When more rows than this come and go at once, the model is reset."""


class ChatRows(QStringListModel):
    """The order of the rows, and how a change of it is told to views.

    Qt's own string list below it holds blanks and only counts the rows: a view that lays out 10,000
    rows asks for their number at each, which takes 90 ms where Python has to answer.
    """

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
        """Replace the rows, and tell the views what is different."""
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
        """Insert entries before a row."""
        if new:
            self._coming = (
                [*self._entries[:at], *new, *self._entries[at:]],
                [*self._keys[:at], *map(_name, new), *self._keys[at:]],
            )
            self.insertRows(at, len(new))

    def remove(self, at: int, n: int) -> None:
        """Remove `n` rows from a row on."""
        if n > 0:
            self._coming = (
                [*self._entries[:at], *self._entries[at + n :]],
                [*self._keys[:at], *self._keys[at + n :]],
            )
            self.removeRows(at, n)

    def move(self, row: int, before: int) -> None:
        """Move a row before another one; views keep it selected."""
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
        """Show these; their order does not matter."""
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
        """Show only chats with the tags of a search; its words are searched for in the store."""
        if query.tags != self._query.tags:
            self._query = query
            self._arrange()

    def refresh(self) -> None:
        """Say anew how old everything is; after midnight the groups change, too."""
        if self._groups.today != self._today():
            self._arrange()
        if self._entries:
            self.dataChanged.emit(self.index(0), self.index(len(self._entries) - 1))

    # --------------------------------------------------------------------------------- questions

    @property
    def tags(self) -> tuple[str, ...]:
        """All tags, those of the most chats first."""
        return tuple(sorted(self._tags, key=lambda tag: (-self._tags[tag], tag.casefold())))

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
        if role == Qt.ItemDataRole.EditRole and entry.title:
            return entry.title
        if role in _TITLE_ROLES:
            return title_text(entry)
        if role in _WORDED_ROLES:
            return self._words(entry, role)
        return None

    def _words(self, summary: ConversationSummary, role: int) -> str:
        note = self._notes.get(summary.conversation_id, "")
        if role == SUBTITLE_ROLE:
            return second_line(summary, self._now(), note)
        origin = summary.origin
        original = self._by_id.get(origin.conversation_id) if origin is not None else None
        return spoken_row(summary, self._now(), note, original)

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
        """Take out the heading before this row if nothing of its group is left after it."""
        entries = self._entries
        is_end = gap >= len(entries) or isinstance(entries[gap], Heading)
        if gap and is_end and isinstance(entries[gap - 1], Heading):
            self.remove(gap - 1, 1)


_HEADING_ROLES = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole)
_TITLE_ROLES = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole)
_WORDED_ROLES = (
    Qt.ItemDataRole.ToolTipRole,
    Qt.ItemDataRole.AccessibleTextRole,
    SUBTITLE_ROLE,
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


def moment(summary: ConversationSummary) -> float:
    """When a chat changed, in seconds since the epoch."""
    return summary.changed_s or summary.created_s


def sort_key(entry: Entry) -> tuple[bool, float, bool, str]:
    """Where an entry stands: pinned ones first, then the newest, equally new ones by their id.

    After a chat that changed at the very moment at which a group ends stands its heading.
    """
    if isinstance(entry, Heading):
        return (not entry.is_pinned, -entry.end_s, True, "")
    return (not entry.pinned, -moment(entry), False, entry.conversation_id)


def _name(entry: Entry) -> str:
    if isinstance(entry, Heading):
        return f"\0{entry.is_pinned:d}{entry.end_s}"
    return entry.conversation_id
