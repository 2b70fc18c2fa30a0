"""Tables of reStructuredText, grid and simple ones, as rows of cells."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise


def rows_of(lines: Sequence[str]) -> list[list[str]]:
    """Return the rows of a table, its cells as texts in one line each; empty: not understood."""
    return _grid(lines) if lines[0].startswith("+") else _simple(lines)


def _grid(lines: Sequence[str]) -> list[list[str]]:
    """Split at the columns of the first rule; a table with joined cells is not understood."""
    bounds = [m.start() for m in re.finditer(r"\+", lines[0].rstrip())]
    rows: list[list[str]] = []
    cells = [""] * (len(bounds) - 1)
    for line in lines[1:]:
        if line.startswith("+"):
            if any(cell.strip() for cell in cells):
                rows.append([cell.strip() for cell in cells])
            cells = [""] * (len(bounds) - 1)
            continue
        if len(line) <= bounds[-1] or any(line[b] not in "|+" for b in bounds):
            return []
        for number, (left, right) in enumerate(pairwise(bounds)):
            cells[number] += " " + line[left + 1 : right].strip()
    return rows


def _simple(lines: Sequence[str]) -> list[list[str]]:
    """Split at the blanks of the first rule; a line without first cell continues a row."""
    spans = [m.span() for m in re.finditer(r"=+", lines[0])]
    rows: list[list[str]] = []
    for line in lines[1:]:
        if not line.strip() or re.fullmatch(r"[=\-\s]+", line):
            continue
        cells = [line[left:right].strip() for left, right in spans[:-1]]
        cells.append(line[spans[-1][0] :].strip())
        if cells[0] or not rows:
            rows.append(cells)
        else:
            rows[-1] = [f"{a} {b}".strip() for a, b in zip(rows[-1], cells, strict=True)]
    return rows
