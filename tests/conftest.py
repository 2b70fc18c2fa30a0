"""What every test gets: folders of its own, no network, and nothing left behind in silence.

A test that leaves a thread or a process running or a warning in the log fails. Where a warning is
what the test wants to see, it asks for the fixture `allow_warnings` and names it by a pattern.
"""

from __future__ import annotations

import os

# Before anything imports Qt or huggingface_hub: both read these only once.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"

import contextlib
import gc
import ipaddress
import logging
import re
import socket
import threading
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from hypothesis import settings

from paceline import paths

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
settings.register_profile("explore", deadline=None, max_examples=2000)
settings.load_profile("fixed")  # another one: pytest --hypothesis-profile=explore

THREAD_GRACE_S = 2.0
PROCESS_GRACE_S = 0.5


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let whoever has the time ask for the full counts of what a default run does a few times."""
    parser.addoption("--long", action="store_true", help="inject every fault as often as promised")


@pytest.fixture(autouse=True, scope="module")
def _old_objects_rest() -> None:
    """Keep what is there already, a million objects in the end, out of every later collection.

    Each test of the window collects garbage and looks through all objects for timers and threads.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture
def is_long(request: pytest.FixtureRequest) -> bool:
    """Whether this run takes its time."""
    return bool(request.config.getoption("--long"))


@pytest.fixture(autouse=True)
def paceline_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every file of the program lands here; subprocesses inherit it."""
    home = tmp_path / "paceline-home"
    monkeypatch.setenv("PACELINE_HOME", str(home))
    # Own kernels would be tested anew for every home; tests of theirs say what they want.
    monkeypatch.setenv("PACELINE_KERNELS", "stock")
    return home


class NetworkUsedError(Exception):
    """Not an OSError on purpose: code that handles network errors must not swallow it."""


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def guard(name: str) -> None:
        original = getattr(socket.socket, name)

        def guarded(self: socket.socket, *args: Any) -> Any:
            address = args[-1]
            if isinstance(address, tuple) and not _is_loopback(str(address[0])):
                raise NetworkUsedError(f"{name} to {address}")
            return original(self, *args)

        monkeypatch.setattr(socket.socket, name, guarded)

    for name in ("connect", "connect_ex", "sendto"):
        guard(name)


def _is_loopback(host: str) -> bool:
    if host in ("localhost", ""):
        return True
    try:
        return ipaddress.ip_address(host.split("%", maxsplit=1)[0]).is_loopback
    except ValueError:
        return False


@pytest.fixture(autouse=True)
def _no_threads_left() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    left = [t for t in threading.enumerate() if t not in before and not t.daemon]
    for thread in left:
        thread.join(THREAD_GRACE_S)
    names = [thread.name for thread in left if thread.is_alive()]
    assert not names, f"threads are still running: {names}"


def _spawned() -> set[psutil.Process]:
    """Processes that `multiprocessing` started; its own helper, which stays, is another one."""
    found = set()
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.Error):  # it ended meanwhile
            if "multiprocessing.spawn" in " ".join(child.cmdline()):
                found.add(child)
    return found


@pytest.fixture(autouse=True)
def _no_processes_left() -> Iterator[None]:
    before = _spawned()
    yield
    _, left = psutil.wait_procs(_spawned() - before, PROCESS_GRACE_S)
    ids = [process.pid for process in left]
    for process in left:
        with contextlib.suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(left, PROCESS_GRACE_S)
    assert not ids, f"processes were still running: {ids}"


class _Recorder(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.records: list[logging.LogRecord] = []
        self.allowed: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)

    def unexpected(self) -> list[str]:
        texts = [f"{r.name}: {r.getMessage()}" for r in self.records]
        return [t for t in texts if not any(re.search(p, t) for p in self.allowed)]


@pytest.fixture(autouse=True)
def _log_recorder() -> Iterator[_Recorder]:
    recorder = _Recorder()
    logger = logging.getLogger("paceline")
    logger.addHandler(recorder)
    yield recorder
    logger.removeHandler(recorder)
    assert not recorder.unexpected(), "unexpected warnings in the log"


@pytest.fixture
def allow_warnings(_log_recorder: _Recorder) -> Callable[[str], None]:
    """Call it with a regular expression: log warnings that match are part of the test."""
    return _log_recorder.allowed.append


@pytest.fixture(scope="session")
def demo_pair() -> tuple[Path, Path]:
    """Target and draft model of the built-in pair."""
    target, draft = paths.demo_pair()
    assert target.is_file()
    assert draft.is_file()
    return target, draft


@pytest.fixture(scope="session")
def target_path(demo_pair: tuple[Path, Path]) -> Path:
    """The demo pair's target model."""
    return demo_pair[0]


@pytest.fixture(scope="session")
def draft_path(demo_pair: tuple[Path, Path]) -> Path:
    """The demo pair's draft model."""
    return demo_pair[1]
