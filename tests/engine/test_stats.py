"""The figures of a reply."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.engine.stats import DrafterMeter, TurnMeter
from paceline.figures import Sameness


def test_a_clock_that_stands_still_is_no_division_by_zero() -> None:
    meter = TurnMeter()
    meter.n_generated = 3
    assert meter.freeze().tokens_per_s == 3e9


def test_a_drafters_counts() -> None:
    meter = DrafterMeter(n_begin=1, n_draft=5, n_accept=4, begin_s=0.1, draft_s=0.2, accept_s=0.3)
    for n_drafted, n_accepted in [(2, 2), (4, 1), (3, 0), (1, 1)]:
        meter.count_draft(n_drafted, n_accepted)
    stats = meter.freeze("draft")
    assert stats.drafter == "draft"
    assert (stats.n_begin, stats.n_draft, stats.n_accept) == (1, 5, 4)
    assert (stats.begin_s, stats.draft_s, stats.accept_s) == (0.1, 0.2, 0.3)
    assert (stats.drafts, stats.drafts_accepted) == (4, 3)
    assert (stats.tokens, stats.tokens_accepted) == (10, 4)
    assert stats.accepted_per_position == (3, 1, 0, 0)


COUNTS = st.integers(0, 20).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))


@given(st.lists(COUNTS, max_size=20))
def test_the_places_add_up(counts: list[tuple[int, int]]) -> None:
    meter = DrafterMeter()
    for n_drafted, n_accepted in counts:
        meter.count_draft(n_drafted, n_accepted)
    stats = meter.freeze("x")
    places = stats.accepted_per_position
    assert sum(places) == stats.tokens_accepted == sum(a for _, a in counts)
    assert list(places) == sorted(places, reverse=True)  # accepted tokens are a prefix
    assert len(places) == max((n for n, _ in counts), default=0)
    assert all(places[i] == sum(a > i for _, a in counts) for i in range(len(places)))


def test_a_frozen_message_stays_as_it_is() -> None:
    meter = DrafterMeter()
    meter.count_draft(1, 1)
    stats = meter.freeze("x")
    meter.count_draft(1, 1)
    assert (stats.tokens, stats.accepted_per_position) == (1, (1,))


def turn() -> TurnMeter:
    meter = TurnMeter()
    meter.n_prompt, meter.n_reused = 30, 20
    meter.n_generated, meter.n_steps, meter.n_discarded = 9, 4, 2
    meter.prefill_s, meter.decode_s, meter.native_s = 0.5, 1.5, 1.2
    meter.drafter("draft").count_draft(6, 3)
    meter.drafter("draft").count_draft(2, 1)
    meter.drafter("prompt-lookup").count_draft(4, 2)
    return meter


def test_a_turns_figures() -> None:
    meter = turn()
    for _ in range(4):
        meter.plain.add(1, 0, 1, 0.25, warm=True)
    stats = meter.freeze(Sameness(True, 408, 0.25, False, ""))
    assert stats.batch_invariant is True
    assert (stats.n_rows_compared, stats.logit_difference) == (408, 0.25)
    assert (stats.n_prompt, stats.n_reused, stats.n_generated) == (30, 20, 9)
    assert (stats.prefill_s, stats.decode_s, stats.total_s) == (0.5, 1.5, 2.0)
    assert stats.tokens_per_s == pytest.approx(6)
    assert stats.plain_tokens_per_s == pytest.approx(9)  # of what was counted of its nine tokens
    assert stats.plain_low is not None
    assert stats.plain_high is not None
    assert stats.plain_low < 9 < stats.plain_high
    assert (stats.n_steps, stats.n_drafted, stats.n_accepted, stats.n_discarded) == (4, 12, 6, 2)
    assert stats.acceptance_rate == pytest.approx(6 / 10)  # discarded ones were never judged
    assert stats.mean_committed_per_step == pytest.approx(2)  # the prefill's token is no step's
    assert stats.overhead_s == pytest.approx(0.3)
    assert [d.drafter for d in stats.by_drafter] == ["draft", "prompt-lookup"]
    assert [d.tokens for d in stats.by_drafter] == [8, 4]


def test_nothing_to_divide_by() -> None:
    stats = TurnMeter().freeze()
    assert stats.acceptance_rate is None
    assert stats.mean_committed_per_step is None
    assert stats.plain_tokens_per_s is None
    assert stats.by_drafter == ()


def test_what_was_drafted_and_never_judged_has_no_rate() -> None:
    meter = TurnMeter()
    meter.drafter("draft").count_draft(3, 0)
    meter.n_discarded = 3
    assert meter.freeze().acceptance_rate is None


def test_the_overhead_is_never_negative() -> None:
    meter = turn()
    meter.native_s = 9.0
    assert meter.freeze().overhead_s == 0
