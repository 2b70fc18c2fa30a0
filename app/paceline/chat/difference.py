"""The differences of two texts: prose by words, code by lines, in rows that stand side by side.

Lines that both texts have hold the comparison together; what is between them is compared by words,
and a row ends where both sides end a line. Two texts on the same matter share many single words
that mean nothing; as islands between longer changes they count as changed. Any thread; no Qt.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from html import escape
from typing import Generic, NamedTuple, TypeVar

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_UNIT = re.compile(r"(?:\w+|[^\w\s])\s*|\s+")
_INK = re.compile(r"\S(?:[^\n]*\S)?")
_END = "\n"
_MAX_ISLAND_UNITS = 2
"""Longest run of equal units between two longer changes that counts as changed, too."""
_MAX_PAIRS = 4_000_000
"""Units of one side times those of the other that are compared by words, some 1,500 words each;
beyond, which may take seconds, the whole passage counts as changed."""
_MAX_EQUAL_PAIRS = 2_000_000
"""Upper bound of pairs of equal units, each of which is visited where lines repeat."""
T = TypeVar("T")


class DiffPart(NamedTuple):
    """A piece of one side of a row, and whether the other side has it, too."""

    text: str
    is_same: bool


class DiffRow(NamedTuple):
    """Two pieces that stand side by side; an empty one has no counterpart."""

    left: tuple[DiffPart, ...]
    right: tuple[DiffPart, ...]
    is_code: bool

    @property
    def is_same(self) -> bool:
        """Return whether both sides are equal."""
        return all(part.is_same for part in (*self.left, *self.right))


class Difference(NamedTuple):
    """Two texts, compared.

    Attributes:
        rows: Both texts from top to bottom, without the line ends between rows.
        n_changes: Rows in a row that differ count as one change.
    """

    rows: tuple[DiffRow, ...]
    n_changes: int


class _Line(NamedTuple):
    text: str
    is_code: bool

    @property
    def units(self) -> list[str]:
        """Return the units of a comparison: words and signs with the space after, lines of code."""
        return [*([self.text] if self.is_code else _UNIT.findall(self.text)), _END]


def compare(left: str, right: str) -> Difference:
    """Compare two texts in Markdown."""
    one, other = _lines(left), _lines(right)
    rows: list[DiffRow] = []
    for run in _matched(one, other):
        if not run.is_same:
            rows += _changed(run.left, run.right)
            continue
        for line in run.left:
            side = (DiffPart(line.text, is_same=True),)
            rows.append(DiffRow(side, side, line.is_code))
    shown = tuple(row for row in rows if _is_shown(row))
    n_changes = sum(
        not row.is_same and (before is None or before.is_same)
        for before, row in zip((None, *shown), shown, strict=False)
    )
    return Difference(shown, n_changes)


def _lines(text: str) -> list[_Line]:
    lines: list[_Line] = []
    fence = ""
    for line in text.splitlines():
        match = _FENCE.match(line)
        lines.append(_Line(line, bool(fence or match)))
        if match and not fence:
            fence = match[1]
        elif match and match[1].startswith(fence) and line.strip() == match[1]:
            fence = ""
    return lines


def _changed(one: Sequence[_Line], other: Sequence[_Line]) -> Iterator[DiffRow]:
    """Compare lines of which none is equal to its neighbour."""
    left = [unit for line in one for unit in line.units]
    right = [unit for line in other for unit in line.units]
    is_code = all(line.is_code for line in (*one, *other))
    sides: tuple[list[DiffPart], list[DiffPart]] = ([], [])
    for is_same, mine, yours in _runs(left, right):
        if not is_same:
            sides[0].append(DiffPart("".join(mine), is_same=False))
            sides[1].append(DiffPart("".join(yours), is_same=False))
            continue
        for unit in mine:
            if unit == _END:
                yield _row(sides, is_code=is_code)
                sides = [], []
            else:
                for side in sides:
                    side.append(DiffPart(unit, is_same=True))
    yield _row(sides, is_code=is_code)


def _row(sides: tuple[list[DiffPart], list[DiffPart]], *, is_code: bool) -> DiffRow:
    return DiffRow(_joined(sides[0]), _joined(sides[1]), is_code)


def _joined(parts: Sequence[DiffPart]) -> tuple[DiffPart, ...]:
    """Join neighbouring parts of a kind; drop empty ones and the line ends around them."""
    joined: list[DiffPart] = []
    for part in parts:
        if not part.text:
            continue
        if joined and joined[-1].is_same == part.is_same:
            joined[-1] = DiffPart(joined[-1].text + part.text, part.is_same)
        else:
            joined.append(part)
    if joined:
        joined[0] = joined[0]._replace(text=joined[0].text.lstrip(_END))
        joined[-1] = joined[-1]._replace(text=joined[-1].text.rstrip(_END))
    return tuple(part for part in joined if part.text)


class _Run(NamedTuple, Generic[T]):
    is_same: bool
    left: Sequence[T]
    right: Sequence[T]


def _matched(left: Sequence[T], right: Sequence[T]) -> Iterator[_Run[T]]:
    """Return both sides as runs of equal and different units; equal ends need no search."""
    n_most = min(len(left), len(right))
    head = next((i for i in range(n_most) if left[i] != right[i]), n_most)
    rest = range(1, n_most - head + 1)
    tail = next((i for i in rest if left[-i] != right[-i]), len(rest) + 1) - 1
    if head:
        yield _Run(is_same=True, left=left[:head], right=right[:head])
    mine, yours = left[head : len(left) - tail], right[head : len(right) - tail]
    counts = Counter(mine)
    if sum(counts[item] for item in yours) > _MAX_EQUAL_PAIRS:
        yield _Run(is_same=False, left=mine, right=yours)
    else:
        matcher = SequenceMatcher(None, mine, yours, autojunk=False)
        for tag, a, b, c, d in matcher.get_opcodes():
            yield _Run(tag == "equal", mine[a:b], yours[c:d])
    if tail:
        yield _Run(is_same=True, left=left[-tail:], right=right[-tail:])


def _runs(left: Sequence[str], right: Sequence[str]) -> list[_Run[str]]:
    """Return both sides as runs of equal and of changed units, without islands."""
    if len(left) * len(right) > _MAX_PAIRS:
        return [_Run(is_same=False, left=left, right=right)]
    runs = [*_matched(left, right)]
    kept: list[_Run[str]] = []
    for run, after in zip(runs, (*runs[1:], None), strict=True):
        before = kept[-1] if kept else None
        is_island = (
            run.is_same
            and len(run.left) <= _MAX_ISLAND_UNITS
            and _END not in run.left
            and before is not None
            and after is not None
            and min(map(_length, (before, after))) > len(run.left)
        )
        is_same = run.is_same and not is_island
        if before is not None and before.is_same == is_same:
            kept[-1] = _Run(is_same, [*before.left, *run.left], [*before.right, *run.right])
        else:
            kept.append(_Run(is_same, run.left, run.right))
    return kept


def _length(run: _Run[str]) -> int:
    return max(len(run.left), len(run.right))


def _is_shown(row: DiffRow) -> bool:
    """Return whether a row is shown: a blank line matters in code alone."""
    parts = (*row.left, *row.right)
    return bool(parts) if row.is_code else any(part.text.strip() for part in parts)


def as_table(difference: Difference, *, anchors: bool = False) -> str:
    """Return the rows as an HTML table of two columns.

    Classes: ``code`` for cells of code, ``gone`` and ``new`` for what only one side has. With
    `anchors` each change begins with one: ``change-1``, ``change-2``, …
    """
    out = ['<table class="versions" width="100%">\n']
    n_changes, is_after_same = 0, True
    for row in difference.rows:
        anchor = ""
        if not row.is_same and is_after_same:
            n_changes += 1
            anchor = f'<a name="change-{n_changes}"></a>' if anchors else ""
        is_after_same = row.is_same
        kind = ' class="code"' if row.is_code else ""
        left, right = _cell(row.left, "gone"), _cell(row.right, "new")
        begin = f'<td width="50%"{kind}>'
        out.append(f"<tr>{begin}{anchor}{left}</td>{begin}{right}</td></tr>\n")
    out.append("</table>\n")
    return "".join(out)


def _cell(side: Sequence[DiffPart], changed: str) -> str:
    out = []
    for part in side:
        text = escape(part.text)
        if not part.is_same:  # the mark is on what can be read, not on the space around it
            text = _INK.sub(rf'<span class="{changed}">\g<0></span>', text)
        out.append(text.replace(_END, "<br>"))
    return "".join(out)
