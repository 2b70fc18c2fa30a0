"""Is the backend batch-invariant: are a token's logits the same whatever the width of its batch?

Speculation verifies several tokens at once, plain decoding one. Where kernels differ between
widths, logits differ by rounding and a near-tie may fall the other way: then the reply can differ
from the plain one although the rule is exact. The probe decodes the same eight tokens in batches
of 8, 4, 2 and 1 and compares the rows bit by bit, with the real thread counts and beyond 300
tokens, since llama.cpp's flash attention splits a single query among threads from 256 cells on.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paceline.engine.prefix import CachedContext

MIN_CONTEXT = 320
_N = 8
_WIDTHS = (8, 4, 2, 1)  # one by one last: the context is left as plain decoding leaves it


def can_probe(context: CachedContext, n_prompt: int) -> bool:
    """Whether the context is long enough, can take tokens back, and ends with generated ones.

    The prompt's tokens were computed in wider batches, whose rounding differs: decoding them anew
    would change the reply.
    """
    n = len(context.tokens)
    return n >= max(MIN_CONTEXT, n_prompt + _N) and context.model.can_rollback


def is_batch_invariant(context: CachedContext) -> bool:
    """Decode the context's last eight tokens at several widths; leaves the same tokens in it.

    Raises:
        CancelledError: The context then lacks up to eight of its tokens.
    """
    tail = context.tokens[-_N:]
    start = len(context.tokens) - _N
    widths = [w for w in _WIDTHS if w <= max(context.max_width, 1)] or [1]
    first = _rows(context, start, tail, widths[0])
    same = True
    for width in widths[1:]:
        same = np.array_equal(_rows(context, start, tail, width), first) and same
    return same


def _rows(
    context: CachedContext, start: int, tail: Sequence[int], width: int
) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """Return the logits of `tail`, float32 [8, n_vocab], decoded `width` at a time."""
    context.rollback(start)
    parts = []
    for i in range(0, _N, width):
        piece = tail[i : i + width]
        parts.append(context.feed(piece, len(piece)).copy())
    return np.concatenate(parts)
