"""The groups of a list of chats: pinned ones, folders, days, weeks and months, the archive."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable
from dataclasses import dataclass

from PySide6.QtCore import QLocale

from paceline.conversation import ConversationSummary, Folder
from paceline.gui.kit.translation import translator

ARCHIVE = "\0archive"
"""Id of the archive among the folders; it stands below all chats."""

_FIRST_KNOWN_DAY = datetime.date(1971, 1, 1)
"""Earlier dates mean unknown: imported files without times are stored as 0."""

_tr = translator("ChatGroups")


@dataclass(frozen=True, slots=True)
class Heading:
    """The line above a group.

    Attributes:
        name: Its words.
        is_pinned: Whether it stands above the pinned chats.
        end_s: Upper bound (exclusive) of the chats' times of change, in seconds since the epoch.
        begin_s: Lower bound (inclusive) of these times.
    """

    name: str
    is_pinned: bool
    end_s: float
    begin_s: float


Entry = ConversationSummary | Heading | Folder
Key = tuple[int, str, str, bool, bool, float, bool, str]


class ChatGroups:
    """The groups on one day, and the order of all rows.

    Pinned chats come first, then folders with their chats, then all others, the newest first, and
    the archive last. Within a folder, pinned chats come first.

    Attributes:
        today: The day.
        folders: The folders and the archive, by id.
    """

    def __init__(self, today: datetime.date, folders: Iterable[Folder] = ()) -> None:
        self.today = today
        archive = Folder(ARCHIVE, _tr("Archived"))
        self.folders = {folder.folder_id: folder for folder in (*folders, archive)}
        day = datetime.timedelta(days=1)
        # "This week" means the last seven days: a calendar week would be empty on a Monday.
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
            # In the first days of a month, the week reaches into the previous one.
            if begin_s < end_s:
                self._recent.append(Heading(name, is_pinned=False, end_s=end_s, begin_s=begin_s))
                end_s = begin_s
        self._undated = Heading(
            _tr("Undated"), is_pinned=False, end_s=_midnight(_FIRST_KNOWN_DAY), begin_s=-math.inf
        )

    def heading(self, changed_s: float, *, is_pinned: bool = False) -> Heading:
        """Return the heading of a chat that changed at this moment."""
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

    def folder_of(self, summary: ConversationSummary) -> Folder | None:
        """Return the folder of a chat, or None if it is in none."""
        return self.folders.get(ARCHIVE if summary.archived else summary.folder_id)

    def heading_of(self, entry: Entry) -> Heading | Folder:
        """Return the heading or folder of an entry; of a heading or folder, itself."""
        if not isinstance(entry, ConversationSummary):
            return entry
        return self.folder_of(entry) or self.heading(moment(entry), is_pinned=entry.pinned)

    def key(self, entry: Entry) -> Key:
        """Return the sort key of an entry; chats of equal age are sorted by id.

        A heading sorts after a chat that changed at the very end of its group's time.
        """
        if isinstance(entry, Heading):
            is_other = not entry.is_pinned
            return (2 * is_other, "", "", False, is_other, -entry.end_s, True, "")
        if isinstance(entry, Folder):
            return (*_place(entry), False, False, -math.inf, True, "")
        folder, is_other = self.folder_of(entry), not entry.pinned
        place = _place(folder) if folder is not None else (2 * is_other, "", "")
        name = entry.conversation_id
        return (*place, folder is not None, is_other, -moment(entry), False, name)


def moment(summary: ConversationSummary) -> float:
    """Return the time of a chat's last change, in seconds since the epoch."""
    return summary.changed_s or summary.created_s


def _place(folder: Folder) -> tuple[int, str, str]:
    if folder.folder_id == ARCHIVE:
        return (3, "", "")
    return (1, folder.name.casefold(), folder.folder_id)


def _midnight(day: datetime.date) -> float:
    return datetime.datetime.combine(day, datetime.time.min).astimezone().timestamp()
