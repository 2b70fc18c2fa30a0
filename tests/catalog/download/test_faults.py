"""What goes wrong on the way, by a server that does it on purpose."""

from __future__ import annotations

import errno
import io
import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from catalog.download.conftest import MB, SIZE, Watch
from hub_server import Fault, HubServer, Repository
from paceline.catalog.download import part_file
from paceline.catalog.download.record import Download, DownloadRequest

Requests = Callable[..., DownloadRequest]
NAME = "model-Q4_K_M.gguf"


@pytest.fixture
def fetch(watch: Watch, request_for: Requests) -> Callable[[], Download]:
    """Download the file, or go on with it, until it moves no more."""

    def fetch() -> Download:
        before = len(watch.heard)
        download = watch.downloads.add(request_for())
        return watch.until(
            lambda s: s.status in ("done", "failed", "paused") and len(watch.heard) > before + 1,
            download,
        )

    return fetch


Fetch = Callable[[], Download]


def test_a_dropped_connection_is_taken_up_again(
    fetch: Fetch, server: HubServer, folder: Path, content: bytes
) -> None:
    server.add(Fault("*.gguf", drop_after=MB + 7, times=5))
    assert fetch().status == "done"
    assert (folder / NAME).read_bytes() == content
    assert [r.start for r in server.asked("^GET")] == [i * (MB + 7) for i in range(6)]
    assert server.n_bytes_sent() == SIZE


def test_tries_without_progress_come_to_an_end_and_nothing_is_lost(
    fetch: Fetch, server: HubServer, folder: Path, content: bytes
) -> None:
    server.add(Fault("*.gguf", drop_after=2 * MB, times=1))
    server.add(Fault("*.gguf", drop_after=0, skip=1))
    failed = fetch()
    assert failed.status == "failed"
    assert "broke off" in failed.problem
    assert (folder / f"{NAME}.part").stat().st_size == failed.n_done == 2 * MB
    server.clear()
    assert fetch().status == "done"
    assert (folder / NAME).read_bytes() == content
    assert server.n_bytes_sent() == SIZE


