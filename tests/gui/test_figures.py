"""Figures in words and colours, number fields, and lines that must fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec import structs
from PySide6.QtCore import QLocale

from gui.fake_client import STATS, FakeClient, at_speed, plain_step, step_of, undrafted
from paceline.chat.reply import Reply, TurnOptions
from paceline.engine.draft import registry
from paceline.figures import Kept, Reread
from paceline.gui.kit.fields import Number
from paceline.gui.run import cards
from paceline.gui.run.run_words import settings_rows
from paceline.gui.state import figures
from paceline.gui.state.live import FIRST_REPLIES
from paceline.gui.state.metrics import StepMetrics
from paceline.gui.state.sources import Sources
from paceline.messages import PrefillProgressed
from paceline.params import Strategy
from paceline.run_record import RunRecord
from paceline.sentence import Sentence

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
    [(45, 355.0, "even"), (45, 60.0, "loss"), (400, 355.0, "loss"), (45, 800.0, "gain")],
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
    gain = figures.gain_of(stats)
    assert gain.tone == tone
    assert (gain.text == "≈ 1×") == (not gain.plain) == (tone == "even")


@pytest.mark.parametrize("speed", [8.0, 41.2, 200.0])
def test_before_forty_steps_there_is_neither_a_ratio_nor_a_colour(speed: float) -> None:
    stats = at_speed(speed)
    assert figures.gain_of(stats).tone != "even"
    copied = structs.replace(stats, n_steps=20, n_generated=60)
    assert figures.gain_of(copied) == figures.gain_of(stats)
    early = structs.replace(stats, n_steps=39, n_generated=59)
    assert figures.gain_of(early) == figures.gain_of(None) == figures.ShownGain()
    assert "×" not in figures.stats_line(ended(early))
    metrics = StepMetrics(Sources(registry.available()))
    metrics.push(step_of("abc", 1))
    head = figures.headline(metrics, ended(early), None, str)
    assert (head.ratio, head.plain, head.tone) == ("", "", "even")
    assert head.sentence == "draft: 2.0 tokens per step, 67 % of the guesses were right."


def test_first_replies_do_not_say_that_drafts_do_not_pay(
    program: Program, client: FakeClient
) -> None:
    program.settings.set("n_replies", 0)
    panel = program.window.panel
    for number in range(1, 6):
        program.chat.send("Hello?")
        client.reply("Hi", stats=at_speed(10.0))
        reply = program.live.reply
        assert reply is not None
        is_judged = number > FIRST_REPLIES
        assert program.live.judges == is_judged
        assert panel.headline.ratio.text() == ("0.5×" if is_judged else "")
        assert panel.headline.ratio.property("tone") == ("loss" if is_judged else "even")
        assert panel.plot.plain_words.text() == ("- - alone about 22" if is_judged else "- - alone")
        heard = panel.plot.bars_canvas.accessibleDescription()
        hover = figures.stats_details(reply, judges=program.live.judges)
        assert ("0.5×" in heard, "alone" in hover) == (is_judged, is_judged)
        assert panel.headline.sentence.text().startswith(
            "Draft model did not pay" if is_judged else "Draft model: 2.5 tokens"
        )
    assert program.settings.value("n_replies") == FIRST_REPLIES + 1, "counted no further"
    program.chat.send("Hello?")
    client.reply("Hi")
    assert panel.headline.ratio.text() == "1.9×"


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
        ("draft", "Nothing was drafted: no guess was sure enough."),
        ("off", "Without drafts: one token per step."),
    ):
        silent_turn(program, client, strategy, speed)
        assert card.sentence.text() == sentence
        assert (card.plain.text(), card.ratio.text()) == ("", "")
        assert card.ratio.property("tone") == "even"
        reply = program.live.reply
        assert reply is not None
        assert figures.stats_line(reply) == f"<b>{figures.speed_text(speed)} t/s</b>"
        details = figures.stats_details(reply)
        assert ("nothing drafted" in details) == (strategy != "off")
        assert "×" not in details
        assert "alone" not in details


def ended(stats: TurnStats) -> Reply:
    options = TurnOptions(strategy=Strategy.of("draft"))
    return Reply("m", "c", options, status="finished", strategy=options.strategy, stats=stats)


@pytest.mark.parametrize(
    ("plain_low", "plain_high", "tone", "shown"),
    [
        (60.0, 99.9, "gain", "<em>1.3×</em>"),
        (60.0, 100.0, "even", " · ≈ 1×"),
        (60.0, 130.0, "even", " · ≈ 1×"),
        (100.0, 130.0, "even", " · ≈ 1×"),
        (100.1, 130.0, "loss", "<del>0.8×</del>"),
    ],
)
def test_one_rule_for_the_colour_of_a_ratio(
    plain_low: float, plain_high: float, tone: str, shown: str
) -> None:
    plain = 79.0 if plain_low < 100 else 120.0
    stats = structs.replace(
        STATS, tokens_per_s=100.0,
        plain_tokens_per_s=plain, plain_low=plain_low, plain_high=plain_high,
    )  # fmt: skip
    line = figures.stats_line(ended(stats))
    assert shown in line
    assert line.count("<") == (4 if tone != "even" else 2)  # the speed stands out in any case
    interval = f"{100 / plain_high:.2f}–{100 / plain_low:.2f}×"
    alone = f"alone about {plain:.0f} t/s, {interval} as fast in 95 of 100"
    assert (alone in figures.stats_details(ended(stats))) == (tone != "even")
    metrics = StepMetrics(Sources(registry.available()))
    metrics.push(step_of("abc", 1))
    head = figures.headline(metrics, ended(stats), None, str)
    assert (head.ratio, head.tone) == (shown.strip("<>emdl/· "), tone)
    assert head.plain == (f"alone about {plain:.0f}" if tone != "even" else "")
    words = {"gain": "pays here", "even": "about as much", "loss": "did not pay"}
    assert words[tone] in head.sentence
    record = RunRecord("m", "finished", stats=stats)
    assert cards.figures(record)[2].tone == tone


def test_what_was_kept_or_read_again_and_a_busy_machine_are_reported() -> None:
    words = Sentence("{n:,} tokens were read again, since {why}.", {"n": 1204, "why": "it is so"})
    odd = structs.replace(
        STATS, kept=Kept(100, 25, 0, 0), reread=Reread("used", 1204, words), machine_busy=True
    )
    calm = figures.stats_line(ended(STATS)) + figures.stats_details(ended(STATS))
    details = figures.stats_details(ended(odd))
    for told in ("kept 25 of the 100 tokens of the earlier reply", words, "machine busy"):
        assert told in details
        assert told not in calm
    assert figures.stats_line(ended(odd)).endswith(" · 1,204 tokens read again")
    assert "read again" not in calm
    assert ("Read again", words) in settings_rows(RunRecord("m", "finished", stats=odd))
    assert figures.stats_line(ended(structs.replace(odd, n_generated=0))) == "", "was stopped"


@pytest.mark.parametrize("missing", ["plain_tokens_per_s", "plain_low", "plain_high"])
def test_a_reply_of_old_shows_its_speed_and_no_ratio(missing: str) -> None:
    stats = structs.replace(STATS, **{missing: None})
    assert figures.stats_line(ended(stats)) == "<b>41.2 t/s</b>"
    details = figures.stats_details(ended(stats))
    assert "71\u202f% of 312 guesses were right" in details
    assert "nothing drafted" not in details
    metrics = StepMetrics(Sources(registry.available()))
    metrics.push(step_of("abc", 1))
    head = figures.headline(metrics, ended(stats), None, str)
    assert (head.speed, head.plain, head.ratio, head.tone) == ("41.2", "", "", "even")
    assert head.sentence.startswith("draft: ")


def test_the_headline_waits_for_the_first_step_and_outlives_a_failure() -> None:
    metrics = StepMetrics(Sources(registry.available()))
    reply = Reply("m", "c", TurnOptions(strategy=Strategy.of("draft")))
    assert figures.headline(metrics, reply, None, str) == figures.Headline()
    metrics.push(step_of("a", 0))
    first = structs.replace(undrafted(), n_steps=0, tokens_per_s=1e9)  # the prefill's token alone
    assert figures.headline(metrics, ended(first), None, str) == figures.Headline()
    for number in (1, 2, 3):
        metrics.push(step_of("abc", number))
    failed = figures.headline(metrics, reply, None, str)
    assert (failed.speed, failed.ratio, failed.tone) == ("125", "", "even")
    assert failed.sentence.startswith("draft: 3.0 tokens per step")


def test_the_context_is_never_more_than_full(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    program.chat.send("Hello?")
    client.start_turn()
    client.step("a", 1)
    client.emit(PrefillProgressed(2047, 2047))
    meter = program.window.chat_pane.composer.meter
    qtbot.waitUntil(lambda: meter.toolTip().startswith("2,048 of 2,048 tokens are in use."))


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
