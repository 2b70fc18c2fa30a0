"""Counts of the tokens that followed short n-grams, in memory and in llama.cpp's cache files.

A file (`common/ngram-cache.cpp` of llama.cpp) is a sequence of records of little-endian int32
words: the n-gram's four tokens, padded with -1; the number of followers; and for each of them its
token and its count. It does not say which vocabulary the ids belong to, so a sidecar ``FILE.json``,
which llama.cpp ignores, does.

Records and followers keep their order in the file. Where order matters, later means more recent.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from paceline.errors import UserError
from paceline.files import open_ordinary, write_whole
from paceline.sentence import sentence

MAX_NGRAM = 4
"""Maximum length of an n-gram in tokens, as in llama.cpp."""
NO_TOKEN = -1
_HEAD = MAX_NGRAM + 1  # words of a record before its followers
_MAX_INT32 = 2**31 - 1

Ints = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class LookupCache:
    """N-grams and the tokens that followed them, as flat arrays.

    Attributes:
        ngrams: int32 [n, 4]; shorter n-grams end with -1.
        sizes: Number of followers of each n-gram, int32 [n], at least 1.
        tokens: The followers of all n-grams, concatenated, int32 [sum of sizes].
        counts: Count of each follower, int32 [sum of sizes], at least 1.
    """

    ngrams: Ints
    sizes: Ints
    tokens: Ints
    counts: Ints

    @property
    def orders(self) -> NDArray[np.int64]:
        """The length of each n-gram in tokens, [n]."""
        orders: NDArray[np.int64] = (self.ngrams != NO_TOKEN).sum(axis=1, dtype=np.int64)
        return orders

    @property
    def starts(self) -> NDArray[np.int64]:
        """The index in `tokens` of each n-gram's first follower, [n]."""
        return np.cumsum(self.sizes, dtype=np.int64) - self.sizes

    @property
    def largest_token(self) -> int:
        """The largest id in it, or -1 if it is empty."""
        return max(int(self.ngrams.max(initial=-1)), int(self.tokens.max(initial=-1)))


def empty() -> LookupCache:
    """Return an empty cache."""
    none = np.zeros(0, np.int32)
    return LookupCache(none.reshape(0, MAX_NGRAM), none, none, none)


def count(tokens: Sequence[int], orders: Sequence[int], start: int = 0) -> LookupCache:
    """Count the followers of the n-grams of these lengths in a text.

    Args:
        tokens: The text.
        orders: Lengths of n-grams, 1 to 4.
        start: Index of the first follower to count.
    """
    text = np.array(tokens, np.int32)
    grams, places = [np.zeros((0, MAX_NGRAM), np.int32)], [np.zeros(0, np.int64)]
    for order in orders:
        first = max(start, order)
        n = max(len(text) - first, 0)
        gram = np.full((n, MAX_NGRAM), NO_TOKEN, np.int32)
        for i in range(order):
            gram[:, i] = text[first - order + i :][:n]
        grams.append(gram)
        places.append(np.arange(first, first + n))
    at = np.concatenate(places)
    by_place = np.argsort(at, kind="stable")
    at = at[by_place]
    return _collect(np.concatenate(grams)[by_place], text[at], np.ones(len(at), np.int64))


def merge(caches: Iterable[LookupCache]) -> LookupCache:
    """Return the sum of all counts, limited to the largest int32."""
    given = [empty(), *caches]
    grams = np.concatenate([np.repeat(c.ngrams, c.sizes, axis=0) for c in given])
    tokens = np.concatenate([c.tokens for c in given])
    return _collect(grams, tokens, np.concatenate([c.counts for c in given]).astype(np.int64))


