"""Deciding costs time, too: where nothing pays, Auto decides only in some of the steps.

On a step of 15 ms nobody notices the 50 µs of Python behind a decision, on one of 1.5 ms they are a
twentieth of what the promise allows to be lost in all. So as long as steps stay plain, those
between two decisions are made without asking anybody: as many as it takes for deciding to cost one
hundredth of the time. A draft that is verified ends that. Where speculation lost by whole replies
(`control/admission.py`), nothing is expected from the beginning, and deciding may cost less. And as
long as the ledger covers no draft at all, nothing is decided.
"""

from __future__ import annotations

SHARE = 0.01
"""Of the time of plain steps, what deciding may take while it comes to nothing."""
_BEFORE = 16  # plain steps in a row behind which nothing is expected of the next one
_MOST = 16  # steps without a decision in a row: what is missed when the text changes
_SHARE_DOUBTFUL, _BEFORE_DOUBTFUL, _MOST_DOUBTFUL = 0.003, 1, 48  # where little is expected


class Rest:
    """Says which plain steps are made without a decision; one per reply.

    Attributes:
        is_doubtful: Whether little is expected of the whole reply.
    """

    __slots__ = ("_before", "_most", "_n_left", "_n_plain", "_own_s", "_share", "is_doubtful")

    def __init__(self, *, is_doubtful: bool = False) -> None:
        self.is_doubtful = is_doubtful
        self._share, self._before, self._most = SHARE, _BEFORE, _MOST
        if is_doubtful:
            self._share, self._before = _SHARE_DOUBTFUL, _BEFORE_DOUBTFUL
            self._most = _MOST_DOUBTFUL
        self._n_left = 0
        self._n_plain = 0
        self._own_s = 0.0

    def takes_step(self) -> bool:
        """Return whether the next step is made without a decision."""
        if not self._n_left:
            return False
        self._n_left -= 1
        return True

    def waits(self, n: int) -> None:
        """Nothing could be covered in the next `n` steps, whatever was proposed."""
        self._n_left = min(n, self._most)

    def came_to_nothing(self, own_s: float, step_s: float) -> None:
        """Count a plain step that was decided on.

        Args:
            own_s: Seconds that the decision took, with what was asked for it.
            step_s: Seconds of the whole step.
        """
        self._n_plain += 1
        self._own_s += (own_s - self._own_s) / min(self._n_plain, 8)
        if self._n_plain >= self._before and step_s > 0.0:
            self._n_left = min(int(self._own_s / (self._share * step_s)), self._most)

    def ends(self) -> None:
        """Something was drafted: every step is decided on again."""
        self._n_plain = self._n_left = 0
