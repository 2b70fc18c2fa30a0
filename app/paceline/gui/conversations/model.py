"""The list of chats for a list view, under headings and in folders that are open or closed.

Made for 10,000 chats: texts are made when a view asks for the row, and a change signals only the
rows between the first and the last that differ, so that selection, scroll position and an open
title field survive. Main thread.

Headings and folders are rows of the list like the chats, so that all rows have one height and a
view need not ask for each. A heading sorts by the end of its group's time, with the same key as
chats. A search also shows hits in closed folders.
"""

from __future__ import annotations

import datetime
import re
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from PySide6.QtCore import (
    QMimeData,
    QModelIndex,
    QObject,
    QStringListModel,
    Qt,
    Signal,
    Slot,
)

from paceline.conversation import ConversationSummary, Folder
from paceline.gui.conversations.groups import ARCHIVE, ChatGroups, Entry, Heading, moment
from paceline.gui.kit.rows import Index
from paceline.gui.state.chat_lines import second_line, spoken_row, title_text

MAX_TAG_CHARS = 32
"""Maximum length of a tag; longer ones would not fit into a row and are cut."""

_TAG = re.compile(r"(?:^|(?<=\s))#(\S*)")


@dataclass(frozen=True, slots=True)
class ChatQuery:
    """A search.

    Attributes:
        text: Words to search for, without the tags.
        tags: Tags that chats must have, without hash signs; beginnings of tags match, too.
    """

    text: str = ""
    tags: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the text."""
        return tuple(self.text.split())

    def fits(self, tags: Iterable[str], known: frozenset[str]) -> bool:
        """Return whether a chat with these tags matches.

        Args:
            tags: The chat's.
            known: All existing tags, in lower case; a complete tag does not match longer ones.
        """
        has = [tag.casefold() for tag in tags]
        return all(
            wanted in has if wanted in known else any(tag.startswith(wanted) for tag in has)
            for wanted in (tag.casefold() for tag in self.tags)
        )


def parse(text: str) -> ChatQuery:
    """Parse the search text; a lone hash sign is ignored."""
    tags = tuple(dict.fromkeys(tag for tag in _TAG.findall(text) if tag))
    return ChatQuery(" ".join(_TAG.sub(" ", text).split()), tags)


def with_tag(text: str, tag: str, *, on: bool) -> str:
    """Return the search text with a tag added or removed."""
    query = parse(text)
    others = [name for name in query.tags if name.casefold() != tag.casefold()]
    tags = [*others, tag] if on else others
    return " ".join((*(f"#{name}" for name in tags), query.text)).strip()


def clean_tag(text: str) -> str:
    """Return a tag from typed text: one word, as a search reads it; may be empty."""
    return "-".join(text.strip().lstrip("#").split())[:MAX_TAG_CHARS].rstrip("-")


ID_ROLE = int(Qt.ItemDataRole.UserRole) + 1
"""The chat's id; empty for a heading."""
SUBTITLE_ROLE = ID_ROLE + 1
"""The line below the title."""
SUMMARY_ROLE = ID_ROLE + 2
"""The `ConversationSummary`; None for a heading."""
FOLDER_ROLE = ID_ROLE + 3
"""A folder's `FolderLine`; None for all others."""
INDENT_ROLE = ID_ROLE + 4
"""True for a chat within a folder."""
CHAT_MIME = "application/x-paceline-chat"
"""Media type of a dragged chat, which is its id."""


class FolderLine(NamedTuple):
    """The row of a folder or of the archive."""

    folder: Folder
    n_chats: int
    is_open: bool

    @property
    def is_archive(self) -> bool:
        """Return whether it is the archive, which has no name of its own."""
        return self.folder.folder_id == ARCHIVE


MAX_SINGLE_CHANGES = 8
"""Maximum number of changed rows that are signalled one by one."""
RESET_FROM_ROWS = 500
"""Number of inserted and removed rows above which the model is reset."""


