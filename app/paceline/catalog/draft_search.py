"""Looks for a draft model: on this computer, in the curated list, on the Hub.

The first that fits is taken. What lies on the Hub is judged by its header before it is proposed;
without a network the list is proposed as it is, and says so. Blocks; meant for a worker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from paceline.catalog.card import Examined, ModelCard
from paceline.catalog.curated import CuratedPair
from paceline.catalog.draft_proposals import (
    curated_for,
    distance,
    may_draft,
    propose_draft,
    search_for_drafts,
)
from paceline.catalog.hub.client import Hub
from paceline.catalog.hub.errors import HubError
from paceline.catalog.hub.values import HubChoice
from paceline.catalog.library import LibraryEntry
from paceline.catalog.pairing import LARGEST_RATIO, judge
from paceline.catalog.verdict import Remedy
from paceline.catalog.words import file_size
from paceline.errors import UserError

_MOST_LOOKED_INTO = 8
"""Files of the library whose vocabularies are compared; the cards have sorted them."""
_MOST_REMOTE = 2
"""Repositories whose headers are fetched for one remedy; a header is up to 20 MiB."""
_LIKED = ("Q8_0", "Q6_K", "Q5_K_M", "Q4_K_M", "UD-Q4_K_XL", "Q4_0", "F16", "BF16")
"""Quantisations of a draft model, the best first: fewer bits cost accepted tokens."""


@dataclass(frozen=True, slots=True)
class DraftSearch:
    """Where to look.

    Attributes:
        library: What is on this computer.
        curated: The list that is shipped.
        hub: None: not to be asked.
        examine: Gives a model by its reference.
    """

    library: Iterable[LibraryEntry]
    curated: Sequence[CuratedPair]
    hub: Hub | None
    examine: Callable[[str, Callable[[], bool]], Examined]

    def find(self, target: Examined, is_stopped: Callable[[], bool]) -> Remedy | None:
        """Return what to take as a draft model; None when none can help this target."""
        here = propose_draft(target, self._here(target, is_stopped))
        if here is None or here.draft or here.strategy == "off":
            return here
        try:
            return (
                self._from_list(target, is_stopped)
                or self._from_hub(target, is_stopped)
                or propose_draft(target, ())
            )
        except HubError:  # no network: what the list says has to do
            return propose_draft(target, (), self.curated)

    def _here(
        self, target: Examined, is_stopped: Callable[[], bool]
    ) -> Iterator[tuple[str, Examined]]:
        """Yield models of the library whose cards look as if they might fit."""

        def rank(card: ModelCard) -> tuple[bool, float]:
            return card.vocabulary != target.card.vocabulary, distance(target.card, card) or 0.0

        promising = [
            (str(entry.file.path), entry.card)
            for entry in self.library
            if entry.card is not None and may_draft(target.card, entry.card)
        ]
        promising.sort(key=lambda one: (rank(one[1]), one[0]))
        for path, _ in promising[:_MOST_LOOKED_INTO]:
            if is_stopped():
                return
            try:
                yield path, self.examine(path, is_stopped)
            except UserError:  # it has changed or gone since the library was read
                continue

    def _from_list(self, target: Examined, is_stopped: Callable[[], bool]) -> Remedy | None:
        pairs = curated_for(target.card, self.curated)
        if self.hub is None:
            return propose_draft(target, (), pairs) if pairs else None
        for pair in pairs[:_MOST_REMOTE]:
            reference = pair.draft_reference
            reference = reference or self._reference(self.hub, pair.draft_repo, is_stopped)
            draft = self._examined(reference, is_stopped)
            if draft is not None and judge(target, draft).ok:
                file = reference.rpartition(":")[2]
                known = replace(pair, draft_file=file, vocabulary_checked=True)
                return propose_draft(target, (), [known])
        return None

    def _from_hub(self, target: Examined, is_stopped: Callable[[], bool]) -> Remedy | None:
        if self.hub is None:
            return None
        largest = target.card.n_params * LARGEST_RATIO
        found = self.hub.search(search_for_drafts(target.card), is_stopped)
        open_ones = (m for m in found if m.gate == "open" and 0 < m.n_params <= largest)
        for model in islice(open_ones, _MOST_REMOTE):
            reference = self._reference(self.hub, model.repo, is_stopped)
            draft = self._examined(reference, is_stopped)
            if draft is not None and judge(target, draft).ok:
                return Remedy(
                    f"Download “{draft.card.name}” ({file_size(draft.card.n_bytes)}) from "
                    f"{model.repo}: it reads the same tokens.",
                    draft=reference,
                )
        return None

    def _reference(self, hub: Hub, repo: str, is_stopped: Callable[[], bool]) -> str:
        """Return a reference to the file of a repository that is best for drafting, or nothing."""
        try:
            choices = hub.repository(repo, is_stopped=is_stopped).choices
        except HubError as error:
            if error.code in ("not-found", "gated", "unauthorized"):
                return ""
            raise
        choice = best_for_drafting(choices)
        return f"hf:{repo}:{choice.path}" if choice else ""

    def _examined(self, reference: str, is_stopped: Callable[[], bool]) -> Examined | None:
        if not reference:
            return None
        try:
            return self.examine(reference, is_stopped)
        except HubError as error:
            if error.code in ("not-found", "gated", "unauthorized"):
                return None
            raise
        except UserError:  # its header cannot be used
            return None


def best_for_drafting(choices: Sequence[HubChoice]) -> HubChoice | None:
    """Return the file to take as a draft model; None when there is none that is complete."""
    complete = [choice for choice in choices if choice.is_complete]
    for name in _LIKED:
        for choice in complete:
            if choice.quantisation.upper() == name.upper():
                return choice
    return min(complete, key=lambda choice: choice.n_bytes, default=None)
