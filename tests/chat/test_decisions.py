"""Phases of Auto: what goes on in some steps, named calmly and by the figures alone."""

from __future__ import annotations

from typing import get_args

import pytest

from paceline.chat.decisions import (
    RECENT_STEPS,
    DecisionLog,
    Phase,
    PhaseKind,
    is_news,
    mix_of,
    phase_of,
)
from paceline.figures import Decision, DraftCount, Outlook, Reason, Speedup, WidthCost
from paceline.messages import ControlReported, StepCommitted

GAIN, PERHAPS, LOSS = Speedup(1.5, 1.2, 1.9), Speedup(1.3, 0.98, 1.7), Speedup(0.8, 0.7, 0.99)
DRAFTS = ("pays", "trial", "forced")
KINDS: dict[Reason, PhaseKind] = {"plain": "measures", "first": "begins"}
"""Phases that have another name than the reason of their steps."""


def step(reason: Reason = "pays", drafter: str = "draft", n: int = 3) -> StepCommitted:
    """A step with `n` drafted tokens of which one is rejected, or a plain one."""
    n = n if reason in DRAFTS else 0
    counts = (DraftCount(drafter, n, n - 1),) if n else ()
    decision = Decision(drafter if n else "", n, reason)
    return StepCommitted(1, (), "", counts, 0, 0, 0, 0, decision=decision)


def steps(**counts: int) -> list[StepCommitted]:
    """So many steps of each reason."""
    return [step(reason) for reason, n in counts.items() for _ in range(n)]  # type: ignore[arg-type]


def report(*drafters: Outlook) -> ControlReported:
    costs = (WidthCost(1, 0.04, 9), WidthCost(2, 0.06, 9))
    return ControlReported(40, 0.04, 1.0, 0.2, costs, drafters)


def outlook(drafter: str, *, n_judged: int = 900, gain: float | None = None) -> Outlook:
    return Outlook(drafter, gain is None, 0.003, (0.78, 0.7), (), gain, n_judged, 640, 1.0)


@pytest.mark.parametrize("reason", get_args(Reason))
def test_steps_of_one_reason_are_a_phase_of_it(reason: Reason) -> None:
    assert phase_of(mix_of(steps(**{reason: 32})), speedup=GAIN).kind == KINDS.get(reason, reason)


def test_the_effect_of_drafts_is_what_the_interval_allows_to_say() -> None:
    mix = mix_of(steps(pays=32))
    kinds = [phase_of(mix, speedup=speedup).kind for speedup in (GAIN, PERHAPS, LOSS, None)]
    assert kinds == ["pays", "even", "loses", "drafts"]


def test_figures_of_drafts() -> None:
    mix = mix_of([step() if i % 3 else step(drafter="suffix", n=6) for i in range(30)])
    mix.add(step("nothing"))
    phase = phase_of(mix, speedup=GAIN)
    assert phase.drafters == ("draft", "suffix")
    assert phase.n_tokens == 4
    assert phase.rate == pytest.approx((20 * 2 + 10 * 5) / 120)
    assert phase.plain_share == pytest.approx(1 / 31)


@pytest.mark.parametrize(("n_plain", "speedup", "kind"), [
    (1000, GAIN, "pays"), (28, PERHAPS, "nothing"), (28, None, "nothing"), (12, None, "drafts"),
])  # fmt: skip
def test_rare_drafts_are_what_goes_on_where_they_make_the_reply_faster(
    n_plain: int, speedup: Speedup | None, kind: PhaseKind
) -> None:
    assert phase_of(mix_of(steps(nothing=n_plain, pays=4)), speedup=speedup).kind == kind


def test_reports_say_who_is_expensive_and_who_pauses() -> None:
    expensive, shut = mix_of(steps(expensive=32)), mix_of(steps(shut=32))
    told = report(outlook("suffix", n_judged=9), outlook("draft"))
    phase = phase_of(expensive, speedup=None, report=told)
    assert (phase.drafters, phase.rate, phase.ratio) == (("draft",), 0.78, pytest.approx(1.5))
    told = report(outlook("draft", gain=0.8), outlook("suffix"), outlook("ngram-mod", gain=1.2))
    phase = phase_of(shut, speedup=None, report=told)
    assert (phase.drafters, phase.ratio) == (("draft", "ngram-mod"), 0.8)
    assert phase_of(shut, speedup=None, report=report(outlook("draft", gain=1.2))).ratio is None
    for mix in (expensive, shut):
        assert phase_of(mix, speedup=None).drafters == ()


