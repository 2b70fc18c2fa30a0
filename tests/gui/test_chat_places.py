"""Places that the chat view goes to, in the colours of the theme at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from gui.chat_help import LONG, item_in, list_in, settle, to_end_in
from paceline.gui.chat.messages.message_item import ShownMessage
from paceline.gui.chat.messages.reply_view import ReplyView
from paceline.gui.look.current import look

if TYPE_CHECKING:
    from PySide6.QtWidgets import QScrollBar
    from pytestqt.qtbot import QtBot

    from paceline.gui.chat.view import ChatView


def bar(chat: ChatView) -> QScrollBar:
    return list_in(chat).verticalScrollBar()


def long_path(n_replies: int = 12) -> list[ShownMessage]:
    """Replies higher than the view, each with a word of its own in the middle."""
    return [
        ShownMessage(f"a{i}", "assistant", f"{LONG}Here is needle{i}.\n\n{LONG}")
        for i in range(n_replies)
    ]


def test_a_word_in_the_middle_of_a_tall_message_is_brought_into_view(
    chat: ChatView, qtbot: QtBot
) -> None:
    chat.show_path(long_path())
    for name in ("a3", "a11"):
        chat.go_to(name, (f"needle{name[1:]}",))
        settle(qtbot)
        item = item_in(chat, name)
        marked = item.marked_px()
        assert marked is not None
        top = item.y() + marked - bar(chat).value()
        assert 0 < top < list_in(chat).viewport().height() - 40
    chat.go_to("a3", ("nowhere",))
    settle(qtbot)
    item = item_in(chat, "a3")
    assert item.marked_px() is None
    assert item.y() - bar(chat).value() == 24


def brightest(chat: ChatView) -> int:
    """The lightness of the view's ground: every pixel of a code card or a token is near it."""
    image = list_in(chat).grab().toImage().convertToFormat(QImage.Format.Format_Grayscale8)
    inside = image.copy(60, 40, 400, 60)
    return max(inside.pixelColor(x, y).lightness() for x in range(400) for y in range(60))


def test_what_is_seen_has_another_theme_at_once(chat: ChatView, qtbot: QtBot) -> None:
    text = "```\n" + "        \n" * 200 + "```\n"
    chat.show_path([ShownMessage(f"a{i}", "assistant", text) for i in range(12)])
    chat.go_to("a5")
    settle(qtbot)
    assert brightest(chat) > 200
    look.set_mode("dark")
    assert brightest(chat) < 128, "no turn of the event loop in between"
    chat.go_to("a2")
    assert brightest(chat) < 128, "nor where one scrolls to before the rest has followed"
    look.set_mode("light")
    assert brightest(chat) > 200


def test_code_to_be_saved_is_reported_once(chat: ChatView, qtbot: QtBot) -> None:
    chat.show_path([ShownMessage("a", "assistant", "```python\nx = 1\n```\n")])
    told: list[tuple[str, str]] = []
    chat.requests.code_save_requested.connect(lambda language, code: told.append((language, code)))
    reply = chat.reply_view("a")
    assert reply is not None
    reply.body.requests.code_save_requested.emit("python", "x = 1")
    assert told == [("python", "x = 1")]


def test_tab_stops_once_at_each_link_and_button(chat: ChatView, qtbot: QtBot) -> None:
    chat.window().activateWindow()
    links = " ".join(f"[{name}](https://example.org/{name})" for name in "abc")
    text = "".join(f"{links}\n\n```python\nx = {i}\n```\n\n" for i in range(3))
    chat.show_path([ShownMessage("a", "assistant", text)])
    settle(qtbot)
    reply = chat.reply_view("a")
    assert reply is not None
    reply.body.setFocus()
    names: list[str] = []
    while len(names) < 30 and reply.isAncestorOf(QApplication.focusWidget()):
        names.append(QApplication.focusWidget().accessibleName())
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
    assert names[:4] == ["Reply, finished"] * 4, "the text and its nine links"
    buttons = [name for name in names if "code" in name]
    assert buttons == ["Copy the code", "Save the code to a file"] * 3


def test_the_way_to_the_end_is_offered_only_where_there_is_one(
    chat: ChatView, qtbot: QtBot
) -> None:
    chat.show_path([ShownMessage(f"a{i}", "assistant", "Some words.") for i in range(3)])
    chat.go_to("a1")
    settle(qtbot)
    assert not list_in(chat).follows
    assert not to_end_in(chat).isVisible(), "all of it is seen"
    chat.show_path(long_path())
    chat.go_to("a1")
    settle(qtbot)
    assert to_end_in(chat).isVisible()
    assert to_end_in(chat).height() <= to_end_in(chat).parentWidget().height(), "it covers no text"


def test_a_reply_that_only_thought_copies_its_thoughts(chat: ChatView, qtbot: QtBot) -> None:
    chat.show_path([ShownMessage("a", "assistant", "<think>\nOnly thoughts.")])
    reply = chat.reply_view("a")
    assert reply is not None
    assert reply.answer_text == "Only thoughts."
    assert reply.plain_text == "Only thoughts."


def test_there_is_one_selection_at_a_time(chat: ChatView, qtbot: QtBot) -> None:
    chat.window().activateWindow()
    chat.show_path([ShownMessage(f"a{i}", "assistant", "Some words.") for i in range(2)])
    settle(qtbot)
    views = [item.body for item in list_in(chat).items if isinstance(item, ReplyView)]
    for view in views:
        view.setFocus(Qt.FocusReason.MouseFocusReason)
        view.setTextCursor(view.document().find("Some"))
        assert view.textCursor().hasSelection()
    assert not views[0].textCursor().hasSelection()
    assert views[1].textCursor().hasSelection()
