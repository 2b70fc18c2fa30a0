"""Fetches the files of one download, and handles everything that can go wrong.

The client library's own downloads start from zero after every interruption (`huggingface_hub` since
1.18), so ranges of the file are requested here. The Hub is asked about a file again at every start
and after every failure, because the address of the content is signed and expires. All files come
from the commit that the first one was found in, so that the parts of a split model belong together
even if the repository changes meanwhile.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from paceline.catalog.download.journal import n_kept, started_s
from paceline.catalog.download.names import file_names, inside
from paceline.catalog.download.part_file import PartFile, discard_part, hash_of
from paceline.catalog.hub.errors import HubError
from paceline.errors import CancelledError, UserError

if TYPE_CHECKING:
    from paceline.catalog.download.journal import DownloadRequest, FileRecord
    from paceline.catalog.hub.client import Hub
    from paceline.catalog.hub.stream import Location

T = TypeVar("T")

PAUSES_S = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
"""Seconds before each further attempt; as many in a row may fail without progress."""
_LONGEST_WAIT_S = 120
"""If a server asks to wait longer than this, the download fails."""
_SYNC = 32 << 20
"""Bytes after which the file is flushed, so that a power failure loses no more."""
_FRESH_S = 60.0
"""How long an answer about a file is used; addresses live for an hour."""
_AGAIN = frozenset({"no-network", "timed-out", "server-error", "rate-limited", "location-expired"})
_ANEW = frozenset({"range-refused", "file-changed"})


class Control(Protocol):
    """What a `Downloader` asks and tells its owner; called on the worker's thread."""

    def is_stopped(self) -> bool:
        """Whether to end; polled several times a second."""

    def wait(self, seconds: float) -> None:
        """Sleep, but not longer than until `is_stopped`."""

    def save(self, index: int, record: FileRecord) -> None:
        """Keep what is known of a file."""

    def moved(self, index: int, n_bytes: int) -> None:
        """Note how many bytes of a file are here now."""

    def verifying(self, index: int) -> None:
        """Note that a file is being read, which takes a while."""


