"""Which class of confidence follows which in a draft model's drafts.

One more drafted token costs little and need not be verified. Whether that is a bargain depends on
how sure the model is likely to be of it, so the classes of neighbouring tokens are counted.
"""

from __future__ import annotations

from collections.abc import Sequence

from paceline.engine.control.classes import N_CLASSES

START = N_CLASSES
"""The row of what the first token's class may be."""
_DECAY = 0.99
_USUAL = (0.2, 0.26, 0.2, 0.11, 0.09, 0.13, 0.01)
"""How often a small model's tokens are of each class, before any was seen."""
_USUAL_WEIGHT = 32.0  # judged tokens
_WEIGHT = 3.5  # neighbours that were never seen


class Chances:
    """One model's table of P(next class | class); every row starts with 3.5 counts.

    Args:
        judged: Tokens that were judged in the long run, by class; what is usual is added.
    """

    __slots__ = ("_counts", "_mass", "_rows")

    def __init__(self, judged: Sequence[float] = ()) -> None:
        usual = [_USUAL_WEIGHT * share for share in _USUAL]
        if judged:
            usual = [mine + count for mine, count in zip(usual, judged, strict=True)]
        scale = _WEIGHT / sum(usual)
        self._counts = [[scale * count for count in usual] for _ in range(N_CLASSES + 1)]
        self._mass = [1.0] * (N_CLASSES + 1)
        self._rows: list[list[float] | None] = [None] * (N_CLASSES + 1)

    def row(self, cls: int) -> list[float]:
        """Return the probabilities of the next token's class, [N_CLASSES]."""
        row = self._rows[cls]
        if row is None:
            counts = self._counts[cls]
            total = sum(counts)
            row = self._rows[cls] = [count / total for count in counts]
        return row

    def add(self, cls: int, following: int) -> None:
        """Count one pair of neighbours."""
        mass = self._mass[cls] = self._mass[cls] / _DECAY
        self._counts[cls][following] += mass
        self._rows[cls] = None
        if mass > 1e9:
            self._counts[cls] = [count / mass for count in self._counts[cls]]
            self._mass[cls] = 1.0
