"""ngram-map-k4v: up to four continuations per key are counted, and a dominant one is drafted.

After llama.cpp's drafter of the same name, by its documentation (docs/speculative.md, "n-gram Map
Key-4-Values"): of the m-grams that have followed a key, one that is "significantly more frequent
than the others" is drafted. As in llama.cpp that means at least twice as often as all others
together, and the key must have been followed by an m-gram at least `min_hits` times, whichever it
was. Where llama.cpp's code (common/ngram-map.cpp) does otherwise:

- It counts how often the key was looked up for a draft; here its places in the text count.
- It chooses the m-gram that wins and then drafts the one at the key's latest place. Here the
  winner is drafted.
- Its four m-grams are the first four, for good. Here a fifth one takes the place of the rarest,
  of equally rare ones that which was not seen for longest; the others include what was forgotten.
- It never lifts the limit of a draft that was refused: see `ngram_map`.
"""

from __future__ import annotations

from paceline.engine.drafters.base import DrafterInfo, Parameter
from paceline.engine.drafters.ngram_map import SIZES, NgramMap, ValueIndex

_N_VALUES = 4


class _Value:
    """An m-gram: how often it followed the key, and where it did last."""

    __slots__ = ("hits", "place", "value")

    def __init__(self, value: int, place: int) -> None:
        self.value = value
        self.place = place
        self.hits = 1


class _Key:
    """A key that occurred more than once."""

    __slots__ = ("hits", "values")

    def __init__(self) -> None:
        self.hits = 0
        self.values: list[_Value] = []

    def count(self, value: int, place: int) -> None:
        self.hits += 1
        for each in self.values:
            if each.value == value:
                each.hits += 1
                each.place = place
                return
        if len(self.values) == _N_VALUES:
            self.values.remove(min(self.values, key=lambda v: (v.hits, v.place)))
        self.values.append(_Value(value, place))

    def dominant(self) -> int | None:
        best = max(self.values, key=lambda v: v.hits)
        return best.place if best.hits >= 2 * (self.hits - best.hits) else None


class DominantValues(ValueIndex):
    """From every key to its only place, or to the counts of its m-grams."""

    def __init__(self, n: int, m: int, min_hits: int) -> None:
        super().__init__(n, m, min_hits)
        self._once: dict[int, int] = {}  # most keys: their place is all that is needed
        self._often: dict[int, _Key] = {}

    def count(self, key: int, value: int, place: int) -> None:
        """Count an m-gram."""
        values = self._often.get(key)
        if values is None:
            first = self._once.pop(key, None)
            if first is None:
                self._once[key] = place
                return
            values = self._often[key] = _Key()
            values.count(self.value(first), first)
        values.count(value, place)

    def find(self, key: int) -> int | None:
        """Return the last place of the dominant m-gram."""
        values = self._often.get(key)
        if values is not None:
            return values.dominant() if values.hits >= self.min_hits else None
        return self._once.get(key) if self.min_hits == 1 else None


class NgramMapK4V(NgramMap):
    """One dictionary entry per token, and four counters for every key that occurred again."""

    name = "ngram-map-k4v"
    index = DominantValues


INFO = DrafterInfo(
    id=NgramMapK4V.name,
    title="N-gram map, 4 values",
    summary="Tells apart what may follow the same run of tokens and drafts what mostly does.",
    family="lookup",
    parameters=(
        *SIZES,
        Parameter(
            "min_hits", "int", 1, 1, 1024, "Min. hits",
            "How many times the key must have occurred before it drafts; one of its continuations "
            "must then be twice as frequent as all others together.",
        ),
    ),
    make=NgramMapK4V,
)  # fmt: skip
