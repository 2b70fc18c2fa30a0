"""Commands of the palette and their search.

The letters of a query must stand in a title in their order. Letters at the beginnings of words and
consecutive letters score most, as in the finders of editors; the best places are found by trying
each place of a letter once (dynamic programming). Everything but the sources is a pure function.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

_BEGINS_WORD, _IN_A_ROW, _FIRST, _PLAIN, _GAP = 8, 8, 2, 1, -3
_MAX_QUERY_CHARS = 64
_MAX_TITLE_CHARS = 200
"""Rows never show more of a title, and matching time grows with it."""


@dataclass(frozen=True, slots=True)
class Match:
    """Result of matching a title.

    Attributes:
        score: Higher is better; comparable only within one query.
        places: Indices of the matched letters in the title, ascending.
    """

    score: float
    places: tuple[int, ...]


class CommandQuery:
    """Search text, prepared for many titles."""

    def __init__(self, text: str) -> None:
        self.letters = "".join(text.casefold().split())[:_MAX_QUERY_CHARS]
        # Each part skips other letters and never gives anything back (possessive): one pass,
        # whatever the title is.
        pattern = "".join(f"[^{re.escape(c)}]*+{re.escape(c)}" for c in self.letters)
        self._accepts = re.compile(pattern, re.DOTALL).match

    def may_match(self, title: str) -> bool:
        """Return whether `match` would find anything; much cheaper.

        Args:
            title: The title in small letters (`str.casefold`).
        """
        return self._accepts(title) is not None

    def match(self, title: str) -> Match | None:
        """Match a title; None where a letter is missing. An empty query matches all."""
        if not self.letters:
            return Match(0.0, ())
        title = title[:_MAX_TITLE_CHARS]
        # Letter by letter: casefold may lengthen a text, and then places would shift.
        folded = "".join(c.casefold() if len(c.casefold()) == 1 else c for c in title)
        if not self.may_match(folded):
            return None
        best = _best_places(self.letters, folded, title)
        if best is None:
            return None
        score, places = best
        # Of two titles with equal matches, the shorter one wins.
        return Match(score - len(title) / 100, places)


def _best_places(letters: str, folded: str, title: str) -> tuple[float, tuple[int, ...]] | None:
    """Return the best score and its places."""
    worth = [_worth(title, at) for at in range(len(title))]
    # row[at]: the best score with the newest letter at this place; came_from: the place before.
    row: dict[int, float] = {at: worth[at] for at, c in enumerate(folded) if c == letters[0]}
    steps: list[dict[int, int]] = []
    for letter in letters[1:]:
        newer: dict[int, float] = {}
        came_from: dict[int, int] = {}
        best_at, best = -1, float("-inf")
        older = sorted(row)
        passed = 0
        for at, c in enumerate(folded):
            while passed < len(older) and older[passed] < at:
                if row[older[passed]] > best:
                    best_at, best = older[passed], row[older[passed]]
                passed += 1
            if c != letter or best_at < 0:
                continue
            newer[at], came_from[at] = best + worth[at] + _GAP, best_at
            joined = row.get(at - 1)
            if joined is not None and joined + _IN_A_ROW + _PLAIN > newer[at]:
                newer[at], came_from[at] = joined + max(_IN_A_ROW + _PLAIN, worth[at]), at - 1
        row = newer
        steps.append(came_from)
        if not row:
            return None
    if not row:
        return None
    at = max(row, key=lambda place: (row[place], -place))
    score, places = row[at], [at]
    for came_from in reversed(steps):
        at = came_from[at]
        places.append(at)
    return score, tuple(reversed(places))


def _worth(title: str, at: int) -> float:
    """Return the score of a letter at this place alone."""
    if at == 0:
        return _PLAIN + _BEGINS_WORD + _FIRST
    before, letter = title[at - 1], title[at]
    begins = (not before.isalnum() and letter.isalnum()) or (before.islower() and letter.isupper())
    return _PLAIN + (_BEGINS_WORD if begins else 0)


MAX_ROWS = 60
"""More rows than anyone reads; typing on is quicker."""
_MAX_RECENT = 6
_RECENT_BONUS = 3.0

CommandKey = tuple[str, str]
"""A command's group and title, in the language of the window."""


@dataclass(frozen=True, slots=True)
class PaletteCommand:
    """A command of the palette.

    Attributes:
        title: The text of the row.
        group: Its place in menus, e.g. "View › Theme".
        keys: Its shortcut in words, or empty.
        run: Carries it out.
        obstacle: Why it cannot be done now, in words, or None if it can.
        is_on: Whether it is ticked, or None without a tick.
    """

    title: str
    group: str
    keys: str
    run: Callable[[], object]
    obstacle: str | None = None
    is_on: bool | None = None

    @property
    def key(self) -> CommandKey:
        """Key under which its use is remembered."""
        return self.group, self.title


class CommandSource(Protocol):
    """Source that can list its commands."""

    def commands(self) -> Sequence[PaletteCommand]:
        """Return all present commands, the most wanted first."""


class SearchedSource(Protocol):
    """Source with too many commands to list them."""

    def find(self, query: CommandQuery, limit: int) -> Sequence[PaletteCommand]:
        """Return at most `limit` commands that may match, the most wanted for an empty query."""


@dataclass(frozen=True, slots=True)
class FoundCommand:
    """A command for display, with the letters that matched."""

    command: PaletteCommand
    match: Match


class CommandIndex:
    """All commands of all sources, which are read anew for every query."""

    def __init__(
        self,
        sources: Iterable[CommandSource],
        searched: Iterable[SearchedSource] = (),
        recent: Iterable[CommandKey] = (),
    ) -> None:
        """Keep the sources; they are not read yet.

        Args:
            sources: Sources that list all their commands.
            searched: Sources that are searched with each query.
            recent: Recently used commands, the newest first.
        """
        self._sources = tuple(sources)
        self._searched = tuple(searched)
        self._commands: list[PaletteCommand] = []
        self._recent = list(recent)[:_MAX_RECENT]
        self._lasting = set(self._recent)

    @property
    def recent(self) -> tuple[CommandKey, ...]:
        """Recently used commands that may be stored: titles of chats may be private."""
        return tuple(key for key in self._recent if key in self._lasting)

    def note_used(self, command: PaletteCommand) -> None:
        """Remember that a command was used."""
        if command in self._commands:
            self._lasting.add(command.key)
        if command.key in self._recent:
            self._recent.remove(command.key)
        self._recent.insert(0, command.key)
        del self._recent[_MAX_RECENT:]

    def rows(self, text: str) -> list[FoundCommand]:
        """Return the commands that a text finds, best first, or recent ones for an empty text."""
        query = CommandQuery(text)
        self._commands = [command for source in self._sources for command in source.commands()]
        commands = [*self._commands]
        for source in self._searched:
            commands += source.find(query, MAX_ROWS)
        rank = {key: at for at, key in enumerate(self._recent)}
        if not query.letters:
            used = sorted((c for c in commands if c.key in rank), key=lambda c: rank[c.key])
            others = [c for c in commands if c.key not in rank]
            return [FoundCommand(command, Match(0.0, ())) for command in (*used, *others)]
        found = []
        for command in commands:
            match = query.match(command.title)
            if match is not None:
                found.append(FoundCommand(command, match))
        found.sort(key=lambda row: -_value(row, rank))
        return found[:MAX_ROWS]


def _value(row: FoundCommand, rank: dict[CommandKey, int]) -> float:
    bonus = _RECENT_BONUS if row.command.key in rank else 0.0
    return row.match.score + bonus - (2.0 if row.command.obstacle is not None else 0.0)
