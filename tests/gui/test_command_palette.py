"""The palette in the real window: finding, running, leaving; and many chats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication

from paceline.gui.help.palette import PaletteSheet

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot

    from gui.fake_client import FakeClient
    from paceline.gui.program import Program


def titles(sheet: PaletteSheet) -> list[str]:
    return [str(sheet.model.index(row, 0).data()) for row in range(sheet.model.rowCount())]


def opened(program: Program) -> PaletteSheet:
    program.window.actions_.palette.trigger()
    sheet = program.help.palette
    assert sheet.isVisible()
    return sheet


def test_commands_are_found_and_run_by_key(program: Program, qtbot: QtBot) -> None:
    actions = program.window.actions_
    sheet = opened(program)
    for name in ("New chat", "Settings", "Dark", "Use Draft model", "Work offline"):
        assert (name in titles(sheet)) == (name != "Work offline"), name  # hidden: no library here
    assert "Find a command" not in titles(sheet)
    n_rows = sheet.model.rowCount()
    for key, row in (
        (Qt.Key.Key_Down, 1),
        (Qt.Key.Key_Up, 0),
        (Qt.Key.Key_Up, n_rows - 1),
        (Qt.Key.Key_Down, 0),
        (Qt.Key.Key_PageDown, 10),
        (Qt.Key.Key_PageUp, 0),
    ):
        qtbot.keyClick(sheet.field, key)
        assert sheet.list.currentIndex().row() == row, key
    before = actions.token_colours.isChecked()
    qtbot.keyClicks(sheet.field, "tokcol")
    assert titles(sheet)[0] == "Token colours"
    qtbot.keyClick(sheet.field, Qt.Key.Key_Return)
    assert actions.token_colours.isChecked() != before
    assert sheet.isHidden()
    sheet = opened(program)
    assert titles(sheet)[0] == "Token colours"  # used last
    sheet.field.setText("theme")
    assert titles(sheet)[0] == "Switch the theme, light or dark"


def test_what_was_used_last_is_kept_but_no_chat_is(
    make_program: Callable[..., Program], client: FakeClient, qtbot: QtBot
) -> None:
    program = make_program()  # the palette remembers what earlier tests have used
    client.finish_load()
    program.chat.send("A secret of mine")
    client.reply("Hm.")
    program.shown.new()
    for words in ("token colours", "secret of mine"):
        sheet = opened(program)
        qtbot.keyClicks(sheet.field, words)
        qtbot.keyClick(sheet.field, Qt.Key.Key_Return)
    assert titles(opened(program))[:2] == ["A secret of mine", "Token colours"]
    kept = program.settings.value("recent_commands")
    assert [title for _, title in kept] == ["Token colours"]


def test_the_keyboard_comes_back_and_esc_is_the_sheet_s(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    program.chat.send("Hello?")
    client.start_turn()
    edit = program.window.chat_pane.composer.edit
    edit.setFocus()
    sheet = opened(program)
    assert QApplication.focusWidget() is sheet.field
    for key in (Qt.Key.Key_Escape, Qt.Key.Key_Down):
        override = QKeyEvent(QEvent.Type.ShortcutOverride, key, Qt.KeyboardModifier.NoModifier)
        override.ignore()
        QApplication.sendEvent(sheet.field, override)
        assert override.isAccepted()
    qtbot.keyClick(sheet.field, Qt.Key.Key_Escape)
    assert sheet.isHidden()
    assert client.cancelled == []
    assert QApplication.focusWidget() is edit
    sheet = opened(program)
    qtbot.keyClick(sheet.field, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    assert sheet.isHidden()
    sheet = opened(program)
    program.window.sidebar.list.setFocus()
    assert sheet.isHidden()
    client.finish_turn("Hi")


def test_what_cannot_be_done_says_why_and_is_not_done(program: Program, qtbot: QtBot) -> None:
    sheet = opened(program)
    sheet.field.setText("stop the reply")
    index = sheet.model.index(0, 0)
    assert index.data() == "Stop the reply"
    assert "No reply is being written." in str(index.data(Qt.ItemDataRole.AccessibleTextRole))
    qtbot.keyClick(sheet.field, Qt.Key.Key_Return)
    assert sheet.isVisible()
    sheet.field.setText("zzzzzz")
    assert titles(sheet) == []
    assert sheet.nothing.isVisible()
    qtbot.keyClick(sheet.field, Qt.Key.Key_Return)
    qtbot.keyClick(sheet.field, Qt.Key.Key_Down)
    assert sheet.isVisible()


def test_an_open_palette_follows_what_can_be_done(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    def obstacle(title: str) -> str | None:
        return next(row.command.obstacle for row in sheet.model.rows if row.command.title == title)

    program.chat.send("Hello?")
    client.start_turn()
    sheet = opened(program)
    sheet.field.setText("the reply")
    while sheet.list.currentIndex().data() != "Regenerate the reply":
        qtbot.keyClick(sheet.field, Qt.Key.Key_Down)
    assert obstacle("Stop the reply") is None
    assert obstacle("Regenerate the reply") == "A reply is being written."
    client.finish_turn("Hi")
    qtbot.waitUntil(lambda: obstacle("Regenerate the reply") is None)
    assert obstacle("Stop the reply") == "No reply is being written."
    assert sheet.list.currentIndex().data() == "Regenerate the reply"
    qtbot.keyClick(sheet.field, Qt.Key.Key_Return)
    assert sheet.isHidden()
    client.reply("Hi again")


def test_of_chats_with_one_title_the_current_one_stays(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    chats = []
    for _ in range(3):
        program.window.actions_.new_chat.trigger()
        program.chat.send("Hello?")
        client.reply("Hi")
        chats.append(program.shown.id)
    program.window.actions_.new_chat.trigger()
    program.chat.send("Another")
    client.start_turn()
    sheet = opened(program)
    sheet.field.setText("hello")
    assert titles(sheet)[:3] == ["Hello?"] * 3, "the newest first"
    qtbot.keyClick(sheet.field, Qt.Key.Key_Down)
    with qtbot.waitSignal(sheet.model.modelReset):
        client.finish_turn("Hi")
    qtbot.keyClick(sheet.field, Qt.Key.Key_Return)
    assert program.shown.id == chats[1]


def test_an_open_palette_follows_what_is_loaded(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    client.finish_load()
    program.window.actions_.no_draft.trigger()
    sheet = opened(program)
    sheet.field.setText("use draft model")
    command = sheet.model.rows[0].command
    assert (command.title, command.obstacle) == ("Use Draft model", None)
    client.finish_load()
    qtbot.waitUntil(lambda: bool(sheet.model.rows[0].command.obstacle))


def test_chats_strategies_and_pairs_are_found(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    for text in ("Apples and pears", "Ships"):
        program.window.actions_.new_chat.trigger()
        program.chat.send(text)
        client.reply("Hi")
    sheet = opened(program)
    qtbot.keyClicks(sheet.field, "apples")
    assert titles(sheet)[0] == "Apples and pears"
    qtbot.keyClick(sheet.field, Qt.Key.Key_Return)
    assert program.shown.conversation.title == "Apples and pears"
    sheet = opened(program)
    qtbot.keyClicks(sheet.field, "use suffix match")
    qtbot.keyClick(sheet.field, Qt.Key.Key_Return)
    assert program.speculation.current.name == "suffix"
    sheet = opened(program)
    sheet.field.setText("paceline demo target draft")
    assert titles(sheet)[0] == "paceline-demo-target-q8_0 + paceline-demo-draft-q8_0"
