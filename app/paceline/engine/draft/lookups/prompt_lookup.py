"""Prompt lookup: what followed an earlier occurrence of the longest n-gram that ends the text.

After Apoorv Saxena's prompt lookup decoding (2023), with three changes: the reply itself is
searched, too; of several places the latest counts, since texts drift; and a copy may continue into
the tokens that it has just drafted, so that a short period fills a long draft.

After L equal tokens the next one has the confidence L / (L + 1), as in `suffix.py`. The draft does
not depend on it; Auto's lengths do.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from paceline.engine.draft.base import NO_DRAFT, Draft, DrafterInfo, Parameter, Settings
from paceline.engine.draft.lookups.lookup import Lookup

_MAX_AGREED = 24  # a longer match is hardly more reliable


class LatestPlaces:
    """The place after the latest occurrence, by n-gram of up to `max_ngram` tokens."""

    def __init__(self, max_ngram: int) -> None:
        self._max_ngram = max_ngram
        self._places: dict[tuple[int, ...], int] = {}

    def feed(self, history: Sequence[int], start: int, end: int) -> None:
        """Index every n-gram that has a token after it: all but those at the history's end."""
        places, max_ngram = self._places, self._max_ngram
        for here in range(max(start, 1), end):
            for n in range(1, min(max_ngram, here) + 1):
                places[tuple(history[here - n : here])] = here

    def find(self, tail: Sequence[int]) -> tuple[int, int] | None:
        """Return the place after the latest copy of the longest n-gram that ends `tail`, and n."""
        for n in range(min(self._max_ngram, len(tail)), 0, -1):
            place = self._places.get(tuple(tail[-n:]))
            if place is not None:
                return place, n
        return None


class PromptLookup(Lookup[LatestPlaces]):
    """Feeding costs `max_ngram` dictionary writes per token, proposing at most as many reads."""

    name = "prompt-lookup"

    def shape(self, settings: Settings) -> Hashable:
        """Return the maximum length of an n-gram."""
        return settings["max_ngram"]

    def new_index(self) -> LatestPlaces:
        """Return an empty index."""
        return LatestPlaces(int(self.settings["max_ngram"]))

    def look_up(
        self, index: LatestPlaces, history: Sequence[int], ahead: Sequence[int], n_max: int
    ) -> Draft:
        """Return what followed the longest known n-gram at the text's end."""
        n = int(self.settings["max_ngram"])
        tail = [*history[-n:], *ahead][-n:]
        found = index.find(tail)
        if found is None:
            return NO_DRAFT
        start, agreed = found
        if agreed == n:
            agreed = self._agreed(history, start, ahead, agreed)
        tokens = self._copy(history, start, ahead, min(n_max, int(self.settings["n_pred"])))
        return Draft(tokens, [(agreed + i) / (agreed + i + 1) for i in range(len(tokens))])

    def _agreed(self, history: Sequence[int], start: int, ahead: Sequence[int], n: int) -> int:
        """Return how many tokens agree before `start` and at the text's end; at least `n`."""
        end = len(history) + len(ahead)
        most = min(start, _MAX_AGREED)
        while n < most:
            place = end - 1 - n
            token = history[place] if place < len(history) else ahead[place - len(history)]
            if history[start - 1 - n] != token:
                break
            n += 1
        return n

    def _copy(self, history: Sequence[int], start: int, ahead: Sequence[int], n: int) -> list[int]:
        """Copy up to `n` tokens from `start` on, ending with an end of generation."""
        eog = self.bench.eog
        drafted = list(ahead)
        period = len(history) - start
        for i in range(n):
            token = history[start + i] if i < period else drafted[i - period]
            drafted.append(token)
            if token in eog:
                break
        return drafted[len(ahead) :]


INFO = DrafterInfo(
    id=PromptLookup.name,
    title="Prompt lookup",
    summary="Copies what followed the same words earlier in this chat; needs no second model.",
    family="lookup",
    parameters=(
        Parameter(
            "max_ngram", "int", 3, 1, 16, "Longest match",
            "Tokens that must agree with an earlier place, tried from this length downwards. "
            "Longer matches are rarer and surer.",
        ),
        Parameter(
            "n_pred", "int", 8, 1, 64, "Tokens ahead",
            "Tokens copied per step. More pays where the text repeats itself for long stretches.",
            can_be_auto=True,
        ),
    ),
    make=PromptLookup,
)  # fmt: skip
