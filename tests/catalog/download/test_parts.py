"""The small parts of a download: disk space, speed, locks, partial files, journals."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from paceline.catalog.download import journal
from paceline.catalog.download.downloads import Downloads
from paceline.catalog.download.journal import DownloadJournal
from paceline.catalog.download.part_file import PartFile
from paceline.catalog.download.record import Download, DownloadedFile, DownloadRequest
from paceline.catalog.download.speed import Speed
from paceline.catalog.download.transfer import check_space
from paceline.catalog.hub.client import Hub
from paceline.errors import CancelledError, UserError

MIB = 1 << 20


def test_space_is_asked_of_the_disk_that_the_folder_will_be_on(tmp_path: Path) -> None:
    missing = tmp_path / "a" / "b"
    n_free = shutil.disk_usage(tmp_path).free
    check_space(missing, n_free // 2)
    with pytest.raises(UserError) as error:
        check_space(missing, n_free + MIB)
    assert error.value.code == "disk-full"
    check_space(missing, 0)


def test_space_leaves_a_margin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=100 * MIB)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    check_space(tmp_path, 36 * MIB)
    with pytest.raises(UserError, match="105 MB free"):
        check_space(tmp_path, 36 * MIB + 1)


def test_speed_is_that_of_the_last_seconds() -> None:
    speed = Speed()
    for i in range(100):  # 1 MB/s for 5 s, then 3 MB/s for 5 s
        speed.add(i / 10, (i if i < 50 else 3 * i - 100) * 100_000)
    now, n_bytes = 9.9, (3 * 99 - 100) * 100_000
    assert speed.bytes_per_s(now, n_bytes) == pytest.approx(3e6, rel=0.05)
    # It stands still: half of the window without anything.
    assert 0 < speed.bytes_per_s(now + 1.5, n_bytes) < 2e6
    assert speed.bytes_per_s(now + 4, n_bytes) == 0


def test_speed_of_what_began_anew_is_not_negative() -> None:
    speed = Speed()
    assert speed.bytes_per_s(0, 0) == 0
    speed.add(0, 5_000_000)
    speed.add(1, 6_000_000)
    speed.add(2, 0)
    speed.add(3, 1_000_000)
    assert speed.bytes_per_s(3, 1_000_000) == pytest.approx(1e6)
    speed.clear()
    assert speed.bytes_per_s(3, 1_000_000) == 0


def test_a_partial_file_is_written_by_one_at_a_time(tmp_path: Path) -> None:
    target = tmp_path / "a.gguf"
    with PartFile(target):
        with pytest.raises(UserError) as error:
            PartFile(target)
        assert error.value.code == "in-use"
        program = (
            "import sys; from pathlib import Path\n"
            "from paceline.catalog.download.part_file import PartFile\n"
            "from paceline.errors import UserError\n"
            "try: PartFile(Path(sys.argv[1]))\n"
            "except UserError as error: print(error.code)\n"
        )
        said = subprocess.check_output(
            [sys.executable, "-c", program, str(target)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            text=True,
        )
        assert said == "in-use\n"
    PartFile(target).__exit__(None, None, None)


def test_a_partial_file_keeps_what_it_is_told_to(tmp_path: Path) -> None:
    target = tmp_path / "a.gguf"
    with PartFile(target) as part:
        part.start_at(0)
        part.write(b"0123456789")
        assert part.digest(lambda: False) == hashlib.sha256(b"0123456789").hexdigest()
    read: list[None] = []
    with PartFile(target) as part:
        part.start_at(4)
        part.write(b"xy")
        assert part.n_bytes == 6
        digest = part.digest(lambda: False, lambda: read.append(None))
        assert digest == hashlib.sha256(b"0123xy").hexdigest()
        assert len(read) == 1
        part.publish()
    assert target.read_bytes() == b"0123xy"
    with PartFile(target.with_name("b")) as part:
        part.start_at(100)  # more than there is
        assert part.n_bytes == 0
        part.discard()
    assert [path.name for path in tmp_path.iterdir()] == ["a.gguf"]


def test_reading_for_the_hash_can_be_stopped(tmp_path: Path) -> None:
    with PartFile(tmp_path / "a") as part:
        part.start_at(0)
        part.write(b"a" * MIB)
        part.start_at(MIB)
        with pytest.raises(CancelledError):
            part.digest(lambda: True)


RECORD = Download(
    id="0123",
    request=DownloadRequest("o/r", ("a/x.gguf", "a/y.gguf"), "main", "/models", "http://hub"),
    files=(
        DownloadedFile("a/x.gguf", "etag", 10, "hash", 0, is_done=True, is_ours=True, n_here=10),
        DownloadedFile("a/y.gguf", "etag", 20, "hash", 5),
    ),
    status="paused",
    added_s=2.0,
)


def test_a_journal_gives_back_what_it_was_given_oldest_first(tmp_path: Path) -> None:
    kept = DownloadJournal(tmp_path / "state")
    assert kept.load() == ()
    newer = replace(RECORD, id="0000", added_s=3.0, status="failed", problem="Gone.")
    kept.save(replace(newer, bytes_per_s=5.0))
    kept.save(replace(RECORD, status="running"))
    assert kept.load() == (RECORD, newer)
    kept.remove(RECORD.id)
    kept.remove(RECORD.id)
    assert kept.load() == (newer,)


def test_a_journal_of_the_version_before_continues(tmp_path: Path) -> None:
    """Its form is fixed: what is measured anew at each start is not in it."""
    file = {"etag": "etag", "sha256": "hash", "started_s": 0.0}
    yes, no = ({"is_done": said, "is_ours": said} for said in (True, False))
    request = {"repo": "o/r", "files": ["a/x.gguf", "a/y.gguf"], "revision": "main"}
    stored = {
        "version": 1, "id": "0123", "status": "running", "problem": "", "hint": "", "added_s": 2.0,
        "request": {**request, "folder": "/models", "endpoint": "http://hub"},
        "files": [
            {**file, "path": "a/x.gguf", "n_bytes": 10, "n_safe": 0, **yes},
            {**file, "path": "a/y.gguf", "n_bytes": 20, "n_safe": 5, **no},
        ],
    }  # fmt: skip
    (tmp_path / "0123.json").write_text(json.dumps(stored))
    kept = DownloadJournal(tmp_path)
    assert kept.load() == (RECORD,)
    kept.save(RECORD)
    stored["request"] |= {"sha256": ""}  # what was added since
    assert json.loads((tmp_path / "0123.json").read_text()) == {**stored, "status": "paused"}


def _request(**changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda stored: stored["request"].update(changes)


def _file(**changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda stored: stored["files"][0].update(changes)


@pytest.mark.parametrize(
    "spoil",
    [
        _request(folder="/tmp/a\0b"),
        _request(folder="~nobody-is-called-that/x"),
        _request(files=["../x.gguf", "y.gguf"]),
        _file(path="b/x.gguf"),
        _file(n_safe=-5),
        _file(n_bytes=-1),
        _file(started_s=float("nan")),
        lambda stored: stored.update(id="another"),
        lambda stored: stored.update(version=2),
        lambda stored: stored.pop("files"),
    ],
)
def test_a_journal_that_does_not_fit_together_is_put_aside(
    tmp_path: Path, allow_warnings: Callable[[str], None], spoil: Callable[[dict[str, Any]], None]
) -> None:
    """The program opens all the same, and no file that is named there is touched."""
    allow_warnings("is put aside")
    kept = DownloadJournal(tmp_path)
    kept.save(RECORD)
    path = tmp_path / f"{RECORD.id}.json"
    stored = json.loads(path.read_text())
    spoil(stored)
    path.write_text(json.dumps(stored))
    assert kept.load() == ()
    assert [path.name for path in tmp_path.iterdir()] == ["0123.unreadable"]


@pytest.mark.parametrize("data", [b"{", b"[]", b"\xff\xfe", b"[" * 100_000])
def test_a_journal_that_cannot_be_read_is_put_aside(
    tmp_path: Path, allow_warnings: Callable[[str], None], data: bytes
) -> None:
    allow_warnings("is put aside")
    (tmp_path / "0123.json").write_bytes(data)
    assert DownloadJournal(tmp_path).load() == ()
    assert [path.name for path in tmp_path.iterdir()] == ["0123.unreadable"]


def test_the_state_of_a_download_is_known_without_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The window asks on its own thread, and a disk may be asleep."""
    downloads = Downloads(Hub(endpoint="http://127.0.0.1:9", offline=True), tmp_path)
    answers: list[list[str]] = []

    def asleep(path: Path, data: bytes) -> None:
        asking = threading.Thread(target=lambda: seen.extend(downloads.states()))
        seen: list[Download] = []
        asking.start()
        asking.join(10)
        answers.append([download.status for download in seen])

    monkeypatch.setattr(journal, "write_whole", asleep)
    downloads.add(RECORD.request)
    downloads.close()
    assert answers
    assert all(len(answer) == 1 for answer in answers)
