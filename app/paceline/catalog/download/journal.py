"""Requests and states of downloads, and the record of unfinished ones: a small JSON file for each.

A file is written again and again while a download runs, so that it continues after a crash or a
power failure: what it records has reached the disk. A file that cannot be read is put aside and not
deleted. Any thread, but each download by one at a time.
"""

from __future__ import annotations

import contextlib
import json
import logging
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import psutil

from paceline.catalog.download.names import PARTIAL, absolute_folder, file_names
from paceline.codec import CodecError, decode_part, encode_part
from paceline.errors import UserError
from paceline.files import write_whole

Status = Literal["waiting", "running", "paused", "verifying", "done", "failed", "cancelled"]


@dataclass(frozen=True, slots=True)
class DownloadRequest:
    """A model to fetch: one file, or all parts of a split one.

    Attributes:
        repo: ``OWNER/NAME``.
        files: Paths within the repository, the one to load first.
        revision: Branch, tag or commit.
        folder: Where the files go, flat: the last part of each path becomes the name.
        endpoint: The Hub's address; empty: the usual one.
    """

    repo: str
    files: tuple[str, ...]
    revision: str
    folder: str
    endpoint: str = ""


@dataclass(frozen=True, slots=True)
class DownloadState:
    """The state of a download.

    Attributes:
        id: Its id, the same across restarts.
        request: What was asked for.
        status: "failed" can be resumed like "paused"; a full disk pauses.
        n_done: Bytes that are here.
        n_total: Bytes of all files; 0: not known yet.
        bytes_per_s: Over the last seconds; 0 when nothing moves.
        seconds_left: None: not known.
        problem: Why it failed, or had to pause, in one sentence; empty otherwise.
        hint: What to do about it.
        path: The file to load; empty until it is done.
        sha256: Of that file; empty until it is done.
    """

    id: str
    request: DownloadRequest
    status: Status
    n_done: int = 0
    n_total: int = 0
    bytes_per_s: float = 0.0
    seconds_left: float | None = None
    problem: str = ""
    hint: str = ""
    path: str = ""
    sha256: str = ""


_VERSION = 1
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FileRecord:
    """One file of a download.

    Attributes:
        path: Within the repository.
        etag: Of the content that the partial file belongs to; empty: none was asked for yet.
        n_bytes: Size of the whole; 0: not known yet.
        sha256: Of the whole; empty: not known yet.
        n_safe: Bytes of the partial file that have reached the disk.
        started_s: When the computer was started that wrote them, in seconds since the epoch; 0:
            the partial file holds nothing of this content yet. See `n_kept`.
        is_done: Whether the file is complete and has its name.
        is_ours: Whether this download has put it there.
    """

    path: str
    etag: str = ""
    n_bytes: int = 0
    sha256: str = ""
    n_safe: int = 0
    started_s: float = 0.0
    is_done: bool = False
    is_ours: bool = False


@dataclass(frozen=True, slots=True)
class Record:
    """One download.

    Attributes:
        id: Names the journal's file, too.
        request: What was asked for.
        files: In the request's order.
        status: Its status when it was written.
        problem: As in `DownloadState`.
        hint: As in `DownloadState`.
        added_s: Seconds since the epoch, for the order.
    """

    id: str
    request: DownloadRequest
    files: tuple[FileRecord, ...]
    status: Status = "waiting"
    problem: str = ""
    hint: str = ""
    added_s: float = 0.0


class Journal:
    """A folder of records."""

    def __init__(self, folder: Path) -> None:
        """Make a journal; its folder is made by the first `save`."""
        self._folder = folder

    def load(self) -> tuple[Record, ...]:
        """Return all records, the oldest first."""
        found = (self._read(path) for path in sorted(self._folder.glob("*.json")))
        return tuple(sorted((r for r in found if r is not None), key=lambda r: r.added_s))

    def save(self, record: Record) -> None:
        """Write a record.

        Raises:
            OSError: It cannot be written; an earlier one is still there.
        """
        data = {"version": _VERSION, **encode_part(record)}
        write_whole(self._path(record.id), json.dumps(data).encode())

    def remove(self, download: str) -> None:
        """Delete a record; one that cannot be deleted only comes back at the next start."""
        with contextlib.suppress(OSError):
            self._path(download).unlink(missing_ok=True)

    def _path(self, download: str) -> Path:
        return self._folder / f"{download}.json"

    def _read(self, path: Path) -> Record | None:
        try:
            data: Any = json.loads(path.read_bytes())
            if not isinstance(data, dict) or data.pop("version", None) != _VERSION:
                raise CodecError("another version")
            record = decode_part(Record, data)
            if record.id != path.stem or not _is_sound(record):
                raise CodecError("it does not fit together")
        except FileNotFoundError:
            return None
        # A CodecError is a ValueError; names that are not safe are a UserError.
        except (OSError, ValueError, RecursionError, UserError) as error:
            _logger.warning("the download's journal %s is put aside: %s", path.name, error)
            with contextlib.suppress(OSError):
                path.replace(path.with_suffix(".unreadable"))
            return None
        return record


def _is_sound(record: Record) -> bool:
    """Whether a record could have been written by this program.

    Raises:
        UserError: A name in it is not safe.
    """
    request = record.request
    file_names(request.files)
    absolute_folder(request.folder)
    return (
        tuple(file.path for file in record.files) == request.files
        and all(file.n_bytes >= 0 and file.n_safe >= 0 for file in record.files)
        and all(math.isfinite(s) for s in (record.added_s, *(f.started_s for f in record.files)))
    )


_SAME_S = 2.0
"""The measured time of the start moves when the clock is set; no computer restarts within this."""


def started_s() -> float:
    """Return when this computer was started, in seconds since the epoch."""
    return psutil.boot_time()


def n_kept(record: FileRecord, target: Path) -> int:
    """Return how many bytes of a file's partial file are certain to be right.

    Bytes that a killed program has written are in the system's memory and reach the disk anyway;
    bytes that were not yet there when the power failed are lost, and the file may have its length
    with zeros in it. So the length of the file counts until the computer is restarted, and after
    that only the bytes that were flushed. Flushing more often than every few seconds would halve
    the speed of a fast network.

    Args:
        record: The file's record in the journal.
        target: The file when it is complete.
    """
    if not record.n_bytes:
        return 0  # a new one has no bytes; the disk need not be asked
    try:
        n_there = target.with_name(target.name + PARTIAL).stat().st_size
    except OSError:
        return 0
    is_same_start = abs(record.started_s - started_s()) < _SAME_S
    return min(n_there, record.n_bytes) if is_same_start else min(n_there, record.n_safe)
