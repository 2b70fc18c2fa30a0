"""Counter-based Gumbel noise: the same for a token, however its step was decoded.

The noise of a token depends on nothing but (seed, index of the generated token, token id). So the
reply does not depend on how many tokens were drafted, by which drafter, or where a step ended, and
a draft model that adds the same noise to its own logits tends to pick what the target will pick:
the Gumbel coupling of Daliri, Musco and Suresh (arXiv 2408.07978).

The mixing function is the finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

_MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15
_STREAM = 0xD1B54A32D192ED03

GUMBEL_MAX = 22.9
"""Upper bound of the noise: -log(-log(u)) for the largest 32-bit u is 22.87."""

GUMBEL_MIN = -3.2
"""Lower bound of the noise: -log(-log(u)) for the smallest 32-bit u is -3.14."""

_U_GOLDEN = np.uint64(_GOLDEN)
_U_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_U_MIX2 = np.uint64(0x94D049BB133111EB)
_U27, _U30, _U31, _U32 = (np.uint64(n) for n in (27, 30, 31, 32))


def _mix(z: int) -> int:
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)


def position_key(seed: int, position: int) -> int:
    """Return the 64-bit key of one generated position."""
    return _mix((_mix((seed + _GOLDEN) & _MASK) + (position + 1) * _STREAM) & _MASK)


def gumbel_of(key: int, token: int) -> float:
    """Return the noise of one token by its definition."""
    z = _mix((token * _GOLDEN + key) & _MASK)
    return -math.log(-math.log(((z >> 32) + 0.5) * 2.0**-32))


def gumbel(key: int, tokens: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the noise of many tokens; the last digit may differ from `gumbel_of`.

    Args:
        key: Key of the position.
        tokens: Ids, int64 [n].

    Returns:
        float64 [n].
    """
    z = tokens.astype(np.uint64)
    z *= _U_GOLDEN
    z += np.uint64(key)
    z ^= z >> _U30
    z *= _U_MIX1
    z ^= z >> _U27
    z *= _U_MIX2
    z ^= z >> _U31
    uniform = ((z >> _U32).astype(np.float64) + 0.5) * 2.0**-32
    return -np.log(-np.log(uniform))
