"""Figures of Auto that the window draws: tables of costs, bars of acceptance."""

from __future__ import annotations

from gui.control_events import costs, outlook
from paceline.chat.auto_words import (
    MAX_COSTS_SHOWN,
    by_confidence,
    by_place,
    decision_rows,
    drafted_words,
    is_used,
    reasons_words,
    shown_costs,
)
from paceline.chat.decisions import mix_of


def test_without_decisions_nothing_is_said() -> None:
    mix = mix_of([])
    assert list(decision_rows(mix, str, None)) == []
    assert drafted_words(mix) == reasons_words(mix) == ""


def test_a_long_table_is_cut_to_the_widths_that_matter() -> None:
    shown = shown_costs(costs([1 + 0.1 * i for i in range(62)]))
    assert len(shown) == MAX_COSTS_SHOWN
    assert [cost.width for cost in shown][:6] == [1, 2, 3, 4, 5, 6]
    assert shown[-1].width == 62
    assert shown_costs(()) == shown_costs(costs((0.0, 0.0))) == []


def test_bars_are_as_sure_as_the_tokens_that_they_rest_on() -> None:
    places, classes = list(by_place(outlook())), list(by_confidence(outlook()))
    assert [bar.label for bar in places] == ["1", "2", "3", "4–5", "6–9", "10+"]
    assert places[0].weight == 900 > places[-1].weight
    assert [bar.label for bar in classes] == ["30", "50", "70", "85", "95", "100"]
    assert classes[0].weight == 2.0
    assert [is_used(o) for o in (outlook(), outlook(n_judged=0), outlook(is_open=False))] == [
        True, False, True,
    ]  # fmt: skip
