"""Drafting by n-gram counts: what followed short n-grams in this chat and in a corpus.

After llama.cpp's `ngram-cache` (`common/ngram-cache.cpp`, `examples/lookup/lookup.cpp`; pull
requests 5479, 6828), token by token: first the counts of this chat, longest n-gram first and with
lax thresholds, where a follower gains weight if it also follows in the corpus' bigrams; last the
corpus alone. Of equally likely tokens the latest is drafted; llama.cpp leaves that open.

This differs from llama.cpp's server where the latter is faulty (study of its issue 27852): counts
of another chat are never kept, and every token is counted with all tokens before it. The drafter
``suffix`` searches earlier chats instead.

N-grams are integer keys made of their tokens' bits, so that the key of the text's last n tokens is
a part of one rolling number, and takes about a microsecond to look up. A value is a single int as
long as only one token has followed, as for most n-grams by far.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from paceline.engine.draft.base import (
    NO_DRAFT,
    Draft,
    DrafterInfo,
    Parameter,
    Settings,
    Workbench,
)
from paceline.engine.draft.lookups import lookup_cache
from paceline.engine.draft.lookups.lookup import Lookup
from paceline.engine.draft.lookups.lookup_cache import (
    MAX_NGRAM,
    NO_TOKEN,
    LookupCache,
    check_fits,
    read_origin,
)
from paceline.engine.model.vocabularies import vocabulary_hash

STATIC = 2
"""Length of the n-grams in a static cache, in tokens, as in llama.cpp."""

THRESHOLDS = ((2, 66), (2, 50), (1, 50), (1, 50))
"""Minimum number of occurrences of an n-gram with a follower, and minimum share of the most
frequent follower in percent; by n, from 1 on."""

_ONE_MORE = 1 << 32
_TOKEN = _ONE_MORE - 1


class Followers:
    """Several different tokens that followed one n-gram.

    Attributes:
        total: Total number of followers.
        counts: Number of occurrences of each token, the latest ones last.
        best: Token with the largest count; of equal ones the latest.
    """

    __slots__ = ("best", "counts", "total")

    def __init__(self, counts: dict[int, int]) -> None:
        self.counts = counts
        self.total = sum(counts.values())
        self.best = _latest_best(counts)

    def add(self, token: int) -> None:
        """Count one more occurrence of a token."""
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
"""Keys of n-grams of one length, each with a follower + 2^32 * (count - 1), or several
followers."""


class StaticBigrams:
    """The bigrams of a corpus, in arrays, since there may be millions.

    Args:
        cache: A cache with the corpus' bigrams; other n-grams in it are ignored.
        bits: Number of bits per token in a key.
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
        self._best = _view(_winners(sizes, tokens, counts, *THRESHOLDS[STATIC - 1]))
        owners = np.repeat(np.arange(len(mine)), sizes)
        by_token = np.lexsort((tokens, owners))
        self._starts = _view(np.concatenate(([0], np.cumsum(sizes))))
        self._tokens, self._counts = _view(tokens[by_token]), _view(counts[by_token])

    def find(self, key: int) -> int:
        """Return the bigram's index, or -1 if the corpus does not have it."""
        first, second = key >> self._bits, key & self._mask
        low, high = self._firsts[first], self._firsts[first + 1]
        place = bisect_left(self._seconds, second, low, high)
        return place if place < high and self._seconds[place] == second else -1

    def best(self, place: int) -> int:
        """Return the token that the corpus predicts after a bigram, or -1 if none is likely."""
        return self._best[place]

    def weight(self, place: int, token: int) -> int:
        """Return the factor for the count of this follower: 1 if the corpus does not have it."""
        low, high = self._starts[place], self._starts[place + 1]
        at = bisect_left(self._tokens, token, low, high)
        return 100 * self._counts[at] if at < high and self._tokens[at] == token else 1


