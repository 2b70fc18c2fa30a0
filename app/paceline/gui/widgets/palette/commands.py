"""What the palette offers: a command with its name, and who knows commands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from paceline.gui.widgets.palette.matching import Match, Query

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

MAX_ROWS = 60
"""More than anybody looks through; typing on is quicker."""
_MAX_RECENT = 6
_RECENT_BONUS = 3.0

CommandKey = tuple[str, str]
"""A command's group and title, in the language of the window."""


@dataclass(frozen=True, slots=True)
class PaletteCommand:
    """Something that can be done.

    Attributes:
        title: What the row says.
        group: Where it is found otherwise, e.g. "View › Theme".
        keys: Its shortcut in words; empty: none.
        run: Does it.
        obstacle: Why it cannot be done now, in words; None: it can.
        is_on: Whether it is ticked; None: it is nothing to tick.
    """

    title: str
    group: str
    keys: str
    run: Callable[[], object]
    obstacle: str | None = None
    is_on: bool | None = None

    @property
    def key(self) -> CommandKey:
        """What it is remembered by."""
        return self.group, self.title


class CommandSource(Protocol):
    """Who knows commands."""

    def commands(self) -> Sequence[PaletteCommand]:
        """Everything there is now, the most wanted first."""


class SearchedSource(Protocol):
    """Who knows too many to list them."""

    def find(self, query: Query, limit: int) -> Sequence[PaletteCommand]:
        """Return at most this many that may match; with an empty query the most wanted."""


@dataclass(frozen=True, slots=True)
class Row:
    """A command as it is shown, with the letters that were found."""

    command: PaletteCommand
    match: Match


class CommandIndex:
    """All commands of all sources, as they were when the palette was opened."""

    def __init__(
        self,
        sources: Iterable[CommandSource],
        searched: Iterable[SearchedSource] = (),
        recent: Iterable[CommandKey] = (),
    ) -> None:
        """Ask nobody yet.

        Args:
            sources: Who is asked for everything.
            searched: Who is asked with each query.
            recent: What was used last, the newest first.
        """
        self._sources = tuple(sources)
        self._searched = tuple(searched)
        self._commands: list[PaletteCommand] = []
        self._recent = list(recent)[:_MAX_RECENT]
        self._lasting = set(self._recent)

    @property
    def recent(self) -> tuple[CommandKey, ...]:
        """What was used last and may be kept: chats have titles that may be private."""
        return tuple(key for key in self._recent if key in self._lasting)

    def refresh(self) -> None:
        """Ask the sources again."""
        self._commands = [command for source in self._sources for command in source.commands()]

    def note_used(self, command: PaletteCommand) -> None:
        """Remember that it was used."""
        if command in self._commands:
            self._lasting.add(command.key)
        if command.key in self._recent:
            self._recent.remove(command.key)
        self._recent.insert(0, command.key)
        del self._recent[_MAX_RECENT:]

    def rows(self, text: str) -> list[Row]:
        """Return what a query finds, the best first; an empty one shows what was used last."""
        query = Query(text)
        commands = [*self._commands]
        for source in self._searched:
            commands += source.find(query, MAX_ROWS)
        rank = {key: at for at, key in enumerate(self._recent)}
        if not query.letters:
            used = sorted((c for c in commands if c.key in rank), key=lambda c: rank[c.key])
            others = [c for c in commands if c.key not in rank]
            return [Row(command, Match(0.0, ())) for command in (*used, *others)]
        found = []
        for command in commands:
            match = query.match(command.title)
            if match is not None:
                found.append(Row(command, match))
        found.sort(key=lambda row: -_value(row, rank))
        return found[:MAX_ROWS]


def _value(row: Row, rank: dict[CommandKey, int]) -> float:
    bonus = _RECENT_BONUS if row.command.key in rank else 0.0
    return row.match.score + bonus - (2.0 if row.command.obstacle is not None else 0.0)
