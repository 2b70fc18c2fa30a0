"""Auto in the window: its group, automatic lengths, the sentence, “Why”, advice, the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec import structs
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QWidget

from gui.control_events import drafting_step, outlook, plain_step, report
from gui.fake_client import STATS, FakeClient, model_info, perhaps
from gui.test_run_dialog import is_filled
from paceline.chat.decisions import mix_of
from paceline.engine.draft import registry
from paceline.engine.draft.strategy import strategy_named
from paceline.figures import WidthCost
from paceline.gui.look.colours import DARK
from paceline.gui.look.current import look
from paceline.gui.panel import MIN_WIDTH
from paceline.gui.speculation.reply_cards import AdviceLine
from paceline.gui.speculation.why_card import CostBars, WhyCard
from paceline.gui.state.sources import Sources
from paceline.messages import (
    ControlReported,
    LoadPair,
    PairLoaded,
    RawText,
    StartTurn,
    TurnStats,
)
from paceline.params import Strategy, params_of
from paceline.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot

    from paceline.gui.program import Program


LOAD_MS, REPLY_MS = 60_000, 60_000


@pytest.fixture
def auto(program: Program) -> Program:
    program.speculation.choose("auto")
    return program


def begin(program: Program, client: FakeClient) -> str:
    assert program.chat.send("Hello?")
    assert client.last(StartTurn).strategy == program.speculation.strategy
    return client.start_turn()


def write(client: FakeClient, n: int = 40) -> None:
    """Most steps draft with the model, every fourth one is plain."""
    for i in range(1, n + 1):
        client.emit(drafting_step(i) if i % 4 else plain_step(i, "nothing"))


def test_auto_is_the_first_entry(program: Program, client: FakeClient, qtbot: QtBot) -> None:
    panel = program.window.panel
    panel.open_only(("details",))
    menu = panel.picker.menu

    def choose(row: int) -> None:
        qtbot.mouseClick(panel.picker.chooser, Qt.MouseButton.LeftButton)
        menu.list.setCurrentRow(row)
        qtbot.keyClick(menu.list, Qt.Key.Key_Return)

    assert not panel.why.isVisibleTo(panel)
    choose(0)
    assert program.speculation.text == "auto"
    assert panel.why.isVisibleTo(panel)
    assert list(panel.draft_settings.fields) == ["n_max"]
    panel.why.toggle.setChecked(True)
    assert panel.why.hint.isVisibleTo(panel)
    program.window.actions_.no_draft.trigger()
    client.finish_load()
    assert program.speculation.text == "auto"
    choose(3)
    assert program.speculation.text == "off"
    assert not panel.why.isVisibleTo(panel)


# ------------------------------------------------------------------------------ strategy, lengths


def test_a_length_can_be_left_to_auto(program: Program) -> None:
    model, settings = program.speculation, program.window.panel.draft_settings
    for text in ("draft:n_max=6:p_min=0.6", "draft:n_max=1"):
        model.use(strategy_named(text))
        length = settings.fields["n_max"]
        assert length.automatic is not None
        length.automatic.click()
        assert not length.isEnabled()
        assert length.automatic.isEnabled()
        assert model.is_controlled
        length.automatic.click()
        assert model.text == text, "the user's own comes back"
    model.use(strategy_named("draft:n_max=auto"))
    assert settings.fields["p_min"].automatic is None
    assert settings.fields["p_min"].isHidden(), "Auto takes it out of force"
    settings.fields["n_max"].automatic.click()  # type: ignore[union-attr]
    assert not settings.fields["p_min"].isHidden()


def test_auto_is_the_default_and_stays_with_and_without_a_draft_model(
    make_program: Callable[..., Program], client: FakeClient
) -> None:
    program = make_program(Settings(was_welcomed=True))
    assert (
        program.speculation.strategy == program.next_reply.options().strategy == Strategy.of("auto")
    )
    for action in (program.window.actions_.no_draft, program.window.actions_.demo_pair):
        action.trigger()
        client.finish_load()
        assert program.speculation.text == "auto"


@pytest.mark.parametrize("since", ["auto", "ngram-mod"])
def test_what_was_chosen_since_does_not_give_way_to_what_was_set_aside(
    program: Program, client: FakeClient, since: str
) -> None:
    program.window.actions_.no_draft.trigger()
    client.finish_load()
    program.window.panel.picker.draft_wanted.emit("draft")
    program.speculation.choose(since)
    program.window.actions_.demo_pair.trigger()
    client.finish_load()
    assert program.speculation.text == since


# ------------------------------------------------------------------------------ what it says


def test_the_sentence_and_the_section_tell_what_was_reported(
    auto: Program, client: FakeClient, qtbot: QtBot
) -> None:
    panel = auto.window.panel
    panel.why.toggle.setChecked(True)
    begin(auto, client)
    write(client)
    shut = outlook("ngram-mod", is_open=False, gain=0.8, n_judged=50)
    client.emit(report(outlook(), shut))
    client.figures()
    qtbot.waitUntil(lambda: panel.headline.sentence.text().startswith("Draft model pays here"))
    qtbot.waitUntil(lambda: len(panel.why.blocks) == 2)
    assert "2.48 tokens per step" in panel.headline.sentence.text()
    assert panel.headline.plain.text() == "alone about 22"
    assert panel.headline.ratio.text() == "1.9×"
    assert panel.headline.ratio.property("tone") == "gain"
    assert len(panel.why.costs.texts) == 9
    assert panel.why.costs.texts[0] == ("1", "40.0\u202fms", "1.00×")
    assert "2 tokens: 44.8\u202fms" in panel.why.costs.accessibleDescription()
    draft, pool = panel.why.blocks
    assert draft.places.chart.bars[0].share == 0.78
    assert "place 1: 78\u202f% right" in draft.places.chart.accessibleDescription()
    assert draft.state.text() == "in use"
    assert (pool.title.text(), pool.state.text()) == ("N-gram pool", "paused")
    assert panel.why.balance[0].text().startswith("Decoding one token takes")
    client.finish_turn("x", stats=perhaps())
    assert panel.headline.ratio.text() == "≈ 1×"
    assert panel.headline.ratio.property("tone") == "even"
    assert panel.headline.sentence.text().startswith("Draft model gives about as much as it costs")
    assert len(panel.why.blocks) == 2  # what is known stays


def test_reports_of_foreign_turns_are_not_shown(auto: Program, client: FakeClient) -> None:
    begin(auto, client)
    foreign = client.request(StartTurn(RawText("another program's")))
    client.emit(report(), foreign)
    assert auto.live.report is None
    client.emit(report(), client.tickets[-2])
    assert auto.live.report == report()
    client.finish_turn("x")
    auto.window.actions_.no_draft.trigger()
    client.finish_load()
    assert auto.live.report is None  # it was about another pair


def children_beyond(card: WhyCard) -> list[QWidget]:
    """Visible widgets of the section that stand out of it."""
    inside = card.rect().adjusted(-1, -1, 1, 1)
    return [
        child
        for child in card.findChildren(QWidget)
        if child.isVisibleTo(card)
        and not inside.contains(child.rect().translated(child.mapTo(card, child.rect().topLeft())))
    ]


def test_the_section_fits_into_the_narrowest_panel(qtbot: QtBot) -> None:
    card = WhyCard(Sources(registry.available()))
    qtbot.addWidget(card)
    card.toggle.setChecked(True)
    names = ("draft", "suffix", "prompt-lookup", "ngram-cache", "ngram-mod")
    card.show_report(report(*(outlook(name) for name in names)))
    qtbot.waitUntil(lambda: len(card.blocks) == len(names))
    card.resize(MIN_WIDTH - 32, 2400)  # beside the cards there are margins
    card.show()
    qtbot.waitUntil(lambda: children_beyond(card) == [])
    assert card.blocks[0].title.text() == "Draft model"
    look.set_mode("dark")
    image = card.costs.grab().toImage()
    colours = {image.pixelColor(x, 8).name() for x in range(image.width())}
    assert DARK.time_verify.lower() in colours


def test_a_large_ratio_is_shown_whole(qtbot: QtBot) -> None:
    bars = CostBars()
    qtbot.addWidget(bars)
    pictures = []
    for first in (1, 2):
        costs = (WidthCost(1, 1e-3, 9), WidthCost(33, 0.1 * first + 0.0456, 9))
        bars.show_costs(costs)
        assert bars.texts[1][2] == f"{first}45.60×"
        bars.resize(300, bars.sizeHint().height())
        picture = bars.grab().toImage()
        pictures.append(picture.copy(picture.width() * 4 // 5, 0, 999, 999))
    assert pictures[0] != pictures[1]  # they differ by their first digit alone


# --------------------------------------------------------------------------------------- advice


def load_sized(client: FakeClient, n_bytes: int) -> None:
    info = structs.replace(model_info("x.gguf"), size_bytes=n_bytes)
    client.emit(PairLoaded(info, info, 0.1))


@pytest.fixture
def advised(program: Program, client: FakeClient) -> tuple[Program, AdviceLine]:
    """A window whose draft model, of 300 MiB, does not pay."""
    program.models.reload()
    load_sized(client, 300 << 20)
    program.speculation.choose("auto")
    return program, program.window.panel.advice


def reply_with(
    program: Program, client: FakeClient, told: ControlReported, stats: TurnStats | None = None
) -> None:
    begin(program, client)
    write(client, 24)
    client.emit(told)
    client.finish_turn("x", stats=stats or perhaps())


BAD = report(outlook(n_judged=2400, saved_s=-1.2, gain=0.97))


def test_a_useless_draft_model_can_be_freed(
    advised: tuple[Program, AdviceLine], client: FakeClient
) -> None:
    program, line = advised
    why = program.window.panel.why
    why.toggle.setChecked(True)
    reply_with(program, client, report(outlook(n_judged=1999, saved_s=-9)))
    assert line.isHidden()
    reply_with(program, client, BAD, STATS)
    assert line.isHidden(), "beside a gain it is not said"
    reply_with(program, client, BAD)
    assert line.text.text().startswith("Draft model has not paid on this machine")
    assert "315 MB more would be free" in line.reason.text()
    line.close_button.click()
    reply_with(program, client, BAD)
    assert line.isHidden(), "it was dismissed"
    assert not why.content_of_report.isHidden()
    program.models.reload()
    load_sized(client, 300 << 20)
    assert why.content_of_report.isHidden(), "it was about the pair from before"
    reply_with(program, client, BAD)
    assert not line.isHidden()
    program.loader.reload()
    assert line.isHidden(), "its button would unload another draft model"
    load_sized(client, 300 << 20)
    reply_with(program, client, BAD)
    line.apply.click()
    assert params_of(client.last(LoadPair).drafting) is None
    assert line.isHidden()
    client.finish_load()
    assert program.speculation.text == "auto"


# ------------------------------------------------------------------------ line, hover, run dialog


def test_the_line_the_hover_and_the_run_tell_the_decisions(
    auto: Program, client: FakeClient, qtbot: QtBot
) -> None:
    begin(auto, client)
    write(client)
    client.finish_turn("x")
    reply_id = auto.shown.conversation.path()[-1].message_id
    view = auto.window.chat_pane.chat.reply_view(reply_id)
    assert view is not None
    tips = [button.toolTip() for button in view.findChildren(QAbstractButton)]
    assert any("75\u202f% of steps drafted" in tip for tip in tips)
    auto.window.actions_.run.trigger()
    dialog = auto.runs.dialog
    assert dialog is not None
    qtbot.waitUntil(lambda: is_filled(dialog))
    rows = dialog.reply_page.decisions.rows
    assert rows["Drafting paid"] == "30 steps, 75\u202f%"
    assert rows["Nothing to draft"] == "10 steps, 25\u202f%"
    dialog.close()


def test_decisions_are_kept_with_the_reply(auto: Program, client: FakeClient) -> None:
    begin(auto, client)
    write(client)
    client.finish_turn("x")
    words, chat = auto.live.headline.sentence, auto.shown.id
    auto.shown.new()
    auto.shown.show(chat)
    assert words.startswith("Draft model pays here")
    assert auto.live.headline.sentence == words
    assert auto.live.report is None
    panel = auto.window.panel
    panel.open_only(("details",))
    assert panel.why.isVisibleTo(panel)


def test_a_run_without_decisions_shows_nothing_of_auto(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    program.chat.send("Hello?")
    client.reply("Hi there")
    program.window.actions_.run.trigger()
    dialog = program.runs.dialog
    assert dialog is not None
    qtbot.waitUntil(lambda: is_filled(dialog))
    assert dialog.reply_page.decisions.isHidden()
    dialog.close()


def test_a_real_reply_by_auto(make_real: Callable[..., Program], qtbot: QtBot) -> None:
    program = make_real("thread", strategies=("auto",), max_tokens=64)
    program.start()
    qtbot.waitUntil(lambda: program.pair.state.status == "ready", timeout=LOAD_MS)
    panel = program.window.panel
    panel.why.toggle.setChecked(True)
    assert program.chat.send("Name the days of the week, twice.")
    qtbot.waitUntil(lambda: program.session.active is None, timeout=REPLY_MS)
    reply = program.live.reply
    assert reply is not None
    assert reply.error is None
    decided = [step for step in reply.steps if step.decision is not None]
    assert len(decided) == mix_of(reply.steps).n_steps == reply.stats.n_steps  # type: ignore[union-attr]
    for step in decided:
        n_drafted = sum(count.n_drafted for count in step.drafted)
        assert step.decision.n_drafted == n_drafted  # type: ignore[union-attr]
    told = program.live.report
    assert told is not None
    assert told.plain_s > 0
    assert panel.headline.sentence.text()
    assert panel.why.costs.costs[0].width == 1
    n_used = sum(1 for known in told.drafters if known.n_judged or not known.is_open)
    qtbot.waitUntil(lambda: len(panel.why.blocks) == n_used)
