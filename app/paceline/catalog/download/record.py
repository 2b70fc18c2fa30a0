"""The one record of a download: everything that list, picker, command line and journal know of it.

It is a value. `Downloads` keeps the present one and replaces it with every change; the journal
stores it without what is known anew at the next start (`n_here`, `bytes_per_s`, `obstacle`). Pure,
but for `n_kept`, which asks the disk.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import psutil

from paceline.catalog.download.names import PARTIAL, file_names, inside
from paceline.sentence import UserText

Status = Literal["waiting", "running", "paused", "verifying", "done", "failed", "cancelled"]
OVER = ("done", "cancelled")
"""Final states; no journal is kept of them."""


@dataclass(frozen=True, slots=True)
class DownloadRequest:
    """A model to fetch: one file, or all parts of a split one.

    Attributes:
        repo: ``OWNER/NAME``.
        files: Paths within the repository, the one to load first.
        revision: Branch, tag or commit.
        folder: Folder of the files, without subfolders: the last part of each path is the name.
        endpoint: The Hub's address; empty means the usual one.
        sha256: Hash of the first file if it is known from elsewhere than the Hub; else empty.
    """

    repo: str
    files: tuple[str, ...]
    revision: str
    folder: str
    endpoint: str = ""
    sha256: str = ""

    def targets(self) -> tuple[Path, ...]:
        """Return where the files go when they are complete.

        Raises:
            UserError: ``unsafe-name``.
        """
        folder = Path(self.folder)
        return tuple(inside(folder, name) for name in file_names(self.files))


@dataclass(frozen=True, slots=True)
class DownloadedFile:
    """One file of a download.

    Attributes:
        path: Within the repository.
        etag: ETag of the content that the partial file belongs to, or empty before the first
            request.
        n_bytes: Size of the whole, or 0 if not known yet.
        sha256: Hash of the whole file, or empty if not known yet.
        n_safe: Bytes of the partial file that have reached the disk.
        started_s: Boot time of the computer when it wrote them, in seconds since the epoch; 0 if
            the partial file holds nothing of this content yet. See `n_kept`.
        is_done: Whether the file is complete and has its name.
        is_ours: Whether this download has put it there.
        n_here: Bytes that are here now; not stored.
    """

    path: str
    etag: str = ""
    n_bytes: int = 0
    sha256: str = ""
    n_safe: int = 0
    started_s: float = 0.0
    is_done: bool = False
    is_ours: bool = False
    n_here: int = 0


@dataclass(frozen=True, slots=True)
class Download:
    """A download as it stands.

    Attributes:
        id: Its id, the same across restarts; names the journal's file, too.
        request: The request.
        files: In the request's order.
        status: "failed" can be resumed like "paused"; a full disk pauses.
        problem: Why it failed, or had to pause, in one sentence; empty otherwise.
        hint: The remedy.
        added_s: Time at which it was added, in seconds since the epoch, for the order.
        bytes_per_s: Speed over the last seconds; 0 when nothing arrives. Not stored.
        obstacle: Why it is tried again, while it is running; empty otherwise. Not stored.
    """

    id: str
    request: DownloadRequest
    files: tuple[DownloadedFile, ...]
    status: Status = "waiting"
    problem: UserText = ""
    hint: UserText = ""
    added_s: float = 0.0
    bytes_per_s: float = 0.0
    obstacle: UserText = ""

    @property
    def n_done(self) -> int:
        """Bytes that are here."""
        return sum(file.n_here for file in self.files)

    @property
    def n_total(self) -> int:
        """Bytes of all files, or 0 if not known yet."""
        return sum(file.n_bytes for file in self.files) if all(f.etag for f in self.files) else 0

    @property
    def seconds_left(self) -> float | None:
        """Time until it is done at the present speed, or None if not known."""
        if self.bytes_per_s <= 0 or not self.n_total:
            return None
        return (self.n_total - self.n_done) / self.bytes_per_s

    @property
    def path(self) -> str:
        """The file to load; empty until it is done."""
        return str(self.request.targets()[0]) if self.status == "done" else ""


_BOOT_TOLERANCE_S = 2.0
"""Tolerance for the boot time, which moves when the clock is set; no computer restarts within
it."""


def started_s() -> float:
    """Return when this computer was started, in seconds since the epoch."""
    return psutil.boot_time()


def n_kept(file: DownloadedFile, target: Path) -> int:
    """Return how many bytes of a file's partial file are certain to be right.

    Bytes that a killed program has written are in the system's memory and reach the disk anyway;
    bytes that were not yet there when the power failed are lost, and the file may have its length
    with zeros in it. So the length of the file counts until the computer is restarted, and after
    that only the bytes that were flushed. Flushing more often than every few seconds would halve
    the speed of a fast network.

    Args:
        file: The file as it was recorded.
        target: The file when it is complete.
    """
    if not file.n_bytes:
        return 0  # a new one has no bytes; the disk need not be asked
    try:
        n_there = target.with_name(target.name + PARTIAL).stat().st_size
    except OSError:
        return 0
    is_same_start = abs(file.started_s - started_s()) < _BOOT_TOLERANCE_S
    return min(n_there, file.n_bytes if is_same_start else file.n_safe)
