"""Ring buffers and the live plot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtWidgets import QWidget

from gui.fake_client import plain_step, step_of
from paceline.engine.drafters import registry
from paceline.gui.theme import DARK, LIGHT
from paceline.gui.viewmodels.metrics import CAPACITY, RATE_STEPS, StepMetrics, TimeShares
from paceline.gui.viewmodels.sources import Sources
from paceline.gui.widgets.speed_plot import FEW_STEPS, SHOWN_STEPS, SpeedPlot
from paceline.gui.widgets.time_bar import TimeBar
from paceline.messages import DraftCount, StepCommitted, TokenTrace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot


@pytest.fixture
def metrics() -> StepMetrics:
    return StepMetrics(Sources(registry.available()))


def fill(metrics: StepMetrics, n_steps: int, drafter: str = "draft") -> None:
    metrics.push(step_of("t", "x", 0))
    for number in range(1, n_steps + 1):
        metrics.push(step_of("t", "xyz", number, drafter=drafter))


# ---------------------------------------------------------------------------------------- metrics


def test_an_empty_reply_has_no_figures(metrics: StepMetrics) -> None:
    window = metrics.window(100)
    assert [len(a) for a in (window.drafted, window.accepted, window.tokens_per_s)] == [0, 0, 0]
    assert metrics.tokens_per_s is None
    assert metrics.plain_tokens_per_s is None
    assert metrics.acceptance_rate is None
    assert metrics.times == TimeShares()


def test_steps_are_counted_by_the_family_of_the_drafter(metrics: StepMetrics) -> None:
    metrics.push(step_of("t", "x", 0))
    metrics.push(step_of("t", "x", 1, drafter="draft"))
    metrics.push(step_of("t", "x", 2, drafter="prompt-lookup"))
    metrics.push(step_of("t", "x", 3, drafter="plugin.unknown"))
    metrics.push(plain_step("t", 4))
    window = metrics.window(100)
    assert window.drafted.tolist() == [3, 3, 3, 0]
    assert window.accepted.tolist() == [2, 2, 2, 0]
    assert window.by_model.tolist() == [2, 0, 0, 0]
    assert (metrics.n_drafted, metrics.n_accepted, metrics.n_tokens) == (9, 6, 11)
    assert metrics.acceptance_rate == pytest.approx(6 / 9)


def chain_step(number: int) -> StepCommitted:
    """The draft model gave three tokens, a lookup four behind them; five of them were accepted."""
    traces = (
        *(TokenTrace(i, "draft", i, 0.9, number) for i in range(3)),
        *(TokenTrace(i, "prompt-lookup", i, None, number) for i in (3, 4)),
        TokenTrace(9, "target", -1, None, number),
    )
    counts = (DraftCount("prompt-lookup", 4, 2, 1), DraftCount("draft", 3, 3))
    return StepCommitted("t", number, traces, "x", counts, 0.004, 0.012, 0.001, 0.02)


def test_several_drafters_of_one_step_are_told_apart(metrics: StepMetrics) -> None:
    metrics.push(step_of("t", "x", 0))
    metrics.push(chain_step(1))
    metrics.push(chain_step(2))
    window = metrics.window(10)
    assert window.drafted.tolist() == [7, 7]
    assert window.accepted.tolist() == [5, 5]
    assert window.by_model.tolist() == [3, 3]
    lookup, model = metrics.tallies["prompt-lookup"], metrics.tallies["draft"]
    assert (lookup.drafts, lookup.drafted, lookup.accepted, lookup.discarded) == (2, 8, 4, 2)
    assert (model.drafts_accepted, model.drafted, model.accepted) == (2, 6, 6)
    assert lookup.per_position == [0, 0, 0, 2, 2]
    assert model.per_position == [2, 2, 2]
    assert lookup.acceptance_rate == pytest.approx(4 / 6)
    assert metrics.acceptance_rate == pytest.approx(10 / 12)


def test_the_speed_is_tokens_over_seconds_of_the_last_steps(metrics: StepMetrics) -> None:
    fill(metrics, 100)  # three tokens in 20 ms each
    assert metrics.tokens_per_s == pytest.approx(150)
    for number in range(101, 101 + RATE_STEPS):
        metrics.push(plain_step("t", number))  # one token in 50 ms each
    assert metrics.tokens_per_s == pytest.approx(20)
    rates = metrics.window(200).tokens_per_s
    assert rates[:100] == pytest.approx(150)
    assert np.all(np.diff(rates[99:]) < 0)


def test_the_plain_speed_needs_four_plain_steps(metrics: StepMetrics) -> None:
    for number in range(1, 4):
        metrics.push(plain_step("t", number))
    assert metrics.plain_tokens_per_s is None
    metrics.push(plain_step("t", 4))
    assert metrics.plain_tokens_per_s == pytest.approx(20)


def test_the_time_is_shared_out_completely(metrics: StepMetrics) -> None:
    fill(metrics, 10)
    times = metrics.times
    assert times.total_s == pytest.approx(0.02 * 11)
    assert (times.verify_s, times.draft_s) == (pytest.approx(0.12), pytest.approx(0.04))
    assert times.sample_s == pytest.approx(0.011)


@pytest.mark.parametrize("n_steps", [CAPACITY - 1, CAPACITY, CAPACITY + 1, 3 * CAPACITY + 17])
def test_the_buffers_keep_the_newest_steps_and_do_not_grow(
    metrics: StepMetrics, n_steps: int
) -> None:
    metrics.push(step_of("t", "x", 0))
    for number in range(1, n_steps + 1):
        metrics.push(step_of("t", "x", number, n_rejected=number % 7))
    window = metrics.window(10**6)
    n = len(window.drafted)
    assert n <= CAPACITY
    assert window.first + n == metrics.n_steps == n_steps
    expected = [2 + number % 7 for number in range(n_steps - n + 1, n_steps + 1)]
    assert window.drafted.tolist() == expected
    assert window.tokens_per_s[-1] == pytest.approx(150)


def test_clearing_forgets_everything(metrics: StepMetrics) -> None:
    fill(metrics, 50)
    metrics.clear()
    assert (metrics.n_steps, metrics.n_tokens, metrics.tokens_per_s) == (0, 0, None)
    fill(metrics, 3)
    assert metrics.window(10).drafted.tolist() == [3, 3, 3]


# ------------------------------------------------------------------------------------------- plot


@pytest.fixture
def plot(metrics: StepMetrics, qtbot: QtBot) -> Iterator[SpeedPlot]:
    # As a window of its own it would have a fixed height, which the offscreen platform regrets.
    holder = QWidget()
    qtbot.addWidget(holder)
    holder.resize(320, 300)
    plot = SpeedPlot(metrics, Sources(registry.available()), LIGHT, holder)
    plot.resize(320, 300)
    holder.show()
    yield plot
    holder.close()


def heights(bars: object) -> list[float]:
    return list(map(float, bars.opts["height"]))  # type: ignore[attr-defined]


def test_the_bars_show_drafted_behind_accepted_behind_the_models_part(
    plot: SpeedPlot, metrics: StepMetrics
) -> None:
    metrics.push(step_of("t", "x", 0))
    metrics.push(step_of("t", "x", 1, drafter="draft"))
    metrics.push(step_of("t", "x", 2, drafter="prompt-lookup"))
    plot.refresh(None)
    assert heights(plot.drafted) == [3, 3]
    assert heights(plot.accepted) == [2, 2]
    assert heights(plot.by_model) == [2, 0]
    colours = [bars.opts["brush"] for bars in (plot.by_model, plot.accepted, plot.drafted)]
    assert colours == [LIGHT.accent, LIGHT.lookup, LIGHT.rejected]


def test_the_legend_names_the_drafters_of_the_reply(plot: SpeedPlot, metrics: StepMetrics) -> None:
    assert "draft&nbsp;model" in plot.legend
    metrics.push(step_of("t", "x", 0))
    metrics.push(chain_step(1))
    plot.refresh(None)
    model, lookup, rejected = plot.legend.split("&nbsp; ")[0::1]
    assert LIGHT.accent in model
    assert "Draft&nbsp;model" in model
    assert LIGHT.lookup in lookup
    assert "Prompt&nbsp;lookup" in lookup
    assert LIGHT.rejected in rejected


def test_one_colour_has_one_entry_in_the_legend(plot: SpeedPlot, metrics: StepMetrics) -> None:
    metrics.push(step_of("t", "x", 0))
    metrics.push(chain_step(1))
    metrics.push(step_of("t", "x", 2, drafter="suffix"))
    plot.refresh(None)
    assert [plot.legend.count(colour) for colour in (LIGHT.accent, LIGHT.lookup)] == [1, 1]
    assert "lookups" in plot.legend


def test_the_ranges_are_set_by_hand_and_follow_the_newest_steps(
    plot: SpeedPlot, metrics: StepMetrics
) -> None:
    fill(metrics, 500)
    plot.refresh(30.0)
    (left, right), (bottom, top) = plot.bars_range
    assert (left, right) == (500 - SHOWN_STEPS - 0.5, 499.5)
    assert bottom == 0
    assert top > 4
    metrics.clear()
    fill(metrics, 3)
    plot.refresh(30.0)
    assert plot.bars_range[0] == [-0.5, FEW_STEPS - 0.5]


def test_the_plain_estimate_is_a_dashed_line_or_nothing(
    plot: SpeedPlot, metrics: StepMetrics
) -> None:
    fill(metrics, 10)
    plot.refresh(33.3)
    assert set(plot.plain.getData()[1]) == {33.3}
    assert "33.3" in plot.plain_text
    plot.refresh(None)
    assert len(plot.plain.getData()[1]) == 0


def test_a_hidden_plot_draws_nothing(plot: SpeedPlot, metrics: StepMetrics) -> None:
    plot.hide()
    fill(metrics, 10)
    plot.refresh(None)
    assert heights(plot.drafted) == []
    plot.show()
    plot.refresh(None)
    assert len(heights(plot.drafted)) == 10


def test_another_theme_recolours_the_bars(plot: SpeedPlot) -> None:
    plot.set_theme(DARK)
    assert plot.by_model.opts["brush"] == DARK.accent


def test_a_refresh_is_cheap(plot: SpeedPlot, metrics: StepMetrics, qtbot: QtBot) -> None:
    from time import perf_counter

    fill(metrics, 2500)
    seconds = []
    for _ in range(30):
        began = perf_counter()
        plot.refresh(30.0)
        plot.grab()
        seconds.append(perf_counter() - began)
    median = sorted(seconds)[15]
    print(f"one refresh with painting: {median * 1000:.1f} ms")
    assert median < 0.1


# --------------------------------------------------------------------------------------- time bar


def test_the_time_bar_says_the_shares_in_words(qtbot: QtBot) -> None:
    bar = TimeBar(LIGHT)
    qtbot.addWidget(bar)
    bar.show_times(TimeShares(0.61, 0.27, 0.05, 0.07))
    text = bar.legend.text()
    assert [name in text for name in ("verify", "draft", "sampling", "rest")] == [True] * 4
    assert [figure in text for figure in ("61", "27", "5", "7")] == [True] * 4
    for source_colour in (LIGHT.accent, LIGHT.lookup, LIGHT.rejected):
        assert source_colour not in text
    bar.set_theme(DARK)
    assert DARK.time_verify in bar.legend.text()


def test_an_empty_time_bar_shows_no_figures(qtbot: QtBot) -> None:
    bar = TimeBar(LIGHT)
    qtbot.addWidget(bar)
    assert "%" not in bar.legend.text()
