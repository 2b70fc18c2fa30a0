"""The hashes of all n-grams of a text at once.

The hash of t1…tn is ``t1·A^n + t2·A^(n-1) + … + tn·A`` modulo 2^64, and so a difference of two
running sums: a few passes of numpy, whatever n is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MULTIPLIER = 6364136223846793005
"""Knuth's for 64 bits, as in llama.cpp's `ngram-mod`."""
_INVERSE = pow(MULTIPLIER, -1, 1 << 64)

Hashes = NDArray[np.uint64]


def window_hashes(tokens: Hashes, n: int) -> Hashes:
    """Return the hash of each n-gram, uint64 [len(tokens) - n + 1]; none when the text is shorter.

    Args:
        tokens: The text, uint64.
        n: Tokens per n-gram, at least 1.
    """
    sums = np.zeros(len(tokens) + 1, np.uint64)
    np.cumsum(tokens * _powers(_INVERSE, len(tokens)), out=sums[1:])
    return (sums[n:] - sums[:-n]) * _powers(MULTIPLIER, len(sums))[n:]


def _powers(base: int, n: int) -> Hashes:
    """Return the powers 0 to n - 1 of `base` modulo 2^64."""
    powers = np.full(n, base, np.uint64)
    powers[:1] = 1
    return np.multiply.accumulate(powers)
