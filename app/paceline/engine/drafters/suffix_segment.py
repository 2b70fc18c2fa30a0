"""A file of text that is searched where it lies: the text backwards, and all its places in order.

A suffix array for contexts: the places of the text are sorted by what stands *before* each of them,
read backwards. Those that share the last L tokens with a query are thus neighbours, one binary
search finds the longest match, and the width of its range says how often it occurs. The text is
stored backwards in big-endian words, so that a slice of the mapped file is a sort key as it is, and
comparing two contexts is one `memcmp`.

    header    magic, words of the text, places, distinct tokens, checksum of the rest
    text      STOP, then piece by piece, the newest first: its tokens backwards, STOP; STOP, …
    places    for each token that has one before and one behind it: where in the file the text
              before it begins; sorted
    tokens    those that are the last one before a place, ascending
    starts    for each of them, which is the first such place; and how many places there are

That is little more than 8 bytes per token. Sorting is done by doubling (Manber & Myers 1990) in
numpy: by the last two tokens, by the last 4, 8, … 32.
"""

from __future__ import annotations

import mmap
import struct
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

CONTEXT = 32
"""Tokens by which places are sorted, and so the longest match that can be told."""
STOP = 0x7FFF_FFFF
"""Stands between two pieces of text; no token's id, and positive for numpy."""
_HEAD = struct.Struct("<20sIIII")
_MAGIC = b"paceline suffixes 1\n"
_KEY = 4 * CONTEXT

Text = NDArray[np.int64]
"""Pieces backwards, the newest first, each with STOP behind it."""


def text_of(pieces: Sequence[Sequence[int]]) -> Text:
    """Return pieces of text, the oldest first, as a segment stores them."""
    words: list[int] = []
    for piece in reversed(pieces):
        words += reversed(piece)
        words.append(STOP)
    return np.array(words, np.int64)


def pack(text: Text) -> bytes:
    """Return the file for a text."""
    padded = np.concatenate(([STOP], text, np.full(CONTEXT, STOP))).astype(np.int64)
    is_token = padded != STOP
    has_context = is_token.copy()
    has_context[1:] &= is_token[:-1]  # its last token is here, and what follows it one before
    order = _order(padded)
    order = order[has_context[order]]
    last = padded[order]
    starts = np.flatnonzero(np.diff(last, prepend=-1))
    numbers = np.concatenate((_HEAD.size + 4 * order, last[starts], starts, [len(order)]))
    body: bytes = padded.astype(">u4").tobytes() + numbers.astype(np.uint32).tobytes()
    return _HEAD.pack(_MAGIC, len(padded), len(order), len(starts), zlib.crc32(body)) + body


def _order(words: Text) -> NDArray[np.int64]:
    """Return all places, sorted by the `CONTEXT` words from each of them on."""
    rank, width = words, 1
    while True:
        key = rank << 32
        key[:-width] |= rank[width:]
        order = np.argsort(key)
        width *= 2
        if width == CONTEXT:
            return order
        key = key[order]
        rank = np.empty_like(rank)
        rank[order[0]] = 0
        rank[order[1:]] = np.cumsum(key[1:] != key[:-1])


class Segment:
    """An open file.

    Attributes:
        path: Where it lies.

    Raises:
        OSError: It cannot be read.
        ValueError: It is damaged, or no such file at all.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb") as file:
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._views: list[memoryview[int]] = []
        try:
            self._read()
        except (ValueError, struct.error) as error:
            self.close()
            raise ValueError(f"it is damaged ({error})") from error

    def _read(self) -> None:
        magic, n_words, n_places, n_tokens, checksum = _HEAD.unpack_from(self._map)
        if magic != _MAGIC:
            raise ValueError("no file of this kind")
        sizes = (n_words, n_places, n_tokens, n_tokens + 1)
        if len(self._map) != _HEAD.size + 4 * sum(sizes):
            raise ValueError("wrong length")
        with memoryview(self._map) as whole, whole[_HEAD.size :] as body:
            if zlib.crc32(body) != checksum:
                raise ValueError("wrong checksum")
            with body.cast("I") as words:
                begin = n_words
                for size in sizes[1:]:
                    self._views.append(words[begin : begin + size])
                    begin += size
        self._end = _HEAD.size + 4 * (n_words - CONTEXT)
        self._index, self._tokens, self._starts = self._views

    def close(self) -> None:
        """Unmap the file."""
        for view in self._views:
            view.release()
        self._map.close()

    def text(self) -> Text:
        """Return a copy of all pieces."""
        return np.frombuffer(self._map[_HEAD.size + 4 : self._end], ">u4").astype(np.int64)

    def longest(self, query: bytes) -> tuple[int, int]:
        """Return how many tokens of the longest match agree, and where in the index one lies.

        Args:
            query: `CONTEXT` tokens backwards, as big-endian words.
        """
        low, high = self._same_token(query)
        if low == high:
            return 0, 0
        text, index = self._map, self._index
        found = bisect_left(index, query, low, high, key=lambda place: text[place : place + _KEY])
        wanted = int.from_bytes(query)
        best = (0, 0)
        for near in (found - 1, found):
            if low <= near < high:
                place = index[near]
                differs = int.from_bytes(text[place : place + _KEY]) ^ wanted
                best = max(best, ((8 * _KEY - differs.bit_length()) // 32, near))
        return best

    def range(self, query: bytes, length: int, near: int) -> tuple[int, int]:
        """Return from where to where in the index `length` tokens agree, given one such place."""
        low, high = self._same_token(query)
        width = 4 * length
        text, index, query = self._map, self._index, query[:width]

        def key(place: int) -> bytes:
            return text[place : place + width]

        above = near + 1
        if above < high and key(index[above]) == query:
            above = bisect_right(index, query, above, high, key=key)
        if near > low and key(index[near - 1]) == query:
            near = bisect_left(index, query, low, near, key=key)
        return near, above

    def place(self, i: int) -> int:
        """Return the `i`-th place of the index; the smaller of two was written later."""
        return self._index[i]

    def find(self, query: bytes) -> int | None:
        """Return a place where all of a query stands, if there is any."""
        agreed, near = self.longest(query)
        return self._index[near] if agreed == CONTEXT else None

    def behind(self, place: int, n: int, skip: int = 0) -> bytes:
        """Return `n` tokens that follow a place, as little-endian words, at least up to a STOP."""
        start = max(place - 4 * (skip + n), _HEAD.size)
        return self._map[start : max(place - 4 * skip, start)][::-1]

    def before(self, place: int, n: int, skip: int = 0) -> bytes:
        """Return `n` tokens before a place, backwards, as big-endian words."""
        start = place + 4 * skip
        return self._map[start : start + 4 * n]

    def _same_token(self, query: bytes) -> tuple[int, int]:
        """Return from where to where in the index the last token agrees."""
        token = int.from_bytes(query[:4])
        i = bisect_left(self._tokens, token)
        if i == len(self._tokens) or self._tokens[i] != token:
            return 0, 0
        return self._starts[i], self._starts[i + 1]
