"""What the context adds to a step: attention reads all of its tokens, for each row of the batch.

A GPU reads them once for all rows, so wide steps get dearer by about as much as plain ones. A CPU
computes with them once more for every row: behind 1,500 tokens of context a step of four tokens was
seen to take 2.5 plain steps instead of 1.7. So the addition has a share for each further row.
"""

from __future__ import annotations

from collections.abc import Sequence

USUAL_SHARE = 0.5
FEW = 0.02  # plain steps that nobody notices


class ContextCost:
    """Plain steps at an empty context that tokens in it add.

    Attributes:
        slope: By which share of itself a plain step gets dearer with each token of the context.
        share: Of that, what each further token of a batch adds once more, 0..1.
    """

    __slots__ = ("share", "slope")

    def __init__(self) -> None:
        self.slope = 0.0
        self.share = USUAL_SHARE

    def scale(self, n_ctx: int) -> float:
        """Return how much dearer a plain step is than at an empty context."""
        return 1.0 + self.slope * n_ctx

    def at_empty(self, width: int, n_ctx: int, seconds: float, plain: float | None) -> float:
        """Return what a step would take at an empty context.

        Args:
            width: Its tokens.
            n_ctx: Tokens in the context.
            seconds: What it took there.
            plain: Seconds of a plain step at an empty context; None: not known.
        """
        added = self.slope * n_ctx
        if width == 1 or plain is None:
            return seconds / (1.0 + added)
        base = seconds - plain * added * (1.0 + self.share * (width - 1))
        return base if base > plain else min(plain, seconds)

    def at(self, width: int, n_ctx: int, base: float, plain: float | None) -> float:
        """Return what a step takes that takes `base` seconds at an empty context."""
        added = self.slope * n_ctx
        if width == 1 or plain is None:
            return base * (1.0 + added)
        return base + plain * added * (1.0 + self.share * (width - 1))

    def ratios(self, at_empty: Sequence[float], n_ctx: int) -> Sequence[float]:
        """Return plain steps by width at a context; those at an empty one begin with 0.0, 1.0."""
        added = self.slope * n_ctx
        if added < FEW or not at_empty:
            return at_empty
        share, whole = added * self.share, 1.0 + added
        first = added - share
        # A row that adds nothing is r + added; each further one costs its share of that again.
        found = [(ratio + first + share * w) / whole for w, ratio in enumerate(at_empty)]
        found[:2] = (0.0, 1.0)
        return found
