"""Loading: what belongs to a pair as a whole, and what is done where memory is short."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import pytest
from PySide6.QtCore import Qt

from paceline.messages import (
    LoadFailed,
    LoadPair,
    LoadProgressed,
    Sameness,
    SamenessChanged,
)
from paceline.params import DraftModel, params_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from gui.fake_client import FakeClient
    from paceline.gui.program import Program

Stage = Literal["target", "draft"]


def load(program: Program, **changes: object) -> None:
    """Load the models that are loaded in another way."""
    pair = program.pair.state.pair
    assert pair is not None
    program.models.load(replace(pair, **changes))  # type: ignore[arg-type]


def test_exact_and_the_lookup_cache_are_loaded_and_kept(
    program: Program, client: FakeClient
) -> None:
    assert not client.last(LoadPair).exact
    load(program, exact=True, lookup_cache="/texts/mine.bin")
    command = client.last(LoadPair)
    assert (command.exact, command.lookup_cache) == (True, "/texts/mine.bin")
    client.finish_load()
    assert program.saved_pairs.pair(0).lookup_cache == "/texts/mine.bin"
    load(program, lookup_cache="")
    assert client.last(LoadPair).lookup_cache == ""
    assert client.last(LoadPair).exact


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


def test_another_target_keeps_exact_but_not_the_old_vocabularys_cache(
    program: Program, client: FakeClient, tmp_path: Path, qtbot: QtBot
) -> None:
    load(program, exact=True, lookup_cache="/texts/mine.bin")
    client.finish_load()
    other = tmp_path / "other.gguf"
    other.write_bytes(b"GGUF" + bytes(60))
    n_loads = len(client.all(LoadPair))
    program.models.open_target(str(other))
    qtbot.waitUntil(lambda: len(client.all(LoadPair)) > n_loads)
    command = client.last(LoadPair)
    assert (command.target.path, command.exact, command.lookup_cache) == (str(other), True, "")


# --------------------------------------------------------------------------- too little memory


def fail(
    client: FakeClient, *, code: str = "does-not-fit", stage: Stage = "target", fraction: float = 1
) -> None:
    client.emit(LoadProgressed(stage, fraction))
    client.emit(LoadFailed(code, "There is no room.", "Choose a smaller context."))


def load_with(program: Program, client: FakeClient, n_target: int, n_draft: int) -> None:
    pair = program.pair.state.pair
    assert pair is not None
    assert pair.draft is not None
    drafting = DraftModel(replace(pair.draft, n_ctx=n_draft))
    load(program, target=replace(pair.target, n_ctx=n_target), drafting=drafting)
    assert client.last(LoadPair).target.n_ctx == n_target


def contexts(client: FakeClient) -> tuple[int, int]:
    command = client.last(LoadPair)
    draft = params_of(command.drafting)
    assert draft is not None
    return command.target.n_ctx, draft.n_ctx


@pytest.mark.grid(short=3)
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
    program: Program, client: FakeClient, qtbot: QtBot, code: str, stage: Stage, fraction: float,
    asked: tuple[int, int], offered: tuple[int, int],
) -> None:  # fmt: skip
    load_with(program, client, 100, 100)
    client.finish_load()
    load_with(program, client, *asked)
    fail(client, code=code, stage=stage, fraction=fraction)
    assert contexts(client) == (100, 100)  # what worked before comes back at once
    client.finish_load()
    errors = program.window.chat_pane.errors
    assert errors.action.text() == f"Load with {offered[0]:,} tokens"
    assert "models from before" in errors.text.text()
    qtbot.mouseClick(errors.action, Qt.MouseButton.LeftButton)
    assert contexts(client) == offered


def test_the_context_that_the_engine_proposes_is_the_one_that_is_offered(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    load_with(program, client, 100_000, 0)
    client.emit(LoadProgressed("target", 1.0))
    client.emit(LoadFailed("does-not-fit", "No room.", "Less.", smaller_ctx=7168))
    client.finish_load()
    errors = program.window.chat_pane.errors
    assert errors.action.text() == "Load with 7,168 tokens"
    qtbot.mouseClick(errors.action, Qt.MouseButton.LeftButton)
    assert contexts(client) == (7168, 0)


def test_it_can_be_halved_again_but_not_below_512(
    make_program: Callable[..., Program], client: FakeClient, qtbot: QtBot
) -> None:
    program = make_program()
    errors = program.window.chat_pane.errors
    offered = []
    for _ in range(3):
        fail(client)
        offered.append(errors.action.text())
        qtbot.mouseClick(errors.action, Qt.MouseButton.LeftButton)
    assert offered == [f"Load with {n:,} tokens" for n in (2048, 1024, 512)]
    fail(client)
    assert errors.action.text() == "Load again"


@pytest.mark.parametrize(
    ("code", "fraction"), [("does-not-fit", 0.5), ("out-of-memory", 0.0), ("cannot-load", 1.0)]
)
def test_a_smaller_context_is_not_offered_where_it_cannot_help(
    make_program: Callable[..., Program], client: FakeClient, code: str, fraction: float
) -> None:
    program = make_program()
    fail(client, code=code, fraction=fraction)
    assert program.window.chat_pane.errors.action.text() == "Load again"
