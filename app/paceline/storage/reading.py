"""What a store returns: what is on the disk, with the waiting changes applied to it.

Every function takes the connection (None: nothing can be read), and the changes that waited before
the reading began. The caller has the connection to itself. What was found on the disk may have a
part of these changes already. That does no harm: applied again, in order, they give the same state.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from paceline.codec import made_of
from paceline.conversation import (
    Conversation,
    ConversationSummary,
    Head,
    Message,
    SearchHit,
    ViewPlace,
)
from paceline.messages import StepCommitted
from paceline.storage import tables
from paceline.storage.changes import (
    BeginRun,
    Change,
    EndRun,
    ExtendRun,
    Purge,
    Remove,
    Restore,
    SaveChat,
    SavePlace,
    SaveUnsent,
)
from paceline.storage.search import Found, Query, search_messages, search_titles, text_of
from paceline.storage.tables import Pieces, Records

Connection = sqlite3.Connection | None


@contextlib.contextmanager
def at_one_moment(connection: Connection) -> Iterator[None]:
    """Read everything within the block from one state of the disk."""
    if connection is None:
        yield
        return
    connection.execute("BEGIN")
    try:
        yield
    finally:
        if connection.in_transaction:  # SQLite may have ended it after an error
            connection.execute("ROLLBACK")


def summaries(connection: Connection, changes: Sequence[Change]) -> tuple[ConversationSummary, ...]:
    """The list of conversations."""
    found = tables.read_summaries(connection) if connection else {}
    waiting = waiting_in(changes)
    for key in waiting.heads.keys() | waiting.shown.keys():
        found.pop(key, None)
        if head := _shown_head(connection, waiting, key):
            found[key] = made_of(ConversationSummary, head)
    return tuple(found.values())


def gone(
    connection: Connection, changes: Sequence[Change], conversation_ids: Iterable[str]
) -> frozenset[str]:
    """Those of these conversations that are not in the list, or not any more."""
    waiting = waiting_in(changes)
    return frozenset(
        key for key in conversation_ids if _shown_head(connection, waiting, key) is None
    )


def _shown_head(connection: Connection, waiting: Waiting, conversation_id: str) -> Head | None:
    """A conversation's head; None: there is none, or it is not shown."""
    if conversation_id in waiting.heads:
        head = waiting.heads[conversation_id]
    else:
        head = tables.read_head(connection, conversation_id) if connection else None
    is_shown = waiting.shown.get(conversation_id)
    if is_shown is None:
        is_shown = not (connection and tables.is_removed(connection, conversation_id))
    return head if is_shown else None


def load(
    connection: Connection, changes: Sequence[Change], conversation_id: str
) -> Conversation | None:
    """One conversation; None: there is none."""
    head, messages = _chat(connection, changes, conversation_id)
    if head is None:
        return None
    for message_id, pieces in _unfinished(connection, changes, conversation_id, messages):
        message = messages[message_id]
        text = message.content + "".join(pieces[n][0] for n in sorted(pieces))
        messages[message_id] = replace(message, content=text)
    return tables.conversation_of(head, messages)


def records(connection: Connection, changes: Sequence[Change], conversation_id: str) -> Records:
    """The records of a conversation's replies."""
    key = tables.conversation_key(connection, conversation_id) if connection else None
    found = tables.read_packed(connection, key) if connection and key is not None else {}
    if changes:
        _, messages = _chat(connection, changes, conversation_id)
        for change in changes:
            match change:
                case BeginRun(_, record) | EndRun(record, _) if record.message_id in messages:
                    found[record.message_id] = replace(record, steps=())
                case _:
                    pass
        found = {key: record for key, record in found.items() if key in messages}
    return Records(found)


def steps(
    connection: Connection, changes: Sequence[Change], message_id: str
) -> tuple[StepCommitted, ...]:
    """The steps of one reply."""
    pieces = pieces_of(connection, changes, message_id)
    return tuple(step for number in sorted(pieces) for step in pieces[number][1])


def search(
    connection: Connection, changes: Sequence[Change], text: str, limit: int
) -> tuple[SearchHit, ...]:
    """Titles and messages that have all words of a text, the best first."""
    query = Query.of(text)
    if query is None or limit <= 0:
        return ()
    waiting = waiting_in(changes)
    titles = search_titles(connection, query, limit, waiting.is_found) if connection else []
    found = search_messages(connection, query, 2 * limit, waiting.is_found) if connection else []
    if waiting.heads or waiting.texts or waiting.ended:
        new_titles, new_found = _search_waiting(connection, waiting, query)
        titles, found = new_titles + titles, new_found + found
    found.sort(key=lambda one: -one.n_whole)  # stable: the newest stay first
    del found[max(limit - len(titles), 0) :]
    hits = [query.hit(one.conversation_id, one.message_id, one.text) for one in found]
    return (*titles[:limit], *hits)


def unsent(connection: Connection, changes: Sequence[Change], conversation_id: str) -> str:
    """Text that was written, but not sent."""
    change = latest(changes, SaveUnsent, conversation_id)
    if change is not None:
        return change.text
    return tables.read_unsent(connection, conversation_id) if connection else ""


def place(connection: Connection, changes: Sequence[Change], conversation_id: str) -> ViewPlace:
    """Where a conversation was left."""
    change = latest(changes, SavePlace, conversation_id)
    if change is not None:
        return change.place
    return tables.read_place(connection, conversation_id) if connection else ViewPlace()


