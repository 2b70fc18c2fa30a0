"""Downloads from a real server: the good case, and pausing, resuming, cancelling, restarting."""

from __future__ import annotations

import hashlib
import random
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from catalog.download.conftest import MB, REPO, SIZE, Watch, settled
from hub_server import Fault, HubServer, Repository
from paceline.catalog.download.downloads import Downloads
from paceline.catalog.download.journal import Journal
from paceline.catalog.download.record import Download, DownloadRequest
from paceline.errors import CancelledError, UserError

Requests = Callable[..., DownloadRequest]
SLOW = Fault("*.gguf", bytes_per_s=4 * MB)


def test_a_file_arrives_whole(
    watch: Watch, request_for: Requests, folder: Path, state_dir: Path, content: bytes
) -> None:
    download = watch.downloads.add(request_for())
    state = watch.ended(download)
    assert state.status == "done"
    assert Path(state.path) == folder / "model-Q4_K_M.gguf"
    assert Path(state.path).read_bytes() == content
    assert state.files[0].sha256 == hashlib.sha256(content).hexdigest()
    assert (state.n_done, state.n_total, state.problem) == (SIZE, SIZE, "")
    assert watch.statuses(download) == ["waiting", "running", "done"]
    assert [path.name for path in folder.iterdir()] == ["model-Q4_K_M.gguf"]
    assert not list(state_dir.iterdir())


@pytest.mark.parametrize("is_cancelled", [False, True])
def test_it_is_over_when_its_journal_is_gone(
    watch: Watch, request_for: Requests, monkeypatch: pytest.MonkeyPatch, is_cancelled: bool
) -> None:
    told: list[str] = []
    remove = Journal.remove

    def removed(journal: Journal, download: str) -> None:
        told.extend(state.status for state in watch.downloads.states())
        remove(journal, download)

    monkeypatch.setattr(Journal, "remove", removed)
    download = watch.downloads.add(request_for())
    if is_cancelled:
        watch.downloads.cancel(download)
    end = watch.ended(download).status
    assert end == ("cancelled" if is_cancelled else "done")
    assert len(told) == 1
    assert end not in told


def test_all_parts_of_a_split_model_come_into_one_folder(
    watch: Watch, request_for: Requests, folder: Path, repository: Repository, server: HubServer
) -> None:
    paths = [f"Q2_K/big-{i:05}-of-00003.gguf" for i in (1, 2, 3)]
    state = watch.until(lambda s: s.status == "done", watch.downloads.add(request_for(*paths)))
    assert state.path == str(folder / "big-00001-of-00003.gguf")
    assert state.n_total == 9 * MB
    for path in paths:
        assert (folder / path.rsplit("/")[-1]).read_bytes() == repository.files[path]
    # One question per file; all but the first name the commit of the first.
    asked = server.asked("^HEAD")
    assert [repository.commit in r.path for r in asked] == [False, True, True]


def test_a_small_file_without_a_hash(watch: Watch, request_for: Requests, folder: Path) -> None:
    state = watch.ended(watch.downloads.add(request_for("README.md")))
    assert state.status == "done"
    assert (folder / "README.md").read_bytes() == b"about"


