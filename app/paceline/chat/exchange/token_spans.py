"""Which token gave which characters of a reply, for a page that says so on every one of them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from paceline.figures import TokenTrace
from paceline.messages import StepCommitted


class TokenSpan(NamedTuple):
    """Characters [start, end) of the reply and the token that gave them; None: nobody knows."""

    start: int
    end: int
    trace: TokenTrace | None = None
    step: StepCommitted | None = None


class TokenSpans:
    """All tokens of a reply that have characters of their own."""

    def __init__(self, steps: Sequence[StepCommitted] = ()) -> None:
        self._ends: list[int] = []
        self._tokens: list[tuple[TokenTrace, StepCommitted]] = []
        for step in steps:
            for trace in step.tokens:
                if trace.text_end > (self._ends[-1] if self._ends else 0):
                    self._ends.append(trace.text_end)
                    self._tokens.append((trace, step))

    def over(self, start: int, end: int) -> Iterator[TokenSpan]:
        """The tokens of these characters, in order and without gaps."""
        index = bisect_right(self._ends, start)
        while start < end and index < len(self._ends):
            stop = min(self._ends[index], end)
            yield TokenSpan(start, stop, *self._tokens[index])
            start = stop
            index += 1
        if start < end:
            yield TokenSpan(start, end)

    @property
    def sources(self) -> list[str]:
        """Who gave tokens, in the order of their first one."""
        return list(dict.fromkeys(trace.source for trace, _ in self._tokens))
