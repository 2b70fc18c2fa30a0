"""A loopback Hub with one repository, and downloads that end with the test."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hub_server import HubServer, Repository
from paceline.catalog.download import transfer
from paceline.catalog.download.downloads import Downloads
from paceline.catalog.download.record import Download, DownloadRequest
from paceline.catalog.hub import stream
from paceline.catalog.hub.client import Hub

REPO, NAME = "owner/model", "model-Q4_K_M.gguf"
SIZE = 300_000
PARTS = tuple(f"Q2_K/big-{i:05}-of-00003.gguf" for i in (1, 2, 3))


@pytest.fixture(scope="session")
def content() -> bytes:
    """The bytes of the file; nothing in them repeats."""
    return random.Random(5).randbytes(SIZE)


@pytest.fixture
def repository(content: bytes) -> Repository:
    """Two models, a split one, and a small file."""
    files = {NAME: content, "sub/other-Q8_0.gguf": content[::-1], "README.md": b"about"}
    return Repository(REPO, files | {path: content[i:] for i, path in enumerate(PARTS)})


@pytest.fixture
def server(repository: Repository) -> Iterator[HubServer]:
    """The Hub."""
    with HubServer({REPO: repository}) as server:
        yield server


class Watch:
    """Return downloads with a listener that keeps all notifications."""

    def __init__(self, downloads: Downloads) -> None:
        self.downloads = downloads
        self.heard: list[Download] = []
        self._changed = threading.Condition()
        downloads.set_listener(self.hear)

    def hear(self, now: Download) -> None:
        """Keep the notifications of a listener."""
        with self._changed:
            self.heard.append(now)
            self._changed.notify_all()

    def until(self, is_wanted: Callable[[Download], bool], download: str = "") -> Download:
        """Wait until a download is as wanted."""

        def found() -> Download | None:
            some = (d for d in self.downloads.states() if download in ("", d.id) and is_wanted(d))
            return next(some, None)

        with self._changed:
            for _ in range(2000):
                if (now := found()) is not None:
                    return now
                self._changed.wait(0.01)
        raise AssertionError(self.heard[-3:])

    def ended(self, download: str = "") -> Download:
        """Wait until a download moves no more."""
        return self.until(lambda d: d.status in ("done", "failed", "paused", "cancelled"), download)


@pytest.fixture
def start(
    server: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[], Watch]]:
    """Make downloads; a second call is another program beside the first."""
    monkeypatch.setattr(transfer, "PAUSES_S", (0.001, 0.001, 0.001))
    monkeypatch.setattr(stream, "MAX_DELAY_S", -1.0)  # bytes are here as soon as they come
    made: list[Downloads] = []

    def start() -> Watch:
        made.append(Downloads(Hub(endpoint=server.endpoint), tmp_path / "downloads"))
        return Watch(made[-1])

    yield start
    for downloads in made:
        downloads.close()


@pytest.fixture
def watch(start: Callable[[], Watch]) -> Watch:
    """Downloads, two at once."""
    return start()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder for models."""
    return tmp_path / "models"


@pytest.fixture
def request_for(folder: Path) -> Callable[..., DownloadRequest]:
    """Make a request for files of the repository."""
    return lambda *files: DownloadRequest(REPO, files or (NAME,), "main", str(folder))
