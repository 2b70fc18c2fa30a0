"""Full-text search over titles and messages.

An FTS5 index without positions and without a copy of the texts (``detail=none``, ``content=''``).
Titles have negative row numbers, messages positive ones; beginnings of one to four letters have
lists of their own. A common word would take long to rank, so hits are taken from the newest
backwards until there are enough, and only those are sorted: titles first, then messages that have
more of the words whole, then the newer ones. FTS5 is a part of the SQLite that comes with CPython.

The index gets texts that are folded here (no case, no accents, the places of the original), so that
hits can be marked by the same rules; FTS5's own tokenizer folds Latin letters only. Scripts that
are written without spaces are looked up by single characters; there the words of a search must be
in the text as they were typed.
"""

from __future__ import annotations

import math
import re
import sqlite3
import time
import unicodedata
import zlib
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from paceline.conversation import Attachment, Message, SearchHit
from paceline.storage.problems import DamageError
from paceline.storage.tables import read_as, read_attachments

_MAX_SEARCH_S, _MIN_ROWS_SEARCHED = 0.03, 100
_SNIPPET_CHARS, _BEFORE_CHARS = 160, 40
_SLICE_CHARS, _RANKED_CHARS = 20_000, 2_000
_MAX_WORDS = 16
_MERGED_PAGES = 200
_SEGMENTS = 10  # the list of them, in `words_data` (FTS5_STRUCTURE_ROWID)


class FoundRows(NamedTuple):
    """Queries for ids, text and files, newest first: of those in the index, and of all."""

    indexed: str
    unindexed: str


_SEARCHED = "NOT c.is_removed AND ifnull(c.archived, 0) = ?"
_TITLE = (
    f"SELECT {read_as('conversations', ['id'], 'c')}, '',"
    f" {read_as('conversations', ['title'], 'c')}, NULL FROM"
)
TITLES = FoundRows(
    f"{_TITLE} words w JOIN conversations c ON c.key = -w.rowid"
    f" WHERE w.words MATCH ? AND w.rowid < 0 AND {_SEARCHED} AND c.instructions IS NULL"
    " ORDER BY w.rowid",
    f"{_TITLE} conversations c WHERE {_SEARCHED} AND c.instructions IS NULL ORDER BY c.key DESC",
)
_MESSAGE = (
    f"SELECT {read_as('conversations', ['id'], 'c')},"
    f" {read_as('messages', ('id', 'content', 'attachments'), 'm')} FROM"
)
MESSAGES = FoundRows(
    f"{_MESSAGE} words w"
    " JOIN messages m ON m.key = w.rowid JOIN conversations c ON c.key = m.conversation"
    f" WHERE w.words MATCH ? AND w.rowid > 0 AND {_SEARCHED} ORDER BY w.rowid DESC",
    f"{_MESSAGE} messages m JOIN conversations c ON c.key = m.conversation"
    f" WHERE {_SEARCHED} ORDER BY m.key DESC",
)


class Unindexed(sqlite3.Connection):
    """A database in memory, which is small: searches read all its texts.

    An index would take most of the time of a write, and keep deleted words.
    """


def check_index(connection: sqlite3.Connection) -> None:
    """Read all of the index, which is in order within itself.

    Raises:
        DamageError: See `check_seal`.
        sqlite3.Error: It is not, or another program writes now.
    """
    check_seal(connection)
    connection.execute("INSERT INTO words (words) VALUES ('integrity-check')")


def seal_index(connection: sqlite3.Connection) -> None:
    """Note the checksum of the index, within the caller's transaction; 1 ms for each MiB of it.

    Half of the bytes that may be wrong in it leave it in order, but hide a message from searches.
    Whatever changes it from now on takes the note away.
    """
    noted, found = _seal(connection)
    if _is_broken(noted, found):
        connection.execute("INSERT OR REPLACE INTO facts VALUES ('index', ?)", (found,))


def check_seal(connection: sqlite3.Connection) -> None:
    """Compare the index with its checksum, if there is one.

    Raises:
        DamageError: They differ.
    """
    noted, found = _seal(connection)
    if noted != found and not _is_broken(noted, found):
        raise DamageError("the search index is not as it was left")