def _chat(
    connection: Connection, changes: Sequence[Change], conversation_id: str
) -> tuple[Head | None, dict[str, Message]]:
    """Head and messages of a conversation; without the texts of replies that are under way."""
    head = tables.read_head(connection, conversation_id) if connection else None
    messages = tables.read_messages(connection, conversation_id) if connection else {}
    for change in changes:
        match change:
            case SaveChat(new, saved, removed) if new.conversation_id == conversation_id:
                head = new
                messages.update((message.message_id, message) for message in saved)
                for message_id in removed:
                    messages.pop(message_id, None)
            case Purge(key) if key == conversation_id:
                head = None
                messages.clear()
            case EndRun(record, text) if record.message_id in messages:
                message = messages[record.message_id]
                messages[record.message_id] = replace(message, content=text)
            case _:
                pass
    return head, messages


def pieces_of(connection: Connection, changes: Sequence[Change], message_id: str) -> Pieces:
    """A reply's checkpoints; what ended before them has the number -1.

    One that ended or began again has none of those before.
    """
    key = tables.message_key(connection, message_id) if connection else None
    pieces = tables.read_pieces(connection, key) if connection and key is not None else {}
    for change in changes:
        match change:
            case BeginRun(_, record) if record.message_id == message_id:
                pieces.clear()
            case EndRun(record, _) if record.message_id == message_id:
                pieces.clear()
                pieces[-1] = "", record.steps
            case ExtendRun(extended, number, text, steps) if extended == message_id:
                pieces[number] = text, steps
            case _:
                pass
    return pieces


def _unfinished(
    connection: Connection,
    changes: Sequence[Change],
    conversation_id: str,
    messages: dict[str, Message],
) -> Iterator[tuple[str, Pieces]]:
    """The replies of a conversation that have checkpoints, with these."""
    ids = {change.message_id for change in changes if isinstance(change, ExtendRun)}
    if connection:
        key = tables.conversation_key(connection, conversation_id)
        ids.update(tables.with_checkpoints(connection, key) if key is not None else ())
    for message_id in ids & messages.keys():
        yield message_id, pieces_of(connection, changes, message_id)


def _search_waiting(
    connection: Connection, waiting: Waiting, query: Query
) -> tuple[list[SearchHit], list[Found]]:
    """The titles and messages that wait and have all words, the newest first."""
    texts = dict(waiting.texts)
    for message_id, text in waiting.ended.items():
        row = tables.message_row(connection, message_id) if connection else None
        if row is not None and row.conversation_id not in waiting.purged:
            texts[message_id] = row.conversation_id, text_of(replace(row.message, content=text))

    def is_shown(conversation_id: str) -> bool:
        if conversation_id in waiting.shown:
            return waiting.shown[conversation_id]
        return connection is None or not tables.is_removed(connection, conversation_id)

    titles = [
        query.hit(head.conversation_id, "", head.title)
        for head in filter(None, reversed(waiting.heads.values()))
        if query.fits(head.title) and is_shown(head.conversation_id)
    ]
    found = [
        Found(query.n_whole(text), conversation_id, message_id, text)
        for message_id, (conversation_id, text) in reversed(texts.items())
        if query.fits(text) and is_shown(conversation_id)
    ]
    return titles, found


_T = TypeVar("_T", SaveUnsent, SavePlace)


def latest(changes: Sequence[Change], kind: type[_T], conversation_id: str) -> _T | None:
    """The last change of a kind to a conversation; None: there is none."""
    for change in reversed(changes):
        if isinstance(change, kind) and change.conversation_id == conversation_id:
            return change
    return None


@dataclass(slots=True)
class Waiting:
    """The changes that wait, as the list of conversations and a search need them.

    Attributes:
        heads: Saved conversations by id; None: purged.
        shown: Conversations that are removed or restored, and whether they are shown then.
        texts: Conversation and text of new messages, by message.
        ended: Texts of replies that ended, whose messages are on the disk.
        gone: Messages that are deleted.
        purged: Conversations of which nothing on the disk counts.
    """

    heads: dict[str, Head | None] = field(default_factory=dict)
    shown: dict[str, bool] = field(default_factory=dict)
    texts: dict[str, tuple[str, str]] = field(default_factory=dict)
    ended: dict[str, str] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    purged: set[str] = field(default_factory=set)

    def is_found(self, conversation_id: str, message_id: str, is_removed: int) -> bool:
        """Whether a hit on the disk is still one; an empty `message_id` means the title."""
        if conversation_id in self.purged or (not message_id and conversation_id in self.heads):
            return False
        if message_id in self.texts or message_id in self.ended or message_id in self.gone:
            return False
        return self.shown.get(conversation_id, not is_removed)


def waiting_in(changes: Sequence[Change]) -> Waiting:
    """Return the waiting changes as the list and a search need them."""
    waiting = Waiting()
    messages: dict[str, tuple[str, Message]] = {}
    for change in changes:
        match change:
            case SaveChat(head, saved, removed):
                key = head.conversation_id
                if waiting.heads.get(key, head) is None:  # it was purged, and begins again
                    waiting.shown[key] = True
                waiting.heads[key] = head
                messages.update((message.message_id, (key, message)) for message in saved)
                for message_id in removed:
                    messages.pop(message_id, None)
                    waiting.ended.pop(message_id, None)
                waiting.gone.update(removed)
            case EndRun(record, text) if record.message_id in messages:
                key, message = messages[record.message_id]
                messages[record.message_id] = key, replace(message, content=text)
            case EndRun(record, text):
                waiting.ended[record.message_id] = text
            case Remove(key):
                waiting.shown[key] = False
            case Restore(key):
                waiting.shown[key] = True
            case Purge(key):
                waiting.shown[key] = False
                waiting.heads[key] = None
                waiting.purged.add(key)
                for message_id in [m for m, (owner, _) in messages.items() if owner == key]:
                    del messages[message_id]
            case _:
                pass
    waiting.texts = {
        message_id: (key, text_of(message)) for message_id, (key, message) in messages.items()
    }
    waiting.gone -= waiting.texts.keys()
    return waiting
