"""What a store answers: what is on the disk, with what waits to be written laid over it.

Every function takes the connection (None: nothing can be read), and the changes that waited before
the reading began. Whoever calls holds the connection for itself.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import replace

from paceline.conversation import Conversation, ConversationSummary, Message, SearchHit, ViewPlace
from paceline.messages import StepCommitted
from paceline.run_record import NO_FIGURES
from paceline.storage import conversations, runs
from paceline.storage.changes import Change, ExtendRun, Head, SavePlace, SaveUnsent
from paceline.storage.overlay import (
    Waiting,
    WaitingHeads,
    latest,
    lay_over_chat,
    lay_over_pieces,
    lay_over_records,
    waiting_heads,
    waiting_texts,
)
from paceline.storage.runs import Pieces, Records
from paceline.storage.search import Found, Query, search_messages, search_titles, text_of

Connection = sqlite3.Connection | None


@contextlib.contextmanager
def at_one_moment(connection: Connection) -> Iterator[None]:
    """Let everything that is read within the block be of one state of the disk."""
    if connection is None:
        yield
        return
    connection.execute("BEGIN")
    try:
        yield
    finally:
        if connection.in_transaction:  # SQLite may have ended it behind an error
            connection.execute("ROLLBACK")


def summaries(connection: Connection, changes: Sequence[Change]) -> tuple[ConversationSummary, ...]:
    """The list of conversations."""
    found = conversations.read_summaries(connection) if connection else {}
    waiting = waiting_heads(changes)
    touched = waiting.touched
    if connection:
        owners = (conversations.shown_by(connection, reply) for reply in waiting.figures)
        touched.update(owner for owner in owners if owner is not None)
    for key in touched:
        summary = _summary(connection, waiting, key)
        if summary is not None:
            found[key] = summary
        else:
            found.pop(key, None)
    return tuple(found.values())


def _summary(
    connection: Connection, waiting: WaitingHeads, conversation_id: str
) -> ConversationSummary | None:
    """The line of one conversation for which something waits; None: it is not shown."""
    if conversation_id in waiting.heads:
        head = waiting.heads[conversation_id]
    else:
        head = conversations.read_head(connection, conversation_id) if connection else None
    is_shown = waiting.shown.get(conversation_id)
    if is_shown is None:
        is_shown = not (connection and conversations.is_removed(connection, conversation_id))
    if head is None or not is_shown:
        return None
    figures = waiting.figures.get(head.reply_id)
    if figures is None:
        figures = runs.read_figures(connection, head.reply_id) if connection else NO_FIGURES
    return conversations.summary_of(head, figures)


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
    return conversations.conversation_of(head, messages)


def records(connection: Connection, changes: Sequence[Change], conversation_id: str) -> Records:
    """The records of a conversation's replies."""
    key = conversations.conversation_key(connection, conversation_id) if connection else None
    found = runs.read_packed(connection, key) if connection and key is not None else {}
    if changes:
        _, messages = _chat(connection, changes, conversation_id)
        lay_over_records(found, messages.keys(), changes)
    return Records(found)


def steps(
    connection: Connection, changes: Sequence[Change], message_id: str
) -> tuple[StepCommitted, ...]:
    """The steps of one reply."""
    pieces = _pieces(connection, changes, message_id)
    return tuple(step for number in sorted(pieces) for step in pieces[number][1])


def search(
    connection: Connection, changes: Sequence[Change], text: str, limit: int
) -> tuple[SearchHit, ...]:
    """Titles and messages that have all words of a text, the best first."""
    query = Query.of(text)
    if query is None or limit <= 0:
        return ()
    waiting = waiting_texts(changes)
    titles = search_titles(connection, query, limit, waiting.is_found) if connection else []
    found = search_messages(connection, query, 2 * limit, waiting.is_found) if connection else []
    if waiting.titles or waiting.texts or waiting.ended:
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
    return conversations.read_unsent(connection, conversation_id) if connection else ""


def place(connection: Connection, changes: Sequence[Change], conversation_id: str) -> ViewPlace:
    """Where a conversation was left."""
    change = latest(changes, SavePlace, conversation_id)
    if change is not None:
        return change.place
    return conversations.read_place(connection, conversation_id) if connection else ViewPlace()


def _chat(
    connection: Connection, changes: Sequence[Change], conversation_id: str
) -> tuple[Head | None, dict[str, Message]]:
    head = conversations.read_head(connection, conversation_id) if connection else None
    messages = conversations.read_messages(connection, conversation_id) if connection else {}
    return lay_over_chat(conversation_id, head, messages, changes), messages


def _pieces(connection: Connection, changes: Sequence[Change], message_id: str) -> Pieces:
    key = conversations.message_key(connection, message_id) if connection else None
    pieces = runs.read_pieces(connection, key) if connection and key is not None else {}
    lay_over_pieces(message_id, pieces, changes)
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
        key = conversations.conversation_key(connection, conversation_id)
        ids.update(runs.with_checkpoints(connection, key) if key is not None else ())
    for message_id in ids & messages.keys():
        yield message_id, _pieces(connection, changes, message_id)


def _search_waiting(
    connection: Connection, waiting: Waiting, query: Query
) -> tuple[list[SearchHit], list[Found]]:
    """The titles and messages that wait and have all words, the newest first."""
    texts = dict(waiting.texts)
    for message_id, text in waiting.ended.items():
        row = conversations.message_row(connection, message_id) if connection else None
        if row is not None and row.conversation_id not in waiting.purged:
            texts[message_id] = row.conversation_id, text_of(replace(row.message, content=text))

    def is_shown(conversation_id: str) -> bool:
        if conversation_id in waiting.shown:
            return waiting.shown[conversation_id]
        return connection is None or not conversations.is_removed(connection, conversation_id)

    titles = [
        query.hit(conversation_id, "", title)
        for conversation_id, title in reversed(waiting.titles.items())
        if query.fits(title) and is_shown(conversation_id)
    ]
    found = [
        Found(query.n_whole(text), conversation_id, message_id, text)
        for message_id, (conversation_id, text) in reversed(texts.items())
        if query.fits(text) and is_shown(conversation_id)
    ]
    return titles, found
