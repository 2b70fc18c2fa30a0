"""The networks: llama.cpp's architecture `llama`, in PyTorch.

Rotary positions turn neighbouring numbers (the original form of Su et al., arXiv:2104.09864), as
llama.cpp does for this architecture, so that the weights are stored as they are. The embedding is
the output matrix, too.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import torch
import torch.nn.functional as F  # noqa: N812 - its usual name
from torch import Tensor, nn
from torch.nn.attention.flex_attention import BlockMask, create_block_mask, flex_attention

from demo_pair.learning.by_products import attention_by_products
from demo_pair.learning.sizes import N_CONTEXT, Size

Seen: TypeAlias = Tensor | BlockMask


class Norm(nn.Module):
    """Root mean square norm."""

    def __init__(self, width: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        """Return x with unit mean square, times the weights."""
        return F.rms_norm(x, (x.shape[-1],), self.weight.to(x.dtype), self.eps)


class Layer(nn.Module):
    """Attention and a gated feed-forward part."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        head = size.width // size.heads
        self.heads, self.kv_heads = size.heads, size.kv_heads
        self.attn_norm = Norm(size.width, size.eps)
        self.ffn_norm = Norm(size.width, size.eps)
        self.attn_q = nn.Linear(size.width, size.width, bias=False)
        self.attn_k = nn.Linear(size.width, head * size.kv_heads, bias=False)
        self.attn_v = nn.Linear(size.width, head * size.kv_heads, bias=False)
        self.attn_output = nn.Linear(size.width, size.width, bias=False)
        self.ffn_gate = nn.Linear(size.width, size.inner, bias=False)
        self.ffn_up = nn.Linear(size.width, size.inner, bias=False)
        self.ffn_down = nn.Linear(size.inner, size.width, bias=False)

    def forward(self, x: Tensor, turn: tuple[Tensor, Tensor], seen: Seen) -> Tensor:
        """Return the residual stream after the layer."""
        batch, length, width = x.shape
        y = self.attn_norm(x)
        q = self.attn_q(y).view(batch, length, self.heads, -1).transpose(1, 2)
        k = self.attn_k(y).view(batch, length, self.kv_heads, -1).transpose(1, 2)
        v = self.attn_v(y).view(batch, length, self.kv_heads, -1).transpose(1, 2)
        q, k = turned(q, *turn).to(v.dtype), turned(k, *turn).to(v.dtype)
        values = attention(q, k, v, seen)
        x = x + self.attn_output(values.transpose(1, 2).reshape(batch, length, width))
        y = self.ffn_norm(x)
        behind: Tensor = x + self.ffn_down(F.silu(self.ffn_gate(y)) * self.ffn_up(y))
        return behind


class Network(nn.Module):
    """A language model; its names of weights are llama.cpp's.

    Args:
        size: Its shape.
    """

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.size = size
        self.token_embd = nn.Embedding(size.n_vocab, size.width)
        self.blk = nn.ModuleList(Layer(size) for _ in range(size.layers))
        self.output_norm = Norm(size.width, size.eps)
        for name, weight in self.named_parameters():
            if weight.ndim == 2:
                into_stream = "attn_output" in name or "ffn_down" in name
                scale = 1 / math.sqrt(2 * size.layers) if into_stream else 1.0
                nn.init.normal_(weight, 0.0, 0.02 * scale)
        head = size.width // size.heads
        rates = size.rope_base ** (-torch.arange(0, head, 2, dtype=torch.float32) / head)
        angles = torch.arange(N_CONTEXT, dtype=torch.float32)[:, None] * rates
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)
        self.cos: Tensor
        self.sin: Tensor

    def forward(self, ids: Tensor, seen: Seen) -> Tensor:
        """Return what comes out of the last norm.

        Args:
            ids: (batch, length).
            seen: From `seen_within` or `blocks_within` for these rows.

        Returns:
            (batch, length, width); `logits` makes predictions of it.
        """
        x = self.token_embd(ids)
        n = ids.shape[1]
        turn = self.cos[:n].to(x.dtype), self.sin[:n].to(x.dtype)
        for layer in self.blk:
            x = layer(x, turn, seen)
        normed: Tensor = self.output_norm(x)
        return normed

    def logits(self, hidden: Tensor) -> Tensor:
        """Return logits in single precision, shape (…, vocabulary)."""
        return F.linear(hidden, self.token_embd.weight.to(hidden.dtype)).float()


def turned(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Return x with pairs of neighbours turned by their position's angles."""
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * cos - b * sin, a * sin + b * cos), -1).flatten(-2)


def attention(q: Tensor, k: Tensor, v: Tensor, seen: Seen) -> Tensor:
    """Return values, (batch, heads, length, head), each a mean of those that its query may see.

    Args:
        q: Queries, (batch, heads, length, head).
        k: Keys, (batch, kv_heads, length, head).
        v: Values, of the same shape.
        seen: From `seen_within` or `blocks_within`.
    """
    if not isinstance(seen, Tensor):
        return flex_attention(q, k, v, block_mask=seen, enable_gqa=True)
    if q.device.type == "cpu":
        return attention_by_products(q, k, v, seen)
    times = q.shape[1] // k.shape[1]
    # Written out, because not every kernel that takes a mask takes fewer heads of keys.
    k, v = k.repeat_interleave(times, 1), v.repeat_interleave(times, 1)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=seen)


def seen_within(chat: Tensor) -> Tensor:
    """Return which places every place may see: earlier ones of its own chat.

    Args:
        chat: (batch, length), the number of each token's chat within its row.

    Returns:
        bool, (batch, 1, length, length).
    """
    n = chat.shape[1]
    same = chat[:, None, :, None] == chat[:, None, None, :]
    return same & torch.ones(n, n, dtype=torch.bool, device=chat.device).tril()


def blocks_within(chat: Tensor) -> BlockMask:
    """Return the same for `flex_attention`, which leaves out blocks that nothing sees.

    It is made for CUDA and a compiled network.
    """

    def seen(b: Tensor, _h: Tensor, q: Tensor, k: Tensor) -> Tensor:
        return (q >= k) & (chat[b, q] == chat[b, k])

    batch, n = chat.shape
    return create_block_mask(seen, batch, None, n, n, device=str(chat.device))
