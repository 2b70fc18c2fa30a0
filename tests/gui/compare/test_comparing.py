"""Comparing two replies in the window: the dialog around a scripted engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication, QMenu

from gui.compare.turns import turn
from gui.fake_client import FakeClient
from paceline.chat.pair import Pair
from paceline.conversation import Folder
from paceline.gui.chat.messages.user_bubble import UserBubble
from paceline.gui.compare.dialog import CompareDialog
from paceline.gui.help.palette import actions_of
from paceline.messages import LoadPair, ModelParams, Reset, StartTurn, Strategy
from paceline.params import Prompting
from paceline.settings import ModelPrompting

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from paceline.gui.program import Program
    from paceline.hosting.broker import Ticket


@pytest.fixture
def asked(program: Program, client: FakeClient) -> Program:
    """A window with a question and its reply."""
    program.chat.send("What is it?")
    client.reply("A class.")
    return program


def opened(program: Program) -> CompareDialog:
    program.window.actions_.answer_twice.trigger()
    dialog = program.comparing.dialog
    assert dialog is not None
    return dialog


def turns(client: FakeClient) -> list[Ticket]:
    return [t for t in client.tickets if isinstance(t.command, StartTurn) and t.state != "over"]


def answer(client: FakeClient, text: str) -> None:
    """Let the first open turn write a text."""
    ticket = turns(client)[0]
    for _, event in turn(text, 0.05):
        client.emit(event, ticket)


def test_it_begins_with_off_against_auto_and_shows_what_comes(
    asked: Program, client: FakeClient
) -> None:
    dialog = opened(asked)
    assert [side.words[0] for side in dialog.sides] == ["Without drafts", "Auto"]
    n_before = len(client.commands)
    dialog.start.click()
    commands = client.commands[n_before:]
    assert [type(command) for command in commands] == [Reset, StartTurn, Reset, StartTurn]
    assert [c.strategy for c in commands if isinstance(c, StartTurn)] == [
        Strategy.of("off"), Strategy.of("auto"),
    ]  # fmt: skip
    assert dialog.start.text() == "&Stop"
    assert not dialog.sides[0].fields[0].isEnabled()
    text = " ".join(f"w{n}" for n in range(50))
    answer(client, text)
    assert dialog.columns.left.shown_text == text
    answer(client, text)
    assert dialog.columns.outcome == "≈ 1× as fast, the same text"
    assert dialog.start.text() == "&Start"
    dialog.close()


def test_nothing_is_in_the_chat_until_a_reply_is_used(asked: Program, client: FakeClient) -> None:
    dialog = opened(asked)
    before = asked.shown.conversation
    assert all(button.isHidden() for button in dialog.keeps)
    dialog.start.click()
    answer(client, "Left words")
    answer(client, "Right words")
    assert asked.shown.conversation == before
    assert not any(button.isHidden() for button in dialog.keeps)
    dialog.keeps[1].click()
    assert asked.shown.conversation.path()[-1].text == "Right words"
    assert len(asked.shown.conversation.children(before.path()[0].message_id)) == 2
    assert not dialog.keeps[1].isEnabled()
    assert dialog.keeps[0].isEnabled()
    dialog.close()


def test_columns_are_named_by_that_in_which_they_differ(asked: Program) -> None:
    dialog = opened(asked)
    strategies, settings, _ = dialog.sides[1].fields
    strategies.setCurrentIndex(dialog.sides[0].fields[0].currentIndex())
    settings.setCurrentIndex(settings.findText("Greedy"))
    dialog.start.click()
    titles = [column.words["title"] for column in (dialog.columns.left, dialog.columns.right)]
    assert titles == ["Settings of this chat", "Greedy"]
    dialog.close()


def test_a_preset_is_one_sides_alone(asked: Program, client: FakeClient) -> None:
    dialog = opened(asked)
    field = dialog.sides[1].fields[1]
    field.setCurrentIndex(field.findText("Greedy"))
    dialog.start.click()
    left, right = (ticket.command for ticket in turns(client))
    assert isinstance(left, StartTurn)
    assert isinstance(right, StartTurn)
    assert (right.sampling.temperature, left.seed) == (0.0, right.seed)
    assert left.sampling == asked.shown.settings.sampling
    dialog.close()


def test_other_models_have_the_prompting_that_is_kept_for_them_and_both_the_folders_instructions(
    asked: Program, client: FakeClient, qtbot: QtBot, tmp_path: Path
) -> None:
    file = tmp_path / "other.gguf"
    file.write_bytes(b"GGUF")
    kept = ModelPrompting("other.gguf", Prompting("{{ messages }}"))
    asked.settings.set("promptings", (kept,))
    asked.session.put_folder(Folder("f", "Work", "Answer in verse."))
    asked.session.move(asked.shown.id, "f")
    asked.saved_pairs.remember(Pair(ModelParams(str(file))))
    dialog = opened(asked)
    _, settings, field = dialog.sides[1].fields
    settings.setCurrentIndex(settings.findText("Greedy"))
    field.setCurrentIndex(field.findText(asked.saved_pairs.titles[0]))
    dialog.start.click()
    qtbot.waitUntil(lambda: len(turns(client)) == 2)
    left, right = (ticket.command for ticket in turns(client))
    assert isinstance(left, StartTurn)
    assert isinstance(right, StartTurn)
    firsts = [side.prompt.messages[0].text for side in (left, right)]  # type: ignore[union-attr]
    assert firsts == ["Answer in verse."] * 2, "the instructions of the chat's folder"
    assert (right.sampling.temperature, left.seed) == (0.0, right.seed), "one side's preset"
    assert right.prompt.prompting == kept.prompting  # type: ignore[union-attr]
    assert left.prompt.prompting == Prompting()  # type: ignore[union-attr]
    loads = [command.target.path for command in client.all(LoadPair)]
    assert loads[-2:] == [str(file), loads[0]]
    dialog.close()


def test_closing_the_dialog_stops_what_runs(asked: Program, client: FakeClient) -> None:
    dialog = opened(asked)
    dialog.start.click()
    commands = [ticket.command for ticket in turns(client)]
    dialog.close()
    assert client.cancelled[-2:] == commands[::-1]
    assert asked.comparing.dialog is None


def test_it_says_why_it_cannot_begin(asked: Program, client: FakeClient) -> None:
    dialog = opened(asked)
    assert dialog.start.isEnabled()
    asked.loader.reload()
    assert not dialog.start.isEnabled()
    client.finish_load()
    assert dialog.start.isEnabled()
    dialog.close()


def test_a_chat_without_a_question_says_so(program: Program) -> None:
    told: list[str] = []
    program.notices.posted.connect(lambda notice: told.append(notice.message))
    program.window.actions_.answer_twice.trigger()
    assert program.comparing.dialog is None
    assert told == ["Ask something first; then compare two answers."]


def test_the_palette_and_a_questions_menu_offer_it(
    asked: Program,
) -> None:
    offered = [action for _, action in actions_of(asked.window.menus)]
    assert asked.window.actions_.answer_twice in offered
    bubbles = asked.window.chat_pane.chat.findChildren(UserBubble)
    bubble = next(each for each in bubbles if each.isVisible())
    at = bubble.rect().center()
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, bubble.mapToGlobal(at))
    QApplication.sendEvent(bubble, event)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    (action,) = (action for action in menu.actions() if action.text() == "Compare…")
    action.trigger()
    menu.close()
    dialog = asked.comparing.dialog
    assert dialog is not None
    dialog.close()
