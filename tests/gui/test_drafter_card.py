"""Statistics per drafter, and the advice below the figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec import structs
from PySide6.QtTest import QTest

from gui.fake_client import STATS, FakeClient
from paceline.chat.advice import advise
from paceline.engine.draft.strategy import complete, strategy_named
from paceline.gui.kit.sentences import said
from paceline.gui.look.colours import DARK, LIGHT
from paceline.gui.look.current import look
from paceline.gui.state.live import FIRST_REPLIES
from paceline.messages import (
    DraftCount,
    DrafterStats,
    StartTurn,
    StepCommitted,
    TokenTrace,
    TurnFailed,
)
from paceline.settings import WindowSettings

if TYPE_CHECKING:
    from PySide6.QtWidgets import QLabel
    from pytestqt.qtbot import QtBot

    from paceline.gui.program import Program

DRAFT_STATS = DrafterStats("draft", 1, 90, 40, 0.0021, 0.41, 1.25, 40, 31, 120, 30, (20, 8, 2))
IDLE_STATS = DrafterStats("prompt-lookup", 1, 90, 0, 0.0, 0.0003, 0.0, 0, 0, 0, 0, ())
BAD = structs.replace(
    STATS, n_drafted=120, n_accepted=30, n_discarded=0, acceptance_rate=0.25, n_steps=90,
    by_drafter=(DRAFT_STATS, IDLE_STATS),
)  # fmt: skip


def mixed_step(number: int) -> StepCommitted:
    traces = (
        TokenTrace(1, "draft", 0, 0.9, number),
        TokenTrace(2, "grammar", 1, None, number),
        TokenTrace(3, "target", -1, None, number),
    )
    counts = (DraftCount("grammar", 2, 1), DraftCount("draft", 1, 1))
    return StepCommitted(number, traces, "x", counts, 0.004, 0.012, 0.001, 0.02)


def colours_of(label: QLabel) -> set[str]:
    image = label.grab().toImage()
    places = ((x, y) for x in range(image.width()) for y in range(image.height()))
    return {image.pixelColor(x, y).name().upper() for x, y in places}


def test_the_card_is_live_and_names_every_drafter(program: Program, client: FakeClient) -> None:
    program.window.panel.open_only(("details",))
    card = program.window.panel.drafters
    assert card.isHidden()
    program.chat.send("Hello?")
    client.start_turn()
    client.step("a", 0)
    client.emit(mixed_step(1))
    program.live.refreshed.emit()
    assert not card.isHidden()
    shown = [(line.title.text(), line.figures.text(), line.rate.text()) for line in card.lines]
    assert shown == [("Grammar", "1 of 2", "50\u202f%"), ("Draft model", "1 of 1", "100\u202f%")]
    assert [line.dot.property("tone") for line in card.lines] == ["lookup", "accent"]
    assert LIGHT.lookup in colours_of(card.lines[0].dot)
    assert LIGHT.accent in colours_of(card.lines[1].dot)
    assert card.lines[0].accessibleName() == "Grammar: 1 of 2 50\u202f%"
    client.figures(BAD)  # they are late, and report drafters that have not drafted
    client.emit(mixed_step(2))
    program.live.refreshed.emit()
    assert [line.title.text() for line in card.lines] == ["Grammar", "Draft model"]
    assert card.lines[0].figures.text() == "2 of 4"
    assert card.lines[1].details.text() == "drafts 2, with a right guess 2\nguesses 2, right 2"
    look.set_mode("dark")
    assert DARK.accent in colours_of(card.lines[1].dot)
    client.finish_turn("axx")


def test_a_continued_reply_counts_what_its_figures_are_of(
    program: Program, client: FakeClient
) -> None:
    card = program.window.panel.drafters
    program.chat.send("Hello?")
    client.reply("Hi there")
    program.chat.continue_reply()
    assert card.isHidden(), "what was drafted before is another version's"
    client.reply("Hi there and you")
    program.live.refreshed.emit()
    assert card.lines[0].figures.text() == "2 of 3"
    reply = program.live.reply
    assert reply is not None
    assert len(reply.steps) == 4, "the text has the colours of both parts"
    program.live.show(reply)
    assert card.lines[0].figures.text() == "2 of 3"
    program.chat.continue_reply()
    client.emit(TurnFailed("context-full", "There is no room.", ""))
    assert card.isHidden(), "the last part drafted nothing"


def test_the_details_are_llama_cpps_statistics(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    program.window.panel.open_only(("details",))
    card = program.window.panel.drafters
    program.chat.send("Hello?")
    client.reply("Hi", stats=BAD)
    # The lookup was asked, too, but it never drafted.
    assert [line.title.text() for line in card.lines] == ["Draft model"]
    assert card.lines[0].figures.text() == "2 of 3"
    assert not card.lines[0].more.isVisible()
    card.toggle.click()
    assert card.lines[0].more.isVisible()
    assert card.lines[0].details.text().splitlines() == [
        "calls: begin 1, draft 90, accept 40",
        "drafts 40, with a right guess 31",
        "guesses 120, right 30",
        "time: begin 2.1\u202fms, draft 410\u202fms, accept 1.25\u202fs",
    ]
    bars = card.lines[0].bars
    assert [bar.share for bar in bars.bars] == [1.0, 0.4, 0.1]
    assert "20, 8, 2" in bars.accessibleName()
    qtbot.waitUntil(lambda: bars.height() == bars.sizeHint().height())
    image = bars.grab().toImage()
    ratio = image.devicePixelRatio()
    for place, count in enumerate((20, 8, 2)):
        x = round((place * 14 + 5) * ratio)
        colours = [image.pixelColor(x, y).name().upper() for y in range(image.height() - 1)]
        n_filled = colours.count(LIGHT.accent)
        assert n_filled == pytest.approx(count / 20 * 23 * ratio, abs=1.5)


def test_open_sections_are_kept_and_those_that_are_no_more_are_forgotten(program: Program) -> None:
    panel = program.window.panel
    for toggle in (panel.details.toggle, panel.drafters.toggle, panel.why.toggle):
        assert not toggle.isChecked()
        toggle.setChecked(True)
    kept = program.window.state()
    assert set(kept.open_sections) == {"details", "drafters", "why"}
    panel.open_only(())
    assert not panel.drafters.toggle.isChecked()
    program.window.restore(kept)
    assert panel.drafters.toggle.isChecked()
    program.window.restore(
        WindowSettings(panel_tab="chat", open_sections=("why", "loading", "advanced"))
    )
    assert panel.tab == "chat"
    assert panel.open_sections == ("why",)
    assert panel.why.toggle.isChecked()
    assert not panel.drafters.toggle.isChecked()


# ----------------------------------------------------------------------------------------- advice


def test_advice_comes_with_the_end_of_a_reply_and_goes_with_the_next(
    program: Program, client: FakeClient
) -> None:
    line = program.window.panel.advice
    program.chat.send("Hello?")
    client.start_turn()
    client.step("a", 0)
    client.figures(BAD)
    program.live.refreshed.emit()
    assert line.isHidden()
    client.finish_turn("a", stats=BAD)
    first, *others = advise(BAD, complete(client.last(StartTurn).strategy).value)
    assert not line.isHidden()
    assert line.text.text() == (
        "Try “Draft model” with Min. confidence 0.75: drafts end where their drafter is unsure."
    )
    assert line.apply.toolTip() == "Use draft:p_min=0.75 from now on"
    assert others
    for known in (first, *others):
        assert line.reason.text() == said(known.reason)
        line.close_button.click()
    program.live.refreshed.emit()
    assert line.isHidden(), "all of it was dismissed"
    program.chat.send("Again?")
    client.reply("Hi")
    assert line.isHidden(), "a good reply gets none"


def test_advice_is_applied_to_the_next_reply(program: Program, client: FakeClient) -> None:
    program.chat.send("Hello?")
    client.reply("Hi", stats=BAD)
    line = program.window.panel.advice
    wanted = advise(BAD, strategy_named("draft"))[0].strategy
    assert not line.apply.isHidden()
    line.apply.click()
    assert line.isHidden()
    program.chat.send("Again?")
    assert client.last(StartTurn).strategy == wanted


def test_the_first_replies_get_no_advice(program: Program, client: FakeClient) -> None:
    program.settings.set("n_replies", 0)
    line = program.window.panel.advice
    for number in range(1, FIRST_REPLIES + 2):
        program.chat.send("Hello?")
        client.reply("Hi", stats=BAD)
        assert line.isHidden() == (number <= FIRST_REPLIES)


@pytest.mark.parametrize("then", ["next", "new", "pair"])
def test_advice_waits_for_the_mouse_and_ends_with_its_reply_chat_and_pair(
    program: Program, client: FakeClient, qtbot: QtBot, then: str
) -> None:
    panel, line = program.window.panel, program.window.panel.advice
    QTest.mouseMove(program.window.chat_pane)  # the next one must be a move, wherever it was left
    QTest.mouseMove(panel)
    qtbot.waitUntil(panel.underMouse)
    program.chat.send("Hello?")
    client.reply("Hi", stats=BAD)
    first = program.shown.id
    assert line.isHidden(), "what is pointed at does not move"
    QTest.mouseMove(program.window.chat_pane)
    qtbot.waitUntil(line.isVisible)
    QTest.mouseMove(panel)
    qtbot.waitUntil(panel.underMouse)
    if then == "next":
        program.settings.set("n_replies", 0)  # the first replies get no advice
        program.chat.send("Again?")
        client.reply("Hi", stats=BAD)
    elif then == "new":
        program.shown.new()
    else:
        program.window.actions_.no_draft.trigger()
        client.finish_load()
    assert line.isHidden()
    QTest.mouseMove(program.window.chat_pane)
    qtbot.waitUntil(lambda: not panel.underMouse())
    assert line.isHidden()
    program.shown.new()
    program.shown.show(first)
    assert line.isHidden() == (then != "new"), "it is about the loaded models and the last reply"
