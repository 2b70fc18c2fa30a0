"""The guide's plots are those that the script draws, and what the guide says of them holds."""

from __future__ import annotations

import pytest

import guide_plots
from guide_plots import DRAFT, LENGTHS, best_gain, curve, gain, measured


def test_the_plots_are_up_to_date() -> None:
    for name, svg in guide_plots.all_plots():
        file = guide_plots.OUT / name
        assert file.read_text(encoding="utf-8") == svg, "run python packaging/guide_plots.py"


def test_costs_are_relative_to_a_plain_step_of_the_same_kernels() -> None:
    cost = curve({1: 0.5, 2: 0.6, 4: 1.0})
    assert [cost(n) for n in (1, 2, 3, 4)] == pytest.approx([1.0, 1.2, 1.6, 2.0])
    with pytest.raises(ValueError, match="wider"):
        cost(5)
    assert gain(lambda _n: 1.0, 0.5, 2) == pytest.approx(1.75)
    assert gain(lambda _n: 1.0, 1.0, 3, 0.5) == pytest.approx(4 / 2.5)


def test_what_the_guide_says_of_the_plots() -> None:
    kind = measured()["SmolLM2-135M Q8_0"]
    own, stock = curve(kind.own), curve(kind.stock)

    def best_length(chance: float) -> int:
        return max(LENGTHS, key=lambda n: gain(own, chance, n, DRAFT))

    assert best_length(0.5) == 2
    assert gain(own, 0.5, 8, DRAFT) < 1, "eight are a loss"
    assert best_length(0.95) == 11
    assert min(gain(own, 0.95, n, DRAFT) for n in (9, 10, 12, 13)) > 0.95 * gain(
        own, 0.95, 11, DRAFT
    )
    assert stock(4) == pytest.approx(5.3, abs=0.1)
    assert best_gain(stock, 0, 0.88) == 1.0
    assert best_gain(stock, 0, 0.90) > 1.05
    kinds = measured()
    checked = {name: kinds[name].stock[4] for name in ("Q8_0", "Q4_0", "Q4_K", "Q5_K", "Q6_K")}
    assert min(checked, key=lambda name: checked[name]) == "Q4_0"
    ours = [round(curve(kinds[name].own)(4), 1) for name in checked]
    assert (min(ours), max(ours)) == (1.3, 1.4)
