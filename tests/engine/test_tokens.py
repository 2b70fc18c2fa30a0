"""Sequences with gaps against a slow, obvious list of cells."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from hypothesis import given
from hypothesis import strategies as st

from engine.gaps import GAPS, PARTS, gap, sequence
from paceline.engine.model.tokens import (
    Gap,
    TokenSequence,
    common_prefix,
    gaps_of,
    last_ids,
)

Cell = int | tuple[Gap, int]
"""An id, or one of the cells of a gap, numbered from 0."""


def cells_of(parts: Sequence[int | Gap]) -> list[Cell]:
    cells: list[Cell] = []
    for part in parts:
        cells += [(part, i) for i in range(part.n_cells)] if isinstance(part, Gap) else [part]
    return cells


def is_inside(cells: Sequence[Cell], n: int) -> bool:
    """Return whether the first `n` cells end in the middle of a gap."""
    return n < len(cells) and isinstance(cells[n], tuple) and cells[n][1] > 0


def positions_of(cells: Sequence[Cell]) -> list[int]:
    """The position of each cell, and the one after the last."""
    positions, following = [], 0
    for cell in cells:
        if isinstance(cell, int):
            positions.append(following)
            following += 1
            continue
        part, i = cell
        first = following if i == 0 else positions[-i]
        positions.append(first + i * part.n_positions // part.n_cells)
        if i == part.n_cells - 1:
            following = first + part.n_positions
    return [*positions, following]


def check(tokens: TokenSequence, cells: Sequence[Cell]) -> None:
    ids = [cell for cell in cells if isinstance(cell, int)]
    assert len(tokens) == len(cells)
    assert [token if token >= 0 else None for token in tokens] == [
        cell if isinstance(cell, int) else None for cell in cells
    ]
    assert [tokens.gaps.position(i) for i in range(len(cells) + 1)] == positions_of(cells)
    assert tokens.gaps.shift == positions_of(cells)[-1] - len(cells)
    assert list(tokens.texts()) == [
        list(stretch)
        for is_text, stretch in groupby(cells, lambda cell: isinstance(cell, int))
        if is_text
    ]
    starts = [
        (i, cell[0]) for i, cell in enumerate(cells) if not isinstance(cell, int) and not cell[1]
    ]
    assert list(tokens.gaps) == starts
    assert tokens.gaps.end == max((start + part.n_cells for start, part in starts), default=0)
    for n in (1, 3, len(cells) + 1):
        assert last_ids(tokens, n) == ids[-n:]
    unlike = [token for token in tokens if token < 0]
    assert len(set(unlike)) == len(unlike), "no cell of a gap is like any other"


OPERATIONS = st.lists(
    st.tuples(st.just("append"), st.integers(0, 2))
    | st.tuples(st.just("extend"), st.lists(st.integers(0, 2), max_size=4))
    | st.tuples(st.just("add"), GAPS)
    | st.tuples(st.just("cut"), st.integers(0, 15))
    | st.tuples(st.just("first"), st.integers(0, 15))
    | st.tuples(st.just("copy"), st.none())
    | st.tuples(st.just("clear"), st.none()),
    max_size=20,
)


@given(OPERATIONS)
def test_any_course_gives_the_cells(operations: list[tuple[str, object]]) -> None:
    tokens, cells = TokenSequence(), list[Cell]()
    for name, argument in operations:
        match name, argument:
            case "append", int(token):
                tokens.append(token)
                cells.append(token)
            case "extend", list(more):
                tokens.extend(more)
                cells += more
            case "add", Gap() as part:
                tokens.add(part)
                cells += cells_of([part])
            case "cut" | "first", int(n):
                while is_inside(cells, n):
                    n -= 1
                before = TokenSequence(tokens)
                if name == "cut":
                    tokens.cut(argument)
                else:
                    tokens = tokens.first(argument)
                    check(before, cells)
                cells = cells[:n]
            case "copy", _:
                copy = TokenSequence(tokens)
                tokens.cut(len(tokens) // 2)  # what becomes of the original is nothing to it
                tokens = copy
            case _:
                tokens.clear()
                cells.clear()
        check(tokens, cells)


@given(PARTS, PARTS)
def test_the_common_prefix(one: list[int | Gap], other: list[int | Gap]) -> None:
    a, b = cells_of(one), cells_of(other)
    n = 0
    while n < min(len(a), len(b)) and a[n] == b[n]:
        n += 1
    assert (n == len(a) == len(b)) == (sequence(one) == sequence(other))
    assert (sequence(one) != sequence(other)) != (sequence(one) == sequence(other))
    while is_inside(a, n) or is_inside(b, n):
        n -= 1
    assert common_prefix(sequence(one), sequence(other)) == n
    assert common_prefix(sequence(other), sequence(one)) == n


@given(PARTS, st.integers(0, 40))
def test_a_position_leads_back_to_its_index(parts: list[int | Gap], position: int) -> None:
    cells = cells_of(parts)
    gaps = gaps_of(sequence(parts))
    positions = positions_of(cells)
    for i, place in enumerate(positions):
        if not is_inside(cells, i):
            assert gaps.index(place) == i
    if position < positions[-1]:  # of a gap all is there, or nothing
        n = sum(place < position for place in positions[:-1])
        while is_inside(cells, n):
            n += 1
        assert gaps.index(position) == n


@given(PARTS, st.integers(0, 30), st.integers(1, 8))
def test_where_texts_begin_and_end(parts: list[int | Gap], index: int, n: int) -> None:
    cells = cells_of(parts)
    gaps, index = gaps_of(sequence(parts)), min(index, len(cells))
    n_text = 0
    while n_text < n and index + n_text < len(cells) and isinstance(cells[index + n_text], int):
        n_text += 1
    if not is_inside(cells, index):
        is_end = index + n_text == len(cells)
        assert gaps.text_end(index, index + n) == index + (n if is_end else n_text)
        n_since = 0
        while n_since < index and isinstance(cells[index - 1 - n_since], int):
            n_since += 1
        assert gaps.n_since(index) == n_since
    starts = [i for i, cell in enumerate(cells) if isinstance(cell, tuple) and not cell[1]]
    assert (gaps.at(index) is not None) == (index in starts)
    whole = index
    while is_inside(cells, whole):
        whole -= 1
    assert gaps.whole(index) == whole


def test_the_vectors_of_a_gap_are_identified_by_its_digest() -> None:
    assert gap("x", 2) == gap("x", 2)
    assert len({gap("x", 2), gap("y", 2), gap("x", 3), gap("x", 2, 1)}) == 4


def test_a_plain_list_has_no_gaps() -> None:
    assert sequence([1, 2]) == [1, 2]
    assert sequence([1, gap("x", 1)]) != [*sequence([1, gap("x", 1)])]
    assert [*gaps_of([1, 2])] == []
    assert last_ids([1, 2, 3], 2) == [2, 3]
