"""Phases of Auto: names of what happens in some steps, by their figures alone."""

from __future__ import annotations

from typing import get_args

import pytest

from paceline.chat.auto_words import phase_words
from paceline.chat.decisions import (
    RECENT_STEPS,
    DecisionLog,
    Phase,
    PhaseKind,
    is_news,
    mix_of,
    phase_of,
    phase_of_whole,
)
from paceline.figures import Decision, DraftCount, Outlook, Reason, TurnStats, WidthCost
from paceline.messages import ControlReported, StepCommitted


def at(ratio: float, low: float, high: float, n_steps: int = 100) -> TurnStats:
    """The figures of a reply that is so many times as fast as plain decoding, 2 tokens a step."""
    n, speed = 2 * n_steps + 1, 20.0 * ratio
    return TurnStats(
        True, 10, 0, n, 0.1, n / speed, n / speed + 0.1, speed, 20.0, n_steps, 90, 60, 0, 2 / 3,
        2.0, 0.0, plain_low=speed / high, plain_high=speed / low,
    )  # fmt: skip


GAIN, PERHAPS, LOSS = at(1.5, 1.2, 1.9), at(1.3, 0.98, 1.7), at(0.8, 0.7, 0.99)
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
    """Return so many steps of each reason."""
    return [step(reason) for reason, n in counts.items() for _ in range(n)]  # type: ignore[arg-type]


def report(*drafters: Outlook) -> ControlReported:
    costs = (WidthCost(1, 0.04, 9), WidthCost(2, 0.06, 9))
    return ControlReported(40, 0.04, 1.0, 0.2, costs, drafters)


def outlook(
    drafter: str, *, n_judged: int = 900, gain: float | None = None, right: float = 0.78
) -> Outlook:
    return Outlook(drafter, gain is None, 0.003, (right, 0.7), (), gain, n_judged, 640, 1.0)


@pytest.mark.parametrize("reason", get_args(Reason))
def test_steps_of_one_reason_are_a_phase_of_it(reason: Reason) -> None:
    stats = PERHAPS if reason == "trial" else GAIN
    assert phase_of(mix_of(steps(**{reason: 32})), stats=stats).kind == KINDS.get(reason, reason)


def test_the_effect_of_drafts_is_what_the_interval_allows_to_say() -> None:
    mix = mix_of(steps(pays=32))
    kinds = [phase_of(mix, stats=stats).kind for stats in (GAIN, PERHAPS, LOSS, None)]
    assert kinds == ["pays", "even", "loses", "drafts"]


def test_figures_of_drafts() -> None:
    mix = mix_of([step() if i % 3 else step(drafter="suffix", n=6) for i in range(30)])
    mix.add(step("nothing"))
    phase = phase_of(mix, stats=GAIN)
    assert phase.drafters == ("draft", "suffix")
    assert phase.per_step == 2.0
    assert phase.step_time == pytest.approx(2.0 / 1.5)
    assert phase.rate == pytest.approx((20 * 2 + 10 * 5) / 120)


@pytest.mark.parametrize(("n_plain", "stats", "kind"), [
    (1000, GAIN, "pays"), (28, PERHAPS, "nothing"), (28, None, "nothing"), (12, None, "drafts"),
])  # fmt: skip
def test_rare_drafts_are_what_continues_where_they_make_the_reply_faster(
    n_plain: int, stats: TurnStats | None, kind: PhaseKind
) -> None:
    assert phase_of(mix_of(steps(nothing=n_plain, pays=4)), stats=stats).kind == kind


def test_a_trial_that_made_the_reply_faster_is_none_any_more() -> None:
    trials = mix_of(steps(trial=20, nothing=12))
    assert phase_of(trials, stats=PERHAPS).kind == "trial"
    assert phase_of(trials, stats=GAIN).kind == "pays"


