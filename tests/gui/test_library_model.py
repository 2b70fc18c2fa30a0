"""The table of models: rows come in batches and stay where the order of a column has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QItemSelectionModel, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QTableView

from gui.library_help import card, entry
from paceline.gui.viewmodels.library import ENTRY_ROLE, Column, LibraryFilter, LibraryModel

if TYPE_CHECKING:
    from pytestqt.modeltest import ModelTester
    from pytestqt.qtbot import QtBot

    from paceline.catalog.library import LibraryEntry

SMALL = entry(
    "small-Q8_0", card(n_params=500, quantisation="Q8_0", architecture="qwen2"), n_bytes=5
)
MIDDLE = entry("Middle-F16", card(n_params=7000, quantisation="F16"), n_bytes=70)
LARGE = entry("large-Q4_K_M", card(n_params=70_000, license="apache-2.0"), n_bytes=9)
BROKEN = entry("broken", problem="It is no model.")
ALL = (LARGE, BROKEN, SMALL, MIDDLE)
UP, DOWN = Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder


@pytest.fixture
def model(qtmodeltester: ModelTester) -> LibraryModel:
    """A model that is watched by Qt's own tester."""
    model = LibraryModel()
    qtmodeltester.check(model)
    return model


def names(model: Any) -> list[str]:
    return [model.index(row, 0).data() for row in range(model.rowCount())]


def texts(model: LibraryModel, row: int) -> list[str]:
    return [model.index(row, column).data() for column in Column]


def test_what_the_columns_say(model: LibraryModel) -> None:
    model.update([entry("a-model", card(n_ctx_train=32768), n_bytes=4_900_000_000)])
    assert texts(model, 0) == [
        "a-model", "llama", "8B", "Q4_K_M", "32k", "4.9 GB", "Folder", "mit", "0123456789abcdef",
    ]  # fmt: skip
    titles = [model.headerData(at, Qt.Orientation.Horizontal) for at in Column]
    assert all(titles)
    assert len(set(titles)) == len(Column)
    assert model.index(0, 0).data(ENTRY_ROLE) == model.entries[0]


def test_what_is_not_known_is_left_empty(model: LibraryModel) -> None:
    model.update([entry("new", None, source="ollama"), BROKEN])
    assert texts(model, 1) == ["new", "", "", "", "", "10 bytes", "Ollama", "", ""]
    assert texts(model, 0)[1:5] == [""] * 4
    role = int(Qt.ItemDataRole.AccessibleTextRole)
    assert model.index(0, 0).data(role) == "broken. It is no model."
    assert "It is no model." in model.index(0, 3).data(int(Qt.ItemDataRole.ToolTipRole))


@pytest.mark.parametrize(
    ("column", "order", "expected"),
    [
        (Column.NAME, UP, [BROKEN, LARGE, MIDDLE, SMALL]),
        (Column.NAME, DOWN, [SMALL, MIDDLE, LARGE, BROKEN]),
        (Column.PARAMETERS, UP, [SMALL, MIDDLE, LARGE, BROKEN]),
        (Column.PARAMETERS, DOWN, [LARGE, MIDDLE, SMALL, BROKEN]),
        (Column.SIZE, DOWN, [MIDDLE, BROKEN, LARGE, SMALL]),
        (Column.QUANTISATION, UP, [MIDDLE, LARGE, SMALL, BROKEN]),
        (Column.QUANTISATION, DOWN, [SMALL, LARGE, MIDDLE, BROKEN]),
        (Column.ARCHITECTURE, DOWN, [SMALL, LARGE, MIDDLE, BROKEN]),
        (Column.LICENSE, UP, [LARGE, MIDDLE, SMALL, BROKEN]),
    ],
)
def test_any_column_can_order_the_rows(
    model: LibraryModel, column: Column, order: Qt.SortOrder, expected: list[LibraryEntry]
) -> None:
    model.update(ALL[:2])
    model.sort(column, order)
    model.update(ALL[2:])
    assert list(model.entries) == expected


def test_descending_texts_where_one_begins_another(model: LibraryModel) -> None:
    model.sort(Column.NAME, DOWN)
    model.update([entry("m"), entry("model"), entry("mo")])
    assert names(model) == ["model", "mo", "m"]


def test_rows_come_without_a_reset(model: LibraryModel, qtbot: QtBot) -> None:
    resets, runs = [], []
    model.modelReset.connect(lambda: resets.append(1))
    model.rowsInserted.connect(lambda _parent, first, last: runs.append((first, last)))
    model.update([entry(name) for name in "bdf"])
    model.update([entry(name) for name in "acegh"])
    assert names(model) == list("abcdefgh")
    assert runs == [(0, 2), (0, 0), (2, 2), (4, 4), (6, 7)]
    assert not resets


