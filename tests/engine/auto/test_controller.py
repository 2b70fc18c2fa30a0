"""The controller's face towards the chain: who is asked, what is verified, and why."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from engine.auto.simulator import CURVES, MACHINES, PLAIN_S, calibrated, through
from paceline.engine.auto import Controller, Knowledge, StepTimes
from paceline.engine.auto.acceptance import classes_of
from paceline.engine.auto.controller import FORCED, StepPlan
from paceline.engine.auto.tuning import TUNING
from paceline.messages import Decision

SURE = [0.97] * 8


def times(width: int, seconds: float, n_accepted: int = 0, **more: object) -> StepTimes:
    values: dict[str, object] = {
        "n_ctx": 0, "width": width, "decode_s": seconds, "draft_s": 0.0, "own_s": 0.0,
        "n_draft_decoded": 0, "n_accepted": n_accepted, "n_judged": width - 1,
        "n_committed": n_accepted + 1, "is_warm": True, "had_pause": False,
    }  # fmt: skip
    return StepTimes(**(values | more))  # type: ignore[arg-type]


def control(curve: str = "flat", *lookups: str, knowledge: Knowledge | None = None) -> Controller:
    return Controller(
        knowledge or calibrated(CURVES[curve]), ["draft"], lookups or ("suffix",), n_most=16
    )


def test_without_any_time_the_first_steps_are_plain() -> None:
    controller = control(knowledge=Knowledge())
    for _ in range(3):
        plan = controller.plan(10, 100)
        assert plan.n_max == 0
        assert plan.reason == "first"
        settled = controller.settle()
        assert settled.drafter == ""
        assert settled == Decision("", 0, plan.reason)
        controller.observe(times(1, PLAIN_S))
    assert controller.plan(10, 100).n_max > 0


def test_the_best_offer_is_verified_as_far_as_it_pays() -> None:
    controller = control("cpu", "suffix", "cache")
    controller.plan(10, 100)
    assert controller.offer("suffix", [0.97, 0.97, 0.2, 0.2, 0.2]) > 0
    assert controller.offer("cache", [0.97] * 12) > 0
    assert controller.offer("suffix", [0.1]) <= 0.3
    settled = controller.settle()
    assert settled.drafter == "cache"
    assert settled.n_drafted >= 3
    assert settled.reason == "pays"
    assert settled.expected > 2
    assert settled.gain > 1.5


def test_what_a_drafted_step_takes_besides_its_decode_counts_as_a_cost() -> None:
    """Add the time of Python: a third of a step of 1 ms, but a fiftieth of one of 15 ms."""
    verified = []
    for own_s in (0.0, 0.3 * PLAIN_S):
        controller = control("flat")
        for _ in range(30):
            controller.plan(10, 100)
            controller.offer("suffix", SURE)
            settled = controller.settle()
            n = settled.n_drafted
            seconds = PLAIN_S * CURVES["flat"](n + 1)
            controller.observe(times(n + 1, seconds, n, own_s=own_s))
        controller.plan(10, 100)
        controller.offer("suffix", [0.35])
        verified.append(controller.settle().n_drafted)
    assert verified == [1, 0]


def test_staying_at_a_width_may_cost_less_than_nothing() -> None:
    """Changes of the width took long while the machine was busy: staying at it avoids that."""
    knowledge = calibrated(CURVES["flat"])
    controller = control(knowledge=knowledge)
    controller.plan(10, 100)
    controller.observe(times(2, PLAIN_S, 1))
    knowledge.switch = 5.0
    controller.plan(10, 100)
    assert controller.offer("suffix", [0.97]) > 1.0


def test_nothing_offered_is_nothing_verified() -> None:
    controller = control()
    controller.plan(10, 100)
    assert controller.settle().reason == "nothing"


def test_an_offer_that_costs_more_than_it_gains_is_expensive() -> None:
    controller = control("moe")
    controller.plan(10, 100)
    assert controller.offer("suffix", [0.3, 0.3]) <= 0
    assert controller.settle().reason == "expensive"


def test_what_the_grammar_forces_is_certain() -> None:
    controller = control("moe", FORCED, "suffix")
    controller.plan(10, 100)
    assert controller.offer(FORCED, [None] * 4) > 1
    settled = controller.settle()
    assert settled.drafter == FORCED
    assert settled.n_drafted == 4
    assert settled.reason == "forced"


def test_the_model_drafts_until_it_does_not_pay() -> None:
    controller = control()
    assert controller.plan(10, 100).models
    assert controller.wants_model("draft", 2)
    n = 1
    while controller.goes_on(0.97 if n < 4 else 0.05):
        n += 1
    assert 4 <= n <= 5
    settled = controller.settle()
    assert settled.drafter == "draft"
    assert settled.n_drafted in {3, 4}


def test_a_token_that_does_not_pay_is_drafted_where_the_next_ones_do() -> None:
    """Use costs of kernels that compute four rows at once: the fifth costs 0.5, the next little."""
    stairs = through(n4=1.0, n5=1.5, n8=1.5, n9=3.0, n63=30)
    knowledge = calibrated(stairs, 0.1)
    controller = control(knowledge=knowledge)
    for _ in range(20):
        knowledge.rates["draft"].add(classes_of(SURE), 8, 8)
    controller.rate = 2.0
    assert controller.plan(10, 100).models
    assert controller.wants_model("draft", 2)
    n = 1
    while controller.goes_on(0.97):
        n += 1
    assert n == 7
    assert controller.settle().n_drafted == 7


def test_what_several_tokens_spare_makes_no_step_free() -> None:
    controller = control()
    controller.plan(10, 100)
    controller.settle()
    own_s = -9 * PLAIN_S  # far more than its decode
    times = StepTimes(10, 2, PLAIN_S, 0.0, own_s, 0, 1, 1, 2, is_warm=True, had_pause=False)
    assert controller.observe(times) == pytest.approx(2 - 0.5, rel=0.05)
    assert 1.0 < controller.rate < 2.1


@pytest.mark.parametrize("cost", [0.1, 0.15, 0.2, 0.3])
@pytest.mark.parametrize("lost", [1.0, 1.5, 2.0, 2.5, 2.8, 2.9, 3.0])
def test_what_is_drafted_can_be_verified(cost: float, lost: float) -> None:
    """Otherwise drafts lose what is left, and the model waits for the rest of the reply."""
    controller = control(knowledge=calibrated(CURVES["flat"], cost))
    controller.ledger.book(1, (1.0 + lost) * PLAIN_S, PLAIN_S)
    assert controller.plan(10, 100).models
    is_asked = controller.wants_model("draft", 2) > 0
    assert is_asked or lost > 2.5
    while is_asked and controller.goes_on(0.97):
        pass
    settled = controller.settle()
    assert (settled.n_drafted > 0) is is_asked
    assert is_asked or settled.reason == "ledger"


def test_a_token_of_unknown_cost_is_drafted_once_to_see_what_it_costs() -> None:
    knowledge = calibrated(CURVES["flat"])
    del knowledge.draft_costs["draft"]
    knowledge.draft_costs["draft"].guess = 0.2
    controller = control(knowledge=knowledge)
    controller.ledger.book(1, 3.9 * PLAIN_S, PLAIN_S)
    controller.plan(10, 100)
    assert controller.wants_model("draft", 1)
    assert not controller.goes_on(0.97)


def test_of_a_long_backlog_the_end_is_read_that_is_covered() -> None:
    controller = control()
    controller.plan(5000, 100)
    n_read = controller.wants_model("draft", 5000)  # all of it takes 125 plain steps
    assert 16 < n_read < 200  # the slack of 3.2 steps is 128 tokens
    controller.plan(5000, 100)
    assert controller.wants_model("draft", 20) == 20


@pytest.mark.parametrize(
    ("n_reply", "n_done", "n_read"), [(200, 40, 1000), (200, 300, 750), (8, 4, 80)]
)
def test_a_text_is_read_as_far_as_the_rest_of_the_reply_may_pay_back(
    n_reply: int, n_done: int, n_read: int
) -> None:
    """Read as if a quarter of the tokens so far were still to come, or eight if that is more."""
    knowledge = calibrated(CURVES["flat"])
    controller = control(knowledge=knowledge)
    controller.ledger.book(200, 0.0, PLAIN_S)
    knowledge.n_reply, knowledge.n_tokens = n_reply, n_done
    controller.plan(1000, 5000)
    assert controller.wants_model("draft", 1000) == pytest.approx(n_read, rel=0.02)


def test_the_target_s_prefill_covers_a_share() -> None:
    for prefill_s, is_covered in ((0.0, False), (1000 * PLAIN_S, True)):
        knowledge = calibrated(CURVES["flat"], 0.03)
        controller = Controller(knowledge, ["draft"], (), n_most=16, prefill_s=prefill_s)
        controller.plan(1000, 300)
        assert (controller.wants_model("draft", 1000) == 1000) is is_covered


def test_a_prefill_lends_lookups_nothing() -> None:
    most = [
        Controller(
            calibrated(MACHINES["stock"].curve), (), ("suffix",), n_most=40, prefill_s=prefill_s
        ).plan(1000, 300)
        for prefill_s in (0.0, 1000 * PLAIN_S)
    ]
    assert most[0] == most[1]
    assert most[0].n_max > 1


def test_the_rest_of_a_text_is_read_once_its_end_has_paid() -> None:
    """It may do better for knowing all, and what was saved by then covers that."""
    knowledge = calibrated(CURVES["flat"], 0.1, 0.06)
    knowledge.n_reply = 2000.0
    controller, read = control(knowledge=knowledge), []
    for _ in range(40):
        plan = controller.plan(2000, 2000)
        if not plan.models:
            controller.settle()
            controller.observe(times(1, PLAIN_S))
            continue
        n_backlog, n_unread = (2, 1998) if read else (2000, 0)
        read.append(controller.wants_model("draft", n_backlog, n_unread))
        while controller.goes_on(0.97):
            pass
        n = controller.settle().n_drafted
        step = times(n + 1, PLAIN_S * CURVES["flat"](n + 1), n)
        draft_s = 0.1 * PLAIN_S * (n + 0.06 * (read[-1] - 1))
        controller.observe(structs.replace(step, draft_s=draft_s, n_draft_decoded=n + read[-1] - 1))
        if read[-1] == 2000:
            break
    first, *between, last = read
    assert 16 <= first < 2000
    assert between
    assert set(between) == {2}
    assert last == 2000


def test_a_model_that_has_not_paid_gets_no_second_text() -> None:
    controller = control(knowledge=calibrated(CURVES["flat"], 0.1, 0.001))
    controller.plan(200, 400)
    assert controller.wants_model("draft", 2, 198) == 2


def test_another_strategy_in_between_is_no_new_allowance() -> None:
    knowledge = calibrated(CURVES["flat"])
    first = control(knowledge=knowledge)
    for _ in range(40):
        first.plan(10, 100)
        first.settle()
        first.observe(times(1, PLAIN_S))
    before = first.report(40, 10).slack_s
    assert before > (TUNING.allowance_steps + 0.5) * PLAIN_S
    again = Controller(knowledge, ["draft"], (), n_most=16, ledger=first.ledger)
    assert again.report(41, 10).slack_s == before
    again.plan(10, 100)
    again.settle()
    again.observe(times(1, PLAIN_S))
    assert knowledge.n_tokens == 41, "it is the same reply"
    anew = Controller(knowledge, ["draft"], (), n_most=16)
    assert anew.report(0, 10).slack_s == pytest.approx(TUNING.allowance_steps * PLAIN_S, rel=0.05)
    assert knowledge.n_tokens == 0


def test_a_pause_teaches_nothing_about_time() -> None:
    knowledge = calibrated(CURVES["flat"])
    controller = control(knowledge=knowledge)
    controller.plan(10, 100)
    controller.settle()
    before = controller.report(1, 10)
    controller.observe(times(1, 100.0, had_pause=True))
    after = controller.report(2, 10)
    assert after.plain_s == before.plain_s
    assert after.slack_s == before.slack_s


def test_unused_proposals_are_scored() -> None:
    """A lookup proves itself without a single wide step."""
    controller, n_unused = control("moe"), 0
    while n_unused < 40:
        controller.plan(10, 100)
        controller.offer("suffix", [0.4])
        if controller.settle().n_drafted:
            break
        n_unused += 1
        controller.observe(times(1, PLAIN_S))
        controller.shadow("suffix", 1, 1)
    assert 0 < n_unused < 40


@pytest.mark.parametrize("curve", CURVES)
def test_a_lookup_that_is_always_wrong_stops_costing_wide_steps(curve: str) -> None:
    controller, lost = control(curve), []
    for _ in range(100):
        controller.plan(10, 100)
        controller.offer("suffix", [0.97] * 5)
        n = controller.settle().n_drafted
        lost.append(CURVES[curve](n + 1) - 1)
        controller.observe(times(n + 1, PLAIN_S * (1 + lost[-1])))
        if not n:
            controller.shadow("suffix", 0, 1)
    assert 0 < sum(lost) < 2.5
    assert sum(lost[40:]) == 0


def test_what_is_reported_is_what_is_known() -> None:
    controller = control("cpu", "suffix")
    for _ in range(30):
        controller.plan(10, 100)
        controller.offer("suffix", [0.9, 0.9])
        n = controller.settle().n_drafted
        controller.observe(times(n + 1, PLAIN_S * CURVES["cpu"](n + 1), n))
    report = controller.report(30, 10)
    assert report.step == 30
    assert report.plain_s == pytest.approx(PLAIN_S, rel=0.05)
    assert report.pace == pytest.approx(1.0, rel=0.05)
    assert report.slack_s > 4 * PLAIN_S
    assert [cost.width for cost in report.costs][:4] == [1, 2, 3, 4]
    model, lookup = report.drafters
    assert model.drafter == "draft"
    assert model.is_open
    assert model.gain is None
    assert lookup.drafter == "suffix"
    assert lookup.n_judged == lookup.n_accepted > 30
    assert lookup.gain is not None
    assert lookup.gain > 1.5
    assert lookup.saved_s > 0
    assert lookup.acceptance[0] == pytest.approx(1.0)
    assert [rate.upper for rate in lookup.by_confidence] == [0.95]


def give_up(knowledge: Knowledge) -> None:
    """Let the draft model's steps lose until it is not asked."""
    rates = knowledge.rates["draft"]
    while rates.value > 0.0:
        rates.gained(-0.5)


