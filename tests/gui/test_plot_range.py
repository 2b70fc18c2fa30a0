"""The steps that a plot shows."""

from __future__ import annotations

import pytest

from paceline.gui.plot.speed_plot import MIN_STEPS, PlotRange


def shown(n_steps: int, span: int = 80) -> PlotRange:
    found = PlotRange(span)
    found.update(n_steps)
    return found


@pytest.mark.parametrize(
    ("span", "n_steps", "expected"),
    [
        (80, 0, (0, 0, 40)),
        (80, 30, (0, 30, 40)),
        (80, 60, (0, 60, 80)),
        (80, 500, (420, 80, 80)),
        (200, 500, (300, 200, 200)),
        (40, 10, (0, 10, 40)),
        (0, 500, (0, 500, 500)),
        (0, 3, (0, 3, MIN_STEPS)),
    ],
)
def test_it_follows_the_newest_steps(
    span: int, n_steps: int, expected: tuple[int, int, int]
) -> None:
    assert shown(n_steps, span).shown() == expected


def test_paused_it_holds_while_the_reply_continues() -> None:
    plot = shown(100)
    plot.pause(is_paused=True)
    plot.update(300)
    assert plot.shown() == (20, 80, 80)
    plot.pause(is_paused=False)
    plot.update(300)
    assert plot.shown() == (220, 80, 80)


def test_it_moves_only_when_it_holds_or_the_reply_has_ended() -> None:
    plot = shown(300)
    plot.move(-50, may_move=False)
    assert plot.shown()[0] == 220
    plot.move(-50, may_move=True)
    assert plot.shown()[0] == 170
    plot.move(-1000, may_move=True)
    assert plot.shown()[0] == 0
    plot.move(1000, may_move=True)
    assert plot.shown()[0] == 220


def test_zooming_in_stays_around_the_place() -> None:
    plot = shown(300)
    plot.pause(is_paused=True)
    plot.zoom(0.5, 0.5)
    assert plot.shown() == (240, 40, 40)
    plot.zoom(0.5, 0.0)
    assert plot.shown() == (240, 20, 20)
    size = 20
    while size > MIN_STEPS:
        plot.zoom(0.98)
        assert plot.shown()[1] < size, "every step changes something"
        size = plot.shown()[1]
    for _ in range(200):
        plot.zoom(1.25, 0.5)
    assert plot.shown() == (0, 300, 300)
    plot.reset()
    assert plot.shown() == (220, 80, 80)
    plot.zoom(0.5)
    plot.set_span(200)
    assert plot.shown() == (100, 200, 200)


def test_another_reply_begins_where_one_always_begins() -> None:
    plot = shown(300)
    plot.pause(is_paused=True)
    plot.zoom(0.5, 0.0)
    plot.update(2)
    assert not plot.is_paused
    assert plot.shown() == (0, 2, 40)
