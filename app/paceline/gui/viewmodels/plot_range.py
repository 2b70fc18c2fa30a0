"""Which steps of a reply a plot shows: the newest so many, all, or a part that was zoomed into.

While a reply grows the plot follows it. Paused, it holds where it is and the reply goes on; then,
and when the reply has ended, it can be moved. No Qt.
"""

from __future__ import annotations

from dataclasses import dataclass

SPANS = (40, 80, 200)
"""Steps in the time windows that are offered, besides the whole reply."""
USUAL_SPAN = 80
FEWEST = 8
"""Steps that can be zoomed into; fewer bars would be blocks."""


@dataclass(slots=True)
class PlotRange:
    """The state behind a plot's controls.

    Attributes:
        span: Steps that are shown while it follows; 0: all of them.
        is_paused: Whether it holds.
    """

    span: int = USUAL_SPAN
    is_paused: bool = False
    _n_steps: int = 0
    _zoomed: int = 0
    _first: int | None = None

    @property
    def is_zoomed(self) -> bool:
        """Whether it shows another part than its time window says."""
        return self._zoomed > 0 or self._first is not None

    @property
    def n_steps(self) -> int:
        """Steps that there are, or were when it was paused."""
        return self._n_steps

    def update(self, n_steps: int) -> None:
        """There are so many steps now."""
        if n_steps < self._n_steps:  # another reply
            self.is_paused = False
            self.reset()
        if not self.is_paused:
            self._n_steps = n_steps

    def shown(self) -> tuple[int, int, int]:
        """The first step to draw, how many there are to draw, and how many have a place."""
        n_places = self._zoomed or self._places()
        n_drawn = min(n_places, self._n_steps)
        newest = self._n_steps - n_drawn
        first = newest if self._first is None else min(max(self._first, 0), newest)
        return first, n_drawn, n_places

    def pause(self, *, is_paused: bool) -> None:
        """Hold, or go on with the newest steps."""
        self.is_paused = is_paused
        if not is_paused:
            self._first = None

    def set_span(self, span: int) -> None:
        """Show the newest `span` steps, or all for 0."""
        self.span = span
        self.reset()

    def reset(self) -> None:
        """Go back to the time window."""
        self._zoomed, self._first = 0, None

    def zoom(self, factor: float, at: float = 1.0) -> None:
        """Show `factor` times as many steps around a place: 0 is the left edge, 1 the right."""
        first, n_drawn, n_places = self.shown()
        limit = max(self._n_steps, FEWEST)
        wanted = round(n_places * factor)
        if wanted == n_places:
            wanted += 1 if factor > 1 else -1
        self._zoomed = min(max(wanted, FEWEST), limit)
        if first + n_drawn < self._n_steps or self.is_paused:
            self._first = round(first + (n_places - self._zoomed) * at)

    def move(self, n_steps: int, *, may_move: bool) -> None:
        """Show what lies so many steps later, if it holds (`may_move`: the reply has ended)."""
        if self.is_paused or may_move:
            first, n_drawn, _ = self.shown()
            self._first = min(max(first + n_steps, 0), self._n_steps - n_drawn)

    def _places(self) -> int:
        if not self.span:
            return max(self._n_steps, FEWEST)
        # A short reply fills half as many places, so that it fills the plot.
        is_short = self.span == USUAL_SPAN and self._n_steps <= self.span // 2
        return self.span // 2 if is_short else self.span
