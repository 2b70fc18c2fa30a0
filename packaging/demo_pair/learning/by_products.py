"""Attention as products of matrices, for processors.

Processors with matrix units are fast at products, but not at PyTorch's own attention, whose
gradients take them several times as long. What stands between the products is a pass over all
pairs of places: one in each direction here, over numbers as narrow as the values are. The sums
that shares are divided by are applied to the means, which are fewer, as in FlashAttention (Dao et
al., arXiv:2205.14135).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

_PLACES = 256
"""Queries that are looked at together; they see no keys after the last of them."""
_FARTHEST = 60.0
"""Scores are kept within this: its exponential can be summed in single precision without looking
for the largest first. A score beyond it would be cut: e^60 is as good as everything."""


def attention_by_products(q: Tensor, k: Tensor, v: Tensor, seen: Tensor) -> Tensor:
    """Return values, (batch, heads, length, head), each a mean of those that its query may see.

    Args:
        q: Queries, (batch, heads, length, head).
        k: Keys, (batch, kv_heads, length, head); `kv_heads` divides `heads`.
        v: Values, of the same shape.
        seen: From `seen_within`, (batch, 1, length, length); every place sees itself, none a later.
    """
    batch, heads, n, width = q.shape
    q = (q * width**-0.5).reshape(batch, k.shape[1], -1, n, width)
    parts = []
    for start in range(0, n, _PLACES):
        end = min(start + _PLACES, n)
        visible = seen[:, :, start:end, :end]
        parts.append(_Means.apply(q[:, :, :, start:end], k[:, :, :end], v[:, :, :end], visible))
    return torch.cat(parts, 3).view(batch, heads, n, width)


class _Means(torch.autograd.Function):
    """Queries, (batch, kv_heads, times, places, head), with some keys and values."""

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, seen: Tensor) -> Tensor:
        """Return the means, of the queries' shape."""
        batch, kv_heads, times, n, width = q.shape
        # Queries that share a head of keys stand below each other: no key is copied for them.
        q = q.reshape(batch, kv_heads, times * n, width)
        scores = (q @ k.transpose(-1, -2)).view(batch, kv_heads, times, n, -1)
        weights = scores.float().clamp(-_FARTHEST, _FARTHEST).exp() * seen[:, :, None]
        sums = weights.sum(-1, keepdim=True).view(batch, kv_heads, times * n, 1)
        weights = weights.to(v.dtype).view(batch, kv_heads, times * n, -1)
        means = ((weights @ v).float() / sums).to(v.dtype)
        ctx.save_for_backward(q, k, v, weights, sums, means)
        return means.view(batch, kv_heads, times, n, width)

    @staticmethod
    def backward(ctx: Any, *by_means: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        """Return the gradients of queries, keys and values."""
        q, k, v, weights, sums, means = ctx.saved_tensors
        shape = by_means[0].shape
        scaled = by_means[0].reshape(means.shape).float() / sums
        mean = (scaled * means.float()).sum(-1, keepdim=True)
        scaled = scaled.to(v.dtype)
        by_weights = scaled @ v.transpose(-1, -2)
        by_scores = (weights.float() * (by_weights.float() - mean)).to(v.dtype)
        by_q = (by_scores @ k).view(shape)
        by_k = by_scores.transpose(-1, -2) @ q
        return by_q, by_k, weights.transpose(-1, -2) @ scaled, None
