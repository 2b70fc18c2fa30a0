"""The estimated time of plain decoding, compared with replies whose plain time is known."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import pytest

from paceline.engine.auto.costs import VerifyCosts
from paceline.engine.auto.knowledge import Knowledge
from paceline.engine.auto.plain_time import PlainSeconds, PlainTime
from paceline.engine.auto.tuning import TUNING

PLAIN_S = 0.015
SLOPE = 4e-4
AFTER_WIDE = 0.1
"""Share by which the first plain step after a wide one is slower; it falls with each step."""
WIDTHS = (1, 2, 3, 4, 5, 6, 8, 9, 12, 16, 17)
Pace = Callable[[float], float]
"""Function from the seconds of a reply to the factor by which everything is slower then."""


def table(chance: random.Random | None = None, wrong: float = 1.0) -> VerifyCosts:
    """Costs as they are, or as two decodes of each width have measured them on a quiet machine.

    `wrong`: what was measured of batches of more than one token, of what they take.
    """
    costs = VerifyCosts()
    slope = SLOPE * (chance.uniform(0.8, 1.25) if chance else 1.0)
    costs.set_context(slope, 0.2)
    for width in WIDTHS:
        for _ in range(2):
            error = math.exp(chance.gauss(0, 0.03)) if chance else 1.0
            if chance and width == 1:  # between wide ones, as idle time measures them
                error *= 1 + AFTER_WIDE * 0.72
            if width > 1:
                error *= wrong
            costs.add(width, 0, PLAIN_S * (1 + 0.12 * (width - 1)) * error, calibrated=True)
    return costs


TRUE = table()


def bursts(chance: random.Random) -> Pace:
    """Others take part of the machine for 0.4 s every 1.6 s, at random."""
    edges: list[tuple[float, float]] = []
    end, is_slow = 0.0, chance.random() < 0.25
    while end < 60:
        end += chance.expovariate(1 / (0.4 if is_slow else 1.2))
        edges.append((end, 2.5 if is_slow else 1.0))
        is_slow = not is_slow
    return lambda t: next(pace for end, pace in edges if end > t)


def wave(chance: random.Random) -> Pace:
    phase = chance.uniform(0, 6)
    return lambda t: 1.4 + 0.4 * math.sin(phase + 2 * t)


class Machine(NamedTuple):
    noise: Callable[[random.Random], float]
    pace: Callable[[random.Random], Pace] = lambda _: lambda _t: 1.0


def lognormal(sigma: float) -> Callable[[random.Random], float]:
    return lambda chance: math.exp(chance.gauss(0, sigma) - sigma**2 / 2)


MACHINES = {
    "quiet": Machine(lognormal(0.03)),
    "lognormal": Machine(lognormal(0.5)),
    "pareto": Machine(lambda chance: chance.paretovariate(2.5) * 0.6),
    "bursts": Machine(lognormal(0.08), bursts),
    "slower": Machine(lognormal(0.08), lambda _: lambda t: min(1 + 0.2 * t, 2.0)),
    "faster": Machine(lognormal(0.08), lambda _: lambda t: max(1.8 - 0.2 * t, 0.8)),
    "waves": Machine(lognormal(0.08), wave),
}


def widths(strategy: str, chance: random.Random) -> Iterator[int]:
    """Return the widths of a strategy's verify batches; the first four steps are plain."""
    if strategy != "draft":
        yield from (1,) * 4
    while True:
        match strategy:
            case "off":
                yield 1
            case "rare":
                yield 5 if chance.random() < 0.02 else 1
            case "suffix":
                yield chance.choice((5, 9, 17)) if chance.random() < 0.25 else 1
            case "auto":
                yield from (chance.choice((3, 4, 5, 6)) for _ in range(32))
                yield from (1, 1)
            case _:
                yield 5


@dataclass
class Replied:
    """A simulated reply: what was estimated, what is true, and what it took."""

    found: PlainSeconds
    true_s: float
    took_s: float

    @property
    def is_covered(self) -> bool:
        return self.found.least <= self.true_s <= self.found.most


