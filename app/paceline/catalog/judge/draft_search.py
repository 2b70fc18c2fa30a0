"""Search for a draft model: on this computer, in the curated list, on the Hub.

The first that fits is taken. A model on the Hub is judged by its header before it is proposed;
without a network the list is proposed as it is, and the text says so. Blocks; meant for a worker.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from paceline.catalog.card import Examined, ModelCard
from paceline.catalog.hub.client import Hub
from paceline.catalog.hub.errors import HubError
from paceline.catalog.hub.values import HubChoice, SearchQuery
from paceline.catalog.judge.curated import CuratedPair, words_of
from paceline.catalog.judge.pairing import (
    BY_TRANSLATION,
    MAX_RATIO,
    Remedy,
    family_words,
    judge,
    reads_alike,
    size_ratio,
)
from paceline.catalog.local.library import LibraryEntry
from paceline.errors import UserError
from paceline.sentence import Sentence, sentence

_MAX_COMPARED = 8
"""Upper bound of the library files whose vocabularies are compared, the best by their cards."""
_MAX_TRANSLATED = 3
"""The same for drafts by translation, which take longer to judge."""
_MAX_REMOTE = 2
"""Upper bound of the repositories whose headers are fetched for one remedy; a header is up to 20
MiB."""
_LIKED = ("Q8_0", "Q6_K", "Q5_K_M", "Q4_K_M", "UD-Q4_K_XL", "Q4_0", "F16", "BF16")
"""Quantisations of a draft model, the best first: fewer bits cost accepted tokens."""


@dataclass(frozen=True, slots=True)
class DraftSearch:
    """Places of a search for draft models.

    Attributes:
        library: The models on this computer.
        curated: The list that is shipped.
        hub: The Hub, or None if it must not be asked.
        examine: Returns what is known of a model by its reference.
    """

    library: Iterable[LibraryEntry]
    curated: Sequence[CuratedPair]
    hub: Hub | None
    examine: Callable[[str, Callable[[], bool]], Examined]

    def find(
        self, target: Examined, is_stopped: Callable[[], bool], *, by_translation: bool = True
    ) -> Remedy | None:
        """Return what to take as a draft model; None when none can help this target.

        Args:
            target: The model to draft for.
            is_stopped: Polled often; ends the search.
            by_translation: Whether one with another tokenizer will do where no other is found.
        """
        if not target.nature.writes:
            return None
        if target.card.n_heads:
            return Remedy("Take no draft model: the model's own MTP head drafts.")
        found = self._from_library(target, is_stopped) or self._without_draft(target.card)
        if found:
            return found
        try:
            found = self._from_list(target, is_stopped) or self._from_hub(target, is_stopped)
        except HubError:  # no network: the list alone must do
            found = next(map(_proposed, self._listed(target.card)), None)
        if by_translation and not (found and found.draft):
            found = self._translated(target, is_stopped) or found
        return found or Remedy(
            "Use lookups, which draft from the chat itself and need no draft model.",
            strategy=LOOKUPS,
        )

    def _from_library(self, target: Examined, is_stopped: Callable[[], bool]) -> Remedy | None:
        def order(one: tuple[str, Examined]) -> tuple[float, int, str]:
            path, draft = one
            return distance(target.card, draft.card) or 0.0, draft.card.n_bytes, path

        looked_into = self._looked_into(target, may_draft, _MAX_COMPARED, is_stopped)
        fitting = [(path, draft) for path, draft in looked_into if reads_alike(target, draft)]
        if not fitting:
            return None
        path, best = min(fitting, key=order)
        share = 100 * size_ratio(target.card, best.card)
        return Remedy(
            sentence(
                "Take “{name}” ({size:size}), which is here already: it reads the "
                "same tokens, and {share:.0f} % of the bytes per token.",
                name=best.card.name,
                size=best.card.n_bytes,
                share=share,
            ),
            draft=path,
        )

    def _translated(self, target: Examined, is_stopped: Callable[[], bool]) -> Remedy | None:
        """Return the model of the library that has most of the target's tokens."""
        best, share = None, 0.0
        for path, draft in self._looked_into(target, _may_translate, _MAX_TRANSLATED, is_stopped):
            verdict = judge(target, draft)
            if verdict.ok and (verdict.translated or 0.0) > share:
                share = verdict.translated or 0.0
                words = next(r.text for r in verdict.reasons if r.code == BY_TRANSLATION)
                best = Remedy(
                    sentence(
                        "Take “{name}” ({size:size}), which is here already. {words}",
                        name=draft.card.name,
                        size=draft.card.n_bytes,
                        words=words,
                    ),
                    draft=path,
                )
        return best

    def _looked_into(
        self,
        target: Examined,
        may: Callable[[ModelCard, ModelCard], bool],
        n_most: int,
        is_stopped: Callable[[], bool],
    ) -> Iterator[tuple[str, Examined]]:
        """Yield the library's most promising models whose cards allow it."""

        def rank(card: ModelCard) -> tuple[bool, float]:
            return card.vocabulary != target.card.vocabulary, distance(target.card, card) or 0.0

        promising = [
            (str(entry.file.path), entry.card)
            for entry in self.library
            if entry.card and not entry.problem and may(target.card, entry.card)
        ]
        promising.sort(key=lambda one: (rank(one[1]), one[0]))
        for path, _ in promising[:n_most]:
            if is_stopped():
                return
            try:
                yield path, self.examine(path, is_stopped)
            except UserError:  # it has changed or gone since the library was read
                continue

    def _without_draft(self, target: ModelCard) -> Remedy | None:
        """Return that a target of this size needs no draft model, where the list says so."""
        if not any(pair.kind == "lookup" for pair in self._pairs_of(target)):
            return None
        return Remedy(
            "Use lookups, which draft from the chat itself: beside so small a model a draft "
            "model has little to save.",
            strategy=LOOKUPS,
        )

    def _listed(self, target: ModelCard) -> list[CuratedPair]:
        """Return the pairs of the list whose target this model is, the most specific first."""
        pairs = (pair for pair in self._pairs_of(target) if pair.kind == "draft")
        return sorted(
            (pair for pair in pairs if pair.vocabulary_checked is not False),
            key=lambda pair: (-len(pair.target_words), not pair.draft_reference),
        )

    def _pairs_of(self, target: ModelCard) -> list[CuratedPair]:
        said = f"{target.family} {target.name}", target.architecture, target.n_params
        return [pair for pair in self.curated if pair.is_for(*said)]

    def _from_list(self, target: Examined, is_stopped: Callable[[], bool]) -> Remedy | None:
        pairs = self._listed(target.card)
        if self.hub is None:
            return next(map(_proposed, pairs), None)
        for pair in pairs[:_MAX_REMOTE]:
            found = self._on_hub(self.hub, target, pair.draft_repo, pair.draft_file, is_stopped)
            if found is not None:
                return _proposed(replace(pair, draft_file=found[0], vocabulary_checked=True))
        return None

    def _from_hub(self, target: Examined, is_stopped: Callable[[], bool]) -> Remedy | None:
        if self.hub is None:
            return None
        largest = target.card.n_params * MAX_RATIO
        found = self.hub.search(search_for_drafts(target.card), is_stopped)
        open_ones = (m for m in found if m.gate == "open" and 0 < m.n_params <= largest)
        for model in islice(open_ones, _MAX_REMOTE):
            fitting = self._on_hub(self.hub, target, model.repo, None, is_stopped)
            if fitting is not None:
                file, draft = fitting
                return Remedy(
                    sentence(
                        "Download “{name}” ({size:size}) from {repo}: it reads the same tokens.",
                        name=draft.card.name,
                        size=draft.card.n_bytes,
                        repo=model.repo,
                    ),
                    draft=f"hf:{model.repo}:{file}",
                )
        return None

    def _on_hub(
        self,
        hub: Hub,
        target: Examined,
        repo: str,
        file: str | None,
        is_stopped: Callable[[], bool],
    ) -> tuple[str, Examined] | None:
        """Return a file of a repository that reads the same tokens, by default its best."""
        try:
            if file is None:
                best = best_for_drafting(hub.repository(repo, is_stopped=is_stopped).choices)
                if best is None:
                    return None
                file = best.path
            draft = self.examine(f"hf:{repo}:{file}", is_stopped)
        except HubError as error:
            if error.code in ("not-found", "gated", "unauthorized"):
                return None
            raise
        except UserError:  # its header cannot be used
            return None
        return (file, draft) if reads_alike(target, draft) else None


