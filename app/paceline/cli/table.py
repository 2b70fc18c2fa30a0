"""Rows of text in columns; a stranger's text keeps to its cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paceline.catalog.words import one_line

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_LONGEST = 1000


def in_columns(rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> str:
    """Return rows of equal length as lines, each column as wide as its widest cell.

    What could break a line or recolour a terminal is left out of the cells.

    Args:
        rows: The first one may be the titles.
        right: Columns that are flush right, as numbers are.
    """
    rows = [[one_line(cell, _LONGEST) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            cell.rjust(width) if i in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    return "".join(f"{line.rstrip()}\n" for line in lines)
