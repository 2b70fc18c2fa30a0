"""Replies that the program did not see to their end: at the next start they have failed."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import replace

from paceline.run_record import INTERRUPTED, RunRecord
from paceline.storage import conversations, runs
from paceline.storage.changes import BeginRun, Change, EndRun, ExtendRun, SaveChat
from paceline.storage.overlay import lay_over_pieces


def ends_of_interrupted(
    connection: sqlite3.Connection | None, changes: Sequence[Change]
) -> list[EndRun]:
    """The ends of the replies that were under way, with text and steps of their checkpoints.

    Args:
        connection: The database as the last program left it; None: nothing can be read.
        changes: What that program could not write.
    """
    running: dict[str, RunRecord] = {}
    contents: dict[str, str] = {}
    if connection is not None:
        for message_id in runs.unfinished(connection):
            row = conversations.message_row(connection, message_id)
            record = runs.read_record(connection, message_id)
            contents[message_id] = row.message.content if row else ""
            running[message_id] = record or RunRecord(message_id)
    for change in changes:
        match change:
            case SaveChat(_, messages):
                contents.update((message.message_id, message.content) for message in messages)
            case BeginRun(_, record):
                running[record.message_id] = record
            case ExtendRun(message_id):
                running.setdefault(message_id, RunRecord(message_id))
            case EndRun(record):
                running.pop(record.message_id, None)
            case _:
                pass
    return [
        _end(connection, changes, record, contents.get(message_id, ""))
        for message_id, record in running.items()
    ]


def _end(
    connection: sqlite3.Connection | None, changes: Sequence[Change], record: RunRecord, text: str
) -> EndRun:
    key = conversations.message_key(connection, record.message_id) if connection else None
    pieces = runs.read_pieces(connection, key) if connection and key is not None else {}
    lay_over_pieces(record.message_id, pieces, changes)
    order = sorted(pieces)
    if record.status == "running":
        record = replace(record, status="failed", error=INTERRUPTED)
    steps = tuple(step for number in order for step in pieces[number][1])
    text += "".join(pieces[number][0] for number in order)
    return EndRun(replace(record, steps=steps), text)
