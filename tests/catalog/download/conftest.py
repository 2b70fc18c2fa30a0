"""A loopback Hub with one repository, and downloads that end with the test."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hub_server import HubServer, Repository
from paceline.catalog.download.downloads import Downloads
from paceline.catalog.download.record import Download, DownloadRequest
from paceline.catalog.hub.client import Hub

REPO = "owner/model"
MB = 1_000_000
SIZE = 6 * MB
SOON = (0.01, 0.01, 0.01)
ENDED = ("done", "failed", "paused", "cancelled")


@pytest.fixture(scope="session")
def content() -> bytes:
    """What the file holds; nothing in it repeats."""
    return random.Random(5).randbytes(SIZE)


@pytest.fixture
def repository(content: bytes) -> Repository:
    """One model, one split one, and a small file."""
    part = "big-{:05}-of-00003.gguf"
    return Repository(
        REPO,
        {
            "model-Q4_K_M.gguf": content,
            "sub/other-Q8_0.gguf": content[::-1],
            "README.md": b"about",
            **{f"Q2_K/{part.format(i)}": content[i * 10_000 :][: 3 * MB] for i in (1, 2, 3)},
        },
    )


@pytest.fixture
def server(repository: Repository) -> Iterator[HubServer]:
    """The Hub."""
    with HubServer({REPO: repository}) as server:
        yield server


class Watch:
    """Downloads with a listener that keeps all it hears."""

    def __init__(self, downloads: Downloads) -> None:
        self.downloads = downloads
        self.heard: list[Download] = []
        self._changed = threading.Condition()
        downloads.set_listener(self._hear)

    def _hear(self, state: Download) -> None:
        with self._changed:
            self.heard.append(state)
            self._changed.notify_all()

    def until(self, is_wanted: Callable[[Download], bool], download: str = "") -> Download:
        """Wait until a download is as wanted, now or by what is heard."""

        def found() -> Download | None:
            states = [s for s in self.downloads.states() if download in ("", s.id)]
            return next((s for s in states if is_wanted(s)), None)

        with self._changed:
            assert self._changed.wait_for(lambda: found() is not None, 20), self.heard[-3:]
        state = found()
        assert state is not None
        return state

    def ended(self, download: str = "") -> Download:
        """Wait until a download moves no more."""
        return self.until(lambda s: s.status in ENDED, download)

    def statuses(self, download: str) -> list[str]:
        """Return what a download has gone through, each status once in a row."""
        found: list[str] = []
        for state in self.heard:
            if state.id == download and state.status not in found[-1:]:
                found.append(state.status)
        return found


def settled(downloads: Downloads) -> set[str]:
    """Wait for closed downloads a little longer than `close` does; returns their statuses."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        found = {state.status for state in downloads.states()}
        if found.isdisjoint({"waiting", "running", "verifying"}):
            break
        time.sleep(0.01)
    return found


@pytest.fixture
def state_dir(tmp_path: Path) -> Path:
    """Where journals lie."""
    return tmp_path / "downloads"


@pytest.fixture
def start(
    server: HubServer, state_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Watch]]:
    """Make downloads; a second call is a restart beside the first."""
    monkeypatch.setattr("paceline.catalog.download.transfer.PAUSES_S", SOON)
    made: list[Downloads] = []

    def start(at_once: int = 2) -> Watch:
        downloads = Downloads(Hub(endpoint=server.endpoint), state_dir, at_once=at_once)
        made.append(downloads)
        return Watch(downloads)

    yield start
    for downloads in made:
        downloads.close()


@pytest.fixture
def watch(start: Callable[..., Watch]) -> Watch:
    """Downloads, two at once."""
    return start()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where models go."""
    return tmp_path / "models"


@pytest.fixture
def request_for(folder: Path) -> Callable[..., DownloadRequest]:
    """Make a request for files of the repository."""

    def request_for(*files: str) -> DownloadRequest:
        return DownloadRequest(REPO, files or ("model-Q4_K_M.gguf",), "main", str(folder))

    return request_for
