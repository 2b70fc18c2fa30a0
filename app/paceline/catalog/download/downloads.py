"""All downloads: some run, the others wait; unfinished ones survive a restart as paused.

The state of each is one `Download`, kept and replaced here. Commands set the wanted state. While a
thread works at a download, that thread alone changes its record; otherwise the command does.
Nothing here calls the listener while a lock is held that a method below needs.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from paceline.catalog.download.journal import DownloadJournal
from paceline.catalog.download.names import absolute_folder, file_names
from paceline.catalog.download.part_file import discard_part
from paceline.catalog.download.record import (
    OVER,
    Download,
    DownloadedFile,
    DownloadRequest,
    Status,
)
from paceline.catalog.download.speed import Speed
from paceline.catalog.download.transfer import Doing, Transfer
from paceline.catalog.hub.client import Hub
from paceline.errors import CancelledError, UserError
from paceline.sentence import UserText, sentence

Listener = Callable[[Download], None]
Wanted = Literal["run", "pause", "cancel", "renew"]
"""The state that is wanted; "renew" is a cancel after which a download begins again from zero."""

_CLOSE_S = 1.0
_REPORT_EVERY_S = 0.2
_GIVEN_UP = ("cancel", "renew")
_SHIFTS: dict[tuple[Status, Wanted], Status] = {
    ("waiting", "pause"): "paused",
    ("paused", "run"): "waiting",
    ("failed", "run"): "waiting",
}
"""The status that follows at once where no thread works at the download."""
_logger = logging.getLogger(__name__)


@dataclass(eq=False, slots=True)
class _Task:
    """A download, its wanted state, and whether a thread works at it; guarded by a lock.

    Attributes:
        now: Its record.
        is_at_work: Whether a thread fetches its files, or deletes them.
        is_ours: Whether the journal is this program's; another one may download the same file.
        told_s: Time of the last call of the listener, on the clock `time.monotonic`.
    """

    now: Download
    wanted: Wanted = "pause"
    is_at_work: bool = False
    is_ours: bool = True
    told_s: float = 0.0
    speed: Speed = field(default_factory=Speed)

    @property
    def is_waiting(self) -> bool:
        """Return whether it is in the queue."""
        return self.now.status == "waiting" and not self.is_at_work

    def is_stopped(self) -> bool:
        """Return whether a run has to end; needs no lock."""
        return self.wanted != "run"

    def change(self, **changes: Any) -> Download:
        """Replace fields of the record; returns the new one."""
        self.now = replace(self.now, **changes)
        if self.now.status != "running":
            self.speed.clear()
        return self.seen()

    def seen(self) -> Download:
        """Return the record with the speed of this moment."""
        speed = self.speed.bytes_per_s(time.monotonic(), self.now.n_done)
        return replace(self.now, bytes_per_s=speed)

    def want(self, wanted: Wanted) -> Download | None:
        """Change what is wanted; returns the record if that has changed it at once."""
        is_going = self.wanted in _GIVEN_UP and wanted not in _GIVEN_UP
        if is_going or self.now.status in OVER:
            return None
        self.wanted = wanted
        status = None if self.is_at_work else _SHIFTS.get((self.now.status, wanted))
        return self.change(status=status, problem="", hint="") if status is not None else None

    def settle(self, end: Download, *, is_closed: bool) -> Download:
        """Store the record that a run has ended with; it may have been resumed meanwhile."""
        self.is_at_work = False
        if self.wanted == "renew":
            self.wanted = "run"
            end = replace(end, status="paused")
        if end.status != "paused" or end.problem or is_closed:
            self.wanted = "pause"
        elif self.wanted == "run":
            end = replace(end, status="waiting")
        self.now = end
        return self.change()


class Downloads:
    """The program's downloads; any thread."""

    def __init__(self, hub: Hub, state_dir: Path, *, at_once: int = 2) -> None:
        """Load unfinished downloads of an earlier run as paused; nothing is fetched yet.

        Args:
            hub: The Hub that files come from.
            state_dir: Folder of the journals; made when it is needed.
            at_once: Number of downloads that run at the same time.
        """
        self._hub = hub
        self._journal = DownloadJournal(state_dir)
        self._at_once = at_once
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._listening = threading.RLock()
        self._listener: Listener | None = None
        self._threads: set[threading.Thread] = set()
        self._is_closed = False
        self._tasks = {download.id: _Task(download) for download in self._journal.load()}

    def set_listener(self, listener: Listener | None) -> None:
        """Call `listener` with a download after every change; None means no listener.

        It is called on workers' threads, or on the thread whose call changed something, at most
        about five times a second per download, and once for every change of status. Once this
        returns, the previous one is not called any more; so the listener must not wait for the
        thread that sets it.
        """
        with self._listening:
            self._listener = listener

    def add(self, request: DownloadRequest) -> str:
        """Fetch a model, or continue the same request; returns the download's id.

        Raises:
            UserError: ``unsafe-name``, ``bad-folder``.
            CancelledError: After `close`.
        """
        file_names(request.files)
        request = replace(
            request,
            folder=str(absolute_folder(request.folder)),
            endpoint=request.endpoint.rstrip("/") or self._hub.endpoint,
        )
        with self._lock:
            if self._is_closed:
                raise CancelledError
            same = [task for task in self._tasks.values() if task.now.request == request]
            task = next((task for task in same if task.now.status not in OVER), None)
            if task is None:
                for known in same:
                    if known.now.status == "done":
                        del self._tasks[known.now.id]
                id_ = secrets.token_hex(8)
                new = Download(id_, request, _new(request), "paused", added_s=time.time())
                task = self._tasks[id_] = _Task(new)
            now = task.want("renew" if task.wanted in _GIVEN_UP else "run")
        self._follow(task, now)
        return task.now.id

    def pause(self, download: str) -> None:
        """Pause a download; what has arrived is kept. Does not wait for that."""
        self._want(download, "pause")

    def resume(self, download: str) -> None:
        """Continue a download that is paused or failed, as soon as it is its turn."""
        self._want(download, "run")

    def cancel(self, download: str) -> None:
        """Give a download up and delete what has arrived. Does not wait for that."""
        self._want(download, "cancel")

    def forget(self, download: str) -> None:
        """Drop a download that is done or cancelled from the list; others stay."""
        with self._lock:
            task = self._tasks.get(download)
            if task is not None and task.now.status in OVER:
                del self._tasks[download]

    def states(self) -> tuple[Download, ...]:
        """Return all of them as they stand, the oldest first."""
        with self._lock:
            return tuple(task.seen() for task in self._tasks.values())

    def close(self) -> None:
        """Pause everything and wait for that, a second at most; nothing can be added any more."""
        with self._lock:
            self._is_closed = True
            threads = self._threads - {threading.current_thread()}
            downloads = tuple(self._tasks)
        for download in downloads:
            self._want(download, "pause")
        until = time.monotonic() + _CLOSE_S
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))

    # ----------------------------------------------------------------------------------- inside

    def _want(self, download: str, wanted: Wanted) -> None:
        with self._lock:
            task = self._tasks.get(download)
            if task is None or (self._is_closed and wanted == "run"):
                return
            now = task.want(wanted)
        self._follow(task, now)

    def _follow(self, task: _Task, now: Download | None) -> None:
        """Store a command's change and notify the listener, then start the next downloads."""
        if now is not None:
            with self._writing:
                self._keep(task)
            self._tell(now)
        self._start_next()

    def _start_next(self) -> None:
        """Start waiting downloads while there is room for more, and deleting at once."""
        with self._lock:
            n_free = self._at_once - sum(task.is_at_work for task in self._tasks.values())
            waiting = [task for task in self._tasks.values() if task.is_waiting]
            ready = [] if self._is_closed else waiting[: max(0, n_free)]
            for task in self._tasks.values():
                if task in ready or (task.wanted in _GIVEN_UP and not task.is_at_work):
                    self._start(task)

    def _start(self, task: _Task) -> None:
        """Start a thread for a download, with the lock held: `close` waits for all."""
        thread = threading.Thread(target=self._work, args=(task,), name=f"download-{task.now.id}")
        task.is_at_work = True
        self._threads.add(thread)
        thread.start()

    def _keep(self, task: _Task) -> None:
        """Write the journal of a download, or remove it when the download is over."""
        with self._lock:
            now, is_ours = task.now, task.is_ours
        if is_ours and now.status not in OVER:
            self._journal.save(now)

    def _tell(self, now: Download) -> None:
        with self._listening:
            if self._listener is None:
                return
            try:
                self._listener(now)
            except Exception:  # the download itself is not affected
                _logger.exception("a listener to downloads failed")

    # -------------------------------------------------------------------------- the worker's thread

    def _work(self, task: _Task) -> None:
        """Fetch, or delete; then let the next one begin."""
        end = self._run(task)
        while not self._ended(task, end):
            end = _deleted(task.now)
        self._start_next()
        with self._lock:
            self._threads.discard(threading.current_thread())

    def _run(self, task: _Task) -> Download:
        """Fetch everything for as long as that is wanted; returns how it ended."""
        task.is_ours = True
        folder, problem, hint = task.now.request.folder, "", ""
        status: Status = "failed"
        try:
            if task.is_stopped():
                raise CancelledError
            self._moved(task, task.now.files, "running", "")
            transfer = Transfer(self._hub, task.now, task.is_stopped, partial(self._moved, task))
            transfer.run(partial(self._n_reserved, task))
            status = "done"
        except CancelledError:
            status = "paused"
        except UserError as error:
            task.is_ours = error.code != "in-use"
            problem, hint = error.message, error.hint
        except OSError as error:
            if error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)):
                status, problem = "paused", sentence("The disk of {folder} is full.", folder=folder)
                hint = sentence("Make room there and resume; what has arrived is kept.")
            else:
                problem = sentence(
                    "The files cannot be written to {folder} ({why}).",
                    folder=folder,
                    why=error.strerror or error,
                )
                hint = sentence("Check the folder and its disk, then resume.")
        except Exception:  # top of the thread: an error here would be reported nowhere else
            _logger.exception("the download of %s failed", task.now.request.repo)
            problem = sentence("The download failed by a fault of this program.")
            hint = sentence("See the log.")
        return replace(task.now, status=status, problem=problem, hint=hint, obstacle="")

    def _moved(
        self, task: _Task, files: tuple[DownloadedFile, ...], doing: Doing, obstacle: UserText
    ) -> None:
        """Record a run's changes; the listener gets progress a few times a second."""
        now_s = time.monotonic()
        with self._lock:
            before = task.now
            now = task.change(files=files, status=doing, problem="", hint="", obstacle=obstacle)
            if doing == "running":
                task.speed.add(now_s, now.n_done)
            is_new = (before.status, before.obstacle) != (doing, obstacle)
            is_due = is_new or now_s - task.told_s >= _REPORT_EVERY_S
            if is_due:
                task.told_s, now = now_s, task.seen()
        if any(replace(a, n_here=b.n_here) != b for a, b in zip(before.files, files, strict=True)):
            with self._writing:
                self._keep(task)
        if is_due:
            self._tell(now)

    def _ended(self, task: _Task, end: Download) -> bool:
        """Record how a run has ended; return False if its files have to be deleted first.

        The journal is removed before anybody can see that it is over, and not written later.
        """
        with self._writing:
            if end.status in OVER:
                self._journal.remove(end.id)
            with self._lock:
                if task.wanted in _GIVEN_UP and end.status != "cancelled":
                    return False
                now = task.settle(end, is_closed=self._is_closed)
            self._keep(task)
        self._tell(now)
        return True

    def _n_reserved(self, task: _Task) -> int:
        """Return the bytes that the other running downloads still need on this one's disk."""
        with self._lock:
            others = [t.now for t in self._tasks.values() if t.is_at_work and t is not task]
        disk = _disk(task.now)
        return sum(other.n_total - other.n_done for other in others if _disk(other) == disk)


def _new(request: DownloadRequest) -> tuple[DownloadedFile, ...]:
    """Return the initial records of a request's files."""
    return tuple(DownloadedFile(path) for path in request.files)


def _deleted(download: Download) -> Download:
    """Delete what a download has put on the disk; returns it as it is then."""
    for file, target in zip(download.files, download.request.targets(), strict=True):
        with contextlib.suppress(OSError):
            if file.is_done and file.is_ours:
                target.unlink(missing_ok=True)
            discard_part(target)
    files = _new(download.request)
    return replace(download, status="cancelled", problem="", hint="", files=files)


def _disk(download: Download) -> int | None:
    """Return which disk the folder of a download is on, or will be on."""
    folder = Path(download.request.folder)
    for place in (folder, *folder.parents):
        try:
            return place.stat().st_dev
        except OSError:
            continue
    return None