def test_a_model_that_was_given_up_is_reported_as_such() -> None:
    knowledge = calibrated(CURVES["flat"])
    controller = control(knowledge=knowledge)
    give_up(knowledge)
    plan = controller.plan(10, 100)
    assert not plan.models
    assert not controller.wants_model("draft", 1)
    assert controller.settle().reason == "shut"
    assert not controller.report(1, 10).drafters[0].is_open


def test_a_model_s_first_drafts_are_trials() -> None:
    controller, reasons = control(), []
    for _ in range(6):
        controller.plan(10, 100)
        assert controller.wants_model("draft", 1)
        while controller.goes_on(0.97):
            pass
        settled = controller.settle()
        reasons.append(settled.reason)
        width = settled.n_drafted + 1
        step = times(width, PLAIN_S * CURVES["flat"](width), settled.n_drafted)
        controller.observe(structs.replace(step, draft_s=0.1 * PLAIN_S * settled.n_drafted))
    assert reasons[0] == "trial"
    assert reasons[-1] == "pays"


def test_a_model_is_asked_where_it_may_gain_more_than_the_best_offer() -> None:
    controller = control()
    controller.plan(10, 100)
    assert controller.offer("suffix", [0.97] * 12) > 1.0
    assert not controller.wants_model("draft", 1)
    assert controller.settle().drafter == "suffix"


