"""The batch widths that decoding takes: where they agree with each other, so do the texts."""

from __future__ import annotations

from typing import NamedTuple

from paceline.engine.control.costs import MAX_WIDTH


class BatchWidths(NamedTuple):
    """Batches that output rows have a multiple of `multiple` tokens, from `lowest` to `highest`.

    Shorter ones are padded with junk that no row in front of it can see, and that is taken back.
    `lowest` and `highest` are multiples themselves.
    """

    lowest: int = 1
    multiple: int = 1
    highest: int = MAX_WIDTH

    def of(self, n_tokens: int) -> int:
        """Return the width of the batch for so many tokens; they themselves above `highest`."""
        if n_tokens > self.highest:
            return n_tokens
        return max(-(-n_tokens // self.multiple) * self.multiple, self.lowest)

    def __str__(self) -> str:
        """Return the three numbers, as facts are named by them."""
        return "-".join(map(str, self))

    @property
    def every(self) -> range:
        """All widths."""
        return range(self.lowest, self.highest + 1, self.multiple)

    @property
    def n_junk(self) -> int:
        """Tokens of junk that a batch may have at most."""
        return max(self.lowest, self.multiple) - 1
