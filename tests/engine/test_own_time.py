"""The seconds that count: those of the thread where it computes, all that pass elsewhere."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from unittest import mock

import pytest

from benchmarks.busy_machine import others
from fake_model import FakeModel, scripted
from paceline.engine.auto import Knowledge
from paceline.engine.auto.controller import Controller
from paceline.engine.auto.pace import Pace
from paceline.engine.model.threads import Clock, own_clock


def model(*, computes_here: bool) -> FakeModel:
    made = FakeModel(scripted("text", 0))
    made.computes_here = computes_here
    return made


needs_linux = pytest.mark.skipif(
    not Path("/proc/thread-self/schedstat").exists(), reason="the system does not tell"
)


@needs_linux
def test_what_others_take_is_not_counted() -> None:
    clock = own_clock(model(computes_here=True), None)
    assert clock is not None
    with others(2 * (os.cpu_count() or 1)) as go:
        go()
        passed, own, computed = (each() for each in (time.perf_counter, clock, time.thread_time))
        while time.perf_counter() - passed < 1.0:
            pass
        own, computed = clock() - own, time.thread_time() - computed
    assert own < 0.8
    assert own == pytest.approx(computed, abs=0.1)


@needs_linux
def test_what_the_thread_waits_for_sleeping_is_counted() -> None:
    clock = own_clock(model(computes_here=True))
    assert clock is not None
    began = clock()
    time.sleep(0.2)
    assert clock() - began > 0.15


@needs_linux
def test_the_system_is_asked_again_only_after_the_thread_did_not_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks = [b"0 1000000000 1", b"0 3000000000 2"]
    monkeypatch.setattr(os, "pread", mock.Mock(side_effect=looks))
    monkeypatch.setattr(time, "perf_counter", iter([10.0, 11.0, 12.0, 14.0]).__next__)
    monkeypatch.setattr(time, "thread_time", iter([5.0, 5.999_996, 6.999_992, 7.0]).__next__)
    own = own_clock(model(computes_here=True))
    assert own is not None
    assert [own() for _ in range(3)] == [10.0, 11.0, 11.0]


@needs_linux
def test_a_wait_while_the_clock_is_read_does_not_turn_it_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks = [b"0 0 1", b"0 3000000000 2", b"0 3000000000 2"]
    monkeypatch.setattr(os, "pread", mock.Mock(side_effect=looks))
    # 3 s pass in a wait after the clocks were read the second time, and before the look.
    monkeypatch.setattr(time, "perf_counter", iter([10.0, 11.0, 15.0]).__next__)
    monkeypatch.setattr(time, "thread_time", iter([5.0, 5.9, 6.9]).__next__)
    own = own_clock(model(computes_here=True))
    assert own is not None
    assert [own() for _ in range(2)] == [10.0, 12.0]


@needs_linux
def test_a_clock_of_a_thread_that_has_ended_continues() -> None:
    clocks: list[Clock | None] = []
    thread = threading.Thread(target=lambda: clocks.append(own_clock(model(computes_here=True))))
    thread.start()
    thread.join()
    (clock,) = clocks
    assert clock is not None
    began = clock()
    time.sleep(0.05)
    assert clock() - began >= 0.05


@needs_linux
def test_a_clock_that_is_let_go_leaves_no_file_open(monkeypatch: pytest.MonkeyPatch) -> None:
    files: list[int] = []
    open_file = os.open

    def noted(path: str, flags: int) -> int:
        files.append(open_file(path, flags))
        return files[-1]

    monkeypatch.setattr(os, "open", noted)
    own = own_clock(model(computes_here=True))
    assert own is not None
    own()
    (file,) = files
    del own
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(file)


def test_where_a_device_computes_all_seconds_count() -> None:
    here, there = model(computes_here=True), model(computes_here=False)
    assert own_clock(there) is None
    assert own_clock(here, there) is None


def test_a_system_that_does_not_tell_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "open", mock.Mock(side_effect=FileNotFoundError))
    assert own_clock(model(computes_here=True)) is None


def test_a_long_stall_is_soon_forgotten() -> None:
    pace = Pace()
    for _ in range(20):
        pace.saw_share(0.015, 0.0)
    pace.saw_share(0.015, 10.0)
    for _ in range(40):
        pace.saw_share(0.015, 0.0)
    assert pace.wait < 1.1
    pace.saw_share(0.0, 0.0)
    Pace().saw_share(0.0, 0.0)


def test_the_share_that_steps_had_follows_and_comes_back() -> None:
    pace = Pace()
    assert pace.wait == 1.0
    for _ in range(40):
        pace.saw_share(0.01, 0.005)
    assert pace.wait == pytest.approx(1.5, rel=0.01)
    for _ in range(80):
        pace.saw_share(0.01, 0.0)
    assert pace.wait == pytest.approx(1.0, rel=0.01)


def test_the_elapsed_seconds_are_shown() -> None:
    knowledge = Knowledge()
    for _ in range(4):
        knowledge.costs.add(1, 0, 0.01)
        knowledge.pace.saw_plain(0.01)
    control = Controller(knowledge, (), (), n_most=16)
    quiet = control.report(1, 0)
    for _ in range(100):
        knowledge.pace.saw_share(0.01, 0.01)
    busy = control.report(2, 0)
    assert quiet.plain_s == pytest.approx(0.01)
    assert busy.plain_s == pytest.approx(0.02, rel=0.01)
    assert busy.pace == pytest.approx(0.5 * quiet.pace, rel=0.01)
    assert busy.slack_s / busy.plain_s == pytest.approx(quiet.slack_s / quiet.plain_s)
