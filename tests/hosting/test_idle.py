"""Idle time: who may use it, how a command gets it back, and what happens to a process in it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from hosting import hanging
from hosting.observed import Host, deaths_of, finished_text, text_of
from hosting.quick import run_quick_child
from hosting.rig import wait_until
from paceline.hosting import client as hosting_client
from paceline.hosting import supervisor
from paceline.hosting.broker import Broker
from paceline.hosting.client import next_ticket
from paceline.messages import (
    Calibrate,
    Calibrated,
    DescribeEngine,
    EngineDied,
    LoadPair,
    ModelParams,
    PairLoaded,
    Reset,
    TurnFinished,
)
from paceline.params import DraftModel

AllowWarnings = Callable[[str], None]


@pytest.fixture
def broker() -> Broker:
    return Broker()


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosting_client, "IDLE_AFTER_S", 0.01)


def taken(broker: Broker, idle: Callable[[], bool] | None, timeout: float = 0.01) -> object:
    """Return the next command, or None if there is none."""
    ticket = next_ticket(broker, idle, timeout)
    return ticket.command if ticket is not None else None


def test_a_command_that_is_there_leaves_no_idle_time(broker: Broker) -> None:
    def idle() -> bool:
        raise AssertionError

    for command in (Reset(), DescribeEngine()):
        broker.request(command)
    assert taken(broker, idle) == Reset()
    assert taken(broker, idle) == DescribeEngine()
    assert taken(broker, None) is None


@pytest.mark.usefixtures("at_once")
def test_a_service_that_has_nothing_to_do_is_asked_once(broker: Broker) -> None:
    calls = []

    def idle() -> bool:
        calls.append(time.monotonic())
        return len(calls) < 3

    assert taken(broker, idle, 0.05) is None
    assert len(calls) == 3


# ---------------------------------------------------------------------- an engine in a process


@pytest.fixture
def host_with(demo_pair: tuple[Path, Path], tmp_path: Path) -> Iterator[Callable[..., Host]]:
    hosts: list[Host] = []

    def make(*main: object) -> Host:
        host = Host(demo_pair, *main)  # type: ignore[arg-type]
        target, draft = (ModelParams(str(path), n_threads=1) for path in demo_pair)
        loaded = host.submit(LoadPair(target, DraftModel(draft), cache_dir=str(tmp_path)))[-1]
        assert isinstance(loaded, PairLoaded), loaded
        hosts.append(host)
        return host

    yield make
    for host in hosts:
        assert host.client.close()


def measured(folder: Path) -> bool:
    file = folder / "facts.json"
    return file.exists() and "verify_costs|" in file.read_text()


def test_the_process_measures_in_idle_time_replies_meanwhile_and_then_rests(
    host_with: Callable[..., Host], tmp_path: Path
) -> None:
    host = host_with(run_quick_child)
    expected = finished_text(host.reply(max_tokens=30))
    for pause in range(4):
        time.sleep(hosting_client.IDLE_AFTER_S / 2 + 0.05 * pause)  # sometimes it has begun
        assert finished_text(host.reply(max_tokens=30)) == expected
    wait_until(lambda: measured(tmp_path), 60)
    process = psutil.Process(host.service.pid)

    def rests() -> bool:
        before = process.cpu_times()
        time.sleep(1.0)
        after = process.cpu_times()
        return after.user + after.system - before.user - before.system < 0.1

    wait_until(rests, 60)
    answer = host.submit(Calibrate())[-1]
    assert isinstance(answer, Calibrated)
    assert not answer.problem
    assert host.submit(Reset()) == []


def test_a_decode_that_hangs_in_idle_time_is_found_and_the_process_replaced(
    host_with: Callable[..., Host], allow_warnings: AllowWarnings, tmp_path: Path
) -> None:
    allow_warnings("its process is ended")
    host = host_with(hanging.hanging(hanging.idle_decode, "sleep", str(tmp_path / "mark")))
    pid = host.service.pid
    n = len(host.told)

    def look() -> bool:
        host.service.look()
        return len(host.told) > n

    wait_until(look, 60)
    (death,) = (event for _, event in host.told[n:])
    assert isinstance(death, EngineDied)
    assert "computation of the engine hangs" in death.reason
    assert not psutil.pid_exists(pid)
    host.ready()


def test_a_command_after_a_slow_decode_of_idle_time_waits_for_it(
    host_with: Callable[..., Host], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It cannot be stopped at once, as on a GPU; but it is no hang."""
    mark = tmp_path / "mark"
    monkeypatch.setattr(supervisor, "SILENT_S", 0.8)
    host = host_with(hanging.hanging(hanging.idle_decode, "dawdle", str(mark)))
    wait_until(mark.exists, 60)
    events = host.reply(max_tokens=5)
    assert not deaths_of(events)
    assert isinstance(events[-1], TurnFinished)
    assert text_of(events)
