from __future__ import annotations

import pytest

from paceline.chat.advice import USE_CASES, UseCase, can_be_used, recommend
from paceline.engine.draft.strategy import Needs, parse_strategy


@pytest.mark.parametrize("use_case", USE_CASES)
@pytest.mark.parametrize("model", ["draft", "mtp", ""])
def test_every_recommendation_can_be_used(use_case: UseCase, model: Needs) -> None:
    strategy = parse_strategy(recommend(use_case, model=model).strategy)
    assert strategy.speculates
    assert strategy.needs in ("", model)


def test_a_draft_model_is_used_where_there_is_one() -> None:
    with_model = {case for case in USE_CASES if _needs_model(case)}
    assert with_model == set(USE_CASES) - {"memory", "general"}


def test_what_nothing_is_known_about_is_left_to_auto() -> None:
    assert recommend("general", model="draft").strategy == "auto"
    assert recommend("general", model="").strategy == "auto"
    before = recommend("general", model="draft", is_known=lambda text: text != "auto")
    assert before.strategy == "draft"


def test_the_draft_model_is_spare_where_memory_is_short() -> None:
    assert recommend("memory", model="draft").draft_is_spare
    assert not recommend("memory", model="").draft_is_spare
    assert not recommend("general", model="draft").draft_is_spare


def test_settings_of_a_chain_name_their_owner() -> None:
    text = recommend("structured", model="draft").strategy
    names, *settings = text.split(":")
    assert names == "ngram-map-k4v+draft"
    assert settings == ["ngram-map-k4v.n=8", "ngram-map-k4v.m=8", "ngram-map-k4v.min_hits=2"]


def test_what_there_is_not_gives_way() -> None:
    found = recommend("editing", model="draft", is_known=lambda text: "suffix" not in text)
    assert found.strategy == "prompt-lookup+draft"
    assert recommend("long", model="", is_known=lambda text: False).strategy == "off"


def test_unknown_drafters_cannot_be_used() -> None:
    assert can_be_used("suffix")
    assert not can_be_used("crystal-ball")


def _needs_model(case: UseCase) -> bool:
    return parse_strategy(recommend(case, model="draft").strategy).needs == "draft"
