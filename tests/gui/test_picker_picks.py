"""Picks, text of the main button and names of rows, which are pure functions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gui.library_help import DRAFT, TARGET
from paceline.catalog.hub.errors import HubError
from paceline.catalog.hub.values import HubChoice, HubFile, HubModel, HubRepository
from paceline.gui.models.candidates import (
    Candidate,
    Picks,
    candidate_facts,
    main_button,
    of_choice,
    of_reference,
    why_hardly,
)
from paceline.gui.models.lists.offers import Offer

REMOTE = replace(DRAFT, reference="hf:o/r:d.gguf", is_here=False, n_bytes=531_000_000)


def test_a_target_with_a_head_drafts_itself_until_another_is_picked() -> None:
    headed = replace(TARGET, reference="/m/mtp.gguf", has_head=True)
    picks = Picks().with_target(headed)
    assert picks.drafts_itself
    assert main_button(picks).text == "Load model"
    assert picks.with_target(TARGET).does_without
    assert not picks.with_draft(None).drafts_itself
    assert picks.with_draft(None).with_target(TARGET).with_target(headed).drafts_itself
    assert picks.with_draft(None, uses_head=True).drafts_itself
    assert picks.with_draft(DRAFT).draft is DRAFT
    head = replace(DRAFT, head="mtp", architecture="wolf")
    assert why_hardly(replace(TARGET, architecture="wolf"), head) == ""
    assert why_hardly(replace(TARGET, architecture="fox"), head) == "other model"


def test_a_model_can_be_loaded_at_once_and_a_draft_model_is_optional() -> None:
    assert (main_button(Picks()).todo, bool(main_button(Picks()).reason)) == ("wait", True)
    picks = Picks().with_target(TARGET)
    alone = main_button(picks).text
    for each in (picks, replace(picks, step=2), picks.with_draft(DRAFT).with_draft(None)):
        assert (main_button(each).todo, main_button(each).text) == ("load", alone)
    assert main_button(picks.with_draft(DRAFT)).text != alone


def test_the_main_button_is_about_the_row_that_is_open() -> None:
    picks = Picks().with_target(TARGET).with_draft(DRAFT)
    leads = Offer("x", "x", role="repository", repo="o/r").picked(picks)
    assert leads is not None
    assert (leads.target, leads.draft) == (TARGET, DRAFT), "it stays for when the row is left"
    assert main_button(leads).todo == "files"
    nowhere = Offer("y", "y", role="repository").picked(picks)
    assert nowhere is not None
    assert main_button(nowhere).todo == "wait"
    assert main_button(nowhere).reason
    assert main_button(leads.with_target(TARGET)).todo == "load"
    away = replace(TARGET, is_here=False)
    for target, size in ((TARGET, "531 MB"), (away, "5.2 GB"), (replace(away, n_bytes=0), "")):
        found = main_button(Picks(2, target, REMOTE))
        assert found.todo == "download"
        assert size in found.text
        assert ("(" in found.text) == bool(size)


@pytest.mark.parametrize(
    ("how", "todo", "reason"),
    [
        ({"obstacle": "Token 7 differs.", "warning": "Tight."}, "wait", "Token 7 differs."),
        ({"warning": "Tight."}, "load", "Tight."),
        ({"is_looking": True, "warning": "Tight."}, "wait", ""),
        ({"is_downloading": True}, "wait", ""),
    ],
)
def test_what_forbids_switches_off_and_what_warns_does_not(
    how: dict[str, Any], todo: str, reason: str
) -> None:
    found = main_button(Picks(2, TARGET, DRAFT), **how)
    assert found.todo == todo
    assert not reason or found.reason == reason
    assert found.reason != "Tight." or todo == "load"


def test_another_target_keeps_only_a_draft_model_that_may_do() -> None:
    picks = Picks(1, TARGET, DRAFT)
    for change, draft in (
        ({"reference": "/m/other.gguf"}, DRAFT), ({"vocabulary": "l"}, None),
        ({"n_params": 400_000_000}, None),
    ):  # fmt: skip
        assert picks.with_target(replace(TARGET, **change)).draft == draft  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("target", "draft", "why"),
    [
        (None, DRAFT, ""),
        (TARGET, DRAFT, ""),
        (TARGET, replace(DRAFT, vocabulary="l"), "other vocabulary"),
        (TARGET, replace(DRAFT, vocabulary=""), ""),
        (TARGET, TARGET, "not smaller"),
        (replace(TARGET, n_params=0), DRAFT, ""),
    ],
)
def test_a_glance_tells_which_draft_models_hardly_do(
    target: Candidate | None, draft: Candidate, why: str
) -> None:
    assert why_hardly(target, draft) == why


def test_candidates_say_what_is_known_of_them() -> None:
    whole = replace(TARGET, quantisation="Q4_K_M", n_ctx_train=32768)
    assert candidate_facts(whole) == "7.6B · Q4_K_M · 32k context"
    assert candidate_facts(Candidate("/m/x.gguf", "x")) == ""
    remote = of_reference("hf:Qwen/Qwen3-0.6B-GGUF:Qwen3-0.6B-Q8_0.gguf")
    assert (remote.title, remote.quantisation) == ("Qwen3-0.6B-Q8_0", "Q8_0")
    assert (remote.repo, remote.is_here) == ("Qwen/Qwen3-0.6B-GGUF", False)
    assert of_reference("/m/x.gguf") == Candidate("/m/x.gguf", "x")
    with pytest.raises(HubError):
        of_reference("hf:nonsense")
    model = HubModel("o/Wolf-GGUF", 5, 1, "", "open", "mit", 7_000_000_000, "llama", 8192, "")
    parts = tuple(HubFile(f"Q4/wolf-0000{i}-of-00002.gguf", 10**9, "") for i in (1, 2))
    choice = HubChoice("Q4_K_M", parts)
    candidate = of_choice(HubRepository(model, "c" * 40, (choice,), ""), choice)
    assert candidate.reference == "hf:o/Wolf-GGUF:Q4/wolf-00001-of-00002.gguf"
    assert (candidate.n_bytes, candidate.problem) == (2 * 10**9, "")
    torn = replace(choice, is_complete=False)
    assert of_choice(HubRepository(model, "", (torn,), ""), torn).problem
