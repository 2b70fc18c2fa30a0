"""The figures of steps, the live plot with its controls, and the time bar."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from msgspec import structs
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QApplication, QWidget

from gui.fake_client import STATS, plain_step, step_of, undrafted, without_plain
from paceline.engine.draft import registry
from paceline.gui.look.colours import DARK, LIGHT
from paceline.gui.look.current import look
from paceline.gui.plot.plot_canvas import ticks
from paceline.gui.plot.plot_words import spoken
from paceline.gui.plot.speed_plot import SpeedPlot
from paceline.gui.state.metrics import MAX_PLACES, RATE_STEPS, StepMetrics
from paceline.gui.state.sources import Sources

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot


@pytest.fixture
def metrics() -> StepMetrics:
    return StepMetrics(Sources(registry.available()))


def fill(metrics: StepMetrics, n_steps: int, drafter: str = "draft") -> None:
    metrics.push(step_of("x", 0))
    for number in range(1, n_steps + 1):
        metrics.push(step_of("xyz", number, drafter=drafter))


# ---------------------------------------------------------------------------------------- metrics


def test_the_speed_is_tokens_over_seconds_and_at_a_step_of_the_last_ones(
    metrics: StepMetrics,
) -> None:
    fill(metrics, 100)  # three tokens in 20 ms each
    assert metrics.speed_at(99) == pytest.approx(150)
    for number in range(101, 101 + RATE_STEPS):
        metrics.push(plain_step(number))  # one token in 50 ms each
    assert metrics.speed_at(99 + RATE_STEPS) == pytest.approx(20)
    seconds = metrics.times.total_s
    assert seconds > 100 * 0.02 + RATE_STEPS * 0.05 - 1e-9
    assert metrics.tokens_per_s == pytest.approx(metrics.n_tokens / seconds)
    rates = metrics.window(200).tokens_per_s
    assert rates[:100] == pytest.approx(150)
    assert np.all(np.diff(rates[99:]) < 0)


@pytest.mark.parametrize("n_steps", [511, 512, 513, 5000])
def test_every_step_is_kept_and_a_part_of_them_is_given(metrics: StepMetrics, n_steps: int) -> None:
    metrics.push(step_of("x", 0))
    for number in range(1, n_steps + 1):
        metrics.push(step_of("x", number, n_rejected=number % 7))
    newest = metrics.window(200)
    assert newest.first + 200 == metrics.n_steps == n_steps
    expected = [2 + number % 7 for number in range(n_steps - 199, n_steps + 1)]
    assert newest.drafted.tolist() == expected
    oldest = metrics.window(10, 0)
    assert oldest.drafted.tolist() == [2 + number % 7 for number in range(1, 11)]
    assert metrics.window(10, n_steps).first == n_steps - 10


@pytest.mark.parametrize("n_steps", [399, 400, 401, 5003])
def test_a_long_reply_shares_places(metrics: StepMetrics, n_steps: int) -> None:
    metrics.push(step_of("x", 0))
    for number in range(1, n_steps + 1):
        metrics.push(step_of("x", number, n_rejected=number % 7))
    whole = metrics.window(n_steps)
    n_places = len(whole.drafted)
    assert n_places <= MAX_PLACES
    assert (n_places - 1) * whole.per_place < n_steps <= n_places * whole.per_place
    sizes = np.full(n_places, whole.per_place)
    sizes[-1] = n_steps - (n_places - 1) * whole.per_place
    assert float((whole.drafted * sizes).sum()) == pytest.approx(metrics.whole.tokens)
    assert float((whole.accepted * sizes).sum()) == pytest.approx(metrics.whole.tokens_accepted)
    assert whole.tokens_per_s[-1] == pytest.approx(150)
    assert whole.steps[0] == pytest.approx((whole.per_place - 1) / 2)


# ------------------------------------------------------------------------------------------- plot


@pytest.fixture
def plot(metrics: StepMetrics, qtbot: QtBot) -> Iterator[SpeedPlot]:
    # As a window of its own it would have a fixed height, which the offscreen platform regrets.
    holder = QWidget()
    qtbot.addWidget(holder)
    holder.resize(320, 300)
    plot = SpeedPlot(metrics, Sources(registry.available()), parent=holder)
    plot.resize(320, 300)
    holder.show()
    yield plot
    holder.close()


def heights(bars: object) -> list[float]:
    return list(map(float, bars.opts["height"]))  # type: ignore[attr-defined]


def test_the_bars_show_drafted_behind_accepted_behind_the_models_part(
    plot: SpeedPlot, metrics: StepMetrics
) -> None:
    metrics.push(step_of("x", 0))
    metrics.push(step_of("x", 1, drafter="draft"))
    metrics.push(step_of("x", 2, drafter="prompt-lookup"))
    plot.hide()
    plot.refresh(None)
    assert heights(plot.drafted) == []
    plot.show()  # a hidden plot draws when it is shown
    assert heights(plot.drafted) == [3, 3]
    assert heights(plot.accepted) == [2, 2]
    assert heights(plot.by_model) == [2, 0]
    for theme in (LIGHT, DARK):
        look.set_mode("dark" if theme is DARK else "light")
        colours = [bars.opts["brush"] for bars in (plot.by_model, plot.accepted, plot.drafted)]
        assert colours == [theme.accent, theme.lookup, theme.rejected]


# --------------------------------------------------------------------------------------- controls


def steps_of(plot: SpeedPlot) -> tuple[float, float]:
    first, last = plot.bars_canvas.box.viewRange()[0]
    return first + 0.5, last + 0.5


def wheel(plot: SpeedPlot, turned: int, modifiers: Qt.KeyboardModifier) -> bool:
    """Turn the wheel over the bars; whether the plot took it."""
    at = QPointF(plot.bars_canvas.viewport().rect().center())
    there = plot.bars_canvas.viewport().mapToGlobal(at)
    none = Qt.MouseButton.NoButton
    event = QWheelEvent(
        at, there, QPoint(), QPoint(0, turned), none, modifiers, Qt.ScrollPhase.NoScrollPhase, False
    )
    QApplication.sendEvent(plot.bars_canvas.viewport(), event)
    return event.isAccepted()


def test_neither_the_prefill_nor_a_long_first_draft_sets_the_scale(metrics: StepMetrics) -> None:
    metrics.push(structs.replace(step_of("x", 0), total_s=0.0001))  # it costs no decode
    metrics.push(step_of("x", 1))
    metrics.push(step_of("abcdefghijklmnop", 2))
    for number in range(3, 60):
        metrics.push(plain_step(number))  # one token in 50 ms each
    rates = metrics.window(100).tokens_per_s
    assert rates[0] == rates[4]
    assert rates[-1] == pytest.approx(20)


def test_the_time_window_is_chosen_in_a_menu(plot: SpeedPlot, metrics: StepMetrics) -> None:
    fill(metrics, 500)
    plot.refresh(None)
    for action, expected in zip(plot.tools.spans, (40, 80, 200, 500), strict=True):
        action.trigger()
        first, last = steps_of(plot)
        assert (last - first, last) == (expected, 500)


@pytest.mark.qt_log_ignore("This plugin does not support raise")  # of the tooltip
def test_the_wheel_zooms_with_ctrl_and_is_the_panel_s_without(
    plot: SpeedPlot, metrics: StepMetrics
) -> None:
    fill(metrics, 500)
    plot.refresh(None)
    plot.bars_canvas.pointed.emit(470)
    assert list(plot.bars_canvas.marker.opts["x"]) == [470]
    assert not wheel(plot, 120, Qt.KeyboardModifier.NoModifier)
    assert steps_of(plot) == (420, 500)
    assert not len(plot.bars_canvas.marker.opts["x"]), "it is scrolled away from the pointer"
    assert wheel(plot, 120, Qt.KeyboardModifier.ControlModifier)
    assert steps_of(plot) == (436, 500)
    assert wheel(plot, -120, Qt.KeyboardModifier.ControlModifier)
    assert steps_of(plot) == (420, 500)


def test_the_end_of_a_reply_is_reported_in_words(plot: SpeedPlot, metrics: StepMetrics) -> None:
    fill(metrics, 10)
    plot.refresh(20.0)
    assert plot.bars_canvas.accessibleDescription() == ""
    sources = Sources(registry.available())
    for stats, figures in (
        (STATS, ("20 of 30", "41.2", "1.9×")), (without_plain(), ("20 of 30", "41.2")),
        (None, ("20 of 30", "141")),  # it failed
    ):  # fmt: skip
        words = spoken(metrics, sources, stats)
        assert all(figure in words for figure in figures)
        assert ("×" in words) == (stats is STATS)
    assert "41.2" in spoken(StepMetrics(sources), sources, undrafted())
    plot.refresh(20.0, words)
    assert plot.bars_canvas.accessibleDescription() == words


@pytest.mark.parametrize(
    ("top", "values"),
    [(4, [0, 2, 4]), (7, [0, 5]), (16, [0, 10]), (45.2, [0, 20, 40]), (0.8, [0, 0.5]),
     (150, [0, 50, 100, 150]), (1, [0, 0.5, 1]), (1300, [0, 500, 1000])],
)  # fmt: skip
def test_an_axis_has_few_round_numbers(top: float, values: list[float]) -> None:
    assert ticks(top) == pytest.approx(values)


def test_dragging_moves_what_is_held_or_has_ended(
    plot: SpeedPlot, metrics: StepMetrics, qtbot: QtBot
) -> None:
    fill(metrics, 500)
    plot.refresh(None)
    canvas, left, at = plot.bars_canvas.viewport(), Qt.MouseButton.LeftButton, QPoint(150, 30)
    moved = []
    for is_paused in (False, True):
        plot.tools.pause.setChecked(is_paused)
        qtbot.mousePress(canvas, left, pos=at)
        to = QPoint(250, 30)
        event = QMouseEvent(
            QEvent.Type.MouseMove, QPointF(to), QPointF(canvas.mapToGlobal(to)), left, left,
            Qt.KeyboardModifier.NoModifier,
        )  # fmt: skip
        QApplication.sendEvent(canvas, event)
        qtbot.mouseRelease(canvas, left, pos=to)
        moved.append(steps_of(plot) != (420, 500))
    assert moved == [False, True]


@pytest.mark.qt_log_ignore("does not support raise")
def test_everything_by_keys(plot: SpeedPlot, metrics: StepMetrics, qtbot: QtBot) -> None:
    fill(metrics, 500)
    plot.refresh(None)
    canvas = plot.bars_canvas
    assert canvas.focusPolicy() == Qt.FocusPolicy.TabFocus
    canvas.setFocus()
    qtbot.keyClick(canvas, Qt.Key.Key_Space)
    assert plot.range.is_paused
    qtbot.keyClick(canvas, Qt.Key.Key_PageUp)
    assert steps_of(plot) == (410, 490)
    qtbot.keyClick(canvas, Qt.Key.Key_Plus)
    assert steps_of(plot) == (426, 490)
    qtbot.keyClick(canvas, Qt.Key.Key_Left)
    qtbot.keyClick(canvas, Qt.Key.Key_Left)
    assert "Step 489" in canvas.accessibleDescription()
    qtbot.keyClick(canvas, Qt.Key.Key_0)
    qtbot.keyClick(canvas, Qt.Key.Key_Space)
    assert steps_of(plot) == (420, 500)
