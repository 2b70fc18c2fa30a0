"""Which heading a chat stands under: pinned, by day, by week, by month. Pure; any thread.

Headings are rows of the list like the chats, so that all rows have one height and a view of 10,000
need not ask for each. A heading sorts by the moment at which its group ends, and thus finds its
place among the chats by the same key as they do.
"""

from __future__ import annotations

import datetime
import math
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication, QLocale

_LAST_MONTH = 12
_FIRST_DAY = datetime.date(1971, 1, 1)
"""A chat from before then came from a file that names no time, which is kept as 0."""


def _tr(text: str) -> str:
    return QCoreApplication.translate("ChatGroups", text)


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
        is_last = start.month == _LAST_MONTH
        following = datetime.date(
            start.year + (1 if is_last else 0), 1 if is_last else start.month + 1, 1
        )
        name = QLocale().standaloneMonthName(start.month)
        if start.year != self.today.year:
            name = f"{name} {start.year}"
        end_s = min(_midnight(following), self._recent[-1].begin_s)
        return Heading(name, is_pinned=False, end_s=end_s, begin_s=_midnight(start))


def _midnight(day: datetime.date) -> float:
    return datetime.datetime.combine(day, datetime.time.min).astimezone().timestamp()
