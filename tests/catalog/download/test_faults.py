"""Cases beside the state machine of `test_downloads`: other programs, threads, odd places."""

from __future__ import annotations

import os
import random
import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from catalog.download.conftest import NAME, PARTS, SIZE, Watch
from hub_server import Fault, HubServer, Repository
from paceline.catalog.download import part_file
from paceline.catalog.download.downloads import Downloads
from paceline.catalog.download.journal import DownloadJournal
from paceline.catalog.download.part_file import PartFile
from paceline.catalog.download.record import Download, DownloadRequest
from paceline.errors import CancelledError, UserError

Requests = Callable[..., DownloadRequest]
HOLD = 100_000
HELD = Fault("*.gguf", holds_after=HOLD)


def test_a_small_file_without_a_hash(watch: Watch, request_for: Requests, folder: Path) -> None:
    assert watch.ended(watch.downloads.add(request_for("README.md"))).status == "done"
    assert (folder / "README.md").read_bytes() == b"about"


def test_the_parts_of_a_model_are_of_one_commit(
    watch: Watch, request_for: Requests, server: HubServer, repository: Repository
) -> None:
    now = watch.ended(watch.downloads.add(request_for(*PARTS)))
    assert (now.status, now.n_total) == ("done", 3 * SIZE - 3)
    asked = server.asked("^HEAD")
    assert [repository.commit in request.path for request in asked] == [False, True, True]


# -------------------------------------------------------------------- what cannot be asked for


@pytest.mark.parametrize(
    ("file", "folder", "code"),
    [
        ("../../escape.gguf", "/m", "unsafe-name"),
        (NAME, "~nobody-is-called-that/x", "bad-folder"),
        (NAME, "/m\0", "bad-folder"),
    ],
)
def test_what_is_refused_at_once(
    watch: Watch, request_for: Requests, file: str, folder: str, code: str
) -> None:
    with pytest.raises(UserError) as caught:
        watch.downloads.add(replace(request_for(file), folder=folder))
    assert caught.value.code == code
    assert watch.downloads.states() == ()


def test_another_hub_is_not_asked_for_it(
    watch: Watch, request_for: Requests, server: HubServer
) -> None:
    request = request_for()
    first = watch.downloads.add(replace(request, endpoint="https://example.org/"))
    now = watch.ended(first)
    assert (now.status, server.requests) == ("failed", [])
    assert "https://example.org" in now.problem
    server.add(HELD)
    second = watch.downloads.add(request)
    assert watch.downloads.add(replace(request, endpoint=f"{server.endpoint}/")) == second != first


@pytest.mark.parametrize("is_link", [False, True])
def test_a_place_that_cannot_be_written(
    watch: Watch, request_for: Requests, folder: Path, tmp_path: Path, is_link: bool
) -> None:
    """A link in the place of the partial file is not followed."""
    precious = tmp_path / "precious"
    precious.write_text("mine")
    if is_link:
        folder.mkdir()
        (folder / f"{NAME}.part").symlink_to(precious)
    else:
        folder.symlink_to(precious)
    now = watch.ended(watch.downloads.add(request_for()))
    assert now.status == "failed"
    assert "cannot be written" in now.problem
    assert precious.read_text() == "mine"


