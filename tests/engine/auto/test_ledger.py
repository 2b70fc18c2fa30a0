"""The ledger keeps the promise for anyone who obeys it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.engine.auto.ledger import Ledger
from paceline.engine.auto.tuning import TUNING


@given(
    st.lists(st.tuples(st.integers(1, 9), st.floats(0.1, 9.0)), min_size=1, max_size=200),
    st.floats(0.0, 100.0),
)
def test_steps_that_it_covers_keep_the_promise(
    wishes: list[tuple[int, float]], prefill: float
) -> None:
    """Steps that could be losses are made only when the slack covers them."""
    ledger, spent, plain = Ledger(prefill), 0.0, 0.0
    for n_good, loss in wishes:
        is_covered = ledger.slack(1.0) >= loss
        seconds = 1.0 + loss if is_covered else 1.0
        n = 1 if is_covered else n_good  # what is no loss may bring many tokens
        ledger.book(n, seconds, 1.0)
        spent, plain = spent + seconds, plain + n
        assert (
            spent
            <= (1 + TUNING.promised_share) * plain
            + 4
            + (TUNING.promised_share + TUNING.reading_share) * prefill
        )


def test_the_prompt_lends_a_share_of_what_its_prefill_took() -> None:
    assert Ledger(100.0).slack(1.0) == pytest.approx(
        TUNING.allowance_steps + 100 * (TUNING.promised_share + TUNING.reading_share)
    )


def test_the_steps_that_may_be_lost_are_those_of_the_reply_so_far() -> None:
    """A machine that gets slower lends no more, and one that gets faster no less."""
    ledger = Ledger()
    for plain in (0.25, 1.0, 4.0):
        assert ledger.slack(plain) == TUNING.allowance_steps * plain
    ledger.book(10, 10.0, 1.0)
    for plain in (0.25, 1.0, 4.0):
        assert ledger.slack(plain) == pytest.approx(
            10 * TUNING.promised_share + TUNING.allowance_steps
        )
