"""Loads of models: from menus and files, after failures, and where memory is short."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import pytest

from gui.loading_world import LoadingWorld, loading_world, pair_of
from paceline.chat.pair import Pair
from paceline.messages import (
    LoadFailed,
    LoadPair,
    LoadProgressed,
    Sameness,
    SamenessChanged,
)
from paceline.params import DraftModel, ModelParams, params_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from gui.fake_client import FakeClient
    from paceline.gui.kit.file_dialogs import FileChooser
    from paceline.gui.program import Program

Stage = Literal["target", "draft"]
DEMO = ("paceline-demo-target-q8_0", "paceline-demo-draft-q8_0")


@pytest.fixture
def world(qtbot: QtBot, tmp_path: Path, client: FakeClient) -> Iterator[LoadingWorld]:
    del qtbot
    yield from loading_world(tmp_path, client)


@pytest.fixture
def ggufs(tmp_path: Path) -> dict[str, str]:
    """Make files that look like models, and name one that is not there."""
    for name, size in (("large", 200), ("small", 20)):
        (tmp_path / f"{name}.gguf").write_bytes(b"GGUF" + b"\0" * size)
    (tmp_path / "wrong.gguf").write_bytes(b"<html>")
    return {name: str(tmp_path / f"{name}.gguf") for name in ("large", "small", "wrong", "missing")}


# ------------------------------------------------------------------------------- menus and files


def choose(chooser: FileChooser, path: str) -> None:
    """Take a file in the dialog that is open; none: leave it."""
    dialog = chooser.dialog
    assert dialog is not None
    if path:
        dialog.filesSelected.emit([path])
    dialog.reject()
    assert not chooser.is_open


def test_models_are_opened_from_the_menu(
    world: LoadingWorld, client: FakeClient, ggufs: dict[str, str], qtbot: QtBot
) -> None:
    actions, models = world.actions, world.models
    for action, chooser in (
        (actions.open_target, models.target_file),
        (actions.open_draft, models.draft_file),
    ):
        action.trigger()
        choose(chooser, "")
    assert world.loads == [DEMO], "the dialogs were left"
    actions.open_target.trigger()
    choose(models.target_file, ggufs["large"])
    qtbot.waitUntil(lambda: world.loads[-1] == ("large", None))  # the demo draft fits no other
    client.finish_load()
    assert world.speculation.group == "lookup", "it takes the draft model's place"
    actions.open_draft.trigger()
    choose(models.draft_file, ggufs["small"])
    qtbot.waitUntil(lambda: world.loads[-1] == ("large", "small"))
    client.finish_load()
    assert world.speculation.current.name == "draft"
    actions.no_draft.trigger()
    assert world.loads[-1] == ("large", None)
    client.finish_load()
    actions.demo_pair.trigger()
    assert world.loads[-1] == DEMO


def test_of_two_dropped_models_the_larger_one_is_the_target(
    world: LoadingWorld, client: FakeClient, ggufs: dict[str, str], qtbot: QtBot
) -> None:
    zones = world.zones
    zones.dropped.emit([ggufs["small"], ggufs["large"]], False)
    qtbot.waitUntil(lambda: world.loads[-1] == ("large", "small"))
    client.finish_load()
    zones.dropped.emit([ggufs["small"]], True)
    qtbot.waitUntil(lambda: len(world.loads) == 3)
    assert world.loads[-1] == ("large", "small")
    zones.folders_dropped.emit(["/models"])
    assert world.settings.value("model_folders") == ("/models",)


@pytest.mark.parametrize("name", ["wrong", "missing"])
def test_a_file_that_is_no_model_costs_nothing(
    world: LoadingWorld, ggufs: dict[str, str], qtbot: QtBot, name: str
) -> None:
    world.models.open_target(ggufs[name])
    qtbot.waitUntil(lambda: name in world.notice)
    assert world.loads == [DEMO]
    world.bar.close_button.click()
    assert not world.notice


def load(world: LoadingWorld, **changes: object) -> None:
    """Load the models that are loaded in another way."""
    world.models.load(replace(pair_of(world), **changes))  # type: ignore[arg-type]


def test_exact_and_the_lookup_cache_are_kept_and_another_target_keeps_exact_alone(
    world: LoadingWorld, client: FakeClient, ggufs: dict[str, str], qtbot: QtBot
) -> None:
    load(world, exact=True, lookup_cache="/texts/mine.bin")
    command = client.last(LoadPair)
    assert (command.exact, command.lookup_cache) == (True, "/texts/mine.bin")
    client.finish_load()
    assert world.saved_pairs.pair(0).lookup_cache == "/texts/mine.bin"
    world.models.open_target(ggufs["large"])
    qtbot.waitUntil(lambda: world.loads[-1][0] == "large")
    command = client.last(LoadPair)
    assert (command.exact, command.lookup_cache) == (True, "")


def test_what_idle_time_finds_out_is_shown_without_a_second_warning(
    program: Program, client: FakeClient
) -> None:
    window = program.window
    program.models.reload()
    client.finish_load("A note.")
    told: list[object] = []
    program.pair.changed.connect(told.append)
    client.emit(SamenessChanged(Sameness(None, 0, None, False, "Not known yet.")))
    client.emit(SamenessChanged(Sameness(False, 36, 0.5, False, "Rows differ.")))
    assert not told, "the pair is the same, and its notes were read"
    assert window.model_bar.toolTip() == "A note.\nRows differ."
    program.models.reload()
    assert "Rows differ" not in window.model_bar.toolTip()


# ------------------------------------------------------------------------------ loads that failed


def test_a_failed_load_says_so_and_offers_what_can_be_done(
    world: LoadingWorld, client: FakeClient
) -> None:
    world.models.load(Pair(ModelParams("/m/large.gguf"), DraftModel(ModelParams("/m/small.gguf"))))
    client.emit(LoadFailed("vocabulary-mismatch", "They do not fit.", "Take others."))
    assert "They do not fit. Take others." in world.notice
    assert world.loads[-1] == DEMO, "what worked before comes back"
    client.finish_load()
    assert (world.pair.state.status, world.speculation.current.name) == ("ready", "draft")
    world.bar.action.click()
    assert world.loads[-1] == ("large", None)
    client.emit(LoadFailed("broken", "Broken.", "Download it."))
    client.emit(LoadFailed("broken", "Broken, too.", "Reinstall."))
    assert world.pair.state.status == "failed"
    n_loads = len(world.loads)
    world.bar.action.click()
    assert len(world.loads) == n_loads + 1


def test_notices_about_models_go_with_the_next_load_and_hide_no_error(
    world: LoadingWorld, client: FakeClient, qtbot: QtBot, ggufs: dict[str, str]
) -> None:
    world.models.open_target(ggufs["missing"])
    qtbot.waitUntil(lambda: bool(world.notice))
    world.models.load_models(Pair(ModelParams("/m/large.gguf")))
    assert not world.notice
    client.emit(LoadFailed("broken", "Broken.", ""))
    client.finish_load()
    assert "Broken." in world.notice, "it outlives the pair from before"
    world.models.reload()
    client.finish_load("The draft model's context is short.")
    assert world.notice == "The draft model's context is short."
    assert world.bar.property("tone") == "lookup"
    world.notices.error("It failed.")
    world.models.reload()
    client.finish_load("The draft model's context is short.")
    assert world.notice == "It failed."


def fail(
    client: FakeClient, *, code: str = "does-not-fit", stage: Stage = "target", fraction: float = 1
) -> None:
    client.emit(LoadProgressed(stage, fraction))
    client.emit(LoadFailed(code, "There is no room.", "Choose a smaller context."))


def load_with(world: LoadingWorld, client: FakeClient, n_target: int, n_draft: int) -> None:
    pair = pair_of(world)
    assert pair.draft is not None
    drafting = DraftModel(replace(pair.draft, n_ctx=n_draft))
    load(world, target=replace(pair.target, n_ctx=n_target), drafting=drafting)
    assert client.last(LoadPair).target.n_ctx == n_target


def contexts(client: FakeClient) -> tuple[int, int]:
    command = client.last(LoadPair)
    draft = params_of(command.drafting)
    assert draft is not None
    return command.target.n_ctx, draft.n_ctx


@pytest.mark.parametrize(
    ("code", "stage", "fraction", "asked", "offered"),
    [
        ("does-not-fit", "target", 1.0, (3000, 0), (1500, 1500)),
        ("out-of-memory", "target", 1.0, (3000, 1000), (1500, 1000)),
        ("does-not-fit", "draft", 0.0, (0, 0), (2048, 2048)),
        ("out-of-memory", "draft", 0.5, (600, 100), (512, 100)),
        ("does-not-fit", "draft", 1.0, (513, 4096), (512, 512)),
    ],
)
def test_what_found_no_room_can_be_loaded_with_half_the_context(
    world: LoadingWorld, client: FakeClient, code: str, stage: Stage, fraction: float,
    asked: tuple[int, int], offered: tuple[int, int],
) -> None:  # fmt: skip
    load_with(world, client, 100, 100)
    client.finish_load()
    load_with(world, client, *asked)
    fail(client, code=code, stage=stage, fraction=fraction)
    assert contexts(client) == (100, 100)  # what worked before comes back at once
    client.finish_load()
    assert f"{offered[0]:,}" in world.bar.action.text()
    world.bar.action.click()
    assert contexts(client) == offered


def test_a_smaller_context_is_offered_down_to_512_and_as_the_engine_proposes_it(
    world: LoadingWorld, client: FakeClient
) -> None:
    world.models.load_demo_pair()  # there is no other pair to fall back to
    offered = []
    for _ in range(3):
        fail(client)
        world.bar.action.click()
        offered.append(contexts(client)[0])
    assert offered == [2048, 1024, 512]
    fail(client)
    world.bar.action.click()
    assert contexts(client)[0] == 512, "it is only loaded again"
    client.emit(LoadProgressed("target", 1.0))
    client.emit(LoadFailed("does-not-fit", "No room.", "Less.", smaller_ctx=300))
    world.bar.action.click()
    assert contexts(client)[0] == 300


@pytest.mark.parametrize(
    ("code", "fraction"), [("does-not-fit", 0.5), ("out-of-memory", 0.0), ("cannot-load", 1.0)]
)
def test_a_smaller_context_is_not_offered_where_it_cannot_help(
    world: LoadingWorld, client: FakeClient, code: str, fraction: float
) -> None:
    world.models.load_demo_pair()
    before = contexts(client)
    fail(client, code=code, fraction=fraction)
    world.bar.action.click()
    assert contexts(client) == before
