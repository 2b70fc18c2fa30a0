"""Find within the chat: hits are counted by the source and marked where they are seen."""

from __future__ import annotations

from time import thread_time
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QTextEdit

from gui.chat_help import item_in, list_in, settle, unfold_of
from paceline.conversation import Conversation, Message
from paceline.gui.chat.markdown.found import phrase
from paceline.gui.chat.markdown.view import MessageView
from paceline.gui.chat.messages.reply_view import ReplyView
from paceline.gui.chat.messages.user_bubble import UserBubble

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytestqt.qtbot import QtBot

    from gui.fake_client import FakeClient
    from paceline.gui.kit.search_field import FindBar
    from paceline.gui.program import Program

SHIFT = Qt.KeyboardModifier.ShiftModifier
TALL = "A line that is shown.\n\n" * 80


def show(program: Program, texts: Sequence[str]) -> None:
    """Show a chat of these messages: questions and replies in turns."""
    messages: dict[str, Message] = {}
    before = None
    for number, text in enumerate(texts):
        name = f"m{number}"
        messages[name] = Message.of_text(name, before, "assistant" if number % 2 else "user", text)
        before = name
    chat = Conversation("c", "Chat", messages=messages, leaf_id=before)
    program.shown.show_copy(program.session.conversations.add_copy(chat, {}))


def bar_of(program: Program) -> FindBar:
    return program.window.chat_pane.find_bar


def search(program: Program, text: str) -> FindBar:
    program.window.actions_.find.trigger()
    bar = bar_of(program)
    bar.field.setText(text)
    return bar


def marked_text(program: Program) -> tuple[int, str]:
    """Return the number of the message with the current hit, and the marked characters."""
    chat = program.window.chat_pane.chat
    for item in list_in(chat).items:
        views = [item.view] if isinstance(item, UserBubble) else []
        if isinstance(item, ReplyView):
            views = item.findChildren(MessageView)
        for view in filter(None, views):
            for span in view._current:
                document = view.document()
                text = "".join(document.characterAt(p) for p in range(span.start, span.end))
                path = [each.message_id for each in program.shown.conversation.path()]
                return path.index(item.message_id), text
    return -1, ""


def is_in_view(program: Program) -> bool:
    chat = program.window.chat_pane.chat
    for item in list_in(chat).items:
        px = item.marked_px()
        if px is not None:
            top = item.y() + px - list_in(chat).room_above()
            return 0 <= top <= list_in(chat).viewport().height() - 20
    return False


CHAT = (
    "Where is the *needle*?",
    f"<think>\nA needle is small.\n</think>\n\n{TALL}The **Needle** is in the\nhay.",
    "\n".join(f"line {i}" for i in range(200)) + "\nneedle",
    f"{TALL}```python\nneedle = find(hay)\n```\n\n| a | b |\n|---|---|\n| x | needle |\n",
)


def test_hits_are_counted_marked_and_gone_through(program: Program, qtbot: QtBot) -> None:
    show(program, CHAT)
    chat, path = program.window.chat_pane.chat, program.shown.conversation.path()
    chat.go_to(path[0].message_id)
    bar = search(program, "needle")
    settle(qtbot)
    assert bar.isVisible()
    assert bar.count.text() == "1 of 6"
    reply = chat.reply_view(path[1].message_id)
    assert reply is not None
    seen, opened = [], []
    for _ in range(6):
        seen.append(marked_text(program))
        opened.append(reply.parts.reasoning[0].is_open)
        qtbot.waitUntil(lambda: is_in_view(program))
        QTest.keyClick(bar.field, Qt.Key.Key_Return)
        settle(qtbot)
    assert seen == [
        (0, "needle"), (1, "needle"), (1, "Needle"), (2, "needle"), (3, "needle"), (3, "needle"),
    ]  # fmt: skip
    assert opened[:2] == [False, True], "what is folded is unfolded for its hit alone"
    assert bar.count.text() == "1 of 6", "it goes around"
    QTest.keyClick(bar.field, Qt.Key.Key_Return, SHIFT)
    assert bar.count.text() == "6 of 6"
    program.window.actions_.find_next.trigger()
    assert bar.count.text() == "1 of 6"
    program.window.actions_.find_previous.trigger()
    assert bar.count.text() == "6 of 6"
    bar.field.setText("the NEEDLE is  in the hay")
    qtbot.waitUntil(lambda: bar.count.text() == "1 of 1")
    assert marked_text(program) == (1, "The Needle is in the\u2028hay")
    bar.field.setText("nowhere")
    qtbot.waitUntil(lambda: bar.count.text() == "Not found")
    assert not bar.next.isEnabled()
    assert marked_text(program) == (-1, "")


