"""Accounts of whole replies: who sits which one out, and steps that nobody decided on."""

from __future__ import annotations

import pytest

from engine.control.simulator import CURVES, PLAIN_S, calibrated
from engine.control.test_controller import control, times
from paceline.engine.control import Controller, Knowledge
from paceline.engine.control.costs import VerifyCosts
from paceline.engine.control.ledger import SHARE, STEPS
from paceline.engine.control.priors import Priors
from paceline.engine.control.steps import FORCED


def lose(knowledge: Knowledge, n_replies: int, n_tokens: int = 40, *names: str) -> None:
    """Have replies in which asking takes time and gives nothing."""
    for _ in range(n_replies):
        controller = control("cpu", *names, knowledge=knowledge)
        for i in range(n_tokens):
            controller.plan(i, 100)
            controller.settle()
            controller.observe(times(1, 1.3 * PLAIN_S, lookup_s=0.3 * PLAIN_S))


def draft_in_vain(controller: Controller, n_tokens: int = 20) -> bool:
    """Have a reply whose first draft costs much; returns whether the model was asked."""
    controller.plan(10, 100)
    is_asked = controller.wants_model("draft", 1)
    if is_asked:
        controller.goes_on(0.97)
    n = controller.settle().n
    controller.observe(times(n + 1, 4 * PLAIN_S, draft_s=2.8 * PLAIN_S, n_draft_decoded=1))
    for i in range(n_tokens):
        controller.plan(11 + i, 0)
        controller.settle()
        controller.observe(times(1, PLAIN_S))
    return is_asked


def test_a_model_that_never_paid_is_not_asked() -> None:
    knowledge = calibrated(CURVES["flat"])
    asked = [draft_in_vain(control(knowledge=knowledge)) for _ in range(30)]
    assert all(asked[:3])
    assert 3 < sum(asked) < 12
    assert any(asked[-10:])


@pytest.mark.parametrize("n_before", range(6))
def test_a_model_gets_its_turn_where_the_strategy_sits_out_as_well(n_before: int) -> None:
    knowledge = calibrated(CURVES["flat"])
    model = knowledge.priors.drafter("draft").admission
    for i in range(60):
        controller = control(knowledge=knowledge)
        if knowledge.model("draft").gate.is_open:
            model.add(-3.0)
            n_last = i
        for _ in range(20):
            loss = 0.3 * PLAIN_S if i >= n_before else -0.1 * PLAIN_S
            controller.plan(10, 0)
            controller.settle()
            controller.observe(times(1, PLAIN_S + loss, lookup_s=loss))
    assert n_last >= 60 - 26


def test_where_speculation_lost_by_whole_replies_only_sure_drafts_are_verified() -> None:
    knowledge = calibrated(CURVES["cpu"])
    lose(knowledge, 3)
    controller = control("cpu", knowledge=knowledge)
    assert knowledge.bar > 0.0
    assert not controller.plan(10, 100).models
    assert 0 < controller.offer("suffix", [0.6, 0.2]) < knowledge.bar
    assert controller.settle().decision.reason == "shut"
    controller.observe(times(1, PLAIN_S))
    controller.plan(11, 100)
    assert controller.offer("suffix", [0.97] * 12) > knowledge.bar
    assert controller.settle().decision.reason == "pays"
    # A text that drafts do pay in is decided on as ever.
    controller.observe(times(controller.settle().n + 1, 1.1 * PLAIN_S, n_accepted=3))
    assert knowledge.bar == 0.0
    controller.plan(15, 100)
    assert controller.offer("suffix", [0.6, 0.2]) > 0
    assert controller.settle().decision.reason == "pays"


def test_four_of_five_replies_are_sat_out_and_count_for_nothing() -> None:
    knowledge = calibrated(CURVES["cpu"])
    lose(knowledge, 3)
    sat_out = []
    for _ in range(50):
        lose(knowledge, 1)
        sat_out.append(knowledge.bar > 0.0)
    assert sum(sat_out) == 40
    account = knowledge.priors.strategy(["draft", "suffix"])
    assert account.n_replies < 11


