"""The settings dialog: one truth with menu and panel, search, reset with undo, storage."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QComboBox, QLabel

from paceline.catalog.models import Models
from paceline.gui.conversations.rows import ConversationRow
from paceline.gui.kit.labels import without_soft_breaks
from paceline.gui.look.current import look
from paceline.gui.look.scale import COLUMNS, font_px
from paceline.gui.settings.forms import ChoiceField
from paceline.gui.settings.prompt_cache_page import PromptCachePage
from paceline.messages import DropStates, LoadPair, Remember, StartTurn, StateStorage
from paceline.paths import Paths
from paceline.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot

    from gui.fake_client import FakeClient
    from paceline.gui.program import Program
    from paceline.gui.settings.pages import SettingsDialog


def opened(program: Program, *, is_whole: bool = True) -> SettingsDialog:
    """The dialog, with all pages built or only the first one."""
    program.window.actions_.settings.trigger()
    dialog = program.settings_controller.dialog
    assert dialog is not None
    if is_whole:
        for row in (1, 2, 3, 0):
            dialog.list.setCurrentRow(row)
    return dialog


def box(dialog: SettingsDialog, words: str) -> QCheckBox:
    (found,) = (b for b in dialog.findChildren(QCheckBox) if words in b.text())
    return found


def choice(dialog: SettingsDialog, name: str) -> ChoiceField:
    (found,) = (c for c in dialog.findChildren(ChoiceField) if c.accessibleName() == name)
    return found


def choose(field: QComboBox, value: str | int) -> None:
    """Choose a value, with the signal that a click emits."""
    field.setCurrentIndex(field.findData(value))
    field.activated.emit(field.currentIndex())


def test_the_dialog_and_the_menu_show_the_same(program: Program, qtbot: QtBot) -> None:
    dialog = opened(program)
    program.window.actions_.settings.trigger()
    assert program.settings_controller.dialog is dialog
    actions = program.window.actions_
    tokens = box(dialog, "Token colours")
    assert tokens.isChecked() == actions.token_colours.isChecked()
    tokens.click()
    assert actions.token_colours.isChecked() == tokens.isChecked()
    actions.token_colours.trigger()
    assert actions.token_colours.isChecked() == tokens.isChecked()

    pictures = dialog.looks.themes.pictures
    qtbot.mouseClick(pictures["dark"], Qt.MouseButton.LeftButton)
    assert look.mode == "dark"
    assert [a.data() for a in actions.themes.actions() if a.isChecked()] == ["dark"]
    actions.flip_theme.trigger()
    assert pictures["light"].isChecked()

    learns = box(dialog, "Learn across chats")
    assert learns.isChecked()
    learns.click()
    assert not program.settings.settings.learns_from_chats
    program.settings.set("learns_from_chats", value=True)
    assert learns.isChecked()
    dialog.accept()
    assert program.settings_controller.dialog is None


def test_everything_acts_at_once_and_is_kept(
    program: Program, client: FakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialog = opened(program)
    program.chat.send("Hi?")
    client.reply("Hi")
    n_loads = len(client.all(LoadPair))
    choose(choice(dialog, "The engine runs in"), "thread")
    assert len(client.all(LoadPair)) == n_loads + 1, "its models are loaded again"
    client.finish_load()
    choose(choice(dialog, "A message is sent by"), "ctrl+enter")
    choose(choice(dialog, "Language"), "de")
    choose(choice(dialog, "Movement"), "reduced")
    choose(choice(dialog, "Learn from at most"), 8)
    assert [command.texts for command in client.all(Remember)[-2:]] == [(), ("Hi?", "Hi")]
    box(dialog, "Start with the last chat").click()
    box(dialog, "Shorten chats").click()
    rows = ConversationRow(dialog)
    row_px = rows.row_px
    choose(choice(dialog, "Width of a chat"), "narrow")
    choose(choice(dialog, "Density"), "compact")
    assert program.window.chat_pane.composer.maximumWidth() == look.column_px == COLUMNS["narrow"]
    assert rows.row_px < row_px
    dialog.looks.size_field.slider.setValue(16)
    assert look.reduces_motion
    program.chat.send("Hello?")
    assert client.last(StartTurn).prompt.cuts is False
    client.reply("Hi")
    kept = program.settings.settings
    assert (kept.send_key, kept.language, kept.motion) == ("ctrl+enter", "de", "reduced")
    assert (kept.opens_last_chat, kept.cuts_long_chats, kept.font_px) == (False, False, 16)
    assert (kept.learned_mb, kept.engine_host) == (8, "thread")
    program.settings.set("motion", "full")
    assert not look.reduces_motion
    assert choice(dialog, "Movement").currentData() == "full"
    shown: list[Path] = []
    monkeypatch.setattr("paceline.gui.settings.pages.open_folder", shown.append)
    place = dialog.privacy.places[0]
    place.button.click()  # the stand-in returns None: no file manager
    assert [folder.name for folder in shown] == ["data"]
    labels = [label for label in dialog.privacy.findChildren(QLabel) if not label.isHidden()]
    assert any(str(shown[0]) in without_soft_breaks(label.text()) for label in labels)


def test_the_search_shows_rows_of_all_pages_which_are_built_when_they_are_wanted(
    program: Program, qtbot: QtBot, appeared: list[str]
) -> None:
    dialog = opened(program, is_whole=False)
    assert [page.is_built for page in dialog.pages] == [True] + [False] * 6
    dialog.list.setCurrentRow(3)
    assert [page.is_built for page in dialog.pages] == [True, False, False, True] + [False] * 3
    chain: list[object] = [dialog.list]
    while (after := chain[-1].nextInFocusChain()) is not dialog.list:  # type: ignore[attr-defined]
        chain.append(after)
    order = [dialog.privacy.places[0].button, dialog.reset, dialog.undo]
    assert [chain.index(w) for w in order] == sorted(chain.index(w) for w in order)
    dialog.list.setCurrentRow(0)
    qtbot.keyClicks(dialog.search, "dark")
    qtbot.waitUntil(lambda: all(page.is_built for page in dialog.pages))
    assert appeared == ["SettingsDialog"], "no part of a page was a window before"
    assert dialog.list.currentRow() == 1
    assert dialog.looks.themes.isVisible()
    assert not dialog.looks.size_field.isVisible()
    hidden = [dialog.list.item(row).isHidden() for row in range(5)]
    assert hidden == [True, False, True, True, True]
    dialog.search.setText("no such words")
    assert dialog.stack.currentWidget() not in dialog.pages
    assert not dialog.reset.isEnabled()
    qtbot.keyClick(dialog.search, Qt.Key.Key_Escape)
    assert not any(dialog.list.item(row).isHidden() for row in range(5))
    assert dialog.looks.size_field.isVisibleTo(dialog.looks)
    assert dialog.reset.isEnabled()
    assert len(dialog.findChildren(ChoiceField)) == 10


def test_a_page_is_reset_and_the_reset_undone(program: Program) -> None:
    dialog = opened(program)
    assert dialog.undo.isHidden()
    choose(choice(dialog, "Language"), "de")
    box(dialog, "Start with the last chat").click()
    box(dialog, "Token colours").click()
    was = program.settings.value("token_colours")
    dialog.reset.click()
    assert program.settings.value("language") == "system"
    assert program.settings.value("opens_last_chat")
    assert program.settings.value("token_colours") == was  # another page
    assert dialog.undo.isVisible()
    dialog.undo.click()
    assert program.settings.value("language") == "de"
    assert not program.settings.value("opens_last_chat")
    assert dialog.undo.isHidden()


def test_folders_the_hub_and_plans_of_memory_follow_the_settings(
    make_program: Callable[..., Program], client: FakeClient, paceline_home: Path, tmp_path: Path
) -> None:
    paths = Paths.below(paceline_home)
    program = make_program(Settings(model_folders=("/first",)), models=Models(paths, offline=True))
    client.finish_load()
    planner = program.devices.planner
    assert planner is not None
    assert planner.states is not None
    assert planner.states == client.last(LoadPair).states
    program.settings.set("states_memory_mb", 500)
    assert planner.states.memory_bytes == 500_000_000
    program.settings.set("keeps_states", value=False)
    assert planner.states is None
    client.finish_load()
    dialog = opened(program)
    folders = dialog.models.folders
    assert folders is not None
    assert [row.name.text() for row in folders.rows] == ["/first"]
    program.settings.setting("model_folders").add(str(tmp_path))
    assert [row.name.text() for row in folders.rows] == ["/first", str(tmp_path)]
    folders.rows[0].remove.click()
    assert program.settings.value("model_folders") == (str(tmp_path),)
    folders.add.click()
    assert folders.folders.dialog is not None
    folders.folders.dialog.filesSelected.emit(["/third"])
    folders.folders.dialog.reject()
    assert program.settings.settings.model_folders == (str(tmp_path), "/third")
    box(dialog, "Work offline").click()
    assert program.window.actions_.offline.isChecked()


def test_what_is_kept_of_prompts_is_deleted_when_that_is_switched_off_and_confirmed(
    program: Program, client: FakeClient
) -> None:
    page = cache_page(program)
    keep, setting = page.keep, program.settings.setting("keeps_states")
    n_loads, storage = len(client.all(LoadPair)), client.last(LoadPair).states
    assert storage is not None
    assert storage == StateStorage(-1, storage.folder, -1)
    keep.box.click()
    assert keep.box.isChecked(), "nothing is deleted before that is confirmed"
    assert keep.question.isVisibleTo(keep)
    keep.stay.click()
    assert not keep.question.isVisibleTo(keep)
    assert setting.value
    assert not client.all(DropStates)
    keep.box.click()
    keep.delete.click()
    assert not keep.box.isChecked()
    assert not keep.question.isVisibleTo(keep)
    assert client.last(DropStates).owners == ()
    loads = client.all(LoadPair)
    assert (len(loads), loads[-1].states) == (n_loads + 1, None)
    assert client.commands.index(client.last(DropStates)) < client.commands.index(loads[-1])
    client.finish_load()
    keep.box.click()
    assert setting.value, "nothing is lost by that, so it is not asked for"
    assert len(client.all(LoadPair)) == n_loads + 2
    client.finish_load()
    disk, memory = page.findChildren(ChoiceField)
    choose(disk, 8_000)
    choose(memory, 500)
    assert len(client.all(LoadPair)) == n_loads + 2, "limits go with the next load"
    program.models.load_again()
    wanted = StateStorage(500_000_000, storage.folder, 8_000_000_000)
    assert client.last(LoadPair).states == wanted
    client.finish_load()


def cache_page(program: Program) -> PromptCachePage:
    program.window.actions_.settings.trigger()
    program.settings_controller.open_page(PromptCachePage)
    dialog = program.settings_controller.dialog
    assert dialog is not None
    page = dialog.pages[dialog.list.currentRow()]
    assert isinstance(page, PromptCachePage)
    return page


def test_what_is_on_disk_is_shown_and_forgotten_at_once(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    storage = client.last(LoadPair).states
    assert storage is not None
    file = Path(storage.folder) / "model" / "chat" / "block"
    file.parent.mkdir(parents=True)
    file.write_bytes(bytes(3_000_000))
    kept = cache_page(program).kept
    qtbot.waitUntil(lambda: "3 MB" in kept.amount.text())
    file.unlink()
    kept.forget.click()
    assert client.last(DropStates) == DropStates((), storage.folder)
    qtbot.waitUntil(lambda: "MB" not in kept.amount.text())
    assert program.settings.value("keeps_states")


def test_kernels_are_chosen_with_the_next_load_which_follows_at_once(
    program: Program, client: FakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    field = choice(opened(program), "CPU kernels")
    assert (field.count(), field.currentData()) == (3, "auto")
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
        assert program.settings.settings.kernels == wish
        client.finish_load()


def test_keys_change_the_size_of_the_text(program: Program, qtbot: QtBot) -> None:
    actions = program.window.actions_
    assert not actions.normal_size.isEnabled()
    for _ in range(3):
        actions.larger.trigger()
    qtbot.waitUntil(lambda: font_px() == 17)
    assert program.window.font().pixelSize() == 17
    actions.smaller.trigger()
    qtbot.waitUntil(lambda: font_px() == 16)
    for _ in range(9):
        actions.larger.trigger()
    qtbot.waitUntil(lambda: font_px() == 22)
    assert not actions.larger.isEnabled()
    dialog = opened(program, is_whole=False)
    assert dialog.height() < dialog.screen().availableSize().height()  # Close can be reached
    dialog.close()
    actions.normal_size.trigger()
    qtbot.waitUntil(lambda: font_px() == 14)
    assert program.settings.settings.font_px == 14
