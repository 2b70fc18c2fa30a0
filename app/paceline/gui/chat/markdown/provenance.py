"""Provenance: which drafter proposed which characters, in the reply's source and as shown.

Only stretches are coloured, since single quotes and full stops in colour would look like dirt; the
record of each token is not affected.

Two coordinate systems meet here. A trace ends at an offset in the reply's *source* (Markdown); the
view queries *document* positions, where markup is gone. `SourceMap` holds the pieces that are the
same in both, `Provenance` the data about each source character. No Qt in here.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import islice
from operator import attrgetter
from typing import NamedTuple

from paceline.gui.chat.markdown.formulas import PlacedFormula
from paceline.gui.kit.labels import LAST_BMP, units
from paceline.gui.state.sources import Kind, Sources
from paceline.messages import SOURCE_TARGET, StepCommitted, TokenTrace


class Span(NamedTuple):
    """Document positions [start, end) in the colour of one kind of drafter."""

    start: int
    end: int
    kind: Kind


class Segment(NamedTuple):
    """A piece of text in both systems: characters of the source, UTF-16 units of the document.

    Both lengths are equal except for a single character beyond the BMP (length 1, width 2) and a
    formula, which is one character (width 1) for all of its source.
    """

    position: int
    offset: int
    length: int
    width: int


class TokenRecord(NamedTuple):
    """One committed token, the step that committed it, and its drafter's title."""

    trace: TokenTrace
    step: StepCommitted
    title: str

    @property
    def n_drafted(self) -> int:
        """Tokens that were drafted in the step, by all drafters."""
        return sum(count.n_drafted for count in self.step.drafted)

    @property
    def n_accepted(self) -> int:
        """Drafted tokens that were accepted in the step."""
        return sum(trace.position >= 0 for trace in self.step.tokens)


_MAX_BRIDGED_TOKENS = 1
"""Maximum number of the target's own tokens within a coloured stretch: each step ends with one."""


