"""A text as a model holds it: token ids, and stretches that have no ids.

A picture is such a stretch, a *gap*: it takes cells of a context as tokens do, but what stands in
them is no token, so nothing can be looked up in it, and a hash alone tells whether two are the
same. It may also take fewer or more positions than cells (M-RoPE), so from the first gap on a
token's position is no longer its index.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

_STRETCH = 1024
"""Tokens that are compared at once."""


@dataclass(frozen=True, slots=True)
class Gap:
    """A stretch of a text that has no token ids.

    Attributes:
        digest: A hash of what it shows; gaps with the same digest and sizes are equal.
        n_cells: Cells of a context, and places of a `TokenSequence`, that it takes; at least 1.
        n_positions: By how much the position after it is above that of its first cell; at least 1.
        rows: What a model reads in the place of its tokens' embeddings, float32
            [n_cells, n_columns].
    """

    digest: str
    n_cells: int
    n_positions: int
    rows: NDArray[np.float32] = field(compare=False, repr=False)


class Gaps:
    """The places of the gaps of a text, and thus the position that belongs to each index.

    Attributes:
        end: The index after the last gap; 0 without any.
        shift: By how much a position is above its index, from `end` on.
    """

    __slots__ = ("_placed", "end", "shift")

    def __init__(self, placed: Iterable[tuple[int, Gap]] = ()) -> None:
        self._placed: list[tuple[int, Gap]] = []
        self.end = self.shift = 0
        for start, gap in placed:
            self.add(start, gap)

    def __iter__(self) -> Iterator[tuple[int, Gap]]:
        """Return the gaps in their order, each after the index of its first cell."""
        return iter(self._placed)

    def add(self, start: int, gap: Gap) -> None:
        """Let a gap begin at this index, from `end` on."""
        self._placed.append((start, gap))
        self.end = start + gap.n_cells
        self.shift += gap.n_positions - gap.n_cells

    def cut(self, n: int) -> None:
        """Forget the gaps that are not within the first `n` places."""
        while self.end > n:
            _, gap = self._placed.pop()
            self.shift -= gap.n_positions - gap.n_cells
            start, last = self._placed[-1] if self._placed else (0, None)
            self.end = start + (last.n_cells if last else 0)

    def at(self, index: int) -> Gap | None:
        """Return the gap that begins at this index, if one does."""
        return next((gap for start, gap in self._placed if start == index), None)

    def whole(self, n: int) -> int:
        """Return `n`, or where the gap begins that the first `n` places would cut in two."""
        for start, gap in self._placed:
            if start < n < start + gap.n_cells:
                return start
        return n

    def n_since(self, index: int) -> int:
        """Return how many places this index is after the last gap before it, or the beginning."""
        ends = (start + gap.n_cells for start, gap in self._placed)
        return index - max((end for end in ends if end <= index), default=0)

    def text_end(self, index: int, most: int) -> int:
        """Return where the text from this index on ends: `most`, or where a gap begins before."""
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
        """Return the index after all that stands before this position, a gap as a whole."""
        shift = 0
        for start, gap in self._placed:
            if position <= start + shift:
                break
            shift += gap.n_positions - gap.n_cells
            position = max(position, start + gap.n_cells + shift)
        return position - shift

    def agree(self, other: Gaps, n: int) -> int:
        """Return how many of the first `n` places are the same, as far as gaps tell."""
        n_same = 0
        for one, another in zip(self, other, strict=False):
            if one != another:
                break
            n_same += 1
        next_ones = (*self._placed[n_same : n_same + 1], *other._placed[n_same : n_same + 1])
        return min([n, *(start for start, _ in next_ones)])


class TokenSequence(list[int]):
    """Token ids by their index, with gaps: what a context holds, a prompt, a text that grows.

    It is the list of its ids, as fast as any. Each cell of a gap stands in it as a negative number
    that no other place has, so that no stretch with such a cell is ever found a second time. A
    slice is a plain list, which is right where there is no gap in it.

    It grows by `append`, by `extend` with ids, and by `add`; `cut` and `clear` shorten it.

    Attributes:
        gaps: Where its gaps stand.
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
        """Keep the first `n` places, without the gap that would be cut in two."""
        n = self.gaps.whole(n)
        del self[n:]
        self.gaps.cut(n)

    def clear(self) -> None:
        """Keep nothing."""
        self.cut(0)

    def first(self, n: int) -> TokenSequence:
        """Return the first `n` places, without the gap that would be cut in two."""
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
    """Return the gaps of a text; any other sequence than `TokenSequence` has none."""
    return tokens.gaps if isinstance(tokens, TokenSequence) else Gaps()


def last_ids(tokens: Sequence[int], n: int) -> list[int]:
    """Return the last `n` ids of a text, at least 1, or all there are; gaps are passed over."""
    if isinstance(tokens, TokenSequence) and tokens.gaps.end > len(tokens) - n:
        return [token for text in tokens.texts() for token in text][-n:]
    return list(tokens[-n:])


def common_prefix(a: Sequence[int], b: Sequence[int]) -> int:
    """Return how many leading places are the same; of gaps, which are the same as a whole."""
    n = min(len(a), len(b))
    for first in range(0, n, _STRETCH):  # at the speed of C up to the one that differs
        end = min(first + _STRETCH, n)
        if a[first:end] != b[first:end]:
            n = next((i for i in range(first, end) if a[i] != b[i]), n)
            if n < end:
                break
    return gaps_of(a).agree(gaps_of(b), n)
