"""Whether a download fits on its disk; asked before the first byte, and put into words after."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

from paceline.catalog.words import file_size
from paceline.errors import UserError

_MARGIN = 64 << 20
"""Bytes left to others: a full disk makes every program on it fail."""


def check_space(folder: Path, n_needed: int) -> None:
    """Check that so many bytes more fit on the disk of a folder, which may be missing yet.

    Raises:
        UserError: ``disk-full``: they do not.
    """
    place = next(p for p in (folder, *folder.parents) if p.is_dir())
    try:
        n_free = shutil.disk_usage(place).free
    except OSError:
        return  # it is not said; then writing will tell
    if n_needed > 0 and n_needed + _MARGIN > n_free:
        raise disk_full(folder, n_needed, n_free)


def disk_full(folder: Path, n_needed: int, n_free: int) -> UserError:
    """Return the refusal of a download that does not fit."""
    return UserError(
        "disk-full",
        f"{file_size(n_needed)} are still to come, but the disk of {folder} has only "
        f"{file_size(n_free)} free.",
        "Make room or choose a folder on another disk, then resume.",
    )


def is_full(error: OSError) -> bool:
    """Whether a write failed for lack of space, by the disk or by a quota."""
    return error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))