@pytest.mark.parametrize("stats", [None, GAIN, PERHAPS, LOSS])
@pytest.mark.parametrize("n_drafts", [0, 1, 20, 200])
@pytest.mark.parametrize("reason", get_args(Reason))
def test_of_a_reply_that_has_ended_nothing_is_said_of_now(
    reason: Reason, n_drafts: int, stats: TurnStats | None
) -> None:
    told = report(outlook("draft", gain=0.8))
    for known in (told, None):
        mix = mix_of(steps(**{"pays": n_drafts} | {reason: 160}))
        words = str(phase_words(phase_of_whole(mix, stats=stats, report=known), str))
        assert words
        assert not [now for now in ("is being", "are being", "for now", "yet", "so far", "of late")
                    if now in words]  # fmt: skip


def test_a_reply_of_which_a_third_was_copied_is_about_its_drafts() -> None:
    mix = mix_of([*steps(nothing=160), *(step(n=3) for _ in range(40))])  # 80 of 280 tokens
    assert phase_of(mix, stats=PERHAPS).kind == "nothing"
    assert phase_of_whole(mix, stats=PERHAPS).kind == "even"
    assert phase_of_whole(mix, stats=None).kind == "drafts"
    few = mix_of([*steps(nothing=160), step(n=3)])
    assert phase_words(phase_of_whole(few, stats=PERHAPS), str) == "There was little to copy from."
    assert phase_of_whole(few, stats=LOSS).kind == "loses", "the red figure is about these drafts"


def test_figures_of_a_moment_wait_for_enough_drafts_and_follow_them() -> None:
    log, shown = DecisionLog(), []
    for i in range(24):
        log.push(step(n=1 if i < 2 else 8))  # the first two are wrong, the others nearly right
        log.judge(stats=None, report=None, has_ended=False)
        assert log.phase is not None
        words = str(phase_words(log.phase, str))
        shown.append(words)
        assert bool(words) == (i >= 3)
        if i >= 10:
            now = phase_of(log.whole, stats=None)
            assert log.phase.rate == pytest.approx(now.rate, abs=0.12)
            assert log.phase.per_step == pytest.approx(now.per_step, abs=1.8)
    assert len(set(shown)) < 8, "it stays calm"


def test_reports_say_who_is_expensive_and_who_pauses() -> None:
    expensive, shut = mix_of(steps(expensive=32)), mix_of(steps(shut=32))
    told = report(outlook("suffix", n_judged=0), outlook("draft", right=0.4))
    phase = phase_of(expensive, stats=None, report=told)
    assert phase.price == pytest.approx((1, 0.4, 0.5 + 0.003 / 0.04))
    worth = report(outlook("draft", right=0.4), outlook("suffix"))
    assert phase_of(expensive, stats=None, report=worth).price is None
    told = report(outlook("draft", gain=0.8), outlook("suffix"), outlook("ngram-mod", gain=1.2))
    phase = phase_of(shut, stats=None, report=told)
    assert (phase.drafters, phase.gain) == (("draft", "ngram-mod"), 0.8)
    assert phase_of(shut, stats=None, report=report(outlook("draft", gain=1.2))).gain is None
    for mix in (expensive, shut):
        assert phase_of(mix, stats=None).drafters == ()


@pytest.mark.parametrize(
    ("before", "after", "fresh", "kept"),
    [
        ({"expensive": 32}, {"expensive": 15, "nothing": 17}, "nothing", "expensive"),
        ({"expensive": 32}, {"expensive": 10, "nothing": 22}, "nothing", "nothing"),
        ({"plain": 30, "nothing": 2}, {"plain": 23, "nothing": 9}, "nothing", "measures"),
        ({"pays": 32}, {"pays": 7, "nothing": 25}, "nothing", "even"),
        ({"pays": 32}, {"pays": 3, "nothing": 29}, "nothing", "nothing"),
    ],
)
def test_a_phase_is_kept_until_another_one_is_clearly_ahead(
    before: dict[str, int], after: dict[str, int], fresh: PhaseKind, kept: PhaseKind
) -> None:
    shown, mix = phase_of(mix_of(steps(**before)), stats=PERHAPS), mix_of(steps(**after))
    assert phase_of(mix, stats=PERHAPS).kind == fresh
    assert phase_of(mix, stats=PERHAPS, before=shown).kind == kept


