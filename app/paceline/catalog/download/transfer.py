"""One run of a download: its files are located, fetched, checked, and get their names.

The client library's own downloads start from zero after every interruption (`huggingface_hub` since
1.18), so ranges of the file are requested here. The Hub is asked about a file again at every start
and after every failure, because the address of the content is signed and expires. All files come
from the commit that the first one was found in, so that the parts of a split model belong together
even if the repository changes meanwhile.
"""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from paceline.catalog.download.part_file import PartFile, discard_part, hash_of
from paceline.catalog.download.record import Download, DownloadedFile, n_kept, started_s
from paceline.catalog.hub.client import Hub
from paceline.catalog.hub.errors import HubError
from paceline.catalog.hub.stream import Location
from paceline.errors import CancelledError, UserError
from paceline.files import private_folder
from paceline.sentence import UserText

PAUSES_S = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
"""Seconds before each further attempt; as many in a row may fail without progress."""
_MAX_WAIT_S = 120
"""Upper bound of the wait that a server may ask for; with a longer one the download fails."""
_POLL_S = 0.1
"""Seconds between two polls of the stop flag while waiting."""
_SYNC_BYTES = 32 << 20
"""Bytes after which the file is flushed, so that a power failure loses no more."""
_AGAIN = frozenset({"no-network", "timed-out", "server-error", "rate-limited", "location-expired"})
_ANEW = frozenset({"range-refused", "file-changed"})

Doing = Literal["running", "verifying"]