def test_no_token_goes_to_the_second_host(
    watch: Watch, request_for: Requests, server: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    watch.ended(watch.downloads.add(request_for()))
    assert {r.has_token for r in server.requests if r.host == "hub"} == {True}
    assert {r.has_token for r in server.requests if r.host == "cdn"} == {False}


def test_pause_and_resume_fetch_nothing_twice(
    watch: Watch, request_for: Requests, server: HubServer, folder: Path, content: bytes
) -> None:
    server.add(SLOW)
    download = watch.downloads.add(request_for())
    watch.until(lambda s: s.n_done > MB)
    watch.downloads.pause(download)
    paused = watch.until(lambda s: s.status == "paused")
    assert (folder / "model-Q4_K_M.gguf.part").stat().st_size == paused.n_done
    assert MB < paused.n_done < SIZE
    assert paused.bytes_per_s == 0
    server.clear()
    watch.downloads.resume(download)
    assert watch.ended(download).status == "done"
    assert (folder / "model-Q4_K_M.gguf").read_bytes() == content
    assert "verifying" in watch.statuses(download)  # the first half is read from the disk
    # At most what was under way when it was paused.
    assert server.n_bytes_sent() < SIZE + 2 * MB


def test_resume_before_the_pause_has_happened(
    watch: Watch, request_for: Requests, server: HubServer
) -> None:
    server.add(SLOW)
    download = watch.downloads.add(request_for())
    watch.until(lambda s: s.n_done > 0)
    watch.downloads.pause(download)
    watch.downloads.resume(download)
    server.clear()
    assert watch.until(lambda s: s.status == "done", download)


def test_a_restart_goes_on_where_it_was(
    start: Callable[..., Watch],
    request_for: Requests,
    server: HubServer,
    folder: Path,
    content: bytes,
) -> None:
    server.add(SLOW)
    first = start()
    download = first.downloads.add(request_for())
    first.until(lambda s: s.n_done > 3 * MB)
    began = time.monotonic()
    first.downloads.close()
    assert time.monotonic() - began < 5
    server.clear()
    second = start()
    (state,) = second.downloads.states()
    assert (state.id, state.status, state.request.repo) == (download, "paused", "owner/model")
    assert 3 * MB < state.n_done < SIZE == state.n_total
    # Whoever asks for the same again goes on with it.
    assert second.downloads.add(request_for()) == download
    assert second.ended(download).status == "done"
    assert (folder / "model-Q4_K_M.gguf").read_bytes() == content
    assert server.n_bytes_sent() < SIZE + 2 * MB
    assert start().downloads.states() == ()


def test_cancel_leaves_nothing(
    watch: Watch, request_for: Requests, server: HubServer, folder: Path, state_dir: Path
) -> None:
    paths = [f"Q2_K/big-{i:05}-of-00003.gguf" for i in (1, 2, 3)]
    server.add(SLOW)
    download = watch.downloads.add(request_for(*paths))
    watch.until(lambda s: s.n_done > 4 * MB)  # in the second part
    watch.downloads.cancel(download)
    assert watch.until(lambda s: s.status == "cancelled").n_done == 0
    assert not list(folder.iterdir())
    assert not list(state_dir.iterdir())
    watch.downloads.resume(download)
    assert watch.downloads.states()[0].status == "cancelled"
    watch.downloads.forget(download)
    assert watch.downloads.states() == ()


def test_cancel_of_a_paused_one(
    watch: Watch, request_for: Requests, server: HubServer, folder: Path
) -> None:
    server.add(SLOW)
    download = watch.downloads.add(request_for())
    watch.until(lambda s: s.n_done > MB)
    watch.downloads.pause(download)
    watch.until(lambda s: s.status == "paused")
    watch.downloads.cancel(download)
    watch.until(lambda s: s.status == "cancelled")
    watch.downloads.close()  # waits for the deletion
    assert not list(folder.iterdir())


def test_only_what_is_over_can_be_forgotten(
    watch: Watch, request_for: Requests, server: HubServer
) -> None:
    server.add(SLOW)
    download = watch.downloads.add(request_for())
    watch.until(lambda s: s.n_done > 0)
    watch.downloads.forget(download)
    assert [s.id for s in watch.downloads.states()] == [download]


def test_some_at_once_and_the_others_wait(
    start: Callable[..., Watch], request_for: Requests, server: HubServer
) -> None:
    server.add(SLOW)
    watch = start(at_once=1)
    first = watch.downloads.add(request_for())
    second = watch.downloads.add(request_for("sub/other-Q8_0.gguf"))
    third = watch.downloads.add(request_for("README.md"))
    watch.until(lambda s: s.n_done > 0, first)
    assert [s.status for s in watch.downloads.states()] == ["running", "waiting", "waiting"]
    watch.downloads.pause(second)
    watch.downloads.pause(first)
    assert watch.until(lambda s: s.status == "done", third)
    assert [s.status for s in watch.downloads.states()] == ["paused", "paused", "done"]
    server.clear()
    watch.downloads.resume(second)
    watch.downloads.resume(first)
    watch.until(lambda s: s.status == "done", first)
    watch.until(lambda s: s.status == "done", second)
    running = {s.id for s in watch.heard if s.status == "running"}
    assert first in running
    assert second in running


def test_the_same_request_twice_is_one_download(
    watch: Watch, request_for: Requests, server: HubServer
) -> None:
    server.add(SLOW)
    request = request_for()
    download = watch.downloads.add(request)
    watch.until(lambda s: s.n_done > 0)
    assert watch.downloads.add(replace(request, endpoint=server.endpoint + "/")) == download
    assert len(watch.downloads.states()) == 1


def test_a_removed_listener_hears_nothing_more(
    watch: Watch, request_for: Requests, server: HubServer
) -> None:
    server.add(SLOW)
    download = watch.downloads.add(request_for())
    watch.until(lambda s: s.n_done > 0)
    watch.downloads.set_listener(None)
    n_heard = len(watch.heard)
    watch.downloads.pause(download)
    watch.downloads.close()
    assert len(watch.heard) == n_heard
    assert watch.downloads.states()[0].status == "paused"


def test_the_listener_is_called_a_few_times_a_second(
    watch: Watch, request_for: Requests, server: HubServer
) -> None:
    server.add(Fault("*.gguf", bytes_per_s=12 * MB))
    began = time.monotonic()
    watch.ended(watch.downloads.add(request_for()))
    # Five a second, and one for every change of status.
    assert len(watch.heard) <= 5 * (time.monotonic() - began) + 6
    speeds = [s.bytes_per_s for s in watch.heard if s.status == "running"]
    assert max(speeds) > MB
    left = [s.seconds_left for s in watch.heard if s.seconds_left is not None]
    assert left
    assert left[-1] < 5


def test_close_ends_also_what_hangs(watch: Watch, request_for: Requests, server: HubServer) -> None:
    server.add(Fault("*.gguf", silent=True))
    watch.downloads.add(request_for())
    watch.until(lambda s: s.status == "running")
    watch.downloads.add(request_for("sub/other-Q8_0.gguf"))
    began = time.monotonic()
    watch.downloads.close()
    assert time.monotonic() - began < 5
    assert settled(watch.downloads) == {"paused"}
    with pytest.raises(CancelledError):
        watch.downloads.add(request_for("README.md"))


def test_two_programs_do_not_write_the_same_file(
    start: Callable[..., Watch],
    request_for: Requests,
    server: HubServer,
    folder: Path,
    content: bytes,
) -> None:
    server.add(SLOW)
    one = start()
    download = one.downloads.add(request_for())
    one.until(lambda s: s.n_done > MB)
    other = start()  # knows the journal of the first
    assert other.downloads.add(request_for()) == download
    state = other.ended(download)
    assert state.status == "failed"
    assert "another window or program" in state.problem
    server.clear()
    assert one.ended(download).status == "done"
    assert (folder / "model-Q4_K_M.gguf").read_bytes() == content
    other.downloads.resume(download)
    assert other.until(lambda s: s.status == "done", download)


def test_another_hub_is_not_asked_for_it(
    watch: Watch, request_for: Requests, server: HubServer
) -> None:
    download = watch.downloads.add(replace(request_for(), endpoint="https://example.org/"))
    state = watch.ended(download)
    assert (state.status, server.requests) == ("failed", [])
    assert "https://example.org" in state.problem


def test_an_unsafe_name_is_refused_at_once(watch: Watch, request_for: Requests) -> None:
    with pytest.raises(UserError, match="not used on this computer"):
        watch.downloads.add(request_for("../../escape.gguf"))
    assert watch.downloads.states() == ()


def test_a_journal_that_cannot_be_read_is_put_aside(
    start: Callable[..., Watch],
    state_dir: Path,
    allow_warnings: Callable[[str], None],
) -> None:
    allow_warnings("is put aside")
    state_dir.mkdir()
    (state_dir / "one.json").write_text("{")
    (state_dir / "two.json").write_text('{"version": 1, "id": "two"}')
    (state_dir / "three.json").write_bytes(b"\xff\xfe")
    assert start().downloads.states() == ()
    names = {path.name for path in state_dir.iterdir()}
    assert names == {"one.unreadable", "two.unreadable", "three.unreadable"}


def test_a_listener_that_fails_does_not_stop_the_download(
    watch: Watch,
    request_for: Requests,
    folder: Path,
    allow_warnings: Callable[[str], None],
) -> None:
    allow_warnings("a listener to downloads")

    def fail(_: object) -> None:
        raise ValueError("listener")

    watch.downloads.set_listener(fail)
    watch.downloads.add(request_for("README.md"))
    until = time.monotonic() + 20
    while not (folder / "README.md").exists() and time.monotonic() < until:
        time.sleep(0.01)
    watch.downloads.close()
    assert [s.status for s in watch.downloads.states()] == ["done"]


def test_cancelled_and_wanted_again_at_once_begins_anew(
    watch: Watch, request_for: Requests, server: HubServer, folder: Path, content: bytes
) -> None:
    server.add(SLOW)
    download = watch.downloads.add(request_for())
    watch.until(lambda s: s.n_done > MB)
    watch.downloads.cancel(download)
    again = watch.downloads.add(request_for())
    server.clear()
    assert watch.until(lambda s: s.status == "done", again)
    assert (folder / "model-Q4_K_M.gguf").read_bytes() == content
    assert [s.id for s in watch.downloads.states() if s.status == "done"] == [again]


def test_whatever_is_done_to_them_files_are_whole_or_gone(
    start: Callable[..., Watch],
    request_for: Requests,
    server: HubServer,
    folder: Path,
    repository: Repository,
    state_dir: Path,
    is_long: bool,
) -> None:
    """Commands from two threads in any order, with restarts between."""
    server.add(Fault("*.gguf", bytes_per_s=20 * MB))
    server.add(Fault("*.gguf", drop_after=2 * MB, skip=3, times=3))
    parts = tuple(f"Q2_K/big-{i:05}-of-00003.gguf" for i in (1, 2, 3))
    requests = [request_for(), request_for("sub/other-Q8_0.gguf"), request_for(*parts)]

    def meddle(downloads: Downloads, seed: int) -> None:
        chance = random.Random(seed)
        for _ in range(12):
            ids = [s.id for s in downloads.states()] or [""]
            steps = (downloads.pause, downloads.resume, downloads.cancel, downloads.forget)
            if chance.random() < 0.4:
                downloads.add(chance.choice(requests))
            else:
                chance.choice(steps)(chance.choice(ids))
            time.sleep(chance.random() * 0.03)

    for seed in range(0, 60 if is_long else 6, 2):
        downloads = start().downloads
        threads = [
            threading.Thread(target=meddle, args=(downloads, seed + i), name=f"meddler-{i}")
            for i in range(2)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        downloads.close()
        assert settled(downloads) <= {"paused", "failed", "done", "cancelled"}
    server.clear()
    last = start()
    for request in requests:
        last.until(lambda s: s.status == "done", last.downloads.add(request))
    for path, data in repository.files.items():
        if path != "README.md":
            assert (folder / path.rsplit("/", 1)[-1]).read_bytes() == data
    assert not list(folder.glob("*.part"))
    last.downloads.close()
    assert not list(state_dir.glob("*"))


def test_a_cancel_counts_though_the_download_fails_meanwhile(
    watch: Watch, request_for: Requests, server: HubServer, folder: Path, state_dir: Path
) -> None:
    server.add(Fault("*.gguf", drop_after=MB, times=1))
    server.add(Fault("*.gguf", host="cdn", html=True, skip=1))
    downloads = watch.downloads

    def cancel_a_failed_one(state: Download) -> None:
        if state.status == "failed":
            downloads.cancel(state.id)  # its thread has not ended yet

    downloads.set_listener(cancel_a_failed_one)
    download = downloads.add(request_for())
    until = time.monotonic() + 20
    while downloads.states()[0].status != "cancelled" and time.monotonic() < until:
        time.sleep(0.01)
    assert [(s.id, s.status) for s in downloads.states()] == [(download, "cancelled")]
    assert not list(folder.iterdir())
    assert not list(state_dir.iterdir())


def test_a_folder_that_nobody_has(watch: Watch, folder: Path) -> None:
    for wrong in ("~nobody-is-called-that/x", f"{folder}\0"):
        with pytest.raises(UserError) as caught:
            watch.downloads.add(DownloadRequest(REPO, ("a.gguf",), "main", wrong))
        assert caught.value.code == "bad-folder"
    assert watch.downloads.states() == ()