@given(
    confidences=st.lists(st.floats(0.0, 1.0), min_size=1, max_size=12),
    curve=st.sampled_from(sorted(CURVES)),
    most=st.integers(1, 16),
    last_width=st.sampled_from([1, 2, 3, 5, 9]),
    switch=st.sampled_from([0.03, 0.3, 0.9]),
    saved=st.sampled_from([0, 1, 4, 30]),
    replays=st.booleans(),
)
def test_what_is_verified_is_worth_the_most(
    *,
    confidences: list[float],
    curve: str,
    most: int,
    last_width: int,
    switch: float,
    saved: int,
    replays: bool,
) -> None:
    """Check that no other cut gains more tokens for its time and its risk to the slack.

    Held against the rule written out.
    """
    knowledge = calibrated(CURVES[curve])
    rates, (ratios, careful) = knowledge.rates["suffix"], knowledge.costs.near(10)
    controller = control(curve, knowledge=knowledge)
    controller.ledger.book(saved, 0.0, PLAIN_S)
    if last_width > 1:
        controller.observe(times(last_width, PLAIN_S * CURVES[curve](last_width)))
    knowledge.switch, knowledge.own, knowledge.replays = switch, 0.0, replays
    survivals, rate = rates.survivals(classes_of(confidences[:most])), controller.rate
    slack = controller.ledger.slack(PLAIN_S) / PLAIN_S - 0.3 - replays * (careful[2] - 1)

    def again(n: int) -> float:
        pairs = zip([1.0, *survivals], survivals[:n], ratios[2:], strict=False)
        return replays * sum((before - now) * (ratio - 1) for before, now, ratio in pairs)

    def worth(n: int) -> float:
        cost = ratios[n + 1] - 1 + switch * (n + 1 != last_width) - switch * (last_width != 1)
        cost += again(n)
        ends = [1.0, *survivals[:n]]  # how likely no fewer tokens are accepted than 0, 1, 2, ...
        chances = [before - now for before, now in zip(ends, [*ends[1:], 0.0], strict=True)]
        loss = sum(chance * max(cost - k, 0.0) for k, chance in enumerate(chances))
        return sum(survivals[:n]) - rate * cost - 2.0 * loss / max(slack, 0.1)

    plan = controller.plan(10, most)
    value = controller.offer("suffix", confidences) if plan.n_max else 0.0
    decision = controller.settle()
    n = decision.n_drafted
    assert n <= min(plan.n_max, len(survivals))
    gain = (1 + sum(survivals[:n])) / (ratios[n + 1] + again(n)) if n else decision.gain
    assert decision.gain == pytest.approx(gain)
    assert value == pytest.approx(worth(n) if n else 0.0)
    for k in range(1, min(plan.n_max, len(survivals)) + 1):
        assert worth(k) <= value + 1e-9


