"""A list model: for each new list of values, views are notified of the differences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPersistentModelIndex
from PySide6.QtTest import QAbstractItemModelTester

from paceline.gui.kit.rows import ROW, Rows

if TYPE_CHECKING:
    from collections.abc import Sequence

Named = tuple[str, int]
"""A name, by which a row is known, and a value that may change."""


class NamedRows(Rows[Named]):
    """Rows of names."""

    def title(self, row: Named) -> str:
        return row[0]


def show(model: NamedRows, rows: Sequence[Named]) -> None:
    model.update_rows(rows, lambda row: row[0])


LISTS = st.lists(
    st.tuples(st.sampled_from("abcdefgh"), st.integers(0, 2)), unique_by=lambda row: row[0]
)


@given(st.lists(LISTS, min_size=1, max_size=5))
def test_whatever_comes_next_is_shown_without_a_reset(lists: list[list[Named]]) -> None:
    """Check notifications with Qt's own tester, and that persistent indices follow their rows."""
    model = NamedRows()
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    resets, told = [], set[int]()
    model.modelReset.connect(lambda: resets.append(1))
    model.dataChanged.connect(lambda a, b: told.update(range(a.row(), b.row() + 1)))
    for rows in lists:
        before = model.rows
        held = [QPersistentModelIndex(model.index(at)) for at in range(len(before))]
        told.clear()
        show(model, rows)
        assert list(model.rows) == rows
        names = [name for name, _ in rows]
        for index, (name, value) in zip(held, before, strict=True):
            assert index.isValid() == (name in names)
            if index.isValid():
                assert index.data(ROW)[0] == name
                assert (index.row() in told) == (index.data(ROW)[1] != value)
    assert not resets
    del tester


def test_neighbours_come_and_go_in_one_step() -> None:
    model, runs = NamedRows(), []
    model.rowsInserted.connect(lambda _parent, first, last: runs.append((first, last)))
    model.rowsRemoved.connect(lambda _parent, first, last: runs.append((last, first)))
    show(model, [(name, 0) for name in "bdf"])
    show(model, [(name, 0) for name in "abcdefgh"])
    show(model, [(name, 0) for name in "adh"])
    assert runs == [(0, 2), (0, 0), (2, 2), (4, 4), (6, 7), (6, 4), (2, 1)]
