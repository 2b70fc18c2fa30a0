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

    from paceline.messages import TokenTrace

SEARCH_WINDOW = 64
"""Characters of markup that may stand between two visible pieces of one block."""


LAST_BMP = "\uffff"
"""Characters behind this one take two units of a Qt document."""


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
    """One committed token, the step that brought it, and what its drafter is called."""

    trace: TokenTrace
    step: int
    n_drafted: int
    title: str


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
    ) -> None:
        """Note the tokens of one step; those without a character of their own are left out."""
        sources = sources or Sources()
        for trace in traces:
            start = self._ends[-1] if self._ends else 0
            if trace.text_end <= start:
                continue
            self._ends.append(trace.text_end)
            self._records.append(TokenRecord(trace, step, n_drafted, sources.title(trace.source)))
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

    def spans(self, segments: Iterable[Segment]) -> list[Span]:
        """Where drafters' characters stand in the document; touching spans are merged."""
        result: list[Span] = []
        for position, offset, length, width in segments:
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
    """The pieces that source and document share, in the order of both.

    The source is walked once, from front to back: visible text is a subsequence of it, so that the
    next occurrence behind the last one is the right one.
    """

    def __init__(self) -> None:
        self.segments: list[Segment] = []
        self._offset = 0

    def seek(self, offset: int) -> None:
        """Go on at this source offset, if that is ahead."""
        self._offset = max(self._offset, offset)

    def truncate(self, n_segments: int, offset: int) -> None:
        """Forget what was placed behind the first `n_segments`, and go on at `offset`."""
        del self.segments[n_segments:]
        self._offset = offset

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

    def place(self, text: str, position: int, source: str, base: int = 0) -> None:
        """Find visible text in the source, whose first character has the offset `base`."""
        start = self._offset - base
        found = source.find(text, start, start + len(text) + SEARCH_WINDOW)
        if found >= 0:
            self.put(text, position, found + base)
            return
        # Escapes and entities stand within: character by character. What is not found is skipped.
        for char in text:
            start = self._offset - base
            found = source.find(char, start, start + SEARCH_WINDOW)
            if found >= 0:
                self.put(char, position, found + base)
            position += 1 + (char > LAST_BMP)

    def put(self, text: str, position: int, offset: int) -> None:
        """Add text whose place is known."""
        if text.isascii() or max(text) <= LAST_BMP:
            self._put(Segment(position, offset, len(text), len(text)))
            return
        for char in text:
            width = 1 + (char > LAST_BMP)
            self._put(Segment(position, offset, 1, width))
            position += width
            offset += 1

    def _put(self, new: Segment) -> None:
        self._offset = new.offset + new.length
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