def test_what_others_still_need_is_not_free(
    watch: Watch, request_for: Requests, server: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage("/")._replace(free=(64 << 20) + SIZE)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    server.add(HELD)
    first = watch.downloads.add(request_for())
    watch.until(lambda d: d.n_done == HOLD, first)
    second = watch.downloads.add(request_for("sub/other-Q8_0.gguf"))
    assert "only" in watch.ended(second).problem
    watch.downloads.pause(first)
    watch.until(lambda d: d.status == "paused", first)
    server.clear()
    watch.downloads.resume(second)
    assert watch.until(lambda d: d.status == "done", second)


# ------------------------------------------------------------------------------ the server


def test_one_wrong_byte_costs_a_second_try(
    watch: Watch, request_for: Requests, server: HubServer, folder: Path, content: bytes
) -> None:
    server.add(Fault("*.gguf", wrong_byte_at=SIZE // 2, times=1))
    assert watch.ended(watch.downloads.add(request_for())).status == "done"
    assert (folder / NAME).read_bytes() == content
    assert server.n_bytes_sent() == 2 * SIZE


def test_a_content_that_changes_under_way_begins_anew(
    watch: Watch,
    request_for: Requests,
    server: HubServer,
    folder: Path,
    repository: Repository,
    content: bytes,
) -> None:
    """The branch moves on between two tries; the commit of the first is gone."""
    server.add(Fault("*.gguf", drop_after=HOLD, times=1))
    changed = content[::-1] + b"more"
    real = server.answer

    def answer(request: Any, form: Any, etag: str) -> Any:
        if server.n_bytes_sent() and "/resolve/" in request.path:
            repository.files = {NAME: changed}
            repository.details = {"revisions": [request.path.split("/resolve/")[1].split("/")[0]]}
        return real(request, form, etag)

    server.answer = answer  # type: ignore[method-assign]
    assert watch.ended(watch.downloads.add(request_for())).status == "done"
    assert (folder / NAME).read_bytes() == changed
    assert server.n_bytes_sent() == HOLD + len(changed)


def test_a_range_that_is_refused_is_not_asked_for_again(
    watch: Watch, request_for: Requests, server: HubServer, folder: Path, content: bytes
) -> None:
    server.add(Fault("*.gguf", drop_after=HOLD, times=1))
    server.add(Fault("*.gguf", host="cdn", status=416, skip=1, times=1))
    assert watch.ended(watch.downloads.add(request_for())).status == "done"
    assert (folder / NAME).read_bytes() == content
    assert server.requests[-1].start == 0


def test_a_busy_server_is_asked_again_when_it_says(
    watch: Watch, request_for: Requests, server: HubServer
) -> None:
    server.add(Fault("*/resolve/*", status=429, retry_after=1, times=1))
    began = time.monotonic()
    now = watch.ended(watch.downloads.add(request_for()))
    assert time.monotonic() - began >= 1
    assert len(server.asked("^HEAD")) == 2
    assert (now.status, now.obstacle) == ("done", "")
    told = [heard.obstacle for heard in watch.heard if heard.status == "running"]
    assert told[0] == ""
    assert told[1], "the reason is told before the wait"


def test_close_ends_also_what_hangs(watch: Watch, request_for: Requests, server: HubServer) -> None:
    server.add(Fault("*.gguf", silent=True))
    watch.downloads.add(request_for())
    watch.until(lambda d: d.status == "running")
    watch.downloads.add(request_for("sub/other-Q8_0.gguf"))
    watch.downloads.close()
    for now in watch.downloads.states():
        watch.until(lambda d: d.status == "paused", now.id)
    with pytest.raises(CancelledError):
        watch.downloads.add(request_for("README.md"))
    watch.downloads.resume(now.id)
    assert watch.downloads.states()[-1].status == "paused"


# ------------------------------------------------------------------------- other programs


def test_two_programs_do_not_write_the_same_file(
    start: Callable[[], Watch], request_for: Requests, server: HubServer, tmp_path: Path
) -> None:
    server.add(HELD)
    one = start()
    download = one.downloads.add(request_for())
    one.until(lambda d: d.n_done == HOLD)
    (journal,) = (tmp_path / "downloads").iterdir()
    other = start()  # knows the journal of the first
    assert other.downloads.add(request_for()) == download
    now = other.ended(download)
    assert now.status == "failed"
    assert "another window or program" in now.problem
    assert "failed" not in journal.read_text()  # it is the first one's
    server.clear()
    assert one.ended(download).status == "done"
    other.downloads.resume(download)
    assert other.until(lambda d: d.status == "done", download)
    assert server.n_bytes_sent() == SIZE


@pytest.mark.parametrize("moment", ["before the lock", "before the end"])
def test_a_file_that_another_program_has_just_finished(
    watch: Watch,
    request_for: Requests,
    server: HubServer,
    folder: Path,
    content: bytes,
    monkeypatch: pytest.MonkeyPatch,
    moment: str,
) -> None:
    place, name = (part_file, "try_lock") if moment == "before the lock" else (PartFile, "digest")
    real = getattr(place, name)

    def finished(*args: Any) -> Any:
        (folder / NAME).write_bytes(content)
        os.utime(folder / NAME, (1, 1))
        return real(*args)

    monkeypatch.setattr(place, name, finished)
    assert watch.ended(watch.downloads.add(request_for())).status == "done"
    assert server.n_bytes_sent() == (0 if moment == "before the lock" else SIZE)
    assert [path.name for path in folder.iterdir()] == [NAME]
    assert (folder / NAME).stat().st_mtime == 1  # it was not overwritten


def test_a_cancel_leaves_what_others_have_brought(
    watch: Watch, request_for: Requests, server: HubServer, folder: Path, content: bytes
) -> None:
    folder.mkdir()
    part = folder / PARTS[0].rpartition("/")[2]
    part.write_bytes(content)
    server.add(HELD)
    download = watch.downloads.add(request_for(*PARTS))
    watch.until(lambda d: d.n_done == SIZE + HOLD)
    watch.downloads.cancel(download)
    watch.until(lambda d: d.status == "cancelled")
    assert list(folder.iterdir()) == [part]


def test_a_removed_listener_hears_nothing_more(
    watch: Watch, request_for: Requests, server: HubServer
) -> None:
    server.add(HELD)
    download = watch.downloads.add(request_for())
    watch.until(lambda d: d.n_done == HOLD)
    watch.downloads.set_listener(None)
    n_heard = len(watch.heard)
    watch.downloads.pause(download)
    watch.until(lambda d: d.status == "paused")
    assert len(watch.heard) == n_heard


# ---------------------------------------------------------------------------------- listeners


def test_the_listener_is_called_a_few_times_a_second(
    watch: Watch, request_for: Requests, server: HubServer
) -> None:
    server.add(Fault("*.gguf", bytes_per_s=SIZE))
    began = time.monotonic()
    watch.ended(watch.downloads.add(request_for()))
    # Five a second, and one for every change of status.
    assert len(watch.heard) <= 5 * (time.monotonic() - began) + 6
    speeds = [d.bytes_per_s for d in watch.heard if d.status == "running"]
    assert max(speeds) > SIZE / 10
    assert any(d.seconds_left is not None for d in watch.heard)
    assert watch.heard[-1].bytes_per_s == 0


def test_a_listener_that_fails_does_not_stop_the_download(
    watch: Watch, request_for: Requests, allow_warnings: Callable[[str], None]
) -> None:
    allow_warnings("a listener to downloads")

    def fail(_: object) -> None:
        raise ValueError("listener")

    watch.downloads.set_listener(fail)
    watch.downloads.add(request_for("README.md"))
    watch.until(lambda d: d.status == "done")


def test_a_cancel_counts_though_the_download_fails_meanwhile(
    watch: Watch, request_for: Requests, server: HubServer, folder: Path
) -> None:
    server.add(Fault("*.gguf", drop_after=HOLD, times=1))
    server.add(Fault("*.gguf", host="cdn", html=True, skip=1))

    def cancel_a_failed_one(now: Download) -> None:
        if now.status == "failed":
            watch.downloads.cancel(now.id)  # its thread has not ended yet
        watch.hear(now)

    watch.downloads.set_listener(cancel_a_failed_one)
    download = watch.downloads.add(request_for())
    assert watch.until(lambda d: d.status == "cancelled").id == download
    assert not list(folder.iterdir())


@pytest.mark.parametrize("end", ["done", "cancelled"])
def test_it_is_over_when_its_journal_is_gone(
    watch: Watch, request_for: Requests, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    seen: list[str] = []
    remove = DownloadJournal.remove

    def removed(journal: DownloadJournal, download: str) -> None:
        seen.extend(now.status for now in watch.downloads.states())
        remove(journal, download)

    monkeypatch.setattr(DownloadJournal, "remove", removed)
    download = watch.downloads.add(request_for())
    if end == "cancelled":
        watch.downloads.cancel(download)
    assert watch.ended(download).status == end
    assert len(seen) == 1
    assert end not in seen


def test_whatever_is_done_to_them_files_are_whole_or_gone(
    start: Callable[[], Watch],
    request_for: Requests,
    server: HubServer,
    folder: Path,
    repository: Repository,
    is_long: bool,
) -> None:
    """Commands from two threads in any order, with restarts between."""
    server.add(Fault("*.gguf", bytes_per_s=4 * SIZE))
    server.add(Fault("*.gguf", drop_after=HOLD, skip=3, times=3))
    requests = [request_for(), request_for("sub/other-Q8_0.gguf"), request_for(*PARTS)]

    def meddle(downloads: Downloads, seed: int) -> None:
        chance = random.Random(seed)
        for _ in range(12):
            ids = [now.id for now in downloads.states()] or [""]
            steps = (downloads.pause, downloads.resume, downloads.cancel, downloads.forget)
            if chance.random() < 0.4:
                downloads.add(chance.choice(requests))
            else:
                chance.choice(steps)(chance.choice(ids))
            threading.Event().wait(chance.random() * 0.03)

    for seed in range(0, 60 if is_long else 6, 2):
        watch = start()
        threads = [
            threading.Thread(target=meddle, args=(watch.downloads, seed + i)) for i in range(2)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        watch.downloads.close()
        for now in watch.downloads.states():
            watch.ended(now.id)
    server.clear()
    last = start()
    for request in requests:
        last.until(lambda d: d.status == "done", last.downloads.add(request))
    whole = {path.rpartition("/")[2]: data for path, data in repository.files.items()}
    del whole["README.md"]
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == whole