class Downloader:
    """One run of one download; on one thread."""

    def __init__(
        self,
        hub: Hub,
        request: DownloadRequest,
        control: Control,
        pauses_s: Sequence[float] = PAUSES_S,
    ) -> None:
        """Prepare a run; nothing is requested yet.

        Raises:
            UserError: ``unsafe-name``.
        """
        self._hub = hub
        self._request = request
        self._control = control
        self._pauses_s = pauses_s
        self._revision = request.revision
        self._located: dict[str, tuple[float, Location]] = {}
        folder = Path(request.folder)
        self._targets = [inside(folder, name) for name in file_names(request.files)]

    def locate(self, index: int, record: FileRecord) -> FileRecord:
        """Ask the Hub about a file; bytes that were fetched of another content are discarded.

        Raises:
            CancelledError: It was stopped.
            HubError: The Hub does not say.
        """
        location = self._patiently(lambda: self._location(record.path))
        if index == 0:
            self._revision = location.commit or self._revision
        if record.etag == location.etag and record.n_bytes == location.n_bytes:
            return record
        if record.is_done and record.is_ours:
            self._targets[index].unlink(missing_ok=True)
        return replace(
            record,
            etag=location.etag,
            n_bytes=location.n_bytes,
            sha256=location.sha256,
            n_safe=0,
            started_s=0.0,
            is_done=False,
            is_ours=False,
        )

    def fetch(self, index: int, record: FileRecord) -> FileRecord:
        """Fetch what is missing of a file, check it and give it its name.

        Raises:
            CancelledError: It was stopped; what is here is kept.
            HubError: The Hub does not give it.
            UserError: ``in-use``, ``file-exists``, ``wrong-content``.
            OSError: The disk failed; what is here is kept.
        """
        target = self._targets[index]
        if target.exists():
            record = self._accepted(index, record, target)
            with contextlib.suppress(OSError):  # the partial file beside it is useless now
                discard_part(target)
            return record
        with PartFile(target) as part:
            if target.exists():  # the previous holder of the lock has finished it meanwhile
                record = self._accepted(index, record, target)
                part.discard()
                return record
            part.start_at(n_kept(record, target))
            record = self._saved(index, record, part)
            for is_last in (False, True):
                record = self._filled(index, record, part)
                sha256 = part.digest(
                    self._control.is_stopped, lambda: self._control.verifying(index)
                )
                if record.sha256 in ("", sha256):
                    # Another program may have put a file there meanwhile.
                    if target.exists():
                        record = self._accepted(index, record, target)
                        part.discard()
                        return record
                    part.publish()
                    return replace(record, sha256=sha256, n_safe=0, is_done=True, is_ours=True)
                part.start_at(0)
                record = self._saved(index, record, part)
                if is_last:
                    part.discard()
        raise UserError(
            "wrong-content",
            f"{target.name} arrived damaged twice: its SHA-256 is not what the Hub says.",
            "Try again later or from another network; the damaged file was deleted.",
        )

    def _accepted(self, index: int, record: FileRecord, target: Path) -> FileRecord:
        """Accept a file that is there already, if it is the right one."""
        if target.is_file() and target.stat().st_size == record.n_bytes:
            if record.is_done:
                return record
            self._control.verifying(index)
            sha256 = hash_of(target, self._control.is_stopped).hexdigest()
            if record.sha256 in ("", sha256):
                return replace(record, sha256=sha256, n_safe=0, is_done=True)
        raise UserError(
            "file-exists",
            f"{target} is there already, and it is another file.",
            "Rename or delete it, or choose another folder.",
        )

    def _filled(self, index: int, record: FileRecord, part: PartFile) -> FileRecord:
        """Fetch until the file has its size; a failure without progress counts as an attempt."""
        n_failed = 0
        while part.n_bytes < record.n_bytes:
            before = part.n_bytes
            try:
                with self._kept(index, record, part):
                    self._stream(index, record, part)
                continue
            except HubError as error:
                if error.code in _ANEW:
                    part.start_at(0)
                n_failed = 1 if part.n_bytes > before else n_failed + 1
                self._pause(error, n_failed)
            self._located.pop(record.path, None)
            located = self.locate(index, record)
            if located.etag != record.etag:
                part.start_at(0)
            record = self._saved(index, located, part)
        return record

    def _stream(self, index: int, record: FileRecord, part: PartFile) -> None:
        """Write the bytes of one answer of the server."""
        location = self._patiently(lambda: self._location(record.path))
        stopped = self._control.is_stopped
        n_synced = part.n_bytes
        with self._hub.open(location, part.n_bytes, is_stopped=stopped) as answer:
            if answer.start != part.n_bytes:  # the server ignores ranges and sends everything
                part.start_at(0)
                n_synced = 0
            for chunk in answer:
                if stopped():
                    raise CancelledError
                if part.n_bytes + len(chunk) > record.n_bytes:
                    raise HubError("file-changed", "The file is longer than the Hub said.")
                part.write(chunk)
                self._control.moved(index, part.n_bytes)
                if part.n_bytes - n_synced >= _SYNC:
                    self._saved(index, record, part)
                    n_synced = part.n_bytes
        if part.n_bytes < record.n_bytes:
            raise HubError("no-network", "The connection broke off.", "Resume the download.")

    def _saved(self, index: int, record: FileRecord, part: PartFile) -> FileRecord:
        """Flush the partial file to the disk, then note that in the record."""
        part.sync()
        record = replace(record, n_safe=part.n_bytes, started_s=started_s())
        self._control.save(index, record)
        return record

    @contextlib.contextmanager
    def _kept(self, index: int, record: FileRecord, part: PartFile) -> Iterator[None]:
        """Save what has arrived when the block ends, also by an error."""
        try:
            yield
        except BaseException:
            with contextlib.suppress(OSError):  # the first failure is the one to report
                self._saved(index, record, part)
            raise
        self._saved(index, record, part)

    def _location(self, path: str) -> Location:
        since, location = self._located.get(path, (0.0, None))
        if location is None or time.monotonic() - since > _FRESH_S:
            location = self._hub.locate(
                self._request.repo, path, self._revision, self._control.is_stopped
            )
            self._located[path] = (time.monotonic(), location)
        return location

    def _patiently(self, ask: Callable[[], T]) -> T:
        """Repeat a request after failures that may be temporary."""
        n_failed = 0
        while True:
            try:
                return ask()
            except HubError as error:
                n_failed += 1
                self._pause(error, n_failed)

    def _pause(self, error: HubError, n_failed: int) -> None:
        """Wait before another try.

        Raises:
            CancelledError: It was stopped.
            HubError: Another try makes no sense.
        """
        if error.code == "stopped" or self._control.is_stopped():
            raise CancelledError from error
        wait_s = max(self._pauses_s[min(n_failed, len(self._pauses_s)) - 1], error.retry_after)
        is_hopeless = (
            error.code not in _AGAIN | _ANEW
            or n_failed > len(self._pauses_s)
            or wait_s > _LONGEST_WAIT_S
        )
        if is_hopeless:
            raise error
        self._control.wait(wait_s)
        if self._control.is_stopped():
            raise CancelledError from error
