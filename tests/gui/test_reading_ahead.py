"""Reading ahead while a message is written: when it is asked for, and where it is said."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtGui import QTextCursor

from gui.clocks import let_pass
from paceline.content import of_text
from paceline.conversation import Attachment, Conversation, Message
from paceline.gui.chat import composer_controllers, reading_ahead
from paceline.messages import (
    ChatMessage,
    CountTokens,
    DropStates,
    PrefillProgressed,
    ReadAhead,
    ReadAheadEnded,
    StateOwner,
    Unloaded,
)

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from gui.fake_client import FakeClient
    from paceline.gui.program import Program

pytestmark = pytest.mark.usefixtures("quick")


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(composer_controllers, "ASK_AFTER_MS", 0)


def asked(client: FakeClient, qtbot: QtBot, n: int) -> ReadAhead:
    """Wait for the `n`-th wish."""
    qtbot.waitUntil(lambda: len(client.all(ReadAhead)) >= n)
    assert len(client.all(ReadAhead)) == n
    return client.last(ReadAhead)


def settled(program: Program, client: FakeClient) -> int:
    """Have the prompt counted once more; return how many wishes there are."""
    program.context_meter.ask_now()
    assert client.all(CountTokens)
    return len(client.all(ReadAhead))


def tip(program: Program) -> str:
    return program.window.chat_pane.composer.meter.toolTip()


def open_chat(program: Program, chat_id: str = "long") -> None:
    chat = Conversation(chat_id)
    chat = chat.add(Message.of_text("q", None, "user", "What is warm?"))
    chat = chat.add(Message.of_text("a", "q", "assistant", "What was kept."))
    program.shown.show_copy(program.session.conversations.add_copy(chat, {}))


def test_finished_sentences_are_read_and_the_one_at_the_caret_is_not(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    composer = program.window.chat_pane.composer
    composer.set_text("The first 😀 sentence. The second on")
    turn = asked(client, qtbot, 1).turn
    first = ChatMessage.of_text("user", "The first 😀 sentence.")
    assert turn.prompt.messages == (first,)  # type: ignore[union-attr]
    assert turn.owner == StateOwner(program.shown.id)
    client.emit(ReadAheadEnded(8, 8))
    composer.set_text("The first 😀 sentence. The second one goes")
    assert settled(program, client) == 1, "nothing more is certain"
    composer.edit.moveCursor(QTextCursor.MoveOperation.Start)
    composer.set_text("One. Two. Three. Four")
    assert asked(client, qtbot, 2).turn.prompt.messages[-1].content == of_text("One. Two. Three.")  # type: ignore[union-attr]


def test_a_chat_that_is_opened_a_file_and_a_reply_are_read(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    open_chat(program)
    turn = asked(client, qtbot, 1).turn
    assert [m.role for m in turn.prompt.messages] == ["user", "assistant"]  # type: ignore[union-attr]
    client.emit(ReadAheadEnded(20, 20))
    composer = program.window.chat_pane.composer
    composer.files.add([Attachment("a.py", "answer = 42", 11)])
    turn = asked(client, qtbot, 2).turn
    assert "answer = 42" in turn.prompt.messages[-1].text  # type: ignore[union-attr]
    client.emit(ReadAheadEnded(30, 30))
    composer.set_text("What is that?")
    settled(program, client)
    composer.button.click()
    n = len(client.all(ReadAhead))
    client.start_turn()
    composer.set_text("One. Two.")
    let_pass(program.context_meter)
    assert len(client.all(ReadAhead)) == n, "nothing is asked for during a reply"
    client.step("It is 42.")
    client.finish_turn("It is 42.")
    turn = asked(client, qtbot, n + 1).turn
    assert [m.role for m in turn.prompt.messages] == ["user", "assistant"] * 2 + ["user"]  # type: ignore[union-attr]


def test_a_private_chat_says_that_it_is_one_and_is_dropped_when_it_is_left(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    program.shown.new(private=True)
    private = program.shown.id
    program.window.chat_pane.composer.set_text("A secret. And")
    assert asked(client, qtbot, 1).turn.owner == StateOwner(private, private=True)
    program.shown.new()
    assert (private,) in [command.owners for command in client.all(DropStates)]
    client.emit(ReadAheadEnded(3, 9, is_over=False))
    let_pass(program.context_meter)
    assert len(client.all(ReadAhead)) == 1, "it is not asked for again"


def test_what_was_stopped_for_something_else_continues_and_progress_is_reported(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    open_chat(program)
    first = asked(client, qtbot, 1)
    ticket = next(t for t in reversed(client.tickets) if t.command is first)
    client.emit(PrefillProgressed(900, 3400), ticket)
    assert "900 of 3,400" in tip(program)
    client.emit(ReadAheadEnded(1000, 3400, is_over=False))
    assert "1,000 of 3,400" in tip(program)
    assert asked(client, qtbot, 2) == first
    client.emit(ReadAheadEnded(3400, 3400))
    assert "3,400" in tip(program)
    let_pass(program.context_meter)
    assert len(client.all(ReadAhead)) == 2
    client.emit(Unloaded())
    assert "3,400" not in tip(program)


def test_nothing_is_read_where_it_is_switched_off_or_the_computer_is_on_battery(
    program: Program, client: FakeClient, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    power = {"is_out": True}
    monkeypatch.setattr(reading_ahead, "is_on_battery", lambda: power["is_out"])
    open_chat(program)
    assert settled(program, client) == 0
    on_battery = tip(program)
    power["is_out"] = False
    program.settings.set("reads_ahead", False)
    assert settled(program, client) == 0
    switched_off = tip(program)
    program.settings.set("reads_ahead", True)
    asked(client, qtbot, 1)
    assert len({on_battery, switched_off, tip(program)}) == 3, "each is told"
