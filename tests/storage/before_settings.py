"""A database of chats as the version wrote it whose chats had no settings of their own.

The rows are written out here, and stay as they are: what the program does now must not change what
an older one has left on the disk. `test_migrations` sees to it that the layout stays, too.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from paceline.storage.database import MIGRATIONS

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class OldReply:
    """A question with its reply.

    Attributes:
        record: Fields of its record that differ from the defaults, or None if it has no record.
        follows: The reply before the question, as its place in the chat; -1: none.
    """

    question: str
    answer: str
    record: dict[str, Any] | None = field(default_factory=dict)
    follows: int = -1


def write(
    path: Path, chats: dict[str, list[OldReply]], shown: dict[str, int], layout: int = 1
) -> None:
    """Make a database of these chats by id; `shown` says which reply ends the path, if not the
    last one. Later versions had other layouts, and wrote the same in them."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        for step in MIGRATIONS[:layout]:
            connection.executescript(step)
        connection.execute(f"PRAGMA user_version = {layout}")
        for chat_id, replies in chats.items():
            leaf = f"{chat_id}-a{shown.get(chat_id, len(replies) - 1)}"
            chat = connection.execute(
                "INSERT INTO conversations (id, title, created_s, changed_s, pinned, tags, leaf_id,"
                " reply_id, strategy, tokens_per_s) VALUES (?, ?, 100, 200, 0, '[]', ?, ?, ?, 9.5)",
                (chat_id, replies[0].question, leaf, leaf, "draft"),
            ).lastrowid
            assert chat is not None
            _index(connection, -chat, replies[0].question)
            for number, reply in enumerate(replies):
                before = f"{chat_id}-a{reply.follows}" if reply.follows >= 0 else None
                question_id, answer_id = f"{chat_id}-q{number}", f"{chat_id}-a{number}"
                _message(connection, chat, question_id, before, "user", reply.question)
                row = _message(connection, chat, answer_id, question_id, "assistant", reply.answer)
                if reply.record is not None:
                    data = json.dumps({**_record(answer_id), **reply.record}).encode()
                    connection.execute(
                        "INSERT INTO runs VALUES (?, 'finished', ?)", (row, zlib.compress(data))
                    )
        connection.commit()


def _message(
    connection: sqlite3.Connection, chat: int, name: str, before: str | None, role: str, text: str
) -> int:
    row = connection.execute(
        "INSERT INTO messages (conversation, id, parent_id, role, content, created_s)"
        " VALUES (?, ?, ?, ?, ?, 150)",
        (chat, name, before, role, text),
    ).lastrowid
    assert row is not None
    _index(connection, row, text)
    return row


def _index(connection: sqlite3.Connection, row: int, text: str) -> None:
    connection.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", (row, text))


def _record(message_id: str) -> dict[str, Any]:
    return {
        "message_id": message_id, "status": "finished", "started_s": 150.0, "strategy": "draft",
        "asked_strategy": "auto",
        "sampling": {
            "temperature": 0.7, "top_k": 40, "top_p": 0.95, "min_p": 0.05, "repeat_penalty": 1.0,
            "presence_penalty": 0.0, "frequency_penalty": 0.0, "logit_bias": [], "grammar": "",
            "json_schema": "",
        },
        "max_tokens": 1024, "seed": 123456789, "stop": [], "system_prompt": "", "cuts": True,
        "n_cut": 0, "reason": "eog", "error": None, "stats": None, "first_token_s": 0.25,
        "notes": [], "target": None, "draft": None, "app_version": "0.1.0",
        "engine_version": "0.3.36", "prompting": {"template": "", "think": ""}, "n_parts": 1,
        "edited": False,
    }  # fmt: skip
