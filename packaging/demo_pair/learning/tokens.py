"""Chats as token ids, and which of them are to be learnt."""

from __future__ import annotations

from pathlib import Path

import numpy as np


def assistants(ids: np.ndarray, header: np.ndarray, end: int) -> np.ndarray:
    """Return which ids of one chat are the assistant's, the end of its turns included."""
    said = np.zeros(len(ids), bool)
    n = len(header)
    for at in np.flatnonzero(ids == header[0]):
        if np.array_equal(ids[at : at + n], header):
            ends = np.flatnonzero(ids[at:] == end)
            said[at + n : at + ends[0] + 1 if len(ends) else len(ids)] = True
    return said


class Tokens:
    """Chats as ids.

    Attributes:
        ids: Of all chats, uint16.
        said: Which of them are to be learnt, bool.
        ends: Where each chat ends, int64.
    """

    def __init__(self, ids: np.ndarray, said: np.ndarray, ends: np.ndarray) -> None:
        self.ids, self.said, self.ends = ids, said, ends

    def save(self, path: Path) -> None:
        """Write a compressed file of numpy."""
        np.savez_compressed(path, ids=self.ids, said=np.packbits(self.said), ends=self.ends)

    @classmethod
    def load(cls, path: Path) -> Tokens:
        """Read what `save` wrote."""
        with np.load(path) as file:
            ids = file["ids"]
            return cls(ids, np.unpackbits(file["said"])[: len(ids)].astype(bool), file["ends"])
