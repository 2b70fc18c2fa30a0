"""The unfinished downloads on the disk: a small JSON file with the record of each.

A file is written again and again while a download runs, so that it continues after a crash or a
power failure: what it records has reached the disk. A file that cannot be read is put aside and not
deleted. Any thread, but each download by one at a time.
"""

from __future__ import annotations

import contextlib
import json
import logging
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

from paceline.catalog.download.names import absolute_folder
from paceline.catalog.download.record import Download, n_kept
from paceline.codec import CodecError, decode, encode
from paceline.errors import UserError
from paceline.files import write_whole

_VERSION = 1
_logger = logging.getLogger(__name__)


class DownloadJournal:
    """A folder of records."""

    def __init__(self, folder: Path) -> None:
        """Make a journal; its folder is made by the first `save`."""
        self._folder = folder

    def load(self) -> tuple[Download, ...]:
        """Return all downloads, paused unless they had failed, the oldest first."""
        found = (self._read(path) for path in sorted(self._folder.glob("*.json")))
        return tuple(sorted((d for d in found if d is not None), key=lambda d: d.added_s))

    def save(self, download: Download) -> None:
        """Write a record; one that cannot be written only lets the next start fetch more."""
        data = {"version": _VERSION, **encode(download)}
        del data["bytes_per_s"], data["obstacle"]
        for file in data["files"]:
            del file["n_here"]
        try:
            write_whole(self._path(download.id), json.dumps(data).encode())
        except OSError as error:
            _logger.info("the download's journal cannot be written: %s", error)

    def remove(self, download: str) -> None:
        """Delete a record; one that cannot be deleted only comes back at the next start."""
        with contextlib.suppress(OSError):
            self._path(download).unlink(missing_ok=True)

    def _path(self, download: str) -> Path:
        return self._folder / f"{download}.json"

    def _read(self, path: Path) -> Download | None:
        try:
            data: Any = json.loads(path.read_bytes())
            if not isinstance(data, dict) or data.pop("version", None) != _VERSION:
                raise CodecError("another version")
            return _as_it_stands(decode(Download, data), path.stem)
        except FileNotFoundError:
            return None
        # A CodecError is a ValueError; names that are not safe are a UserError.
        except (OSError, ValueError, RecursionError, UserError) as error:
            _logger.warning("the download's journal %s is put aside: %s", path.name, error)
            with contextlib.suppress(OSError):
                path.replace(path.with_suffix(".unreadable"))
            return None


def _as_it_stands(download: Download, name: str) -> Download:
    """Return a stored download with the bytes of it that are on the disk.

    Raises:
        CodecError: This program could not have written it.
        UserError: A name in it is not safe.
    """
    request, files = download.request, download.files
    absolute_folder(request.folder)
    targets = request.targets()
    is_sound = (
        download.id == name
        and tuple(file.path for file in files) == request.files
        and all(file.n_bytes >= 0 and file.n_safe >= 0 for file in files)
        and all(map(math.isfinite, (download.added_s, *(file.started_s for file in files))))
    )
    if not is_sound:
        raise CodecError("it does not fit together")
    files = tuple(
        replace(file, n_here=file.n_bytes if file.is_done else n_kept(file, target))
        for file, target in zip(files, targets, strict=True)
    )
    status = download.status if download.status == "failed" else "paused"
    return replace(download, files=files, status=status)
