"""Rows as batches on the device, in an order that the step's number and the seed decide.

All rows of a batch have one length, and all batches about as many places, whatever their rows'
length: every step sees as much, and attention, whose work grows with a row's length, is only as
long as the chats need it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from demo_pair.learning.packing import Rows


@dataclass(frozen=True)
class Batch:
    """Some rows.

    Attributes:
        ids: (batch, length), int32.
        chat: Number of the token's chat in its row, (batch, length), int32.
        before: bool, (batch, length): the places after which a token is to be predicted.
        wanted: The tokens after these places, (n,), int64.
    """

    ids: Tensor
    chat: Tensor
    before: Tensor
    wanted: Tensor


class Batches:
    """All rows on one device, those of every length apart.

    Args:
        rows: From `packing.pack` or `packing.pack_apart`, shortest rows first.
        n: Rows per batch, of the longest kind; of shorter ones so many as have as many places.
        device: Where they are kept.
        seed: Of the order; every pass has another one.
    """

    def __init__(
        self, rows: Rows | Sequence[Rows], n: int, device: torch.device, seed: int
    ) -> None:
        kinds = [rows] if isinstance(rows, Rows) else list(rows)
        longest = kinds[-1].ids.shape[1]
        self._kinds = [
            _Kind(each, n * longest // each.ids.shape[1], device) for each in kinds if len(each.ids)
        ]
        self._seed = seed
        self._order: list[tuple[_Kind, np.ndarray]] = []
        self._round = -1
        self.tokens = n * longest
        """Places of one batch; fewer where there are not so many."""

    def __len__(self) -> int:
        """Whole batches of one pass."""
        return sum(len(kind) for kind in self._kinds)

    def at(self, step: int) -> Batch:
        """Return the batch of a step."""
        number, place = divmod(step, len(self))
        if number != self._round:
            self._order, self._round = self._shuffled(number), number
        kind, chosen = self._order[place]
        return kind.batch(chosen)

    def of_each_length(self) -> Iterator[Batch]:
        """Return a batch of every kind of rows."""
        for kind in self._kinds:
            yield kind.batch(np.arange(kind.n))

    def _shuffled(self, number: int) -> list[tuple[_Kind, np.ndarray]]:
        """Return the batches of a pass: rows mixed within their kind, and kinds among each other.

        So every kind has the same share of each part of a run.
        """
        rng = np.random.default_rng((self._seed, number))
        batches = []
        for kind in self._kinds:
            order = rng.permutation(kind.n_rows)
            batches += [(kind, order[at * kind.n : (at + 1) * kind.n]) for at in range(len(kind))]
        if len(self._kinds) == 1:
            return batches
        return [batches[at] for at in rng.permutation(len(batches))]


class _Kind:
    """Rows of one length.

    Args:
        rows: They.
        n: Rows per batch; all of them where there are fewer.
        device: Where they are kept.
    """

    def __init__(self, rows: Rows, n: int, device: torch.device) -> None:
        self._ids = torch.from_numpy(rows.ids.astype(np.int32)).to(device)
        self._chat = torch.from_numpy(rows.chat).to(device)
        self._learnt = torch.from_numpy(rows.learnt).to(device)
        self.n_rows = len(rows.ids)
        self.n = min(n, self.n_rows)

    def __len__(self) -> int:
        """Whole batches."""
        return self.n_rows // self.n

    def batch(self, rows: np.ndarray) -> Batch:
        """Return the rows of these numbers."""
        chosen = torch.from_numpy(rows).to(self._ids.device)
        ids, learnt = self._ids[chosen], self._learnt[chosen]
        before = torch.zeros_like(learnt)
        before[:, :-1] = learnt[:, 1:]
        return Batch(ids, self._chat[chosen], before, ids[learnt_behind(learnt)].long())


def learnt_behind(learnt: Tensor) -> Tensor:
    """Return the places to be predicted: a row's first has nothing before it."""
    behind = learnt.clone()
    behind[:, 0] = False
    return behind
