"""Chats of all lengths in rows of one length.

Chats are never cut in the middle and never see each other: every token has the number of its chat,
and attention stays within it. So it does not matter which chats share a row, and rows may be made
once. Rows are filled by "first fit" over a few open rows, longest chats first within a block:
nearly nothing stays empty (Ding et al., "Fewer Truncations Improve Language Modeling",
arXiv:2404.10830).
"""

from __future__ import annotations

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
        block = order[start : start + _BLOCK]
        block = block[np.argsort(-lengths[block], kind="stable")]
        open_rows: list[tuple[int, list[int]]] = []
        for chat in block:
            need = min(int(lengths[chat]), length)
            for at, (room, row) in enumerate(open_rows):
                if room >= need:
                    row.append(int(chat))
                    open_rows[at] = (room - need, row)
                    break
            else:
                open_rows.append((length - need, [int(chat)]))
            if len(open_rows) > 60:
                fullest = min(range(len(open_rows)), key=lambda n: open_rows[n][0])
                rows.append(open_rows.pop(fullest)[1])
        rows += [row for _, row in open_rows]
    return rows


def pack(tokens: Tokens, length: int, seed: int) -> Rows:
    """Return chats in rows of `length` tokens; what is longer is cut at its end."""
    starts = np.concatenate(([0], tokens.ends[:-1]))
    rows = fill_rows(tokens.ends - starts, length, np.random.default_rng(seed))
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