class Counts:
    """N-grams of 1 to 4 tokens with their followers.

    As an index it covers a text up to what was fed last.

    Attributes:
        bits: Number of bits per token in a key.
    """

    def __init__(self, bits: int) -> None:
        self.bits = bits
        self._tail = self._n_known = 0  # key of the last tokens, and their number since a gap
        masks = [(1 << bits * n) - 1 for n in range(1, MAX_NGRAM + 1)]
        self._pairs: list[tuple[Level, int]] = [({}, mask) for mask in masks]
        rows = zip(self._pairs, THRESHOLDS, strict=True)
        self._ladder = [
            (n, level, mask, least, percent)
            for n, ((level, mask), (least, percent)) in reversed(list(enumerate(rows, 1)))
        ]

    def feed(self, history: Sequence[int], start: int, end: int) -> None:
        """Count every token as a follower of the n-grams that end before it."""
        if start == 0:
            self._tail = self._n_known = 0
        tail, n_known, bits, widest = self._tail, self._n_known, self.bits, self._pairs[-1][1]
        for place in range(start, end):
            token = history[place]
            if token < 0:  # what precedes a gap is not followed by what comes after it
                tail = n_known = 0
                continue
            for level, mask in self._pairs if n_known >= MAX_NGRAM else self._pairs[:n_known]:
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
            n_known += 1
        self._tail, self._n_known = tail, n_known

    def next_token(self, tail: int, n_known: int, static: StaticBigrams | None, place: int) -> int:
        """Return the predicted token, or -1 if none is likely enough; long n-grams come first.

        Args:
            tail: Key of the last four tokens.
            n_known: Number of tokens before the predicted one.
            static: Corpus that weighs the followers; used only if `place` >= 0.
            place: Index of the last two tokens in it.
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
    least: int,
    percent: int,
) -> NDArray[np.int32]:
    """Return the last follower with the largest count per n-gram, or -1 if that is too small."""
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
    """Return for each start as many consecutive numbers as its size, concatenated."""
    before = np.cumsum(sizes) - sizes
    return np.repeat(starts - before, sizes) + np.arange(int(sizes.sum()))


def _view(numbers: NDArray[np.integer]) -> memoryview[int]:
    """Return a copy that reads Python ints, several times as fast as numpy."""
    return memoryview(numbers.astype(np.int64).tobytes()).cast("q")


_Stamp = tuple[Path, int, int]


def draft(context: Counts, static: StaticBigrams | None, text: Sequence[int], n: int) -> list[int]:
    """Return up to `n` tokens predicted to follow `text`, of which the last four matter."""
    if len(text) < STATIC:
        return []
    bits = context.bits
    narrow, wide = (1 << bits * STATIC) - 1, (1 << bits * MAX_NGRAM) - 1
    tail, n_known = 0, len(text)
    for token in text[-MAX_NGRAM:]:
        tail = tail << bits | token
    drafted: list[int] = []
    for _ in range(n):
        place = static.find(tail & narrow) if static else -1
        token = context.next_token(tail, n_known, static, place)
        if token < 0 and static and place >= 0:
            token = static.best(place)
        if token < 0:
            break
        drafted.append(token)
        tail = (tail << bits | token) & wide
        n_known += 1
    return drafted


class NgramCache(Lookup[Counts]):
    """Feeding costs four dictionary writes per token, proposing about a dozen reads per token.

    Raises:
        UserError: The lookup cache that the user chose cannot be used with this model.
    """

    name = "ngram-cache"

    def __init__(self, bench: Workbench, settings: Settings) -> None:
        self._bits = bench.vocab.n_tokens.bit_length()
        super().__init__(bench, settings)
        self._static = self._load_static(bench.lookup_cache) if bench.lookup_cache else None

    def new_index(self) -> Counts:
        """Return empty counts for this chat."""
        return Counts(self._bits)

    def look_up(
        self, index: Counts, history: Sequence[int], ahead: Sequence[int], n_max: int
    ) -> Draft:
        """Predict one token after the other from both sources."""
        text = [*history[max(len(history) - MAX_NGRAM, self.text_start) :], *ahead]
        n = min(n_max, int(self.settings["n_max"]))
        drafted = draft(index, self._static, text, n)
        return Draft(drafted) if drafted else NO_DRAFT

    # ------------------------------------------------------------------------------ within

    def _load_static(self, path: Path) -> StaticBigrams:
        stamp = _stamp(path)
        kept = self.bench.kept.get(f"{self.name}.static")
        if kept is not None:
            known, bigrams = cast("tuple[_Stamp | None, StaticBigrams]", kept)
            if stamp is not None and known == stamp:
                return bigrams
        cache = lookup_cache.read(path)
        origin = read_origin(path)
        vocabulary = vocabulary_hash(self.bench.vocab) if origin else ""
        check_fits(path, cache, origin, vocabulary, self.bench.vocab.n_tokens)
        bigrams = StaticBigrams(cache, self._bits)
        self.bench.kept[f"{self.name}.static"] = (stamp, bigrams)
        return bigrams


def _stamp(path: Path) -> _Stamp | None:
    """Return a stamp that changes with the file's content, or None if there is no file."""
    try:
        status = path.stat()
    except OSError:
        return None
    return path, status.st_mtime_ns, status.st_size


