"""Sampling the obvious way: whole lists, every definition written out, nothing shared.

Rows are lists of floats; -inf is a token that cannot be drawn.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from paceline.engine.sample.noise import gumbel_of, position_key
from paceline.params import SamplingParams


def truncated(
    row: Sequence[float], p: SamplingParams, avoid: Callable[[bool], object] = bool
) -> dict[int, float]:
    """The obvious way: what top-k, top-p and min-p leave, with weights relative to the largest.

    `avoid` is called with whether a sum is so close to top-p that rounding may decide.
    """
    n = p.top_k if 0 < p.top_k < len(row) else len(row)
    kept = heapq.nsmallest(n, range(len(row)), key=lambda token: (-row[token], token))
    weights = {token: math.exp(row[token] - row[kept[0]]) for token in kept}
    if p.top_p < 1:
        enough, mass, nucleus = p.top_p * math.fsum(weights.values()), 0.0, {}
        for token, weight in weights.items():
            if mass >= enough:
                break
            nucleus[token] = weight
            mass += weight
            avoid(abs(mass - enough) < 1e-9 * enough)
        weights = nucleus
    return {token: weight for token, weight in weights.items() if weight >= p.min_p and weight > 0}


def drawn(
    row: Sequence[float], weights: dict[int, float], seed: int, position: int, t: float
) -> int:
    key = position_key(seed, position)
    return max(weights, key=lambda token: row[token] / t + gumbel_of(key, token))


def edited(
    row: Sequence[float],
    p: SamplingParams,
    text: Sequence[int] = (),
    allowed: Iterable[int] | None = None,
) -> list[float]:
    """Logits after biases, penalties for the last 64 tokens of `text`, and a grammar's mask."""
    logits = list(row)
    for bias in p.logit_bias:
        logits[bias.token] = float(np.float32(np.float32(logits[bias.token]) + bias.bias))
    recent = list(text[-64:])
    for token in set(recent):
        x = logits[token]
        x = x / p.repeat_penalty if x > 0 else x * p.repeat_penalty
        x -= recent.count(token) * p.frequency_penalty
        x -= p.presence_penalty
        logits[token] = float(np.float32(x))
    if allowed is not None:
        keep = set(allowed)
        logits = [x if token in keep else -math.inf for token, x in enumerate(logits)]
    return logits


def choice(row: Sequence[float], p: SamplingParams, seed: int, position: int) -> int:
    """The token that an edited row gives."""
    if p.temperature == 0:
        return max(range(len(row)), key=lambda token: (row[token], -token))
    return drawn(row, truncated(row, p), seed, position, p.temperature)
