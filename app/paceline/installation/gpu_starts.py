"""Starts of GPU drivers, which run inside this program and can end it.

A broken driver ends the program before a word can be said, or holds it until it is killed. So each
start is noted in a file, and struck out when it has come back. After `MAX_FAILED_STARTS` in a row
that have not, GPUs are left out until the file is deleted, or the system clears the folder for
running programs, as it does when the user logs in anew. One alone may have been killed by chance.
Any thread.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from paceline.files import try_lock

MAX_FAILED_STARTS = 2
"""Number of failed starts in a row after which GPUs are left out."""


def noted_in() -> Path:
    """Return the file with a byte for each start that has not come back."""
    folder = os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()
    user = f"-{os.getuid()}" if hasattr(os, "getuid") else ""
    return Path(folder, f"paceline-gpu-starts{user}")


def n_lost() -> int:
    """Return how many starts in a row have not come back; one that is under way counts, too."""
    try:
        found = noted_in().lstat()
    except OSError:
        return 0
    is_own = not hasattr(os, "getuid") or found.st_uid == os.getuid()
    return found.st_size if is_own and stat.S_ISREG(found.st_mode) else 0


@contextlib.contextmanager
def guarded() -> Iterator[bool]:
    """Note a start for as long as the block runs; yield False if GPUs must be left out.

    Where nothing can be written, or another process notes its own start, this one is not noted.
    """
    with contextlib.ExitStack() as opened:
        mark = None
        with contextlib.suppress(OSError):
            # In a folder that others write to, a link could lead elsewhere.
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
            found = os.fdopen(os.open(noted_in(), flags, 0o600), "ab", buffering=0)
            mark = opened.enter_context(found)
        is_wanted = n_lost() < MAX_FAILED_STARTS
        if not is_wanted or mark is None or not try_lock(mark):
            yield is_wanted
            return
        with contextlib.suppress(OSError):
            mark.write(b"x")
        try:
            yield True
        finally:
            with contextlib.suppress(OSError):
                mark.truncate(0)
