"""Who sits a reply out: by what was gained over whole replies.

A model's first draft in a reply catches up with the prompt, and the first steps only show whether
its drafts pay here. That is gone where they do not, so a model that gains next to nothing loses
that much in every reply, while each of its steps looks well enough. The same holds for all of
speculation where a target is so small that several tokens cost nearly as much as one by one. So
there are accounts of whole replies, and whoever loses by one sits replies out, all but each fifth:
texts change. A model is not asked then; a strategy verifies only what is worth it beyond doubt. A
mean of few replies is doubted in favour of taking part (after UCB1; Auer et al., Machine Learning
47, 2002).
"""

from __future__ import annotations

_KEPT = 0.95  # of a reply's weight, with each further one
_FIRST = 2.5  # three replies weigh 2.85; fewer are not judged
_MOST_LOST = 8.0  # tokens of one reply; the ledger grants less, so more was the machine's doing
MOST_REPLIES = 1.0 / (1.0 - _KEPT)
OF_ONE, OF_ALL = 2.0, 4.0
"""Doubts: tokens by which a mean of n replies may be wrong, times the root of n. Lookups gain most
of what they gain in few replies."""
_SITS_OUT = 4  # replies in a row


class Admission:
    """An account of a model, or of a whole strategy.

    Amounts are tokens beyond those of the same time without it.

    Args:
        doubt: `OF_ONE` for a model, `OF_ALL` for all that a strategy has.

    Attributes:
        gained: Over the replies with it, of late.
        n_replies: How many of them count.
    """

    __slots__ = ("_doubt", "_here", "_n_out", "_takes_part", "gained", "n_replies")

    def __init__(self, doubt: float) -> None:
        self._doubt = doubt
        self.gained = self.n_replies = 0.0
        self._here, self._takes_part = 0.0, False
        self._n_out = 0

    def close(self, *, counts: bool = True) -> None:
        """End the last reply's account; without `counts` the reply was too short to tell."""
        if self._takes_part and counts:
            self.gained = _KEPT * self.gained + max(self._here, -_MOST_LOST)
            self.n_replies = _KEPT * self.n_replies + 1.0
        self._here, self._takes_part = 0.0, False

    def begin_reply(self) -> bool:
        """Return whether to take part in the next reply; the last one's account is closed."""
        doubt = self._doubt * self.n_replies**0.5
        if self.n_replies < _FIRST or self.gained + doubt >= 0.0 or self._n_out >= _SITS_OUT:
            self._n_out = 0
            return True
        self._n_out += 1
        return False

    def add(self, gained: float) -> None:
        """Count a part of the present reply."""
        self._here += gained
        self._takes_part = True

    def to_json(self) -> list[float]:
        """Return what is to be kept."""
        return [round(self.gained, 3), round(self.n_replies, 3)]
