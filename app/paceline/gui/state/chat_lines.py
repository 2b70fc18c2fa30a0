"""Words about a chat: its title, its date, and whether it is kept. Pure functions, Qt's locale."""

from __future__ import annotations

import datetime

from PySide6.QtCore import QLocale, QTime

from paceline.conversation import Conversation, ConversationSummary, Folder, Origin
from paceline.gui.kit.translation import translator
from paceline.names import visible

_NOW_S = 60
_WEEK_DAYS = 7
_SEPARATOR = " · "

_tr = translator("ChatLines")


def title_text(chat: Conversation | ConversationSummary) -> str:
    """Return the title, or the words for a chat without one."""
    return visible(chat.title) or (_tr("Private chat") if chat.private else _tr("New chat"))


def when_text(changed_s: float, now_s: float) -> str:
    """Return the time of the last change in short words, or empty if it is not known (0)."""
    if not changed_s:
        return ""
    if abs(now_s - changed_s) < _NOW_S:
        return _tr("now")
    locale = QLocale()
    then = datetime.datetime.fromtimestamp(changed_s).astimezone()
    today = datetime.datetime.fromtimestamp(now_s).astimezone().date()
    age = (today - then.date()).days
    if age <= 0:
        return locale.toString(QTime(then.hour, then.minute), QLocale.FormatType.ShortFormat)
    if age == 1:
        return _tr("yesterday")
    if age < _WEEK_DAYS:
        return locale.standaloneDayName(then.isoweekday(), QLocale.FormatType.ShortFormat)
    month = locale.monthName(then.month, QLocale.FormatType.ShortFormat)
    if then.year == today.year:
        return _tr("{day} {month}").format(day=then.day, month=month)
    return _tr("{day} {month} {year}").format(day=then.day, month=month, year=then.year)


def origin_text(origin: Origin, original: ConversationSummary | None) -> str:
    """Name the program or chat that a chat comes from; `original` is None if that chat is gone."""
    if origin.program:
        return _tr("Imported from {}").format(origin.program)
    if original is None:
        return _tr("Branch of a chat that was deleted")
    return _tr("Branch of “{}”").format(title_text(original))


def second_line(summary: ConversationSummary, now_s: float, note: str = "") -> str:
    """Return the line below the title.

    Args:
        summary: The chat.
        now_s: Seconds since the epoch.
        note: Words about what is happening in it.
    """
    kept = _tr("not stored") if summary.private else ""
    origin, branch = summary.origin, ""
    if origin is not None:
        branch = _tr("from {}").format(origin.program) if origin.program else _tr("branch")
    when = when_text(summary.changed_s, now_s)
    return _SEPARATOR.join(filter(None, (when, branch, kept, note)))


def spoken_row(
    summary: ConversationSummary,
    now_s: float,
    note: str = "",
    original: ConversationSummary | None = None,
    folder: Folder | None = None,
) -> str:
    """Return a whole row in words, for screen readers.

    Args:
        summary: The chat.
        now_s: Seconds since the epoch.
        note: Words about what is happening in it.
        original: The chat that it is a branch of.
        folder: The folder that it is in.
    """
    parts = [
        title_text(summary),
        _tr("in the folder {}").format(visible(folder.name)) if folder is not None else "",
        _tr("archived") if summary.archived else "",
        _tr("pinned") if summary.pinned else "",
        second_line(summary, now_s, note).replace(_SEPARATOR, ", "),
        origin_text(summary.origin, original) if summary.origin is not None else "",
    ]
    if summary.tags:
        parts.append(_tr("tags: {}").format(", ".join(map(visible, summary.tags))))
    return ", ".join(filter(None, parts))
