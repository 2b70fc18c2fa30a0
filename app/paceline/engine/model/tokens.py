"""A text as a model reads it: token ids, and stretches without ids.

A picture is such a stretch, a *gap*: it takes cells of a context as tokens do, but has no ids, so
nothing can be looked up in it, and only a hash shows whether two are the same. It may also take
fewer or more positions than cells (M-RoPE), so from the first gap on a token's position differs
from its index.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

_STRETCH = 1024
"""Number of tokens that are compared at once."""


@dataclass(frozen=True, slots=True)
class Gap:
    """A stretch of a text without token ids.

    Attributes:
        digest: A hash of its content; gaps with the same digest and sizes are equal.
        n_cells: Number of cells in a context, and of places in a `TokenSequence`; at least 1.
        n_positions: Difference of the position after it and that of its first cell; at least 1.
        rows: Embeddings that a model reads in place of those of tokens, float32 [n_cells,
            n_columns].
    """

    digest: str
    n_cells: int
    n_positions: int
    rows: NDArray[np.float32] = field(compare=False, repr=False)


class Gaps:
    """The places of the gaps of a text, which determine the position of each index.

    Attributes:
        end: Index after the last gap; 0 without any.
        shift: Difference of position and index from `end` on.
    """

    __slots__ = ("_placed", "end", "shift")

    def __init__(self, placed: Iterable[tuple[int, Gap]] = ()) -> None:
        self._placed: list[tuple[int, Gap]] = []
        self.end = self.shift = 0
        for start, gap in placed:
            self.add(start, gap)

    def __iter__(self) -> Iterator[tuple[int, Gap]]:
        """Return the gaps in order, each with the index of its first cell."""
        return iter(self._placed)

    def add(self, start: int, gap: Gap) -> None:
        """Add a gap that begins at this index, at or after `end`."""
        self._placed.append((start, gap))
        self.end = start + gap.n_cells
        self.shift += gap.n_positions - gap.n_cells

    def cut(self, n: int) -> None:
        """Remove the gaps that are not within the first `n` places."""
        while self.end > n:
            _, gap = self._placed.pop()
            self.shift -= gap.n_positions - gap.n_cells
            start, last = self._placed[-1] if self._placed else (0, None)
            self.end = start + (last.n_cells if last else 0)

    def at(self, index: int) -> Gap | None:
        """Return the gap that begins at this index, or None."""
        return next((gap for start, gap in self._placed if start == index), None)

    def whole(self, n: int) -> int:
        """Return `n`, or the start of the gap that a cut after `n` places would divide."""
        for start, gap in self._placed:
            if start < n < start + gap.n_cells:
                return start
        return n

    def n_since(self, index: int) -> int:
        """Return the distance of this index from the last gap before it, or from the beginning."""
        ends = (start + gap.n_cells for start, gap in self._placed)
        return index - max((end for end in ends if end <= index), default=0)

    def text_end(self, index: int, most: int) -> int:
        """Return the end of the text from this index on: `most`, or an earlier gap's start."""
        return min((start for start, _ in self._placed if index <= start < most), default=most)

    def position(self, index: int) -> int:
        """Return the position at this index; those of a gap are spread over its cells."""
        shift = 0
        for start, gap in self._placed:
            if index <= start:
                break
            if index < start + gap.n_cells:
                return start + shift + (index - start) * gap.n_positions // gap.n_cells
            shift += gap.n_positions - gap.n_cells
        return index + shift

    def index(self, position: int) -> int:
        """Return the index after everything before this position; a gap counts as a whole."""
        shift = 0
        for start, gap in self._placed:
            if position <= start + shift:
                break
            shift += gap.n_positions - gap.n_cells
            position = max(position, start + gap.n_cells + shift)
        return position - shift

    def agree(self, other: Gaps, n: int) -> int:
        """Return how many of the first `n` places have the same gaps."""
        n_same = 0
        for one, another in zip(self, other, strict=False):
            if one != another:
                break
            n_same += 1
        next_ones = (*self._placed[n_same : n_same + 1], *other._placed[n_same : n_same + 1])
        return min([n, *(start for start, _ in next_ones)])


class TokenSequence(list[int]):
    """Token ids by their index, with gaps: the content of a context, a prompt, a growing text.

    It is the list of its ids, as fast as any list. Each cell of a gap is a negative number that
    occurs nowhere else, so that no stretch with such a cell is ever found a second time. A slice is
    a plain list, which is right if there is no gap in it.

    It grows by `append`, by `extend` with ids, and by `add`; `cut` and `clear` shorten it.

    Attributes:
        gaps: The places of its gaps.
    """

    __slots__ = ("gaps",)

    def __init__(self, tokens: Iterable[int] = ()) -> None:
        super().__init__(tokens)
        self.gaps = Gaps(gaps_of(tokens))

    def __eq__(self, other: object) -> bool:
        """Return whether ids and gaps are the same; a plain list has no gaps."""
        if not isinstance(other, list) or list.__ne__(self, other):
            return False
        return [*self.gaps] == [*gaps_of(other)]

    def __ne__(self, other: object) -> bool:
        """Return whether an id or a gap differs."""
        return not self == other

    __hash__ = None

    def add(self, gap: Gap) -> None:
        """Append a gap."""
        n = len(self)
        self.gaps.add(n, gap)
        self.extend(range(~n, ~(n + gap.n_cells), -1))

    def cut(self, n: int) -> None:
        """Keep the first `n` places, without a gap that would be divided."""
        n = self.gaps.whole(n)
        del self[n:]
        self.gaps.cut(n)

    def clear(self) -> None:
        """Remove everything."""
        self.cut(0)

    def first(self, n: int) -> TokenSequence:
        """Return the first `n` places, without a gap that would be divided."""
        first = TokenSequence(self)
        first.cut(n)
        return first

    def texts(self) -> Iterator[list[int]]:
        """Return the ids between gaps, stretch by stretch; none is empty."""
        first = 0
        for start, gap in self.gaps:
            if first < start:
                yield self[first:start]
            first = start + gap.n_cells
        if first < len(self):
            yield self[first:]


def gaps_of(tokens: Iterable[int]) -> Gaps:
    """Return the gaps of a text; a sequence other than `TokenSequence` has none."""
    return tokens.gaps if isinstance(tokens, TokenSequence) else Gaps()


def last_ids(tokens: Sequence[int], n: int) -> list[int]:
    """Return the last `n` ids of a text, or all if there are fewer; `n` > 0, gaps are skipped."""
    if isinstance(tokens, TokenSequence) and tokens.gaps.end > len(tokens) - n:
        return [token for text in tokens.texts() for token in text][-n:]
    return list(tokens[-n:])


def common_prefix(a: Sequence[int], b: Sequence[int]) -> int:
    """Return how many leading places are equal; a gap counts only as a whole."""
    n = min(len(a), len(b))
    for first in range(0, n, _STRETCH):  # compares at the speed of C up to a difference
        end = min(first + _STRETCH, n)
        if a[first:end] != b[first:end]:
            n = next((i for i in range(first, end) if a[i] != b[i]), n)
            if n < end:
                break
    return gaps_of(a).agree(gaps_of(b), n)
