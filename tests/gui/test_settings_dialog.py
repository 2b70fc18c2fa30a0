"""The settings dialog: one truth with menu and panel, search, reset with undo, what is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QComboBox, QMessageBox

from paceline.catalog.models import Models
from paceline.gui import motion
from paceline.gui.scale import font_px
from paceline.gui.widgets.settings.controls import ChoiceField
from paceline.messages import LoadPair, StartTurn
from paceline.paths import Paths
from paceline.settings import Settings, load_settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from gui.fake_client import FakeClient
    from paceline.gui.program import Program
    from paceline.gui.widgets.settings.dialog import SettingsDialog

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


def opened(program: Program, *, is_whole: bool = True) -> SettingsDialog:
    """The dialog, with all pages built or only the first one."""
    program.window.actions_.settings.trigger()
    dialog = program.extras.settings.dialog
    assert dialog is not None
    if is_whole:
        for name in ("looks", "models", "privacy", "general"):
            dialog.show_page(name)
    return dialog


def box(dialog: SettingsDialog, words: str) -> QCheckBox:
    (found,) = (b for b in dialog.findChildren(QCheckBox) if words in b.text())
    return found


def choice(dialog: SettingsDialog, name: str) -> ChoiceField:
    (found,) = (c for c in dialog.findChildren(ChoiceField) if c.accessibleName() == name)
    return found


def choose(field: QComboBox, value: str) -> None:
    """As the mouse does."""
    field.setCurrentIndex(field.findData(value))
    field.activated.emit(field.currentIndex())


def test_the_dialog_and_the_menu_show_the_same(program: Program, qtbot: QtBot) -> None:
    dialog = opened(program)
    program.window.actions_.settings.trigger()
    assert program.extras.settings.dialog is dialog
    actions = program.window.actions_
    tokens = box(dialog, "Token colours")
    assert tokens.isChecked() == actions.token_colours.isChecked()
    tokens.click()
    assert actions.token_colours.isChecked() == tokens.isChecked()
    actions.token_colours.trigger()
    assert actions.token_colours.isChecked() == tokens.isChecked()

    pictures = dialog.looks.themes.pictures
    qtbot.mouseClick(pictures["dark"], Qt.MouseButton.LeftButton)
    assert program.themes.mode == "dark"
    assert [a.data() for a in actions.themes.actions() if a.isChecked()] == ["dark"]
    actions.flip_theme.trigger()
    assert pictures["light"].isChecked()

    learns = box(dialog, "Learn across chats")
    learns.click()
    assert program.learning.remembers
    program.window.panel.learning.switch.click()
    assert not learns.isChecked()
    dialog.accept()
    assert program.extras.settings.dialog is None


def test_everything_acts_at_once_and_is_kept(
    program: Program, client: FakeClient, paceline_home: Path
) -> None:
    dialog = opened(program)
    choose(choice(dialog, "A message is sent by"), "ctrl+enter")
    choose(choice(dialog, "Language"), "de")
    choose(choice(dialog, "Movement"), "reduced")
    box(dialog, "Start with the last chat").click()
    box(dialog, "Shorten chats").click()
    dialog.looks.size_field.slider.setValue(16)
    assert motion.reduces()
    program.session.send("Hello?")
    assert client.last(StartTurn).cuts is False
    client.reply("Hi")
    program.save()
    kept = load_settings(paceline_home / "config" / "settings.json").settings
    assert (kept.send_key, kept.language, kept.motion) == ("ctrl+enter", "de", "reduced")
    assert (kept.opens_last_chat, kept.cuts_long_chats, kept.font_px) == (False, False, 16)
    program.appearance.set_motion("full")
    assert not motion.reduces()
    assert choice(dialog, "Movement").currentData() == "full"


def test_a_page_is_reset_and_the_reset_undone(program: Program) -> None:
    dialog = opened(program)
    assert dialog.undo.isHidden()
    choose(choice(dialog, "Language"), "de")
    box(dialog, "Start with the last chat").click()
    box(dialog, "Token colours").click()
    was = program.extras.preferences.token_colours.value
    dialog.reset.click()
    preferences = program.extras.preferences
    assert preferences.language.value == "system"
    assert preferences.opens_last_chat.value
    assert preferences.token_colours.value == was  # another page
    assert dialog.undo.isVisible()
    dialog.undo.click()
    assert preferences.language.value == "de"
    assert not preferences.opens_last_chat.value
    assert dialog.undo.isHidden()


def test_a_page_is_built_when_it_is_wanted(program: Program, qtbot: QtBot) -> None:
    dialog = opened(program, is_whole=False)
    assert [page.is_built for page in dialog.pages] == [True, False, False, False]
    program.session.send("Hello?")
    program.appearance.set_mode("dark")
    dialog.show_page("privacy")
    assert [page.is_built for page in dialog.pages] == [True, False, False, True]
    assert "Wait" in dialog.privacy.forget.toolTip()  # known from before
    chain: list[object] = [dialog.list]
    while (after := chain[-1].nextInFocusChain()) is not dialog.list:  # type: ignore[attr-defined]
        chain.append(after)
    order = [dialog.privacy.places[0].button, dialog.reset, dialog.undo]
    assert [chain.index(w) for w in order] == sorted(chain.index(w) for w in order)
    qtbot.keyClicks(dialog.search, "larger")
    qtbot.waitUntil(lambda: all(page.is_built for page in dialog.pages))
    dialog.search.clear()
    assert len(dialog.findChildren(ChoiceField)) == 5


def test_the_search_shows_rows_of_all_pages(program: Program, qtbot: QtBot) -> None:
    dialog = opened(program, is_whole=False)
    qtbot.keyClicks(dialog.search, "dark")
    qtbot.waitUntil(lambda: all(page.is_built for page in dialog.pages))
    assert dialog.list.currentItem().text() == "Appearance"
    assert dialog.looks.themes.isVisible()
    assert not dialog.looks.size_field.isVisible()
    assert [dialog.list.item(row).isHidden() for row in range(4)] == [True, False, True, True]
    dialog.search.setText("no such words")
    assert dialog.stack.currentWidget() is dialog._nothing
    assert not dialog.reset.isEnabled()
    qtbot.keyClick(dialog.search, Qt.Key.Key_Escape)
    assert not any(dialog.list.item(row).isHidden() for row in range(4))
    assert dialog.looks.size_field.isVisibleTo(dialog.looks)
    assert dialog.reset.isEnabled()


def test_folders_and_the_hub_are_those_of_the_library(
    make_program: Callable[..., Program], paceline_home: Path, tmp_path: Path
) -> None:
    paths = Paths.below(paceline_home)
    program = make_program(Settings(model_folders=("/first",)), models=Models(paths, offline=True))
    dialog = opened(program)
    folders = dialog.models.folders
    assert folders is not None
    assert program.catalogue is not None
    assert [row.name.full_text for row in folders.rows] == ["/first"]
    program.catalogue.library.add_folder(str(tmp_path))
    assert [row.name.full_text for row in folders.rows] == ["/first", str(tmp_path)]
    folders.rows[0].remove.click()
    assert program.catalogue.library.folders == (str(tmp_path),)
    folders.add.click()
    assert folders.folders.dialog is not None
    folders.folders.dialog.fileSelected.emit("/third")
    folders.folders.dialog.reject()
    assert program.settings().model_folders == (str(tmp_path), "/third")
    box(dialog, "Work offline").click()
    assert program.window.actions_.offline.isChecked()


def test_the_engine_moves_and_its_models_are_loaded_again(
    program: Program, client: FakeClient
) -> None:
    dialog = opened(program)
    n_loads = len(client.all(LoadPair))
    field = choice(dialog, "The engine runs in")
    choose(field, "thread")
    assert len(client.all(LoadPair)) == n_loads + 1
    assert not program.window.panel.loading.own_process.isChecked()
    assert program.settings().engine_host == "thread"
    client.finish_load()


def test_kernels_are_chosen_with_the_next_load_which_follows_at_once(
    program: Program, client: FakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    field = choice(opened(program), "CPU kernels")
    assert [field.itemText(i) for i in range(field.count())] == [
        "Automatic",
        "Own",
        "llama.cpp's",
    ]
    assert field.currentData() == "auto"
    # The window never insists: where own kernels cannot be used, a note of the load says so.
    for variable, wish, sent in (
        ("own", "stock", "stock"),
        ("stock", "own", "auto"),
        ("stock", "auto", "stock"),
        ("own", "stock", "stock"),
        ("own", "auto", "auto"),
    ):
        monkeypatch.setenv("PACELINE_KERNELS", variable)
        n_loads = len(client.all(LoadPair))
        choose(field, wish)
        loads = client.all(LoadPair)
        assert len(loads) == n_loads + 1
        assert loads[-1].kernels == sent
        assert program.settings().kernels == wish
        client.finish_load()


def test_what_was_learned_is_forgotten_from_here(program: Program, client: FakeClient) -> None:
    dialog = opened(program)
    program.session.send("Hello?")
    client.start_turn()
    assert not dialog.privacy.forget.isEnabled()
    assert "Wait" in dialog.privacy.forget.toolTip()
    client.finish_turn("Hi")
    assert dialog.privacy.forget.isEnabled()
    dialog.privacy.forget.click()
    question = program.learning.dialog
    assert isinstance(question, QMessageBox)
    assert question.parentWidget() is dialog
    question.reject()


def test_folders_of_the_program_are_opened(
    program: Program, monkeypatch: pytest.MonkeyPatch, paceline_home: Path
) -> None:
    shown: list[Path] = []
    (paceline_home / "data").mkdir(parents=True, exist_ok=True)
    monkeypatch.setattr("paceline.gui.widgets.settings.privacy.open_folder", shown.append)
    dialog = opened(program)
    place = dialog.privacy.places[0]
    place.button.click()  # the stand-in returns None: no file manager
    assert shown == [paceline_home / "data"]
    assert "No file manager" in dialog.privacy._refused.text()


def test_keys_change_the_size_of_the_text(program: Program, qtbot: QtBot) -> None:
    actions = program.window.actions_
    assert not actions.normal_size.isEnabled()
    for _ in range(3):
        actions.larger.trigger()
    qtbot.waitUntil(lambda: font_px() == 17)
    assert program.window.font().pixelSize() == 17
    actions.smaller.trigger()
    qtbot.waitUntil(lambda: font_px() == 16)
    program.appearance.set_font_px(99)
    qtbot.waitUntil(lambda: font_px() == 22)
    assert not actions.larger.isEnabled()
    actions.normal_size.trigger()
    qtbot.waitUntil(lambda: font_px() == 14)
    assert program.settings().font_px == 14