INFO = DrafterInfo(
    id=NgramCache.name,
    title="N-gram counts",
    summary="Counts what follows short runs of tokens in this chat and in a corpus of your choice.",
    family="lookup",
    parameters=(
        Parameter(
            "n_max", "int", 8, 1, 64, "Tokens ahead",
            "Tokens drafted per step at most; fewer where the counts leave it open what follows.",
            can_be_auto=True,
        ),
    ),
    make=NgramCache,
)  # fmt: skip


PIECE_TOKENS = 4096
"""Tokens per piece: the default context size of a chat."""
N_DRAFT = 8


@dataclass(slots=True)
class Trial:
    """The results of predicting a text.

    Attributes:
        n_tokens: Tokens that could have been drafted: all but the first of each piece.
        n_steps: Verify decodes that would have been needed.
        n_drafted: Tokens drafted.
        n_accepted: Drafted tokens that were right.
    """

    n_tokens: int = 0
    n_steps: int = 0
    n_drafted: int = 0
    n_accepted: int = 0

    @property
    def acceptance_rate(self) -> float | None:
        """Accepted tokens over drafted ones, or None if nothing was drafted."""
        return self.n_accepted / self.n_drafted if self.n_drafted else None

    @property
    def mean_committed_per_step(self) -> float | None:
        """Tokens per verify decode, or None without any decode."""
        return self.n_tokens / self.n_steps if self.n_steps else None


def try_out(
    cache: LookupCache, text: Sequence[int], n_vocab: int, *, piece: int = PIECE_TOKENS
) -> Trial:
    """Predict a text with a static cache.

    After `examples/lookup/lookup-stats.cpp` of llama.cpp: the text is cut into pieces as long as a
    chat, and each piece is “generated” with the drafts that it would have. Unlike there, no piece
    uses the counts of an earlier one, as no chat does, and the last one counts although it is
    shorter.

    Args:
        cache: The cache, of which the bigrams are used.
        text: Token ids.
        n_vocab: Size of the vocabulary of all ids.
        piece: Number of tokens per piece.
    """
    bits = n_vocab.bit_length()
    static = StaticBigrams(cache, bits)
    trial = Trial()
    for start in range(0, len(text), piece):
        _generate(text[start : start + piece], Counts(bits), static, trial)
    return trial


def _generate(chat: Sequence[int], context: Counts, static: StaticBigrams, trial: Trial) -> None:
    context.feed(chat, 0, 1)
    n = 1
    while n < len(chat):
        drafted = draft(context, static, chat[max(n - MAX_NGRAM, 0) : n], N_DRAFT)
        n_right = 0
        for token, true in zip(drafted, chat[n:], strict=False):
            if token != true:
                break
            n_right += 1
        n_committed = min(n_right + 1, len(chat) - n)
        context.feed(chat, n, n + n_committed)
        n += n_committed
        trial.n_steps += 1
        trial.n_tokens += n_committed
        trial.n_drafted += len(drafted)
        trial.n_accepted += n_right
