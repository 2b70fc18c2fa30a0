"""Steps without a decision, where deciding costs more than it may."""

from __future__ import annotations

import pytest

from paceline.engine.rest import SHARE, Rest


def share_of_decided(
    own_s: float, step_s: float, n: int = 400, *, is_doubtful: bool = False
) -> float:
    rest = Rest(is_doubtful=is_doubtful)
    n_decided = 0
    for _ in range(n):
        if not rest.takes_step():
            n_decided += 1
            rest.came_to_nothing(own_s, step_s)
    return n_decided / n


def test_no_step_is_passed_over_where_deciding_costs_next_to_nothing() -> None:
    assert share_of_decided(50e-6, 15e-3) == 1.0


@pytest.mark.parametrize("own_s", [30e-6, 60e-6, 120e-6])
def test_deciding_takes_one_hundredth_at_most(own_s: float) -> None:
    step_s = 1.5e-3
    spent = share_of_decided(own_s, step_s, 4_000) * own_s
    assert 0.4 * SHARE * step_s < spent < 1.05 * SHARE * step_s


def test_the_first_steps_are_all_decided_on_and_so_are_those_behind_a_draft() -> None:
    rest = Rest()
    for _ in range(2):
        for _ in range(16):
            assert not rest.takes_step()
            rest.came_to_nothing(1e-3, 1e-3)
        assert [rest.takes_step() for _ in range(17)] == [True] * 16 + [False]
        rest.came_to_nothing(1e-3, 1e-3)
        rest.ends()


def test_where_little_is_expected_deciding_takes_less_from_the_beginning() -> None:
    usual = share_of_decided(60e-6, 1.5e-3, 100)
    assert share_of_decided(60e-6, 1.5e-3, 100, is_doubtful=True) < 0.4 * usual
    assert share_of_decided(60e-6, 50e-3, is_doubtful=True) == 1.0


def test_a_step_without_time_says_nothing() -> None:
    rest = Rest()
    for _ in range(40):
        assert not rest.takes_step()
        rest.came_to_nothing(1e-3, 0.0)


def test_it_waits_as_long_as_nothing_could_be_covered() -> None:
    rest = Rest()
    rest.waits(3)
    assert [rest.takes_step() for _ in range(4)] == [True] * 3 + [False]
    rest.waits(1_000)  # but the text may change
    assert sum(rest.takes_step() for _ in range(100)) == 16
    rest.waits(0)
    assert not rest.takes_step()
