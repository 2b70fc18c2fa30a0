"""Which draft model to take instead: one that is here, a curated one, or one of the Hub.

Pure functions. What is proposed from the library has been judged and fits; what comes from
elsewhere says that its vocabulary is still to be checked.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from paceline.catalog.card import Examined, ModelCard
from paceline.catalog.curated import CuratedPair, words_of
from paceline.catalog.hub.values import HubModel, SearchQuery
from paceline.catalog.pairing import LARGEST_RATIO, family_words, judge, size_ratio
from paceline.catalog.verdict import Remedy
from paceline.catalog.words import file_size, weights

BEST_RATIO = 0.1
"""Bytes per token, draft to target, that is aimed at; the published pairs lie around it."""
LOOKUPS = "prompt-lookup"


@dataclass(frozen=True, slots=True)
class _Fitting:
    reference: str
    card: ModelCard
    distance: float


def propose_draft(
    target: Examined,
    library: Iterable[tuple[str, Examined]],
    curated: Sequence[CuratedPair] = (),
    hub: Sequence[HubModel] = (),
) -> Remedy | None:
    """Return what to take as a draft model for a target.

    Args:
        target: The model to draft for.
        library: References and models that are here; those that do not fit are passed over.
        curated: The list that is shipped.
        hub: What a search for `search_for_drafts` has found, the best first.

    Returns:
        None when no draft model can help this target.
    """
    if not target.nature.writes:
        return None
    if target.nature.memory != "attention":
        return Remedy("Chat with this target without speculation.", strategy="off")
    return (
        _from_library(target, library)
        or _from_list(target.card, curated)
        or _from_hub(target.card, hub)
        or Remedy(
            "Use lookups, which draft from the chat itself and need no draft model.",
            strategy=LOOKUPS,
        )
    )


def distance(target: ModelCard, draft: ModelCard) -> float | None:
    """Return how far a draft's size is from what pays best, in octaves; None: too large."""
    ratio = size_ratio(target, draft)
    if not 0 < ratio <= LARGEST_RATIO:
        return None
    return abs(math.log2(ratio / BEST_RATIO))


def may_draft(target: ModelCard, draft: ModelCard) -> bool:
    """Whether it is worth to look closer: sizes, and vocabularies as far as the cards tell."""
    return (
        distance(target, draft) is not None
        and bool(draft.vocabulary)
        and target.tokenizer.split("/")[0] == draft.tokenizer.split("/")[0]
        and abs(target.n_vocab - draft.n_vocab) <= 128
    )


def _from_library(target: Examined, library: Iterable[tuple[str, Examined]]) -> Remedy | None:
    fitting = []
    for reference, draft in library:
        away = distance(target.card, draft.card)
        if away is not None and judge(target, draft).ok:
            fitting.append(_Fitting(reference, draft.card, away))
    if not fitting:
        return None
    best = min(fitting, key=lambda one: (one.distance, one.card.n_bytes, one.reference))
    share = 100 * size_ratio(target.card, best.card)
    return Remedy(
        f"Take “{best.card.name}” ({file_size(best.card.n_bytes)}), which is here already: it "
        f"reads the same tokens, and {share:.0f} % of the bytes per token.",
        draft=best.reference,
    )


def curated_for(target: ModelCard, curated: Iterable[CuratedPair]) -> list[CuratedPair]:
    """Return the pairs of the list whose target this model is, the most particular first."""
    return sorted(
        (pair for pair in curated if pair.vocabulary_checked is not False and pair.is_for(target)),
        key=lambda pair: (-len(pair.target_words), not pair.draft_reference),
    )


def _from_list(target: ModelCard, curated: Sequence[CuratedPair]) -> Remedy | None:
    for pair in curated_for(target, curated):
        checked = (
            "its vocabulary was checked"
            if pair.vocabulary_checked
            else "its vocabulary will be checked before anything is downloaded"
        )
        what = pair.draft_file or "a file"
        text = (
            f"Download {what} from {pair.draft_repo}, which was reported to draft for "
            f"{pair.title}; {checked}."
        )
        return Remedy(text, draft=pair.draft_reference)
    return None


def search_for_drafts(target: ModelCard) -> SearchQuery:
    """Return a search of the Hub for models that may draft for a target."""
    family = target.family or target.name
    words = [word for word in words_of(family) if family_words(word)]
    text = min(words, key=family.lower().find) if words else ""
    return SearchQuery(
        text=text,
        sort="downloads",
        max_params=int(target.n_params * LARGEST_RATIO),
        architecture=target.architecture,
        limit=10,
    )


def _from_hub(target: ModelCard, found: Sequence[HubModel]) -> Remedy | None:
    for model in found:
        if model.gate == "open" and 0 < model.n_params < target.n_params * LARGEST_RATIO:
            return Remedy(
                f"Look at {model.repo} on Hugging Face, the most downloaded small model of the "
                f"same architecture ({weights(model.n_params)} weights); its vocabulary will be "
                "checked before anything is downloaded.",
                draft=f"hf:{model.repo}",
            )
    return None
