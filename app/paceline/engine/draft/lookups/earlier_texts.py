"""Texts of earlier chats, and what followed there on the tokens that a text ends with.

Texts are handed in (`messages.Remember`), cut into pieces, and tokenized and indexed piece by piece
in idle time. What is taken out is overwritten at once. Nothing of it is on disk.

All tokens lie in one array, with `STOP` after each piece. A *place* is where a token stands. For
the last 6 and the last 2 tokens before a place, a table of hashes names the latest such place, and
each place the one before it with the same hash: chains as in LZ77's compressors. So a piece is
indexed by a few calls of numpy, 0.3 µs per token, and 12 bytes per token are all there is. How long
a match is, the tokens themselves say: neither a hash that two texts share nor a place that was
overwritten can give a wrong one. A suffix automaton would find a little more, in 100 bytes per
token and twenty times the time, and nothing can be taken out of it.
"""

from __future__ import annotations

import mmap
import struct
from collections import deque
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from paceline.engine.draft.lookups.hashes import MULTIPLIER, Hashes, window_hashes
from paceline.engine.model.context import CachedContext

CONTEXT = 32
"""Tokens of a match that are compared."""
CAPACITY = 1 << 22
"""Tokens that are indexed at most, those since taken out included; 50 MB."""
PIECE = 2000
"""Characters tokenized at once: some milliseconds, which a command may have to wait."""
LOOKS = 8
"""Places looked at on a chain, the latest first."""
STOP = 0x7FFF_FFFF
"""Stands after each piece, and for what was taken out; no token's id."""
_LONGEST_DRAFT = 64
_BITS = 18
_SHIFT = 64 - _BITS
_MASK = (1 << 64) - 1
_WORD = np.dtype("<i4")

Places = NDArray[np.int32]
Span = slice


