"""What both n-gram maps share: keys of n tokens, and the m tokens that followed each of them.

A key that stood at several places may have been followed by different m-grams. An m-gram counts
from the step on in which its last token is committed; one that would reach beyond the text's end
does not count, and none runs on into drafted tokens. What the two drafters make of the counts is
theirs to say: `ValueIndex.count` and `find`.

The number of accepted tokens is stored for each n-gram that was used, as llama.cpp documents it
(docs/speculative.md, "n-gram Map Key"). llama.cpp's code keeps that number for good, so that a
key's drafts can only become shorter, and a key whose draft was refused once never drafts again.
Here it is stored with the place that was copied: later drafts from that place are no longer than
what was accepted, until the same m-gram has followed the key once more, or another m-gram takes
over. It is stored only where the target did write another token than the drafted one: a draft
that was cut by the engine, or by the reply's end, says nothing against the rest of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from typing import ClassVar, NamedTuple

from paceline.engine.drafters.base import NO_DRAFT, Draft, Parameter, Settings
from paceline.engine.drafters.lookup import Lookup
from paceline.engine.drafters.span_hashes import SpanHashes

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
"""The settings of both maps beside `min_hits`, which means something else in each."""


class Copied(NamedTuple):
    """A proposal: `tokens` were copied from `place` in order to stand at `target`."""

    place: int
    target: int
    tokens: Sequence[int]


class ValueIndex(ABC):
    """Counts which m-gram follows which key; feeding costs the same for any `n` and `m`.

    Attributes:
        accepted: From the place behind a key to how many tokens of the draft that was copied from
            there were accepted.
        copied: The last proposal, until it is known what became of it.
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
        """Count an m-gram that stands at `place`, right behind a key.

        Args:
            key: The key's hash.
            value: Hash of key and m-gram together.
            place: Places come in order.
        """

    @abstractmethod
    def find(self, key: int) -> int | None:
        """Return a place where the m-gram to be drafted behind this key stands, if there is one.

        A later occurrence of the same m-gram behind the key must give another place.
        """

    def value(self, place: int) -> int:
        """Return the hash of the key and the m-gram that stand before and behind this place."""
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
        """Return what `find` gives for the n tokens that end the text and then `ahead`."""
        key = self._hashes.tail(ahead, self._n)
        return None if key is None else self.find(key)


class NgramMap(Lookup[ValueIndex]):
    """An n-gram map: subclasses say by which `index`."""

    index: ClassVar[type[ValueIndex]]

    def new_index(self) -> ValueIndex:
        """Return an empty index."""
        s = self.settings
        return self.index(int(s["n"]), int(s["m"]), int(s["min_hits"]))

    def shape(self, settings: Settings) -> Hashable:
        """Return all settings: they decide what is counted, and when it is enough."""
        return (settings["n"], settings["m"], settings["min_hits"])

    def look_up(
        self, index: ValueIndex, history: Sequence[int], ahead: Sequence[int], n_max: int
    ) -> Draft:
        """Copy the m-gram that the map has for the text's last n tokens."""
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
        """Store how many tokens were accepted, if the target wrote another one then."""
        copied, index.copied = index.copied, None
        if copied is None or n_accepted is None or n_accepted >= len(copied.tokens):
            return
        judged = copied.target + n_accepted
        if judged < len(self._history) and self._history[judged] != copied.tokens[n_accepted]:
            index.accepted[copied.place] = n_accepted
