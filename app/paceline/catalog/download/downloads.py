"""All downloads: some run, the others wait; unfinished ones survive a restart as paused.

Each running download has a thread of its own, which mostly waits for the network or the disk.
Nothing here calls the listener while a lock is held that a method below needs.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from paceline.catalog.download.job import OVER, Job
from paceline.catalog.download.journal import (
    DownloadRequest,
    DownloadState,
    FileRecord,
    Journal,
    Record,
)
from paceline.catalog.download.names import absolute_folder, file_names
from paceline.catalog.hub.client import Hub
from paceline.errors import CancelledError

Listener = Callable[[DownloadState], None]

_CLOSE_S = 1.0
_logger = logging.getLogger(__name__)
_RESUMABLE = ("paused", "failed")


class Downloads:
    """The program's downloads; any thread."""

    def __init__(self, hub: Hub, state_dir: Path, *, at_once: int = 2) -> None:
        """Load unfinished downloads of an earlier run as paused; nothing is fetched yet.

        Args:
            hub: Where files come from.
            state_dir: Folder of the journals; made when it is needed.
            at_once: Number of downloads that run at the same time.
        """
        self._hub = hub
        self._journal = Journal(state_dir)
        self._at_once = at_once
        self._lock = threading.Lock()
        self._listener: Listener | None = None
        self._listening = threading.RLock()
        self._at_work: dict[str, tuple[Job, threading.Thread]] = {}
        self._again: set[str] = set()
        self._anew: set[str] = set()
        self._is_closed = False
        self._jobs: dict[str, Job] = {}
        for record in self._journal.load():
            status = record.status if record.status == "failed" else "paused"
            self._jobs[record.id] = self._job(replace(record, status=status))

    def set_listener(self, listener: Listener | None) -> None:
        """Tell `listener` of every change; None: no listener.

        It is called on workers' threads, or on the thread whose call changed something, at most
        about five times a second per download. Once this returns, the previous one is not called
        any more; so the listener must not wait for the thread that sets it.
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
            same = [job for job in self._jobs.values() if job.request == request]
            known = next((job for job in same if job.status not in OVER), None)
            if known is None:
                for job in same:
                    if job.status == "done":
                        del self._jobs[job.id]
                job = self._new_job(request)
            elif known.stopping == "cancel":  # begins again once everything is deleted
                self._anew.add(known.id)
                return known.id
        if known is not None:
            self.resume(known.id)
            return known.id
        job.announce()
        self._start_next()
        return job.id

    def pause(self, download: str) -> None:
        """Pause a download; what has arrived is kept. Does not wait for that."""
        with self._lock:
            job = self._jobs.get(download)
            self._again.discard(download)
            if job is None:
                return
            if download in self._at_work:
                job.stop("pause")
                return
            if job.status != "waiting":
                return
            job.shift("paused")
        job.announce()

    def resume(self, download: str) -> None:
        """Continue a download that is paused or failed, as soon as it is its turn."""
        with self._lock:
            job = self._jobs.get(download)
            if job is None or self._is_closed:
                return
            if download in self._at_work:
                # It is about to pause, or has just ended and its thread is about to.
                is_resting = job.stopping == "pause" or job.status in _RESUMABLE
                if is_resting and job.stopping != "cancel":
                    self._again.add(download)
                return
            if job.status not in _RESUMABLE:
                return
            job.shift("waiting")
        job.announce()
        self._start_next()

    def cancel(self, download: str) -> None:
        """Give a download up and delete what has arrived. Does not wait for that."""
        with self._lock:
            job = self._jobs.get(download)
            self._again.discard(download)
            self._anew.discard(download)
            if job is None or job.status in OVER:
                return
            job.stop("cancel")
            if download not in self._at_work:
                self._start(job)  # deleting gigabytes takes a while

    def forget(self, download: str) -> None:
        """Drop a download that is done or cancelled from the list; others stay."""
        with self._lock:
            job = self._jobs.get(download)
            if job is not None and job.status in OVER:
                del self._jobs[download]

    def states(self) -> tuple[DownloadState, ...]:
        """Return the states of all of them, the oldest first."""
        with self._lock:
            jobs = list(self._jobs.values())
        return tuple(job.state() for job in jobs)

    def close(self) -> None:
        """Pause everything and wait for that, a second at most; nothing can be added any more."""
        with self._lock:
            self._is_closed = True
            self._again.clear()
            at_work = list(self._at_work.values())
            waiting = self._waiting()
            for job, _ in at_work:
                job.stop("pause")
            for job in waiting:
                job.shift("paused")
        for job in waiting:
            job.announce()
        until = time.monotonic() + _CLOSE_S
        for _, thread in at_work:
            if thread is not threading.current_thread():
                thread.join(max(0.0, until - time.monotonic()))

    # ----------------------------------------------------------------------------------- inside

    def _job(self, record: Record) -> Job:
        return Job(record, self._hub, self._journal, self._tell)

    def _tell(self, job: Job) -> None:
        with self._listening:
            if self._listener is None:
                return
            try:
                self._listener(job.state())
            except Exception:  # the download itself is not affected
                _logger.exception("a listener to downloads failed")

    def _new_job(self, request: DownloadRequest) -> Job:
        record = Record(
            id=secrets.token_hex(8),
            request=request,
            files=tuple(FileRecord(path) for path in request.files),
            added_s=time.time(),
        )
        job = self._jobs[record.id] = self._job(record)
        return job

    def _start_next(self) -> None:
        """Start waiting downloads while there is room for more."""
        with self._lock:
            n_free = 0 if self._is_closed else max(0, self._at_once - len(self._at_work))
            for job in self._waiting()[:n_free]:
                self._start(job)

    def _waiting(self) -> list[Job]:
        """Return what no thread works at yet, with the lock held."""
        return [
            job
            for job in self._jobs.values()
            if job.status == "waiting" and job.id not in self._at_work
        ]

    def _start(self, job: Job) -> None:
        """Start a thread for a job, with the lock held: `close` waits for all that it finds."""
        job.prepare()
        thread = threading.Thread(target=self._work, args=(job,), name=f"download-{job.id}")
        self._at_work[job.id] = job, thread
        thread.start()

    def _work(self, job: Job) -> None:
        try:
            job.run(lambda: self._reserved(job))
        finally:
            with self._lock:
                del self._at_work[job.id]
                is_wanted_again = job.id in self._again
                self._again.discard(job.id)
                # A cancel that came when the run had ended already.
                is_late = job.stopping == "cancel" and job.status not in OVER
                if is_late:
                    self._start(job)
                is_anew = not is_late and job.id in self._anew
                if is_anew:
                    self._anew.discard(job.id)
                    job.renew()
                    if self._is_closed:
                        job.shift("paused")
        if is_anew:
            job.announce()
        elif is_wanted_again:
            self.resume(job.id)
        self._start_next()

    def _reserved(self, job: Job) -> int:
        """Return what the other running downloads still need on the disk of this one."""
        with self._lock:
            others = [other for other, _ in self._at_work.values() if other is not job]
        disk = _disk(Path(job.request.folder))
        return sum(other.n_left() for other in others if _disk(Path(other.request.folder)) == disk)


def _disk(folder: Path) -> int | None:
    """Return which disk a folder is on, or will be on."""
    for place in (folder, *folder.parents):
        try:
            return place.stat().st_dev
        except OSError:
            continue
    return None
