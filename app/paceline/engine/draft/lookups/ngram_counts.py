"""What followed short n-grams, in the form in which a drafter can ask within a microsecond.

N-grams are keys made of their tokens' bits, so that the key of the text's last n tokens is a part
of one rolling number. A value is a single int as long as only one token has followed, which is true
of most n-grams by far.

Where a frozen cache is loaded, n-grams that can never be drafted from are left out: when the
follower with the largest count has too small a share, so has every other one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from paceline.engine.draft.lookups.lookup_cache import LONGEST, NO_TOKEN, LookupCache

STATIC = 2
"""Tokens of the n-grams in a static cache; llama.cpp's."""

Thresholds = tuple[tuple[int, int], ...]
"""Per n, from 1 on: how often an n-gram must have been followed, and the winner's least share
in percent."""
LAX: Thresholds = ((2, 66), (2, 50), (1, 50), (1, 50))
STRICT: Thresholds = ((4, 75), (3, 66), (2, 66), (2, 66))

_ONE_MORE = 1 << 32
_TOKEN = _ONE_MORE - 1


class Followers:
    """Several tokens that followed one n-gram.

    Attributes:
        total: How often anything followed.
        counts: How often each token did, the latest ones last.
        best: The token with the largest count, of equal ones the latest.
    """

    __slots__ = ("best", "counts", "total")

    def __init__(self, counts: dict[int, int]) -> None:
        self.counts = counts
        self.total = sum(counts.values())
        self.best = _latest_best(counts)

    def add(self, token: int) -> None:
        """Count one more."""
        counts = self.counts
        n = counts.pop(token, 0) + 1
        counts[token] = n
        self.total += 1
        if n >= counts[self.best]:
            self.best = token


def _latest_best(counts: dict[int, int]) -> int:
    most = max(counts.values())
    return next(token for token in reversed(counts) if counts[token] == most)


Level = dict[int, "int | Followers"]
"""From the keys of n-grams of one length to a follower + 2^32 * (count - 1), or several."""


class StaticBigrams:
    """The bigrams of a corpus, in arrays, because there may be millions.

    Args:
        cache: Other n-grams in it are ignored.
        bits: Bits per token in a key.
    """

    def __init__(self, cache: LookupCache, bits: int) -> None:
        self._bits = bits
        self._mask = (1 << bits) - 1
        mine = np.flatnonzero(cache.orders == STATIC)
        pairs = cache.ngrams[mine].astype(np.int64)
        mine = mine[np.lexsort((pairs[:, 1], pairs[:, 0]))]
        firsts = np.searchsorted(cache.ngrams[mine, 0], np.arange((1 << bits) + 1))
        self._firsts = _view(firsts)
        self._seconds = _view(cache.ngrams[mine, 1])
        sizes = cache.sizes[mine].astype(np.int64)
        at = _ranges(cache.starts[mine], sizes)
        tokens, counts = cache.tokens[at], cache.counts[at]
        self._best = _view(_winners(sizes, tokens, counts, *LAX[STATIC - 1]))
        owners = np.repeat(np.arange(len(mine)), sizes)
        by_token = np.lexsort((tokens, owners))
        self._starts = _view(np.concatenate(([0], np.cumsum(sizes))))
        self._tokens, self._counts = _view(tokens[by_token]), _view(counts[by_token])

    def find(self, key: int) -> int:
        """Return the bigram's place; -1 when the corpus does not have it."""
        first, second = key >> self._bits, key & self._mask
        low, high = self._firsts[first], self._firsts[first + 1]
        place = bisect_left(self._seconds, second, low, high)
        return place if place < high and self._seconds[place] == second else -1

    def best(self, place: int) -> int:
        """Return the token to draft after a bigram by the corpus alone; -1 when none is likely."""
        return self._best[place]

    def weight(self, place: int, token: int) -> int:
        """Return what a count of this follower is worth: 1 when the corpus does not have it."""
        low, high = self._starts[place], self._starts[place + 1]
        at = bisect_left(self._tokens, token, low, high)
        return 100 * self._counts[at] if at < high and self._tokens[at] == token else 1


