"""Reads the end of the log file, off the main thread: the last two megabytes, then what is new.

The file may be rotated away at any moment; then it is read anew. A line that belongs to no record
of its own, such as one of a traceback, has the level of the one above.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from paceline.errors import UserError

if TYPE_CHECKING:
    from pathlib import Path

MOST_BYTES = 2 * 2**20
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
_RECORD = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\S* ([A-Z]+) ")
_LONGEST_LINE = 2000


def _tr(text: str) -> str:
    return QCoreApplication.translate("LogTail", text)


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line.

    Attributes:
        level: Place in `LEVELS`.
        text: The line.
    """

    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Place:
    """How far a file has been read: which file it was, and the byte behind the last whole line."""

    file_id: int = 0
    n_read: int = 0


@dataclass(frozen=True, slots=True)
class Tail:
    """What was read.

    Attributes:
        lines: New lines.
        place: Where to go on.
        is_new: Whether the lines replace what was there, and are not to be added to it.
    """

    lines: tuple[LogLine, ...]
    place: Place
    is_new: bool


@dataclass(frozen=True, slots=True)
class ReadTail:
    """Reads on from a place; a job for the background. A missing file is an empty one."""

    file: Path
    place: Place = Place()
    level: int = 1
    """Level of the line above."""

    def __call__(self) -> Tail:
        """Return what is new.

        Raises:
            UserError: The file is there and cannot be read.
        """
        try:
            with self.file.open("rb") as file:
                status = os.fstat(file.fileno())
                is_same = (
                    self.place.file_id == status.st_ino and self.place.n_read <= status.st_size
                )
                start = self.place.n_read if is_same else 0
                if status.st_size - start > MOST_BYTES:
                    start, is_same = status.st_size - MOST_BYTES, False
                file.seek(start)
                data = file.read(MOST_BYTES)
        except FileNotFoundError:
            return Tail((), Place(), is_new=self.place != Place())
        except OSError as error:
            raise UserError(
                "cannot-read",
                _tr("The log cannot be read: {}.").format(error.strerror or error),
                _tr("Look at who owns the file, or delete it."),
            ) from error
        if not is_same and start > 0:
            cut = data.find(b"\n") + 1  # the first line is half a line
            data, start = data[cut:], start + cut
        end = data.rfind(b"\n") + 1  # the last one may be half written
        text = data[:end].decode("utf-8", "replace")
        lines = as_lines(text, self.level if is_same else 1)
        return Tail(lines, Place(status.st_ino, start + end), is_new=not is_same)


def as_lines(text: str, level: int = 1) -> tuple[LogLine, ...]:
    """Return a text line by line; `level` is that of the line above the first."""
    lines = []
    for line in text.split("\n")[:-1]:
        record = _RECORD.match(line)
        if record is not None and record[1] in LEVELS:
            level = LEVELS.index(record[1])
        lines.append(LogLine(level, line.rstrip("\r")[:_LONGEST_LINE]))
    return tuple(lines)