def _seal(connection: sqlite3.Connection) -> tuple[object, int]:
    """Return the noted checksum, or None, and that of the index, both at one moment.

    The lower 31 bits are of the list of segments alone, which every write of the index changes.
    """
    noted: object = None
    whole = segments = 0
    blocks = (
        "SELECT id, CAST(ifnull(block, '') AS BLOB), (SELECT value FROM facts WHERE name = 'index')"
        " FROM words_data ORDER BY id"
    )
    for key, block, value in connection.execute(blocks):
        noted, whole = value, zlib.crc32(block, whole)
        if key == _SEGMENTS:
            segments = zlib.crc32(block)
    return noted, whole << 31 | segments >> 1


def _is_broken(noted: object, found: int) -> bool:
    """Return whether no checksum is noted, or it differs from the index's."""
    return noted is None or (isinstance(noted, int) and bool((noted ^ found) & 0x7FFFFFFF))


def _break_seal(connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM facts WHERE name = 'index'")


def text_of(message: Message) -> str:
    """Return the part of a message that is searched: its text and the names of its files."""
    return with_names(message.text, message.attachments)


def with_names(content: str, attachments: tuple[Attachment, ...]) -> str:
    """A message's text, with the names of its files below."""
    return "\n".join([content, *(file.name for file in attachments)]) if attachments else content


def index(connection: sqlite3.Connection, row: int, old: str, new: str) -> None:
    """Update the index for a text that changed.

    Args:
        connection: Within a transaction.
        row: The message's key, or the negative key of a conversation for its title.
        old: Exactly the text that was indexed; empty if none was.
        new: The text to index; empty for none.
    """
    if old == new or isinstance(connection, Unindexed):
        return
    _break_seal(connection)
    if old:
        connection.execute(
            "INSERT INTO words (words, rowid, text) VALUES ('delete', ?, ?)", (row, indexed(old))
        )
    if new:
        connection.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", (row, indexed(new)))


def set_forgetful(connection: sqlite3.Connection, *, wanted: bool) -> None:
    """Note whether deleted words are still in the index's older parts; see `forget_some`."""
    connection.execute("INSERT OR REPLACE INTO facts VALUES ('forgets', ?)", (int(wanted),))


def is_forgetful(connection: sqlite3.Connection) -> bool:
    """Return whether `forget_some` has something to do."""
    row = connection.execute("SELECT value FROM facts WHERE name = 'forgets'").fetchone()
    return bool(row and row[0])


def forget_some(connection: sqlite3.Connection) -> bool:
    """Rewrite some pages of the index to purge deleted words; return False when none are left.

    FTS5 keeps deleted words until the parts that hold them are merged. That takes seconds for a
    large index, so it is done in slices, each within the caller's transaction.
    """
    _break_seal(connection)
    before = connection.total_changes
    connection.execute("INSERT INTO words (words, rank) VALUES ('merge', ?)", (-_MERGED_PAGES,))
    if connection.total_changes - before >= 2:  # the form that SQLite's documentation gives
        return True
    set_forgetful(connection, wanted=False)
    return False


@dataclass(frozen=True, slots=True)
class Query:
    """The words of a search."""

    words: tuple[str, ...]
    pattern: re.Pattern[str]
    wholes: tuple[re.Pattern[str], ...]

    @classmethod
    def of(cls, text: str) -> Query | None:
        """Return the query of typed text, or None if it has no word."""
        words = words_of(text[:1000])[:_MAX_WORDS]
        if not words:
            return None
        patterns = sorted(map(_pattern, words), key=len, reverse=True)  # a longer word first
        wholes = (re.compile(f"{pattern}(?![^\\W_])") for pattern in patterns)
        return cls(words, re.compile("|".join(patterns)), tuple(wholes))

    @property
    def match(self) -> str:
        """The query in FTS5's language; every term in quotes, which no word can contain."""
        return " ".join(f'"{term}"*' for word in self.words for term in terms_of(word))

    def fits(self, text: str) -> bool:
        """Return whether a text has all words."""
        text = folded(text)
        return all(re.search(_pattern(word), text) for word in self.words)

    def is_certain(self, text: str) -> bool:
        """Return whether a found text has all words, which the index knows by characters only."""
        return all(len(terms_of(word)) == 1 for word in self.words) or self.fits(text)

    def n_whole(self, text: str) -> int:
        """Return how many of the words stand as whole words at the beginning of a text."""
        beginning = folded(text[:_RANKED_CHARS])
        return sum(bool(whole.search(beginning)) for whole in self.wholes)

    def hit(self, found: Found) -> SearchHit:
        """Return a snippet around the first word, with all words marked."""
        text = found.text
        at = self._first(text)
        start = max(at - _BEFORE_CHARS, 0)
        if start:
            space = text.find(" ", start, at)
            start = space + 1 if space >= 0 else start
        end = min(start + _SNIPPET_CHARS, len(text))
        snippet = " ".join(text[start:end].split())
        snippet = ("…" if start else "") + snippet + ("…" if end < len(text) else "")
        marks = tuple(match.span() for match in self.pattern.finditer(folded(snippet)))
        return SearchHit(found.conversation_id, found.message_id, snippet, marks)

    def _first(self, text: str) -> int:
        for start in range(0, len(text), _SLICE_CHARS):
            begin = max(start - _SNIPPET_CHARS, 0)  # a word may cross the border
            match = self.pattern.search(folded(text[begin : start + _SLICE_CHARS]))
            if match:
                return begin + match.start()
        return 0


class Found(NamedTuple):
    """A title or message that has all words, and how many of them are whole words there."""

    n_whole: int
    conversation_id: str
    message_id: str
    text: str


def find(
    connection: sqlite3.Connection,
    query: Query,
    where: FoundRows,
    limit: int,
    hidden: Collection[str],
    *,
    archived: bool,
) -> list[Found]:
    """Return the newest titles or messages that have all words, except of hidden conversations.

    Args:
        connection: One source; see `reading`.
        query: The words.
        where: Titles or messages.
        limit: Upper bound of the results.
        hidden: Conversations that another source has.
        archived: Those of archived conversations alone, or of the others.
    """
    if isinstance(connection, Unindexed):
        rows, fits, until = connection.execute(where.unindexed, (archived,)), query.fits, math.inf
    else:
        rows, fits = connection.execute(where.indexed, (query.match, archived)), query.is_certain
        until = time.monotonic() + _MAX_SEARCH_S
    found = []
    for n, (conversation_id, message_id, content, files) in enumerate(rows):
        if conversation_id not in hidden:
            text = with_names(content, read_attachments(files))
            if fits(text):
                found.append(Found(query.n_whole(text), conversation_id, message_id, text))
        # A busy machine may take all the time for itself; a few rows are looked at all the same,
        # and all titles, which are short.
        if len(found) >= limit or (
            message_id and n >= _MIN_ROWS_SEARCHED and time.monotonic() > until
        ):
            break
    return found


_USUAL = frozenset(".,;:!?'\"()-–—…“”„‘’«»‹›。，、；：？！「」『』（）")
"""Punctuation that people do not expect to be searched."""


def passes_over(text: str) -> bool:
    """Return whether a search for this text leaves out signs or emoji, which are not indexed."""
    return any(unicodedata.category(char)[0] in "PS" for char in text if char not in _USUAL)


_UNSPACED = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff"  # Burmese, Khmer
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"  # kana, Han
)
_MARKS = "\u0300-\u036f"


