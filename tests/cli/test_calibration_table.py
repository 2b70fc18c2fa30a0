"""The acceptance from which on drafts pay, computed from costs."""

from __future__ import annotations

import pytest

from paceline.cli.calibrate import break_even, conclusion, rows_of
from paceline.messages import WidthCost


def costs(*seconds: float) -> list[WidthCost]:
    """Costs of 1, 2, 3, … tokens."""
    return [WidthCost(width, s, 3) for width, s in enumerate(seconds, 1)]


@pytest.mark.parametrize("share", [0.05, 0.3, 0.5, 0.77, 0.95])
@pytest.mark.parametrize("width", [2, 3, 4, 9, 33])
def test_the_break_even_is_where_a_step_commits_what_plain_decoding_does(
    width: int, share: float
) -> None:
    committed = (1 - share**width) / (1 - share)
    assert break_even(width, committed) == pytest.approx(share, abs=1e-6)


@pytest.mark.parametrize(
    ("width", "ratio", "expected"),
    [(2, 2.0, None), (2, 2.5, None), (4, 4.0, None), (2, 1.0, 0.0), (2, 0.9, 0.0), (1, 1.0, 0.0)],
)
def test_the_ends(width: int, ratio: float, expected: float | None) -> None:
    assert break_even(width, ratio) == expected


def test_rows_are_the_widths_in_order() -> None:
    given = [WidthCost(4, 0.02, 2), WidthCost(1, 0.01, 2)]
    rows = rows_of(given, 0.0)
    assert [(r.tokens, r.ratio, r.seconds_per_token) for r in rows] == [
        (1, 1.0, 0.01),
        (4, 2.0, 0.005),
    ]
    assert rows_of(given[:1], 0.0) == []
    assert rows_of([], 0.0) == []


def test_drafting_costs_time_too() -> None:
    free, drafted = (rows_of(costs(0.01, 0.012), s)[1].break_even for s in (0.0, 0.003))
    assert free == pytest.approx(0.2)
    assert drafted == pytest.approx(0.5)


def test_the_conclusion_says_from_where_on_drafts_pay() -> None:
    text = conclusion(rows_of(costs(0.01, 0.011, 0.012, 0.013), 0.002), 0.002)
    assert "drafts of 3 tokens pay where more than" in text
    assert "lookup" in text
    text = conclusion(rows_of(costs(0.01, 0.011, 0.012, 0.013), 0.0), 0.0)
    assert "drafts of 3 tokens pay where more than 23% are accepted, if a lookup" in text


def test_the_conclusion_of_a_draft_model_that_is_too_slow() -> None:
    rows = rows_of(costs(0.01, 0.011, 0.012, 0.013), 0.02)
    text = conclusion(rows, 0.02)
    assert "pay where more than 23% are accepted if a lookup gives them" in text
    assert "drafting by a model takes too long" in text


def test_the_conclusion_where_other_lengths_pay() -> None:
    """A mixture of experts whose second token is expensive, and whose eighth is not."""
    rows = rows_of([WidthCost(1, 0.01, 2), WidthCost(2, 0.02, 2), WidthCost(8, 0.03, 2)], 0.0)
    assert "drafts pay only in other lengths than 1" in conclusion(rows, 0.0)


def test_the_conclusion_where_nothing_can_pay() -> None:
    assert "speculation cannot pay" in conclusion(rows_of(costs(0.01, 0.02, 0.03), 0.0), 0.0)


def test_the_conclusion_of_a_context_that_holds_one_token() -> None:
    assert "nothing can be said" in conclusion(rows_of(costs(0.01), 0.0), 0.0)