class ChatRows(QStringListModel):
    """The order of the rows, and the signals of its changes.

    Qt's own string list below it holds blanks and only counts the rows: a view that lays out 10,000
    rows asks for their number at each, which takes 90 ms where Python has to answer.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._entries: list[Entry] = []
        self._keys: list[str] = []
        # Connected before any view: when views receive a change, the rows have changed.
        self._coming: tuple[list[Entry], list[str]] = ([], [])
        self.rowsInserted.connect(self._on_rows)
        self.rowsRemoved.connect(self._on_rows)
        self.rowsMoved.connect(self._on_rows)
        self.modelReset.connect(self._on_rows)

    def apply(self, entries: list[Entry]) -> None:
        """Replace the rows, and signal the differences."""
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
        if max(len(old), len(keys)) - top - below > RESET_FROM_ROWS:
            self._coming = (entries, keys)
            self.setStringList([""] * len(keys))
            return
        self.remove(top, len(old) - below - top)
        self.insert(top, entries[top:end])
        self._entries, self._keys = entries, keys
        self._signal_changed(dict(zip(old, before, strict=True)))

    def insert(self, at: int, new: list[Entry]) -> None:
        """Insert entries before a row."""
        if new:
            self._coming = (
                [*self._entries[:at], *new, *self._entries[at:]],
                [*self._keys[:at], *map(_name, new), *self._keys[at:]],
            )
            self.insertRows(at, len(new))

    def remove(self, at: int, n: int) -> None:
        """Remove `n` rows, from `at` on."""
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

    def _signal_changed(self, before: dict[str, Entry]) -> None:
        rows = [
            row
            for row, (key, entry) in enumerate(zip(self._keys, self._entries, strict=True))
            if (known := before.get(key)) is not entry and known is not None
        ]
        if (
            len(rows) > MAX_SINGLE_CHANGES
        ):  # comparing them costs more than painting the visible ones
            self.dataChanged.emit(self.index(rows[0]), self.index(rows[-1]))
            return
        for row in rows:
            self.dataChanged.emit(self.index(row), self.index(row))


class ConversationList(ChatRows):
    """Rows made from summaries; editing a title emits a request to rename."""

    rename_requested = Signal(str, str)
    folder_renamed = Signal(str, str)
    tags_changed = Signal()
    """The tags, or their numbers of chats, have changed."""
    open_changed = Signal()
    """A folder was opened or closed."""

    def __init__(
        self,
        now: Callable[[], float] = time.time,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._now = now
        self._folders: tuple[Folder, ...] = ()
        self._groups = ChatGroups(self._today())
        self._given: tuple[ConversationSummary, ...] = ()
        self._by_id: dict[str, ConversationSummary] = {}
        self._notes: dict[str, str] = {}
        self._tags: Counter[str] = Counter()
        self._n_in: Counter[str] = Counter()
        self._open: tuple[str, ...] = ()
        self._query = ChatQuery()

    # ----------------------------------------------------------------------------------- display

    def set_summaries(self, summaries: tuple[ConversationSummary, ...]) -> None:
        """Replace the chats; their order does not matter."""
        changed = _changed(self._given, summaries)
        if (
            changed is not None
            and len(changed) <= MAX_SINGLE_CHANGES
            and self._groups.today == self._today()
        ):
            for summary in changed:
                self.update_summary(summary)
            self._given = summaries
            return
        self._given = summaries
        self._by_id = {summary.conversation_id: summary for summary in summaries}
        self._count_tags()
        self._arrange()

    def set_folders(self, folders: Sequence[Folder]) -> None:
        """Replace the folders; chats of unknown folders are shown outside of folders."""
        if tuple(folders) != self._folders:
            self._folders = tuple(folders)
            self._groups = ChatGroups(self._groups.today, folders)
            self._arrange()

    def open_folders(self, folder_ids: Iterable[str]) -> None:
        """Open these folders and close all others."""
        self._open = tuple(folder_ids)
        self._arrange()
        self.open_changed.emit()

    def set_open(self, folder_id: str, *, on: bool) -> None:
        """Open or close a folder or the archive."""
        if on != (folder_id in self._open):
            others = [each for each in self._open if each != folder_id]
            self.open_folders([*others, folder_id] if on else others)

    def update_summary(self, summary: ConversationSummary) -> None:
        """Add or update a chat."""
        old = self._by_id.get(summary.conversation_id)
        row = self.row_of(summary.conversation_id)
        self._by_id[summary.conversation_id] = summary
        self._given = ()  # no longer what is shown
        folder = self._groups.folder_of(summary)
        if (self._groups.folder_of(old) if old is not None else None) is not folder:
            self._arrange()
        elif self._is_wanted(summary) and self._is_seen(summary):
            self._place(row, summary)
        elif row >= 0:
            self.remove(row, 1)
            self._drop_empty_heading(row)
        if old is None or old.tags != summary.tags:
            self._count_tags()

    def set_note(self, conversation_id: str, note: str) -> None:
        """Show a note, such as a running reply, in place of a chat's figures; empty for none."""
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
        """Show only chats with the tags of a search; the store searches for its words."""
        if query.tags != self._query.tags:
            self._query = query
            self._arrange()

    def refresh(self) -> None:
        """Update the ages; after midnight the groups change, too."""
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
        """Return a chat by its id, shown or not."""
        return self._by_id.get(conversation_id)

    @property
    def folders(self) -> tuple[Folder, ...]:
        """Folders that chats can be moved to."""
        return self._folders

    @property
    def opened(self) -> tuple[str, ...]:
        """Ids of the open folders."""
        return self._open

    def folder_of(self, conversation_id: str) -> Folder | None:
        """Return the folder or archive of a chat, or None if it is in none."""
        summary = self._by_id.get(conversation_id)
        return self._groups.folder_of(summary) if summary is not None else None

    def folder_at(self, index: Index) -> Folder | None:
        """Return the folder or archive that a row is or belongs to, or None."""
        entry = self._entries[index.row()] if index.isValid() else None
        heading = self._groups.heading_of(entry) if entry is not None else None
        return heading if isinstance(heading, Folder) else None

    def accepts(self, conversation_id: str) -> bool:
        """Return whether a chat exists and has the tags of the search."""
        summary = self._by_id.get(conversation_id)
        return summary is not None and self._is_wanted(summary)

    def row_of(self, conversation_id: str) -> int:
        """Return the row of a chat, or -1 if it is not shown."""
        if conversation_id not in self._by_id:
            return -1
        try:
            return self._keys.index(conversation_id)
        except ValueError:
            return -1

    def first_chat(self) -> QModelIndex:
        """Return the first row that is a chat, or an invalid index."""
        rows = (i for i, e in enumerate(self._entries) if isinstance(e, ConversationSummary))
        row = next(rows, None)
        return self.index(row, 0) if row is not None else QModelIndex()

    # ---------------------------------------------------------------------------- for the views

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return one field of a row."""
        if not index.isValid():
            return None
        entry = self._entries[index.row()]
        if isinstance(entry, Heading):
            return entry.name if role in _HEADING_ROLES else None
        if isinstance(entry, Folder):
            return self._said_of_folder(entry, role)
        return self._said_of_chat(entry, role)

    def _said_of_chat(self, summary: ConversationSummary, role: int) -> Any:
        if role == SUMMARY_ROLE:
            return summary
        if role == ID_ROLE:
            return summary.conversation_id
        if role == INDENT_ROLE:
            return self._groups.folder_of(summary) is not None
        if role == Qt.ItemDataRole.EditRole and summary.title:
            return summary.title
        if role in _TITLE_ROLES:
            return title_text(summary)
        return self._words(summary, role) if role in _WORDED_ROLES else None

    def _said_of_folder(self, folder: Folder, role: int) -> Any:
        line = FolderLine(folder, self._n_in[folder.folder_id], self._is_open(folder))
        if role == FOLDER_ROLE:
            return line
        if role == Qt.ItemDataRole.ToolTipRole:
            return folder.instructions or folder.name
        if role == Qt.ItemDataRole.AccessibleTextRole:
            words = self.tr("{}, folder, open, {} chats")
            if not line.is_open:
                words = self.tr("{}, folder, closed, {} chats")
            return words.format(folder.name, line.n_chats)
        return folder.name if role in _TITLE_ROLES else None

    def _words(self, summary: ConversationSummary, role: int) -> str:
        note = self._notes.get(summary.conversation_id, "")
        if role == SUBTITLE_ROLE:
            return second_line(summary, self._now(), note)
        origin = summary.origin
        original = self._by_id.get(origin.conversation_id) if origin is not None else None
        folder = self._groups.folders.get(summary.folder_id)
        return spoken_row(summary, self._now(), note, original, folder)

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Request another title, or another name of a folder."""
        conversation_id = str(index.data(ID_ROLE) or "")
        title = " ".join(str(value).split())
        line = index.data(FOLDER_ROLE)
        if line is not None and not line.is_archive and title and title != line.folder.name:
            self.folder_renamed.emit(line.folder.folder_id, title)
            return True
        if role != Qt.ItemDataRole.EditRole or not conversation_id or not title:
            return False
        if title != self._by_id[conversation_id].title:
            self.rename_requested.emit(conversation_id, title)
        return True

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Return the flags: chats can be selected, renamed and dragged, headings only read."""
        entry = self._entries[index.row()] if index.isValid() else None
        flag = Qt.ItemFlag
        if entry is None or isinstance(entry, Heading):
            return flag.NoItemFlags
        flags = super().flags(index) | flag.ItemIsEditable | flag.ItemIsDropEnabled
        if isinstance(entry, Folder):
            return flags & ~flag.ItemIsEditable if entry.folder_id == ARCHIVE else flags
        return flags | flag.ItemIsDragEnabled

    def mimeTypes(self) -> list[str]:
        """Return the types that can be dropped on the list."""
        return [CHAT_MIME]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:
        """Return the id of the first of these chats, to be dragged."""
        data = QMimeData()
        data.setData(CHAT_MIME, str(indexes[0].data(ID_ROLE)).encode())
        return data

    def canDropMimeData(
        self, data: QMimeData, _action: Qt.DropAction, _row: int, _column: int, _parent: Index
    ) -> bool:
        """Return True for a chat, which can be dropped anywhere: on a folder, or outside of one."""
        return data.hasFormat(CHAT_MIME)

    def supportedDropActions(self) -> Qt.DropAction:
        """Return that chats are moved."""
        return Qt.DropAction.MoveAction

    # ----------------------------------------------------------------------------------- private

    def _today(self) -> datetime.date:
        return datetime.datetime.fromtimestamp(self._now()).astimezone().date()

    def _is_wanted(self, summary: ConversationSummary) -> bool:
        return not self._query.tags or self._query.fits(self._words_on(summary), self._known)

    @property
    def _known(self) -> frozenset[str]:
        """Words that can follow a hash sign, in lower case: tags, and names of folders."""
        names = (clean_tag(folder.name) for folder in self._folders)
        return frozenset(map(str.casefold, (*self._tags, *names)))

    def _words_on(self, summary: ConversationSummary) -> tuple[str, ...]:
        """Return the tags of a chat, with its folder's name as one of them."""
        folder = self._groups.folders.get(summary.folder_id)
        return (*summary.tags, clean_tag(folder.name)) if folder else summary.tags

    def _is_open(self, folder: Folder) -> bool:
        return bool(self._query.tags) or folder.folder_id in self._open

    def _is_seen(self, summary: ConversationSummary) -> bool:
        """Return whether no closed folder hides a chat."""
        folder = self._groups.folder_of(summary)
        return folder is None or self._is_open(folder)

    def _count_tags(self) -> None:
        tags = Counter(tag for s in self._by_id.values() if s.tags for tag in s.tags)
        if tags != self._tags:
            others = tags.keys() != self._tags.keys()
            self._tags = tags
            # The beginning of another tag may have become a whole tag.
            if others and self._query.tags:
                self._arrange()
            self.tags_changed.emit()

    def _arrange(self) -> None:
        """Sort and group everything."""
        today = self._today()
        if self._groups.today != today:
            self._groups = ChatGroups(today, self._folders)
        groups = self._groups
        folders = map(groups.folder_of, self._by_id.values())
        self._n_in = Counter(folder.folder_id for folder in folders if folder is not None)
        wanted = self._wanted() if self._query.tags else self._by_id.values()
        shown: list[Entry] = [summary for summary in wanted if self._is_seen(summary)]
        shown += self._lines(wanted)
        entries: list[Entry] = []
        heading: Heading | None = None
        for entry in sorted(shown, key=groups.key):
            if isinstance(entry, ConversationSummary) and groups.folder_of(entry) is None:
                is_same = heading is not None and heading.is_pinned == entry.pinned
                if heading is None or not is_same or moment(entry) < heading.begin_s:
                    heading = groups.heading(moment(entry), is_pinned=entry.pinned)
                    entries.append(heading)
            entries.append(entry)
        self.apply(entries)

    def _lines(self, wanted: Iterable[ConversationSummary]) -> list[Folder]:
        """Return the folders to show, archive included: those with visible or possible chats."""
        folders = self._groups.folders.values()
        if not self._query.tags:
            return [f for f in folders if f.folder_id != ARCHIVE or self._n_in[ARCHIVE]]
        used = {id(self._groups.folder_of(summary)) for summary in wanted}
        return [folder for folder in folders if id(folder) in used]

    def _wanted(self) -> list[ConversationSummary]:
        known, fits = self._known, self._query.fits
        given = ((summary, self._words_on(summary)) for summary in self._by_id.values())
        return [summary for summary, words in given if words and fits(words, known)]

    def _place(self, row: int, summary: ConversationSummary) -> None:
        """Put a chat into its place, from a row or, if that is -1, from outside."""
        entries, groups = self._entries, self._groups
        heading = groups.heading_of(summary)
        at = bisect_left(entries, groups.key(summary), key=groups.key)
        if at == 0 or groups.heading_of(entries[at - 1]) != heading:
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
        """Remove the heading before this row if its group is empty.

        Folders stay without chats, except in a search.
        """
        entries = self._entries
        goes = (Heading, Folder) if self._query.tags else Heading
        is_end = gap >= len(entries) or not isinstance(entries[gap], ConversationSummary)
        if gap and is_end and isinstance(entries[gap - 1], goes):
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
    """Return the chats whose content changed; None if chats were added, removed or moved."""
    if not old or len(old) != len(new):
        return None
    pairs = [(a, b) for a, b in zip(old, new, strict=True) if a is not b]
    if any(a.conversation_id != b.conversation_id for a, b in pairs):
        return None
    return [b for a, b in pairs if a != b]


def _name(entry: Entry) -> str:
    if isinstance(entry, Heading):
        return f"\0{entry.is_pinned:d}{entry.end_s}"
    return f"\0{entry.folder_id}" if isinstance(entry, Folder) else entry.conversation_id