def best_for_drafting(choices: Sequence[HubChoice]) -> HubChoice | None:
    """Return the file to take as a draft model; None when there is none that is complete."""
    complete = [choice for choice in choices if choice.is_complete]
    for name in _LIKED:
        for choice in complete:
            if choice.quantisation.upper() == name.upper():
                return choice
    return min(complete, key=lambda choice: choice.n_bytes, default=None)


BEST_RATIO = 0.1
"""Best ratio of bytes per token, draft to target; the published pairs are near it."""
LOOKUPS = "prompt-lookup"


def distance(target: ModelCard, draft: ModelCard) -> float | None:
    """Return a draft's distance from the best size ratio, in octaves, or None if too large."""
    ratio = size_ratio(target, draft)
    if not 0 < ratio <= MAX_RATIO:
        return None
    return abs(math.log2(ratio / BEST_RATIO))


def _may_translate(target: ModelCard, draft: ModelCard) -> bool:
    """Return whether the sizes fit, and there are tokens to translate."""
    return distance(target, draft) is not None and bool(draft.vocabulary) and not draft.sidecar


def may_draft(target: ModelCard, draft: ModelCard) -> bool:
    """Return whether sizes and vocabularies may fit, as far as the cards say."""
    return (
        _may_translate(target, draft)
        and target.tokenizer.split("/")[0] == draft.tokenizer.split("/")[0]
        and abs(target.n_vocab - draft.n_vocab) <= 128
    )


def _proposed(pair: CuratedPair) -> Remedy:
    text = sentence(
        "Download {what} from {repo}, which was reported to draft for {title}; {checked}.",
        what=pair.draft_file or sentence("a file"),
        repo=pair.draft_repo,
        title=Sentence(pair.title),
        checked=sentence("its vocabulary was checked")
        if pair.vocabulary_checked
        else sentence("its vocabulary will be checked before anything is downloaded"),
    )
    return Remedy(text, draft=pair.draft_reference)


def search_for_drafts(target: ModelCard) -> SearchQuery:
    """Return a search of the Hub for models that may draft for a target."""
    family = target.family or target.name
    words = [word for word in words_of(family) if family_words(word)]
    text = min(words, key=family.lower().find) if words else ""
    return SearchQuery(
        text=text,
        sort="downloads",
        max_params=int(target.n_params * MAX_RATIO),
        architecture=target.architecture,
        limit=10,
    )
