"""One download as it runs: its state, its speed, the space it needs, and how it ends."""

from __future__ import annotations

import contextlib
import errno
import logging
import shutil
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from paceline.catalog.download.downloader import PAUSES_S, Downloader
from paceline.catalog.download.journal import DownloadState, FileRecord, n_kept
from paceline.catalog.download.names import file_names, inside
from paceline.catalog.download.part_file import discard_part
from paceline.errors import CancelledError, UserError
from paceline.files import private_folder
from paceline.sizes import readable_size

if TYPE_CHECKING:
    from paceline.catalog.download.journal import DownloadRequest, Journal, Record, Status
    from paceline.catalog.hub.client import Hub

OVER = ("done", "cancelled")
"""Final states; no journal is kept of them."""
_TELL_EVERY_S = 0.2
_logger = logging.getLogger(__name__)


class Job:
    """A download. `run` is for one worker thread at a time, everything else for any.

    Attributes:
        id: As in `DownloadState`.
        request: What was asked for.
        added_s: Seconds since the epoch.
    """

    def __init__(
        self,
        record: Record,
        hub: Hub,
        journal: Journal,
        on_change: Callable[[Job], None],
        pauses_s: Sequence[float] = PAUSES_S,
    ) -> None:
        """Continue a download where its record says; nothing is written yet."""
        self.id = record.id
        self.request: DownloadRequest = record.request
        self.added_s = record.added_s
        self._record = record
        self._hub = hub
        self._journal = journal
        self._on_change = on_change
        self._pauses_s = pauses_s
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._files: list[FileRecord] = list(record.files)
        self._status: Status = record.status
        self._problem = record.problem
        self._hint = record.hint
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
            return self._status

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
            if self._status == "running":
                speed = self._speed.bytes_per_s(time.monotonic(), n_done)
            is_done = self._status == "done"
            return DownloadState(
                id=self.id,
                request=self.request,
                status=self._status,
                n_done=n_done,
                n_total=n_total,
                bytes_per_s=speed,
                seconds_left=(n_total - n_done) / speed if speed > 0 and n_total else None,
                problem=self._problem,
                hint=self._hint,
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
            self._status, self._problem, self._hint = status, "", ""

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
            self._status = "waiting"

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
        """Part of `Control`."""
        return self._stopping.is_set()

    def wait(self, seconds: float) -> None:
        """Part of `Control`."""
        self._stopping.wait(seconds)

    def save(self, index: int, record: FileRecord) -> None:
        """Part of `Control`."""
        n_here = self._n_here(record)  # asks the disk: not while others wait for the lock
        with self._lock:
            self._files[index] = record
            self._arrived[index] = n_here
        self._write()

    def moved(self, index: int, n_bytes: int) -> None:
        """Part of `Control`."""
        now_s = time.monotonic()
        with self._lock:
            self._arrived[index] = n_bytes
            self._status = "running"
            self._speed.add(now_s, self._counts()[0])
            if now_s - self._told_s < _TELL_EVERY_S:
                return
            self._told_s = now_s
        self._on_change(self)

    def verifying(self, index: int) -> None:  # noqa: ARG002  Control's signature
        """Part of `Control`."""
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
        downloader = Downloader(self._hub, request, self, self._pauses_s)
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
            self._status, self._problem, self._hint = status, problem, hint
        if is_noted:
            self._write()  # first, so that the listener finds it written
        self._on_change(self)

    def _finish(self, status: Status) -> None:
        """End for good: when the state is visible, nothing more is written."""
        with self._writing:
            self._journal.remove(self.id)
            with self._lock:
                self._speed.clear()
                self._status, self._problem, self._hint = status, "", ""
        self._on_change(self)

    def _set(self, status: Status, problem: str = "", hint: str = "") -> None:
        with self._lock:
            if (self._status, self._problem, self._hint) == (status, problem, hint):
                return
            self._status, self._problem, self._hint = status, problem, hint
            if status != "running":
                self._speed.clear()
            self._told_s = time.monotonic()
        self._on_change(self)

    def _write(self) -> None:
        with self._writing:
            with self._lock:
                if self._status in OVER:  # a call with an earlier change came late
                    return
                self._record = record = replace(
                    self._record,
                    files=tuple(self._files),
                    status=self._status,
                    problem=self._problem,
                    hint=self._hint,
                )
            try:
                self._journal.save(record)
            except OSError as error:
                # Without this record the next start only fetches more; this run goes on.
                _logger.info("the download's journal cannot be written: %s", error)

    def _delete(self) -> None:
        """Delete what this download has put on the disk."""
        with self._lock:
            self._arrived = [0] * len(self._files)
        folder = Path(self.request.folder)
        with contextlib.suppress(UserError):  # a name that was never used
            for record, name in zip(self._files, file_names(self.request.files), strict=True):
                target = inside(folder, name)
                with contextlib.suppress(OSError):
                    if record.is_done and record.is_ours:
                        target.unlink(missing_ok=True)
                    discard_part(target)

    def _target(self, record: FileRecord) -> Path:
        return Path(self.request.folder) / record.path.rsplit("/", 1)[-1]

    def _n_here(self, record: FileRecord) -> int:
        return record.n_bytes if record.is_done else n_kept(record, self._target(record))

    def _counts(self) -> tuple[int, int]:
        n_done = sum(self._arrived)
        if any(not f.etag for f in self._files):
            return n_done, 0
        return n_done, sum(f.n_bytes for f in self._files)


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
        raise disk_full(folder, n_needed, n_free)


def disk_full(folder: Path, n_needed: int, n_free: int) -> UserError:
    """Return the refusal of a download that does not fit."""
    return UserError(
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
