"""A set of tokens as a bit mask: those that a grammar allows next."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class TokenMask(NamedTuple):
    """A set of tokens.

    Attributes:
        bits: Bytes with one bit per token, the lowest bit first; bits from `n_tokens` on are
            unused.
        n_tokens: Number of tokens covered; higher ids are not allowed.
    """

    bits: bytes
    n_tokens: int

    @classmethod
    def of(cls, allowed: NDArray[np.bool_]) -> TokenMask:
        """Return the mask of an array, bool [n_tokens]."""
        return cls(np.packbits(allowed, bitorder="little").tobytes(), len(allowed))

    @property
    def flags(self) -> NDArray[np.bool_]:
        """The mask as an array, bool [n_tokens]."""
        bits = np.frombuffer(self.bits, np.uint8)
        return np.unpackbits(bits, count=self.n_tokens, bitorder="little").view(np.bool_)

    def has(self, token: int) -> bool:
        """Return whether a token is allowed."""
        return 0 <= token < self.n_tokens and bool(self.bits[token >> 3] >> (token & 7) & 1)

    def or_of(self, other: TokenMask) -> TokenMask:
        """Return the union with another mask of as many tokens."""
        ours, theirs = (np.frombuffer(mask.bits, np.uint8) for mask in (self, other))
        return TokenMask((ours | theirs).tobytes(), self.n_tokens)