class Transfer:
    """One run of a download; on one thread."""

    def __init__(
        self,
        hub: Hub,
        download: Download,
        is_stopped: Callable[[], bool],
        on_change: Callable[[tuple[DownloadedFile, ...], Doing, UserText], None],
    ) -> None:
        """Prepare a run; nothing is requested yet.

        Args:
            hub: The Hub that the files come from.
            download: The record at the start of the run.
            is_stopped: Polled several times a second; true ends the run.
            on_change: Gets the files as they are after every change, what is being done, and why
                it has to be tried again, which is empty where it has not.

        Raises:
            UserError: ``unsafe-name``.
        """
        self._hub = hub
        self._request = download.request
        self._files = list(download.files)
        self._is_stopped = is_stopped
        self._on_change = on_change
        self._revision = download.request.revision
        self._located: dict[str, Location] = {}
        self._targets = download.request.targets()

    def run(self, n_reserved: Callable[[], int]) -> None:
        """Fetch everything that is missing.

        Args:
            n_reserved: Bytes that other running downloads will need on the same disk.

        Raises:
            CancelledError: It was stopped; what is here is kept.
            HubError: The Hub does not give a file.
            UserError: ``other-endpoint``, ``other-content``, ``disk-full``, ``in-use``,
                ``file-exists``, ``wrong-content``.
            OSError: The disk failed; what is here is kept.
        """
        request = self._request
        if request.endpoint not in ("", self._hub.endpoint):
            raise UserError(
                "other-endpoint",
                "This download belongs to {endpoint}.",
                "Set HF_ENDPOINT to that address to go on with it.",
                endpoint=request.endpoint,
            )
        for index in range(len(self._files)):
            self._locate(index)
        n_needed = sum(
            file.n_bytes - file.n_here
            for file, target in zip(self._files, self._targets, strict=True)
            if not target.exists()
        )
        folder = Path(request.folder)
        check_space(folder, n_needed + n_reserved() if n_needed else 0)
        private_folder(folder)
        for index in range(len(self._files)):
            self._fetch(index)

    def _change(self, index: int, **changes: Any) -> None:
        """Replace fields of a file's record, and report it."""
        self._files[index] = replace(self._files[index], **changes)
        self._on_change(tuple(self._files), "running", "")

    def _verifying(self) -> None:
        """Report that a file is being read, which takes a while."""
        self._on_change(tuple(self._files), "verifying", "")

    def _locate(self, index: int) -> bool:
        """Ask the Hub about a file; return whether its content has changed.

        Raises:
            CancelledError: It was stopped.
            HubError: The Hub gives no answer.
            UserError: ``other-content``.
        """
        file, target = self._files[index], self._targets[index]
        found = self._location(file.path)
        if index == 0:
            self._revision = found.commit or self._revision
            found = self._expected(found, target.name)
        if (file.etag, file.n_bytes) == (found.etag, found.n_bytes):
            self._change(index, n_here=file.n_bytes if file.is_done else n_kept(file, target))
            return False
        if file.is_done and file.is_ours:
            target.unlink(missing_ok=True)
        self._files[index] = DownloadedFile(file.path)
        self._change(index, etag=found.etag, n_bytes=found.n_bytes, sha256=found.sha256)
        return True

    def _expected(self, found: Location, name: str) -> Location:
        """Return where the first file is, with the hash that the request knows.

        Raises:
            UserError: ``other-content``: the Hub has another file there.
        """
        sha256 = self._request.sha256
        if sha256 and found.sha256 not in ("", sha256):
            raise UserError(
                "other-content",
                "The Hub has another file in the place of {name}: its SHA-256 is not the one that "
                "is known.",
                "It was not downloaded. Try again later, or choose another model.",
                name=name,
            )
        return replace(found, sha256=sha256 or found.sha256)

    def _fetch(self, index: int) -> None:
        """Fetch what is missing of a file, check it and give it its name.

        Raises:
            CancelledError, HubError, UserError, OSError: As `run`.
        """
        target = self._targets[index]
        if target.exists():
            self._accept(index)
            with contextlib.suppress(OSError):  # the partial file beside it is useless now
                discard_part(target)
            return
        with PartFile(target) as part:
            part.start_at(n_kept(self._files[index], target))
            self._save(index, part)
            for _ in range(2):
                # Another program may have finished the file before this one had the lock, or put
                # it there in any other way meanwhile.
                if not target.exists() and not self._is_whole(index, part):
                    continue
                if target.exists():
                    self._accept(index)
                    part.discard()
                else:
                    part.publish()
                    n_bytes = self._files[index].n_bytes
                    self._change(index, n_safe=0, n_here=n_bytes, is_done=True, is_ours=True)
                return
            part.discard()
        raise UserError(
            "wrong-content",
            "{name} arrived damaged twice: its SHA-256 is not the right one.",
            "Try again later or from another network; the damaged file was deleted.",
            name=target.name,
        )

    def _accept(self, index: int) -> None:
        """Accept a file that is there already, if it is the right one."""
        file, target = self._files[index], self._targets[index]
        if target.is_file() and target.stat().st_size == file.n_bytes:
            sha256 = file.sha256
            if not file.is_done:
                self._verifying()
                sha256 = hash_of(target, self._is_stopped).hexdigest()
            if file.sha256 in ("", sha256):
                self._change(index, sha256=sha256, n_safe=0, n_here=file.n_bytes, is_done=True)
                return
        raise UserError(
            "file-exists",
            "{target} is there already, and it is another file.",
            "Rename or delete it, or choose another folder.",
            target=target,
        )

    def _is_whole(self, index: int, part: PartFile) -> bool:
        """Fetch the rest and check it; what is damaged is given up."""
        self._fill(index, part)
        sha256 = part.digest(self._is_stopped, self._verifying)
        if self._files[index].sha256 in ("", sha256):
            self._change(index, sha256=sha256)
            return True
        part.start_at(0)
        self._save(index, part)
        return False

    def _fill(self, index: int, part: PartFile) -> None:
        """Fetch until the file has its size; a failure without progress counts as an attempt."""
        n_failed = 0
        while part.n_bytes < self._files[index].n_bytes:
            before = part.n_bytes
            try:
                self._stream(index, part)
            except HubError as error:
                if error.code in _ANEW:
                    part.start_at(0)
                n_failed = 1 if part.n_bytes > before else n_failed + 1
                self._pause(error, n_failed)
            else:
                continue
            self._located.pop(self._files[index].path, None)
            if self._locate(index):
                part.start_at(0)
            self._save(index, part)

    def _stream(self, index: int, part: PartFile) -> None:
        """Write the bytes of one answer of the server; what has arrived is saved at its end."""
        file = self._files[index]
        location = self._location(file.path)
        n_synced = part.n_bytes
        try:
            with self._hub.open(location, part.n_bytes, is_stopped=self._is_stopped) as answer:
                if answer.start != part.n_bytes:  # the server ignores ranges, sends everything
                    part.start_at(n_synced := 0)
                for chunk in answer:
                    if self._is_stopped():
                        raise CancelledError
                    if part.n_bytes + len(chunk) > file.n_bytes:
                        raise HubError("file-changed", "The file is longer than the Hub said.")
                    part.write(chunk)
                    self._change(index, n_here=part.n_bytes)
                    if part.n_bytes - n_synced >= _SYNC_BYTES:
                        self._save(index, part)
                        n_synced = part.n_bytes
            if part.n_bytes < file.n_bytes:
                raise HubError("no-network", "The connection broke off.", "Resume the download.")
        except BaseException:
            with contextlib.suppress(OSError):  # the first failure is the one to report
                self._save(index, part)
            raise
        self._save(index, part)

    def _save(self, index: int, part: PartFile) -> None:
        """Flush the partial file to the disk, then let the journal say that."""
        part.sync()
        self._change(index, n_safe=part.n_bytes, n_here=part.n_bytes, started_s=started_s())

    def _location(self, path: str) -> Location:
        """Return where a file is, asked again after failures that may be temporary."""
        n_failed = 0
        while path not in self._located:
            try:
                self._located[path] = self._hub.locate(
                    self._request.repo, path, self._revision, self._is_stopped
                )
            except HubError as error:
                n_failed += 1
                self._pause(error, n_failed)
        return self._located[path]

    def _pause(self, error: HubError, n_failed: int) -> None:
        """Wait before another try.

        Raises:
            CancelledError: It was stopped.
            HubError: Another try makes no sense.
        """
        wait_s = max(PAUSES_S[min(n_failed, len(PAUSES_S)) - 1], error.retry_after)
        is_hopeless = (
            error.code not in _AGAIN | _ANEW or n_failed > len(PAUSES_S) or wait_s > _MAX_WAIT_S
        )
        if not is_hopeless:
            self._on_change(tuple(self._files), "running", error.message)
        until = time.monotonic() + wait_s
        while not self._is_stopped() and error.code != "stopped":
            if is_hopeless:
                raise error
            if (left_s := until - time.monotonic()) <= 0:
                return
            time.sleep(min(_POLL_S, left_s))
        raise CancelledError from error


_MIN_FREE_BYTES = 64 << 20
"""Bytes left free for other programs, which fail on a full disk."""


def check_space(folder: Path, n_needed: int) -> None:
    """Check that so many more bytes fit on the disk of a folder, which may not exist yet.

    Raises:
        UserError: ``disk-full``: they do not.
    """
    place = next(p for p in (folder, *folder.parents) if p.is_dir())
    try:
        n_free = shutil.disk_usage(place).free
    except OSError:
        return  # unknown; then writing will show it
    if n_needed > 0 and n_needed + _MIN_FREE_BYTES > n_free:
        raise UserError(
            "disk-full",
            "{needed:size} are still to come, but the disk of {folder} has only {free:size} free.",
            "Make room or choose a folder on another disk, then resume.",
            needed=n_needed,
            folder=folder,
            free=n_free,
        )
