"""The figures of steps, the live plot with its controls, and the time bar."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from msgspec import structs
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QHelpEvent, QMouseEvent
from PySide6.QtWidgets import QApplication, QToolTip, QWidget

from gui.chat_help import wheel
from gui.fake_client import STATS, plain_step, step_of, undrafted, without_plain
from paceline.engine.draft import registry
from paceline.gui.look.colours import DARK, LIGHT
from paceline.gui.look.current import look
from paceline.gui.plot.bars import TimeBar
from paceline.gui.plot.plot_canvas import ticks
from paceline.gui.plot.plot_words import spoken
from paceline.gui.plot.speed_plot import PlotPicture, SpeedPlot
from paceline.gui.state.metrics import MAX_PLACES, RATE_STEPS, StepMetrics, TimeShares
from paceline.gui.state.sources import Sources
from paceline.messages import DraftCount, StepCommitted, TokenTrace

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


def test_steps_are_counted_by_the_family_of_the_drafter(metrics: StepMetrics) -> None:
    metrics.push(step_of("x", 0))
    metrics.push(step_of("x", 1, drafter="draft"))
    metrics.push(step_of("x", 2, drafter="prompt-lookup"))
    metrics.push(step_of("x", 3, drafter="plugin.unknown"))
    metrics.push(plain_step(4))
    window = metrics.window(100)
    assert window.drafted.tolist() == [3, 3, 3, 0]
    assert window.accepted.tolist() == [2, 2, 2, 0]
    assert window.by_model.tolist() == [2, 0, 0, 0]
    assert (metrics.whole.tokens, metrics.whole.tokens_accepted, metrics.n_tokens) == (9, 6, 11)
    assert metrics.whole.acceptance_rate == pytest.approx(6 / 9)


def chain_step(number: int) -> StepCommitted:
    """The draft model gave three tokens, and a lookup four after them; five were accepted."""
    traces = (
        *(TokenTrace(i, "draft", i, 0.9, number) for i in range(3)),
        *(TokenTrace(i, "prompt-lookup", i, None, number) for i in (3, 4)),
        TokenTrace(9, "target", -1, None, number),
    )
    counts = (DraftCount("prompt-lookup", 4, 2, 1), DraftCount("draft", 3, 3))
    return StepCommitted(number, traces, "x", counts, 0.004, 0.012, 0.001, 0.02)


def test_several_drafters_of_one_step_are_distinguished(metrics: StepMetrics) -> None:
    metrics.push(step_of("x", 0))
    metrics.push(chain_step(1))
    metrics.push(chain_step(2))
    window = metrics.window(10)
    assert window.drafted.tolist() == [7, 7]
    assert window.accepted.tolist() == [5, 5]
    assert window.by_model.tolist() == [3, 3]
    lookup, model = metrics.tallies["prompt-lookup"], metrics.tallies["draft"]
    assert (lookup.drafts, lookup.tokens, lookup.tokens_accepted) == (2, 8, 4)
    assert lookup.tokens_discarded == 2
    assert (model.drafts_accepted, model.tokens, model.tokens_accepted) == (2, 6, 6)
    assert lookup.accepted_per_position == [0, 0, 0, 2, 2]
    assert model.accepted_per_position == [2, 2, 2]
    assert lookup.acceptance_rate == pytest.approx(4 / 6)
    assert metrics.whole.acceptance_rate == pytest.approx(10 / 12)
    second = metrics.step(1)
    assert second is not None
    assert (second.step, len(second.tokens)) == (2, 6)
    assert [count.drafter for count in second.drafted] == ["prompt-lookup", "draft"]
    assert (metrics.step(2), metrics.step(-1)) == (None, None)


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


def test_clearing_forgets_everything(metrics: StepMetrics) -> None:
    fill(metrics, 50)
    times = metrics.times
    assert times.total_s == pytest.approx(0.02 * 51)
    assert (times.verify_s, times.draft_s) == (pytest.approx(0.6), pytest.approx(0.2))
    assert times.sample_s == pytest.approx(0.051)
    metrics.clear()
    assert (metrics.n_steps, metrics.n_tokens, metrics.tokens_per_s) == (0, 0, None)
    assert (metrics.whole.acceptance_rate, metrics.times) == (None, TimeShares())
    assert len(metrics.window(100).drafted) == 0
    fill(metrics, 3)
    assert metrics.window(10).drafted.tolist() == [3, 3, 3]


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


def test_the_legend_names_each_colour_of_the_reply_once(
    plot: SpeedPlot, metrics: StepMetrics
) -> None:
    colours = (LIGHT.accent, LIGHT.lookup, LIGHT.rejected)
    assert [plot.legend.text().count(colour) for colour in colours] == [1, 1, 1]
    assert not plot.tools.csv.isEnabled(), "there is nothing to export"
    metrics.push(step_of("x", 0))
    metrics.push(chain_step(1))
    metrics.push(step_of("x", 2, drafter="suffix"))
    plot.refresh(None)
    model, lookup, rejected = plot.legend.text().split("&nbsp; ")
    for part, colour, name in zip(
        (model, lookup, rejected), colours, ("Draft", "Lookup", ""), strict=True
    ):
        assert colour in part
        assert name in part
    assert plot.tools.csv.isEnabled()
    assert plot.tools.png.isEnabled()


def test_paused_the_plot_holds_until_another_reply(plot: SpeedPlot, metrics: StepMetrics) -> None:
    fill(metrics, 100)
    plot.refresh(None)
    plot.tools.pause.click()
    assert plot.bars_canvas.badge.isVisible()
    assert "100" in plot.bars_canvas.badge.text()
    for number in range(101, 151):
        metrics.push(plain_step(number))
    plot.refresh(None)
    assert steps_of(plot) == (20, 100)
    assert heights(plot.drafted)[-1] == 3
    plot.tools.pause.click()
    assert steps_of(plot) == (70, 150)
    assert not plot.bars_canvas.badge.isVisible()
    plot.tools.pause.click()
    metrics.clear()
    fill(metrics, 5)
    plot.refresh(None)
    assert not plot.tools.pause.isChecked()
    assert len(heights(plot.drafted)) == 5


def test_the_ranges_are_set_by_hand_and_follow_the_newest_steps(
    plot: SpeedPlot, metrics: StepMetrics
) -> None:
    fill(metrics, 500)
    plot.refresh(30.0)
    (left, right), (bottom, top) = plot.bars_canvas.box.viewRange()
    assert (left, right) == (500 - 80 - 0.5, 499.5)
    assert bottom == 0
    assert top > 4
    metrics.clear()
    fill(metrics, 3)
    plot.refresh(30.0)
    assert plot.bars_canvas.box.viewRange()[0] == [-0.5, 40 - 0.5]


def test_the_plain_estimate_is_a_dashed_line_or_nothing(
    plot: SpeedPlot, metrics: StepMetrics
) -> None:
    fill(metrics, 10)
    plot.refresh(33.3, plain_text="alone about 33")
    assert set(plot.plain.getData()[1]) == {33.3}
    assert plot.plain_words.text() == "- - alone about 33"
    plot.refresh(33.3)  # nothing is said of the gain, so neither is of this
    assert set(plot.plain.getData()[1]) == {33.3}
    assert plot.plain_words.text() == "- - alone"
    plot.refresh(None)
    assert len(plot.plain.getData()[1]) == 0


# --------------------------------------------------------------------------------------- controls


def steps_of(plot: SpeedPlot) -> tuple[float, float]:
    first, last = plot.bars_canvas.box.viewRange()[0]
    return first + 0.5, last + 0.5


def turn(plot: SpeedPlot, turned: int, modifiers: Qt.KeyboardModifier) -> bool:
    """Turn the wheel over the bars; return whether the plot took it."""
    canvas = plot.bars_canvas
    return wheel(canvas, canvas.viewport().rect().center(), 0, turned, modifiers)


def move(plot: SpeedPlot, x: int, held: Qt.MouseButton = Qt.MouseButton.NoButton) -> None:
    """Move the mouse over the bars, whatever window of another test lies above them."""
    canvas, at = plot.bars_canvas.viewport(), QPoint(x, 30)
    event = QMouseEvent(
        QEvent.Type.MouseMove, QPointF(at), QPointF(canvas.mapToGlobal(at)), held, held,
        Qt.KeyboardModifier.NoModifier,
    )  # fmt: skip
    QApplication.sendEvent(canvas, event)


def drag(qtbot: QtBot, plot: SpeedPlot, pixels: int) -> None:
    canvas = plot.bars_canvas.viewport()
    left = Qt.MouseButton.LeftButton
    at = QPoint(150, 30)
    qtbot.mousePress(canvas, left, pos=at)
    move(plot, 150 + pixels, left)
    qtbot.mouseRelease(canvas, left, pos=QPoint(150 + pixels, 30))


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


def test_the_wheel_zooms_with_ctrl_and_is_the_panel_s_without(
    plot: SpeedPlot, metrics: StepMetrics
) -> None:
    fill(metrics, 500)
    plot.refresh(None)
    plot.bars_canvas.pointed.emit(470)
    assert list(plot.bars_canvas.marker.opts["x"]) == [470]
    assert not turn(plot, 120, Qt.KeyboardModifier.NoModifier)
    assert steps_of(plot) == (420, 500)
    assert not len(plot.bars_canvas.marker.opts["x"]), "it is scrolled away from the pointer"
    assert turn(plot, 120, Qt.KeyboardModifier.ControlModifier)
    assert steps_of(plot) == (436, 500)
    assert turn(plot, -120, Qt.KeyboardModifier.ControlModifier)
    assert steps_of(plot) == (420, 500)


def test_dragging_moves_what_is_held_or_has_ended(
    plot: SpeedPlot, metrics: StepMetrics, qtbot: QtBot
) -> None:
    fill(metrics, 500)
    plot.refresh(None)
    drag(qtbot, plot, 100)
    assert steps_of(plot) == (420, 500)
    plot.refresh(None, "It has ended")
    drag(qtbot, plot, 100)
    first, last = steps_of(plot)
    assert first < 410
    assert last - first == 80
    canvas = plot.bars_canvas.viewport()
    qtbot.mouseDClick(canvas, Qt.MouseButton.LeftButton, pos=QPoint(50, 30))
    qtbot.mouseRelease(canvas, Qt.MouseButton.LeftButton, pos=QPoint(50, 30))
    assert steps_of(plot) == (420, 500)


def test_a_bar_says_what_it_is(plot: SpeedPlot, metrics: StepMetrics, qtbot: QtBot) -> None:
    metrics.push(step_of("x", 0))
    metrics.push(plain_step(1))
    metrics.push(chain_step(2))
    plot.refresh(None)
    canvas = plot.bars_canvas
    width = canvas.viewport().width()
    move(plot, round(width * 1.5 / 40))
    qtbot.waitUntil(lambda: "Step 2" in QToolTip.text())
    words = QToolTip.text()
    assert "Draft model: 3 of 3" in words
    assert "Prompt lookup: 2 of 4 guesses were right, 1 never judged" in words
    markers = plot.bars_canvas.marker, plot.line_canvas.marker
    assert [list(marker.opts["x"]) for marker in markers] == [[1], [1]]
    (tip,) = (w for w in QApplication.topLevelWidgets() if w.objectName() == "qtooltip_label")
    assert tip.geometry().top() >= canvas.mapToGlobal(canvas.rect().bottomLeft()).y()
    # Qt asks for a tip when the mouse rests; unanswered, the one that is shown would go.
    rests = QHelpEvent(QEvent.Type.ToolTip, QPoint(5, 5), canvas.mapToGlobal(QPoint(5, 5)))
    QApplication.sendEvent(canvas.viewport(), rests)
    assert rests.isAccepted()
    assert QToolTip.text() == words
    move(plot, width - 3)  # no step is there yet
    assert list(plot.bars_canvas.marker.opts["x"]) == [1]
    QApplication.sendEvent(canvas, QEvent(QEvent.Type.Leave))
    assert [list(marker.opts["x"]) for marker in markers] == [[], []]


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


def test_the_picture_has_the_bars_but_not_the_controls(
    plot: SpeedPlot, metrics: StepMetrics, qtbot: QtBot
) -> None:
    fill(metrics, 60)
    plot.refresh(20.0)
    picture = PlotPicture()
    with qtbot.waitSignal(picture.made) as caught:
        picture.start(plot)
    image = caught.args[0]
    assert image.width() > 1500
    colours = {
        image.pixelColor(x, y).name() for x in range(0, image.width(), 5) for y in range(50, 400, 5)
    }
    assert {LIGHT.accent.lower(), LIGHT.rejected.lower()} <= colours
    assert not plot.tools.isHidden()


# --------------------------------------------------------------------------------------- time bar


def test_the_time_bar_says_the_shares_in_words(qtbot: QtBot) -> None:
    bar = TimeBar()
    qtbot.addWidget(bar)
    assert "%" not in bar.legend.text(), "nothing is known yet"
    bar.show_times(TimeShares(0.61, 0.27, 0.05, 0.07))
    text = bar.legend.text()
    assert [figure in text for figure in ("61", "27", "5", "7")] == [True] * 4
    for source_colour in (LIGHT.accent, LIGHT.lookup, LIGHT.rejected):
        assert source_colour not in text
    look.set_mode("dark")
    assert DARK.time_verify in bar.legend.text()
    other = TimeBar(shows_seconds=True)
    qtbot.addWidget(other)
    for prefill_s in (0.5, 0.0):
        other.show_times(TimeShares(6.0, 2.0, 1.0, 0.5, prefill_s))
        text = other.legend.text().replace("&nbsp;", " ")
        assert "(6.0 s)" in text
        assert text.count("(0.5 s)") == 1 + bool(prefill_s)
