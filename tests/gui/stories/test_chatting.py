"""A chat from the first question on: stop, continue, edit, regenerate, attach, find."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from gui.stories.person import CONTROL, Person
from paceline.messages import StartTurn

if TYPE_CHECKING:
    from pathlib import Path

    from gui.fake_client import FakeClient


def test_a_question_is_asked_stopped_and_its_reply_continues(
    person: Person, client: FakeClient
) -> None:
    person.write("What is a list?")
    assert client.last(StartTurn).prompt.messages[-1].text == "What is a list?"
    assert person.sees("Stop")
    client.start_turn()
    client.step("A **seq", 0)
    person.press(Qt.Key.Key_Escape)
    assert client.cancelled == [client.last(StartTurn)]
    client.finish_turn("A **seq")
    assert person.replies == ["A **seq"]
    assert not person.program.window.actions_.stop.isEnabled()
    person.program.window.actions_.continue_reply.trigger()
    client.start_turn()
    client.step("uence**.", 0)
    client.finish_turn("A **sequence**.")
    person.wait(lambda: person.replies == ["A sequence."])
    person.program.window.actions_.copy_reply.trigger()
    assert QGuiApplication.clipboard().text() == "A **sequence**."
    person.press(Qt.Key.Key_Escape)
    assert len(client.cancelled) == 1, "there is nothing to stop"


def test_a_question_is_edited_and_the_person_steps_between_its_versions(
    person: Person, client: FakeClient
) -> None:
    person.write("What is a list?")
    client.reply("A sequence.")
    person.press(Qt.Key.Key_Up)  # in the empty field it edits the last question
    person.press(Qt.Key.Key_A, CONTROL)
    for letter in "A set?":
        person.press(Qt.Key(ord(letter.upper())))
    person.press(Qt.Key.Key_Return)
    assert client.last(StartTurn).prompt.messages[-1].text == "a set?"
    client.reply("Without an order.")
    assert person.replies == ["Without an order."]
    assert person.sees("2 / 2")
    person.click("Previous version")
    assert person.replies == ["A sequence."]
    assert person.sees("1 / 2")


def test_a_reply_is_drawn_once_more_and_both_are_kept(person: Person, client: FakeClient) -> None:
    person.write("A number?")
    client.reply("One")
    person.press(Qt.Key.Key_R, CONTROL)
    assert not person.program.window.actions_.regenerate.isEnabled(), "one at a time"
    client.reply("Two")
    assert person.replies == ["Two"]
    person.click("Previous version")
    assert person.replies == ["One"]
    person.write("And now?")
    texts = [message.text for message in client.last(StartTurn).prompt.messages]
    assert texts == ["A number?", "One", "And now?"], "the shown version counts"
    client.reply("Three")


def test_a_file_goes_with_its_question(person: Person, client: FakeClient, tmp_path: Path) -> None:
    file = tmp_path / "list.py"
    file.write_text("numbers = [1, 2]\n")
    person.program.attachments.attach([str(file)])
    person.wait(lambda: person.sees("list.py"))
    person.write("What is this?")
    prompt = client.last(StartTurn).prompt.messages[-1].text
    assert "numbers = [1, 2]" in prompt
    assert prompt.endswith("What is this?")
    assert not person.program.window.chat_pane.composer.attachments
    client.reply("A list.")
    assert person.sees("list.py"), "it stands above its question"


def test_a_deleted_message_comes_back(person: Person, client: FakeClient) -> None:
    person.write("What is a list?")
    client.reply("A sequence.")
    person.write("And a set?")
    client.reply("Without an order.")
    question = person.program.shown.conversation.path()[-2]
    person.program.window.chat_pane.chat.delete_requested.emit(question.message_id)
    assert person.replies == ["A sequence."]
    person.click("Undo")
    person.wait(lambda: person.replies == ["A sequence.", "Without an order."])
    assert not person.notice
