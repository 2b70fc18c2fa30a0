"""The rows of lists of models: what they say, which are shown, and what is picked by them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from catalog.made_models import SMALL as SMALL_CARD
from gui.library_help import DRAFT, PAIR, TARGET, card, entry
from paceline.catalog.hub.values import HubChoice, HubFile, HubModel, HubRepository
from paceline.gui.models.candidates import Candidate, MachineFacts, Picks
from paceline.gui.models.lists.offers import (
    Offer,
    files_of,
    head_inside,
    installed,
    lookups_only,
    offer_of_entry,
    offer_of_repository,
    recommended_drafts,
    recommended_pairs,
    timed,
)
from paceline.messages import Reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paceline.gui.models.lists.offers import Order

GB = 10**9
SMALL = entry("small-Q8_0", card(n_params=500, quantisation="Q8_0"), n_bytes=5, source="lm-studio")
MIDDLE = entry("Middle-F16", card(n_params=7000, quantisation="F16"), n_bytes=70, source="ollama")
LARGE = entry("large-Q4_K_M", card(n_params=70_000, architecture="qwen2"), n_bytes=9)
BROKEN = entry("broken", problem="2 of its 3 parts are missing.")
HERE = [offer_of_entry(each) for each in (LARGE, BROKEN, SMALL, MIDDLE)]
MODEL = HubModel("o/Wolf-GGUF", 184_000, 9, "", "open", "mit", 7 * GB, "llama", 8192, "o/Wolf")
CHOICES = (
    HubChoice("Q4_K_M", (HubFile("wolf-Q4_K_M.gguf", 4 * GB, ""),)),
    HubChoice("Q8_0", (HubFile("wolf-Q8_0.gguf", 8 * GB, ""),)),
    HubChoice("F16", (HubFile("wolf-F16-00001-of-00002.gguf", 8 * GB, ""),), is_complete=False),
)
REPOSITORY = HubRepository(MODEL, "c" * 40, CHOICES, "https://example.org/o/Wolf-GGUF")
SECOND = Picks(2, replace(TARGET, title="Wolf-7B", architecture="llama"))


def titles(offers: Sequence[Offer]) -> list[str]:
    return [offer.title for offer in offers]


def badges(offer: Offer) -> list[str]:
    return [badge.text for badge in offer.badges]


def test_a_model_of_this_computer_says_what_it_is_and_where() -> None:
    offer = offer_of_entry(entry("big", card(n_params=7 * GB), n_bytes=7 * GB, source="lm-studio"))
    assert (offer.title, offer.facts, offer.size) == ("big", "7B · Q4_K_M · 32k context", "7.0 GB")
    assert badges(offer) == ["LM Studio"]
    assert offer.spoken == "big, 7B · Q4_K_M · 32k context, 7.0 GB, LM Studio"
    broken = offer_of_entry(BROKEN)
    assert broken.problem == "2 of its 3 parts are missing."
    assert broken.problem in broken.spoken
    assert broken.problem in broken.tip
    assert offer_of_entry(entry("new", None)).facts == "not looked into yet"
    assert offer_of_entry(entry("base", card(has_template=False))).facts.endswith("template")
    assert offer_of_entry(entry("head", card(n_heads=1))).facts.endswith("MTP head inside")


# ---------------------------------------------------------------------------- on this computer


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("name", [LARGE, MIDDLE, SMALL, BROKEN]),
        ("largest", [MIDDLE, LARGE, SMALL, BROKEN]),
        ("smallest", [SMALL, LARGE, MIDDLE, BROKEN]),
        ("place", [LARGE, SMALL, MIDDLE, BROKEN]),
    ],
)
def test_models_have_an_order_and_those_of_no_use_are_last(
    order: Order, expected: list[object]
) -> None:
    assert [offer.origin for offer in installed(HERE, "", order, Picks())] == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("q4_k", ["large-Q4_K_M"]),
        ("F16 mid", ["Middle-F16"]),
        ("qwen2", ["large-Q4_K_M"]),
        ("70k", ["large-Q4_K_M"]),
        ("brok", ["broken"]),
        ("nothing like it", []),
    ],
)
def test_words_of_name_architecture_and_quantisation(words: str, expected: list[str]) -> None:
    assert titles(installed(HERE, words, "name", Picks())) == expected


def test_models_that_may_draft_come_first_in_the_second_step() -> None:
    known = {
        "big": card(vocabulary="a", n_params=7 * GB),
        "stranger": card(vocabulary="b", n_params=1 * GB),
        "zebra": card(vocabulary="a", n_params=1 * GB),
    }
    rows = {name: offer_of_entry(entry(name, its)) for name, its in known.items()}
    rows["broken"] = offer_of_entry(BROKEN)
    picks = Picks(2, rows["big"].model)
    shown = installed(rows.values(), "", "name", picks)
    assert [(row.title, row.is_dimmed) for row in shown] == [
        ("zebra", False), ("big", True), ("stranger", True), ("broken", True),
    ]  # fmt: skip
    assert [badges(row)[0] for row in shown[1:3]] == ["not smaller", "other vocabulary"]
    assert "other vocabulary" in shown[2].spoken
    assert titles(installed(rows.values(), "", "name", replace(picks, step=1)))[0] == "big"


# -------------------------------------------------------------------------------- recommended


def test_a_recommended_row_stands_for_a_pair_then_for_a_draft_model() -> None:
    nameless = replace(PAIR, title="Wolf 8B", target_file=None)
    first, second = recommended_pairs((PAIR, nameless), MachineFacts(16 * GB, has_gpu=True))
    assert (first.title, first.facts) == ("Wolf 7B", "drafted by Wolf-0.5B-Q8_0")
    assert first.size == "about 5.2 GB"
    assert first.spoken == ", ".join(
        (
            "Wolf 7B",
            "drafted by Wolf-0.5B-Q8_0.gguf",
            "about 5.2 GB",
            "fits the memory",
            *first.details,
        )
    )
    assert first.details == (
        "Reported: 1.5 times as fast on a laptop; on code, at temperature 0",
        "For any machine, from 6.0 GB of memory",
        "Drafter: o/Wolf-0.5B-GGUF · Wolf-0.5B-Q8_0.gguf",
        "Source: https://example.org/wolf · 2026-01-02",
    )
    unknown = replace(nameless, gain=None, evidence=None, vocabulary_checked=True)
    (brief,) = recommended_pairs((unknown,), MachineFacts())
    assert [line.partition(":")[0] for line in brief.details] == [
        "For any machine, from 6.0 GB of memory", "Drafter", "Vocabularies",
    ]  # fmt: skip
    picks = first.picked(Picks())
    assert picks is not None
    assert (picks.target, picks.draft) == (first.model, first.draft)
    assert first.is_picked(picks)
    opened = second.picked(picks)
    assert opened is not None
    assert (opened.target, opened.draft) == (picks.target, picks.draft), "to look picks nothing"
    assert opened.leads_to == "o/Wolf-7B-GGUF"
    assert [row.is_open(opened) for row in (first, second)] == [False, True]
    assert [row.is_picked(opened) for row in (first, second)] == [True, False]
    assert first.picked(Picks(2)) == replace(picks, step=2)
    assert first.picked(SECOND) is None
    (draft,) = recommended_drafts((PAIR, nameless), SECOND.target or TARGET)
    assert (draft.title, draft.size) == ("Wolf-0.5B-Q8_0", "531 MB")
    picks = draft.picked(SECOND)
    assert picks is not None
    assert picks.draft is not None
    assert picks.draft.reference == "hf:o/Wolf-0.5B-GGUF:Wolf-0.5B-Q8_0.gguf"
    assert recommended_drafts((PAIR,), replace(TARGET, title="Fox-7B")) == []


def test_pairs_are_told_by_what_this_machine_has() -> None:
    for_gpu = replace(PAIR, title="Wolf 8B", machine="gpu")
    large = replace(PAIR, title="Wolf 70B", least_memory=45 * GB)
    unknown = replace(PAIR, title="Wolf", least_memory=None)
    pairs = (large, for_gpu, PAIR, unknown)
    shown = recommended_pairs(pairs, MachineFacts(16 * GB, has_gpu=False))
    assert [(row.title, badges(row), row.is_dimmed) for row in shown] == [
        ("Wolf 7B", ["fits the memory"], False),
        ("Wolf", [], False),
        ("Wolf 8B", ["for a GPU"], False),
        ("Wolf 70B", ["needs more memory"], True),
    ]
    assert [row.badges[0].tone for row in shown if row.badges] == ["accent", "lookup", "lookup"]
    assert titles(recommended_pairs(pairs, MachineFacts(16 * GB, has_gpu=True)))[0] == "Wolf 8B"
    assert not any(map(badges, recommended_pairs(pairs, MachineFacts(0, has_gpu=True))))


def test_pairs_that_are_pleasant_to_read_come_first_among_what_fits() -> None:
    slow = replace(PAIR, title="Slow", target_bytes=9 * GB)
    quick = replace(PAIR, title="Quick", target_bytes=GB)
    unknown = replace(PAIR, title="Unknown", target_bytes=None)
    large = replace(quick, title="Large", least_memory=45 * GB)
    pairs = (large, slow, unknown, quick)
    machine = MachineFacts(16 * GB)
    assert titles(recommended_pairs(pairs, machine)) == ["Slow", "Unknown", "Quick", "Large"]
    machine = replace(machine, reading=Reading(8, 2e10, 2.5e10, 3e10))
    assert titles(recommended_pairs(pairs, machine)) == ["Quick", "Slow", "Unknown", "Large"]


def test_what_is_no_pair_to_load_is_shown_as_what_it_is() -> None:
    network = replace(PAIR, title="Wolf 7B, network", kind="dflash")
    lookups = replace(
        PAIR, title="Small ones", kind="lookup", target_repo="", target_file=None, target_words=(),
        target_architecture=None, target_params=(1, 8 * GB), draft_repo="", draft_file=None,
    )  # fmt: skip
    shown = recommended_pairs((network, lookups, PAIR), MachineFacts(16 * GB, has_gpu=True))
    assert titles(shown) == ["Wolf 7B", "Wolf 7B, network", "Small ones"]
    assert "this version cannot use it yet" in shown[1].facts
    opened = [row.picked(Picks()) for row in shown[1:]]
    assert [each and each.leads_to for each in opened] == [network.target_repo, ""]
    assert [row.is_open(opened[1] or Picks()) for row in shown] == [False, False, True]
    assert not any(row.is_picked(opened[1] or Picks()) for row in shown)
    assert not any(row.has_mark for row in shown[1:])
    without, draft = recommended_drafts((network, lookups, PAIR), SECOND.target or TARGET)
    assert [without.title, draft.title] == ["No draft model", "Wolf-0.5B-Q8_0"]
    picks = without.picked(SECOND)
    assert picks is not None
    assert picks.does_without
    assert without.is_picked(picks)


def test_a_recommended_head_is_a_pair_to_load() -> None:
    inside = replace(PAIR, title="Inside", kind="mtp", draft_repo="", draft_file=None)
    beside = replace(PAIR, title="Beside", kind="mtp", draft_file="mtp-wolf.gguf")
    picked = [
        row.picked(Picks())
        for row in recommended_pairs((inside, beside), MachineFacts(0, has_gpu=True))
    ]
    assert [(each.drafts_itself, each.draft and each.draft.is_head) for each in picked if each] == [
        (True, None), (False, True),
    ]  # fmt: skip
    drafts = recommended_drafts((inside, beside), SECOND.target or TARGET)
    assert titles(drafts) == ["MTP head inside", "mtp-wolf"]
    has_head = replace(SECOND, target=replace(TARGET, has_head=True))
    picks = drafts[0].picked(has_head)
    assert picks is not None
    assert picks.drafts_itself
    assert drafts[0].is_picked(picks)
    assert head_inside().picked(has_head) == picks
    assert lookups_only().picked(has_head) == has_head.with_draft(None)


def test_a_result_says_what_painting_and_a_screen_reader_need() -> None:
    gated = offer_of_repository(replace(MODEL, gate="manual", downloads=1200))
    assert gated.title == "o/Wolf-GGUF"
    assert gated.facts == "7B · llama · 8k context · mit · 1.2k downloads"
    assert (gated.size, badges(gated)) == ("about 4.3 GB", ["gated"])
    assert gated.spoken == "o/Wolf-GGUF, 7B parameters, 1200 downloads, mit, must be asked for"
    assert (gated.repo, gated.has_mark) == ("o/Wolf-GGUF", False)


# --------------------------------------------------------------------------------- on the Hub


def test_the_files_of_a_repository() -> None:
    q4, q8, f16 = files_of(REPOSITORY, CHOICES[0], 6 * GB)
    assert titles((q4, q8, f16)) == ["Q4_K_M", "Q8_0", "F16"]
    assert [badges(row) for row in (q4, q8)] == [["recommended"], ["more than the free memory"]]
    assert q4.facts == "wolf-Q4_K_M.gguf"
    picks = q4.picked(Picks())
    assert picks is not None
    assert picks.target is not None
    assert picks.target.reference == "hf:o/Wolf-GGUF:wolf-Q4_K_M.gguf"
    assert q4.is_picked(picks)
    assert not q8.is_picked(picks)
    assert f16.problem
    assert f16.picked(Picks()) is None
    named = HubChoice("Q4_K_M", (HubFile("wolf-MTP-Q4_K_M.gguf", 4 * GB, ""),))
    (head,) = files_of(replace(REPOSITORY, choices=(named,)), None, 0)
    assert head.facts == "wolf-MTP-Q4_K_M.gguf · MTP head inside"


def test_what_cannot_be_had_of_a_repository_is_marked() -> None:
    odd = HubChoice("Q2_K", (HubFile("con.gguf", GB, ""),))
    good = HubChoice("Q4_0", (HubFile("é 模-Q4_0.gguf", 2 * GB, ""),))
    rows = files_of(replace(REPOSITORY, choices=(odd, good)), None, 0)
    assert ["name" in row.problem for row in rows] == [True, False]
    newer = replace(REPOSITORY, choices=(good,), newer="unknown model architecture: 'wolf9'")
    (row,) = files_of(newer, None, 0)
    assert row.problem == "It is newer than this llama.cpp (unknown model architecture: 'wolf9')."
    locked = files_of(replace(REPOSITORY, has_access=False), None, 0)
    assert all(row.is_dimmed and row.picked(Picks()) is None for row in locked)


def test_heads_beside_a_model_can_be_picked_and_other_sidecars_not() -> None:
    sidecars = tuple(
        HubChoice("Q4_0", (HubFile(f"{kind}-wolf-Q4_0.gguf", 10**8, ""),))
        for kind in ("mtp", "dflash")
    )
    *_, head, network = files_of(replace(REPOSITORY, sidecars=sidecars), None, 0)
    assert (head.is_dimmed, head.problem) == (False, "")
    picks = head.picked(Picks(2, TARGET))
    assert picks is not None
    assert picks.draft is not None
    assert picks.draft.is_head
    assert head.picked(Picks()) is None, "no target"
    assert (network.title, network.is_dimmed) == ("dflash-wolf-Q4_0", True)
    assert network.problem.startswith("Drafter of wolf (DFlash)")
    assert network.problem in network.spoken


def test_a_row_is_marked_by_what_is_picked_in_its_step() -> None:
    rows = {
        each.reference: Offer(each.reference, each.title, model=each) for each in (TARGET, DRAFT)
    }
    picks = Picks(1, TARGET, DRAFT)

    def marked(picks: Picks) -> list[Candidate | None]:
        return [row.model for row in rows.values() if row.is_picked(picks)]

    assert marked(picks) == [TARGET]
    assert marked(replace(picks, step=2)) == [DRAFT]
    assert marked(Picks()) == []


def test_every_row_shows_the_speed_that_is_expected_here() -> None:
    reading = Reading(8, 2e10, 2.5e10, 3e10)
    here = offer_of_entry(entry("wolf", card(n_bytes=4 * GB)))
    assert timed(here, Picks(), None) == here, "of this machine nothing is known"
    alone = timed(here, Picks(), reading)
    assert alone.speed.startswith("about ")
    assert alone.speed in alone.spoken
    (pair,) = recommended_pairs((PAIR,), MachineFacts())
    told = timed(pair, Picks(), reading).speed
    assert re.fullmatch(r"about [\d.]+ tokens/s, [\d.]+ with drafts", told)
    as_draft = offer_of_entry(entry("cub", SMALL_CARD))
    second = timed(as_draft, Picks(2, here.model), reading)
    number = float(second.speed.split()[1])
    assert number > float(alone.speed.split()[1]), "with this draft model it is faster"
    found = offer_of_repository(MODEL)
    assert timed(found, Picks(), reading).speed
    mixture = offer_of_repository(replace(MODEL, architecture="qwen3moe"))
    assert not timed(mixture, Picks(), reading).speed, "a token reads a part of it"
