"""The last requests of other programs as texts in columns."""

from __future__ import annotations

import time
from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QObject
from PySide6.QtGui import QColor

from paceline.gui.kit.figures_table import FiguresModel
from paceline.gui.kit.rows import Index
from paceline.gui.kit.sentences import said
from paceline.gui.kit.translation import local
from paceline.gui.look.current import look
from paceline.gui.state.figures import gain_of, seconds_text, speed_text
from paceline.server.journal import Entry

TIME, PROGRAM, ROUTE, READ, REUSED, FIRST, WRITTEN, SPEED, GAIN, END = range(10)
GIVING_WAY = (FIRST, ROUTE, REUSED, TIME, WRITTEN)
"""Columns that are hidden where space is short, the first one first."""
_AT_LEFT = (TIME, PROGRAM, ROUTE, END)


class RequestRows(FiguresModel):
    """Table of requests, the newest first.

    Attributes:
        entries: The requests.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(END + 1, _AT_LEFT, parent)
        self.entries: tuple[Entry, ...] = ()

    def set_entries(self, entries: Sequence[Entry]) -> None:
        """Replace the requests; those that stay keep their rows, and so the selection."""
        while self.entries and self.entries[-1] not in entries:
            last = len(self.entries) - 1
            self.beginRemoveRows(QModelIndex(), last, last)
            self.entries = self.entries[:-1]
            self.endRemoveRows()
        n_new = len(entries) - len(self.entries)
        if self.entries and tuple(entries[n_new:]) != self.entries:  # they ended in another order
            self.beginResetModel()
            self.entries = tuple(entries)
            self.endResetModel()
            return
        if n_new > 0:
            self.beginInsertRows(QModelIndex(), 0, n_new - 1)
            self.entries = tuple(entries)
            self.endInsertRows()
        if self.entries:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.entries) - 1, END))

    def rowCount(self, parent: Index | None = None) -> int:
        """Return one row per request."""
        return 0 if parent is not None and parent.isValid() else len(self.entries)

    def titles(self) -> tuple[str, ...]:
        """Return the names of the columns."""
        return (
            self.tr("Time"), self.tr("Program"), self.tr("Asked"), self.tr("Read"),
            self.tr("Reused"), self.tr("First token"), self.tr("Written"), self.tr("Tokens/s"),
            self.tr("Gain"), self.tr("End"),
        )  # fmt: skip

    def explanations(self) -> tuple[str, ...]:
        """Return a sentence about each column."""
        return (
            self.tr("When it was handed to the engine"),
            "",
            self.tr("The route, below the server's address"),
            self.tr("Tokens of the prompt that were read anew"),
            self.tr("Tokens of the prompt that needed no reading"),
            self.tr("Seconds up to the first token"),
            self.tr("Tokens of the reply"),
            self.tr("Tokens of the reply by the time after the prompt"),
            self.tr("How many times as fast as the model alone"),
            "",
        )

    def text(self, row: int, column: int) -> str:
        """Return a figure of a request, or a word about it."""
        entry = self.entries[row]
        reply, caller = entry.reply, entry.caller
        if column == TIME:
            return time.strftime("%H:%M:%S", time.localtime(reply.started_s))
        if column == PROGRAM:
            return caller.short
        if column == ROUTE:
            return caller.route.removeprefix("/v1/").removeprefix("/")
        if column == END:
            return self._ending(entry)
        if column == FIRST:
            return "" if reply.first_token_s is None else f"{seconds_text(reply.first_token_s)} s"
        stats = reply.stats if reply.has_ended else None
        if stats is None:
            return ""
        return {
            READ: f"{local(stats.n_prompt - stats.n_reused):,}",
            REUSED: f"{local(stats.n_reused):,}",
            WRITTEN: f"{local(stats.n_generated):,}",
            SPEED: speed_text(stats.tokens_per_s) if stats.n_steps else "",
            GAIN: gain_of(stats).text,
        }[column]

    def _ending(self, entry: Entry) -> str:
        reply = entry.reply
        if not reply.has_ended:
            return self.tr("is being answered")
        if reply.error is not None:
            codes = {"hung-up": self.tr("hung up"), "queue_full": self.tr("queue was full")}
            return codes.get(reply.error.code, self.tr("failed"))
        return {
            "eog": self.tr("complete"),
            "stop": self.tr("stop text"),
            "length": self.tr("limit"),
            "context": self.tr("context full"),
            "cancelled": self.tr("stopped"),
        }[reply.reason or "eog"]

    def hint(self, row: int, column: int) -> str:
        """Return the program's whole name, or why a request failed."""
        entry = self.entries[row]
        if column == PROGRAM:
            return entry.caller.name
        error = entry.reply.error
        return said(error.message, error.hint) if column == END and error is not None else ""

    def colour(self, row: int, column: int) -> QColor | None:
        """Return the colour of a gain, an end, or a less important text."""
        theme, reply = look.theme, self.entries[row].reply
        if column == GAIN and reply.stats is not None:
            tones = {"gain": theme.accent, "even": theme.muted, "loss": theme.danger}
            return QColor(tones[gain_of(reply.stats).tone])
        if column == END and not reply.has_ended:
            return QColor(theme.lookup)
        if column == END and reply.error is not None:
            return QColor(theme.danger)
        return QColor(theme.muted) if column in (TIME, ROUTE, REUSED, FIRST) else None
