"""Rows as batches on the device, in an order that the step's number and the seed decide."""

from __future__ import annotations

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
        before: bool, (batch, length): the places behind which a token is to be predicted.
        wanted: The tokens behind these places, (n,), int64.
    """

    ids: Tensor
    chat: Tensor
    before: Tensor
    wanted: Tensor


class Batches:
    """All rows on one device.

    Args:
        rows: From `packing.pack`.
        n: Rows per batch.
        device: Where they are kept.
        seed: Of the order; every pass has another one.
    """

    def __init__(self, rows: Rows, n: int, device: torch.device, seed: int) -> None:
        self._ids = torch.from_numpy(rows.ids.astype(np.int32)).to(device)
        self._chat = torch.from_numpy(rows.chat).to(device)
        self._learnt = torch.from_numpy(rows.learnt).to(device)
        self._n = min(n, len(rows.ids))
        self._seed = seed
        self._order = np.empty(0, np.int64)
        self._round = -1

    def __len__(self) -> int:
        """Whole batches of one pass."""
        return len(self._ids) // self._n

    @property
    def tokens(self) -> int:
        """Places of one batch."""
        return self._n * self._ids.shape[1]

    def at(self, step: int) -> Batch:
        """Return the batch of a step."""
        number, place = divmod(step, len(self))
        if number != self._round:
            self._order = np.random.default_rng((self._seed, number)).permutation(len(self._ids))
            self._round = number
        chosen = torch.from_numpy(self._order[place * self._n : (place + 1) * self._n])
        chosen = chosen.to(self._ids.device)
        ids, learnt = self._ids[chosen], self._learnt[chosen]
        before = torch.zeros_like(learnt)
        before[:, :-1] = learnt[:, 1:]
        return Batch(ids, self._chat[chosen], before, ids[learnt_behind(learnt)].long())


def learnt_behind(learnt: Tensor) -> Tensor:
    """Return the places to be predicted: a row's first has nothing before it."""
    behind = learnt.clone()
    behind[:, 0] = False
    return behind