class _Folds(dict[int, str]):
    """Maps each character to one without case and accent, so that places stay the same."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        parts = unicodedata.normalize("NFD", char)
        is_accented = all("\u0300" <= mark <= "\u036f" for mark in parts[1:])  # not kana, Hangul
        small = (parts[0] if is_accented else char).lower()
        found = self[code] = small if len(small) == 1 else char
        return found


_FOLDS = _Folds()


@cache
def _unspaced() -> re.Pattern[str]:
    return re.compile(f"[{_UNSPACED}]")


def folded(text: str) -> str:
    """The text without case and accents, as long as before."""
    return text.lower() if text.isascii() else text.translate(_FOLDS)


def indexed(text: str) -> str:
    """Return the text in the form that is indexed."""
    return text if text.isascii() else _unspaced().sub(r" \g<0> ", folded(text))


def words_of(text: str) -> tuple[str, ...]:
    """The words of a search, folded, in order and without duplicates."""
    plain = re.sub(f"[{_MARKS}]", "", folded(text))
    runs = re.findall(r"[^\W_]+", plain)
    parts = [part for run in runs for part in _split(run)]
    return tuple(dict.fromkeys(parts))


def _split(run: str) -> list[str]:
    """Split text that is written with spaces from text that is not."""
    return [p for p in re.split(f"([{_UNSPACED}]+)", run) if p] if not run.isascii() else [run]


def terms_of(word: str) -> list[str]:
    """Return the index's terms for a word of a search: itself, or its characters."""
    return list(word) if _unspaced().match(word) else [word]


def _pattern(word: str) -> str:
    """Return a pattern for words in a folded text that begin like this one."""
    spelled = f"[{_MARKS}]*".join(map(re.escape, word))
    return spelled if _unspaced().match(word) else f"(?<![^\\W_]){spelled}"
