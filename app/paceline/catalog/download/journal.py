"""What is known of unfinished downloads, one small JSON file for each.

Written again and again under way, so that a download goes on where it was after a crash, or after
the power failed: what is noted here has reached the disk. A file that cannot be understood is put
aside and not deleted. Any thread, but each download by one at a time.
"""

from __future__ import annotations

import contextlib
import json
import logging
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paceline.catalog.download.names import absolute_folder, file_names
from paceline.catalog.download.values import DownloadRequest, Status
from paceline.codec import CodecError, decode_part, encode_part
from paceline.errors import UserError
from paceline.files import write_whole

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
            the partial file holds nothing of this content yet. See `kept`.
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
        status: How it stood.
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
        """Know the folder; it is made by the first `save`."""
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
        """Forget a record; one that cannot be deleted only comes back at the next start."""
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
    """Whether a record says what one of ours can say.

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
