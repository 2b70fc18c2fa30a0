"""The speed of a transfer, from a count of bytes that grows."""

from __future__ import annotations

from collections import deque

_WINDOW_S = 3.0
_STEP_S = 0.1
"""Samples closer than this are dropped."""


class Speed:
    """Bytes per second over the last seconds; one thread at a time."""

    def __init__(self) -> None:
        self._samples: deque[tuple[float, int]] = deque()

    def add(self, now_s: float, n_bytes: int) -> None:
        """Add the count at a time; a smaller count than before starts again."""
        samples = self._samples
        if samples and n_bytes < samples[-1][1]:
            samples.clear()
        if samples and now_s - samples[-1][0] < _STEP_S:
            return
        samples.append((now_s, n_bytes))
        while len(samples) > 2 and samples[1][0] <= now_s - _WINDOW_S:
            samples.popleft()

    def clear(self) -> None:
        """Forget the samples, because nothing is being transferred."""
        self._samples.clear()

    def bytes_per_s(self, now_s: float, n_bytes: int) -> float:
        """Return the speed at a time; it falls when the count does not grow."""
        recent = next((s for s in self._samples if s[0] >= now_s - _WINDOW_S), None)
        if recent is None or now_s - recent[0] < _STEP_S:
            return 0.0
        return max(0.0, (n_bytes - recent[1]) / (now_s - recent[0]))
