"""What can be done with messages: by pointer, by keyboard, and what a screen reader is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent, QEnterEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QMenu, QToolButton

from gui.chat_help import (
    begin_reply,
    button,
    click,
    committed,
    finished,
    say,
    settle,
    shown_chat,
    shows_actions,
)
from paceline.conversation import Attachment
from paceline.gui.chat.messages.attachment_chips import MAX_TEXT_PX
from paceline.gui.chat.messages.message_item import ShownMessage
from paceline.gui.chat.messages.user_bubble import UserBubble
from paceline.gui.kit.announcer import Announcer, last_end, spoken

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PySide6.QtWidgets import QWidget
    from pytestqt.qtbot import QtBot

    from paceline.gui.chat.messages.message_item import MessageItem
    from paceline.gui.chat.view import ChatView


@pytest.fixture
def chat(qtbot: QtBot) -> Iterator[ChatView]:
    yield from shown_chat(qtbot)


def hover(item: QWidget) -> None:
    at = QPointF(5, 5)
    QApplication.sendEvent(item, QEnterEvent(at, at, at))


def leave(item: QWidget) -> None:
    QApplication.sendEvent(item, QEvent(QEvent.Type.Leave))


def named(item: QWidget, name: str) -> QToolButton:
    """The button with an accessible name."""
    found = [b for b in item.findChildren(QToolButton) if b.accessibleName() == name]
    assert len(found) == 1, name
    return found[0]


def bubble_of(chat: ChatView, message_id: str) -> UserBubble:
    item = chat._pages.item(message_id)
    assert isinstance(item, UserBubble)
    return item


# -------------------------------------------------------------------------------------- the row


def test_the_actions_of_a_question_are_icons_where_words_have_no_room(chat: ChatView) -> None:
    bubble = say(chat, "Why?")
    hover(bubble)
    copy = named(bubble, "Copy the message")
    bubble.resize(500, 100)
    assert copy.toolButtonStyle() == Qt.ToolButtonStyle.ToolButtonTextBesideIcon
    bubble.resize(180, 100)
    assert copy.toolButtonStyle() == Qt.ToolButtonStyle.ToolButtonIconOnly


def test_the_last_message_has_its_actions_and_the_others_when_hovered(
    chat: ChatView, qtbot: QtBot
) -> None:
    first = finished(chat, "One")
    bubble = say(chat, "Two")
    last = finished(chat, "Three")
    settle(qtbot)
    assert [shows_actions(item) for item in (first, bubble, last)] == [False, False, True]
    height = bubble.height()
    hover(bubble)
    settle(qtbot)
    assert shows_actions(bubble)
    assert bubble.height() == height, "nothing moves"
    leave(bubble)
    assert not shows_actions(bubble)


def test_a_growing_reply_offers_nothing_yet(chat: ChatView, qtbot: QtBot) -> None:
    reply = begin_reply(chat)
    reply.append(committed("Half"))
    reply.flush()
    hover(reply)
    assert not shows_actions(reply)
    reply.finish("Half of it")
    qtbot.waitUntil(lambda: shows_actions(reply))


@pytest.mark.parametrize(
    ("name", "signal"),
    [
        ("Generate this reply again", "regenerate_requested"),
        ("Go on from here in a chat of its own", "branch_requested"),
        ("Show how this reply was made", "run_requested"),
    ],
)
def test_actions_of_a_reply_tell_its_message(
    chat: ChatView, qtbot: QtBot, name: str, signal: str
) -> None:
    reply = finished(chat, "Text", "r")
    reply.set_stats("<b>41 t/s</b>")
    settle(qtbot)
    with qtbot.waitSignal(getattr(chat, signal)) as caught:
        click(named(reply, name))
    assert caught.args == ["r"]


def test_a_reply_is_copied_as_markdown_or_as_plain_text(chat: ChatView, qtbot: QtBot) -> None:
    reply = finished(chat, "**Bold** and `code`")
    settle(qtbot)
    click(named(reply, "Copy the reply"))
    assert QGuiApplication.clipboard().text() == "**Bold** and `code`"
    assert button(reply, "Copied") is not None
    menu = named(reply, "Copy as…").menu()
    plain = next(action for action in menu.actions() if "plain" in action.text())
    plain.trigger()
    assert QGuiApplication.clipboard().text() == "Bold and code"


def test_icons_stand_alone_where_there_is_no_room(chat: ChatView, qtbot: QtBot) -> None:
    chat.resize(760, 500)
    reply = finished(chat, "Text")
    reply.set_stats("<b>41.2 t/s</b>")
    settle(qtbot)
    regenerate = named(reply, "Generate this reply again")
    assert not regenerate.icon().isNull()
    wide = regenerate.width()
    chat.resize(380, 500)
    settle(qtbot)
    assert regenerate.width() < wide
    assert regenerate.toolTip() == "Generate this reply again"
    details = named(reply, "Show how this reply was made")
    assert "41.2 t/s" in details.toolTip(), "the figures may have no room at all"


def test_nothing_is_asked_anew_while_a_reply_is_written(chat: ChatView, qtbot: QtBot) -> None:
    reply = finished(chat, "Text")
    settle(qtbot)
    chat.set_busy(True)
    assert not named(reply, "Generate this reply again").isEnabled()
    assert named(reply, "Copy the reply").isEnabled()
    bubble = say(chat, "More")
    hover(bubble)
    assert not named(bubble, "Edit this message and send it again").isEnabled()
    chat.set_busy(False)
    assert named(bubble, "Edit this message and send it again").isEnabled()


def test_siblings_are_stepped_through(chat: ChatView, qtbot: QtBot) -> None:
    hi = ShownMessage("a", "user", "Hi")
    chat.show_path([hi, ShownMessage("b", "assistant", "x", (), 3, 1)])
    settle(qtbot)
    reply = chat.reply_view("b")
    assert reply is not None
    steps: list[tuple[str, int]] = []
    chat.sibling_requested.connect(lambda name, step: steps.append((name, step)))
    click(named(reply, "Previous version"))
    click(named(reply, "Next version"))
    assert steps == [("b", -1), ("b", 1)]
    chat.show_path([hi, ShownMessage("b", "assistant", "x", (), 3, 2)])
    assert named(reply, "Previous version").isEnabled()
    assert not named(reply, "Next version").isEnabled()
    chat.show_path([hi, ShownMessage("b", "assistant", "x")])
    assert not named(reply, "Previous version").isVisible()


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_the_context_menu_has_the_text_s_entries_and_the_message_s(
    chat: ChatView, qtbot: QtBot
) -> None:
    reply = finished(chat, "Some text to select.")
    settle(qtbot)
    reply.body.selectAll()
    at = reply.body.mapTo(reply, QPoint(10, 8))
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, reply.mapToGlobal(at))
    QApplication.sendEvent(reply.body.viewport(), event)
    menus = [w for w in QApplication.topLevelWidgets() if isinstance(w, QMenu) and w.isVisible()]
    (menu,) = menus
    texts = [action.text() for action in menu.actions()]
    assert "Copy selection" in texts
    assert not any("Link" in text for text in texts), "there is none"
    for text in ("Copy as Markdown", "Copy as plain text", "Regenerate", "Branch"):
        assert text in texts
    menu.close()


# -------------------------------------------------------------------------------------- editing


def edit(chat: ChatView, bubble: UserBubble, qtbot: QtBot) -> None:
    hover(bubble)
    click(named(bubble, "Edit this message and send it again"))
    settle(qtbot)


def test_a_message_is_edited_in_its_place(chat: ChatView, qtbot: QtBot) -> None:
    bubble = say(chat, "Frist", "q")
    edit(chat, bubble, qtbot)
    assert bubble.editor is not None
    assert not bubble.view.isVisible()
    bubble.editor.field.setPlainText("First")
    with qtbot.waitSignal(chat.edit_submitted) as caught:
        qtbot.keyClick(bubble.editor.field, Qt.Key.Key_Return)
    assert caught.args == ["q", "First"]
    assert bubble.editor is not None, "nobody took it, so it is not lost"
    qtbot.keyClick(bubble.editor.field, Qt.Key.Key_Escape)
    settle(qtbot)
    assert bubble.editor is None
    assert bubble.view.isVisible()
    assert bubble.text == "Frist"


def test_the_send_key_is_the_user_s(chat: ChatView, qtbot: QtBot) -> None:
    bubble = say(chat, "One", "q")
    chat.set_send_key("ctrl+enter")
    edit(chat, bubble, qtbot)
    assert bubble.editor is not None
    with qtbot.assertNotEmitted(chat.edit_submitted):
        qtbot.keyClick(bubble.editor.field, Qt.Key.Key_Return)
    assert bubble.editor.text == "One\n"
    with qtbot.waitSignal(chat.edit_submitted):
        qtbot.keyClick(bubble.editor.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)


def test_an_edit_outlives_another_conversation(chat: ChatView, qtbot: QtBot) -> None:
    mine = [ShownMessage("q", "user", "One"), ShownMessage("a", "assistant", "Two")]
    chat.show_path(mine)
    edit(chat, bubble_of(chat, "q"), qtbot)
    editor = bubble_of(chat, "q").editor
    assert editor is not None
    editor.field.setPlainText("One and more")
    chat.show_path([ShownMessage("x", "user", "Elsewhere")])
    settle(qtbot)
    chat.show_path(mine)
    settle(qtbot)
    bubble = bubble_of(chat, "q")
    assert bubble.unsaved == "One and more"
    assert bubble.editor is not None
    qtbot.keyClick(bubble.editor.field, Qt.Key.Key_Escape)
    chat.show_path([])
    chat.show_path(mine)
    assert bubble_of(chat, "q").unsaved is None


def test_an_edit_that_was_taken_is_over(chat: ChatView, qtbot: QtBot) -> None:
    mine = [ShownMessage("q", "user", "One"), ShownMessage("a", "assistant", "Two")]
    chat.show_path(mine)

    def take(message_id: str, text: str) -> None:
        chat.show_path([ShownMessage("q2", "user", text, (), 2, 1)])

    chat.edit_submitted.connect(take)
    edit(chat, bubble_of(chat, "q"), qtbot)
    editor = bubble_of(chat, "q").editor
    assert editor is not None
    qtbot.keyClick(editor.field, Qt.Key.Key_Return)
    settle(qtbot)
    assert bubble_of(chat, "q2").unsaved is None
    chat.show_path(mine)
    assert bubble_of(chat, "q").unsaved is None


# ---------------------------------------------------------------------------------- attachments


def test_an_attachment_is_a_chip_that_unfolds(chat: ChatView, qtbot: QtBot) -> None:
    files = (Attachment("config.toml", "key = 1\n" * 500, 4_000), Attachment("b.txt", "x", 1))
    chat.show_path([ShownMessage("q", "user", "Look", files)])
    settle(qtbot)
    bubble = bubble_of(chat, "q")
    chip = next(b for b in bubble.findChildren(QToolButton) if "config.toml" in b.text())
    assert chip.accessibleName().startswith("Attached file config.toml, ")
    height = bubble.height()
    chip.click()
    settle(qtbot)
    assert bubble.chips is not None
    view = bubble.chips._chips[0].text_view
    assert view is not None
    assert view.isVisible()
    assert view.height() <= MAX_TEXT_PX
    assert view.verticalScrollBar().maximum() > 0
    assert bubble.height() > height + 200
    chip.click()
    settle(qtbot)
    assert not view.isVisible()
    assert bubble.height() == height
    edit(chat, bubble, qtbot)
    assert chip.isVisible(), "what stays with the message is shown in the editor"
    assert bubble.editor is not None
    qtbot.keyClick(bubble.editor.field, Qt.Key.Key_Escape)
    settle(qtbot)
    assert chip.isVisible()


# -------------------------------------------------------------------------------------- keyboard


def focused_item(chat: ChatView) -> MessageItem | None:
    return chat._walk.focused


def test_tab_goes_through_text_code_and_actions_in_the_order_seen(
    chat: ChatView, qtbot: QtBot
) -> None:
    chat.window().activateWindow()
    finished(chat, "One\n\n```python\nx = 1\n```\n", "a")
    say(chat, "Two", "q")
    last = finished(chat, "Three", "b")
    last.set_stats("<b>41 t/s</b>")
    settle(qtbot)
    chat._list.setFocus()
    names: list[str] = []
    for _ in range(40):
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        widget = QApplication.focusWidget()
        if widget is None or widget is chat._list:
            break  # all around: nothing else is in this window
        names.append(widget.accessibleName())
    assert names[0] == "Reply, finished"
    assert names.index("Copy the code") < names.index("Copy the reply") < names.index("You said")
    behind = names[names.index("You said") + 1 :]
    order = [
        "Edit this message and send it again",
        "Reply, finished",
        "Figures of this reply: 41 t/s",
        "Copy the reply",
        "Generate this reply again",
        "Show how this reply was made",
    ]
    assert [name for name in behind if name in order] == order


def test_alt_up_and_down_go_from_message_to_message(chat: ChatView, qtbot: QtBot) -> None:
    chat.window().activateWindow()
    chat.show_path(
        [
            ShownMessage(f"m{i}", "assistant" if i % 2 else "user", f"Message {i}\n\n" * 9)
            for i in range(40)
        ]
    )
    settle(qtbot)
    chat.go_to("m20")
    chat._list.setFocus()
    chat._walk.step(1)
    item = focused_item(chat)
    assert item is not None
    assert item.message_id == "m20"
    assert shows_actions(item)
    for key, expected in ((Qt.Key.Key_Down, "m21"), (Qt.Key.Key_Up, "m20")):
        qtbot.keyClick(QApplication.focusWidget(), key, Qt.KeyboardModifier.AltModifier)
        item = focused_item(chat)
        assert item is not None
        assert item.message_id == expected


# --------------------------------------------------------------------------------- screen readers


def test_a_growing_reply_is_announced_in_sentences(qtbot: QtBot, qapp: QApplication) -> None:
    announcer = Announcer(qapp)
    announcer._timer.setInterval(10)
    said: list[str] = []
    announcer.said.connect(said.append)
    announcer.begin()
    announcer.update("First sen")
    qtbot.wait(30)
    assert said == []
    announcer.update("First **sentence**. And a")
    qtbot.waitUntil(lambda: said == ["First sentence."])
    announcer.update("First **sentence**. And another. It costs 3.")
    qtbot.waitUntil(lambda: len(said) == 2)
    assert said[1] == "And another."
    announcer.update("First **sentence**. And another. It costs 3.5")
    announcer.finish("Reply, finished")
    assert said[2] == "It costs 3.5 Reply, finished"
    announcer.stop()
    announcer.deleteLater()


def test_the_end_of_a_reply_is_announced_with_its_speed(chat: ChatView, qtbot: QtBot) -> None:
    said: list[str] = []
    chat._announcer.said.connect(said.append)
    reply = begin_reply(chat)
    reply.append(committed("All of it."))
    reply.flush()
    reply.finish("All of it.")
    reply.set_stats("<b>41.2 t/s</b>", "", tokens_per_s=41.2)
    qtbot.waitUntil(lambda: bool(said))
    assert said == ["All of it. Reply, finished, 41 tokens per second"]
    assert reply.body.accessibleName() == "Reply, finished, 41 tokens per second"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("# Title\n- *one*\n", "Title one"),
        ("[a link](http://x.org) and `code`", "a link and code"),
        ("```python\nx = 1\n```", "x = 1"),
    ],
)
def test_markup_is_not_read_out(text: str, words: str) -> None:
    assert spoken(text) == words


def test_only_whole_sentences_count() -> None:
    assert last_end("One. Two", 0) == 4
    assert last_end("3.", 0) == 0
    assert last_end("line\nnext", 0) == 5
