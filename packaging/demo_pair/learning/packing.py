"""Chats of all lengths in rows of one length.

Chats are never cut in the middle and never see each other: every token has the number of its chat,
and attention stays within it. So it does not matter which chats share a row, and rows may be made
once. Every chat goes where it leaves the least room, longest chats first within a block: nearly
nothing stays empty (Ding et al., "Fewer Truncations Improve Language Modeling", arXiv:2404.10830).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from demo_pair.learning.tokens import Tokens

_BLOCK = 4_000
"""Chats that are sorted by length together; small enough for the rows to stay mixed."""


@dataclass(frozen=True)
class Rows:
    """Rows of tokens, each array of shape (rows, length).

    Attributes:
        ids: uint16; 0 where nothing is.
        chat: int32, the number of the token's chat within the row from 1; 0 where nothing is.
        learnt: bool, whether the token is one to predict.
    """

    ids: np.ndarray
    chat: np.ndarray
    learnt: np.ndarray

    @property
    def filled(self) -> float:
        """The share of places that hold a token."""
        return float((self.chat > 0).mean())


class _Shelf:
    """Rows that are being filled.

    Args:
        length: Tokens of a row.
    """

    def __init__(self, length: int) -> None:
        self.rows: list[list[int]] = []
        self._length = length
        self._with_room: list[list[int]] = [[] for _ in range(length + 1)]  # rows, by their room
        self._rooms = 0  # bit n: there is a row with room for n tokens

    def put(self, chat: int, need: int, may_open: bool = True) -> bool:
        """Put a chat where it leaves the least room.

        Args:
            chat: Its number.
            need: Its tokens.
            may_open: Whether it may begin a row where it fits in none.

        Returns:
            Whether it is in a row.
        """
        need = min(need, self._length)
        if enough := self._rooms >> need << need:
            room = (enough & -enough).bit_length() - 1
            at = self._with_room[room].pop()
            if not self._with_room[room]:
                self._rooms ^= 1 << room
        elif may_open:
            room, at = self._length, len(self.rows)
            self.rows.append([])
        else:
            return False
        self.rows[at].append(chat)
        self._with_room[room - need].append(at)
        self._rooms |= 1 << (room - need)
        return True


def fill_rows(lengths: np.ndarray, length: int, rng: np.random.Generator) -> list[list[int]]:
    """Return which chats go into which row.

    Args:
        lengths: Tokens of each chat; what is longer than a row counts as a row's length.
        length: Tokens of a row.
        rng: Mixes the chats first.
    """
    order = rng.permutation(len(lengths))
    rows: list[list[int]] = []
    for start in range(0, len(order), _BLOCK):
        shelf = _Shelf(length)
        for chat in _longest_first(order[start : start + _BLOCK], lengths):
            shelf.put(int(chat), int(lengths[chat]))
        rows += shelf.rows
    return rows


def fill_rows_apart(
    lengths: np.ndarray, rows_lengths: Sequence[int], rng: np.random.Generator
) -> list[list[list[int]]]:
    """Return which chats go into which row of each length.

    Each goes into the shortest rows that it fits in, or into what is left of longer ones.

    Args:
        lengths: Tokens of each chat; what is longer than the longest row counts as its length.
        rows_lengths: Tokens of a row, ascending.
        rng: Mixes the chats first.
    """
    left = rng.permutation(len(lengths))
    kinds = np.searchsorted(rows_lengths[:-1], lengths)
    found = []
    for kind in range(len(rows_lengths) - 1, 0, -1):
        shelf = _Shelf(rows_lengths[kind])
        shorter = []
        for chat in _longest_first(left, lengths):
            if not shelf.put(int(chat), int(lengths[chat]), may_open=kinds[chat] == kind):
                shorter.append(int(chat))
        left = np.array(shorter, np.int64)
        found.append(shelf.rows)
    last = rng.permutation(left)
    rows = fill_rows(lengths[last], rows_lengths[0], rng)
    found.append([[int(last[at]) for at in row] for row in rows])
    return found[::-1]


def _longest_first(chats: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    return chats[np.argsort(-lengths[chats], kind="stable")]


def pack(tokens: Tokens, length: int, seed: int) -> Rows:
    """Return chats in rows of `length` tokens; what is longer is cut at its end."""
    rows = fill_rows(_lengths(tokens), length, np.random.default_rng(seed))
    return _written(tokens, rows, length)


def pack_apart(tokens: Tokens, lengths: Sequence[int], seed: int) -> list[Rows]:
    """Return chats in rows of several lengths.

    Args:
        tokens: The chats.
        lengths: Tokens of a row, ascending; what is longer than the last is cut at its end.
        seed: Of the order.

    Returns:
        Rows of each length, shortest first; where there is no chat for them, none.
    """
    kinds = fill_rows_apart(_lengths(tokens), lengths, np.random.default_rng(seed))
    return [_written(tokens, *each) for each in zip(kinds, lengths, strict=True)]


def _lengths(tokens: Tokens) -> np.ndarray:
    return np.diff(tokens.ends, prepend=0)


def _written(tokens: Tokens, rows: Sequence[Sequence[int]], length: int) -> Rows:
    """Return rows of these chats."""
    starts = tokens.ends - _lengths(tokens)
    made = Rows(
        np.zeros((len(rows), length), np.uint16),
        np.zeros((len(rows), length), np.int32),
        np.zeros((len(rows), length), bool),
    )
    for at, row in enumerate(rows):
        place = 0
        for number, chat in enumerate(row, 1):
            start = starts[chat]
            n = min(int(tokens.ends[chat] - start), length - place)
            made.ids[at, place : place + n] = tokens.ids[start : start + n]
            made.chat[at, place : place + n] = number
            made.learnt[at, place : place + n] = tokens.said[start : start + n]
            place += n
    return made
