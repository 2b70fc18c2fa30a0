"""The pairs that were used last: remembered, listed in the menu, loaded at the next start."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtWidgets import QMenu

from paceline import paths
from paceline.chat.pair import Pair
from paceline.gui.models.model_bar import PairsMenu
from paceline.gui.models.saved_pairs import SavedPairs
from paceline.messages import LoadPair
from paceline.params import ModelParams
from paceline.settings import MAX_PAIRS, SavedPair, Settings, load_settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from gui.fake_client import FakeClient
    from paceline.gui.program import Program

pytestmark = pytest.mark.usefixtures("plain_windows")

DEMO_TARGET, DEMO_DRAFT = map(str, paths.demo_pair())
DEMO = Pair(ModelParams(DEMO_TARGET), ModelParams(DEMO_DRAFT))


def pair_of(name: str, n_ctx: int = 0) -> Pair:
    return Pair(ModelParams(f"/m/{name}.gguf", n_ctx), ModelParams("/m/draft.gguf"))


@pytest.fixture
def pairs(qapp: object) -> SavedPairs:
    return SavedPairs((), DEMO)


# ------------------------------------------------------------------------------------ the list


def test_the_newest_is_first_and_the_oldest_goes(pairs: SavedPairs) -> None:
    for number in range(MAX_PAIRS + 3):
        pairs.remember(pair_of(str(number)), f"Number {number}")
    assert pairs.titles == tuple(f"Number {n}" for n in range(MAX_PAIRS + 2, 2, -1))
    assert pairs.pair(0) == pair_of(str(MAX_PAIRS + 2))


def test_the_menu_has_the_newest_of_them(qapp: object, pairs: SavedPairs) -> None:
    bar, forget = QMenu(), QMenu()
    bar.addAction("Choose models")
    menu = PairsMenu(bar, forget, pairs)
    for number in range(12):
        pairs.remember(pair_of(str(number)), f"Number {number}")
    menu.tick(11)
    assert [action.text() for action in menu.actions_] == [f"Number {n}" for n in range(11, 3, -1)]
    assert not any(action.isChecked() for action in menu.actions_)


def test_the_same_files_take_the_older_ones_place(pairs: SavedPairs) -> None:
    pairs.remember(pair_of("a"), "A")
    pairs.remember(pair_of("b"), "B")
    pairs.remember(pair_of("a", 8192), "A, longer")
    assert pairs.titles == ("A, longer", "B")
    assert pairs.pair(0) == pair_of("a", 8192)
    alone = replace(pair_of("a"), draft=None)
    pairs.remember(alone, "A alone")
    assert pairs.row_of(alone) == 0
    assert pairs.row_of(pair_of("a")) == 1
    assert pairs.row_of(pair_of("c")) == pairs.row_of(None) == -1


def test_everything_of_a_pair_comes_back(pairs: SavedPairs) -> None:
    pair = Pair(ModelParams("/t", 512, kv_type_k="q8_0"), None, "/cache.bin", exact=True)
    pairs.remember(pair)
    assert SavedPairs(pairs.pairs, DEMO).pair(0) == pair
    assert pairs.titles == ("t",)


def test_the_built_in_models_are_found_wherever_the_program_is(pairs: SavedPairs) -> None:
    pairs.remember(replace(DEMO, target=replace(DEMO.target, n_ctx=1024)))
    assert pairs.pairs == (SavedPair(ModelParams("", 1024), ModelParams("")),)
    elsewhere = Pair(ModelParams("/new/target"), ModelParams("/new/draft"))
    moved = SavedPairs(pairs.pairs, elsewhere)
    assert moved.pair(0) == Pair(ModelParams("/new/target", 1024), ModelParams("/new/draft"))
    assert moved.row_of(elsewhere) == 0


def test_pairs_can_be_forgotten(pairs: SavedPairs) -> None:
    for name in "abc":
        pairs.remember(pair_of(name), name)
    pairs.forget(1)
    assert pairs.titles == ("c", "a")
    pairs.forget_all()
    assert pairs.pairs == ()


# ---------------------------------------------------------------------------------- the window


def saved(tmp_path: Path, name: str = "large") -> SavedPair:
    for file in (name, "small"):
        (tmp_path / f"{file}.gguf").write_bytes(b"GGUF" + bytes(60))
    return SavedPair(
        ModelParams(str(tmp_path / f"{name}.gguf"), 2048),
        ModelParams(str(tmp_path / "small.gguf")),
        f"{name} + small",
    )


def test_what_works_is_remembered_and_ticked(program: Program, client: FakeClient) -> None:
    menu = program.models.pairs_menu
    assert menu is not None
    assert [action.isChecked() for action in menu.actions_] == [True]
    title = menu.actions_[0].text()
    program.window.actions_.no_draft.trigger()
    assert [action.text() for action in menu.actions_] == [title]  # not before it has worked
    client.finish_load()
    assert [action.isChecked() for action in menu.actions_] == [True, False]
    assert menu.actions_[1].text() == title
    assert program.settings.settings.pairs == program.saved_pairs.pairs


def test_one_click_switches(program: Program, client: FakeClient, qtbot: QtBot) -> None:
    program.window.actions_.no_draft.trigger()
    client.finish_load()
    n_loads = len(client.all(LoadPair))
    menu = program.models.pairs_menu
    assert menu is not None
    menu.actions_[1].trigger()
    qtbot.waitUntil(lambda: len(client.all(LoadPair)) > n_loads)
    assert client.last(LoadPair).draft == ModelParams(DEMO_DRAFT)
    assert [action.isChecked() for action in menu.actions_] == [False, True]
    client.finish_load()
    assert [action.isChecked() for action in menu.actions_] == [True, False]


def test_a_menu_forgets(program: Program, client: FakeClient) -> None:
    program.window.actions_.no_draft.trigger()
    client.finish_load()
    forget = program.window.actions_.forget
    forget.actions()[1].trigger()
    assert len(program.saved_pairs.pairs) == 1
    assert program.saved_pairs.pair(0).draft is None
    forget.actions()[-1].trigger()
    assert program.saved_pairs.pairs == ()
    assert not forget.menuAction().isEnabled()
    menu = program.models.pairs_menu
    assert menu is not None
    assert menu.actions_ == []


def test_the_next_start_loads_the_pair_that_was_used_last(
    make_program: Callable[..., Program], client: FakeClient, tmp_path: Path, qtbot: QtBot
) -> None:
    pair = saved(tmp_path)
    program = make_program(Settings(pairs=(pair, SavedPair(ModelParams("")))))
    qtbot.waitUntil(lambda: bool(client.all(LoadPair)))
    command = client.last(LoadPair)
    assert (command.target, command.draft) == (pair.target, pair.draft)
    client.finish_load()
    assert len(client.all(LoadPair)) == 1
    assert [saved.target for saved in program.saved_pairs.pairs] == [
        pair.target, ModelParams(""),
    ]  # fmt: skip


def test_models_that_are_gone_leave_a_note_and_the_demo_pair(
    make_program: Callable[..., Program], client: FakeClient, tmp_path: Path, qtbot: QtBot
) -> None:
    pair = saved(tmp_path)
    (tmp_path / "small.gguf").unlink()
    program = make_program(Settings(pairs=(pair,)))
    qtbot.waitUntil(lambda: bool(client.all(LoadPair)))
    assert client.last(LoadPair).target == DEMO.target
    errors = program.window.chat_pane.errors
    assert "large + small" in errors.text.text()
    assert "The demo pair takes their place." in errors.text.text()
    client.finish_load()
    assert not errors.isHidden()


def test_the_demo_pair_comes_back_as_it_was_loaded(
    make_program: Callable[..., Program], client: FakeClient
) -> None:
    make_program(Settings(pairs=(SavedPair(ModelParams("", 1024), ModelParams("")),)))
    command = client.last(LoadPair)
    assert command.target == ModelParams(DEMO_TARGET, 1024)
    assert command.draft == ModelParams(DEMO_DRAFT)


def test_a_saved_pair_that_is_gone_costs_nothing(
    make_program: Callable[..., Program], client: FakeClient, tmp_path: Path, qtbot: QtBot
) -> None:
    gone = SavedPair(ModelParams(str(tmp_path / "gone.gguf")), None, "Gone")
    program = make_program(Settings(pairs=(SavedPair(ModelParams("")), gone)))
    client.finish_load()
    program.models.load_saved(1)
    errors = program.window.chat_pane.errors
    qtbot.waitUntil(lambda: not errors.isHidden())
    assert "gone" in errors.text.text()
    assert len(client.all(LoadPair)) == 1


def test_names_come_from_the_models_and_reach_the_file(
    program: Program, paceline_home: Path
) -> None:
    program.settings.save()
    pairs = load_settings(paceline_home / "config" / "settings.json").settings.pairs
    assert [pair.name for pair in pairs] == [
        f"{program.pair.target_name} + {program.pair.draft_name}"
    ]


def test_a_long_or_odd_name_is_harmless(program: Program) -> None:
    program.saved_pairs.remember(pair_of("x"), "R&D " + "long " * 40)
    menu = program.models.pairs_menu
    assert menu is not None
    assert menu.actions_[0].text().startswith("R&&D long")
    assert len(menu.actions_[0].text()) < 70
    assert menu.actions_[0].toolTip().startswith("R&D long")
