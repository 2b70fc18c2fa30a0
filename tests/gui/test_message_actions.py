"""Actions of messages: by pointer, by keyboard, and for a screen reader."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent, QEnterEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QMenu, QPlainTextEdit, QToolButton

from gui.chat_help import (
    begin_reply,
    committed,
    finished,
    item_in,
    list_in,
    rest,
    say,
    settle,
    shown_chat,
    shows_actions,
)
from gui.clocks import let_pass
from paceline.conversation import Attachment
from paceline.gui.chat.messages.attachment_chips import MAX_TEXT_PX
from paceline.gui.chat.messages.message_item import ShownMessage
from paceline.gui.chat.messages.user_bubble import UserBubble
from paceline.gui.kit.announcer import Announcer, last_end, spoken

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PySide6.QtWidgets import QWidget
    from pytestqt.qtbot import QtBot

    from paceline.gui.chat.messages.message_item import MessageEdit
    from paceline.gui.chat.view import ChatView

AGAIN, COPY, EDIT = (
    "Generate this reply again", "Copy the reply", "Edit this message and send it again",
)  # fmt: skip
DETAILS, BRANCH = "Show how this reply was made", "Go on from here in a chat of its own"


@pytest.fixture
def chat(qtbot: QtBot) -> Iterator[ChatView]:
    yield from shown_chat(qtbot)


def hover(item: QWidget) -> None:
    at = QPointF(5, 5)
    QApplication.sendEvent(item, QEnterEvent(at, at, at))


def named(item: QWidget, name: str) -> QToolButton:
    """Return the button with an accessible name."""
    (found,) = (b for b in item.findChildren(QToolButton) if b.accessibleName() == name)
    return found


def bubble_of(chat: ChatView, message_id: str) -> UserBubble:
    item = item_in(chat, message_id)
    assert isinstance(item, UserBubble)
    return item


def test_the_last_message_has_its_actions_and_the_others_when_hovered(
    chat: ChatView, qtbot: QtBot
) -> None:
    first = finished(chat, "One")
    bubble = say(chat, "Two")
    last = begin_reply(chat)
    last.append(committed("Half"))
    last.flush()
    hover(last)
    assert not shows_actions(last), "a growing reply offers nothing yet"
    last.finish("Half of it")
    qtbot.waitUntil(lambda: shows_actions(last))
    assert [shows_actions(item) for item in (first, bubble)] == [False, False]
    height = bubble.height()
    hover(bubble)
    settle(qtbot)
    assert shows_actions(bubble)
    assert bubble.height() == height, "nothing moves"
    QApplication.sendEvent(bubble, QEvent(QEvent.Type.Leave))
    assert not shows_actions(bubble)


# -------------------------------------------------------------------------------------- the row


def test_actions_of_a_reply_tell_its_message_and_copies_are_made_at_once(
    chat: ChatView, qtbot: QtBot
) -> None:
    asked: list[tuple[str, str]] = []
    for name in ("regenerate_requested", "branch_requested", "run_requested"):
        getattr(chat, name).connect(lambda message, name=name: asked.append((name, message)))
    reply = finished(chat, "**Bold** and `code`", "r")
    reply.set_stats("<b>41 t/s</b>")
    settle(qtbot)
    for name in (AGAIN, BRANCH, DETAILS):
        named(reply, name).click()
    assert asked == [
        ("regenerate_requested", "r"), ("branch_requested", "r"), ("run_requested", "r"),
    ]  # fmt: skip
    copy = named(reply, COPY)
    before = copy.text()
    copy.click()
    assert QGuiApplication.clipboard().text() == "**Bold** and `code`"
    assert copy.text() != before, "it says so"
    plain = named(reply, "Copy as…").menu().actions()[1]
    plain.trigger()
    assert QGuiApplication.clipboard().text() == "Bold and code"


def test_icons_stand_alone_where_there_is_no_room(chat: ChatView, qtbot: QtBot) -> None:
    bubble = say(chat, "Why?")
    hover(bubble)
    copy, style = named(bubble, "Copy the message"), Qt.ToolButtonStyle
    for width, shown in ((500, style.ToolButtonTextBesideIcon), (180, style.ToolButtonIconOnly)):
        bubble.resize(width, 100)
        assert copy.toolButtonStyle() == shown
    chat.resize(760, 500)
    reply = finished(chat, "Text")
    reply.set_stats("<b>41.2 t/s</b>")
    settle(qtbot)
    regenerate = named(reply, AGAIN)
    assert not regenerate.icon().isNull()
    wide = regenerate.width()
    chat.resize(380, 500)
    settle(qtbot)
    assert regenerate.width() < wide
    assert regenerate.toolTip() == AGAIN
    assert "41.2 t/s" in named(reply, DETAILS).toolTip(), "the figures may have no room at all"


def test_nothing_is_asked_anew_while_a_reply_is_written(chat: ChatView, qtbot: QtBot) -> None:
    reply, bubble = finished(chat, "Text"), say(chat, "More")
    settle(qtbot)
    for item in (reply, bubble):
        hover(item)
    for is_busy in (True, False):
        chat.set_busy(is_busy)
        assert named(reply, COPY).isEnabled()
        assert named(reply, AGAIN).isEnabled() is not is_busy
        assert named(bubble, EDIT).isEnabled() is not is_busy


def test_siblings_are_stepped_through(chat: ChatView, qtbot: QtBot) -> None:
    steps: list[tuple[str, int]] = []
    chat.sibling_requested.connect(lambda name, step: steps.append((name, step)))
    names = ("Previous version", "Next version")
    for place, n_siblings in ((1, 3), (2, 3), (0, 1)):
        chat.show_path(
            [
                ShownMessage("a", "user", "Hi"),
                ShownMessage("b", "assistant", "x", (), n_siblings, place),
            ]
        )
        settle(qtbot)
        both = [named(item_in(chat, "b"), name) for name in names]
        assert [button.isVisible() for button in both] == [n_siblings > 1] * 2
        if place == 1:
            for button in both:
                button.click()
        if place == 2:
            assert [button.isEnabled() for button in both] == [True, False]
    assert steps == [("b", -1), ("b", 1)]


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
    names = [action.objectName() or str(action.data() or "") for action in menu.actions()]
    assert {"edit-copy", "copy", "copy-plain", "regenerate", "branch"} <= set(names)
    assert "link-copy" not in names, "there is none"
    menu.close()


# -------------------------------------------------------------------------------------- editing

MINE = [ShownMessage("q", "user", "One"), ShownMessage("a", "assistant", "Two")]


def edit(chat: ChatView, qtbot: QtBot) -> MessageEdit:
    bubble = bubble_of(chat, "q")
    hover(bubble)
    named(bubble, EDIT).click()
    settle(qtbot)
    assert bubble.editor is not None
    return bubble.editor


def test_a_message_is_edited_in_its_place_with_the_users_send_key(
    chat: ChatView, qtbot: QtBot
) -> None:
    bubble = say(chat, "Frist", "q")
    editor = edit(chat, qtbot)
    assert not bubble.view.isVisible()
    editor.field.setPlainText("First")
    with qtbot.waitSignal(chat.edit_submitted) as caught:
        qtbot.keyClick(editor.field, Qt.Key.Key_Return)
    assert caught.args == ["q", "First"]
    assert bubble.editor is not None, "it was not taken, so it is not lost"
    qtbot.keyClick(bubble.editor.field, Qt.Key.Key_Escape)
    settle(qtbot)
    assert bubble.editor is None
    assert bubble.view.isVisible()
    assert bubble.text == "Frist"
    chat.set_send_key("ctrl+enter")
    editor = edit(chat, qtbot)
    with qtbot.assertNotEmitted(chat.edit_submitted):
        qtbot.keyClick(editor.field, Qt.Key.Key_Return)
    assert editor.text == "Frist\n"
    with qtbot.waitSignal(chat.edit_submitted):
        qtbot.keyClick(editor.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)


def test_an_edit_outlives_another_conversation_until_it_is_left_or_taken(
    chat: ChatView, qtbot: QtBot
) -> None:
    chat.show_path(MINE)
    edit(chat, qtbot).field.setPlainText("One and more")
    chat.show_path([ShownMessage("x", "user", "Elsewhere")])
    settle(qtbot)
    chat.show_path(MINE)
    settle(qtbot)
    bubble = bubble_of(chat, "q")
    assert bubble.unsaved == "One and more"
    assert bubble.editor is not None
    qtbot.keyClick(bubble.editor.field, Qt.Key.Key_Escape)
    chat.show_path([])
    chat.show_path(MINE)
    assert bubble_of(chat, "q").unsaved is None
    chat.edit_submitted.connect(
        lambda _, text: chat.show_path([ShownMessage("q2", "user", text, (), 2, 1)])
    )
    qtbot.keyClick(edit(chat, qtbot).field, Qt.Key.Key_Return)
    settle(qtbot)
    assert bubble_of(chat, "q2").unsaved is None
    chat.show_path(MINE)
    assert bubble_of(chat, "q").unsaved is None


def test_an_attachment_is_a_chip_that_unfolds(chat: ChatView, qtbot: QtBot) -> None:
    files = (Attachment("config.toml", "key = 1\n" * 500, 4_000), Attachment("b.txt", "x", 1))
    chat.show_path([ShownMessage("q", "user", "Look", files)])
    settle(qtbot)
    bubble = bubble_of(chat, "q")
    chip = next(b for b in bubble.findChildren(QToolButton) if "config.toml" in b.text())
    assert "config.toml" in chip.accessibleName()
    height = bubble.height()
    chip.click()
    settle(qtbot)
    (view,) = bubble.findChildren(QPlainTextEdit)
    assert view.isVisible()
    assert view.height() <= MAX_TEXT_PX
    assert view.verticalScrollBar().maximum() > 0
    assert bubble.height() > height + 200
    chip.click()
    settle(qtbot)
    assert not view.isVisible()
    assert bubble.height() == height
    editor = edit(chat, qtbot)
    assert chip.isVisible(), "what stays with the message is shown in the editor"
    qtbot.keyClick(editor.field, Qt.Key.Key_Escape)
    settle(qtbot)
    assert chip.isVisible()


def test_tab_goes_through_text_code_and_actions_in_the_order_seen(
    chat: ChatView, qtbot: QtBot
) -> None:
    chat.window().activateWindow()
    finished(chat, "One\n\n```python\nx = 1\n```\n", "a")
    say(chat, "Two", "q")
    last = finished(chat, "Three", "b")
    last.set_stats("<b>41 t/s</b>")
    settle(qtbot)
    view = list_in(chat)
    view.setFocus()
    names: list[str] = []
    for _ in range(40):
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        widget = QApplication.focusWidget()
        if widget is None or widget is view:
            break  # all around: nothing else is in this window
        names.append(widget.accessibleName())
    order = [
        "Reply, finished", "Copy the code", COPY, "You said", EDIT, "Reply, finished",
        "Figures of this reply: 41 t/s", COPY, AGAIN, DETAILS,
    ]  # fmt: skip
    places = iter(names)
    assert all(name in places for name in order), names


# -------------------------------------------------------------------------------------- keyboard


def test_alt_up_and_down_go_from_message_to_message(chat: ChatView, qtbot: QtBot) -> None:
    chat.window().activateWindow()
    chat.show_path(
        [
            ShownMessage(f"m{i}", "assistant" if i % 2 else "user", f"Message {i}\n\n" * 9)
            for i in range(40)
        ]
    )
    rest(chat, qtbot)
    chat.go_to("m20")
    list_in(chat).setFocus()
    for key, expected in (
        (Qt.Key.Key_Down, "m20"), (Qt.Key.Key_Down, "m21"), (Qt.Key.Key_Up, "m20"),
    ):  # fmt: skip
        qtbot.keyClick(QApplication.focusWidget(), key, Qt.KeyboardModifier.AltModifier)
        item = item_in(chat, expected)
        assert item.isAncestorOf(QApplication.focusWidget())
        assert shows_actions(item)


# --------------------------------------------------------------------------------- screen readers


def test_a_growing_reply_is_announced_in_sentences(qapp: QApplication) -> None:
    announcer, said = Announcer(qapp), list[str]()
    announcer.said.connect(said.append)
    announcer.begin()
    for text in (
        "First sen", "First **sentence**. And a", "First **sentence**. And another. It costs 3.",
    ):  # fmt: skip
        announcer.update(text)
        let_pass(announcer)
    assert said == ["First sentence.", "And another."]
    announcer.update("First **sentence**. And another. It costs 3.5")
    announcer.finish("Reply, finished")
    assert said[2] == "It costs 3.5 Reply, finished"
    announcer.stop()
    announcer.deleteLater()


def test_the_end_of_a_reply_is_announced_with_its_speed(chat: ChatView, qtbot: QtBot) -> None:
    said: list[str] = []
    chat.findChildren(Announcer)[0].said.connect(said.append)
    reply = begin_reply(chat)
    reply.append(committed("All of it."))
    reply.flush()
    reply.finish("All of it.")
    reply.set_stats("<b>41.2 t/s</b>", "", tokens_per_s=41.2)
    qtbot.waitUntil(lambda: bool(said))
    assert said == [f"All of it. {reply.body.accessibleName()}"]
    assert "41 tokens per second" in reply.body.accessibleName()


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


@pytest.mark.parametrize(("text", "end"), [("One. Two", 4), ("3.", 0), ("line\nnext", 5)])
def test_only_whole_sentences_count(text: str, end: int) -> None:
    assert last_end(text, 0) == end
