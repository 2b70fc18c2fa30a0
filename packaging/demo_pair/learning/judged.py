"""What a network is worth on rows that it did not learn, in PyTorch: for the end of a training.

`judging` measures the finished files with llama.cpp; this tells as much before there are any.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from demo_pair.learning.batches import Batches
from demo_pair.learning.losses import accepted_share, next_token_loss
from demo_pair.learning.network import Network, seen_within
from demo_pair.learning.packing import Rows

ROWS = 4
_CHUNK = 16_384
"""Places whose logits are held at once."""


@torch.no_grad()
def judged(network: Network, rows: Rows, teacher: Network | None = None) -> dict[str, float]:
    """Return a network's loss on rows, and how its drafts for a teacher would do.

    Rows that do not fill a batch are left out.

    Returns:
        ``loss`` in nats per token, and, given a teacher, ``accepted_drawn`` and
        ``accepted_greedy`` as shares.
    """
    device = next(network.parameters()).device
    batches = Batches(rows, ROWS, device, seed=0)
    sums: dict[str, float] = {}
    n_all = 0
    for student, told, wanted in _predictions(network, teacher, batches):
        n = len(wanted)
        n_all += n
        found = {"loss": float(next_token_loss(student, wanted))}
        if told is not None:
            drawn, greedy = accepted_share(student, told)
            found |= {"accepted_drawn": drawn, "accepted_greedy": greedy}
        for key, value in found.items():
            sums[key] = sums.get(key, 0.0) + n * value
    return {key: value / n_all for key, value in sums.items()}


def _predictions(
    network: Network, teacher: Network | None, batches: Batches
) -> Iterator[tuple[Tensor, Tensor | None, Tensor]]:
    for step in range(len(batches)):
        batch = batches.at(step)
        seen = seen_within(batch.chat)
        hidden = network(batch.ids, seen)[batch.before]
        told = teacher(batch.ids, seen)[batch.before] if teacher else None
        for start in range(0, len(hidden), _CHUNK):
            part = slice(start, start + _CHUNK)
            theirs = teacher.logits(told[part]) if teacher and told is not None else None
            yield network.logits(hidden[part]), theirs, batch.wanted[part]
