"""Proposals of other draft models, and the order of their sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from catalog.made_models import CARD, DRAFT, TARGET, changed, with_text
from paceline.catalog.card import Examined
from paceline.catalog.hub.values import HubChoice, HubFile
from paceline.catalog.judge.curated import CuratedPair, ReportSource
from paceline.catalog.judge.draft_search import (
    DraftSearch,
    best_for_drafting,
    may_draft,
    search_for_drafts,
)
from paceline.catalog.judge.pairing import Remedy
from paceline.catalog.local.library import LibraryEntry
from paceline.catalog.local.model_files import ModelFile

PAIR = CuratedPair(
    title="Wolf 3 8B",
    target_repo="pack/Wolf-8B-GGUF",
    target_file=None,
    target_bytes=None,
    target_words=("wolf",),
    target_architecture="llama",
    target_params=(7_000_000_000, 9_000_000_000),
    draft_repo="pack/Wolf-0.5B-GGUF",
    draft_file="wolf-0.5b-q8_0.gguf",
    draft_bytes=None,
    about=(),
    active=None,
    acceptance=None,
    gain=None,
    evidence=ReportSource("https://example.com/wolf", None),
    vocabulary_checked=None,
)


def search(
    target: Examined,
    library: Sequence[tuple[str, Examined]] = (),
    curated: Sequence[CuratedPair] = (),
) -> Remedy | None:
    """Search for what may be proposed without a network."""
    known = dict(library)
    entries = [
        LibraryEntry(ModelFile(Path(path), (Path(path),), 1, 1, 1, path), model.card)
        for path, model in library
    ]
    found = DraftSearch(entries, curated, None, lambda path, _: known[path])
    return found.find(target, lambda: False, by_translation=False)


def proposed(
    target: Examined,
    library: Sequence[tuple[str, Examined]] = (),
    curated: Sequence[CuratedPair] = (),
) -> Remedy:
    """Return what is proposed without a network."""
    remedy = search(target, library, curated)
    assert remedy is not None
    return remedy


def test_the_library_comes_first_and_what_does_not_fit_is_passed_over() -> None:
    library = [
        ("/m/other-words.gguf", with_text(DRAFT, 100, b"?")),
        ("/m/huge.gguf", TARGET),
        ("/m/fits.gguf", DRAFT),
    ]
    remedy = proposed(TARGET, library, [PAIR])
    assert remedy.draft == "/m/fits.gguf"
    assert "“Wolf 0.5B Instruct” (530 MB), which is here already" in remedy.text
    assert "11 % of the bytes" in remedy.text


def test_the_nearest_to_a_tenth_wins_and_then_the_smaller() -> None:
    def sized(each: int) -> tuple[str, Examined]:
        return f"/m/{each}.gguf", changed(DRAFT, layer_bytes=(each,) * 20, output_bytes=99_999_999)

    library = [sized(70_000_000), sized(18_000_000), sized(2_000_000)]
    remedy = proposed(TARGET, library)
    assert remedy.draft == "/m/18000000.gguf"
    twins = [("/m/z.gguf", DRAFT), ("/m/a.gguf", changed(DRAFT, n_bytes=400_000_000))]
    twin = proposed(TARGET, twins)
    assert twin.draft == "/m/a.gguf"


def test_the_list_comes_next_and_says_what_is_not_checked() -> None:
    remedy = proposed(TARGET, [], [PAIR])
    assert remedy.draft == "hf:pack/Wolf-0.5B-GGUF:wolf-0.5b-q8_0.gguf"
    assert "reported to draft for Wolf 3 8B" in remedy.text
    assert "will be checked" in remedy.text


@pytest.mark.parametrize(
    "target",
    [
        changed(TARGET, architecture="qwen2"),
        changed(TARGET, n_params=70_000_000_000),
        changed(TARGET, name="Fox 8B", family="Fox"),
    ],
    ids=["architecture", "size", "name"],
)
def test_a_pair_of_the_list_is_for_its_own_target(target: Examined) -> None:
    remedy = proposed(target, [], [PAIR])
    assert remedy.draft == ""
    assert remedy.strategy == "prompt-lookup"


def test_a_pair_that_was_found_not_to_fit_is_not_proposed() -> None:
    remedy = proposed(TARGET, [], [replace(PAIR, vocabulary_checked=False)])
    assert remedy.strategy == "prompt-lookup"


def test_what_is_no_pair_to_load_is_never_proposed_as_one() -> None:
    remedy = proposed(TARGET, [], [replace(PAIR, kind="mtp")])
    assert (remedy.draft, remedy.strategy) == ("", "prompt-lookup")
    lookups = replace(
        PAIR, kind="lookup", target_repo="", target_words=(), target_architecture=None,
        target_params=(1, TARGET.card.n_params), draft_repo="", draft_file=None,
    )  # fmt: skip
    remedy = proposed(TARGET, [], [PAIR, lookups])
    assert (remedy.draft, remedy.strategy) == ("", "prompt-lookup")
    assert "so small a model" in remedy.text
    larger = replace(lookups, target_params=(1, TARGET.card.n_params - 1))
    found = proposed(TARGET, [], [PAIR, larger])
    assert found.draft == PAIR.draft_reference


def test_nothing_at_all_leaves_lookups() -> None:
    remedy = proposed(TARGET)
    assert remedy.strategy == "prompt-lookup"
    assert remedy.draft == ""


def test_no_draft_helps_a_target_that_cannot_speculate() -> None:
    assert search(changed(TARGET, writes=False), [("/m/x.gguf", DRAFT)]) is None
    recurrent = proposed(changed(TARGET, memory="recurrent"), [("/m/x.gguf", DRAFT)])
    assert recurrent.draft == "/m/x.gguf"


def test_cards_tell_which_files_are_worth_a_closer_look() -> None:
    assert may_draft(CARD, DRAFT.card)
    for changes in (
        {"tokenizer": "llama/default"},
        {"n_vocab": CARD.n_vocab + 129},
        {"vocabulary": ""},
        {"layer_bytes": (100_000_000,) * 20},
    ):
        assert not may_draft(CARD, changed(DRAFT, **changes).card), changes
    assert may_draft(CARD, changed(DRAFT, tokenizer="gpt2/other", vocabulary="77").card)


def test_the_search_asks_for_small_ones_of_the_architecture() -> None:
    query = search_for_drafts(changed(TARGET, family="Qwen2.5-Coder").card)
    assert query.text == "qwen2.5"
    assert query.architecture == "llama"
    assert query.max_params == 2_000_000_000
    assert search_for_drafts(changed(TARGET, family="", name="7B").card).text == ""


@pytest.mark.parametrize(
    ("offered", "best"),
    [
        (["Q2_K", "Q8_0", "F16"], "Q8_0"),
        (["Q3_K_S", "q4_k_m"], "q4_k_m"),
        (["F16", "IQ2_XXS"], "F16"),
        (["IQ3_XXS", "IQ2_XXS"], "IQ2_XXS"),
    ],
)
def test_a_draft_model_is_taken_with_many_bits(offered: list[str], best: str) -> None:
    sizes = {"IQ2_XXS": 1, "IQ3_XXS": 2}
    choices = [
        HubChoice(name, (HubFile(f"{name}.gguf", sizes.get(name, 3), ""),)) for name in offered
    ]
    chosen = best_for_drafting(choices)
    assert chosen.quantisation == best
    assert best_for_drafting([]) is None
    torn = HubChoice("Q8_0", (HubFile("a-00001-of-00002.gguf", 3, ""),), is_complete=False)
    assert best_for_drafting([torn]) is None