def reply(
    machine: Machine,
    strategy: str,
    chance: random.Random,
    n: int = 300,
    accepted: float = 0.75,
    wrong: float = 1.0,
) -> Replied:
    costs = table(chance, wrong)
    pace, plain = machine.pace(chance), PlainTime(Knowledge(costs=costs))
    true_s = took_s = 0.0
    last = done = 0
    n_plain = 99
    for width in widths(strategy, chance):
        n_ctx, now = 50 + done, pace(took_s)
        k = 1
        while k < width and chance.random() < accepted:
            k += 1
        k = min(k, n - done)
        seconds = (TRUE.seconds(width, n_ctx) or 0) * now * machine.noise(chance)
        n_plain = n_plain + 1 if width == 1 else 0
        if 0 < n_plain < 7:
            seconds *= 1 + AFTER_WIDE * 0.72 ** (n_plain - 1)
        plain.add(width, n_ctx, k, seconds, warm=width == last)
        last, done = width, done + k
        true_s += k * (TRUE.seconds(1, n_ctx) or 0) * now
        took_s += seconds
        if done >= n:
            break
    found = plain.estimate()
    assert found is not None
    return Replied(found, true_s, took_s)


@pytest.mark.grid(short=7)
@pytest.mark.parametrize("strategy", ["off", "rare", "suffix", "auto", "draft-4", "draft"])
@pytest.mark.parametrize("machine", MACHINES)
def test_the_interval_covers_what_is_true(machine: str, strategy: str) -> None:
    chance = random.Random(f"{machine} {strategy}")
    replies = [reply(MACHINES[machine], strategy, chance) for _ in range(100)]
    covered = sum(r.is_covered for r in replies)
    # 95 of 100; fewer than 85 have a chance of one in 10,000, and a tail without a third moment
    # is allowed three more.
    assert covered >= (82 if machine == "pareto" else 85)
    bias = sum(math.log(r.found.seconds / r.true_s) for r in replies) / len(replies)
    assert abs(bias) < 0.04


@pytest.mark.grid(short=5)
@pytest.mark.parametrize("wrong", [0.5, 0.7, 0.87, 1.15, 1.5])
@pytest.mark.parametrize("strategy", ["suffix", "auto", "draft-4"])
def test_a_table_that_the_replys_plain_steps_contradict_does_not_count(
    strategy: str, wrong: float
) -> None:
    chance = random.Random(f"{strategy} {wrong}")
    replies = [reply(MACHINES["quiet"], strategy, chance, wrong=wrong) for _ in range(100)]
    assert sum(r.is_covered for r in replies) >= 80


@pytest.mark.parametrize("strategy", ["rare", "suffix", "auto", "draft-4", "draft"])
def test_a_gain_of_15_per_cent_is_called_one_on_a_quiet_machine(strategy: str) -> None:
    chance = random.Random(strategy)
    replies = [reply(MACHINES["quiet"], strategy, chance) for _ in range(100)]
    assert sum(1.15 * r.found.least > r.true_s for r in replies) >= 90
    assert sum(1.15 * r.found.most < r.true_s for r in replies) == 0


def test_plain_decoding_took_what_it_took() -> None:
    chance = random.Random(3)
    for machine in MACHINES.values():
        found = reply(machine, "off", chance)
        assert found.found.seconds == pytest.approx(found.took_s)


def test_a_reply_without_a_table_hangs_on_the_first_plain_steps() -> None:
    plain = PlainTime()
    for i in range(60):
        width = 1 if i < 4 else 5
        plain.add(width, i, 1 if i < 4 else 3, 0.01 if i < 4 else 0.02, warm=i not in (0, 4))
    found = plain.estimate()
    assert found is not None
    assert found.seconds == pytest.approx(0.01 * (4 + 56 * 3), rel=0.1)
    assert found.least < 1.72 < found.most


