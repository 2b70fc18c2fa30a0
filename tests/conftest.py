"""Fixtures of every test: its own folders, no network, and a check that it leaves nothing.

A test that leaves a thread or a process running or a warning in the log fails. Where a warning is
what the test wants to see, it asks for the fixture `allow_warnings` and names it by a pattern.
"""

from __future__ import annotations

import os

# Before anything imports Qt or huggingface_hub: both read these only once.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
# Own kernels would be tested again for every home; tests of kernels choose for themselves.
os.environ["PACELINE_KERNELS"] = "stock"
# Before anything loads llama.cpp: workers share the cores, and OpenMP's threads that spin while
# they wait keep the very thread from running that they wait for. See `calm_waiting_threads`.
os.environ.setdefault("GOMP_SPINCOUNT", "0")

import contextlib
import gc
import ipaddress
import itertools
import logging
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from hypothesis import settings

from paceline import paths
from paceline.engine.prompt.renderer import RENDER
from paceline.workers.start import CHILD
from shared_reader import lent, one_reader
from trials import Trials

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from paceline.engine.model.backend import VocabularyFile
    from shared_reader import Reading

# A shell that starts the tests in the background has them and all their children ignore Ctrl+C.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
settings.register_profile("explore", deadline=None, max_examples=2000)
settings.register_profile("usual", settings.get_profile("fixed"), max_examples=25)

TESTS = Path(__file__).parent
THREAD_GRACE_S = 2.0
PROCESS_GRACE_S = 0.5


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option for the whole suite; tests/README.md says what a default run leaves out."""
    parser.addoption("--long", action="store_true", help="run every test, with the full counts")
    parser.addoption("--trials", type=int, help="break nothing more often than this in one test")


def pytest_configure(config: pytest.Config) -> None:
    """Say how many examples Hypothesis tries; another number: --hypothesis-profile=explore."""
    if not config.getoption("--hypothesis-profile"):
        settings.load_profile("fixed" if config.getoption("--long") else "usual")


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_xdist_auto_num_workers() -> Generator[None, int, int]:
    """Start one worker more than there are cores, since a sixth of the tests' time is waiting."""
    return (yield) + 1


@pytest.hookimpl(trylast=True)  # what -k and -m leave out is gone by then
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put files in order; leave out what is `long` and most of a `grid`, unless --long is given.

    A test that the command line names with its case, as in `file.py::test[case]`, always runs.
    """
    items.sort(key=_place)
    if config.getoption("--long"):
        return
    named = tuple(name for name in config.args if "::" in name) or ("\0",)
    cases_named = tuple(name for name in named if "[" in name) or ("\0",)
    grids: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("grid"):
            grids.setdefault(item.nodeid.partition("[")[0], []).append(item)
    left_out = {item for item in items if item.get_closest_marker("long")}
    left_out = {item for item in left_out if not item.nodeid.startswith(named)}
    for cases in grids.values():
        mark = cases[0].get_closest_marker("grid")
        assert mark is not None
        others = set(cases) - set(_sample(cases, mark.kwargs["short"]))
        left_out.update(item for item in others if not item.nodeid.startswith(cases_named))
    config.hook.pytest_deselected(items=[item for item in items if item in left_out])
    items[:] = [item for item in items if item not in left_out]


BEGIN = ("integration", "hosting", "gui", "cli", "catalog", "packaging")
"""The folders whose files begin, in this order: single files of theirs take up to a minute.

Were one of them the last, the other workers would have nothing to do meanwhile.
"""


def _place(item: pytest.Item) -> int:
    folder = item.path.relative_to(TESTS).parts[0]
    return BEGIN.index(folder) if folder in BEGIN else len(BEGIN)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect tests without collecting garbage: there is none, among ever more objects."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


CRASHED = pytest.StashKey[bool]()


@pytest.hookimpl(optionalhook=True)  # without pytest-xdist a crash is the end anyway
def pytest_handlecrashitem(crashitem: str, report: pytest.TestReport, sched: Any) -> None:
    """Remember that a process of the tests has crashed."""
    del crashitem, report
    sched.config.stash[CRASHED] = True


WINDOWS = pytest.StashKey[int]()


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist
def pytest_testnodedown(node: Any, error: object) -> None:
    """Add the whole windows that a worker has made."""
    del error
    made = getattr(node, "workeroutput", {}).get("windows", 0)
    node.config.stash[WINDOWS] = node.config.stash.get(WINDOWS, 0) + made


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say how many whole windows were made, each of which costs as much as twenty tests."""
    n_made = config.stash.get(WINDOWS, 0) + _n_windows()
    if n_made:
        terminalreporter.write_line(f"whole windows made: {n_made}")


def _n_windows() -> int:
    module = sys.modules.get("gui.shared_window")
    return len(module.made) if module is not None else 0


def pytest_sessionfinish(session: pytest.Session) -> None:
    """End with another code than for failures, so that a crash is not tried again alone."""
    if (output := getattr(session.config, "workeroutput", None)) is not None:
        output["windows"] = _n_windows()
    if session.config.stash.get(CRASHED, False):
        session.exitstatus = pytest.ExitCode.INTERNAL_ERROR


def _sample(cases: list[pytest.Item], n: int) -> list[pytest.Item]:
    """Return `n` cases that are spread evenly, the first and the last one among them."""
    if n >= len(cases):
        return cases
    if n == 1:
        return cases[:1]
    return [cases[round(k * (len(cases) - 1) / (n - 1))] for k in range(n)]


