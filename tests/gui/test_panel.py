"""Strategies, their settings and the figures of replies in the panel."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QWidget

from gui.clocks import let_pass
from gui.control_events import drafting_step
from gui.fake_client import (
    STATS,
    FakeClient,
    at_speed,
    perhaps,
    plain_step,
    undrafted,
    without_plain,
)
from paceline.chat.reply import TurnOptions
from paceline.engine.draft import registry
from paceline.engine.draft.strategy import parse_strategy, strategy_named
from paceline.errors import UserError
from paceline.gui.state.figures import stats_line
from paceline.gui.state.live import TICKS_PER_REFRESH
from paceline.gui.state.speculation import GROUPS, SpeculationModel
from paceline.messages import (
    SamplingParams,
    StartTurn,
    Tune,
    TuneApplied,
    TuneRejected,
    TurnFailed,
    TurnStats,
)
from paceline.params import Strategy
from strategies import strategy as strategy_of

if TYPE_CHECKING:
    from paceline.gui.program import Program

# --------------------------------------------------------------------------------- the view model


@pytest.fixture
def model(qapp: object) -> SpeculationModel:
    return SpeculationModel(registry.available())


def model_of(*saved: str) -> SpeculationModel:
    return SpeculationModel(registry.available(), [strategy_named(text) for text in saved])


def test_every_text_is_one_that_the_engine_understands(model: SpeculationModel) -> None:
    names: set[str] = set()
    for drafter in ("draft", "mtp"):
        model.set_drafter(drafter)
        names |= {choice.name for group in GROUPS for choice in model.choices(group)}
    assert {info.id for info in model.infos} <= names
    for name in sorted(names):
        model.reset()
        model.choose(name)
        assert (model.current.name, model.text) == (name, name), "what is usual is not named"
        for info in model.members:
            for parameter in info.parameters:
                for value in (parameter.low, min(parameter.high, 40)):
                    model.reset()
                    model.set_value(info.id, parameter.name, value)
                    parsed = parse_strategy(model.text)
                    assert parsed.infos == model.members


def test_settings_that_do_not_fit_together_keep_the_last_valid_strategy(
    model: SpeculationModel,
) -> None:
    complaints: list[str] = []
    model.refused.connect(complaints.append)
    model.choose("draft")
    model.set_value("draft", "n_max", 4)
    model.set_value("draft", "n_min", 8)
    assert "n_min is 8" in complaints[-1]
    assert model.text == "draft:n_max=4"
    model.set_value("draft", "n_max", 9)
    assert complaints[-1] == ""
    assert model.text == "draft:n_max=9:n_min=8"


def test_saved_settings_of_all_drafters_come_back(model: SpeculationModel) -> None:
    model.use(strategy_named("draft:n_max=4"))
    model.use(strategy_named("prompt-lookup:n_pred=3"))
    again = SpeculationModel(registry.available(), model.saved())
    assert again.text == "prompt-lookup:n_pred=3"
    again.choose("draft")
    assert again.text == "draft:n_max=4"


def test_what_was_saved_by_another_version_gives_way_to_the_default(
    model: SpeculationModel,
) -> None:
    again = model_of("nonsense", "prompt-lookup:n_max=x", "draft:n_max=4")
    assert (again.text, again.unusable) == ("auto", Strategy.of("nonsense"))
    again.choose("draft")
    assert again.text == "draft:n_max=4"
    again = model_of("off", "nonsense")
    assert (again.text, again.unusable) == ("off", None)
    again = model_of("draft:n_max=-9", "prompt-lookup")
    assert (again.text, again.unusable) == ("auto", Strategy.of("draft:n_max=-9"))
    with pytest.raises(UserError):
        model.use(strategy_named("nonsense"))


# ---------------------------------------------------------------------------- strategy and tuning


def test_a_change_reaches_the_running_reply_once_it_rests(
    program: Program, client: FakeClient
) -> None:
    field = program.window.panel.draft_settings.fields["n_max"]
    field.field.setValue(5)
    let_pass(program.panel)
    assert client.all(Tune) == [], "there is no reply"
    program.chat.send("Hello?")
    assert client.last(StartTurn).strategy == strategy_of("draft:n_max=5")
    client.start_turn()
    for position in (2, 5, 7):
        field.slider.setValue(position)
    assert program.next_reply.options().strategy == strategy_of("draft:n_max=8"), "at once"
    assert client.all(Tune) == []
    let_pass(program.panel)
    assert client.all(Tune) == [Tune(strategy_of("draft:n_max=8"))]
    problem = program.window.panel.picker.problem
    client.emit(TuneRejected(Strategy.of("draft"), "no-draft-model", "None is loaded.", "Load it."))
    assert "None is loaded. Load it." in problem.text()
    assert not problem.isHidden()
    client.emit(TuneApplied(Strategy.of("off")))
    assert problem.isHidden()


def test_settings_that_do_not_fit_together_say_so(program: Program) -> None:
    settings, picker = program.window.panel.draft_settings, program.window.panel.picker
    program.window.panel.open_only(("details",))
    settings.fields["n_max"].field.setValue(4)
    settings.fields["n_min"].field.setValue(9)
    assert "n_min is 9" in settings.problem.text()
    assert picker.problem.isHidden(), "above the sliders it would move them"
    program.window.panel.open_only(())
    assert "n_min is 9" in picker.problem.text()
    settings.fields["n_min"].field.setValue(0)
    assert settings.problem.isHidden()


def test_slider_and_field_show_the_same(program: Program) -> None:
    field = program.window.panel.draft_settings.fields["p_min"]
    field.slider.setValue(25)
    assert field.field.value() == pytest.approx(0.25)
    field.field.setValue(0.6)
    assert field.slider.value() == 60
    n_max = program.window.panel.draft_settings.fields["n_max"]
    n_max.field.setValue(10_000)
    assert n_max.slider.value() == n_max.slider.maximum()
    assert program.speculation.value("draft", "n_max") == 10_000


def test_a_strategy_that_lacks_its_model_says_so_at_once(
    program: Program, client: FakeClient
) -> None:
    problem = program.window.panel.picker.problem
    program.window.actions_.no_draft.trigger()
    client.finish_load()
    for name, is_told in (("draft", True), ("off", False), ("draft", True)):
        program.speculation.choose(name)
        assert problem.isHidden() is not is_told
    program.models.load_demo_pair()
    client.finish_load()
    assert problem.isHidden()


def draws(program: Program) -> bool:
    """Return True while figures are drawn again and again."""
    return any(timer.isActive() for timer in program.live.findChildren(QTimer))


def refresh(program: Program) -> None:
    """Let the time between two drawings of all figures go by."""
    for timer in program.live.findChildren(QTimer):
        for _ in range(TICKS_PER_REFRESH):
            timer.timeout.emit()


def write(program: Program, client: FakeClient, stats: TurnStats, strategy: str = "draft") -> None:
    """Let a reply grow that has these figures so far."""
    program.chat.send("Hello?")
    client.start_turn()
    client.step("a", 0)
    for number in range(1, 20):
        if stats.n_drafted and strategy == "auto":
            client.emit(drafting_step(number))
        elif stats.n_drafted:
            client.step("abc", number)
        else:
            client.emit(plain_step(number))
    client.figures(stats)
    assert draws(program)
    refresh(program)


@pytest.mark.parametrize("strategy", ["draft", "auto", "off"])
def test_the_headline_is_live_and_the_same_at_the_end_and_on_the_way(
    program: Program, client: FakeClient, strategy: str
) -> None:
    headline = program.window.panel.headline
    assert headline.speed.text() == "–"
    program.speculation.choose(strategy)
    for stats in (at_speed(150.0), STATS, perhaps(), at_speed(10.0), undrafted(), without_plain()):
        write(program, client, stats, strategy)
        shown = program.live.headline
        assert shown.speed == headline.speed.text() != ""
        client.finish_turn("abc", stats=stats)
        assert not draws(program)
        assert program.live.headline == shown
        assert headline.sentence.text() == shown.sentence


def test_sampling_settings_go_into_the_next_reply(program: Program, client: FakeClient) -> None:
    sampling = program.window.panel.sampling
    assert program.next_reply.options() == TurnOptions(
        strategy=Strategy.of("draft"), remember=True, cuts=True
    )
    sampling.sliders["temperature"].field.setValue(0.0)
    sampling.sliders["top_k"].field.setValue(1)
    sampling.sliders["top_p"].field.setValue(0.5)
    sampling.sliders["min_p"].field.setValue(0.1)
    sampling.max_tokens.setValue(33)
    sampling.seed.use(2**40)
    sampling.system_prompt.setPlainText("Be kind.")
    program.chat.send("Hello?")
    command = client.last(StartTurn)
    assert command.sampling == SamplingParams(0.0, 1, 0.5, 0.1)
    assert (command.max_tokens, command.seed) == (33, 2**40)
    assert command.prompt.messages[0].text == "Be kind."


@pytest.mark.parametrize(
    ("stats", "ratio", "tone"),
    [
        (STATS, "1.9×", "gain"),
        (perhaps(), "≈ 1×", "even"),
        (perhaps(at_speed(20.0)), "≈ 1×", "even"),
        (at_speed(10.0), "0.5×", "loss"),
        (undrafted(), "", ""),
    ],
)
def test_a_loss_is_called_a_loss_and_chance_neither(
    program: Program, client: FakeClient, stats: TurnStats, ratio: str, tone: str
) -> None:
    program.chat.send("Hello?")
    client.start_turn()
    client.step("a", 0)
    client.step("b", 1, drafter="draft")
    client.step("c", 2, drafter="prompt-lookup")
    client.finish_turn("abc", stats=stats)
    headline = program.window.panel.headline
    assert headline.ratio.text() == ratio
    assert not ratio or headline.ratio.property("tone") == tone
    assert headline.sentence.text()


def test_a_reply_that_breaks_off_keeps_the_speed_of_its_steps(
    program: Program, client: FakeClient
) -> None:
    program.chat.send("Hello?")
    client.start_turn()
    for number in range(6):
        client.step("abc", number)
        client.figures()
    client.emit(TurnFailed("broken", "It broke.", ""))
    headline = program.window.panel.headline
    assert (headline.speed.text(), headline.ratio.text()) == ("133", "")
    assert "3.0" in headline.sentence.text()
    reply = program.live.reply
    assert reply is not None
    assert stats_line(reply) == "<b>133 t/s</b>"


def test_figures_belong_to_the_conversation_that_is_shown_and_a_hidden_panel_catches_up(
    program: Program, client: FakeClient
) -> None:
    speed = program.window.panel.headline.speed
    program.window.actions_.panel.trigger()
    program.chat.send("Hello?")
    client.reply("Hi")
    assert speed.text() == "–"
    program.window.actions_.panel.trigger()
    first = program.shown.id
    for chat, shown, n_steps in (("", "–", 0), (first, "41.2", 1)):
        program.shown.show(chat) if chat else program.shown.new()
        assert (speed.text(), program.live.metrics.n_steps) == (shown, n_steps)


def test_the_chat_has_four_settings_and_more(program: Program) -> None:
    panel = program.window.panel
    card = panel.sampling
    assert (panel.tab, panel.plot.isVisible(), card.isVisible()) == ("speed", True, False)
    panel.show_tab("chat")
    assert (panel.plot.isVisible(), card.isVisible()) == (False, True)
    first: list[QWidget] = [
        card.system_prompt, program.sampling.card_button, card.sliders["temperature"],
        card.max_tokens,
    ]  # fmt: skip
    assert all(field.isVisible() for field in first)
    others = [field for field in (*card.fields.values(), card.form) if field not in first]
    assert not any(field.isVisible() for field in others)
    panel.open_only(("more",))
    assert all(field.isVisible() for field in others)


@pytest.mark.parametrize("is_live", [True, False])
def test_a_reply_written_while_the_other_tab_is_shown_is_in_the_plot(
    program: Program, client: FakeClient, *, is_live: bool
) -> None:
    panel = program.window.panel
    panel.show_tab("chat")
    program.chat.send("Hello?")
    client.start_turn()
    client.step("abc", 0)
    client.step("abc", 1)
    if not is_live:
        client.finish_turn("abcabc")
    panel.show_tab("speed")
    assert len(panel.plot.speed.getData()[0]) == 1
    assert len(panel.plot.plain.getData()[0]) == (0 if is_live else 2)
