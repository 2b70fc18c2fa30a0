"""Beats of the engine's process, and how long its decode has been running."""

from __future__ import annotations

import socket
from collections.abc import Callable

import psutil
import pytest

from paceline.hosting import child
from paceline.hosting.child import BEAT_EVERY_S, DecodeTime, Pulse, Uplink
from paceline.hosting.wire import Beat, decode_upward
from paceline.workers.child import ChildPipe
from paceline.workers.frames import FrameReader


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_decode_that_runs_on_is_measured_from_its_begin(clock: Clock) -> None:
    time = DecodeTime(clock)
    clock.now += 0.3
    for look in range(100):
        assert time.of(100.0) == pytest.approx(0.3 + look * BEAT_EVERY_S)
        clock.now += BEAT_EVERY_S


def test_each_decode_has_its_own_time(clock: Clock) -> None:
    time = DecodeTime(clock)
    for _ in range(50):
        clock.now += BEAT_EVERY_S
        assert time.of(clock.now - 0.1) == pytest.approx(0.1)


def test_time_in_which_the_process_was_stopped_is_no_time_of_the_decode(clock: Clock) -> None:
    time = DecodeTime(clock)
    clock.now += 0.5
    assert time.of(100.0) == pytest.approx(0.5)
    clock.now += 3600
    assert time.of(100.0) < 2.0
    clock.now += 0.5
    assert time.of(100.0) < 2.5


def test_a_decode_that_began_before_a_stop_and_is_first_seen_after_it(clock: Clock) -> None:
    clock.now += 3600
    assert DecodeTime(clock).of(100.0) <= 2 * BEAT_EVERY_S


def test_a_decode_that_reads_its_weights_from_the_disk_is_slow_and_does_not_hang(
    clock: Clock,
) -> None:
    time = DecodeTime(clock)
    for look in range(1000):
        assert time.of(100.0, read_bytes=look * 4096) <= BEAT_EVERY_S
        clock.now += BEAT_EVERY_S
    before = time.of(100.0, read_bytes=999 * 4096)
    clock.now += BEAT_EVERY_S
    assert time.of(100.0, read_bytes=999 * 4096) == pytest.approx(before + BEAT_EVERY_S)


class Service:
    """The part of an engine that a pulse observes."""

    own_kernels = "0123456789abcdef"

    def __init__(self, *activity: float) -> None:
        self.running = activity

    def activity(self) -> object:
        return self.running or None


OPEN: list[socket.socket] = []
"""Ends of pipes; a process ends where it finds that the other end of its pipe is closed."""


def first_beats(service: Service, n: int = 1) -> list[Beat]:
    """Return the first beats that a pulse sends of a service."""
    ours, theirs = socket.socketpair()
    OPEN.append(ours)
    pulse = Pulse(Uplink(ChildPipe(theirs)), service)  # type: ignore[arg-type]
    pulse.start()
    ours.settimeout(20)
    reader = FrameReader()
    beats: list[object] = []
    while len(beats) < n:
        beats += map(decode_upward, reader.feed(ours.recv(1 << 16)))
    pulse.stop()
    assert all(isinstance(beat, Beat) for beat in beats)
    return beats  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("activity", "limit_s"),
    [((), 0.0), ((512, 0.0, 0.0), 0.0), ((1, 0.0, 0.01), 10.0), ((512, 0.0, 0.1), 1024.0)],
)
def test_the_limit_of_a_decode_follows_from_the_slowest_one_before(
    activity: tuple[float, ...], limit_s: float
) -> None:
    (beat,) = first_beats(Service(*activity))
    assert beat.decode_limit_s == pytest.approx(limit_s)


class Broken(Service):
    def activity(self) -> object:
        raise RuntimeError("dictionary changed size during iteration")


def test_a_figure_that_is_missing_ends_no_pulse(
    allow_warnings: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a process that works would be taken for dead."""
    allow_warnings("cannot be measured")
    monkeypatch.setattr(child, "BEAT_EVERY_S", 0.01)
    for beat in first_beats(Broken(), 3):
        assert (beat.decode_s, beat.decode_limit_s) == (0.0, 0.0)
        assert beat.cpu_s > 0


def test_a_system_that_reports_nothing_of_its_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise psutil.NoSuchProcess(1)

    with monkeypatch.context() as patch:
        patch.setattr(psutil, "Process", refuse)
        (beat,) = first_beats(Service())
    assert beat.read_bytes == 0
    assert beat.cpu_s > 0
