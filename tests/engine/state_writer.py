"""A store of states with files, of texts without a model; as a program, one that stores for ever.

A block's cells are its tokens. It imports neither pytest nor Hypothesis.
"""

from __future__ import annotations

import sys
from array import array
from pathlib import Path

from paceline.engine.model.state_files import StateFolder
from paceline.engine.model.stored_states import StateStore
from paceline.messages import StateOwner

N_BLOCK = 32
ROOM = 1 << 24


class Store:
    """The stored states of one model, in memory and in a folder."""

    def __init__(self, folder: Path, key: str = "a model", most_bytes: int = 1 << 30) -> None:
        self.store = StateStore(ROOM, StateFolder(str(folder), most_bytes))
        self.tree = self.store.tree(key, N_BLOCK)

    def add(self, tokens: list[int], owner: str, weight: int = 1) -> None:
        """Store a text in memory; `weight`: how often its cells hold its tokens."""
        self.store.refresh()
        while (missing := self.tree.missing(tokens, StateOwner(owner))) is not None:
            parent, first, n = missing
            part = tokens[first : first + n]
            self.tree.add(parent, part, array("i", part).tobytes() * weight, StateOwner(owner))

    def keep(self, tokens: list[int], owner: str, weight: int = 1) -> None:
        """Store a text in memory and in files."""
        self.add(tokens, owner, weight)
        while self.store.file_one(wants_ends=True):
            pass

    def find(self, tokens: list[int]) -> int:
        """Return how many of the first tokens are stored, as is known without reading cells."""
        self.store.refresh()
        return self.tree.find(tokens, "").n_tokens

    def read(self, tokens: list[int]) -> list[int]:
        """Return the tokens that the cells hold of what is stored of a text."""
        self.store.refresh()
        found, cells = self.tree.find(tokens, ""), array("i")
        self.store.use(self.tree, found.blocks)
        for block in found.blocks:
            data = self.store.data(self.tree, block)
            if data is None:
                break
            cells.frombytes(data[: 4 * len(block.tokens)])
        return cells.tolist()[: found.n_tokens]


def text(number: int) -> list[int]:
    """Return one of the texts that the program stores."""
    return list(range(100 * number, 100 * number + 96))


def main() -> None:
    """Store one text after the other, and say its number when it is written."""
    store = Store(Path(sys.argv[1]))
    number = int(sys.argv[2])
    while True:
        store.keep(text(number), "writer", weight=2_000)
        print(number, flush=True)
        number += 1


if __name__ == "__main__":
    main()