def test_what_a_grammar_forces_needs_no_account_and_proves_nothing() -> None:
    knowledge = calibrated(CURVES["cpu"])
    lose(knowledge, 4)
    controller = control("cpu", FORCED, "suffix", knowledge=knowledge)
    controller.plan(10, 100)
    controller.offer(FORCED, [None] * 4)
    settled = controller.settle()
    assert settled.decision.reason == "forced"
    controller.observe(times(settled.n + 1, 1.1 * PLAIN_S, n_accepted=settled.n))
    assert knowledge.bar > 0.0


def test_another_strategy_has_an_account_of_its_own() -> None:
    knowledge = calibrated(CURVES["cpu"])
    lose(knowledge, 4)
    control("cpu", "ngram-mod", knowledge=knowledge)
    assert knowledge.bar == 0.0


def test_a_reply_of_two_strategies_is_nobody_s() -> None:
    knowledge = calibrated(CURVES["cpu"])
    lose(knowledge, 4)
    first = control("cpu", knowledge=knowledge)
    assert knowledge.bar > 0.0
    Controller(knowledge, [], ["ngram-mod"], n_most=16, ledger=first.ledger)
    assert knowledge.bar == 0.0
    before = knowledge.priors.strategy(["draft", "suffix"]).gained
    knowledge.n_tokens = 100
    knowledge.close_accounts()
    assert knowledge.priors.strategy(["draft", "suffix"]).gained == before


def test_short_replies_tell_nothing_of_speculation() -> None:
    knowledge = calibrated(CURVES["cpu"])
    lose(knowledge, 12, 10)
    control("cpu", knowledge=knowledge)
    assert knowledge.bar == 0.0


@pytest.mark.parametrize("keeps_rates", [False, True])
def test_forgetting_texts_closes_the_last_reply_s_account(*, keeps_rates: bool) -> None:
    knowledge = calibrated(CURVES["cpu"])
    lose(knowledge, 1)
    knowledge.forget(keeps_rates=keeps_rates)
    assert (knowledge.n_tokens, knowledge.bar) == (0, 0.0)
    kept = Priors.from_json(knowledge.priors.to_json()).strategy(["draft", "suffix"])
    assert kept.n_replies == (1.0 if keeps_rates else 0.0)
    assert kept.gained == pytest.approx(-8.0 if keeps_rates else 0.0)


# --------------------------------------------------------------------------- rested steps


def test_steps_that_nobody_decided_on_are_plain_steps() -> None:
    knowledge = calibrated(CURVES["cpu"])
    controller = control("cpu", knowledge=knowledge)
    knowledge.model("draft").gate.sit_out()
    controller.rested(255, 255 * PLAIN_S, 0.0)
    assert knowledge.n_tokens == 255
    assert controller.ledger.slack(PLAIN_S) == pytest.approx(PLAIN_S * (STEPS + 255 * SHARE))
    assert not knowledge.model("draft").gate.is_open
    controller.rested(1, 1.5 * PLAIN_S, 0.5 * PLAIN_S)  # half a step went into learning before
    assert knowledge.model("draft").gate.is_open
    expected = STEPS + 256 * SHARE - 0.5
    assert controller.ledger.slack(PLAIN_S) == pytest.approx(PLAIN_S * expected)


def test_behind_the_steps_that_it_tells_a_draft_is_covered() -> None:
    knowledge = calibrated(CURVES["moe"])
    controller = control("moe", knowledge=knowledge)
    controller.ledger.book_plain(1, (1.0 + STEPS) * PLAIN_S, PLAIN_S)
    assert controller.plan(10, 100).reason == "ledger"
    n = controller.n_uncovered
    assert n > 5
    controller.rested(n - 2, (n - 2) * PLAIN_S, 0.0)
    assert controller.plan(10, 100).reason == "ledger"
    controller.rested(4, 4 * PLAIN_S, 0.0)
    assert controller.plan(10, 100).n_max > 0


def test_dear_widths_are_doubted_behind_long_rests_too(monkeypatch: pytest.MonkeyPatch) -> None:
    aged = []
    monkeypatch.setattr(VerifyCosts, "age", lambda _: aged.append(1))
    controller = control("cpu")
    for _ in range(8):
        controller.rested(16, 16 * PLAIN_S, 0.0)
    assert len(aged) == 4