class EarlierTexts:
    """The texts of chats by their names; belongs to the engine's thread.

    Attributes:
        contexts: The contexts that idle work on it decodes in: none.
        n_tokens: Tokens that are indexed, those since taken out included.

    Args:
        tokenize: Returns the token ids of a text.
        capacity: See `CAPACITY`; memory is taken when it is used.
    """

    contexts: Sequence[CachedContext] = ()

    def __init__(self, tokenize: Callable[[str], list[int]], capacity: int = CAPACITY) -> None:
        self._tokenize = tokenize
        self._capacity = capacity
        self._chats: dict[str, dict[str, Span | None]] = {}  # where pieces lie; None: nowhere yet
        self._waiting: deque[tuple[str, str]] = deque()
        self._left: list[tuple[str, str]] = []  # for which there was no room
        self._start_again()

    def _start_again(self) -> None:
        """Index everything anew: what was taken out leaves no room for new texts."""
        self._tokens = _zeros(self._capacity + CONTEXT + _LONGEST_DRAFT)
        self._tokens[:CONTEXT] = STOP
        # A memoryview gives single numbers and slices several times as fast as numpy.
        self._words, self._bytes = self._tokens.data, self._tokens.data.cast("B")
        # By order: the latest place by hash, and by place the one before it; 0: none.
        self._chains = [
            (n, _zeros(1 << _BITS).data, _zeros(len(self._tokens)).data) for n in (6, 2)
        ]
        self.n_tokens = self._n_gone = 0
        for chat, pieces in self._chats.items():
            self._chats[chat] = dict.fromkeys(pieces)
        self._waiting = deque((chat, piece) for chat in self._chats for piece in self._chats[chat])

    def put(self, chat: str, texts: Sequence[str]) -> None:
        """Let a chat have these texts and no others; without any it is gone, at once."""
        starts = ((text, at) for text in texts for at in range(0, len(text), PIECE))
        pieces: dict[str, Span | None] = dict.fromkeys(text[at : at + PIECE] for text, at in starts)
        for piece, place in self._chats.pop(chat, {}).items():
            if piece in pieces:
                pieces[piece] = place
            elif place is not None:
                self._tokens[place] = STOP
                self._n_gone += place.stop - place.start
                self._waiting.extend(self._left)
                self._left.clear()
        if pieces:
            self._chats[chat] = pieces
        self._waiting.extend((chat, piece) for piece, place in pieces.items() if place is None)

    def slice(self) -> bool:
        """Index one piece; False: none is waiting.

        Raises:
            EngineError: It cannot be tokenized.
        """
        while self._waiting:
            chat, piece = self._waiting.popleft()
            pieces = self._chats.get(chat, {})
            if pieces.get(piece, Span(0)) is not None:
                continue  # it was taken out, or handed in twice
            tokens = self._tokenize(piece)
            if self.n_tokens + len(tokens) >= self._capacity:
                if self._n_gone < self._capacity // 4:
                    self._left.append((chat, piece))  # full
                    continue
                self._start_again()
            else:
                pieces[piece] = self._add(tokens)
            return True
        return False

    def _add(self, tokens: list[int]) -> Span:
        begin = CONTEXT + self.n_tokens
        end = begin + len(tokens)
        self._tokens[begin:end] = tokens
        self._tokens[end] = STOP
        self.n_tokens += len(tokens) + 1
        words = np.array(tokens[:-1], np.uint64)  # nothing follows the last one
        for n, latest, before in self._chains:
            _link(np.asarray(latest), np.asarray(before), window_hashes(words, n), begin + n)
        return Span(begin, end)

    def longest(self, tail: Sequence[int], shortest: int) -> tuple[int, list[int]]:
        """Return the length of the longest match of a text's end, and the places after it.

        Args:
            tail: The text's last tokens, `CONTEXT` at most.
            shortest: Tokens of a match at least, from 1 on; without one there are no places.
        """
        n, longest, places = len(tail), shortest, list[int]()
        if n < shortest:
            return longest, places
        wanted = int.from_bytes(struct.pack(f"<{n}i", *tail), "little")
        width, bits, text = 4 * n, 32 * n, self._bytes
        for order, latest, before in self._chains:
            if n < order:
                continue
            value = 0
            for token in tail[-order:]:
                value = (value + token) * MULTIPLIER & _MASK
            place = latest[value >> _SHIFT]
            for _ in range(LOOKS):
                if not place:
                    break
                differs = int.from_bytes(text[4 * place - width : 4 * place], "little") ^ wanted
                length = bits - differs.bit_length() >> 5
                if length > longest:
                    longest, places = length, [place]
                elif length == longest:
                    places.append(place)
                place = before[place]
            if places or shortest >= order:
                break  # shorter windows have no longer match
        return longest, places

    def follow(self, places: list[int], n: int, p_min: float) -> tuple[list[int], list[float]]:
        """Go from token to token with most of the places that agree so far.

        Args:
            places: The latest first.
            n: Tokens at most; 62 at most.
            p_min: The walk ends where the product of the shares would fall below.

        Returns:
            The tokens, and for each the share of those places that go on with it.
        """
        words, text = self._words, self._bytes
        tokens, shares, product = list[int](), list[float](), 1.0
        if len({text[4 * place : 4 * (place + n)].tobytes() for place in places}) == 1:
            places = places[:1]
        while places and len(tokens) < n:
            at = len(tokens)
            if len(places) == 1:
                rest = words[places[0] + at : places[0] + n].tolist()
                rest = rest[: rest.index(STOP)] if STOP in rest else rest
                return tokens + rest, shares + [1.0] * len(rest)
            following = [words[place + at] for place in places]
            if STOP in following:
                places = [place for place in places if words[place + at] != STOP]
                continue
            token = max(dict.fromkeys(following), key=following.count)
            share = following.count(token) / len(following)
            product *= share
            if product < p_min:
                break
            tokens.append(token)
            shares.append(share)
            if share < 1.0:
                places = [place for place in places if words[place + at] == token]
        return tokens, shares


def _zeros(n: int) -> Places:
    """Return zeros that take no memory before they are used, and none after the last reference.

    What `numpy.zeros` gives may be memory that was used before, which has to be written over.
    """
    return np.frombuffer(mmap.mmap(-1, n * _WORD.itemsize), _WORD)


def _link(latest: Places, before: Places, hashes: Hashes, first: int) -> None:
    """Add the places from `first` on to their hashes' chains."""
    if not len(hashes):
        return
    slots = (hashes >> np.uint64(_SHIFT)).astype(np.int64)
    order = np.argsort(slots, kind="stable")
    slots, places = slots[order], (order + first).astype(np.int32)
    is_first = np.diff(slots, prepend=-1) != 0
    linked = np.roll(places, 1)
    linked[is_first] = latest[slots[is_first]]
    before[places] = linked
    is_last = np.roll(is_first, -1)
    latest[slots[is_last]] = places[is_last]
