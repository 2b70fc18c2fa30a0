"""Figures in words and colours, number fields, and lines that must fit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QLocale

from gui.fake_client import STATS, FakeClient, plain_step
from paceline.chat.reply import Reply, TurnOptions
from paceline.gui.viewmodels import figures
from paceline.gui.widgets.fields import Number
from paceline.gui.widgets.stats_label import StatsLabel
from paceline.messages import PrefillProgressed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot

    from paceline.gui.program import Program

SILENT = replace(STATS, n_drafted=0, n_accepted=0, acceptance_rate=None, tokens_per_s=18.0)


@pytest.fixture
def german() -> Iterator[None]:
    before = QLocale()
    QLocale.setDefault(QLocale("de_DE"))
    yield
    QLocale.setDefault(before)


@pytest.mark.usefixtures("german")
@pytest.mark.parametrize("typed", ["0.5", "0,5"])
def test_point_and_comma_mean_the_same_everywhere(qtbot: QtBot, typed: str) -> None:
    field = Number(0, 2)
    qtbot.addWidget(field)
    field.selectAll()
    qtbot.keyClicks(field, typed)
    field.interpretText()
    assert field.value() == 0.5
    assert field.text() == "0.50"


def silent_turn(program: Program, client: FakeClient, strategy: str, speed: float) -> None:
    program.speculation.choose(strategy)
    program.session.send("Hello?")
    turn_id = client.start_turn()
    for number in range(1, 9):
        client.emit(plain_step(turn_id, number))
    client.finish_turn("x", stats=replace(SILENT, tokens_per_s=speed))


def test_a_drafter_that_never_drafts_is_not_called_plain(
    program: Program, client: FakeClient
) -> None:
    silent_turn(program, client, "draft", 18.0)
    card = program.window.panel.headline
    assert card.ratio.text() == "0.83×"
    assert card.ratio.property("tone") == "loss"
    assert card.sentence.text() == (
        "Draft model was asked but never sure enough: it costs more than it gives here."
    )
    silent_turn(program, client, "prompt-lookup", 21.6)
    assert "nothing was drafted" in card.sentence.text()
    assert "Plain" not in card.sentence.text()
    silent_turn(program, client, "off", 21.6)
    assert card.sentence.text().startswith("Plain decoding")


@pytest.mark.parametrize(
    ("ratio", "tone", "tag"),
    [(1.05, "gain", "em"), (1.04, "even", "b"), (0.95, "even", "b"), (0.94, "loss", "del")],
)
def test_one_rule_for_the_colour_of_a_ratio(ratio: float, tone: str, tag: str) -> None:
    assert figures.ratio_tone(ratio) == tone
    stats = replace(STATS, tokens_per_s=100 * ratio)
    reply = Reply("t", "m", "c", TurnOptions(), stats=stats, plain_tokens_per_s=100.0)
    assert f"<{tag}>{ratio:.2f}×</{tag}>" in figures.stats_line(reply)


def test_the_context_is_never_more_than_full(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    program.session.send("Hello?")
    turn_id = client.start_turn()
    client.step("a", 1)
    client.emit(PrefillProgressed(turn_id, 2047, 2047))
    meter = program.window.chat_pane.composer.meter
    qtbot.waitUntil(lambda: meter.toolTip().startswith("2,048 of 2,048 tokens are in use."))


@pytest.mark.qt_log_ignore("This plugin does not support")  # a label as a window
def test_the_line_below_a_reply_leaves_out_what_has_no_room(qtbot: QtBot) -> None:
    label = StatsLabel()
    qtbot.addWidget(label)
    label.resize(2000, 20)
    label.set_parts("<b>41.2 t/s</b> · plain ≈ 21.6 · first token 0.4 s")
    assert label.shown_text.endswith("0.4 s")
    label.resize(130, 20)
    label.show()
    assert label.shown_text.startswith("<b>41.2 t/s</b>")
    assert label.shown_text.endswith(" · …")
    label.resize(5, 20)
    assert label.shown_text == "<b>41.2 t/s</b> · …"


def test_the_status_line_fits_a_narrow_window(program: Program) -> None:
    window = program.window
    window.status.set_facts("llama.cpp 0.3.36 · " + "a long name of a device " * 4, "")
    window.resize(640, 420)
    assert window.width() == 640
    labels = [window.status._state, window.status._facts, window.status._settings]
    rights = [label.mapTo(window, label.rect().topRight()).x() for label in labels]
    lefts = [label.mapTo(window, label.rect().topLeft()).x() for label in labels]
    assert rights[0] < lefts[1]
    assert rights[1] < lefts[2]
    assert rights[2] < 640
    assert "…" in window.status._facts.text()


def test_the_plots_have_a_scale(program: Program, client: FakeClient) -> None:
    program.session.send("Hello?")
    client.start_turn()
    client.step("a", 1)
    client.step("b", 2)
    program.live.refreshed.emit()
    drafted, speed = program.window.panel.plot.scales
    assert drafted == "max 3 drafted"
    assert speed == "max 150"
    client.finish_turn("ab")
    silent_turn(program, client, "off", 21.6)
    assert program.window.panel.plot.scales[0] == "no drafts in these steps"
