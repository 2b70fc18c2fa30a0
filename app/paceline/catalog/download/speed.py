"""How fast something moves, over the last seconds; pure but for the clock that is handed in."""

from __future__ import annotations

from collections import deque

_WINDOW_S = 3.0
_STEP_S = 0.1
"""Samples closer than that say nothing new."""


class Speed:
    """Bytes per second from a count that grows; one thread at a time."""

    def __init__(self) -> None:
        self._samples: deque[tuple[float, int]] = deque()

    def add(self, now_s: float, n_bytes: int) -> None:
        """Take in the count at a time; one that fell begins anew."""
        samples = self._samples
        if samples and n_bytes < samples[-1][1]:
            samples.clear()
        if samples and now_s - samples[-1][0] < _STEP_S:
            return
        samples.append((now_s, n_bytes))
        while len(samples) > 2 and samples[1][0] <= now_s - _WINDOW_S:
            samples.popleft()

    def clear(self) -> None:
        """Forget what was, because nothing moves now."""
        self._samples.clear()

    def bytes_per_s(self, now_s: float, n_bytes: int) -> float:
        """Return the speed at a time; it falls by itself when the count stands still."""
        recent = next((s for s in self._samples if s[0] >= now_s - _WINDOW_S), None)
        if recent is None or now_s - recent[0] < _STEP_S:
            return 0.0
        return max(0.0, (n_bytes - recent[1]) / (now_s - recent[0]))
