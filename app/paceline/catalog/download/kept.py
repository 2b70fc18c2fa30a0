"""How much of a partial file can be gone on with.

What a killed program has written is in the system's memory and comes to the disk all the same; what
was not yet there when the power failed is lost, and the file may have its length and zeros in it.
So the length of the file counts while the computer has not been started anew since, and after that
only what was brought to the disk on purpose. Waiting for the disk more often than every few seconds
would halve the speed of a fast network.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from paceline.catalog.download.names import PARTIAL

if TYPE_CHECKING:
    from paceline.catalog.download.journal import FileRecord

_SAME_S = 2.0
"""The time of the start moves a little when the clock is set; no computer starts within that."""


def started_s() -> float:
    """Return when this computer was started, in seconds since the epoch."""
    return psutil.boot_time()


def n_kept(record: FileRecord, target: Path) -> int:
    """Return how many bytes of a file's partial file belong to it for sure.

    Args:
        record: What the journal says.
        target: The file when it is complete.
    """
    if not record.n_bytes:
        return 0  # of a new one nothing is known; the disk need not be woken to say so
    try:
        n_there = target.with_name(target.name + PARTIAL).stat().st_size
    except OSError:
        return 0
    is_same_start = abs(record.started_s - started_s()) < _SAME_S
    return min(n_there, record.n_bytes) if is_same_start else min(n_there, record.n_safe)