@pytest.mark.parametrize("warm", [True, False])
def test_each_eight_steps_have_a_pace_of_their_own(warm: bool) -> None:
    knowledge = Knowledge(costs=TRUE, switch=0.5)
    time = PlainTime(knowledge)
    for n in range(24):
        pace, n_committed = ((1.0, 5), (3.0, 1), (1.0, 5))[n // 8]
        time.add(5, 0, n_committed, pace, warm=warm)
    found = time.estimate()
    assert found is not None
    ratio = TRUE.ratios()[5] + (0.0 if warm else knowledge.switch)
    unit_s = 1.0 / (ratio * (1 + knowledge.recent.slower_after(2)))
    assert found.seconds == pytest.approx(8 * (5 + 3 + 5) * unit_s)


def test_the_noise_is_that_of_the_steps_about_their_pace() -> None:
    time = PlainTime()
    for n in range(64):
        time.add(1, 0, 1, PLAIN_S * (1.1 if n % 2 else 0.9), warm=True)
    time.estimate()
    assert time.noise == pytest.approx(0.1 * math.sqrt(8 / 7))


def test_one_hiccup_makes_no_busy_machine() -> None:
    plain, chance = PlainTime(), random.Random(2)
    for i in range(60):
        factor = 5.0 if i == 30 else 1.0
        plain.add(1, i, 1, PLAIN_S * factor * MACHINES["quiet"].noise(chance), warm=i > 0)
    plain.estimate()
    assert plain.noise < TUNING.busy_noise


def test_one_slow_step_makes_a_further_one_as_slow_likely() -> None:
    plain = PlainTime()
    for n in range(64):
        plain.add(1, 0, 1, PLAIN_S * (4.0 if n == 30 else 1.0), warm=True)
    found = plain.estimate()
    assert found is not None
    assert 1.1 < found.most / found.seconds < 1.15


def test_plain_steps_count_at_once_where_the_next_step_asks_for_them() -> None:
    """Those before a wide one are what the slower ones after it are held against."""
    knowledge = Knowledge(costs=TRUE)
    for _ in range(TUNING.steps_after_load):
        knowledge.recent.add(PLAIN_S)
    plain = PlainTime(knowledge)
    for _ in range(20):
        plain.add(1, 0, 1, PLAIN_S, warm=True)
    plain.add(5, 0, 3, 1.5 * PLAIN_S, warm=False)
    plain.add(1, 0, 1, 1.2 * PLAIN_S, warm=False)
    plain.add(1, 0, 1, 1.1 * PLAIN_S, warm=True)
    first = TUNING.prior_after_wide
    seen = 0.1 / TUNING.after_wide_kept
    expected = first + TUNING.after_wide_weight * (seen - first)
    assert knowledge.recent.slower_after(1) == pytest.approx(expected)


def test_the_first_plain_steps_after_a_load_count_at_once() -> None:
    knowledge = Knowledge(costs=TRUE)
    plain = PlainTime(knowledge)
    for _ in range(TUNING.steps_after_load):
        assert knowledge.recent.n_needed
        plain.add(1, 0, 1, PLAIN_S, warm=True)
    assert not knowledge.recent.n_needed


def test_a_clock_that_stands_still_is_no_error() -> None:
    plain = PlainTime()
    for width in (1, 1, 5, 1, 1, 1):
        plain.add(width, 0, width, 0.0, warm=True)
    assert plain.estimate() is None


def test_the_first_token_alone_says_nothing_about_plain_speed() -> None:
    knowledge = Knowledge()
    for _ in range(4):
        knowledge.recent.add(0.01)
    plain = PlainTime(knowledge)
    plain.add_same(0.0001)
    assert plain.estimate() is None
    plain.add(1, 0, 1, 0.01, warm=False)
    found = plain.estimate()
    assert found is not None
    assert found.seconds == pytest.approx(0.0101)
    assert found.least < found.seconds < found.most


def test_a_step_whose_decode_failed_tells_nothing_of_the_pace() -> None:
    plain, other = PlainTime(), PlainTime()
    for each in (plain, other):
        for i in range(20):
            each.add(1, 0, 1, 0.01, warm=i > 0)
    plain.add(0, 0, 1, 5.0, warm=False)
    before, after = other.estimate(), plain.estimate()
    assert before is not None
    assert after is not None
    assert after.seconds - before.seconds == pytest.approx(0.01)


def test_the_noise_of_a_busy_machine_is_seen() -> None:
    for name, is_busy in (("quiet", False), ("lognormal", True)):
        plain, chance = PlainTime(Knowledge(costs=table())), random.Random(1)
        for i in range(200):
            plain.add(1, i, 1, PLAIN_S * MACHINES[name].noise(chance), warm=i > 0)
        plain.estimate()
        assert (plain.noise > TUNING.busy_noise) is is_busy
