"""The list of models: rows come in batches and stay where the order has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPersistentModelIndex, Qt
from PySide6.QtWidgets import QListView

from gui.library_help import card, entry
from paceline.gui.kit.rows import ROW
from paceline.gui.models.lists.installed_page import SuitedFirst
from paceline.gui.models.lists.library import LibraryModel

if TYPE_CHECKING:
    from pytestqt.modeltest import ModelTester
    from pytestqt.qtbot import QtBot

    from paceline.catalog.local.library import LibraryEntry
    from paceline.gui.models.lists.library import Order

SMALL = entry(
    "small-Q8_0", card(n_params=500, quantisation="Q8_0", architecture="qwen2"), n_bytes=5
)
MIDDLE = entry("Middle-F16", card(n_params=7000, quantisation="F16"), n_bytes=70)
LARGE = entry("large-Q4_K_M", card(n_params=70_000, license="apache-2.0"), n_bytes=9)
BROKEN = entry("broken", problem="It is no model.")
ALL = (LARGE, BROKEN, SMALL, MIDDLE)


@pytest.fixture
def model(qtmodeltester: ModelTester) -> LibraryModel:
    """A model that is watched by Qt's own tester."""
    model = LibraryModel()
    qtmodeltester.check(model)
    return model


def names(model: Any) -> list[str]:
    return [model.index(row, 0).data() for row in range(model.rowCount())]


def test_what_a_row_says(model: LibraryModel) -> None:
    model.update([entry("new", None), BROKEN])
    assert names(model) == ["broken", "new"]
    assert model.index(0).data(ROW) == model.rows[0]
    assert "It is no model." in model.index(0).data(int(Qt.ItemDataRole.ToolTipRole))


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("name", [BROKEN, LARGE, MIDDLE, SMALL]),
        ("largest", [MIDDLE, BROKEN, LARGE, SMALL]),
        ("smallest", [SMALL, LARGE, BROKEN, MIDDLE]),
        ("place", [BROKEN, LARGE, MIDDLE, SMALL]),
    ],
)
def test_rows_have_an_order(
    model: LibraryModel, order: Order, expected: list[LibraryEntry]
) -> None:
    model.update(ALL[:2])
    model.order_by(order)
    model.update(ALL[2:])
    assert list(model.rows) == expected


def test_places_stand_together(model: LibraryModel) -> None:
    model.order_by("place")
    model.update([entry("b", source="ollama"), entry("c"), entry("a", source="ollama")])
    assert names(model) == ["c", "a", "b"]


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
    model.dataChanged.connect(lambda first, _last: changed.append(first.row()))
    model.update([entry("a", None, n_bytes=1), entry("b", None, n_bytes=2), MIDDLE])
    model.update([entry("a", card(n_params=9), n_bytes=1)])
    assert changed == [0]
    model.order_by("largest")
    held = QPersistentModelIndex(model.index(2))
    assert names(model) == ["Middle-F16", "b", "a"]
    model.update([entry("b", n_bytes=10), entry("a", n_bytes=100)])
    assert names(model) == ["a", "Middle-F16", "b"]
    assert held.row() == 0
    model.update(model.rows)
    assert len(changed) == 1, "what is the same is not told"


def test_a_row_that_moves_keeps_the_selection(qtbot: QtBot) -> None:
    model = LibraryModel()
    view = QListView()
    qtbot.addWidget(view)
    view.setModel(SuitedFirst(model, view))
    model.order_by("largest")
    model.update([entry("a", n_bytes=1), SMALL, LARGE])
    view.setCurrentIndex(view.model().index(2, 0))
    assert view.currentIndex().data() == "a"
    model.update([entry("a", n_bytes=10**9), MIDDLE])
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
    order: Order = "name"
    for _ in range(data.draw(st.integers(1, 6))):
        step = data.draw(st.sampled_from(("update", "update", "retain", "order")))
        if step == "update":
            batch = data.draw(st.lists(st.tuples(st.sampled_from("abcdefgh"), st.integers(1, 3))))
            entries = [entry(name, n_bytes=n) for name, n in batch]
            kept.update((e.file.name, e) for e in entries)
            model.update(entries)
        elif step == "retain":
            stay = data.draw(st.sets(st.sampled_from("abcdefgh")))
            kept = {name: e for name, e in kept.items() if name in stay}
            model.retain({e.file.path for e in kept.values()})
        else:
            order = data.draw(st.sampled_from(("name", "largest", "smallest")))
            model.order_by(order)
    sign = {"name": 0, "largest": -1, "smallest": 1}[order]
    by_name = sorted(kept.values(), key=lambda e: e.file.name)
    assert list(model.rows) == sorted(by_name, key=lambda e: sign * e.file.n_bytes)


# -------------------------------------------------------------------------------------- filter


@pytest.fixture
def shown(model: LibraryModel, qtmodeltester: ModelTester) -> SuitedFirst:
    model.update([*ALL, entry("other", card(name="Sunny Day"), source="ollama")])
    return SuitedFirst(model)


@pytest.mark.parametrize(
    ("search", "expected"),
    [
        ("", ["large-Q4_K_M", "Middle-F16", "other", "small-Q8_0", "broken"]),
        ("q4_k", ["large-Q4_K_M", "other"]),
        ("F16 mid", ["Middle-F16"]),
        ("qwen2", ["small-Q8_0"]),
        ("sunny", ["other"]),
        ("70k", ["large-Q4_K_M"]),
        ("brok", ["broken"]),
        ("nothing like it", []),
    ],
)
def test_words_of_name_architecture_and_quantisation(
    shown: SuitedFirst, search: str, expected: list[str]
) -> None:
    shown.set_search(search)
    assert names(shown) == expected


def test_what_is_searched_keeps_the_order(shown: SuitedFirst, model: LibraryModel) -> None:
    shown.set_search("q")
    model.order_by("largest")
    assert names(shown) == ["other", "large-Q4_K_M", "small-Q8_0"]
