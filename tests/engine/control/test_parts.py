"""The controller's smaller parts, from gate and ledger to the context's slope."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.engine.control.admission import OF_ALL, OF_ONE, Admission
from paceline.engine.control.asking import SHARE, Asking
from paceline.engine.control.chances import START, Chances
from paceline.engine.control.context_slope import ContextSlope
from paceline.engine.control.gate import Gate
from paceline.engine.control.hope import hope, pays_back
from paceline.engine.control.ledger import CAP, STEPS, Ledger, stake, steps_until
from paceline.engine.control.ledger import SHARE as LEDGER_SHARE
from paceline.engine.control.rule import best_cut, is_option, pays_ahead

FLAT = [0.0, *(1 + 0.03 * n for n in range(64))]
STAIRS = [0.0, *(1.0 + 0.75 * (n // 4) for n in range(64))]
MOE = [0.0, *(1 + 0.55 * n for n in range(64))]


# -------------------------------------------------------------------------------------- gate


def shut_after(gate: Gate, gain: float, hope: float = 0.0) -> int:
    n = 0
    while gate.is_open:
        gate.add(gain, hope)
        n += 1
        assert n < 200
    return n


def pause_of(gate: Gate) -> int:
    n = 0
    while not gate.is_open:
        gate.wait()
        n += 1
    return n


def test_a_loss_shuts_the_gate_for_longer_and_longer() -> None:
    gate = Gate()
    assert gate.is_trial
    assert shut_after(gate, -0.1) == 8
    pauses = [pause_of(gate)]
    for _ in range(7):
        assert shut_after(gate, -0.1) == 4
        pauses.append(pause_of(gate))
    assert pauses == [8, 16, 32, 64, 128, 256, 256, 256]


def test_a_dear_burst_is_cut_short() -> None:
    assert shut_after(Gate(), -0.8) == 2


def test_what_was_hoped_decides_how_much_may_be_lost() -> None:
    n_lost = [shut_after(Gate(), -0.5, hope) for hope in (-0.1, 0.0, 0.3, 0.6)]
    assert n_lost[0] == n_lost[1] < n_lost[2] < n_lost[3]
    # Not even the best hope keeps it open for good.
    assert shut_after(Gate(), -0.9, 1.0) < 16
    assert shut_after(Gate(), -0.05, 1.0) <= 33


def test_gains_keep_it_open_and_shorten_the_pauses() -> None:
    gate = Gate()
    for _ in range(3):
        shut_after(gate, -0.2)
        pause_of(gate)
    for _ in range(16):
        gate.add(0.5, 0.1)
    assert gate.is_open
    assert not gate.is_trial
    shut_after(gate, -1.0)
    assert pause_of(gate) == 8


def test_changing_luck_is_no_reason() -> None:
    gate = Gate()
    for gain in (1.0, -0.6, -0.5, 0.9, -0.6, -0.6, 1.0, -0.6, -0.5):
        gate.add(gain, 0.1)
    assert gate.is_open


def test_another_reply_shortens_the_pause() -> None:
    gate = Gate()
    for _ in range(5):
        shut_after(gate, -0.2)
        pause_of(gate)
    shut_after(gate, -0.2)
    gate.renew()
    assert 8 < pause_of(gate) < 256


def test_a_model_that_sits_out_comes_back_in_a_long_reply() -> None:
    gate = Gate()
    gate.sit_out()
    assert pause_of(gate) == 256
    assert gate.is_trial


# --------------------------------------------------------------------------------- admission


def admitted(gains: list[float]) -> list[bool]:
    """Return whether the model may take part in each of these replies, where it gains so much."""
    admission, found = Admission(OF_ONE), []
    for gain in gains:
        found.append(admission.begin_reply())
        if found[-1]:
            admission.add(gain - 1.0)
            admission.add(1.0)
        admission.close()
    return found


def test_a_model_that_loses_by_whole_replies_sits_most_of_them_out() -> None:
    found = admitted([-2.0] * 60)
    assert all(found[:3])
    assert 12 <= sum(found) <= 20
    assert found[-5:].count(True) == 1  # texts change


def test_a_model_that_pays_in_some_replies_takes_part_in_all() -> None:
    assert all(admitted([-2.0, -1.0, 8.0, -2.0] * 15))


def test_a_model_that_begins_to_pay_is_let_in_again() -> None:
    found = admitted([-2.0] * 20 + [12.0] * 30)
    assert all(found[-15:])


def test_replies_without_a_single_draft_tell_nothing() -> None:
    admission = Admission(OF_ALL)
    for _ in range(20):
        assert admission.begin_reply()
        admission.close()
    assert admission.n_replies == 0


def test_replies_that_are_too_short_tell_nothing() -> None:
    admission = Admission(OF_ONE)
    for _ in range(20):
        assert admission.begin_reply()
        admission.add(-3.0)
        admission.close(counts=False)
    assert admission.gained == 0


def test_one_stall_does_not_decide_many_replies() -> None:
    assert all(admitted([-1000.0] + [5.0] * 30)[:4])
    assert all(admitted([-1000.0] + [5.0] * 30)[-20:])


# ------------------------------------------------------------------------------------ ledger


@given(
    st.lists(st.tuples(st.integers(1, 9), st.floats(0.1, 9.0)), min_size=1, max_size=200),
    st.floats(0.0, 3.0),
)
def test_whoever_obeys_the_ledger_keeps_the_promise(
    wishes: list[tuple[int, float]], extra: float
) -> None:
    """Steps that could be losses are made only when the slack covers them."""
    ledger, spent, plain = Ledger(extra), 0.0, 0.0
    for n_committed, loss in wishes:
        is_covered = ledger.slack(1.0) >= loss
        seconds = 1.0 + loss if is_covered else 1.0
        n = 1 if is_covered else n_committed if n_committed == 1 else 1
        ledger.book(n, seconds, 1.0, seconds)
        spent, plain = spent + seconds, plain + n
        assert spent <= (1 + LEDGER_SHARE) * plain + STEPS + extra + 1e-9


@pytest.mark.parametrize("slack", [-2.0, 0.0, 0.3, 0.9, 3.0])
@pytest.mark.parametrize("loss", [0.05, 0.5, 0.7, 1.5])
def test_it_is_known_when_a_loss_will_be_covered(slack: float, loss: float) -> None:
    n = steps_until(slack, loss)
    assert n == 0 or stake(slack + LEDGER_SHARE * (n - 1)) < loss
    assert stake(slack + LEDGER_SHARE * (n + 1.01)) >= loss


def test_savings_are_capped() -> None:
    ledger = Ledger()
    for _ in range(100):
        ledger.book(10, 1.0, 1.0, 1.0)
    assert ledger.slack(1.0) == pytest.approx(CAP)


def test_a_pace_that_is_known_late_is_booked_again() -> None:
    ledger, known = Ledger(), Ledger()
    for i in range(20):
        pace = 1.0 if i < 15 else 3.0
        known.book(2, 1.5 * pace, pace, 1.5 * pace)
        ledger.book(2, min(1.5 * pace, 3.0), 1.0, 1.5 * pace)  # taken for hiccups at first
    ledger.rebook(5, 3.0)
    assert ledger.slack(3.0) == pytest.approx(known.slack(3.0))
    assert ledger.saved == pytest.approx(known.saved)


# -------------------------------------------------------------------------------------- rule


@given(
    st.lists(st.floats(0.02, 1.0), max_size=16),
    st.floats(1.0, 4.0),
    st.sampled_from([FLAT, STAIRS, MOE]),
    st.integers(0, 16),
    st.integers(1, 17),
)
def test_the_cut_is_the_best_of_all(
    chances: list[float], rate: float, ratios: list[float], most: int, last_width: int
) -> None:
    survivals, survival = [], 1.0
    for chance in chances:
        survival *= chance
        survivals.append(survival)

    def worth(n: int) -> float:
        dearer = 0.03 * (n + 1 != last_width) - 0.03 * (last_width != 1)
        return sum(survivals[:n]) - rate * (ratios[n + 1] - 1 + dearer)

    n, value, expected = best_cut(survivals, rate, ratios, most, last_width, switch=0.03)
    assert n <= min(most, len(survivals))
    assert expected == pytest.approx(1 + sum(survivals[:n]))
    assert value == pytest.approx(worth(n) if n else 0.0)
    for k in range(1, min(most, len(survivals)) + 1):
        assert worth(k) <= value + 1e-9


def test_the_width_of_the_step_before_is_preferred_a_little() -> None:
    survivals = [0.9, 0.5, 0.2, 0.05]
    lengths = {best_cut(survivals, 1.5, FLAT, 4, last, switch=0.03)[0] for last in (4, 5)}
    assert len(lengths) == 2


def test_it_looks_across_a_plateau() -> None:
    """From four tokens on, a step up has to be paid before the next three are free."""
    assert pays_ahead(0.9, 0.95, 1.2, STAIRS, 3, most=16, each=0.0)
    assert not pays_ahead(0.9, 0.95, 1.2, STAIRS, 3, most=4, each=0.0)  # no room for the free ones
    assert not pays_ahead(0.3, 0.5, 1.2, STAIRS, 3, most=16, each=0.0)


def test_a_mixture_of_experts_drafts_one_and_verifies_it_when_sure() -> None:
    """No next token pays on average; but it may be sure, and then verifying it does."""
    assert not pays_ahead(1.0, 0.4, 1.0, MOE, 0, most=16, each=0.05)
    assert is_option(1.0, [0.7, 0.3], [0.2, 0.95], 0.55, 0.05)
    assert not is_option(1.0, [0.95, 0.05], [0.2, 0.95], 0.55, 0.05)
    assert best_cut([0.4], 1.0, MOE, 16, 1, switch=0.03)[0] == 0
    assert best_cut([0.95], 1.0, MOE, 16, 1, switch=0.03)[0] == 1


def test_chances_follow_what_was_seen() -> None:
    chances = Chances()
    for _ in range(50):
        chances.add(START, 5)
        chances.add(5, 2)
    assert chances.row(START)[5] > 0.8
    assert chances.row(5)[2] > 0.8
    assert sum(chances.row(1)) == pytest.approx(1.0)
    for _ in range(4000):
        chances.add(5, 4)
    assert chances.row(5)[4] > 0.99


def test_chances_begin_with_what_is_known_of_the_model() -> None:
    usual = Chances().row(START)
    sure = Chances([0.0, 0.0, 0.0, 0.0, 0.0, 500.0, 0.0]).row(START)
    assert sure[5] > 0.9 > 3 * usual[5]
    assert sum(sure) == pytest.approx(1.0)
    once = Chances([0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0]).row(START)
    assert once[5] == pytest.approx(usual[5], abs=0.05)


# -------------------------------------------------------------------------------------- hope


def best_by_hand(accepted: float, mean: float, rate: float, ratios: list[float]) -> float:
    """The best of all lengths behind a first token, each summed up by itself; drafting is free."""
    likely = (accepted + mean) / 2
    gains = [
        sum(accepted * likely**i for i in range(n)) - rate * (ratios[n + 1] - 1)
        for n in range(1, 6)
    ]
    return max(0.0, *gains)


@given(
    st.lists(st.floats(0, 1), min_size=7, max_size=7),
    st.floats(0, 1),
    st.floats(1, 3),
    st.sampled_from([FLAT, STAIRS, MOE]),
)
def test_hope_is_the_mean_of_what_each_class_is_worth(
    first: list[float], mean: float, rate: float, ratios: list[float]
) -> None:
    chances = [0.1, 0.1, 0.1, 0.2, 0.2, 0.2, 0.1]
    each = [best_by_hand(accepted, mean, rate, ratios) for accepted in first]
    expected = sum(chance * gain for chance, gain in zip(chances, each, strict=True))
    got = hope(chances, first, mean, rate, ratios, most=16, each=0.0, switch=0.0)
    assert got == pytest.approx(expected)


def test_a_model_that_is_sure_now_and_then_pays_where_doubts_cost_little() -> None:
    first = [0.2, 0.2, 0.2, 0.2, 0.2, 0.95, 0.2]
    seldom = [0.8, 0.0, 0.0, 0.0, 0.0, 0.2, 0.0]
    assert hope(seldom, first, 0.35, 1.0, MOE, most=16, each=0.02, switch=0.0) > 0.0
    assert hope(seldom, first, 0.35, 1.0, MOE, most=16, each=0.2, switch=0.0) < 0.0
    assert hope(seldom, first, 0.35, 1.0, MOE, most=16, each=0.02, switch=0.5) < 0.0
    never = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    assert hope(never, first, 0.35, 1.0, MOE, most=16, each=0.02, switch=0.5) == pytest.approx(
        -0.02
    )


def test_catching_up_has_to_be_paid_back_before_the_reply_ends() -> None:
    assert pays_back(10.0, 0.5, 1.0, 100)
    assert not pays_back(10.0, 0.5, 1.0, 60)
    assert not pays_back(10.0, -0.1, 1.0, 1000)


# ------------------------------------------------------------------------------------ asking


def test_asking_stays_within_a_hundredth_of_a_plain_step() -> None:
    names = ["a", "b", "c", "d"]
    asking, asked = Asking(names), dict.fromkeys(names, 0)
    for _ in range(1000):
        chosen = asking.choose(0.001)  # a plain step of 1 ms; 20 µs per lookup
        for name in chosen:
            asked[name] += 1
            asking.worth(name, 0.0)
        asking.took(len(chosen), 2e-5 * len(chosen))
    assert sum(asked.values()) * 2e-5 <= 1.1 * SHARE * 1.0
    assert max(asked.values()) - min(asked.values()) <= 2


def test_on_a_slow_model_all_are_asked_every_time() -> None:
    asking = Asking(["a", "b", "c", "d"])
    assert all(asking.choose(0.05) == ("a", "b", "c", "d") for _ in range(20))


def test_a_lookup_that_is_worth_it_is_asked_in_any_case() -> None:
    asking, n = Asking(["a", "b"]), 0
    for _ in range(400):
        chosen = asking.choose(0.001)
        if "b" in chosen:
            asking.worth("b", 1.5)
            n += 1
        if "a" in chosen:
            asking.worth("a", 0.0)
        asking.took(len(chosen), 2e-5 * len(chosen))
    assert n > 350


# ------------------------------------------------------------------------------------- slope


def test_the_slope_of_long_contexts_is_found_among_hiccups() -> None:
    slope = ContextSlope()
    for n_ctx in range(0, 3000, 40):
        held_up = 4.0 if n_ctx % 360 == 0 else 1.0
        slope.add(n_ctx, 0.01 * (1 + 4e-4 * n_ctx) * held_up)
    found = slope.fit()
    assert found == pytest.approx(4e-4, rel=0.1)


def test_contexts_that_are_too_alike_say_nothing() -> None:
    slope = ContextSlope()
    for n_ctx in range(400):
        slope.add(n_ctx, 0.01)
    assert slope.fit() is None
