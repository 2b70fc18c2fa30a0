"""Which drafter gave which characters, in the reply's source and in what is shown of it.

Two coordinate systems meet here. A trace ends at an offset in the reply's *source* (Markdown); the
view asks about *document* positions, where markup is gone. `SourceMap` holds the pieces that are
the same in both, `Provenance` what is known about each source character. No Qt in here.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from paceline.gui.viewmodels.sources import Kind, Sources
from paceline.messages import SOURCE_TARGET

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paceline.messages import Decision, TokenTrace

LAST_BMP = "\uffff"
"""Characters behind this one take two units of a Qt document."""


def units(text: str) -> int:
    """How many positions of a Qt document a text takes."""
    if text.isascii() or max(text) <= LAST_BMP:
        return len(text)
    return len(text) + sum(char > LAST_BMP for char in text)


class Span(NamedTuple):
    """Document positions [start, end) that one kind of drafter gave."""

    start: int
    end: int
    kind: Kind


class Segment(NamedTuple):
    """A piece of text in both systems: characters of the source, UTF-16 units of the document.

    Both numbers are equal except for a single character beyond the BMP (length 1, width 2).
    """

    position: int
    offset: int
    length: int
    width: int


@dataclass(frozen=True, slots=True)
class TokenRecord:
    """One committed token, the step that brought it, and what its drafter is called.

    `n_drafted` and `n_accepted` count the step's drafted tokens, of all drafters; `decision` is
    what Auto decided for it, None where something else was in charge.
    """

    trace: TokenTrace
    step: int
    n_drafted: int
    title: str
    n_accepted: int = 0
    decision: Decision | None = None


class Provenance:
    """What is known about the source of each character of one reply; grows at its end."""

    def __init__(self) -> None:
        self._ends: list[int] = []
        self._records: list[TokenRecord] = []
        # Runs of characters of the same kind: start, end, kind; neighbours are merged.
        self._run_starts: list[int] = []
        self._runs: list[tuple[int, int, Kind]] = []

    def add(
        self,
        traces: Iterable[TokenTrace],
        step: int,
        n_drafted: int,
        sources: Sources | None = None,
        decision: Decision | None = None,
    ) -> None:
        """Note the tokens of one step; those without a character of their own are left out."""
        sources = sources or Sources()
        traces = tuple(traces)
        n_accepted = sum(trace.position >= 0 for trace in traces)
        for trace in traces:
            start = self._ends[-1] if self._ends else 0
            if trace.text_end <= start:
                continue
            self._ends.append(trace.text_end)
            title = sources.title(trace.source)
            record = TokenRecord(trace, step, n_drafted, title, n_accepted, decision)
            self._records.append(record)
            if trace.source == SOURCE_TARGET:
                continue
            kind = sources.kind(trace.source)
            if self._runs and self._runs[-1][1] == start and self._runs[-1][2] == kind:
                self._runs[-1] = (self._runs[-1][0], trace.text_end, kind)
            else:
                self._run_starts.append(start)
                self._runs.append((start, trace.text_end, kind))

    def record_at(self, offset: int) -> TokenRecord | None:
        """The token that gave the character at a source offset."""
        index = bisect_right(self._ends, offset)
        return self._records[index] if offset >= 0 and index < len(self._ends) else None

    def spans(self, segments: Iterable[Segment], base: int = 0) -> list[Span]:
        """Where drafters' characters stand in the document; touching spans are merged.

        Args:
            segments: What the document shows, in its order.
            base: Where in the reply the document's source begins.
        """
        result: list[Span] = []
        for position, local, length, width in segments:
            offset = base + local
            shift = position - offset
            index = max(0, bisect_right(self._run_starts, offset) - 1)
            while index < len(self._runs) and self._runs[index][0] < offset + length:
                start, end, kind = self._runs[index]
                index += 1
                start, end = max(start, offset) + shift, min(end, offset + length) + shift
                if start >= end:
                    continue
                if width != length:
                    end = start + width
                if result and result[-1].end == start and result[-1].kind == kind:
                    result[-1] = Span(result[-1].start, end, kind)
                else:
                    result.append(Span(start, end, kind))
        return result


class SourceMap:
    """The pieces that source and document share, in the order of the document."""

    def __init__(self) -> None:
        self.segments: list[Segment] = []

    def truncate(self, n_segments: int) -> None:
        """Forget what was placed behind the first `n_segments`."""
        del self.segments[n_segments:]

    def offset_at(self, position: int) -> int | None:
        """The source offset of the character at a document position; None for added text."""
        index = bisect_right(self.segments, position, key=_position) - 1
        if index < 0:
            return None
        segment = self.segments[index]
        inside = position - segment.position
        if inside >= segment.width:
            return None
        return segment.offset + min(inside, segment.length - 1)

    def put(self, text: str, position: int, offset: int) -> None:
        """Add text that stands in the source from an offset on."""
        if text.isascii() or max(text) <= LAST_BMP:
            self._put(Segment(position, offset, len(text), len(text)))
            return
        for char in text:
            width = units(char)
            self._put(Segment(position, offset, 1, width))
            position += width
            offset += 1

    def put_all_at(self, text: str, position: int, offset: int) -> None:
        """Add text that one character of the source brought about: the last one of an entity."""
        for char in text:
            width = units(char)
            self._put(Segment(position, offset, 1, width))
            position += width

    def _put(self, new: Segment) -> None:
        if self.segments:
            last = self.segments[-1]
            if (
                last.position + last.width == new.position
                and last.offset + last.length == new.offset
                and last.length == last.width
                and new.length == new.width
            ):
                length = last.length + new.length
                self.segments[-1] = Segment(last.position, last.offset, length, length)
                return
        self.segments.append(new)


def _position(segment: Segment) -> int:
    return segment.position
