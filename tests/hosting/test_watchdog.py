"""A process that works against one that hangs, on a clock of the test's own."""

from __future__ import annotations

import pytest
from msgspec import structs

from paceline.hosting.supervisor import REMOTE_STUCK_S, SILENT_S, STUCK_S, Watchdog
from paceline.hosting.wire import Beat

IDLE = Beat(0, 0.0, 0, 0.0, 0.0)
TICK_S = 0.02


class Watched:
    """A watchdog whose owner looks every 20 ms and whose process beats twice a second."""

    def __init__(self) -> None:
        self.now = 5.0
        self.watchdog = Watchdog(lambda: self.now)
        self.beat = IDLE

    def pass_time(self, seconds: float, *, beats: bool = True, every_s: float = TICK_S) -> str:
        """Let time pass until there is trouble; returns it."""
        end = self.now + seconds
        next_beat = self.now
        while self.now < end:
            if beats and self.now >= next_beat:
                self.watchdog.beat(self.beat)
                next_beat = self.now + 0.5
            trouble = self.watchdog.trouble()
            if trouble:
                return trouble
            self.now += every_s
        return ""


@pytest.fixture
def watched() -> Watched:
    return Watched()


def test_five_seconds_of_silence_are_reported_as_trouble(watched: Watched) -> None:
    assert not watched.pass_time(SILENT_S - 0.1, beats=False)
    assert "not answered for 5 seconds" in watched.pass_time(0.3, beats=False)


def test_any_message_ends_a_silence(watched: Watched) -> None:
    for _ in range(10):
        assert not watched.pass_time(SILENT_S - 0.1, beats=False)
        watched.watchdog.hear()


def test_nothing_that_moves_for_a_minute_is_trouble(watched: Watched) -> None:
    assert not watched.pass_time(STUCK_S - 0.5)
    assert "Nothing has moved" in watched.pass_time(1.0)


def test_the_beats_own_cpu_time_is_no_progress(watched: Watched) -> None:
    began = watched.now
    trouble = ""
    while not trouble and watched.now < began + 3 * STUCK_S:
        watched.beat = structs.replace(watched.beat, cpu_s=watched.beat.cpu_s + 0.001)
        trouble = watched.pass_time(0.5)
    assert "Nothing has moved" in trouble


@pytest.mark.parametrize("what", ["n_events", "read_bytes", "cpu_s"])
def test_slow_but_moving_is_no_trouble(watched: Watched, what: str) -> None:
    for i in range(20):
        watched.beat = structs.replace(IDLE, **{what: 2 * i})
        assert not watched.pass_time(STUCK_S - 5)


def test_a_decode_within_its_limit_is_no_trouble_and_beyond_it_is(watched: Watched) -> None:
    # A native decode uses CPU, or it is stuck anyhow.
    for seconds in range(120):
        watched.beat = structs.replace(
            IDLE, cpu_s=float(seconds), decode_s=float(seconds), decode_limit_s=120.0
        )
        assert not watched.pass_time(1.0)
    watched.beat = structs.replace(watched.beat, cpu_s=121.0, decode_s=120.5)
    assert "computation of the engine hangs: it has taken 120 seconds" in watched.pass_time(1.0)


@pytest.mark.parametrize("decode_s", [1.0, 0.0], ids=["computes", "receives"])
def test_another_machine_may_take_minutes_but_not_for_ever(
    watched: Watched, decode_s: float
) -> None:
    watched.watchdog.restart(is_remote=True)
    watched.beat = structs.replace(IDLE, decode_s=decode_s)
    assert not watched.pass_time(REMOTE_STUCK_S - 0.5)
    assert "Nothing has moved in the engine for 600 seconds" in watched.pass_time(1.0)
    watched.watchdog.restart()  # of the next command, without servers
    assert not watched.pass_time(STUCK_S - 0.5)
    assert "Nothing has moved in the engine for 60 seconds" in watched.pass_time(1.0)


def test_a_gap_of_this_sides_own_clock_counts_for_nothing(watched: Watched) -> None:
    """A laptop that slept, a program that was stopped, an event that took long to show."""
    assert not watched.pass_time(1.0)
    for _ in range(5):
        watched.now += 3600.0
        assert not watched.watchdog.trouble()
        assert not watched.pass_time(1.0)
    assert not watched.pass_time(2 * SILENT_S, beats=True)


def test_a_gap_does_not_hide_a_silence_for_ever(watched: Watched) -> None:
    watched.now += 3600.0
    assert "not answered" in watched.pass_time(SILENT_S + 1, beats=False)


def test_a_host_that_looks_rarely_still_sees_a_silence(watched: Watched) -> None:
    assert "not answered" in watched.pass_time(60.0, beats=False, every_s=2.0)


def test_a_new_command_begins_anew(watched: Watched) -> None:
    watched.beat = structs.replace(IDLE, decode_s=11.0, decode_limit_s=10.0)
    assert watched.pass_time(1.0)
    watched.watchdog.restart()
    assert not watched.watchdog.trouble()
    assert not watched.pass_time(SILENT_S - 0.5, beats=False)


def test_own_kernels_are_to_blame_for_a_decode_that_hangs_and_for_nothing_else(
    watched: Watched,
) -> None:
    key = "0123456789abcdef"
    watched.beat = structs.replace(IDLE, decode_s=9.0, decode_limit_s=10.0, own_kernels=key)
    assert not watched.pass_time(1.0)
    assert not watched.watchdog.hung_kernels
    assert watched.pass_time(SILENT_S + 1.0, beats=False)
    assert not watched.watchdog.hung_kernels
    watched.beat = structs.replace(watched.beat, decode_s=11.0)
    assert watched.pass_time(1.0)
    assert watched.watchdog.hung_kernels == key
    watched.beat = structs.replace(watched.beat, own_kernels="")
    assert watched.pass_time(1.0)
    assert not watched.watchdog.hung_kernels
