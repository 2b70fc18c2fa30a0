"""The texts of `paceline chat --remember`, in one file, for the lookups of later ones.

A line for each chat: a JSON list of its texts. The window has its chats in the database and does
not read this file. One that is damaged loses the lines that cannot be read.
"""

from __future__ import annotations

import contextlib
import json
import logging
from pathlib import Path

from paceline.files import delete_folder, write_whole
from paceline.paths import OLD_MEMORY

_log = logging.getLogger(__name__)

FILE_NAME = "remembered.jsonl"
"""Below `Paths.data_dir`."""
MOST_BYTES = 500_000
"""What is kept, the newest; indexing it takes half a second at the start of each run."""


def load_texts(folder: Path) -> tuple[str, ...]:
    """Return what earlier chats have left, the oldest first; what old versions kept goes.

    Of the window's chats it goes at the window's start, to which it says how the switch was left.
    """
    old = folder / OLD_MEMORY
    if not any(old.glob("*/chats")):
        with contextlib.suppress(OSError):  # the next run tries again
            delete_folder(old)
    texts: list[str] = []
    for line in _lines(folder / FILE_NAME):
        try:
            chat = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(chat, list):
            texts += (text for text in chat if isinstance(text, str))
    return tuple(texts)


def add_texts(folder: Path, texts: list[str]) -> None:
    """Add a chat, readable by the owner alone; a failure is logged and nothing else."""
    file = folder / FILE_NAME
    lines = [*_lines(file), json.dumps(texts).encode()]
    size = 0
    first = len(lines)
    while first and (size := size + len(lines[first - 1]) + 1) <= MOST_BYTES:
        first -= 1
    try:
        write_whole(file, b"".join(line + b"\n" for line in lines[first:]))
    except OSError as error:
        _log.warning("This chat is not remembered: %s", error.strerror or error)


def _lines(file: Path) -> list[bytes]:
    try:
        return file.read_bytes().splitlines()
    except OSError:
        return []
