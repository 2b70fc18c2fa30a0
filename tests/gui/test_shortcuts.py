"""Keys: none is given twice, every one is listed, and the list can be searched."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QApplication, QLabel

from paceline.gui.help.palette import actions_of, plain_text
from paceline.gui.help.shortcuts import shortcuts_of

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from paceline.gui.program import Program


def window_actions(program: Program) -> list[QAction]:
    scopes = (Qt.ShortcutContext.WindowShortcut, Qt.ShortcutContext.ApplicationShortcut)
    return [
        action
        for action in program.window.findChildren(QAction)
        if action.shortcuts() and action.shortcutContext() in scopes and action.text()
    ]


def test_the_list_is_searched_by_name_and_key(program: Program, qtbot: QtBot) -> None:
    program.window.actions_.shortcuts.trigger()
    dialog = program.help.shortcuts.dialog
    assert dialog is not None

    def shown() -> list[str]:
        rows = [row.widget for row in dialog.rows if row.widget.isVisible()]
        return [row.findChildren(QLabel)[0].text() for row in rows]

    assert {"New chat", "Settings", "Stop the reply", "Begin a new line"} <= set(shown())
    for words, found in (
        ("ctrl+k", ["Find a command"]), ("reload", ["Reload models"]), ("no such thing", []),
    ):  # fmt: skip
        dialog.search.clear()
        qtbot.keyClicks(dialog.search, words)
        assert shown() == found
    dialog.accept()
    assert program.help.shortcuts.dialog is None


def test_every_key_is_listed(program: Program) -> None:
    listed = {
        (shortcut.title, keys)
        for shortcut in shortcuts_of(program.window.menus, program.window)
        for keys in shortcut.keys
    }
    native = QKeySequence.SequenceFormat.NativeText
    for action in program.window.findChildren(QAction):
        if action.isVisible() and action.text():
            for keys in action.shortcuts():
                assert (plain_text(action).rstrip("…"), keys.toString(native)) in listed


def test_no_two_entries_of_a_menu_have_the_same_letter(program: Program) -> None:
    menus = [action.menu() for action in program.window.menus.actions()]
    for menu in menus:
        letters = Counter(
            action.text().replace("&&", "").partition("&")[2][:1].casefold()
            for action in menu.actions()
            if action.isVisible() and "&" in action.text().replace("&&", "")
        )
        assert [c for c, times in letters.items() if times > 1] == [], menu.title()


def test_the_message_field_does_not_swallow_the_window_s_keys(program: Program) -> None:
    edit = program.window.chat_pane.composer.edit
    for key in (Qt.Key.Key_K, Qt.Key.Key_Comma, Qt.Key.Key_Plus):
        event = QKeyEvent(QEvent.Type.ShortcutOverride, key, Qt.KeyboardModifier.ControlModifier)
        event.ignore()
        QApplication.sendEvent(edit, event)
        assert not event.isAccepted()


def test_no_key_means_two_things_and_each_stands_in_a_menu(program: Program) -> None:
    actions = window_actions(program)
    keys = Counter(keys.toString() for action in actions for keys in action.shortcuts())
    assert len(keys) > 20
    assert [key for key, times in keys.items() if times > 1] == []
    in_menus = {action for _, action in actions_of(program.window.menus)}
    assert [a.text() for a in actions if a.isVisible() and a not in in_menus] == []