# ---------------------------------------------------------------------------------- rested steps


def test_steps_without_a_decision_are_plain_steps() -> None:
    knowledge = calibrated(CURVES["cpu"])
    controller = control("cpu", knowledge=knowledge)
    give_up(knowledge)
    value = knowledge.rates["draft"].value
    controller.rested(255, 255 * PLAIN_S, 0.0)
    assert knowledge.n_tokens == 255
    assert controller.ledger.slack(PLAIN_S) == pytest.approx(
        PLAIN_S * (TUNING.allowance_steps + 255 * TUNING.promised_share)
    )
    assert knowledge.rates["draft"].value > value
    controller.rested(1, PLAIN_S, 0.5 * PLAIN_S)  # half a step went into learning before
    expected = TUNING.allowance_steps + 256 * TUNING.promised_share - 0.5
    assert controller.ledger.slack(PLAIN_S) == pytest.approx(PLAIN_S * expected)


def test_after_the_steps_that_it_tells_a_draft_is_covered() -> None:
    controller = control("moe")
    controller.ledger.book(1, (1.0 + TUNING.allowance_steps) * PLAIN_S, PLAIN_S)
    assert controller.plan(10, 100).reason == "ledger"
    n = controller.wait
    assert n > 5
    controller.rested(n - 2, (n - 2) * PLAIN_S, 0.0)
    assert controller.plan(10, 100).reason == "ledger"
    controller.rested(4, 4 * PLAIN_S, 0.0)
    assert controller.plan(10, 100).n_max > 0