def test_one_wrong_byte_costs_a_second_try(
    fetch: Fetch, server: HubServer, folder: Path, content: bytes
) -> None:
    server.add(Fault("*.gguf", wrong_byte_at=SIZE // 2, times=1))
    assert fetch().status == "done"
    assert (folder / NAME).read_bytes() == content
    assert server.n_bytes_sent() == 2 * SIZE


def test_two_damaged_copies_are_deleted(fetch: Fetch, server: HubServer, folder: Path) -> None:
    server.add(Fault("*.gguf", wrong_byte_at=SIZE - 1))
    failed = fetch()
    assert failed.status == "failed"
    assert "damaged twice" in failed.problem
    assert not list(folder.iterdir())
    server.clear()
    assert fetch().status == "done"


def test_damage_on_the_disk_between_two_runs_is_found(
    watch: Watch, fetch: Fetch, server: HubServer, folder: Path, content: bytes
) -> None:
    server.add(Fault("*.gguf", drop_after=3 * MB, times=1))
    server.add(Fault("*.gguf", drop_after=0, skip=1))
    assert fetch().n_done == 3 * MB
    server.clear()
    with (folder / f"{NAME}.part").open("r+b") as file:
        file.seek(MB)
        file.write(bytes([content[MB] ^ 1]))
    assert fetch().status == "done"
    assert (folder / NAME).read_bytes() == content


def test_another_content_begins_anew(
    fetch: Fetch, server: HubServer, folder: Path, repository: Repository, content: bytes
) -> None:
    server.add(Fault("*.gguf", drop_after=3 * MB, times=1))
    server.add(Fault("*.gguf", drop_after=0, skip=1))
    assert fetch().n_done == 3 * MB
    server.clear()
    changed = bytes(byte ^ 0xFF for byte in content)
    repository.files = {**repository.files, NAME: changed}
    state = fetch()
    assert (state.status, state.n_total) == ("done", SIZE)
    assert (folder / NAME).read_bytes() == changed
    assert server.requests[-1].start == 0


def test_a_content_that_changes_under_way_begins_anew(
    fetch: Fetch, server: HubServer, folder: Path, repository: Repository, content: bytes
) -> None:
    # The branch moves on between two tries; the commit of the first is gone.
    server.add(Fault("*.gguf", drop_after=3 * MB, times=1))
    longer = content + b"more"
    real = server.answer

    def answer(request: Any, form: Any, etag: str) -> Any:
        if server.n_bytes_sent() and "/resolve/" in request.path:
            repository.files = {NAME: longer}
            repository.details = {"revisions": [request.path.split("/resolve/")[1].split("/")[0]]}
        return real(request, form, etag)

    server.answer = answer  # type: ignore[method-assign]
    assert fetch().status == "done"
    assert (folder / NAME).read_bytes() == longer


def test_a_server_without_ranges_sends_everything_again(
    fetch: Fetch, server: HubServer, folder: Path, content: bytes
) -> None:
    server.add(Fault("*.gguf", drop_after=3 * MB, times=1))
    server.add(Fault("*.gguf", ignores_range=True))
    assert fetch().status == "done"
    assert (folder / NAME).read_bytes() == content
    assert server.n_bytes_sent() == SIZE + 3 * MB


def test_an_expired_address_is_asked_for_again(
    fetch: Fetch, server: HubServer, folder: Path, content: bytes
) -> None:
    server.add(Fault("*.gguf", host="cdn", status=403, times=2))
    assert fetch().status == "done"
    assert (folder / NAME).read_bytes() == content
    assert len(server.asked("^HEAD")) == 2  # the first time the Hub leads to a new one


def test_a_busy_server_is_asked_again_when_it_says(fetch: Fetch, server: HubServer) -> None:
    server.add(Fault("*/resolve/*", status=429, retry_after=1, times=1))
    began = time.monotonic()
    assert fetch().status == "done"
    assert time.monotonic() - began >= 1
    assert len(server.asked("^HEAD")) == 2


def test_a_server_that_wants_rest_for_long_gets_it(fetch: Fetch, server: HubServer) -> None:
    server.add(Fault("*/resolve/*", status=429, retry_after=3600))
    failed = fetch()
    assert failed.status == "failed"
    assert "takes no more requests" in failed.problem
    assert "Wait" in failed.hint
    assert len(server.requests) == 1


def test_a_server_error_passes(fetch: Fetch, server: HubServer) -> None:
    server.add(Fault("*", status=503, times=2))
    assert fetch().status == "done"


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Fault("*/resolve/*", status=404, error_code="EntryNotFound"), "has no file"),
        (Fault("*/resolve/*", status=403, error_code="GatedRepo"), "only for those who asked"),
        (Fault("*.gguf", host="cdn", html=True), "web page"),
    ],
    ids=["missing", "gated", "login page"],
)
def test_what_does_not_pass_is_told_at_once(
    fetch: Fetch, server: HubServer, fault: Fault, words: str
) -> None:
    server.add(fault)
    failed = fetch()
    assert failed.status == "failed"
    assert words in failed.problem
    assert failed.hint
    assert len(server.requests) <= 2
    server.clear()
    assert fetch().status == "done"


def test_a_file_that_is_there_is_not_fetched(
    fetch: Fetch, server: HubServer, folder: Path, content: bytes
) -> None:
    folder.mkdir()
    (folder / NAME).write_bytes(content)
    state = fetch()
    assert (state.status, state.n_done, state.path) == ("done", SIZE, str(folder / NAME))
    assert server.n_bytes_sent() == 0


def test_a_file_that_came_by_other_means_leaves_no_partial_file(
    watch: Watch, fetch: Fetch, server: HubServer, folder: Path, content: bytes
) -> None:
    server.add(Fault(host="cdn", drop_after=MB, times=1))
    server.add(Fault(host="cdn", status=404, skip=1))
    server.add(Fault("*/resolve/*", method="GET", status=404))
    assert fetch().status == "failed"
    assert (folder / f"{NAME}.part").exists()
    (folder / NAME).write_bytes(content)
    assert fetch().status == "done"
    assert [path.name for path in folder.iterdir()] == [NAME]


