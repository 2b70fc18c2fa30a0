"""Versions side by side: which are offered, how they differ, by keyboard, in both themes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCharFormat
from PySide6.QtWidgets import QToolButton

from gui.chat_help import item_in
from paceline.engine.draft.strategy import strategy_text
from paceline.gui.look.current import look
from paceline.messages import StartTurn, TurnFailed

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from gui.fake_client import FakeClient
    from paceline.gui.program import Program
    from paceline.gui.run.versions import VersionsDialog


def answered(program: Program, client: FakeClient, *texts: str) -> list[str]:
    """Ask something and let it be answered several times; returns the replies' ids."""
    assert program.chat.send("Where is Paris?")
    client.reply(texts[0])
    for text in texts[1:]:
        assert program.chat.regenerate()
        client.reply(text)
    leaf = program.shown.conversation.leaf_id
    assert leaf is not None
    return [message.message_id for message in program.shown.conversation.siblings(leaf)]


def compared(program: Program, qtbot: QtBot) -> VersionsDialog:
    """The dialog when it shows both texts."""
    dialog = program.versions.dialog
    assert dialog is not None
    qtbot.waitUntil(lambda: "Comparing" not in dialog.summary.text())
    return dialog


def chosen(dialog: VersionsDialog) -> list[str]:
    return [choice.currentData().message_id for choice in (dialog.left, dialog.right)]


def test_a_click_on_the_number_of_versions_compares_them(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    ids = answered(program, client, "In France, far away.", "In France, here.")
    item = item_in(program.window.chat_pane.chat, ids[1])
    number = next(b for b in item.findChildren(QToolButton) if b.text() == "2 / 2")
    number.click()
    dialog = compared(program, qtbot)
    assert chosen(dialog) == ids
    assert dialog.summary.text() == "1 difference"
    assert "far away" in dialog.text.toPlainText()
    assert "41.2\N{NO-BREAK SPACE}t/s" in dialog.figures[0].text()
    assert "seed 7" in dialog.figures[1].text()


def test_two_versions_are_chosen_and_equal_texts_are_said_to_be_equal(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    ids = answered(program, client, "One.", "Two.", "One.")
    program.window.actions_.compare.trigger()
    dialog = compared(program, qtbot)
    assert chosen(dialog) == ids[1:]
    assert "Two." in dialog.text.toPlainText()
    dialog.left.setCurrentIndex(0)
    dialog.left.activated.emit(0)
    dialog = compared(program, qtbot)
    assert chosen(dialog) == [ids[0], ids[2]]
    assert "Two." not in dialog.text.toPlainText()
    assert "same" in dialog.summary.text()
    assert not dialog.on.isEnabled()


def test_one_goes_from_difference_to_difference_by_keys(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    lines = [f"Line {n} of them." for n in range(80)]
    other = [line.replace("of", "among") if n in (5, 70) else line for n, line in enumerate(lines)]
    answered(program, client, "\n\n".join(lines), "\n\n".join(other))
    program.window.actions_.compare.trigger()
    dialog = compared(program, qtbot)
    bar = dialog.text.verticalScrollBar()
    assert bar.value() == 0
    dialog.activateWindow()
    qtbot.waitUntil(dialog.isActiveWindow)

    def press(shown: str, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        qtbot.keyClick(dialog, Qt.Key.Key_F3, modifier)
        qtbot.waitUntil(lambda: dialog.summary.text() == shown)  # the button is seen to go down

    press("Difference 1 of 2")
    press("Difference 2 of 2")
    assert bar.value() > bar.maximum() // 2
    press("Difference 1 of 2")
    press("Difference 2 of 2", Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert program.versions.dialog is None


def test_the_marks_are_seen_without_colours_and_follow_the_theme(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    answered(program, client, "A big city.", "A huge city.")
    program.window.actions_.compare.trigger()
    dialog = compared(program, qtbot)

    def look_of(word: str) -> QTextCharFormat:
        return dialog.text.document().find(word).charFormat()

    assert look_of("big").fontStrikeOut()
    assert look_of("huge").fontUnderline()
    assert not look_of("city").fontUnderline()
    before = look_of("huge").background().color().name()
    program.window.actions_.flip_theme.trigger()
    assert look_of("huge").background().color().name() == look.theme.accent_soft.lower()
    assert look_of("huge").background().color().name() != before


def test_replies_to_two_versions_of_a_question_are_compared_and_counted_as_below_them(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    ids = answered(program, client, "In France.")
    question = program.shown.conversation.messages[ids[0]].parent_id
    assert question is not None
    assert program.chat.edit(question, "Where is Paris, please?")
    client.reply("In the north of France.")
    program.window.actions_.compare.trigger()
    dialog = compared(program, qtbot)
    assert chosen(dialog) == [ids[0], program.shown.conversation.leaf_id]
    dialog.close()
    assert program.chat.regenerate()
    client.reply("Far away.")
    item = item_in(program.window.chat_pane.chat, program.shown.conversation.leaf_id or "")
    next(b for b in item.findChildren(QToolButton) if b.text() == "2 / 2").click()
    dialog = compared(program, qtbot)
    names = [dialog.right.itemText(at).split(" · ")[0] for at in range(dialog.right.count())]
    assert names == ["Version 1 in another branch", "Version 1", "Version 2"]
    assert dialog.right.currentText().startswith("Version 2 · ")


def test_a_chat_without_versions_says_so_and_a_reply_without_a_seed_is_not_written_again(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    ids = answered(program, client, "One.")
    told: list[str] = []
    program.notices.posted.connect(lambda notice: told.append(notice.message))
    program.window.actions_.compare.trigger()
    assert told
    assert program.versions.dialog is None
    assert program.session.edit_reply(program.shown.id, ids[0], "Mine.")
    program.window.actions_.compare.trigger()
    dialog = compared(program, qtbot)
    n_turns = len(client.all(StartTurn))
    dialog.repeat.menu().actions()[0].trigger()
    assert len(client.all(StartTurn)) == n_turns
    assert "seed" in dialog.repeat.toolTip()
    assert not dialog.repeat.isEnabled()


def test_a_reply_is_written_again_with_another_strategy_and_compared(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    ids = answered(program, client, "One.", "Two.")
    program.window.actions_.compare.trigger()
    dialog = compared(program, qtbot)
    offered = {action.data(): action for action in dialog.repeat.menu().actions()}
    assert {"off", "auto", "suffix"} <= set(offered)
    offered["suffix"].trigger()
    client.start_turn()
    client.emit(TurnFailed("prompt-too-long", "Too many tokens.", "Shorten it."))
    assert program.shown.conversation.path()[-1].text == "Two.", "what is refused changes nothing"
    dialog = compared(program, qtbot)
    qtbot.waitUntil(dialog.repeat.isEnabled)
    assert chosen(dialog) == ids
    offered = {action.data(): action for action in dialog.repeat.menu().actions()}
    offered["off"].trigger()
    turn = client.last(StartTurn)
    assert strategy_text(turn.strategy) == "off"
    assert turn.seed == 7, "the seed that the reply had"
    assert turn.earlier == (), "or the comparison would say nothing of the strategy"
    assert dialog.summary.text() == "Writing…"
    assert not dialog.repeat.isEnabled()
    client.reply("Two.")
    compared(program, qtbot)
    assert chosen(dialog) == [ids[1], program.shown.conversation.leaf_id]
    assert "same" in dialog.summary.text()
    assert dialog.repeat.isEnabled()
