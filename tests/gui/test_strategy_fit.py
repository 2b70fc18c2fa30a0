"""Adaptation of the chosen strategy when other models are loaded."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from gui.shared_window import INFOS
from paceline.gui.models.controller import StrategyFit
from paceline.gui.state.speculation import SpeculationModel


@dataclass(frozen=True)
class Chosen:
    """The user chooses this strategy."""

    name: str


@given(
    st.lists(
        st.sampled_from(("", "draft", "mtp"))
        | st.sampled_from(("auto", "off", "suffix", "draft", "mtp", "suffix+draft")).map(Chosen),
        max_size=12,
    )
)
def test_what_was_chosen_last_stays_wherever_it_can_be_used(steps: list[str | Chosen]) -> None:
    """Pairs with and without something that drafts are loaded, and strategies chosen between."""
    model = SpeculationModel(INFOS)
    fit = StrategyFit(model)
    chosen = model.current.name
    for step in steps:
        if isinstance(step, Chosen):
            model.choose(step.name)
            chosen = model.current.name
            continue
        before = model.current.name
        words, undo = fit.fit(step)
        assert model.needs(model.current.name) in ("", step)
        if model.needs(chosen) in ("", step):
            assert model.current.name == chosen
        assert bool(words) == (model.current.name != before), "not without a word"
        if undo is not None:
            undo.run()
            assert model.current.name == before
            chosen = before
