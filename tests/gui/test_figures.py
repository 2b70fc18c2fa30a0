"""Figures in words and colours, number fields, and lines that must fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec import structs
from PySide6.QtCore import QLocale

from gui.fake_client import STATS, FakeClient, at_speed, plain_step, step_of, undrafted
from paceline.chat.reply import Reply, TurnOptions
from paceline.engine.draft import registry
from paceline.figures import Kept
from paceline.gui.chat.messages.reply_view import StatsLabel
from paceline.gui.kit.fields import Number
from paceline.gui.run import cards
from paceline.gui.state import figures
from paceline.gui.state.metrics import StepMetrics
from paceline.gui.state.sources import Sources
from paceline.messages import PrefillProgressed
from paceline.params import Strategy
from paceline.run_record import RunRecord

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot

    from paceline.gui.program import Program
    from paceline.messages import TurnStats


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
    assert field.text() == "0,50"


@pytest.mark.parametrize(
    ("n_tokens", "speed", "tone"),
    [(13, 355.0, "even"), (13, 60.0, "loss"), (400, 355.0, "loss"), (13, 800.0, "gain")],
)
def test_a_loss_that_is_not_noticed_is_grey(n_tokens: int, speed: float, tone: str) -> None:
    stats = structs.replace(
        STATS,
        n_generated=n_tokens,
        tokens_per_s=speed,
        decode_s=n_tokens / speed,
        plain_tokens_per_s=489.0,
        plain_low=480.0,
        plain_high=500.0,
    )
    assert figures.tone_of(stats) == tone


def silent_turn(program: Program, client: FakeClient, strategy: str, speed: float) -> None:
    program.speculation.choose(strategy)
    program.chat.send("Hello?")
    client.start_turn()
    for number in range(1, 9):
        client.emit(plain_step(number))
    client.finish_turn("x", stats=at_speed(speed, undrafted()))


@pytest.mark.parametrize("speed", [18.0, 21.6, 30.0])
def test_nothing_drafted_is_no_ratio_but_said(
    program: Program, client: FakeClient, speed: float
) -> None:
    card = program.window.panel.headline
    for strategy, sentence in (
        ("draft", "Draft model was asked but never sure enough: nothing was drafted."),
        ("off", "Without drafts: one token per step."),
    ):
        silent_turn(program, client, strategy, speed)
        assert card.sentence.text() == sentence
        assert (card.plain.text(), card.ratio.text()) == ("", "")
        assert card.ratio.property("tone") == "even"
        reply = program.live.reply
        assert reply is not None
        line = figures.stats_line(reply)
        assert ("nothing drafted" in line) == (strategy != "off")
        assert "×" not in line
        assert "without" not in line
        assert "without drafts" not in figures.stats_details(reply)


def ended(stats: TurnStats) -> Reply:
    options = TurnOptions(strategy=Strategy.of("draft"))
    return Reply("m", "c", options, status="finished", strategy=options.strategy, stats=stats)


@pytest.mark.parametrize(
    ("plain_low", "plain_high", "tone", "shown"),
    [
        (60.0, 99.9, "gain", "<em>1.25×</em>"),
        (60.0, 100.0, "even", "· 1.25× ·"),
        (60.0, 130.0, "even", "· 1.25× ·"),
        (100.0, 120.0, "even", "· 0.91× ·"),
        (100.1, 120.0, "loss", "<del>0.91×</del>"),
    ],
)
def test_one_rule_for_the_colour_of_a_ratio(
    plain_low: float, plain_high: float, tone: str, shown: str
) -> None:
    plain = 80.0 if "1.25" in shown else 110.0
    stats = structs.replace(
        STATS, tokens_per_s=100.0,
        plain_tokens_per_s=plain, plain_low=plain_low, plain_high=plain_high,
    )  # fmt: skip
    line = figures.stats_line(ended(stats))
    assert shown in line
    assert f"≈ {figures.speed_text(plain)} without drafts" in line
    assert line.count("<") == (4 if tone != "even" else 2)  # the speed stands out in any case
    interval = f"{100 / plain_high:.2f}–{100 / plain_low:.2f}×"
    assert f"{interval} of the speed without drafts" in figures.stats_details(ended(stats))
    metrics = StepMetrics(Sources(registry.available()))
    metrics.push(step_of("abc", 1))
    head = figures.headline(metrics, "Draft model", stats)
    assert (head.ratio, head.tone) == (shown.strip("<>emdl/· "), tone)
    words = {"gain": "pays here", "even": "about as much", "loss": "gave less than it cost"}
    assert words[tone] in head.sentence
    record = RunRecord("m", "finished", stats=stats)
    assert cards.figures(record)[2].tone == tone


def test_a_reply_that_was_stopped_before_its_first_token_has_not_lost_the_earlier_one() -> None:
    stats = structs.replace(STATS, kept=Kept(100, 25, 0, 0))
    assert "kept 25\u202f% of the earlier reply" in figures.stats_line(ended(stats))
    assert "kept" not in figures.stats_line(ended(structs.replace(stats, n_generated=0)))


def test_a_busy_machine_is_told_in_grey() -> None:
    stats = structs.replace(STATS, plain_low=20.0, plain_high=45.0, machine_busy=True)
    assert "</b> · 1.91× · ≈ 21.6 without drafts · machine busy · " in figures.stats_line(
        ended(stats)
    )
    for calm in (STATS, undrafted()):
        assert "machine busy" not in figures.stats_line(ended(calm))
        busy = structs.replace(calm, machine_busy=True)
        assert "· machine busy" in figures.stats_line(ended(busy))


@pytest.mark.parametrize("missing", ["plain_tokens_per_s", "plain_low", "plain_high"])
def test_a_reply_of_old_shows_its_speed_and_no_ratio(missing: str) -> None:
    stats = structs.replace(STATS, **{missing: None})
    line = figures.stats_line(ended(stats))
    assert line.startswith("<b>41.2 t/s</b> · 71")
    assert "without" not in line
    assert "nothing drafted" not in line
    metrics = StepMetrics(Sources(registry.available()))
    metrics.push(step_of("abc", 1))
    head = figures.headline(metrics, "Draft model", stats)
    assert (head.speed, head.plain, head.ratio, head.tone) == ("41.2", "", "", "even")
    assert head.sentence.startswith("Draft model: ")


def test_the_headline_waits_for_the_first_step_and_outlives_a_failure() -> None:
    metrics = StepMetrics(Sources(registry.available()))
    assert figures.headline(metrics, "Draft model", None) == figures.Headline()
    metrics.push(step_of("a", 0))
    first = structs.replace(undrafted(), n_steps=0, tokens_per_s=1e9)  # the prefill's token alone
    assert figures.headline(metrics, "Draft model", first) == figures.Headline()
    for number in (1, 2, 3):
        metrics.push(step_of("abc", number))
    failed = figures.headline(metrics, "Draft model", None)
    assert (failed.speed, failed.ratio, failed.tone) == ("125", "", "even")
    assert failed.sentence.startswith("Draft model: 3.0 tokens per step")


def test_the_context_is_never_more_than_full(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    program.chat.send("Hello?")
    client.start_turn()
    client.step("a", 1)
    client.emit(PrefillProgressed(2047, 2047))
    meter = program.window.chat_pane.composer.meter
    qtbot.waitUntil(lambda: meter.toolTip().startswith("2,048 of 2,048 tokens are in use."))


@pytest.mark.qt_log_ignore("This plugin does not support")  # a label as a window
def test_the_line_below_a_reply_leaves_out_what_has_no_room(qtbot: QtBot) -> None:
    label = StatsLabel()
    qtbot.addWidget(label)
    label.resize(2000, 20)
    label.set_parts("<b>41.2 t/s</b> · plain ≈ 21.6 · first token 0.4 s")
    assert label.label.text().endswith("0.4 s")
    label.resize(130, 20)
    label.show()
    assert label.label.text().startswith("<b>41.2 t/s</b>")
    assert label.label.text().endswith(" · …")
    metrics = label._metrics()
    label.resize(metrics.horizontalAdvance("41.2 t/s") + 8, 20)
    assert label.label.text() == "<b>41.2 t/s</b>"
    label.resize(metrics.horizontalAdvance("41.2"), 20)
    assert not label.label.text(), "no part of a number"


def test_the_plots_have_a_scale(program: Program, client: FakeClient) -> None:
    program.chat.send("Hello?")
    client.start_turn()
    client.step("a", 1)
    client.step("b", 2)
    program.live.refreshed.emit()
    plot = program.window.panel.plot
    assert plot.bars_canvas.axis.values == [0, 2, 4]
    assert plot.line_canvas.axis.values == [0, 50, 100, 150]
    assert plot.bars_canvas.note.isHidden()
    client.finish_turn("ab")
    silent_turn(program, client, "off", 21.6)
    assert plot.bars_canvas.note.text() == "no drafts in these steps"


@pytest.mark.parametrize(
    ("rate", "shown"),
    [(0.0, 0), (0.001, 1), (0.254, 25), (0.5, 50), (935 / 938, 99), (1.0, 100), (1.304, 130)],
)
def test_per_cent_are_none_and_all_only_where_they_are(rate: float, shown: int) -> None:
    assert figures.percent_text(rate) == f"{shown}\u202f%"
