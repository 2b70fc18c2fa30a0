"""Processes that die or hang before there is anything to chat with: at the start, or in a load."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from hosting.hanging import hanging, reading_load
from hosting.observed import Host, finished_text
from hosting.sabotage import dies_at_start, dies_in_load, goes_deaf
from paceline.hosting import supervisor
from paceline.hosting.exit_reasons import RestartPolicy
from paceline.messages import (
    DescribeEngine,
    EngineDied,
    Event,
    LoadFailed,
    LoadProgressed,
    PairLoaded,
)

Pair = tuple[Path, Path]


@pytest.fixture(autouse=True)
def _warnings(allow_warnings: Callable[[str], None]) -> None:
    allow_warnings("engine|llama.cpp|loaded again")


@pytest.fixture
def starts(tmp_path: Path) -> Path:
    """The file to which processes add a letter when they start, or begin to load a target."""
    file = tmp_path / "starts"
    file.touch()
    return file


# ------------------------------------------------------------------------------------ at start


@pytest.mark.grid(short=1)
@pytest.mark.parametrize(
    ("how", "part"),
    [
        ("exit", "exit code 1"),
        ("signal", "SIGSEGV"),
        ("import", "libllama.so: cannot open shared object file"),
    ],
)
def test_a_crash_loop_ends_after_three_starts(
    how: str, part: str, demo_pair: Pair, starts: Path
) -> None:
    now = 1000.0
    waits: list[float] = []
    main = functools.partial(dies_at_start, how, str(starts))
    restarts = RestartPolicy(clock=lambda: now)
    with Host(demo_pair, main, restarts, sleep=waits.append) as host:
        for i in range(10):
            (failed,) = host.load()
            assert isinstance(failed, LoadFailed)
            if i < 3:
                assert part in failed.message
                now += 1
            else:
                assert "three times within a minute" in failed.message
                assert f"Wait {60 + 1000 - now:.0f} seconds" in failed.hint
                now += 5
        assert len(starts.read_bytes()) == 3
        assert waits == [0, 0, 0.5]
        (died,) = host.submit(DescribeEngine())
        assert isinstance(died, EngineDied)
        assert len(starts.read_bytes()) == 3

        now = 1000 + 60.5  # the first death is a minute ago: one more start
        (failed,) = host.load()
        assert isinstance(failed, LoadFailed)
        assert part in failed.message
        assert len(starts.read_bytes()) == 4
        host.load()
        assert len(starts.read_bytes()) == 4

        now += 1000
        host.load()
        assert len(starts.read_bytes()) == 5
        assert waits[-1] == 0


def test_a_process_that_no_command_reaches_ends_and_says_why(demo_pair: Pair) -> None:
    with Host(demo_pair, goes_deaf) as host:
        (death,) = host.submit(DescribeEngine())
        assert isinstance(death, EngineDied)
        assert death.reason.startswith("Memory ran out")


# ------------------------------------------------------------------------------------ in a load


def only_failure(events: list[Event]) -> LoadFailed:
    """Return the one answer to the load, which must be that it failed."""
    *progress, failed = events
    assert all(isinstance(event, LoadProgressed) for event in progress), progress
    assert isinstance(failed, LoadFailed)
    return failed


@pytest.mark.grid(short=2)
@pytest.mark.parametrize("how", ["exit", "crash", "kill"])
@pytest.mark.parametrize(
    ("stage", "is_draft"),
    [
        ("target begins", False),
        ("target at half", False),
        ("draft begins", True),
        ("draft at half", True),
    ],
)
def test_a_death_in_a_load(
    stage: str, is_draft: bool, how: str, demo_pair: Pair, starts: Path
) -> None:
    main = functools.partial(dies_in_load, stage, how, str(starts))
    with Host(demo_pair, main) as host:
        failed = only_failure(host.load())
        reason = {"exit": "exit code 1", "crash": "SIGSEGV", "kill": "from outside"}[how]
        assert reason in failed.message
        assert demo_pair[is_draft].name in failed.message
        assert failed.hint
        assert starts.read_bytes() == b"x"
        assert host.service.pid == 0


@pytest.mark.grid(short=1)
@pytest.mark.parametrize("stage", ["target in self-test", "draft in self-test"])
def test_a_crash_in_the_self_test_is_tried_once_more(
    stage: str, demo_pair: Pair, starts: Path
) -> None:
    main = functools.partial(dies_in_load, stage, "crash first", str(starts))
    with Host(demo_pair, main) as host:
        events = host.load()
        loaded = events[-1]
        assert isinstance(loaded, PairLoaded)
        assert not any(isinstance(event, (EngineDied, LoadFailed)) for event in events)
        assert starts.read_bytes() == b"x-"
        (note,) = loaded.notes
        assert "SIGSEGV" in note
        assert "loaded again without" in note
        assert finished_text(host.reply())
        host.ready()  # the next load tries the extra buffers again
        assert starts.read_bytes() == b"x-x"


@pytest.mark.grid(short=1)
@pytest.mark.parametrize("stage", ["draft in self-test", "target in self-test"])
def test_there_is_no_third_try(stage: str, demo_pair: Pair, starts: Path) -> None:
    with Host(demo_pair, functools.partial(dies_in_load, stage, "crash", str(starts))) as host:
        failed = only_failure(host.load())
        assert starts.read_bytes() == b"x-"
        assert "SIGSEGV" in failed.message
        assert demo_pair[stage.startswith("draft")].name in failed.message


def test_a_load_in_which_nothing_moves_is_given_up(
    demo_pair: Pair, starts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    main = functools.partial(dies_in_load, "draft at half", "hang", str(starts))
    with Host(demo_pair, main) as host:
        monkeypatch.setattr(supervisor, "STUCK_S", 1.0)
        failed = only_failure(host.load())
        assert "Nothing has moved in the engine for 1 seconds" in failed.message
        assert demo_pair[1].name in failed.message
        assert host.service.pid == 0


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="counts bytes that came from a disk")
def test_a_silent_load_that_reads_is_left_alone(
    demo_pair: Pair, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    with file.open("wb") as stream:
        stream.write(os.urandom(1 << 20))
        os.fsync(stream.fileno())
    if not _reads_from_disk(file):
        pytest.skip("this file system has no disk, or does not forget what it has read")
    monkeypatch.setenv("PACELINE_TEST_FILE", str(file))
    monkeypatch.setattr(supervisor, "STUCK_S", 2.0)
    with Host(demo_pair, hanging(reading_load, 3.0)) as host:
        host.ready()


def _reads_from_disk(file: Path) -> bool:
    before = psutil.Process().io_counters().read_bytes
    with file.open("rb") as stream:
        os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        stream.read()
    return psutil.Process().io_counters().read_bytes > before
