"""Many chats: one answers while another is written, and all are named, found, kept and deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLineEdit

from gui.stories.person import CONTROL, SHIFT, Person
from paceline.gui.conversations.found_list import FoundView
from paceline.messages import Remember, StartTurn

if TYPE_CHECKING:
    from gui.fake_client import FakeClient


def ask(person: Person, client: FakeClient, question: str, answer: str) -> None:
    """Ask in a new chat."""
    person.press(Qt.Key.Key_N, CONTROL)
    person.write(question)
    client.reply(answer)


def test_a_reply_continues_in_another_chat(person: Person, client: FakeClient) -> None:
    person.write("Long question")
    client.start_turn()
    client.step("Ha", 0)
    person.press(Qt.Key.Key_N, CONTROL)
    assert person.replies == []
    assert ("Long question", "now · writing…") in person.rows
    person.write("Next")
    composer = person.program.window.chat_pane.composer
    assert (composer.text, len(client.all(StartTurn))) == ("Next", 1), "one after the other"
    assert person.sees("“Long question”", composer.elsewhere)
    composer.elsewhere.button.click()
    client.step("lf", 1)
    person.wait(lambda: person.replies == ["Half"])
    assert composer.elsewhere.isHidden()
    client.finish_turn("Half")
    assert ("Long question", "now") in person.rows
    person.press(Qt.Key.Key_N, CONTROL)
    assert composer.text == "Next", "what was written is there still"
    person.press(Qt.Key.Key_Return)
    assert client.last(StartTurn).prompt.messages[-1].text == "Next"
    client.reply("Done")
    assert person.chats == ["Next", "Long question"]


def test_a_chat_is_opened_renamed_pinned_deleted_and_brought_back(
    person: Person, client: FakeClient
) -> None:
    ask(person, client, "First", "One")
    ask(person, client, "Second", "Two")
    person.choose_chat("First")
    assert person.replies == ["One"]
    person.press(Qt.Key.Key_F2)
    field = QApplication.focusWidget()
    assert isinstance(field, QLineEdit)
    field.selectAll()
    field.insert("Renamed")
    person.press(Qt.Key.Key_Return)
    person.wait(lambda: set(person.chats) == {"Renamed", "Second"})
    person.program.window.actions_.pin.trigger()
    assert person.chats == ["Renamed", "Second"], "what is pinned comes first"
    person.program.window.actions_.delete.trigger()
    assert person.chats == ["Second"]
    assert person.replies == []
    person.press(Qt.Key.Key_Z, CONTROL)
    person.wait(lambda: person.chats == ["Renamed", "Second"])
    assert person.replies == ["One"]


def test_a_chat_is_found_by_a_word_of_its_reply(person: Person, client: FakeClient) -> None:
    ask(person, client, "Apples", "They are GREEN")
    ask(person, client, "Pears", "They are yellow")
    sidebar = person.program.window.sidebar
    person.press(Qt.Key.Key_F, CONTROL | SHIFT)
    person.wait(sidebar.search.hasFocus)
    sidebar.search.insert("green")
    found = sidebar.findChild(FoundView)
    assert isinstance(found, FoundView)
    person.wait(found.isVisible)
    person.press(Qt.Key.Key_Down)
    person.press(Qt.Key.Key_End)
    person.press(Qt.Key.Key_Return)
    person.wait(lambda: person.replies == ["They are GREEN"])
    sidebar.search.clear()
    sidebar.search.insert("nothing like it")
    person.wait(lambda: person.sees("“nothing like it”"))
    person.click("Show all chats")
    assert set(person.chats) == {"Apples", "Pears"}


def test_nothing_of_a_private_chat_is_remembered(person: Person, client: FakeClient) -> None:
    ask(person, client, "An open question", "An answer")
    (remembered,) = {command.chat for command in client.all(Remember)}
    person.program.window.actions_.new_private.trigger()
    assert person.sees("A private chat")
    person.write("A secret")
    client.reply("It is safe.")
    assert person.chats == ["A secret", "An open question"]
    assert {command.chat for command in client.all(Remember)} == {remembered}
    person.press(Qt.Key.Key_N, CONTROL)
    assert person.sees("Welcome")