@pytest.fixture(autouse=True, scope="module")
def _old_objects_rest() -> None:
    """Keep what is there already, a million objects in the end, out of every later collection.

    Each test of the window collects garbage and looks through all objects for timers and threads.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture
def is_long(request: pytest.FixtureRequest) -> bool:
    """Return whether the run has the option `--long`."""
    return bool(request.config.getoption("--long"))


@pytest.fixture
def trials(
    pytestconfig: pytest.Config, record_property: Callable[[str, object], None]
) -> Iterator[Trials]:
    """The test's trials, whose number is in its report."""
    counted = Trials(pytestconfig)
    yield counted
    record_property("trials", counted.n)


_homes = itertools.count()


@pytest.fixture(autouse=True)
def paceline_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every file of the program lands here; subprocesses inherit it. The program makes the folder.

    It is none of `tmp_path`'s, which costs as much as all other fixtures of a small test.
    """
    home = tmp_path_factory.getbasetemp() / f"paceline-home-{next(_homes)}"
    os.environ["PACELINE_HOME"] = str(home)
    return home


class NetworkUsedError(Exception):
    """Not an OSError on purpose: code that handles network errors must not swallow it."""


def _guard_network() -> None:
    """Let sockets reach this machine only."""

    def guard(name: str) -> None:
        original = getattr(socket.socket, name)

        def guarded(self: socket.socket, *args: Any) -> Any:
            address = args[-1]
            if isinstance(address, tuple) and not _is_loopback(str(address[0])):
                raise NetworkUsedError(f"{name} to {address}")
            return original(self, *args)

        setattr(socket.socket, name, guarded)

    for name in ("connect", "connect_ex", "sendto"):
        guard(name)


def _is_loopback(host: str) -> bool:
    if host in ("localhost", ""):
        return True
    try:
        return ipaddress.ip_address(host.split("%", maxsplit=1)[0]).is_loopback
    except ValueError:
        return False


_guard_network()


_started: list[int] = []
"""Ids of all children of the program's that were started from this one, except on Windows.

The one that renders templates, which all tests share, is not among them.
"""


def _note_starts() -> None:
    """Have every start noted: to look through the system's processes costs 7 ms a test."""
    if sys.platform == "win32":
        return
    begin = subprocess.Popen._execute_child  # type: ignore[attr-defined]

    def noted(self: subprocess.Popen[bytes], words: object, *rest: Any) -> None:
        begin(self, words, *rest)
        # The process itself does not tell before it has got as far as running its own program.
        if isinstance(words, list) and CHILD in words and RENDER not in words:
            _started.append(self.pid)

    subprocess.Popen._execute_child = noted  # type: ignore[attr-defined]


_note_starts()


def _is_running(process: psutil.Process) -> bool:
    """Return whether a process is a child of this one and has not ended."""
    with contextlib.suppress(psutil.Error):  # it ended meanwhile
        return process.ppid() == os.getpid() and process.status() != psutil.STATUS_ZOMBIE
    return False


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
def _nothing_left() -> Iterator[_Recorder]:
    """Fail a test that leaves a thread, a process or an unexpected warning.

    One fixture for the three: with 9,000 tests each fixture more takes seconds.
    """
    threads, n_started = set(threading.enumerate()), len(_started)
    recorder = _Recorder()
    logger = logging.getLogger("paceline")
    logger.addHandler(recorder)
    yield recorder
    complaints = []
    started = [t for t in threading.enumerate() if t not in threads]
    left = [t for t in started if not t.daemon or t.name == "engine"]
    for thread in left:
        thread.join(THREAD_GRACE_S)
    names = [thread.name for thread in left if thread.is_alive()]
    if names:
        complaints.append(f"threads are still running: {names}")
    if ids := _end(_started[n_started:]):
        complaints.append(f"processes were still running: {ids}")
    logger.removeHandler(recorder)
    if texts := recorder.unexpected():
        complaints.append(f"unexpected warnings in the log: {texts}")
    assert not complaints, "; ".join(complaints)


def _end(pids: list[int]) -> list[int]:
    """End those of these processes that do not end soon by themselves; returns them."""
    left = []
    for pid in pids:
        with contextlib.suppress(psutil.Error):
            left.append(psutil.Process(pid))
    _, left = psutil.wait_procs(list(filter(_is_running, left)), PROCESS_GRACE_S)
    ids = [process.pid for process in left]
    for process in left:
        with contextlib.suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(left, PROCESS_GRACE_S)
    return ids


@pytest.fixture
def allow_warnings(_nothing_left: _Recorder) -> Callable[[str], None]:
    """Call it with a regular expression: log warnings that match are part of the test."""
    return _nothing_left.allowed.append


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder on a file system of 1 MiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if (
        shutil.which("mount") is None
        or subprocess.run(mount, capture_output=True, check=False).returncode
    ):
        pytest.skip("no file system can be mounted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.fixture
def quick_calibration(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calibrations take a tenth of the time, in this process and in an engine's.

    A test whose figures matter does without.
    """
    from hosting import quick

    quick.everywhere(monkeypatch.setattr)


@pytest.fixture(scope="module")
def reading_process(target_path: Path) -> Iterator[Reading]:
    """The process that reads model files for the tests of a file, where they take it."""
    with one_reader(target_path) as thread:
        yield thread


@pytest.fixture(scope="module")
def one_reader_for_all(reading_process: Reading) -> Iterator[None]:
    """Whatever the file's tests make asks that process."""
    with lent(reading_process):
        yield


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


@pytest.fixture(scope="session")
def demo_vocab(target_path: Path) -> Iterator[VocabularyFile]:
    """The demo pair's vocabulary, loaded once; a test leaves no grammar of it open."""
    from paceline.engine.llama import LlamaBackend

    vocab = LlamaBackend().load_vocabulary(str(target_path))
    yield vocab
    vocab.close()
