"""N-gram maps: keys of n tokens, and the m tokens that followed each of them.

A key that occurs several times may have been followed by different m-grams. An m-gram counts from
the step in which its last token is committed; one that would reach beyond the text's end does not
count, and none continues into drafted tokens. The two drafters use the counts differently:
`ValueIndex.count` and `find`.

The number of accepted tokens is stored for each n-gram that was used, as llama.cpp documents it
(docs/speculative.md, "n-gram Map Key"). llama.cpp's code keeps that number for good, so that a
key's drafts can only become shorter, and a key whose draft was rejected once never drafts again.
Here it is stored with the place that was copied: later drafts from that place are no longer than
what was accepted, until the same m-gram has followed the key once more, or another m-gram replaces
it. It is stored only if the target wrote a token other than the drafted one: a draft that was cut
by the engine, or by the reply's end, is no evidence against its rest.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from typing import ClassVar, NamedTuple

from paceline.engine.draft.base import NO_DRAFT, Draft, DrafterInfo, Parameter, Settings
from paceline.engine.draft.lookups.hashes import SpanHashes
from paceline.engine.draft.lookups.lookup import Lookup

SIZES = (
    Parameter(
        "n", "int", 12, 1, 64, "Key length",
        "Tokens that must agree with earlier places. Shorter keys are found more often and "
        "are less sure.",
    ),
    Parameter(
        "m", "int", 48, 1, 1024, "Tokens ahead",
        "Tokens that must have followed the key in full; they are the draft. Fewer are found "
        "more often; what the batch cannot take is cut.",
    ),
)  # fmt: skip
"""The settings of both maps except `min_hits`, whose meaning differs."""


class Copied(NamedTuple):
    """A proposal whose `tokens` were copied from index `place`, to stand at index `target`."""

    place: int
    target: int
    tokens: Sequence[int]


class ValueIndex(ABC):
    """Counts which m-gram follows which key; feeding costs the same for any `n` and `m`.

    Attributes:
        accepted: By the place after a key, the number of accepted tokens of the draft that was
            copied from there.
        copied: The last proposal, until its outcome is known.
    """

    def __init__(self, n: int, m: int, min_hits: int) -> None:
        self.min_hits = min_hits
        self.accepted: dict[int, int] = {}
        self.copied: Copied | None = None
        self._n = n
        self._m = m
        self._hashes = SpanHashes()

    @abstractmethod
    def count(self, key: int, value: int, place: int) -> None:
        """Count an m-gram at index `place`, right after a key.

        Args:
            key: Hash of the key.
            value: Hash of key and m-gram together.
            place: Index in the text; calls come in rising order.
        """

    @abstractmethod
    def find(self, key: int) -> int | None:
        """Return the index of the m-gram to draft after this key, or None.

        A later occurrence of the same m-gram after the key must change the index.
        """

    def value(self, place: int) -> int:
        """Return the hash of the key before this index and the m-gram from it on."""
        end = place + self._m
        return self._hashes.grams(self._n + self._m, end, end + 1)[0]

    def feed(self, history: Sequence[int], start: int, end: int) -> None:
        """Count every key whose m-gram has become complete."""
        n, m, hashes, count = self._n, self._m, self._hashes, self.count
        hashes.feed(history[start:end])
        first, stop = max(start - m + 1, n), end - m + 1
        if first < stop:
            keys = hashes.grams(n, first, stop)
            values = hashes.grams(n + m, first + m, stop + m)
            for i, key in enumerate(keys):
                count(key, values[i], first + i)

    def find_tail(self, ahead: Sequence[int]) -> int | None:
        """Return the result of `find` for the last n tokens of the text and then `ahead`."""
        key = self._hashes.tail(ahead, self._n)
        return None if key is None else self.find(key)


class NgramMap(Lookup[ValueIndex]):
    """An n-gram map; subclasses set the class of its `index`."""

    index: ClassVar[type[ValueIndex]]

    def new_index(self) -> ValueIndex:
        """Return an empty index."""
        s = self.settings
        return self.index(int(s["n"]), int(s["m"]), int(s["min_hits"]))

    def shape(self, settings: Settings) -> Hashable:
        """Return all settings, since they decide what is counted and when it suffices."""
        return (settings["n"], settings["m"], settings["min_hits"])

    def look_up(
        self, index: ValueIndex, history: Sequence[int], ahead: Sequence[int], n_max: int
    ) -> Draft:
        """Return the m-gram that the map has for the text's last n tokens."""
        index.copied = None
        place = index.find_tail(ahead)
        if place is None:
            return NO_DRAFT
        m = int(self.settings["m"])
        n = min(n_max, m, index.accepted.get(place, m))
        if n < 1:
            return NO_DRAFT
        tokens = history[place : place + n]
        index.copied = Copied(place, len(history) + len(ahead), tokens)
        return Draft(tokens)

    def learn(self, index: ValueIndex, n_accepted: int | None) -> None:
        """Store how many tokens were accepted, if the target wrote another one after them."""
        copied, index.copied = index.copied, None
        if copied is None or n_accepted is None or n_accepted >= len(copied.tokens):
            return
        judged = copied.target + n_accepted
        if judged < len(self._history) and self._history[judged] != copied.tokens[n_accepted]:
            index.accepted[copied.place] = n_accepted


