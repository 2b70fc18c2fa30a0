"""Strategies, their settings and the figures of replies in the panel."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gui.clocks import let_pass
from gui.fake_client import (
    FakeClient,
)
from paceline.engine.draft import registry
from paceline.engine.draft.strategy import parse_strategy, strategy_named
from paceline.errors import UserError
from paceline.gui.state.speculation import GROUPS, SpeculationModel
from paceline.messages import (
    StartTurn,
    Tune,
    TuneApplied,
    TuneRejected,
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
