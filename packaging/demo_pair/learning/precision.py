"""Whether to compute in bfloat16: always on a GPU, on a processor where that is faster.

Processors with matrix units (AMX) multiply five to ten times faster then; others convert back and
forth and lose. Which one this is, is tried.
"""

from __future__ import annotations

import time

import torch

_ROWS, _WIDTH, _INNER = 2_048, 512, 1_536
_TRIES = 5
_WORTH = 1.5  # times as fast; less would go into the conversions of weights and activations


def is_narrow_faster(device: torch.device) -> bool:
    """Return whether networks are to be trained under autocast to bfloat16."""
    if device.type != "cpu":
        return True
    wide, narrow = (_seconds(kind) for kind in (torch.float32, torch.bfloat16))
    return wide > _WORTH * narrow


def _seconds(kind: torch.dtype) -> float:
    """Return what a product of two matrices of this kind takes, at best."""
    a = torch.ones(_ROWS, _WIDTH, dtype=kind)
    b = torch.ones(_WIDTH, _INNER, dtype=kind)
    took = []
    for _ in range(_TRIES):
        began = time.perf_counter()
        a @ b
        took.append(time.perf_counter() - began)
    return min(took)
