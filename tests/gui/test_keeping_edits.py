"""Edits that keep what need not change: the switch, the keys, and later turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox

from gui.fake_client import FakeClient
from paceline.gui.chat.messages.message_item import MessageEdit
from paceline.messages import StartTurn

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from paceline.gui.program import Program

CTRL_ALT = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier


def talk(program: Program, client: FakeClient, *questions: str) -> None:
    client.finish_load()
    for question in questions:
        program.chat.send(question)
        client.reply(f"{question[:-1]}.")


def editor(program: Program) -> MessageEdit:
    return program.window.chat_pane.chat.findChildren(MessageEdit)[-1]


def test_an_edit_by_keyboard_keeps_the_seed_and_the_switch_says_so(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    talk(program, client, "One?")
    write = program.window.chat_pane.composer.edit
    qtbot.keyClick(write, Qt.Key.Key_Up)
    (box,) = editor(program).findChildren(QCheckBox)
    assert box.isChecked()
    qtbot.keyClicks(editor(program).field, " Two?")
    qtbot.keyClick(editor(program).field, Qt.Key.Key_Return)
    assert client.last(StartTurn).seed == 7
    client.reply("Two.")
    qtbot.keyClick(write, Qt.Key.Key_Up)
    (box,) = editor(program).findChildren(QCheckBox)
    qtbot.keyClick(editor(program).field, Qt.Key.Key_Tab)
    box.setFocus()
    qtbot.keyClick(box, Qt.Key.Key_Space)
    assert program.settings.value("keeps_on_edit") is False
    qtbot.keyClick(editor(program).field, Qt.Key.Key_Return)
    assert client.last(StartTurn).seed is None


def test_a_reply_is_made_again_with_its_seed_by_key(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    renew = program.window.actions_.renew
    assert not renew.isEnabled()
    talk(program, client, "One?")
    assert renew.isEnabled()
    qtbot.keyClick(program.window, Qt.Key.Key_R, CTRL_ALT)
    assert client.last(StartTurn).seed == 7
    assert [reply.text for reply in client.last(StartTurn).earlier] == ["One."]


def test_later_turns_are_offered_by_bar_and_key_with_progress_and_stop(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    talk(program, client, "One?", "Two?", "Three?")
    bar, later = program.window.chat_pane.errors, program.window.actions_.later_turns
    assert not later.isEnabled()
    first = program.shown.conversation.path()[0].message_id
    program.chat.edit(first, "Won?")
    assert not later.isEnabled()
    client.reply("Won.")
    assert later.isEnabled()
    assert "2" in bar.text.text()
    bar.action.click()
    assert "1 of 2" in bar.text.text()
    client.reply("New two.")
    assert "2 of 2" in bar.text.text()
    client.start_turn()
    client.step("New", 0)
    bar.action.click()
    assert len(client.cancelled) == 1
    client.finish_turn("New three.")
    assert bar.isHidden()
    texts = [message.text for message in program.shown.conversation.path()]
    assert texts == ["Won?", "Won.", "Two?", "New two.", "Three?", "New three."]
    assert not later.isEnabled()
    program.chat.edit(program.shown.conversation.path()[0].message_id, "Own?")
    client.reply("Own.")
    qtbot.keyClick(program.window, Qt.Key.Key_U, CTRL_ALT)
    assert client.last(StartTurn).prompt.messages[-1].text == "Two?"