def test_a_row_that_learns_what_it_is_stays_or_moves(model: LibraryModel) -> None:
    changed = []
    model.dataChanged.connect(lambda first, last: changed.append((first.row(), last.column())))
    model.update([entry("a", None), entry("b", None), MIDDLE])
    model.update([entry("a", card(n_params=9))])
    assert changed == [(0, Column.VOCABULARY)]
    assert texts(model, 0)[Column.PARAMETERS] == "9"
    model.sort(Column.PARAMETERS, UP)
    held = QPersistentModelIndex(model.index(2, 3))
    assert names(model) == ["a", "Middle-F16", "b"]
    model.update([entry("b", card(n_params=1)), entry("a", card(n_params=10**9))])
    assert names(model) == ["b", "Middle-F16", "a"]
    assert (held.row(), held.column()) == (0, 3)
    model.update(model.entries)
    assert len(changed) == 1, "what is the same is not told"


def test_a_row_that_moves_keeps_the_selection(qtbot: QtBot) -> None:
    model = LibraryModel()
    view = QTableView()
    qtbot.addWidget(view)
    view.setModel(LibraryFilter(model, view))
    view.setSortingEnabled(True)
    view.sortByColumn(Column.PARAMETERS, DOWN)
    model.update([entry("a", None), SMALL, LARGE])
    view.setCurrentIndex(view.model().index(2, 0))
    assert view.currentIndex().data() == "a"
    flag = QItemSelectionModel.SelectionFlag.ClearAndSelect
    view.selectionModel().select(view.currentIndex(), flag)
    model.update([entry("a", card(n_params=10**9)), MIDDLE])
    assert (view.currentIndex().row(), view.currentIndex().data()) == (0, "a")
    assert [index.data() for index in view.selectedIndexes()] == ["a"]


def test_what_is_gone_goes(model: LibraryModel) -> None:
    model.update(ALL)
    model.retain({SMALL.file.path, BROKEN.file.path})
    assert names(model) == ["broken", "small-Q8_0"]
    assert model.entry_of(LARGE.file.path) is None
    assert model.row_of(LARGE.file.path) == -1
    assert model.row_of(SMALL.file.path) == 1
    assert model.entry_of(SMALL.file.path) == SMALL


@given(st.data())
def test_any_sequence_of_changes_ends_in_order(data: st.DataObject) -> None:
    """Against a plain sort of a plain dictionary."""
    model = LibraryModel()
    kept: dict[str, LibraryEntry] = {}
    column, order = Column.NAME, UP
    for _ in range(data.draw(st.integers(1, 6))):
        step = data.draw(st.sampled_from(("update", "update", "retain", "sort")))
        if step == "update":
            batch = data.draw(st.lists(st.tuples(st.sampled_from("abcdefgh"), st.integers(0, 3))))
            entries = [entry(name, card(n_params=n) if n else None) for name, n in batch]
            kept.update((e.file.name, e) for e in entries)
            model.update(entries)
        elif step == "retain":
            stay = data.draw(st.sets(st.sampled_from("abcdefgh")))
            kept = {name: e for name, e in kept.items() if name in stay}
            model.retain({e.file.path for e in kept.values()})
        else:
            column = data.draw(st.sampled_from((Column.NAME, Column.PARAMETERS)))
            order = data.draw(st.sampled_from((UP, DOWN)))
            model.sort(column, order)
    by_name = sorted(kept.values(), key=lambda e: e.file.name)
    if column is Column.NAME:
        expected = by_name if order == UP else by_name[::-1]
    else:
        sign = 1 if order == UP else -1
        expected = sorted(
            by_name, key=lambda e: (e.card is None, sign * (e.card.n_params if e.card else 0))
        )
    assert list(model.entries) == expected


# -------------------------------------------------------------------------------------- filter


@pytest.fixture
def shown(model: LibraryModel, qtmodeltester: ModelTester) -> LibraryFilter:
    shown = LibraryFilter(model)
    model.update([*ALL, entry("other", card(name="Sunny Day"), source="ollama")])
    return shown


@pytest.mark.parametrize(
    ("search", "expected"),
    [
        ("", ["broken", "large-Q4_K_M", "Middle-F16", "other", "small-Q8_0"]),
        ("q4_k", ["large-Q4_K_M", "other"]),
        ("F16 mid", ["Middle-F16"]),
        ("qwen2", ["small-Q8_0"]),
        ("sunny", ["other"]),
        ("70k", ["large-Q4_K_M"]),
        ("nothing like it", []),
    ],
)
def test_words_of_name_architecture_and_quantisation(
    shown: LibraryFilter, search: str, expected: list[str]
) -> None:
    shown.set_search(search)
    assert names(shown) == expected


def test_a_place_and_what_cannot_be_used(shown: LibraryFilter, model: LibraryModel) -> None:
    shown.set_place("ollama")
    assert names(shown) == ["other"]
    model.update([entry("more", source="ollama"), entry("less")])
    assert names(shown) == ["more", "other"]
    shown.set_place("")
    shown.set_shows_unusable(False)
    assert "broken" not in names(shown)
    assert len(names(shown)) == 6


def test_the_proxy_orders_by_its_source(shown: LibraryFilter) -> None:
    shown.set_search("q")
    shown.sort(Column.SIZE, DOWN)
    assert names(shown) == ["other", "large-Q4_K_M", "small-Q8_0"]
