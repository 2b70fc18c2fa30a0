"""The columns of the tables, each read as the kind of value that it is for.

A column of SQLite takes any kind of value, and damage leaves any: what is read goes through these
expressions, so that a broken value is an empty or another one, never of another kind.
"""

from __future__ import annotations

from collections.abc import Sequence

_LATEST_S = 1e11
_KINDS = {
    "key": "{}",
    "int": "CAST(ifnull({}, 0) AS INTEGER)",
    "time": f"max(0.0, min({_LATEST_S}, CAST(ifnull({{}}, 0) AS REAL)))",
    "figure": "max(0.0, min(1e9, CAST({} AS REAL)))",
    "text": "CAST(ifnull({}, '') AS TEXT)",
    "text?": "CAST({} AS TEXT)",
    "role": "CASE {} WHEN 'assistant' THEN 'assistant' ELSE 'user' END",
    "bytes": "CAST(ifnull({}, '') AS BLOB)",
}
TABLES = {
    "conversations": {
        "key": "key", "id": "text", "title": "text", "created_s": "time", "changed_s": "time",
        "pinned": "int", "tags": "text", "leaf_id": "text?", "reply_id": "text",
        "is_removed": "int", "strategy": "text", "tokens_per_s": "figure",
        "acceptance_rate": "figure", "settings": "text", "origin": "text",
    },
    "messages": {
        "key": "key", "conversation": "int", "id": "text", "parent_id": "text?", "role": "role",
        "content": "text", "created_s": "time", "attachments": "text?",
    },
    "runs": {"message": "key", "status": "text", "record": "bytes"},
    "steps": {"message": "key", "data": "bytes"},
    "checkpoints": {
        "rowid": "key", "message": "int", "number": "int", "text": "text", "steps": "bytes"
    },
    "unsent": {"rowid": "key", "conversation_id": "text", "text": "text"},
    "places": {
        "rowid": "key", "conversation_id": "text", "message_id": "text", "offset_px": "int"
    },
}  # fmt: skip
"""Every table with its columns and their kinds; the first column counts the rows."""


def read_as(table: str, columns: Sequence[str] = (), alias: str = "") -> str:
    """Return what a SELECT asks for to get these columns of a table; all by default."""
    kinds = TABLES[table]
    prefix = f"{alias}." if alias else ""
    return ", ".join(_KINDS[kinds[name]].format(prefix + name) for name in columns or kinds)
