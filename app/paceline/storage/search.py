"""Full-text search over titles and messages.

An FTS5 index without positions and without a copy of the texts (``detail=none``, ``content=''``).
Titles have negative row numbers, messages positive ones; beginnings of one to four letters have
lists of their own. A word that everybody uses would take long to rank, so hits are taken from the
newest backwards until there are enough, and only those are put in order: titles first, then
messages that have more of the words whole, then the newer ones. FTS5 is a part of the SQLite that
comes with CPython.
"""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from paceline.conversation import Attachment, Message, SearchHit
from paceline.storage.conversations import read_attachments
from paceline.storage.folding import (
    folded,
    has_all,
    indexed,
    pattern_of,
    terms_of,
    whole_pattern,
    words_of,
)

_LONGEST_S = 0.03
_SNIPPET, _BEFORE = 160, 40
_SLICE, _RANKED = 20_000, 2_000
_MOST_WORDS = 16
_MERGED_PAGES = 200


def create_index(connection: sqlite3.Connection) -> None:
    """Make an empty index."""
    connection.execute(
        "CREATE VIRTUAL TABLE words USING fts5 (text, content='', detail=none, columnsize=0,"
        " prefix='1 2 3 4', tokenize='unicode61 remove_diacritics 2')"
    )


def text_of(message: Message) -> str:
    """What is searched of a message: its text and the names of its files."""
    return with_names(message.content, message.attachments)


def with_names(content: str, attachments: tuple[Attachment, ...]) -> str:
    """A message's text, with the names of its files below."""
    return "\n".join([content, *(file.name for file in attachments)]) if attachments else content


def index(connection: sqlite3.Connection, row: int, old: str, new: str) -> None:
    """Bring the index in line with a text that changed.

    Args:
        connection: Within a transaction.
        row: The message's key, or the negative key of a conversation for its title.
        old: What was indexed; it must be exactly that. Empty: nothing was.
        new: What is to be found from now on; empty: nothing.
    """
    if old == new:
        return
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
    """Whether `forget_some` has something to do."""
    row = connection.execute("SELECT value FROM facts WHERE name = 'forgets'").fetchone()
    return bool(row and row[0])


def forget_some(connection: sqlite3.Connection) -> bool:
    """Rewrite some pages of the index, so that deleted words leave it; False: all have.

    FTS5 keeps deleted words until the parts that hold them are merged. That takes seconds for a
    large index, so it is done in slices, each within the caller's transaction.
    """
    before = connection.total_changes
    connection.execute("INSERT INTO words (words, rank) VALUES ('merge', ?)", (-_MERGED_PAGES,))
    if connection.total_changes - before >= 2:  # as SQLite's documentation says it
        return True
    set_forgetful(connection, wanted=False)
    return False


@dataclass(frozen=True, slots=True)
class Query:
    """What somebody looks for."""

    words: tuple[str, ...]
    pattern: re.Pattern[str]
    wholes: tuple[re.Pattern[str], ...]

    @classmethod
    def of(cls, text: str) -> Query | None:
        """Understand what was typed; None: there is no word in it."""
        words = words_of(text[:1000])[:_MOST_WORDS]
        if not words:
            return None
        return cls(words, pattern_of(words), tuple(map(whole_pattern, words)))

    @property
    def match(self) -> str:
        """The query in FTS5's language; every term in quotes, which no word can contain."""
        return " ".join(f'"{term}"*' for word in self.words for term in terms_of(word))

    def fits(self, text: str) -> bool:
        """Whether a text has all words."""
        return has_all(folded(text), self.words)

    def is_certain(self, text: str) -> bool:
        """Whether a text that the index found has all words, which it knows by characters only."""
        return all(len(terms_of(word)) == 1 for word in self.words) or self.fits(text)

    def n_whole(self, text: str) -> int:
        """How many of the words stand as whole words at the beginning of a text."""
        beginning = folded(text[:_RANKED])
        return sum(bool(whole.search(beginning)) for whole in self.wholes)

    def hit(self, conversation_id: str, message_id: str, text: str) -> SearchHit:
        """Cut out what surrounds the first word, and mark all words in it."""
        at = self._first(text)
        start = max(at - _BEFORE, 0)
        if start:
            space = text.find(" ", start, at)
            start = space + 1 if space >= 0 else start
        end = min(start + _SNIPPET, len(text))
        snippet = " ".join(text[start:end].split())
        snippet = ("…" if start else "") + snippet + ("…" if end < len(text) else "")
        marks = tuple(match.span() for match in self.pattern.finditer(folded(snippet)))
        return SearchHit(conversation_id, message_id, snippet, marks)

    def _first(self, text: str) -> int:
        for start in range(0, len(text), _SLICE):
            begin = max(start - _SNIPPET, 0)  # a word may stand across the border
            match = self.pattern.search(folded(text[begin : start + _SLICE]))
            if match:
                return begin + match.start()
        return 0


class Found(NamedTuple):
    """A message that has all words, and how many of them are whole words there."""

    n_whole: int
    conversation_id: str
    message_id: str
    text: str


IsFound = Callable[[str, str, int], bool]
"""Whether a hit counts: conversation, message (empty: the title), 1 if it is removed."""


def search_titles(
    connection: sqlite3.Connection, query: Query, limit: int, is_found: IsFound
) -> list[SearchHit]:
    """The titles that have all words, the newest first."""
    rows = connection.execute(
        "SELECT c.id, c.title, c.is_removed FROM words w JOIN conversations c ON c.key = -w.rowid"
        " WHERE w.words MATCH ? AND w.rowid < 0 ORDER BY w.rowid",
        (query.match,),
    )
    hits = []
    for conversation_id, title, is_removed in rows:
        if is_found(conversation_id, "", is_removed) and query.is_certain(title):
            hits.append(query.hit(conversation_id, "", title))
            if len(hits) >= limit:
                break
    return hits


def search_messages(
    connection: sqlite3.Connection, query: Query, limit: int, is_found: IsFound
) -> list[Found]:
    """The newest messages that have all words."""
    rows = connection.execute(
        "SELECT c.id, m.id, c.is_removed, m.content, m.attachments FROM words w"
        " JOIN messages m ON m.key = w.rowid JOIN conversations c ON c.key = m.conversation"
        " WHERE w.words MATCH ? AND w.rowid > 0 ORDER BY w.rowid DESC",
        (query.match,),
    )
    until = time.monotonic() + _LONGEST_S
    found = []
    for conversation_id, message_id, is_removed, content, files in rows:
        if is_found(conversation_id, message_id, is_removed):
            text = with_names(content, read_attachments(files))
            if query.is_certain(text):
                found.append(Found(query.n_whole(text), conversation_id, message_id, text))
        if len(found) >= limit or time.monotonic() > until:
            break
    return found
