"""The list of chats and the menu that acts on the chat that is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt

from paceline.gui.viewmodels.conversations import ID_ROLE

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from gui.fake_client import FakeClient
    from paceline.gui.program import Program


@pytest.fixture
def two_chats(program: Program, client: FakeClient) -> Program:
    for text, answer in (("Apples", "They are green"), ("Pears", "They are yellow")):
        program.window.actions_.new_chat.trigger()
        program.session.send(text)
        client.reply(answer)
    return program


def selected(program: Program) -> str:
    return str(program.window.sidebar.list.currentIndex().data(ID_ROLE) or "")


def shown(program: Program) -> str:
    return program.session.current.conversation_id


def test_a_chat_deleted_by_menu_can_be_brought_back_though_the_list_was_hidden(
    two_chats: Program, qtbot: QtBot
) -> None:
    window = two_chats.window
    window.actions_.sidebar.trigger()
    assert not window.panes.is_shown("sidebar")
    window.actions_.delete.trigger()
    assert [c.title for c in two_chats.session.conversations.values()] == ["Apples"]
    assert window.sidebar.undo_button.isVisible()
    qtbot.mouseClick(window.sidebar.undo_button, Qt.MouseButton.LeftButton)
    assert two_chats.session.current.title == "Pears"


def test_the_menu_acts_on_the_chat_that_is_shown(two_chats: Program) -> None:
    chats, current = two_chats.window.sidebar.list, shown(two_chats)
    other = 1 - chats.currentIndex().row()
    chats.setCurrentIndex(chats.model().index(other, 0))
    two_chats.window.actions_.delete.trigger()
    assert current not in two_chats.session.conversations
    assert len(two_chats.session.conversations) == 1


def test_the_menu_does_nothing_to_an_empty_chat(two_chats: Program) -> None:
    window = two_chats.window
    window.actions_.sidebar.trigger()
    window.actions_.new_chat.trigger()
    window.actions_.delete.trigger()
    window.actions_.rename.trigger()
    assert len(two_chats.session.conversations) == 2
    assert not window.panes.is_shown("sidebar")


def test_a_chat_that_the_search_hides_can_be_renamed_by_menu(two_chats: Program) -> None:
    sidebar = two_chats.window.sidebar
    sidebar.search.setText("apples")
    two_chats.window.actions_.rename.trigger()
    assert sidebar.search.text() == ""
    assert selected(two_chats) == shown(two_chats)
    assert sidebar.list.state() == sidebar.list.State.EditingState


def test_the_shown_chat_is_marked_again_when_the_search_lets_it(two_chats: Program) -> None:
    search = two_chats.window.sidebar.search
    search.setText("apples")
    assert selected(two_chats) == ""
    search.clear()
    assert selected(two_chats) == shown(two_chats)


def test_a_new_chat_clears_the_search(two_chats: Program, client: FakeClient) -> None:
    two_chats.window.sidebar.search.setText("apples")
    two_chats.window.actions_.new_chat.trigger()
    two_chats.session.send("Plums")
    client.reply("Blue")
    assert two_chats.window.sidebar.search.text() == ""
    assert selected(two_chats) == shown(two_chats)


def test_escape_clears_the_search_before_it_stops_a_reply(
    two_chats: Program, client: FakeClient, qtbot: QtBot
) -> None:
    search = two_chats.window.sidebar.search
    two_chats.session.send("More?")
    client.start_turn()
    search.setFocus()
    search.setText("apples")
    qtbot.keyClick(search, Qt.Key.Key_Escape)
    assert search.text() == ""
    assert client.cancelled == []
    qtbot.keyClick(search, Qt.Key.Key_Escape)
    assert len(client.cancelled) == 1
