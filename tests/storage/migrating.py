"""A program that opens a database of chats, and kills itself at one moment of its migration.

``python migrating.py DATABASE MOMENT``: the moments are counted from 0; one is before and after
every statement of the migration, one at every few pages of the copy, one on both sides of its
naming. Where there are fewer moments, the program ends by itself.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
from pathlib import Path
from typing import Any

from paceline.storage.archive import Archive

_PAGES = 20
_left = int(sys.argv[2])


def moment(*_: object) -> None:
    global _left  # noqa: PLW0603
    if _left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    _left -= 1


class Killing(sqlite3.Connection):
    """Counts the moments of a copy, and of statements that change a layout."""

    def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
        if not sql.startswith(("BEGIN IMMEDIATE", "ALTER", "PRAGMA user_version =", "COMMIT")):
            return super().execute(sql, *values)
        moment()
        done = super().execute(sql, *values)
        moment()
        return done

    def backup(self, target: sqlite3.Connection, **_: Any) -> None:  # type: ignore[override]
        super().backup(target, pages=_PAGES, progress=moment)


def main(path: Path) -> None:
    connect, rename = sqlite3.connect, Path.replace

    def named(self: Path, target: Path) -> Path:
        moment()
        done = rename(self, target)
        moment()
        return done

    Path.replace = named  # type: ignore[method-assign,assignment]
    sqlite3.connect = lambda *values, **named: connect(  # type: ignore[assignment,misc]
        *values, **{"factory": Killing, **named}
    )
    archive = Archive(path)
    archive.open()
    archive.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