def test_escape_closes_and_gives_the_keyboard_back(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    show(program, CHAT)
    composer = program.window.chat_pane.composer
    program.window.activateWindow()
    qtbot.waitUntil(program.window.isActiveWindow)
    composer.setFocus()
    program.chat.send("And now?")
    client.start_turn()
    bar = search(program, "needle")
    assert QApplication.focusWidget() is bar.field
    QTest.keyClick(bar.field, Qt.Key.Key_Tab)
    assert QApplication.focusWidget() is bar.previous
    QTest.keyClick(bar.previous, Qt.Key.Key_Escape)
    assert bar.isHidden()
    assert QApplication.focusWidget() is composer.edit
    assert marked_text(program) == (-1, "")
    assert program.session.active is not None, "Esc did not stop the reply"
    assert not client.cancelled
    QTest.keyClick(composer.edit, Qt.Key.Key_F3)
    assert bar.isVisible(), "F3 finds what was searched for last"
    qtbot.waitUntil(lambda: bar.count.text().endswith("of 6"))
    program.shown.new()
    assert bar.isHidden(), "another chat has other words"
    assert not program.window.actions_.find.isEnabled()


def test_a_growing_reply_is_searched(program: Program, client: FakeClient, qtbot: QtBot) -> None:
    show(program, CHAT)
    program.chat.send("And now?")
    client.start_turn()
    chat = program.window.chat_pane.chat
    bar = search(program, "haystack")
    assert bar.count.text() == "Not found"
    client.step("A hay")
    client.step("stack and a hay", 2)
    client.step("stack.", 3)
    qtbot.waitUntil(lambda: bar.count.text() == "0 of 2")
    follows = list_in(chat).follows
    assert follows, "what is found does not take the view away"
    QTest.keyClick(bar.field, Qt.Key.Key_Return)
    assert bar.count.text() == "1 of 2"
    qtbot.waitUntil(lambda: marked_text(program) == (4 + 1, "haystack"))
    client.finish_turn("A haystack and a haystack.")
    settle(qtbot)
    assert bar.count.text() == "1 of 2"
    assert marked_text(program) == (5, "haystack")


def test_what_the_user_folds_again_stays_folded(
    program: Program, client: FakeClient, qtbot: QtBot
) -> None:
    show(program, CHAT)
    chat = program.window.chat_pane.chat
    program.chat.send("And now?")
    client.start_turn()
    client.step("<think>\nA needle, and")
    bar = search(program, "needle")
    qtbot.waitUntil(lambda: bar.count.text().endswith("of 7"))

    def go_to(count: str) -> None:
        while bar.count.text() != count:
            QTest.keyClick(bar.field, Qt.Key.Key_Return)

    go_to("7 of 7")
    view = chat.reply_view(program.shown.conversation.path()[5].message_id)
    assert view is not None
    view.flush()
    (block,) = view.parts.reasoning
    assert block.is_open
    block.header.click()
    for n in range(3):
        client.step(" more", n + 2)
        view.flush()
    assert not block.is_open
    go_to("4 of 7")
    bubble = item_in(chat, program.shown.conversation.path()[2].message_id)
    assert isinstance(bubble, UserBubble)
    assert "needle" in bubble.view.toPlainText()
    unfold_of(bubble).click()
    assert "needle" not in bubble.view.toPlainText()


@pytest.mark.parametrize(
    ("asked", "text", "found"),
    [
        ("a  B", "a **b** _a_\n`b`", 2),
        ("2 * 3", "2 * 3, 2*3", 1),
        ("**bold** word", "**bold** word", 1),
        ("(x", "f(x)", 1),
        (" ", "a b", 0),
        ("a * b", "a" + "*" * 50_000, 0),
    ],
)
def test_words_and_what_may_stand_between_them(asked: str, text: str, found: int) -> None:
    start = thread_time()
    pattern = phrase(asked)
    assert (len(pattern.findall(text)) if pattern is not None else 0) == found
    assert thread_time() - start < 0.05


def test_what_is_selected_is_searched_for_as_it_is_written(program: Program, qtbot: QtBot) -> None:
    written = "`collections.abc.AsyncGenerator` \u0e01\u200b\u0e02"
    show(program, ["Hi", f"| a |\n|---|\n| {written} |\n"])
    program.window.activateWindow()
    qtbot.waitUntil(program.window.isActiveWindow)
    items = list_in(program.window.chat_pane.chat).items
    reply = next(item for item in items if isinstance(item, ReplyView))
    view = reply.findChildren(MessageView)[0]
    assert isinstance(view, QTextEdit)
    view.setFocus()
    cursor = view.document().find("collections")
    cursor.movePosition(cursor.MoveOperation.StartOfBlock)
    cursor.movePosition(cursor.MoveOperation.EndOfBlock, cursor.MoveMode.KeepAnchor)
    view.setTextCursor(cursor)
    program.window.actions_.find.trigger()
    bar = bar_of(program)
    assert bar.field.text() == written.replace("`", "")
    assert bar.count.text() == "1 of 1"


def test_many_messages_are_searched_piece_by_piece(program: Program, qtbot: QtBot) -> None:
    text = "Some words about **speculative** decoding, with `code` in it.\n\n" * 12
    show(program, [f"{text}number {i}" for i in range(2_000)])
    bar = search(program, "number 77")
    assert bar.count.text().endswith("so far…")
    qtbot.waitUntil(lambda: bar.count.text() == "1 of 11")
    QTest.keyClick(bar.field, Qt.Key.Key_Return)
    assert bar.count.text() == "2 of 11"
