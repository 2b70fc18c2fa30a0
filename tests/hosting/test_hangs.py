"""Engines that hang are told from those that are slow, and are ended."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from hosting import hanging
from hosting.engines import Canceller, Host
from hosting.hanging import TRIGGER
from paceline.hosting import process, supervisor
from paceline.messages import (
    EngineDied,
    Event,
    LoadFailed,
    PairLoaded,
    StepCommitted,
    TurnFailed,
    TurnFinished,
    Unloaded,
)
from paceline.workers.process import ChildMain

TRAP = {"prompt_tokens": tuple(range(100, 100 + TRIGGER)), "seed": 1, "ignore_eog": True}
MakeHost = Callable[[ChildMain], Host]
AllowWarnings = Callable[[str], None]


@pytest.fixture
def host_on(demo_pair: tuple[Path, Path], allow_warnings: AllowWarnings) -> Iterator[MakeHost]:
    allow_warnings("its process is ended|llama_decode gave -3")
    hosts = []

    def make(main: ChildMain) -> Host:
        host = Host("process", demo_pair)
        host.service._keeper._main = main
        hosts.append(host)
        return host

    yield make
    for host in hosts:
        assert host.client.close()


def committed(host: Host) -> str:
    return "".join(e.text for e in host.events if isinstance(e, StepCommitted))


def died(host: Host, last: Event, words: str) -> None:
    assert isinstance(last, EngineDied)
    assert words in last.reason
    assert host.service.pid == 0


# -------------------------------------------------------------------------------------- decodes


@pytest.mark.parametrize("at", [0, 8], ids=["prefill", "decode"])
def test_a_decode_that_never_returns_is_found_by_its_limit(host_on: MakeHost, at: int) -> None:
    host = host_on(hanging.hanging(hanging.decode, "sleep", at))
    host.must_load()
    pid = host.service.pid
    began = time.monotonic()
    last = host.turn(**TRAP, strategy="off", max_tokens=100)
    assert hanging.DECODE_LIMIT_S < time.monotonic() - began < hanging.DECODE_LIMIT_S + 10
    died(host, last, "computation of the engine hangs")
    assert bool(committed(host)) == (at > 0)
    assert not psutil.pid_exists(pid)
    host.must_load()
    assert isinstance(host.turn(prompt="hello", max_tokens=4, strategy="off"), TurnFinished)


def test_a_slow_decode_within_its_limit_is_left_alone(host_on: MakeHost) -> None:
    host = host_on(hanging.hanging(hanging.decode, "dawdle", 8))
    host.must_load()
    began = time.monotonic()
    assert isinstance(host.turn(**TRAP, strategy="off", max_tokens=30), TurnFinished)
    assert time.monotonic() - began > 0.5 * hanging.DECODE_LIMIT_S


def test_native_code_that_never_lets_go_of_python_is_found_by_its_silence(
    host_on: MakeHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = host_on(hanging.hanging(hanging.decode, "hold", 8))
    host.must_load()
    monkeypatch.setattr(supervisor, "SILENT_S", 2.0)
    last = host.turn(**TRAP, strategy="off", max_tokens=100)
    died(host, last, "has not answered for 2 seconds")
    assert committed(host)


def test_a_computation_that_failed_costs_the_process_and_keeps_the_text(host_on: MakeHost) -> None:
    host = host_on(hanging.hanging(hanging.decode, "fail", 8))
    host.must_load()
    pid = host.service.pid
    last = host.turn(**TRAP, strategy="off", max_tokens=100)
    assert isinstance(last, TurnFailed)
    assert last.code == "compute-failed"
    assert committed(host)
    assert [type(e) for e in host.events[-2:]] == [Unloaded, TurnFailed]
    assert host.service.pid == 0
    assert not psutil.pid_exists(pid)
    host.must_load()
    assert host.service.pid not in {0, pid}
    assert isinstance(host.turn(prompt="hello", max_tokens=4, strategy="off"), TurnFinished)


# ---------------------------------------------------------------------------------------- loads


def test_a_slow_load_that_moves_is_left_alone(
    host_on: MakeHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "STUCK_S", 2.0)
    host = host_on(hanging.hanging(hanging.load, "report", 3.0))
    assert isinstance(host.load(), PairLoaded)


@pytest.mark.skipif(sys.platform != "linux", reason="counts bytes that came from a disk")
def test_a_silent_load_that_reads_is_left_alone(
    host_on: MakeHost, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    with file.open("wb") as stream:
        stream.write(os.urandom(1 << 20))
        os.fsync(stream.fileno())
    if not _reads_from_disk(file):
        pytest.skip("this file system has no disk, or does not forget what it has read")
    monkeypatch.setenv("PACELINE_TEST_FILE", str(file))
    monkeypatch.setattr(supervisor, "STUCK_S", 2.0)
    host = host_on(hanging.hanging(hanging.load, "read", 3.0))
    assert isinstance(host.load(), PairLoaded)


def _reads_from_disk(file: Path) -> bool:
    before = psutil.Process().io_counters().read_bytes
    with file.open("rb") as stream:
        os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        stream.read()
    return psutil.Process().io_counters().read_bytes > before


def test_a_load_in_which_nothing_moves_is_given_up(
    host_on: MakeHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = host_on(hanging.hanging(hanging.load, "nothing", hanging.FOR_EVER_S))
    monkeypatch.setattr(supervisor, "STUCK_S", 2.0)
    began = time.monotonic()
    last = host.load()
    assert isinstance(last, LoadFailed)
    assert last.code == "engine-died"
    assert "Nothing has moved in the engine for 2 seconds" in last.message
    assert time.monotonic() - began < 20
    assert host.service.pid == 0


def test_a_load_that_ignores_its_cancel_is_cancelled_in_time(host_on: MakeHost) -> None:
    host = host_on(hanging.hanging(hanging.load, "nothing", hanging.FOR_EVER_S))
    assert host.service._keeper.start(lambda: False) is None
    with Canceller(host, 0.2) as canceller:
        last = host.load()
    assert isinstance(last, LoadFailed)
    assert last.code == "cancelled"
    assert process.LOAD_CANCEL_S <= host.times[-1] - canceller.at < process.LOAD_CANCEL_S + 1


# ------------------------------------------------------------------------------------- drafters


def test_a_drafter_that_never_comes_back_ends_with_the_cancel_and_the_text_stays(
    host_on: MakeHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "TURN_CANCEL_S", 1.0)
    host = host_on(hanging.hanging(hanging.drafter))
    host.must_load()
    pid = host.service.pid
    with Canceller(host, 1.0, StepCommitted) as canceller:
        last = host.turn(**TRAP, strategy="prompt-lookup", max_tokens=100)
    died(host, last, "did not stop in time")
    assert 1.0 <= host.times[-1] - canceller.at < 3
    assert committed(host)
    assert not psutil.pid_exists(pid)
    host.must_load()
    assert isinstance(host.turn(prompt="hello", max_tokens=4, strategy="off"), TurnFinished)