# ------------------------------------------------------------------------------------- what times


def test_forgetting_takes_what_came_from_texts_alone() -> None:
    knowledge = calibrated(CURVES["flat"], 0.1)
    give_up(knowledge)
    accepted = knowledge.rates["draft"]
    for _ in range(50):
        accepted.add([5], 0, 1)
    knowledge.gains["draft"] = 3.0, 4.0
    knowledge.saved_up = 0.0
    low = accepted.rate(5)
    knowledge.forget(keeps_rates=True)
    assert knowledge.rates["draft"].rate(5) < low + 0.3
    assert knowledge.gains == {}
    assert knowledge.saved_up == TUNING.max_saved_steps
    knowledge.forget()
    assert knowledge.rates["draft"].n_judged == 0
    assert knowledge.rates["draft"].value > 0.0
    assert knowledge.costs.n_samples(1) == 2
    assert knowledge.draft_costs["draft"].per_token == pytest.approx(0.1 * PLAIN_S)


def test_whatever_steps_take_it_can_be_learned_from() -> None:
    for seed in range(150):
        rng = random.Random(seed)
        knowledge = calibrated(CURVES["cpu"])
        controller = control("cpu", "suffix", knowledge=knowledge)
        for i in range(120):
            plan = controller.plan(i, 60)
            if plan.n_max:
                controller.offer("suffix", [rng.random() for _ in range(8)])
            if plan.models and controller.wants_model("draft", 1):
                while controller.goes_on(rng.random()):
                    pass
            n = controller.settle().n_drafted
            seconds = 10 ** rng.uniform(-7, 2)
            n_accepted = rng.randint(0, n)
            step = times(n + 1, seconds, n_accepted, is_warm=rng.random() < 0.5)
            controller.observe(structs.replace(step, draft_s=rng.random() * seconds))
        told = controller.report(1, 100)
        assert told.plain_s > 0
        assert all(cost.seconds > 0 for cost in told.costs)


