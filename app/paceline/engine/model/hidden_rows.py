"""The hidden state of a target at each place of its text, for a drafter that reads them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_MOST_BYTES = 64 * 2**20
"""3,276 places of 5,120 columns. A head that comes late to a longer text reads its end alone."""


class HiddenRows:
    """Keeps a stretch of places without a gap; earlier ones give way.

    A row belongs to a place, and holds for the text that was decoded last up to there. So it stays
    true where tokens after it are taken back, or are to be decoded once more.

    Args:
        n_columns: Of a row.
        n_ctx: Places that a text has at most.

    Attributes:
        first: The first place that is kept.
        end: The one after the last.
    """

    def __init__(self, n_columns: int, n_ctx: int) -> None:
        self.n_columns = n_columns
        room = min(n_ctx, max(_MOST_BYTES // (4 * n_columns), 1))
        self._rows = np.zeros((room, n_columns), np.float32)  # place p lies at p modulo the room
        self.first = self.end = 0

    def put(self, place: int, rows: NDArray[np.float32]) -> None:
        """Take over the rows of a decode, float32 [n, n_columns], from this place on."""
        room = len(self._rows)
        if not self.first <= place <= self.end:  # nothing before it is known to be of this text
            self.first = place
        self.end = place + len(rows)
        kept = rows[-room:]
        places = np.arange(self.end - len(kept), self.end)
        self._rows[places % room] = kept
        self.first = max(self.first, self.end - room)

    def take(self, place: int, n: int) -> NDArray[np.float32]:
        """Return copies of `n` rows from a place on, all of which must be kept."""
        assert self.first <= place and place + n <= self.end
        return self._rows[np.arange(place, place + n) % len(self._rows)]