@pytest.mark.parametrize(
    ("before", "after", "fresh", "kept"),
    [
        (
            {"expensive": 32},
            {"expensive": 15, "nothing": 17},
            "nothing",
            "expensive",
        ),
        ({"expensive": 32}, {"expensive": 10, "nothing": 22}, "nothing", "nothing"),
        ({"plain": 30, "nothing": 2}, {"plain": 23, "nothing": 9}, "nothing", "measures"),
        ({"pays": 32}, {"pays": 7, "nothing": 25}, "nothing", "even"),
        ({"pays": 32}, {"pays": 3, "nothing": 29}, "nothing", "nothing"),
    ],
)
def test_a_phase_is_kept_until_another_one_is_clearly_ahead(
    before: dict[str, int], after: dict[str, int], fresh: PhaseKind, kept: PhaseKind
) -> None:
    shown, mix = phase_of(mix_of(steps(**before)), speedup=PERHAPS), mix_of(steps(**after))
    assert phase_of(mix, speedup=PERHAPS).kind == fresh
    assert phase_of(mix, speedup=PERHAPS, before=shown).kind == kept


def test_drafters_that_were_named_are_named_while_others_are_not_clearly_ahead() -> None:
    shown = phase_of(mix_of(steps(pays=30)), speedup=GAIN)
    for n, drafters in ((20, ("draft",)), (26, ("suffix",))):
        mix = mix_of([step(drafter="suffix")] * n + [step()] * (30 - n))
        assert phase_of(mix, speedup=GAIN, before=shown).drafters == drafters


@pytest.mark.parametrize(
    ("now", "news"),
    [
        (Phase("pays", ("draft",), 3.5, 0.7, plain_share=0.1, n_drafts=30), False),
        (Phase("pays", ("draft",), 5.0, 0.67, n_drafts=30), True),
        (Phase("pays", ("draft",), 3.0, 0.8, n_drafts=30), True),
        (Phase("pays", ("draft",), 3.0, 0.8, n_drafts=2), False),  # few drafts scatter
        (Phase("pays", ("draft",), 3.0, None, n_drafts=30), True),
        (Phase("pays", ("draft", "suffix"), 3.0, 0.67, n_drafts=30), True),
        (Phase("even", ("draft",), 3.0, 0.67, n_drafts=30), True),
    ],
)
def test_a_figure_is_news_where_it_moves_by_more_than_it_scatters(now: Phase, news: bool) -> None:
    before = Phase("pays", ("draft",), 3.0, 0.67, n_drafts=30)
    assert is_news(before, now) is news
    assert is_news(None, now)


def test_the_log_stays_calm_while_steps_only_scatter() -> None:
    log, shown = DecisionLog(), set()
    for i in range(400):
        scattered: Reason = "expensive" if i % 2 else "nothing"
        log.push(step(scattered) if i % 7 == 3 else step(n=3 + i % 2))
        if i >= RECENT_STEPS:
            speedup = Speedup(1.5 + 0.02 * (i % 3), 1.2 - 0.05 * (i % 2), 1.9)
            log.judge(speedup=speedup, report=None, has_ended=False)
            shown.add(log.phase)
    assert len(shown) == 1


def test_another_phase_is_shown_when_it_is_news_twice_and_in_the_end_of_all_steps() -> None:
    log, shown = DecisionLog(), []
    for part in (steps(pays=32), steps(nothing=32), steps(nothing=1)):
        for each in part:
            log.push(each)
        log.judge(speedup=PERHAPS, report=None, has_ended=False)
        shown.append(log.phase.kind if log.phase else "")
    assert shown == ["even", "even", "nothing"]
    log.judge(speedup=PERHAPS, report=None, has_ended=True)
    assert log.phase == phase_of(log.whole, speedup=PERHAPS)
    assert log.phase.kind == "even"
    log.clear()
    assert log.phase is None


def test_steps_without_a_decision_are_left_out() -> None:
    log = DecisionLog()
    log.push(StepCommitted(1, (), "", (), 0, 0, 0, 0))
    log.judge(speedup=None, report=None, has_ended=False)
    assert log.whole.n_steps == 0
    assert log.phase is None
