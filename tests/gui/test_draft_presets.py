"""Strategies per pair: the last one comes back by itself, named ones by the menu."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu

from paceline.chat.pair import Pair
from paceline.engine.draft.strategy import strategy_named
from paceline.gui.speculation.draft_settings import MAX_LAST, DraftPresets, key_of
from paceline.gui.state.presets import PresetMenu
from paceline.messages import LoadPair, ModelParams
from paceline.params import DraftModel
from paceline.settings import DraftPreset

if TYPE_CHECKING:
    from PySide6.QtGui import QAction
    from pytestqt.qtbot import QtBot

    from gui.fake_client import FakeClient
    from paceline.gui.program import Program


A, B = ("a.gguf", "d.gguf"), ("b.gguf", "")
PAIR_A = Pair(ModelParams("/models/a.gguf"), DraftModel(ModelParams("/models/d.gguf")))
PAIR_B = Pair(ModelParams("/models/b.gguf"))


def test_each_pair_has_its_own_names_and_the_last_strategy() -> None:
    presets = DraftPresets()
    presets.remember("draft")
    presets.save_as("Fast", "draft")
    assert presets.own == ()  # nothing is loaded
    assert (key_of(PAIR_A), key_of(PAIR_B)) == (A, B)
    presets.set_pair(A)
    presets.remember("draft:n_max=4")
    presets.save_as(" Fast ", "draft:n_max=9")
    presets.set_pair(B)
    assert (presets.last, presets.named) == ("", ())
    assert presets.obstacle("fast") == ""  # the name is the other pair's
    for number in range(MAX_LAST):
        presets.set_pair((f"{number}.gguf", ""))
        presets.remember("suffix")
    presets.set_pair(A)
    assert presets.last == "", "pairs that were not used for long are forgotten, names are kept"
    assert presets.named == (DraftPreset("Fast", *A, "draft:n_max=9"),)
    assert "of this name" in presets.obstacle("FAST")
    presets.rename("Fast", "Slow")
    assert [p.name for p in presets.named] == ["Slow"]
    presets.delete("Slow")
    assert presets.named == ()


def load(program: Program, client: FakeClient, pair: Pair) -> None:
    program.loader.load(pair)
    assert client.last(LoadPair).target.path == pair.target.path
    client.finish_load()


def test_the_last_strategy_of_a_pair_comes_back(program: Program, client: FakeClient) -> None:
    speculation, presets = program.speculation, program.draft_presets.presets
    speculation.use(strategy_named("suffix+draft"))
    load(program, client, PAIR_A)
    assert (speculation.text, presets.last) == ("suffix+draft", ""), "a new pair changes nothing"
    speculation.use(strategy_named("suffix+draft:draft.n_max=5"))
    load(program, client, PAIR_B)
    assert presets.last == "", "what took its place without a draft model was not chosen"
    speculation.use(strategy_named("suffix:max=12"))
    speculation.use(strategy_named("draft"))
    assert presets.last == "suffix:max=12", "without its model it is not remembered"
    load(program, client, PAIR_A)
    assert speculation.text == "suffix+draft:draft.n_max=5"
    load(program, client, PAIR_B)
    assert speculation.text == "suffix:max=12"
    program.loader.load(PAIR_A)
    speculation.use(strategy_named("off"))  # meant for the pair that is loaded
    client.finish_load()
    assert speculation.text == presets.last == "off"


def test_what_there_is_no_more_is_refused_in_words(program: Program, client: FakeClient) -> None:
    program.draft_presets.presets.set_own((DraftPreset("", *A, "crystal-ball"),))
    before = program.speculation.text
    load(program, client, PAIR_A)
    assert program.speculation.text == before
    words = program.window.chat_pane.errors.text.text()
    assert "crystal-ball" in words
    assert "cannot be used here" in words


def action(menu: QMenu, words: str) -> QAction:
    (found,) = (a for a in menu.actions() if a.text() == words)
    return found


def test_named_presets_by_menu(program: Program, client: FakeClient, qtbot: QtBot) -> None:
    button = program.window.panel.draft_settings.presets
    menu = button.menu()
    assert isinstance(menu, PresetMenu)
    load(program, client, PAIR_A)
    assert not button.isHidden()

    def name_it(text: str) -> None:
        dialog = program.draft_presets.dialog
        assert dialog is not None
        dialog.field.setText(text)
        qtbot.keyClick(dialog.field, Qt.Key.Key_Return)

    def chosen_in(name: str) -> QAction:
        within = action(menu, name).menu()
        assert isinstance(within, QMenu)
        return within.actions()[0]

    program.speculation.use(strategy_named("draft:n_max=5"))
    menu.fill()
    action(menu, "Save as…").trigger()
    name_it("Fast & sure")
    program.speculation.use(strategy_named("off"))
    menu.fill()
    action(menu, "Fast && sure").trigger()
    assert program.speculation.text == "draft:n_max=5"
    menu.fill()
    assert action(menu, "Fast && sure").isChecked()
    chosen_in("Rename").trigger()
    name_it("Sure")
    kept = program.settings.settings.draft_presets
    assert DraftPreset("Sure", *A, "draft:n_max=5") in kept
    assert DraftPreset("", *A, "draft:n_max=5") in kept
    menu.fill()
    chosen_in("Delete").trigger()
    assert program.draft_presets.presets.named == ()
