"""The pairs that were used last: remembered, listed in the menu, loaded at the next start."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtWidgets import QMenu

from gui.loading_world import USUAL, LoadingWorld
from paceline import paths
from paceline.chat.pair import Pair
from paceline.gui.models import saved_pairs
from paceline.gui.models.model_bar import PairsMenu
from paceline.gui.models.saved_pairs import SavedPairs
from paceline.messages import LoadPair
from paceline.params import OWN_HEAD, DraftModel, ModelParams, TargetHead, params_of
from paceline.settings import MAX_PAIRS, SavedPair

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from gui.fake_client import FakeClient
    from paceline.gui.program import Program

DEMO_TARGET, DEMO_DRAFT = map(str, paths.demo_pair())
DEMO = Pair(ModelParams(DEMO_TARGET), DraftModel(ModelParams(DEMO_DRAFT)))


def pair_of(name: str, n_ctx: int = 0) -> Pair:
    return Pair(ModelParams(f"/m/{name}.gguf", n_ctx), DraftModel(ModelParams("/m/draft.gguf")))


# ------------------------------------------------------------------------------------ the list

PAIRS = st.builds(
    Pair,
    st.builds(ModelParams, st.sampled_from(["/m/a.gguf", "/m/b.gguf", DEMO_TARGET]), st.just(512)),
    st.sampled_from([None, OWN_HEAD, TargetHead(file="/m/head.gguf")])
    | st.sampled_from(["/m/c.gguf", DEMO_DRAFT]).map(lambda file: DraftModel(ModelParams(file))),
    exact=st.booleans(),
)


@given(st.lists(PAIRS | st.integers(0, 5), max_size=12))
def test_the_newest_are_kept_each_once(steps: list[Pair | int]) -> None:
    """A pair is remembered; a number forgets one."""
    saved, model = SavedPairs((), DEMO), list[Pair]()
    for step in steps:
        if isinstance(step, Pair):
            with patch.object(saved_pairs, "MAX_PAIRS", 3):
                saved.remember(step)
            model = [step, *(pair for pair in model if pair.files != step.files)][:3]
        elif step < len(model):
            saved.forget(step)
            del model[step]
        moved = SavedPairs(saved.pairs, DEMO)
        assert [moved.pair(row) for row in range(len(saved.pairs))] == model
        assert [saved.row_of(pair) for pair in model] == list(range(len(model)))
    assert saved.row_of(None) == -1
    saved.forget_all()
    assert saved.pairs == ()


def test_the_built_in_models_are_found_wherever_the_program_is() -> None:
    pairs = SavedPairs((), DEMO)
    pairs.remember(replace(DEMO, target=replace(DEMO.target, n_ctx=1024)))
    assert pairs.pairs == (SavedPair(ModelParams("", 1024), ModelParams("")),)
    elsewhere = Pair(ModelParams("/new/target"), DraftModel(ModelParams("/new/draft")))
    moved = SavedPairs(pairs.pairs, elsewhere)
    assert moved.pair(0) == Pair(
        ModelParams("/new/target", 1024), DraftModel(ModelParams("/new/draft"))
    )
    assert moved.row_of(elsewhere) == 0


def test_the_menu_has_the_newest_of_them(qapp: object) -> None:
    pairs, bar, forget = SavedPairs((), DEMO), QMenu(), QMenu()
    bar.addAction("Choose models")
    menu = PairsMenu(bar, forget, pairs)
    for number in range(MAX_PAIRS + 3):
        pairs.remember(pair_of(str(number)), f"Number {number}")
    menu.tick(11)
    newest = [f"Number {n}" for n in range(MAX_PAIRS + 2, MAX_PAIRS - 6, -1)]
    assert [action.text() for action in menu.actions_] == newest
    assert not any(action.isChecked() for action in menu.actions_)
    for end in ("Q4", "Q8"):
        pairs.remember(pair_of("R&D " + "long " * 40 + end), "a name that is longer still" * 20)
    first, second = menu.actions_[:2]
    assert first.text().startswith("R&&D long")
    assert len(first.text()) < 70
    assert first.text() != second.text()
    assert first.toolTip().startswith("R&D long")


# ---------------------------------------------------------------------------------- the window


def saved(tmp_path: Path, name: str = "large") -> SavedPair:
    for file in (name, "small"):
        (tmp_path / f"{file}.gguf").write_bytes(b"GGUF" + bytes(60))
    return SavedPair(
        ModelParams(str(tmp_path / f"{name}.gguf"), 2048),
        ModelParams(str(tmp_path / "small.gguf")),
        name=f"{name} + small",
    )


def test_pairs_that_work_are_switched_and_forgotten_by_a_menu(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    menu, forget = program.models.pairs_menu, program.window.actions_.forget
    assert menu is not None

    def ticked() -> list[bool]:
        return [action.isChecked() for action in menu.actions_]

    title = f"{program.pair.target_name} + {program.pair.draft_name}"
    assert ([action.text() for action in menu.actions_], ticked()) == ([title], [True])
    program.window.actions_.no_draft.trigger()
    assert len(menu.actions_) == 1, "not before it has worked"
    client.finish_load()
    assert ticked() == [True, False]
    kept = program.settings.value("pairs")
    assert kept == program.saved_pairs.pairs
    assert kept[1].name == title
    n_loads = len(client.all(LoadPair))
    menu.actions_[1].trigger()
    qtbot.waitUntil(lambda: len(client.all(LoadPair)) > n_loads)
    assert params_of(client.last(LoadPair).drafting) == ModelParams(DEMO_DRAFT)
    assert ticked() == [False, True]
    client.finish_load()
    assert ticked() == [True, False]
    forget.actions()[1].trigger()
    assert [program.saved_pairs.pair(0).draft] == [ModelParams(DEMO_DRAFT)]
    forget.actions()[-1].trigger()
    assert (program.saved_pairs.pairs, menu.actions_) == ((), [])
    assert not forget.menuAction().isEnabled()


@pytest.fixture
def start(
    qtbot: QtBot, tmp_path: Path, client: FakeClient
) -> Iterator[Callable[..., LoadingWorld]]:
    """Starts with these pairs remembered, and waits for a load."""
    worlds: list[LoadingWorld] = []

    def begin(*pairs: SavedPair) -> LoadingWorld:
        world = LoadingWorld(tmp_path, client, settings=replace(USUAL, pairs=pairs)).start()
        worlds.append(world)
        qtbot.waitUntil(lambda: bool(client.all(LoadPair)))
        return world

    yield begin
    for world in worlds:
        world.close()


def test_the_next_start_loads_the_pair_that_was_used_last(
    start: Callable[..., LoadingWorld], client: FakeClient, tmp_path: Path
) -> None:
    pair = saved(tmp_path)
    world = start(pair, SavedPair(ModelParams("")))
    command = client.last(LoadPair)
    assert (command.target, params_of(command.drafting)) == (pair.target, pair.draft)
    client.finish_load()
    assert len(world.loads) == 1
    assert [each.target for each in world.saved_pairs.pairs] == [pair.target, ModelParams("")]


def test_models_that_are_gone_leave_a_note_and_the_demo_pair(
    start: Callable[..., LoadingWorld], client: FakeClient, tmp_path: Path
) -> None:
    pair = saved(tmp_path)
    (tmp_path / "small.gguf").unlink()
    world = start(pair)
    assert client.last(LoadPair).target == DEMO.target
    assert "large + small" in world.notice
    client.finish_load()
    assert world.notice


def test_the_demo_pair_comes_back_as_it_was_loaded_and_a_pair_that_is_gone_costs_nothing(
    start: Callable[..., LoadingWorld], client: FakeClient, tmp_path: Path, qtbot: QtBot
) -> None:
    gone = SavedPair(ModelParams(str(tmp_path / "gone.gguf")), name="Gone")
    world = start(SavedPair(ModelParams("", 1024), ModelParams("")), gone)
    command = client.last(LoadPair)
    assert command.target == ModelParams(DEMO_TARGET, 1024)
    assert params_of(command.drafting) == ModelParams(DEMO_DRAFT)
    client.finish_load()
    world.models.load_saved(1)
    qtbot.waitUntil(lambda: "gone" in world.notice)
    assert len(world.loads) == 1
