from __future__ import annotations

import pytest

from paceline.chat.advice.use_cases import USE_CASES, UseCase, can_be_used, recommend
from paceline.engine.draft.strategy import parse_strategy


@pytest.mark.parametrize("use_case", USE_CASES)
@pytest.mark.parametrize("has_draft", [True, False])
def test_every_recommendation_can_be_used(use_case: UseCase, has_draft: bool) -> None:
    strategy = parse_strategy(recommend(use_case, has_draft=has_draft).strategy)
    assert strategy.speculates
    assert has_draft or not strategy.needs_draft_model


def test_a_draft_model_is_used_where_there_is_one() -> None:
    with_model = {case for case in USE_CASES if _needs_model(case)}
    assert with_model == set(USE_CASES) - {"memory", "general"}


def test_what_nothing_is_known_about_is_left_to_auto() -> None:
    assert recommend("general", has_draft=True).strategy == "auto"
    assert recommend("general", has_draft=False).strategy == "auto"
    before = recommend("general", has_draft=True, is_known=lambda text: text != "auto")
    assert before.strategy == "draft"


def test_the_draft_model_is_spare_where_memory_is_short() -> None:
    assert recommend("memory", has_draft=True).draft_is_spare
    assert not recommend("memory", has_draft=False).draft_is_spare
    assert not recommend("general", has_draft=True).draft_is_spare


def test_settings_of_a_chain_name_their_owner() -> None:
    text = recommend("structured", has_draft=True).strategy
    names, *settings = text.split(":")
    assert names == "ngram-map-k4v+draft"
    assert settings == ["ngram-map-k4v.n=8", "ngram-map-k4v.m=8", "ngram-map-k4v.min_hits=2"]


def test_what_there_is_not_gives_way() -> None:
    found = recommend("editing", has_draft=True, is_known=lambda text: "suffix" not in text)
    assert found.strategy == "prompt-lookup+draft"
    assert recommend("long", has_draft=False, is_known=lambda text: False).strategy == "off"


def test_unknown_drafters_cannot_be_used() -> None:
    assert can_be_used("suffix")
    assert not can_be_used("crystal-ball")


def _needs_model(case: UseCase) -> bool:
    return parse_strategy(recommend(case, has_draft=True).strategy).needs_draft_model
