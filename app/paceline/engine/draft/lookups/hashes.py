"""Hashes of any span of a growing text, each in constant time.

An index that stores n-grams as tuples needs time and memory in proportion to n. Here a polynomial
hash (Karp and Rabin, 1987) of every prefix of the text is stored, 8 bytes per token, and the hash
of a span is a difference of two of them. Modulo 2^61 − 1 two different n-grams of a chat
practically never collide; a collision would only make a useless draft.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

MULTIPLIER = 6364136223846793005
"""Knuth's multiplier for 64 bits, as in llama.cpp's `ngram-mod`."""
_INVERSE = pow(MULTIPLIER, -1, 1 << 64)

Hashes = NDArray[np.uint64]


def window_hashes(tokens: Hashes, n: int) -> Hashes:
    """Return the hash of each n-gram, uint64 [len(tokens) - n + 1]; empty if the text is shorter.

    The hash of t1…tn is ``t1·A^n + t2·A^(n-1) + … + tn·A`` modulo 2^64, which is a difference of
    two running sums: a few passes of numpy for any n.

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


_PRIME = (1 << 61) - 1
_BASE = 0x0F3A_95D1_7C64_2E8B  # an arbitrary large number without a pattern


@cache
def _weight(n: int) -> int:
    return pow(_BASE, n, _PRIME)


class SpanHashes:
    """Prefix hashes of a text up to what was fed last; not thread-safe."""

    def __init__(self) -> None:
        self._sums = array("Q", [0])  # [i]: hash of the first i tokens

    def __len__(self) -> int:
        return len(self._sums) - 1

    def feed(self, tokens: Sequence[int]) -> None:
        """Append tokens to the text."""
        sums = self._sums
        last = sums[-1]
        for token in tokens:
            last = (last * _BASE + token) % _PRIME
            sums.append(last)

    def grams(self, n: int, start: int, end: int) -> list[int]:
        """Return the hashes of the n-grams that end at the places `start` to `end` − 1.

        Args:
            n: Tokens per n-gram.
            start: First place; at least n, since an n-gram that ends at place i consists of the
                tokens i − n to i − 1.
            end: Place after the last one; at most one above the text's length.
        """
        sums, weight = self._sums, _weight(n)
        return [(sums[i] - sums[i - n] * weight) % _PRIME for i in range(start, end)]

    def tail(self, ahead: Sequence[int], n: int) -> int | None:
        """Return the hash of the last `n` tokens of the text and then `ahead`, or None if fewer."""
        n_own = n - len(ahead)
        if n_own > len(self):
            return None
        if n_own < 0:
            ahead, n_own = ahead[-n_own:], 0
        sums = self._sums
        before = sums[len(self) - n_own]
        after = sums[-1]
        for token in ahead:
            after = (after * _BASE + token) % _PRIME
        return (after - before * _weight(n)) % _PRIME
