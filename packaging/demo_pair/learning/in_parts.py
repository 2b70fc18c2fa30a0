"""Losses of many places, whose logits are never there all at once.

Eight thousand logits of five thousand places take 160 MB, their gradient as much again, and a
processor spends more time with fetching that from memory than with computing it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - its usual name
from torch import Tensor

PART = 1_024
"""Places whose logits are held at once."""

PartLoss = Callable[[Tensor, slice], Tensor]
"""Takes logits of some places, (n, vocabulary) and which places they are; returns their mean."""


def loss_in_parts(hidden: Tensor, matrix: Tensor, part_loss: PartLoss) -> Tensor:
    """Return the mean of a loss over places.

    Args:
        hidden: What comes out of a network, (places, width).
        matrix: The output matrix, (vocabulary, width).
        part_loss: Is called with `PART` places at a time; what else it uses gets no gradient.
    """
    loss: Tensor = _InParts.apply(hidden, matrix, part_loss)
    return loss


class _InParts(torch.autograd.Function):
    """Computes the gradients of every part at once with its loss, while its logits are there."""

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, matrix: Tensor, part_loss: PartLoss) -> Tensor:
        """Return the loss."""
        n = len(hidden)
        is_narrow = torch.is_autocast_enabled(hidden.device.type)
        kind = torch.get_autocast_dtype(hidden.device.type) if is_narrow else hidden.dtype
        inputs, weights = hidden.to(kind), matrix.to(kind)
        by_hidden, by_matrix = torch.empty_like(inputs), torch.zeros_like(matrix)
        whole = torch.zeros((), device=hidden.device)
        for start in range(0, n, PART):
            part = slice(start, min(start + PART, n))
            logits = F.linear(inputs[part], weights).requires_grad_()
            with torch.enable_grad():
                loss = part_loss(logits, part) * ((part.stop - start) / n)
            (by_logits,) = torch.autograd.grad(loss, logits)
            torch.mm(by_logits, weights, out=by_hidden[part])
            by_matrix += by_logits.t() @ inputs[part]
            whole += loss.detach()
        ctx.save_for_backward(by_hidden.to(hidden.dtype), by_matrix)
        return whole

    @staticmethod
    def backward(ctx: Any, *by_loss: Tensor) -> tuple[Tensor, Tensor, None]:
        """Return the gradients that `forward` found, as the chain rule wants them."""
        by_hidden, by_matrix = ctx.saved_tensors
        return by_hidden * by_loss[0], by_matrix * by_loss[0], None
