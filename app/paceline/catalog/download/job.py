"""One download as it runs: its state and speed, how its files are fetched, and how it ends.

The client library's own downloads start from zero after every interruption (`huggingface_hub` since
1.18), so ranges of the file are requested here. The Hub is asked about a file again at every start
and after every failure, because the address of the content is signed and expires. All files come
from the commit that the first one was found in, so that the parts of a split model belong together
even if the repository changes meanwhile.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import shutil
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from paceline.catalog.download.journal import DownloadState, FileRecord, n_kept, started_s
from paceline.catalog.download.names import file_names, inside
from paceline.catalog.download.part_file import PartFile, discard_part, hash_of
from paceline.catalog.hub.errors import HubError
from paceline.errors import CancelledError, UserError
from paceline.files import private_folder
from paceline.sizes import readable_size

if TYPE_CHECKING:
    from paceline.catalog.download.journal import DownloadRequest, Journal, Record, Status
    from paceline.catalog.hub.client import Hub
    from paceline.catalog.hub.stream import Location

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
OVER = ("done", "cancelled")
"""Final states; no journal is kept of them."""
_TELL_EVERY_S = 0.2
_logger = logging.getLogger(__name__)


class Job:
    """A download. `run` is for one worker thread at a time, everything else for any.

    Attributes:
        id: As in `DownloadState`.
        request: What was asked for.
    """

    def __init__(
        self,
        record: Record,
        hub: Hub,
        journal: Journal,
        on_change: Callable[[Job], None],
    ) -> None:
        """Continue a download where its record says; nothing is written yet."""
        self.id = record.id
        self.request: DownloadRequest = record.request
        self._record = record
        self._hub = hub
        self._journal = journal
        self._on_change = on_change
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._files: list[FileRecord] = list(record.files)
        self._arrived = [self._n_here(file) for file in record.files]
        self._speed = Speed()
        self._stopping = threading.Event()
        self._stop_kind: Literal["", "pause", "cancel"] = ""
        self._told_s = 0.0

    # ---------------------------------------------------------------------------- any thread

    @property
    def status(self) -> Status:
        """Its status."""
        with self._lock:
            return self._record.status

    @property
    def stopping(self) -> Literal["", "pause", "cancel"]:
        """What it is about to do, or has done, on request: pause or cancel."""
        with self._lock:
            return self._stop_kind

    def state(self) -> DownloadState:
        """Return everything about it."""
        with self._lock:
            n_done, n_total = self._counts()
            speed = 0.0
            if self._record.status == "running":
                speed = self._speed.bytes_per_s(time.monotonic(), n_done)
            is_done = self._record.status == "done"
            return DownloadState(
                id=self.id,
                request=self.request,
                status=self._record.status,
                n_done=n_done,
                n_total=n_total,
                bytes_per_s=speed,
                seconds_left=(n_total - n_done) / speed if speed > 0 and n_total else None,
                problem=self._record.problem,
                hint=self._record.hint,
                path=str(self._target(self._files[0])) if is_done else "",
                sha256=self._files[0].sha256 if is_done else "",
            )

    def n_left(self) -> int:
        """Return how many bytes are still to come, as far as is known."""
        with self._lock:
            n_done, n_total = self._counts()
            return n_total - n_done

    def stop(self, kind: Literal["pause", "cancel"]) -> None:
        """Let a running job end soon; a cancel cannot be taken back."""
        with self._lock:
            if self._stop_kind != "cancel":
                self._stop_kind = kind
        self._stopping.set()

    def shift(self, status: Status) -> None:
        """Change its status while it does not run; the listener is not told, see `announce`."""
        with self._lock:
            self._become(status)

    def announce(self) -> None:
        """Save its state and tell the listener."""
        self._write()
        self._on_change(self)

    def prepare(self) -> None:
        """Let the next `run` run: an earlier pause is over."""
        with self._lock:
            if self._stop_kind == "pause":
                self._stop_kind = ""
                self._stopping.clear()

    def renew(self) -> None:
        """Start again from zero after a cancel, and wait for its turn."""
        with self._lock:
            self._stop_kind = ""
            self._stopping.clear()
            self._files = [FileRecord(path) for path in self.request.files]
            self._arrived = [0] * len(self._files)
            self._become("waiting")

    # -------------------------------------------------------------------------- the worker's thread

    def run(self, n_reserved: Callable[[], int] = lambda: 0) -> None:
        """Fetch everything; ends as done, paused, failed or cancelled.

        Args:
            n_reserved: Bytes that other running downloads will need on the same disk.
        """
        try:
            if self.is_stopped():
                raise CancelledError
            self._set("running")
            self._fetch_all(n_reserved)
        except CancelledError:
            self._end("paused", "", "")
        except UserError as error:
            # Where another program downloads the file, the journal belongs to that one.
            is_ours = error.code != "in-use"
            self._end("failed", error.message, error.hint, is_noted=is_ours)
        except OSError as error:
            self._end_by_disk(error)
        except Exception:  # top of the thread: an error here would be reported nowhere else
            _logger.exception("the download of %s failed", self.request.repo)
            self._end("failed", "The download failed by a fault of this program.", "See the log.")
        else:
            self._finish("done")

    def is_stopped(self) -> bool:
        """Whether to end; polled several times a second."""
        return self._stopping.is_set()

    def wait(self, seconds: float) -> None:
        """Sleep, but not longer than until `is_stopped`."""
        self._stopping.wait(seconds)

    def save(self, index: int, record: FileRecord) -> None:
        """Keep what is known of a file."""
        n_here = self._n_here(record)  # asks the disk: not while others wait for the lock
        with self._lock:
            self._files[index] = record
            self._arrived[index] = n_here
        self._write()

    def moved(self, index: int, n_bytes: int) -> None:
        """Note how many bytes of a file are here now."""
        now_s = time.monotonic()
        with self._lock:
            self._arrived[index] = n_bytes
            self._become("running")
            self._speed.add(now_s, self._counts()[0])
            if now_s - self._told_s < _TELL_EVERY_S:
                return
            self._told_s = now_s
        self._on_change(self)

    def verifying(self) -> None:
        """Note that a file is being read, which takes a while."""
        self._set("verifying")

    # ----------------------------------------------------------------------------------- inside

    def _fetch_all(self, n_reserved: Callable[[], int]) -> None:
        request = self.request
        if request.endpoint not in ("", self._hub.endpoint):
            raise UserError(
                "other-endpoint",
                f"This download belongs to {request.endpoint}.",
                "Set HF_ENDPOINT to that address to go on with it.",
            )
        folder = Path(request.folder)
        downloader = Downloader(self._hub, self)
        for i, record in enumerate(self._files):
            self.save(i, downloader.locate(i, record))
        n_needed = sum(
            record.n_bytes - n_here
            for record, n_here in zip(self._files, self._arrived, strict=True)
            if not self._target(record).exists()
        )
        check_space(folder, n_needed + n_reserved() if n_needed else 0)
        private_folder(folder)
        for i in range(len(self._files)):
            self._set("running")
            self.save(i, downloader.fetch(i, self._files[i]))

    def _end_by_disk(self, error: OSError) -> None:
        if is_full(error):
            self._end(
                "paused",
                f"The disk of {self.request.folder} is full.",
                "Make room there and resume; what has arrived is kept.",
            )
        else:
            self._end(
                "failed",
                f"The files cannot be written to {self.request.folder} "
                f"({error.strerror or error}).",
                "Check the folder and its disk, then resume.",
            )

    def _end(self, status: Status, problem: str, hint: str, *, is_noted: bool = True) -> None:
        """End without being done; a cancel takes precedence over any other reason."""
        if self.stopping == "cancel":
            self._delete()
            self._finish("cancelled")
            return
        with self._lock:
            self._speed.clear()
            self._become(status, problem, hint)
        if is_noted:
            self._write()  # first, so that the listener finds it written
        self._on_change(self)

    def _finish(self, status: Status) -> None:
        """End for good: when the state is visible, nothing more is written."""
        with self._writing:
            self._journal.remove(self.id)
            with self._lock:
                self._speed.clear()
                self._become(status)
        self._on_change(self)

    def _become(self, status: Status, problem: str = "", hint: str = "") -> None:
        self._record = replace(self._record, status=status, problem=problem, hint=hint)

    def _set(self, status: Status) -> None:
        with self._lock:
            if self._record.status == status:
                return
            self._become(status)
            if status != "running":
                self._speed.clear()
            self._told_s = time.monotonic()
        self._on_change(self)

    def _write(self) -> None:
        with self._writing:
            with self._lock:
                if self._record.status in OVER:  # a call with an earlier change came late
                    return
                record = replace(self._record, files=tuple(self._files))
            try:
                self._journal.save(record)
            except OSError as error:
                # Without this record the next start only fetches more; this run goes on.
                _logger.info("the download's journal cannot be written: %s", error)

    def _delete(self) -> None:
        """Delete what this download has put on the disk."""
        with self._lock:
            self._arrived = [0] * len(self._files)
        with contextlib.suppress(UserError):  # a name that was never used
            for record, target in zip(self._files, self.targets(), strict=True):
                with contextlib.suppress(OSError):
                    if record.is_done and record.is_ours:
                        target.unlink(missing_ok=True)
                    discard_part(target)

    def targets(self) -> list[Path]:
        """Return where its files go when they are complete.

        Raises:
            UserError: ``unsafe-name``.
        """
        folder = Path(self.request.folder)
        return [inside(folder, name) for name in file_names(self.request.files)]

    def _target(self, record: FileRecord) -> Path:
        return Path(self.request.folder) / record.path.rsplit("/", 1)[-1]

    def _n_here(self, record: FileRecord) -> int:
        return record.n_bytes if record.is_done else n_kept(record, self._target(record))

    def _counts(self) -> tuple[int, int]:
        n_done = sum(self._arrived)
        if any(not f.etag for f in self._files):
            return n_done, 0
        return n_done, sum(f.n_bytes for f in self._files)


class Downloader:
    """One run of one download; on one thread."""

    def __init__(self, hub: Hub, job: Job) -> None:
        """Prepare a run; nothing is requested yet.

        Raises:
            UserError: ``unsafe-name``.
        """
        self._hub = hub
        self._job = job
        self._revision = job.request.revision
        self._located: dict[str, tuple[float, Location]] = {}
        self._targets = job.targets()

    def locate(self, index: int, record: FileRecord) -> FileRecord:
        """Ask the Hub about a file; bytes that were fetched of another content are discarded.

        Raises:
            CancelledError: It was stopped.
            HubError: The Hub does not say.
        """
        location = self._location(record.path)
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
            record = self._accepted(record, target)
            with contextlib.suppress(OSError):  # the partial file beside it is useless now
                discard_part(target)
            return record
        with PartFile(target) as part:
            if target.exists():  # the previous holder of the lock has finished it meanwhile
                record = self._accepted(record, target)
                part.discard()
                return record
            part.start_at(n_kept(record, target))
            record = self._saved(index, record, part)
            for is_last in (False, True):
                record = self._filled(index, record, part)
                sha256 = part.digest(self._job.is_stopped, self._job.verifying)
                if record.sha256 in ("", sha256):
                    # Another program may have put a file there meanwhile.
                    if target.exists():
                        record = self._accepted(record, target)
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

    def _accepted(self, record: FileRecord, target: Path) -> FileRecord:
        """Accept a file that is there already, if it is the right one."""
        if target.is_file() and target.stat().st_size == record.n_bytes:
            if record.is_done:
                return record
            self._job.verifying()
            sha256 = hash_of(target, self._job.is_stopped).hexdigest()
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
        location = self._location(record.path)
        stopped = self._job.is_stopped
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
                self._job.moved(index, part.n_bytes)
                if part.n_bytes - n_synced >= _SYNC:
                    self._saved(index, record, part)
                    n_synced = part.n_bytes
        if part.n_bytes < record.n_bytes:
            raise HubError("no-network", "The connection broke off.", "Resume the download.")

    def _saved(self, index: int, record: FileRecord, part: PartFile) -> FileRecord:
        """Flush the partial file to the disk, then note that in the record."""
        part.sync()
        record = replace(record, n_safe=part.n_bytes, started_s=started_s())
        self._job.save(index, record)
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
        """Return where a file is, asked again after failures that may be temporary."""
        since, location = self._located.get(path, (0.0, None))
        n_failed = 0
        while location is None or time.monotonic() - since > _FRESH_S:
            try:
                location = self._hub.locate(
                    self._job.request.repo, path, self._revision, self._job.is_stopped
                )
            except HubError as error:
                n_failed += 1
                self._pause(error, n_failed)
            else:
                since = time.monotonic()
                self._located[path] = since, location
        return location

    def _pause(self, error: HubError, n_failed: int) -> None:
        """Wait before another try.

        Raises:
            CancelledError: It was stopped.
            HubError: Another try makes no sense.
        """
        if error.code == "stopped" or self._job.is_stopped():
            raise CancelledError from error
        wait_s = max(PAUSES_S[min(n_failed, len(PAUSES_S)) - 1], error.retry_after)
        is_hopeless = (
            error.code not in _AGAIN | _ANEW or n_failed > len(PAUSES_S) or wait_s > _LONGEST_WAIT_S
        )
        if is_hopeless:
            raise error
        self._job.wait(wait_s)
        if self._job.is_stopped():
            raise CancelledError from error


_MARGIN = 64 << 20
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
    if n_needed > 0 and n_needed + _MARGIN > n_free:
        raise UserError(
            "disk-full",
            f"{readable_size(n_needed)} are still to come, but the disk of {folder} has only "
            f"{readable_size(n_free)} free.",
            "Make room or choose a folder on another disk, then resume.",
        )


def is_full(error: OSError) -> bool:
    """Whether a write failed for lack of space, by the disk or by a quota."""
    return error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))


_WINDOW_S = 3.0
_STEP_S = 0.1
"""Samples closer than this are dropped."""


class Speed:
    """Bytes per second from a count that grows; one thread at a time."""

    def __init__(self) -> None:
        self._samples: deque[tuple[float, int]] = deque()

    def add(self, now_s: float, n_bytes: int) -> None:
        """Add the count at a time; a smaller count than before starts again."""
        samples = self._samples
        if samples and n_bytes < samples[-1][1]:
            samples.clear()
        if samples and now_s - samples[-1][0] < _STEP_S:
            return
        samples.append((now_s, n_bytes))
        while len(samples) > 2 and samples[1][0] <= now_s - _WINDOW_S:
            samples.popleft()

    def clear(self) -> None:
        """Forget the samples, because nothing is being transferred."""
        self._samples.clear()

    def bytes_per_s(self, now_s: float, n_bytes: int) -> float:
        """Return the speed at a time; it falls when the count does not grow."""
        recent = next((s for s in self._samples if s[0] >= now_s - _WINDOW_S), None)
        if recent is None or now_s - recent[0] < _STEP_S:
            return 0.0
        return max(0.0, (n_bytes - recent[1]) / (now_s - recent[0]))