def test_a_file_that_another_program_has_just_finished_is_not_fetched_again(
    fetch: Fetch, server: HubServer, folder: Path, content: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It got its name between the look for it and the lock on the partial file."""
    real = part_file._opened

    def opened(path: Path) -> io.FileIO:
        (folder / NAME).write_bytes(content)
        return real(path)

    monkeypatch.setattr(part_file, "_opened", opened)
    assert fetch().status == "done"
    assert server.n_bytes_sent() == 0
    assert [path.name for path in folder.iterdir()] == [NAME]


def test_another_file_is_never_overwritten(
    watch: Watch, fetch: Fetch, server: HubServer, folder: Path, content: bytes
) -> None:
    folder.mkdir()
    other = content[:-1] + bytes([content[-1] ^ 1])
    (folder / NAME).write_bytes(other)
    failed = fetch()
    assert failed.status == "failed"
    assert "another file" in failed.problem
    watch.downloads.cancel(failed.id)
    watch.downloads.close()
    assert (folder / NAME).read_bytes() == other
    assert server.n_bytes_sent() == 0


def test_the_disk_is_asked_before_the_first_byte(
    watch: Watch,
    request_for: Requests,
    server: HubServer,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = shutil.disk_usage(folder.parent)
    small = real._replace(free=(64 << 20) + 8 * MB)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: small)
    parts = [f"Q2_K/big-{i:05}-of-00003.gguf" for i in (1, 2, 3)]
    failed = watch.ended(watch.downloads.add(request_for(*parts)))  # 9 MB in all
    assert failed.status == "failed"
    assert "9 MB are still to come" in failed.problem
    assert server.n_bytes_sent() == 0
    assert not folder.exists()
    assert watch.ended(watch.downloads.add(request_for())).status == "done"  # 6 MB


def test_a_disk_that_is_full_after_all_pauses(
    watch: Watch,
    fetch: Fetch,
    server: HubServer,
    folder: Path,
    content: bytes,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class FullDisk(io.FileIO):
        def write(self, data: Any) -> int:
            n_free = 3 * MB - self.tell()
            if n_free <= 0:
                raise OSError(errno.ENOSPC, "No space left on device")
            return super().write(bytes(data)[:n_free])

    real = part_file._opened

    def opened(path: Path) -> io.FileIO:
        real(path).close()
        return FullDisk(path, "r+")

    monkeypatch.setattr(part_file, "_opened", opened)
    paused = fetch()
    assert (paused.status, paused.n_done) == ("paused", 3 * MB)
    assert "is full" in paused.problem
    assert "Make room" in paused.hint
    monkeypatch.undo()
    server.clear()
    assert fetch().status == "done"
    assert (folder / NAME).read_bytes() == content
    # What was on its way when the disk was full came again, and no more.
    assert server.requests[-1].start == 3 * MB


def test_a_folder_that_cannot_be_made(watch: Watch, request_for: Requests, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    request = replace(request_for(), folder=str(tmp_path / "file" / "models"))
    failed = watch.ended(watch.downloads.add(request))
    assert failed.status == "failed"
    assert "cannot be written" in failed.problem


def test_a_link_in_the_place_of_the_partial_file_is_not_followed(
    watch: Watch, request_for: Requests, folder: Path, tmp_path: Path
) -> None:
    folder.mkdir()
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (folder / f"{NAME}.part").symlink_to(precious)
    assert watch.ended(watch.downloads.add(request_for())).status == "failed"
    assert precious.read_text() == "mine"


def test_a_part_that_was_replaced_on_the_hub_is_fetched_again(
    watch: Watch, request_for: Requests, folder: Path, repository: Repository, server: HubServer
) -> None:
    paths = [f"Q2_K/big-{i:05}-of-00003.gguf" for i in (1, 2, 3)]
    server.add(Fault("*big-00002*", drop_after=0))
    download = watch.downloads.add(request_for(*paths))
    assert watch.ended(download).status == "failed"
    assert (folder / "big-00001-of-00003.gguf").is_file()
    server.clear()
    repository.files = {**repository.files, paths[0]: b"new" * MB}
    watch.downloads.resume(download)
    assert watch.until(lambda s: s.status == "done", download).n_total == 9 * MB
    assert (folder / "big-00001-of-00003.gguf").read_bytes() == b"new" * MB


def test_what_others_still_need_is_not_free(
    watch: Watch, request_for: Requests, server: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage("/")._replace(free=(64 << 20) + 8 * MB)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    server.add(Fault("*.gguf", bytes_per_s=4 * MB))
    first = watch.downloads.add(request_for())
    watch.until(lambda s: s.n_done > 0, first)
    second = watch.downloads.add(request_for("sub/other-Q8_0.gguf"))
    assert "only" in watch.ended(second).problem
    watch.downloads.pause(first)
    watch.until(lambda s: s.status == "paused", first)
    server.clear()
    watch.downloads.resume(second)
    assert watch.until(lambda s: s.status == "done", second)
