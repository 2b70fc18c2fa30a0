"""Laps: what a step took, and which steps' times say something."""

from __future__ import annotations

import pytest

from paceline.engine.draft import step_clock
from paceline.engine.draft.step_clock import Lap, StepClock
from paceline.engine.stats import TurnMeter


class Timed:
    """A step clock on a clock that the test moves."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        self.own = 0.0
        self.native = 7.0  # of earlier replies
        monkeypatch.setattr(step_clock, "_clock", lambda: self.now)
        self.meter = TurnMeter()
        self.clock = StepClock(self.meter, lambda: self.native, lambda: self.own)
        self.clock.report_held(is_wanted=True)
        self.clock.start()

    def step(
        self,
        width: int,
        seconds: float = 1.0,
        gap: float = 0,
        held_s: float = 0.0,
    ) -> Lap:
        began = self.now + gap
        self.own += gap + seconds - held_s
        self.now += gap + seconds
        self.native += seconds / 2
        return self.clock.lap(width, began)


@pytest.fixture
def timed(monkeypatch: pytest.MonkeyPatch) -> Timed:
    return Timed(monkeypatch)


def test_a_width_is_warm_when_the_step_before_had_it(timed: Timed) -> None:
    laps = [timed.step(width) for width in (1, 1, 4, 4, 1, 1)]
    assert [lap.is_warm for lap in laps] == [False, True, False, True, False, True]
    assert [lap.plain for lap in laps] == [False, True, False, False, False, True]
    assert not any(lap.had_pause for lap in laps)


def test_seconds_in_which_the_thread_did_not_run_are_reported(timed: Timed) -> None:
    laps = [timed.step(1, held_s=held_s) for held_s in (0.0, 0.25, 0.0, 0.75)]
    assert [lap.held_s for lap in laps] == pytest.approx([0.0, 0.25, 0.0, 0.75])
    assert [lap.seconds for lap in laps] == pytest.approx([1.0] * 4)
    assert timed.meter.held_s == pytest.approx(1.0)
    # Two clocks are never quite alike, and no thread runs for longer than the time that passes.
    assert timed.step(1, held_s=-0.01).held_s == 0.0


def test_where_no_step_tells_them_the_figures_do(timed: Timed) -> None:
    timed.clock.report_held(is_wanted=False)
    laps = [timed.step(1, held_s=held_s) for held_s in (0.0, 0.25, 0.75)]
    assert [lap.held_s for lap in laps] == [0.0] * 3
    assert timed.meter.held_s == 0.0
    for _ in range(2):
        timed.clock.count()
        assert timed.meter.held_s == pytest.approx(1.0)


def test_a_lap_after_a_switch_tells_nothing_of_those_before_it(timed: Timed) -> None:
    timed.clock.report_held(is_wanted=False)
    timed.step(1, held_s=0.75)
    timed.clock.report_held(is_wanted=True)  # the user switches to Auto
    assert timed.meter.held_s == pytest.approx(0.75)
    assert timed.step(1, held_s=0.5).held_s == pytest.approx(0.5)
    assert timed.meter.held_s == pytest.approx(1.25)


def test_figures_between_two_laps_take_nothing_of_the_next_one(timed: Timed) -> None:
    timed.step(1)
    timed.now += 0.25  # others have the processor while listeners are notified of the step
    timed.clock.count()
    assert timed.meter.held_s == 0.0
    assert timed.step(1).held_s == pytest.approx(0.25)
    timed.clock.count()
    assert timed.meter.held_s == pytest.approx(0.25)


def test_before_the_first_token_there_is_nothing_to_count(timed: Timed) -> None:
    clock = StepClock(timed.meter, lambda: 5.0, lambda: timed.own)
    clock.prefill()
    timed.now += 1.0
    clock.count()
    assert (timed.meter.native_s, timed.meter.held_s) == (0.0, 0.0)


def test_a_prefill_has_such_seconds_too(timed: Timed) -> None:
    timed.clock.prefill()
    timed.now += 4.0
    timed.own += 1.0
    timed.clock.start()
    assert timed.meter.prefill_held_s == 3.0
    assert timed.step(1, held_s=0.5).held_s == 0.5


def test_a_thread_that_is_not_the_one_before_gives_no_nonsense(timed: Timed) -> None:
    timed.own -= 50.0
    lap = timed.step(1)
    assert 0 <= lap.held_s < lap.seconds
    assert timed.step(1).held_s == 0.0


def test_without_a_clock_of_its_own_nothing_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_clock, "_clock", iter([0.0, 5.0]).__next__)
    clock = StepClock(TurnMeter(), lambda: 0.0)
    clock.start()
    assert clock.lap(1, 0.0).held_s == 0.0


def test_a_step_that_was_mended_tells_nothing(timed: Timed) -> None:
    timed.step(1)
    assert timed.step(0).had_pause
    assert not timed.step(1).is_warm


@pytest.mark.parametrize(
    ("gap", "seconds", "had_pause"),
    [(0.0, 1.0, False), (0.9, 1.0, False), (1.1, 1.0, True), (0.004, 0.001, False)],
)
def test_listeners_that_take_longer_than_the_step_are_a_pause(
    timed: Timed, gap: float, seconds: float, had_pause: bool
) -> None:
    timed.step(1)
    lap = timed.step(1, seconds, gap=gap)
    assert lap.had_pause is had_pause
    assert lap.seconds == pytest.approx(gap + seconds)


def test_the_meter_knows_the_whole_time_and_what_of_it_was_native(timed: Timed) -> None:
    timed.now += 0.5
    assert timed.clock.first() == 0.5
    timed.step(1)
    timed.step(4, seconds=3.0)
    assert timed.meter.decode_s == 4.5
    timed.clock.count()
    assert timed.meter.native_s == 2.0
