"""An index of the texts of earlier chats: what followed the tokens that a text ends with.

Texts are handed in (`messages.Remember`), cut into pieces, and tokenized and indexed piece by piece
in idle time. A text that is removed is overwritten at once. Nothing of it is on disk.

All tokens lie in one array, with `STOP` after each piece. A *place* is an index in it. For the last
6 and the last 2 tokens before a place, a table of hashes holds the latest such place, and each
place holds the previous one with the same hash: chains as in LZ77 compressors. So a piece is
indexed by a few calls of numpy, 0.3 µs per token, and takes 12 bytes per token. The length of a
match is found by comparing the tokens themselves, so neither a hash collision nor an overwritten
place can give a wrong match. A suffix automaton would find a little more, with 100 bytes per token
and twenty times the time, and nothing can be removed from it.
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

MAX_MATCH = 32
"""Maximum length of a match, in tokens."""
CAPACITY = 1 << 22
"""Maximum number of indexed tokens, including those removed since; 50 MB."""
PIECE_CHARS = 2000
"""Characters tokenized at once: some milliseconds for which a command may have to wait."""
MAX_LOOKS = 8
"""Maximum number of places tried on a chain, the latest first."""
STOP = 0x7FFF_FFFF
"""Separator after each piece, and filler for removed tokens; not a token's id."""
_MAX_DRAFT = 64
_BITS = 18
_SHIFT = 64 - _BITS
_MASK = (1 << 64) - 1
_WORD = np.dtype("<i4")

Places = NDArray[np.int32]
Span = slice


class EarlierTexts:
    """The texts of chats by the chats' names; for the engine's thread.

    Attributes:
        contexts: Contexts that idle work on it decodes in: none.
        n_tokens: Number of indexed tokens, including those removed since.

    Args:
        tokenize: Returns the token ids of a text.
        capacity: Maximum number of tokens, see `CAPACITY`; memory is allocated as it is used.
    """

    contexts: Sequence[CachedContext] = ()

    def __init__(self, tokenize: Callable[[str], list[int]], capacity: int = CAPACITY) -> None:
        self._tokenize = tokenize
        self._capacity = capacity
        self._chats: dict[
            str, dict[str, Span | None]
        ] = {}  # spans of pieces; None: not indexed yet
        self._waiting: deque[tuple[str, str]] = deque()
        self._left: list[tuple[str, str]] = []  # pieces for which there was no room
        self._start_again()

    def _start_again(self) -> None:
        """Index everything again, since removed texts leave no room for new ones."""
        self._tokens = _zeros(self._capacity + MAX_MATCH + _MAX_DRAFT)
        self._tokens[:MAX_MATCH] = STOP
        # A memoryview reads single numbers and slices several times as fast as numpy.
        self._words, self._bytes = self._tokens.data, self._tokens.data.cast("B")
        # By order: the latest place by hash, and by place the previous one; 0 where there is none.
        self._chains = [
            (n, _zeros(1 << _BITS).data, _zeros(len(self._tokens)).data) for n in (6, 2)
        ]
        self.n_tokens = self._n_gone = 0
        for chat, pieces in self._chats.items():
            self._chats[chat] = dict.fromkeys(pieces)
        self._waiting = deque((chat, piece) for chat in self._chats for piece in self._chats[chat])

    def put(self, chat: str, texts: Sequence[str]) -> None:
        """Set the texts of a chat; without any, it is removed at once."""
        starts = ((text, at) for text in texts for at in range(0, len(text), PIECE_CHARS))
        pieces: dict[str, Span | None] = dict.fromkeys(
            text[at : at + PIECE_CHARS] for text, at in starts
        )
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
        """Index one piece; return False if none is waiting.

        Raises:
            EngineError: The piece cannot be tokenized.
        """
        while self._waiting:
            chat, piece = self._waiting.popleft()
            pieces = self._chats.get(chat, {})
            if pieces.get(piece, Span(0)) is not None:
                continue  # it was removed, or handed in twice
            tokens = self._tokenize(piece)
            if self.n_tokens + len(tokens) >= self._capacity:
                if self._n_gone < self._capacity // 4:
                    self._left.append((chat, piece))  # no room
                    continue
                self._start_again()
            else:
                pieces[piece] = self._add(tokens)
            return True
        return False

    def _add(self, tokens: list[int]) -> Span:
        begin = MAX_MATCH + self.n_tokens
        end = begin + len(tokens)
        self._tokens[begin:end] = tokens
        self._tokens[end] = STOP
        self.n_tokens += len(tokens) + 1
        words = np.array(tokens[:-1], np.uint64)  # no token follows the last one
        for n, latest, before in self._chains:
            _link(np.asarray(latest), np.asarray(before), window_hashes(words, n), begin + n)
        return Span(begin, end)

    def longest(self, tail: Sequence[int], shortest: int) -> tuple[int, list[int]]:
        """Return the length of the longest match of a text's end, and the places after it.

        Args:
            tail: The text's last tokens; at most `MAX_MATCH`.
            shortest: Minimum length of a match, at least 1; if there is none, no places are
                returned.
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
            for _ in range(MAX_LOOKS):
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
        """Walk along the tokens on which most of the places that agree so far continue.

        Args:
            places: Places to start from, the latest first.
            n: Maximum number of tokens, up to 62.
            p_min: Minimum of the product of the shares; the walk ends before it falls below.

        Returns:
            The tokens, and for each the share of the places that continue with it.
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
    """Return zeros whose memory is allocated on use and freed with the last reference.

    `numpy.zeros` may reuse memory, which it then has to clear.
    """
    return np.frombuffer(mmap.mmap(-1, n * _WORD.itemsize), _WORD)


def _link(latest: Places, before: Places, hashes: Hashes, first: int) -> None:
    """Link the places from `first` on into the chains of their hashes."""
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
