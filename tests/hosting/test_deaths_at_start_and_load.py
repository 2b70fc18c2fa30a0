"""Processes that die before there is anything to chat with: at their start, or in a load."""

import functools
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hosting.observed import Host, engine_processes, finished_text
from hosting.sabotage import dies_at_start, dies_in_load, goes_deaf
from paceline.hosting.exit_reasons import RestartPolicy
from paceline.hosting.supervisor import SILENT_S
from paceline.messages import (
    DescribeEngine,
    EngineDescribed,
    EngineDied,
    Event,
    LoadFailed,
    LoadPair,
    LoadProgressed,
    ModelParams,
    PairLoaded,
)

Pair = tuple[Path, Path]


@pytest.fixture(autouse=True)
def _outputs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, allow_warnings: Callable[[str], None]
) -> Iterator[None]:
    allow_warnings("engine|llama.cpp|loaded again")
    folder = tmp_path / "outputs"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield
    assert not list(folder.iterdir())
    assert not engine_processes()


@pytest.fixture
def starts(tmp_path: Path) -> Path:
    """The file to which processes add a letter when they start, or begin to load a target."""
    file = tmp_path / "starts"
    file.touch()
    return file


# ------------------------------------------------------------------------------------ at start


@pytest.mark.grid(short=2)
@pytest.mark.parametrize(
    ("how", "part"),
    [
        ("exit", "exit code 1"),
        ("signal", "SIGSEGV"),
        ("import", "libllama.so: cannot open shared object file"),
    ],
)
def test_a_crash_loop_ends_behind_three_starts(
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


def test_a_refused_start_costs_no_time(demo_pair: Pair, starts: Path) -> None:
    main = functools.partial(dies_at_start, "exit", str(starts))
    with Host(demo_pair, main, RestartPolicy()) as host:
        for _ in range(3):
            host.load()
        began = time.process_time(), time.monotonic()
        for _ in range(100):
            host.load()
        assert time.process_time() - began[0] < 0.5
        assert time.monotonic() - began[1] < 5
        assert len(starts.read_bytes()) == 3


def test_a_process_that_does_not_die_is_started_once(demo_pair: Pair) -> None:
    waits: list[float] = []
    with Host(demo_pair, restarts=RestartPolicy(), sleep=waits.append) as host:
        for _ in range(5):
            host.ready()
            assert isinstance(host.submit(DescribeEngine())[-1], EngineDescribed)
        assert waits == [0]


def test_a_process_that_no_command_reaches_ends_and_says_why(demo_pair: Pair) -> None:
    with Host(demo_pair, goes_deaf) as host:
        began = time.monotonic()
        (death,) = host.submit(DescribeEngine())
        assert isinstance(death, EngineDied)
        assert death.reason.startswith("Memory ran out")
        assert time.monotonic() - began < SILENT_S


# ------------------------------------------------------------------------------------ in a load


def only_failure(events: list[Event]) -> LoadFailed:
    """The one answer to the load, which must be that it failed."""
    *progress, failed = events
    assert all(isinstance(event, LoadProgressed) for event in progress), progress
    assert isinstance(failed, LoadFailed)
    return failed


@pytest.mark.grid(short=4)
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
        again = finished_text(host.reply())
        with Host(demo_pair) as sound:
            sound.ready()
            assert len(finished_text(sound.reply())) > 0
            assert again
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


def test_a_load_without_extra_buffers_is_tried_once(demo_pair: Pair, starts: Path) -> None:
    main = functools.partial(dies_in_load, "target in self-test", "crash", str(starts))
    with Host(demo_pair, main) as host:
        params = ModelParams(str(demo_pair[0]), n_threads=1, extra_bufts=False)
        only_failure(host.submit(LoadPair(params)))
        assert starts.read_bytes() == b"-"


def test_a_load_that_is_done_without_an_answer(demo_pair: Pair, starts: Path) -> None:
    main = functools.partial(dies_in_load, "draft at half", "done", str(starts))
    with Host(demo_pair, main) as host:
        failed = only_failure(host.load())
        assert "without an answer" in failed.message
        assert demo_pair[1].name in failed.message
        assert host.service.pid == 0


def test_a_kill_in_the_self_test_is_no_reason_to_try_again(demo_pair: Pair, starts: Path) -> None:
    main = functools.partial(dies_in_load, "target in self-test", "kill", str(starts))
    with Host(demo_pair, main) as host:
        assert "from outside" in only_failure(host.load()).message
        assert starts.read_bytes() == b"x"


def test_the_same_harness_without_a_fault(demo_pair: Pair, starts: Path) -> None:
    with Host(demo_pair, functools.partial(dies_in_load, "never", "crash", str(starts))) as host:
        loaded = host.load()[-1]
        assert isinstance(loaded, PairLoaded)
        assert loaded.notes == ()
        assert starts.read_bytes() == b"x"
        text = finished_text(host.reply())
    with Host(demo_pair) as host:
        host.ready()
        assert finished_text(host.reply()) == text