class Provenance:
    """Source of each character of one reply; grows at its end.

    Attributes:
        drafters: Ids of the drafters of coloured characters, by first appearance.
    """

    def __init__(self, sources: Sources | None = None) -> None:
        self._sources = sources or Sources()
        self.drafters: dict[str, None] = {}
        self._ends: list[int] = []
        self._unknown = 0  # number of first characters without a known token
        self._tokens: list[tuple[TokenTrace, StepCommitted]] = []
        self._stretches: list[Span] = []  # coloured ones, in the source
        self._last = Span(0, 0, "draft")  # the last stretch, which may still grow
        self._lone = ""  # the drafter of its only token; empty once it has more and a colour
        self._n_after = _MAX_BRIDGED_TOKENS + 1  # tokens of the target after it
        # Length of the text after each step, and the seconds until then.
        self._step_ends: list[int] = []
        self._step_seconds: list[float] = []

    def add(self, step: StepCommitted) -> None:
        """Add a step, before its text is shown; tokens without a character are skipped."""
        traces = step.tokens
        if not self._ends and not traces:
            self._unknown += len(step.text)
        for trace in traces:
            start = self._ends[-1] if self._ends else self._unknown
            if trace.text_end <= start:
                continue
            self._ends.append(trace.text_end)
            self._tokens.append((trace, step))
            if trace.source == SOURCE_TARGET:
                self._n_after += 1
            else:
                self._stretch(start, trace.text_end, trace.source)
        if traces:
            so_far = self._step_seconds[-1] if self._step_seconds else 0.0
            self._step_ends.append(traces[-1].text_end)
            self._step_seconds.append(so_far + step.total_s)

    def _stretch(self, start: int, end: int, source: str) -> None:
        """Extend the last stretch by a drafted token, or begin one without a colour."""
        last, kind = self._last, self._sources.kind(source)
        n_between, self._n_after = self._n_after, 0
        if n_between > _MAX_BRIDGED_TOKENS or last.kind != kind:
            self._last, self._lone = Span(start, end, kind), source
            return
        self._last = Span(last.start, end, kind)
        if self._lone:
            self.drafters.setdefault(self._lone)
            self._lone = ""
            self._stretches.append(self._last)
        else:
            self._stretches[-1] = self._last
        self.drafters.setdefault(source)

    @property
    def settled(self) -> int:
        """Offset in the reply before which no colour changes any more."""
        if self._n_after > _MAX_BRIDGED_TOKENS:
            return self._ends[-1] if self._ends else self._unknown
        return self._last.start if self._lone else self._last.end

    def record_at(self, offset: int) -> TokenRecord | None:
        """Return the token of the character at a source offset."""
        index = bisect_right(self._ends, offset)
        if offset < self._unknown or index >= len(self._ends):
            return None
        trace, step = self._tokens[index]
        return TokenRecord(trace, step, self._sources.full_title(trace.source))

    def seconds(self, start: int, end: int) -> float | None:
        """Return the time that the source between two offsets took; None without a step.

        Args:
            start: End of the previous text, whose last step is not counted, or 0.
            end: End of the stretch; a step that extends beyond it is counted.
        """
        if not self._step_seconds or not self._step_seconds[-1]:
            return None
        first = bisect_left(self._step_ends, start) if start else -1
        last = bisect_right(self._step_ends, end)
        spent = self._step_seconds[first] if first >= 0 else 0.0
        return self._step_seconds[min(last, len(self._step_seconds) - 1)] - spent

    def spans(self, segments: Iterable[Segment], base: int = 0) -> list[Span]:
        """Return the document positions of coloured characters; touching spans are merged.

        A stretch has at least two tokens of one kind of drafter, with at most one of the target's
        own tokens between two of them, which is coloured, too.

        Args:
            segments: Shown pieces in document order.
            base: Offset in the reply at which the document's source begins.
        """
        result: list[Span] = []
        for position, local, length, width in segments:
            if width < length:
                continue  # a formula; its tokens are shown within it, see `formula_spans`
            offset = base + local
            shift = position - offset
            index = max(0, bisect_right(self._stretches, offset, key=attrgetter("start")) - 1)
            while index < len(self._stretches) and self._stretches[index].start < offset + length:
                start, end, kind = self._stretches[index]
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
    """Pieces that source and document share, in document order.

    Attributes:
        segments: The pieces.
        formulas: The formulas among them.
    """

    def __init__(self) -> None:
        self.segments: list[Segment] = []
        self.formulas: list[PlacedFormula] = []

    def truncate(self, n_segments: int) -> None:
        """Remove all pieces after the first `n_segments`."""
        del self.segments[n_segments:]
        last = self.segments[-1] if self.segments else Segment(0, 0, 0, 0)
        while self.formulas and self.formulas[-1].position >= last.position + last.width:
            self.formulas.pop()

    def put_formula(self, placed: PlacedFormula) -> None:
        """Add a formula at the document's end."""
        self.formulas.append(placed)
        self.segments.append(Segment(placed.position, placed.offset, placed.n_chars, 1))

    def offset_at(self, position: int) -> int | None:
        """Return the source offset of the character at a document position; None for added text."""
        index = bisect_right(self.segments, position, key=attrgetter("position")) - 1
        if index < 0:
            return None
        segment = self.segments[index]
        inside = position - segment.position
        if inside >= segment.width:
            return None
        return segment.offset + min(inside, segment.length - 1)

    def place_of(self, start: int, end: int) -> tuple[int, int]:
        """Return the document positions of source characters [start, end).

        Where none of them is shown (an address, a mark), it is the position of the last character
        before.
        """
        first = max(0, bisect_right(self.segments, start, key=attrgetter("offset")) - 1)
        begin = stop = -1
        for segment in islice(self.segments, first, None):
            inside = max(start - segment.offset, 0)
            until = min(end - segment.offset, segment.length)
            if until <= 0:
                break
            if inside < until:
                is_one = segment.width != segment.length
                stop = segment.position + (segment.width if is_one else until)
                begin = segment.position + inside * (not is_one) if begin < 0 else begin
        if begin < 0:
            last = self.segments[first] if self.segments else Segment(0, 0, 0, 0)
            stop = last.position + last.width
            begin = max(0, stop - 1)
        return begin, stop

    def put(self, text: str, position: int, offset: int) -> None:
        """Add text that is in the source from an offset on."""
        if text.isascii() or max(text) <= LAST_BMP:
            self._put(Segment(position, offset, len(text), len(text)))
            return
        for char in text:
            width = units(char)
            self._put(Segment(position, offset, 1, width))
            position += width
            offset += 1

    def put_all_at(self, text: str, position: int, offset: int) -> None:
        """Add text that represents one character of the source: the last one of an entity."""
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
