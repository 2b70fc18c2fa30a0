"""ngram-map-k: the m tokens that followed the last n ones, if they did so often enough.

After llama.cpp's drafter of the same name, by its documentation (docs/speculative.md, "n-gram Map
Key"): a key drafts an m-gram that has followed it at least `min_hits` times. Of several such
m-grams the one seen last is drafted, since texts drift. Where llama.cpp's code
(common/ngram-map.cpp) does otherwise:

- It drafts before it looks at the hits, so that `min_hits` has no effect.
- It holds on to the first place that it recorded for a key; a later one never replaces it.
- It never lifts the limit of a key whose draft was refused: see `ngram_map`.

On a text whose keys were always followed by the same tokens both propose alike.
"""

from __future__ import annotations

from paceline.engine.drafters.base import DrafterInfo, Parameter
from paceline.engine.drafters.ngram_map import SIZES, NgramMap, ValueIndex


class FrequentValues(ValueIndex):
    """From every key to the last place of an m-gram that followed it at least `min_hits` times."""

    def __init__(self, n: int, m: int, min_hits: int) -> None:
        super().__init__(n, m, min_hits)
        self._hits: dict[int, int] = {}
        self._places: dict[int, int] = {}

    def count(self, key: int, value: int, place: int) -> None:
        """Count an m-gram; from `min_hits` on it is the one to draft."""
        if self.min_hits > 1:  # else no count is ever looked at, and half the memory is saved
            hits = self._hits[value] = self._hits.get(value, 0) + 1
            if hits < self.min_hits:
                return
        self._places[key] = place

    def find(self, key: int) -> int | None:
        """Return the last place of an m-gram with enough hits."""
        return self._places.get(key)


class NgramMapK(NgramMap):
    """One dictionary entry per token, two with `min_hits` above 1."""

    name = "ngram-map-k"
    index = FrequentValues


INFO = DrafterInfo(
    id=NgramMapK.name,
    title="N-gram map",
    summary="Drafts what has followed the same run of tokens often enough; good for code.",
    family="lookup",
    parameters=(
        *SIZES,
        Parameter(
            "min_hits", "int", 1, 1, 1024, "Min. hits",
            "How many times the same tokens must have followed the key before they are drafted.",
        ),
    ),
    make=NgramMapK,
)  # fmt: skip