def test_drafters_that_were_named_are_named_while_others_are_not_clearly_ahead() -> None:
    shown = phase_of(mix_of(steps(pays=30)), stats=GAIN)
    for n, drafters in ((20, ("draft",)), (26, ("suffix",))):
        mix = mix_of([step(drafter="suffix")] * n + [step()] * (30 - n))
        assert phase_of(mix, stats=GAIN, before=shown).drafters == drafters


@pytest.mark.parametrize(
    ("now", "news"),
    [
        (Phase("pays", ("draft",), 3.5, rate=0.7, n_drafts=30), False),
        (Phase("pays", ("draft",), 5.0, rate=0.67, n_drafts=30), True),
        (Phase("pays", ("draft",), 3.0, rate=0.8, n_drafts=30), True),
        (Phase("pays", ("draft",), 3.0, rate=0.8, n_drafts=2), False),  # few drafts scatter
        (Phase("pays", ("draft",), 3.0, n_drafts=30), True),
        (Phase("pays", ("draft", "suffix"), 3.0, rate=0.67, n_drafts=30), True),
        (Phase("even", ("draft",), 3.0, rate=0.67, n_drafts=30), True),
    ],
)
def test_a_figure_is_news_where_it_moves_by_more_than_it_scatters(now: Phase, news: bool) -> None:
    before = Phase("pays", ("draft",), 3.0, rate=0.67, n_drafts=30)
    assert is_news(before, now) is news
    assert is_news(None, now)


def test_the_log_stays_calm_while_steps_only_scatter() -> None:
    log, shown = DecisionLog(), set()
    for i in range(400):
        scattered: Reason = "expensive" if i % 2 else "nothing"
        log.push(step(scattered) if i % 7 == 3 else step(n=3 + i % 2))
        if i >= RECENT_STEPS:
            stats = at(1.5 + 0.02 * (i % 3), 1.2 - 0.05 * (i % 2), 1.9)
            log.judge(stats=stats, report=None, has_ended=False)
            shown.add(log.phase)
    assert len(shown) == 1


def test_no_sentence_stays_beside_a_ratio_that_it_contradicts() -> None:
    log = DecisionLog()
    for each in steps(pays=32):
        log.push(each)
    for stats, kind, text in (
        (GAIN, "pays", "1.5×"), (at(1.8, 1.4, 2.0), "pays", "1.8×"), (PERHAPS, "even", ""),
        (LOSS, "loses", "0.8×"), (GAIN, "pays", "1.5×"),
    ):  # fmt: skip
        log.judge(stats=stats, report=None, has_ended=False)
        assert log.phase is not None
        assert (log.phase.kind, log.phase.ratio_text) == (kind, text)


def test_another_phase_is_shown_when_it_is_news_twice_and_in_the_end_of_all_steps() -> None:
    log, shown = DecisionLog(), []
    for part in (steps(pays=32), steps(nothing=32), steps(nothing=1)):
        for each in part:
            log.push(each)
        log.judge(stats=PERHAPS, report=None, has_ended=False)
        shown.append(log.phase.kind if log.phase else "")
    assert shown == ["even", "even", "nothing"]
    log.judge(stats=PERHAPS, report=None, has_ended=True)
    assert log.phase == phase_of_whole(log.whole, stats=PERHAPS)
    assert (log.phase.kind, log.phase.has_ended) == ("even", True)
    log.clear()
    assert log.phase is None


def test_steps_without_a_decision_are_left_out() -> None:
    log = DecisionLog()
    log.push(StepCommitted(1, (), "", (), 0, 0, 0, 0))
    log.judge(stats=None, report=None, has_ended=False)
    assert log.whole.n_steps == 0
    assert log.phase is None