def test_long_contexts_are_learned_between_replies() -> None:
    knowledge = calibrated(CURVES["flat"])
    slope = 4e-4
    for first in (0, 2000):
        controller = control(knowledge=knowledge)
        for i in range(400):
            n_ctx = first + 2 * i
            controller.plan(n_ctx, 0)
            controller.settle()
            controller.observe(times(1, PLAIN_S * (1 + slope * n_ctx), n_ctx=n_ctx))
    controller = control(knowledge=knowledge)
    assert knowledge.costs.context.slope == pytest.approx(slope, rel=0.15)
    for n_ctx in (0, 1000, 3000):
        expected = PLAIN_S * (1 + slope * n_ctx)
        assert controller.report(0, n_ctx).plain_s == pytest.approx(expected, rel=0.15)


@pytest.mark.parametrize("is_ended", [False, True], ids=["rejected", "ended"])
@pytest.mark.parametrize("n_accepted", range(7))
def test_nothing_after_the_first_rejected_token_is_judged(n_accepted: int, is_ended: bool) -> None:
    knowledge = calibrated(CURVES["flat"])
    controller = control(knowledge=knowledge)
    controller.plan(10, 6)
    assert controller.wants_model("draft", 1)
    assert [controller.goes_on(0.97) for _ in range(6)] == [True] * 5 + [False]
    assert controller.settle().n_drafted == 6
    n_compared = n_accepted if is_ended else 6  # the rest was drafted after the reply's end
    controller.observe(times(7, PLAIN_S * CURVES["flat"](7), n_accepted, n_judged=n_compared))
    judged = knowledge.rates["draft"]
    assert judged.n_judged == min(n_accepted + 1, n_compared)
    assert judged.n_accepted == n_accepted


def test_wide_steps_in_a_long_context_say_nothing_new_of_short_ones() -> None:
    knowledge = calibrated(CURVES["flat"])
    costs = knowledge.costs
    costs.set_context(4e-4, 0.5)
    before = list(costs.ratios(0)[:9])
    true_s = {width: costs.seconds(width, 3000) or 0.0 for width in (4, 8)}
    controller = control(knowledge=knowledge)
    for width in [4] * 12 + [8] * 12:
        controller.plan(3000, width - 1)
        controller.offer("suffix", [1.0] * (width - 1))
        assert controller.settle().n_drafted == width - 1
        controller.observe(times(width, true_s[width], width - 1, n_ctx=3000))
    assert costs.n_samples(8) == 9
    assert costs.ratios(0)[:9] == pytest.approx(before, rel=0.01)


def test_steps_that_waited_for_plain_ones_are_counted_with_their_context() -> None:
    """Each time the machine gets slower, wide steps wait until it is known who is slower."""
    knowledge = calibrated(CURVES["flat"])
    costs = knowledge.costs
    costs.set_context(4e-4, 0.5)
    before = costs.ratios(3000)[4]
    true_s = {width: costs.seconds(width, 3000) or 0.0 for width in (1, 4)}
    controller = control(knowledge=knowledge)
    for pace in (2, 4):
        for width in (4, 4, 1, 1, 1, *[4] * 6):
            plan = controller.plan(3000, 3)
            assert (plan.reason == "plain") is (width == 1)
            controller.offer("suffix", [1.0] * 3)
            assert controller.settle().n_drafted == width - 1
            controller.observe(times(width, pace * true_s[width], width - 1, n_ctx=3000))
        assert not knowledge.pace.in_doubt
        assert knowledge.pace.plain == pytest.approx(pace * PLAIN_S, rel=0.01)
        assert costs.ratios(3000)[4] == pytest.approx(before, rel=0.01)
    assert costs.n_samples(4) == 9
    assert costs.ratios(0)[4] == pytest.approx(1.09, rel=0.01)
    assert costs.context.share == pytest.approx(0.5, abs=0.02)


def test_among_steps_with_drafts_plain_ones_are_asked_for_again() -> None:
    """Their time is what everything else is measured by."""
    controller = control()
    plain, last_width = [], 1
    for i in range(400):
        plan = controller.plan(10, 100)
        if plan.n_max:
            controller.offer("suffix", [0.97] * 4)
        width = controller.settle().n_drafted + 1
        if width == 1:
            assert plan == StepPlan(0, "plain", models=False)
            plain.append(i)
        is_warm = width == last_width
        seconds = PLAIN_S * CURVES["flat"](width)
        controller.observe(times(width, seconds, width - 1, is_warm=is_warm))
        last_width = width
    assert plain == [256, 257]  # the first step after a wide one shows nothing