def _collect(grams: Ints, tokens: Ints, counts: NDArray[np.int64]) -> LookupCache:
    """Sum equal pairs of n-gram and follower; the last occurrence determines a pair's place."""
    if not len(tokens):
        return empty()
    rows = np.column_stack((grams, tokens))
    pair_of = _groups(rows)
    n_pairs = int(pair_of.max()) + 1
    last = np.zeros(n_pairs, np.int64)
    np.maximum.at(last, pair_of, np.arange(len(rows)))
    sums = np.zeros(n_pairs, np.int64)
    np.add.at(sums, pair_of, counts)
    gram_of = _groups(rows[last, :MAX_NGRAM])
    newest = np.zeros(int(gram_of.max()) + 1, np.int64)
    np.maximum.at(newest, gram_of, last)
    order = np.argsort(newest[gram_of] * len(rows) + last)
    last = last[order]
    gram_of = gram_of[order]
    first = np.flatnonzero(np.diff(gram_of, prepend=-1))
    sizes = np.diff(first, append=len(last))
    return LookupCache(
        np.ascontiguousarray(rows[last[first], :MAX_NGRAM]),
        sizes.astype(np.int32),
        np.ascontiguousarray(rows[last, MAX_NGRAM]),
        np.minimum(sums[order], _MAX_INT32).astype(np.int32),
    )


def _groups(rows: Ints) -> NDArray[np.int64]:
    """Return a number per row, from 0 on, the same for equal rows, in no particular order."""
    keys = _hashes(rows)
    order = np.argsort(keys)
    keys = keys[order]
    same = keys[1:] == keys[:-1]
    if np.any(rows[order[1:][same]] != rows[order[:-1][same]]):  # a hash collision
        order = np.lexsort(rows.T)
        same = np.all(rows[order[1:]] == rows[order[:-1]], axis=1)
    numbers = np.empty(len(rows), np.int64)
    numbers[order] = np.concatenate(([0], np.cumsum(~same)))
    return numbers