class Counts:
    """N-grams of 1 to 4 tokens with their followers and the thresholds for drafting from them.

    As an index it knows a text from its beginning up to what was fed last.

    Attributes:
        bits: Bits per token in a key.
    """

    def __init__(self, bits: int, thresholds: Thresholds) -> None:
        self.bits = bits
        self._masks = tuple((1 << bits * n) - 1 for n in range(1, LONGEST + 1))
        self._levels: tuple[Level, ...] = ({}, {}, {}, {})
        self._thresholds = thresholds
        self._tail = 0
        self._arrange()

    def feed(self, history: Sequence[int], start: int, end: int) -> None:
        """Count every token as a follower of the n-grams that end before it."""
        if start == 0:
            self._tail = 0
        tail, bits, widest = self._tail, self.bits, self._masks[-1]
        for place in range(start, end):
            token = history[place]
            for level, mask in self._pairs if place >= LONGEST else self._pairs[:place]:
                key = tail & mask
                seen = level.get(key)
                if seen is None:
                    level[key] = token
                elif isinstance(seen, Followers):
                    seen.add(token)
                elif seen & _TOKEN == token:
                    level[key] = seen + _ONE_MORE
                else:
                    level[key] = Followers({seen & _TOKEN: (seen >> 32) + 1, token: 1})
            tail = ((tail << bits) | token) & widest
        self._tail = tail

    def load(self, cache: LookupCache) -> None:
        """Replace everything by those n-grams of a cache that can be drafted from."""
        self._levels = ({}, {}, {}, {})
        orders = cache.orders
        least, percent = np.array(self._thresholds)[orders - 1].T
        best = _winners(cache.sizes, cache.tokens, cache.counts, least, percent)
        totals = cache.totals
        for n in range(1, LONGEST + 1):
            mine = np.flatnonzero((orders == n) & (best != NO_TOKEN))
            single = cache.sizes[mine] == 1
            alone, several = mine[single], mine[~single]
            level = self._levels[n - 1]
            packed = best[alone] + (totals[alone] - 1) * _ONE_MORE
            level.update(zip(self._keys(cache, alone, n), packed.tolist(), strict=True))
            starts, sizes = cache.starts[several].tolist(), cache.sizes[several].tolist()
            for key, at, size in zip(self._keys(cache, several, n), starts, sizes, strict=True):
                tokens = cache.tokens[at : at + size].tolist()
                counts = cache.counts[at : at + size].tolist()
                level[key] = Followers(dict(zip(tokens, counts, strict=True)))
        self._arrange()

    def next_token(self, tail: int, n_known: int, static: StaticBigrams | None, place: int) -> int:
        """Return the token to draft, -1 when none is likely enough; long n-grams come first.

        Args:
            tail: The key of the last four tokens.
            n_known: How many tokens there are before the one that is asked for.
            static: What weighs the followers; with `place` >= 0 only.
            place: The last two tokens' place in it.
        """
        for n, level, mask, least, percent in self._ladder:
            seen = level.get(tail & mask)
            if seen is None or n > n_known:
                continue
            if not isinstance(seen, Followers):
                if seen >> 32 >= least - 1:
                    return seen & _TOKEN
                continue
            counts, total = seen.counts, seen.total
            if total < least or 100 * counts[seen.best] < percent * total:
                continue  # then no other follower's share is large enough either
            if place < 0 or static is None:
                return seen.best
            token = _heaviest(counts, static, place)
            if 100 * counts[token] >= percent * total:
                return token
        return NO_TOKEN

    # ------------------------------------------------------------------------------ within

    def _arrange(self) -> None:
        rows = zip(self._levels, self._masks, self._thresholds, strict=True)
        self._ladder = tuple(
            (n, level, mask, least, percent)
            for n, (level, mask, (least, percent)) in reversed(list(enumerate(rows, 1)))
        )
        self._pairs = tuple(zip(self._levels, self._masks, strict=True))

    def _keys(self, cache: LookupCache, places: NDArray[np.int64], n: int) -> list[int]:
        columns = [cache.ngrams[places, i].tolist() for i in range(n)]
        keys: list[int] = columns[0]
        for column in columns[1:]:
            keys = [key << self.bits | token for key, token in zip(keys, column, strict=True)]
        return keys


def _heaviest(counts: dict[int, int], static: StaticBigrams, place: int) -> int:
    winner, most = NO_TOKEN, 0
    for token, n in counts.items():
        weight = n * static.weight(place, token)
        if weight >= most:
            winner, most = token, weight
    return winner


def _winners(
    sizes: NDArray[np.integer],
    tokens: NDArray[np.int32],
    counts: NDArray[np.int32],
    least: NDArray[np.int64] | int,
    percent: NDArray[np.int64] | int,
) -> NDArray[np.int32]:
    """Return per n-gram the last follower with the largest count, -1 when it is not enough."""
    n = len(sizes)
    owners = np.repeat(np.arange(n), sizes)
    most, totals = np.zeros(n, np.int64), np.zeros(n, np.int64)
    np.maximum.at(most, owners, counts)
    np.add.at(totals, owners, counts)
    winning = np.flatnonzero(counts == most[owners])
    last = np.zeros(n, np.int64)
    np.maximum.at(last, owners[winning], winning)
    likely = (totals >= least) & (100 * most >= percent * totals)
    best = np.full(n, NO_TOKEN, np.int32)
    best[likely] = tokens[last[likely]]
    return best


def _ranges(starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the numbers from each start on, as many as its size, one after the other."""
    before = np.cumsum(sizes) - sizes
    return np.repeat(starts - before, sizes) + np.arange(int(sizes.sum()))


def _view(numbers: NDArray[np.integer]) -> memoryview[int]:
    """Return a copy that gives Python's ints, several times as fast as numpy."""
    return memoryview(numbers.astype(np.int64).tobytes()).cast("q")
