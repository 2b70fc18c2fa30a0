"""ngram-simple: what followed the latest earlier occurrence of the last n tokens.

After llama.cpp's drafter of the same name (docs/speculative.md, common/ngram-map.cpp), which
searches the whole text at every step; here an index finds the place at once. Where more than m
tokens have followed that place, and n is at most m, both propose the same (but the code ignores
occurrences that begin the text). Nearer to the text's end this one follows the documentation and
not the code:

- The code proposes nothing while the text has no more than n + m + 1 tokens, where fewer than
  n + 1 tokens followed, and whenever m is below n. The documentation has no such limits, and with
  a small n they would suppress most of what a short text offers.
- The code copies up to the last token but one. Here the copy goes up to the last one, and starts
  again only if the text is repeating itself (the tokens before the place equal those after it).
  So the loops of a small model fill whole drafts, and two places that happen to be near each
  other do not make a long useless one.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from paceline.engine.draft.base import NO_DRAFT, Draft, DrafterInfo, Parameter, Settings
from paceline.engine.draft.lookups.hashes import SpanHashes
from paceline.engine.draft.lookups.lookup import Lookup


class LastPlaces:
    """The place after the latest occurrence with a token after it, by n-gram."""

    def __init__(self, n: int) -> None:
        self._n = n
        self._hashes = SpanHashes()
        self._places: dict[int, int] = {}

    def feed(self, history: Sequence[int], start: int, end: int) -> None:
        """Index every n-gram that has a token after it: all but the one at the text's end."""
        self._hashes.feed(history[start:end])
        first = max(start, self._n)
        if first < end:
            places = self._places
            for place, gram in enumerate(self._hashes.grams(self._n, first, end), first):
                places[gram] = place

    def find(self, ahead: Sequence[int]) -> int | None:
        """Return the place of the n-gram that ends the text and then `ahead`."""
        gram = self._hashes.tail(ahead, self._n)
        return None if gram is None else self._places.get(gram)


class NgramSimple(Lookup[LastPlaces]):
    """Feeding and proposing cost the same for any `n` and any length of the text."""

    name = "ngram-simple"

    def shape(self, settings: Settings) -> Hashable:
        """Return the n-gram's length."""
        return settings["n"]

    def new_index(self) -> LastPlaces:
        """Return an empty index."""
        return LastPlaces(int(self.settings["n"]))

    def look_up(
        self, index: LastPlaces, history: Sequence[int], ahead: Sequence[int], n_max: int
    ) -> Draft:
        """Return what followed the latest earlier occurrence of the text's last n tokens."""
        place = index.find(ahead)
        if place is None:
            return NO_DRAFT
        n = min(n_max, int(self.settings["m"]))
        copy = [*history[place : place + n], *ahead][:n]
        period = len(history) + len(ahead) - place
        if period < n and period <= place and list(history[place - period : place]) == copy:
            copy = (copy * (n // period + 1))[:n]
        return Draft(copy)


INFO = DrafterInfo(
    id=NgramSimple.name,
    title="N-gram, simple",
    summary="Copies what followed the same long run of tokens; good for rewriting and quoting.",
    family="lookup",
    parameters=(
        Parameter(
            "n", "int", 12, 1, 64, "Match length",
            "Tokens that must agree with an earlier place. Shorter matches are found more often "
            "and are less sure.",
        ),
        Parameter(
            "m", "int", 48, 1, 1024, "Tokens ahead",
            "Tokens copied per step at most. More pays where long stretches are repeated word for "
            "word; what the batch cannot take is cut.",
            can_be_auto=True,
        ),
    ),
    make=NgramSimple,
)  # fmt: skip