def _hashes(rows: Ints) -> NDArray[np.uint64]:
    keys = np.zeros(len(rows), np.uint64)
    for column in rows.T:
        keys = (keys + column.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        keys ^= keys >> np.uint64(29)
    return keys


# ------------------------------------------------------------------------------------- files


def parse(data: bytes, name: str) -> LookupCache:
    """Return the content of a file.

    Args:
        data: The file's bytes.
        name: The file's name for errors.

    Raises:
        UserError: It is not a lookup cache, or damaged.
    """
    if len(data) % 4:
        raise _damaged(name, "its size is no multiple of four bytes")
    words = np.frombuffer(data, "<i4").astype(np.int32, copy=False)
    heads = _heads(words, name)
    ngrams = words[heads[:, None] + np.arange(MAX_NGRAM)]
    has = ngrams != NO_TOKEN
    if np.any(ngrams < NO_TOKEN) or not np.all(has[:, 0]) or np.any(has[:, 1:] > has[:, :-1]):
        raise _damaged(name, "it has n-grams with impossible tokens")
    sizes = words[heads + MAX_NGRAM]
    n_before = np.cumsum(sizes, dtype=np.int64) - sizes
    at = np.repeat(heads + _HEAD - 2 * n_before, sizes) + 2 * np.arange(int(sizes.sum()))
    tokens, counts = words[at], words[at + 1]
    if np.any(tokens < 0) or np.any(counts < 1):
        raise _damaged(name, "it has followers with an impossible token or count")
    return LookupCache(ngrams, sizes, tokens, counts)


def _heads(words: Ints, name: str) -> NDArray[np.int64]:
    """Return the index of each record; a record's length determines where the next one begins."""
    view, n_words, at = memoryview(words.tobytes()).cast("i"), len(words), 0
    heads = []
    while at < n_words:
        if at + MAX_NGRAM >= n_words:
            raise _damaged(name, "it ends in the middle of an n-gram")
        n_followers = view[at + MAX_NGRAM]
        if n_followers < 1:
            raise _damaged(name, f"an n-gram has {n_followers} followers")
        heads.append(at)
        at += _HEAD + 2 * n_followers
    if at != n_words:
        raise _damaged(name, "it ends in the middle of a list of followers")
    return np.array(heads, np.int64)


def dump(cache: LookupCache) -> bytes:
    """Return a cache as the bytes of a file; `parse` is the inverse."""
    heads = np.cumsum(_HEAD + 2 * cache.sizes.astype(np.int64)) - (_HEAD + 2 * cache.sizes)
    words = np.empty(_HEAD * len(cache.sizes) + 2 * len(cache.tokens), "<i4")
    words[heads[:, None] + np.arange(MAX_NGRAM)] = cache.ngrams
    words[heads + MAX_NGRAM] = cache.sizes
    at = np.repeat(heads + _HEAD - 2 * cache.starts, cache.sizes) + 2 * np.arange(len(cache.tokens))
    words[at] = cache.tokens
    words[at + 1] = cache.counts
    return words.tobytes()


def read(path: Path) -> LookupCache:
    """Return the content of a file.

    Raises:
        UserError: It cannot be read, is not a lookup cache, or is damaged.
    """
    try:
        with open_ordinary(path) as file:
            data = file.read()
    except (OSError, ValueError, MemoryError) as error:
        reason = getattr(error, "strerror", None) or str(error) or sentence("not enough memory")
        raise UserError(
            "cannot-read",
            "The lookup cache “{path}” cannot be read: {reason}.",
            "Check its path and permissions, or make one by `paceline cache build`.",
            path=path,
            reason=reason,
        ) from error
    return parse(data, path.name)


def write(cache: LookupCache, path: Path) -> None:
    """Write a file atomically, readable by its owner alone.

    Raises:
        OSError: It cannot be written.
    """
    write_whole(path, dump(cache))


def _damaged(name: str, what: str) -> UserError:
    return UserError(
        "bad-lookup-cache",
        "“{name}” is no lookup cache, or it is damaged: {what}.",
        "Make it anew by `paceline cache build`.",
        name=name,
        what=what,
    )


@dataclass(frozen=True, slots=True)
class CacheOrigin:
    """The origin of a lookup cache, stored in its sidecar.

    llama.cpp's format does not contain it, and token ids of another vocabulary would make useless
    drafts. A file without a sidecar, as written by llama.cpp's tools, is accepted if its ids exist.

    Attributes:
        vocabulary: Hash of the vocabulary, see `vocabularies.vocabulary_hash`.
        model: Name of a model with this vocabulary, for users; may be empty.
    """

    vocabulary: str
    model: str = ""


def sidecar(path: Path) -> Path:
    """Return the sidecar's path."""
    return path.with_name(f"{path.name}.json")


def read_origin(path: Path) -> CacheOrigin | None:
    """Return the content of a lookup cache's sidecar, or None if it has none.

    Raises:
        UserError: The sidecar cannot be read or is invalid.
    """
    place = sidecar(path)
    try:
        with open_ordinary(place) as file:
            data = json.loads(file.read())
        return CacheOrigin(str(data["vocabulary"]), str(data.get("model", "")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError, LookupError, TypeError, AttributeError) as error:
        raise UserError(
            "bad-lookup-cache",
            "“{origin}”, which tells the vocabulary of “{name}”, cannot be understood.",
            "Make both anew by `paceline cache build`, or delete it if you know that they fit.",
            origin=place.name,
            name=path.name,
        ) from error


def write_origin(path: Path, origin: CacheOrigin | None) -> None:
    """Write the sidecar of a lookup cache, or delete it if `origin` is None.

    Raises:
        OSError: It cannot be written.
    """
    if origin is None:
        sidecar(path).unlink(missing_ok=True)
    else:
        text = json.dumps(asdict(origin), indent=1, ensure_ascii=False)
        write_whole(sidecar(path), text.encode())


def check_fits(
    path: Path, cache: LookupCache, origin: CacheOrigin | None, vocabulary: str, n_vocab: int
) -> None:
    """Check that a lookup cache can be used with a model.

    Args:
        path: The file's path for the error.
        cache: Its content.
        origin: Content of its sidecar.
        vocabulary: Hash of the model's vocabulary.
        n_vocab: Size of the model's vocabulary.

    Raises:
        UserError: It was made for another vocabulary.
    """
    hint = sentence("Build one for this model by `paceline cache build`.")
    if origin is not None and origin.vocabulary != vocabulary:
        other = sentence("another model")
        if origin.model:
            other = sentence("“{name}”", name=origin.model)
        raise UserError(
            "other-vocabulary",
            "The lookup cache “{name}” was made for {other}, whose tokens are not the same.",
            hint,
            name=path.name,
            other=other,
        )
    if cache.largest_token >= n_vocab:
        raise UserError(
            "other-vocabulary",
            "The lookup cache “{name}” has token {token}, but the model has "
            "only {n_vocab:,} tokens.",
            hint,
            name=path.name,
            token=cache.largest_token,
            n_vocab=n_vocab,
        )
