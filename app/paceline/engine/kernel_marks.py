"""Marks that Paceline's own kernels leave when they end the engine, so that this happens once.

A mark is a file beside the kernels that were built into the cache, named by the build. The library
of kernels writes it itself when it crashes (`paceline_kernels_mark_crashes`); a hang is marked by
the host, which ends the process. While it is there, that build is not used.
"""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

from paceline.files import write_whole

FOLDER = "kernels"
HANG = "a computation that hung"
"""What a mark says whose kernel is not known."""

_KEY = re.compile(r"[0-9a-f]{16}")
_MOST_WORDS = 60


def mark_path(cache_dir: str, key: str) -> Path | None:
    """Return where the mark of a build is; None: nothing is kept, or the key is none."""
    if not cache_dir or not _KEY.fullmatch(key):
        return None
    return Path(cache_dir) / FOLDER / f"{key}.crashed"


def read_mark(cache_dir: str, key: str) -> str | None:
    """Return what ended the engine, e.g. a kernel's name; None: there is no mark."""
    path = mark_path(cache_dir, key)
    try:
        if path is None or not path.exists():
            return None
    except OSError:  # a folder that may not be entered
        return None
    with contextlib.suppress(OSError):
        words = " ".join(path.read_text("utf-8", "replace").split())[:_MOST_WORDS]
        return words or "an unknown kernel"
    return "an unknown kernel"


def write_mark(cache_dir: str, key: str, what: str = HANG) -> None:
    """Leave a mark; where it cannot be written the next load may end in the same way."""
    path = mark_path(cache_dir, key)
    if path is not None:
        with contextlib.suppress(OSError):
            write_whole(path, what.encode())


def marks(cache_dir: str) -> frozenset[Path]:
    """Return the marks of all builds."""
    if not cache_dir:
        return frozenset()
    with contextlib.suppress(OSError):
        return frozenset((Path(cache_dir) / FOLDER).glob("*.crashed"))
    return frozenset()
