"""Strategies per pair: the last one comes back by itself, named ones by the menu."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt

from paceline.chat.pair import Pair
from paceline.engine.draft.strategy import strategy_named
from paceline.gui.speculation.draft_settings import MAX_LAST, DraftPresets, key_of
from paceline.gui.state.presets import PresetMenu
from paceline.messages import LoadPair, ModelParams
from paceline.params import DraftModel
from paceline.settings import DraftPreset, Settings, load_settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from PySide6.QtGui import QAction
    from PySide6.QtWidgets import QMenu
    from pytestqt.qtbot import QtBot

    from gui.fake_client import FakeClient
    from paceline.gui.program import Program

pytestmark = [
    pytest.mark.qt_log_ignore("This plugin does not support"),
]

A, B = ("a.gguf", "d.gguf"), ("b.gguf", "")
PAIR_A = Pair(ModelParams("/models/a.gguf"), DraftModel(ModelParams("/models/d.gguf")))
PAIR_B = Pair(ModelParams("/models/b.gguf"))


def test_each_pair_has_its_own() -> None:
    presets = DraftPresets()
    presets.remember("draft")
    presets.save_as("Fast", "draft")
    assert presets.own == ()  # nothing is loaded
    assert key_of(PAIR_A) == A
    assert key_of(PAIR_B) == B
    presets.set_pair(A)
    presets.remember("draft:n_max=4")
    presets.save_as(" Fast ", "draft:n_max=9")
    presets.set_pair(B)
    assert (presets.last, presets.named) == ("", ())
    assert presets.obstacle("fast") == ""  # the name is the other pair's
    presets.remember("suffix")
    presets.set_pair(A)
    assert presets.last == "draft:n_max=4"
    assert presets.named == (DraftPreset("Fast", *A, "draft:n_max=9"),)
    assert "of this name" in presets.obstacle("FAST")
    presets.rename("Fast", "Slow")
    assert [p.name for p in presets.named] == ["Slow"]
    presets.delete("Slow")
    assert presets.named == ()
    assert len(presets.own) == 2


def test_old_pairs_are_forgotten_and_names_are_kept() -> None:
    presets = DraftPresets()
    for number in range(MAX_LAST + 5):
        presets.set_pair((f"{number}.gguf", ""))
        presets.remember("suffix")
        if number < 3:
            presets.save_as("Mine", "suffix")
    assert len(presets.own) == MAX_LAST + 3
    presets.set_pair(("0.gguf", ""))
    assert presets.offered == (DraftPreset("Mine", "0.gguf", "", "suffix"),)
    presets.set_pair((f"{MAX_LAST}.gguf", ""))
    assert presets.last == "suffix"


def load(program: Program, client: FakeClient, pair: Pair) -> None:
    program.loader.load(pair)
    assert client.last(LoadPair).target.path == pair.target.path
    client.finish_load()


def test_the_last_strategy_of_a_pair_comes_back(program: Program, client: FakeClient) -> None:
    speculation = program.speculation
    load(program, client, PAIR_A)
    speculation.use(strategy_named("suffix+draft:draft.n_max=5"))
    load(program, client, PAIR_B)
    speculation.use(strategy_named("suffix:max=12"))
    load(program, client, PAIR_A)
    assert speculation.text == "suffix+draft:draft.n_max=5"
    load(program, client, PAIR_B)
    assert speculation.text == "suffix:max=12"


def test_a_pair_that_is_new_changes_nothing(program: Program, client: FakeClient) -> None:
    program.speculation.use(strategy_named("suffix+draft"))
    load(program, client, PAIR_A)
    assert program.speculation.text == "suffix+draft"
    assert program.draft_presets.presets.last == ""
    program.chat.send("Hello?")
    client.reply("Hi")
    assert program.draft_presets.presets.last == "suffix+draft"


def test_what_is_chosen_while_a_pair_is_loaded_is_meant_for_it(
    program: Program, client: FakeClient
) -> None:
    load(program, client, PAIR_A)
    program.speculation.use(strategy_named("draft:n_max=3"))
    load(program, client, PAIR_B)
    assert program.speculation.text == "suffix"  # since there is no draft model
    program.loader.load(PAIR_A)
    program.speculation.use(strategy_named("off"))
    client.finish_load()
    assert program.speculation.text == "off"
    assert program.draft_presets.presets.last == "off"


def test_a_strategy_without_its_model_is_not_remembered(
    program: Program, client: FakeClient
) -> None:
    load(program, client, PAIR_B)
    assert program.draft_presets.presets.last == ""  # what took its place was not chosen
    program.speculation.use(strategy_named("draft"))
    assert program.draft_presets.presets.last == ""
    program.loader.load(PAIR_B)
    program.speculation.use(strategy_named("draft:n_max=3"))
    client.finish_load()
    assert program.speculation.text == "suffix"


def test_what_there_is_no_more_is_refused_in_words(
    make_program: Callable[..., Program], client: FakeClient
) -> None:
    gone = DraftPreset("", *A, "crystal-ball")
    program = make_program(Settings(draft_presets=(gone,)))
    client.finish_load()
    before = program.speculation.text
    load(program, client, PAIR_A)
    assert program.speculation.text == before
    words = program.window.chat_pane.errors.text.text()
    assert "crystal-ball" in words
    assert "cannot be used here" in words


def action(menu: QMenu, words: str) -> QAction:
    (found,) = (a for a in menu.actions() if a.text() == words)
    return found


def test_named_presets_by_menu_and_after_a_restart(
    make_program: Callable[..., Program], client: FakeClient, paceline_home: Path, qtbot: QtBot
) -> None:
    program = make_program()
    button = program.window.panel.draft_settings.presets
    assert button.isHidden()  # nothing is loaded
    menu = button.menu()
    assert isinstance(menu, PresetMenu)
    client.finish_load()
    load(program, client, PAIR_A)
    assert not button.isHidden()
    program.speculation.use(strategy_named("draft:n_max=5"))
    menu.fill()
    action(menu, "Save as…").trigger()
    dialog = program.draft_presets.dialog
    assert dialog is not None
    qtbot.keyClicks(dialog.field, "Fast & sure")
    qtbot.keyClick(dialog.field, Qt.Key.Key_Return)
    program.speculation.use(strategy_named("off"))
    menu.fill()
    action(menu, "Fast && sure").trigger()
    assert program.speculation.text == "draft:n_max=5"
    menu.fill()
    assert action(menu, "Fast && sure").isChecked()
    rename = action(menu, "Rename").menu()
    assert rename is not None
    rename.actions()[0].trigger()  # type: ignore[attr-defined]  # a QMenu, says the stub QObject
    dialog = program.draft_presets.dialog
    assert dialog is not None
    dialog.field.setText("Sure")
    qtbot.keyClick(dialog.field, Qt.Key.Key_Return)
    program.settings.save()
    kept = load_settings(paceline_home / "config" / "settings.json").settings
    assert DraftPreset("Sure", *A, "draft:n_max=5") in kept.draft_presets
    assert DraftPreset("", *A, "draft:n_max=5") in kept.draft_presets
    assert program.settings.settings == kept
    menu.fill()
    delete = action(menu, "Delete").menu()
    assert delete is not None
    delete.actions()[0].trigger()  # type: ignore[attr-defined]  # a QMenu, says the stub QObject
    assert program.draft_presets.presets.named == ()