class FrequentValues(ValueIndex):
    """The last place of an m-gram that followed at least `min_hits` times, by key."""

    def __init__(self, n: int, m: int, min_hits: int) -> None:
        super().__init__(n, m, min_hits)
        self._hits: dict[int, int] = {}
        self._places: dict[int, int] = {}

    def count(self, key: int, value: int, place: int) -> None:
        """Count an m-gram; once it has `min_hits`, it is the one to draft."""
        if self.min_hits > 1:  # otherwise no count is ever needed, which halves the memory
            hits = self._hits[value] = self._hits.get(value, 0) + 1
            if hits < self.min_hits:
                return
        self._places[key] = place

    def find(self, key: int) -> int | None:
        """Return the last place of an m-gram with enough hits."""
        return self._places.get(key)


class NgramMapK(NgramMap):
    """Drafts the m tokens that followed the last n ones, if they did so often enough.

    After llama.cpp's drafter ngram-map-k, by its documentation (docs/speculative.md, "n-gram Map
    Key"): a key drafts an m-gram that has followed it at least `min_hits` times. Of several such
    m-grams the one seen last is drafted, since texts drift. llama.cpp's code (common/ngram-map.cpp)
    differs:

    - It drafts before it checks the hits, so that `min_hits` has no effect.
    - It keeps the first place that it recorded for a key; a later one never replaces it.
    - It never lifts the limit of a key whose draft was rejected: see the module.

    On a text whose keys were always followed by the same tokens both propose the same. Memory: one
    dictionary entry per token, two with `min_hits` above 1.
    """

    name = "ngram-map-k"
    index = FrequentValues


INFO_K = DrafterInfo(
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


_N_VALUES = 4


class _Value:
    """An m-gram with its number of occurrences after the key, and the index of the last one."""

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
    """The only place of a key, or the counts of its m-grams, by key."""

    def __init__(self, n: int, m: int, min_hits: int) -> None:
        super().__init__(n, m, min_hits)
        self._once: dict[int, int] = {}  # most keys: only their place
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
    """Counts up to four continuations per key, and drafts a dominant one.

    After llama.cpp's drafter ngram-map-k4v, by its documentation (docs/speculative.md, "n-gram Map
    Key-4-Values"): of the m-grams that have followed a key, one that is "significantly more
    frequent than the others" is drafted. As in llama.cpp that means at least twice as often as all
    others together, and the key must have been followed at least `min_hits` times, by any m-grams.
    llama.cpp's code (common/ngram-map.cpp) differs:

    - It counts how often the key was looked up for a draft; here occurrences in the text count.
    - It selects the winning m-gram and then drafts the one at the key's latest place. Here the
      winner is drafted.
    - Its four m-grams are the first four, for good. Here a fifth one replaces the rarest, of
    equally
      rare ones the least recently seen; the count of the others includes what was replaced.
    - It never lifts the limit of a draft that was rejected: see the module.

    Memory: one dictionary entry per token, and four counters for every key that occurred again.
    """

    name = "ngram-map-k4v"
    index = DominantValues


INFO_K4V = DrafterInfo(
    id=NgramMapK4V.name,
    title="N-gram map, 4 endings",
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
