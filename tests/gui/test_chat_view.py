"""The conversation: messages, their states, when they are written, and where the view scrolls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QLabel, QScrollArea, QToolButton

from gui.chat_help import LONG, button, click, settle, shown_chat, token
from paceline.gui.theme import LIGHT
from paceline.gui.widgets.chat_view import COLUMN_PX, FLUSH_MS, MAX_FLUSH_MS
from paceline.gui.widgets.user_bubble import UserBubble

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PySide6.QtWidgets import QWidget
    from pytestqt.qtbot import QtBot

    from paceline.gui.widgets.chat_view import ChatView
    from paceline.gui.widgets.reply_view import ReplyView


@pytest.fixture
def chat(qtbot: QtBot) -> Iterator[ChatView]:
    yield from shown_chat(qtbot)


def shown(chat: ChatView) -> list[QWidget]:
    return [item for item in chat._items if item.isVisible()]


def bar_of(chat: ChatView) -> tuple[int, int]:
    bar = chat.findChild(QScrollArea).verticalScrollBar()
    return bar.value(), bar.maximum()


# ------------------------------------------------------------------------------------ messages


def test_what_the_user_wrote_is_shown_as_typed(chat: ChatView, qtbot: QtBot) -> None:
    text = "**no** <b>markup</b>\n  and   blanks\n[x](http://a.org)"
    chat.add_user(text)
    settle(qtbot)
    (bubble,) = shown(chat)
    assert isinstance(bubble, UserBubble)
    assert bubble.text == text
    assert bubble.view.toPlainText() == text
    assert bubble.view.content.marks == []


def test_a_bubble_is_as_wide_as_its_text_and_stands_at_the_right(
    chat: ChatView, qtbot: QtBot
) -> None:
    for text in ("Hi", "many words " * 40):
        chat.add_user(text)
    settle(qtbot)
    small, large = (item for item in shown(chat) if isinstance(item, UserBubble))
    assert small.view.width() < 60
    assert large.view.width() < large.width()
    assert large.view.height() > 3 * small.view.height()
    for bubble in (small, large):
        assert bubble.view.mapTo(bubble, QPoint(0, 0)).x() > 20


def test_a_reply_shows_status_then_text_then_figures(chat: ChatView, qtbot: QtBot) -> None:
    reply = chat.begin_reply()
    reply.set_status("Reading the prompt… 40 %")
    settle(qtbot)
    status = next(label for label in reply.findChildren(QLabel) if "prompt" in label.text())
    assert status.isVisible()
    reply.append("Hello **wor", (token(5), token(11)), step=1, n_drafted=2)
    assert reply.text == "Hello **wor"
    qtbot.waitUntil(lambda: not status.isVisible())
    assert reply.plain_text == "Hello **wor"
    assert button(reply, "Copy") is None
    reply.finish("Hello **world**")
    assert reply.plain_text == "Hello world"
    reply.set_stats("<b>41.2 t/s</b> <em>1.91×</em>", "more")
    stats = next(label for label in reply.findChildren(QLabel) if "41.2" in label.text())
    assert LIGHT.accent in stats.text()
    assert stats.toolTip() == "41.2 t/s 1.91×\nmore"
    settle(qtbot)
    with qtbot.waitSignal(chat.copy_requested) as caught:
        click(button(reply, "Copy"))
    assert caught.args == ["Hello **world**"]


def test_text_is_written_by_the_timer_not_by_append(chat: ChatView, qtbot: QtBot) -> None:
    reply = chat.begin_reply()
    for number in range(50):
        reply.append(f"word{number} ", ())
    assert reply.body.toPlainText() == ""
    qtbot.waitUntil(lambda: "word49" in reply.body.toPlainText(), timeout=1000)


def test_slow_writing_makes_the_timer_slower(
    chat: ChatView, monkeypatch: pytest.MonkeyPatch
) -> None:
    reply = chat.begin_reply()
    times = iter([0.0, 0.0, 0.05, 0.05, 10.0, 10.0, 20.0, 20.0])
    monkeypatch.setattr("paceline.gui.widgets.chat_view.perf_counter", lambda: next(times))
    assert chat._timer.interval() == FLUSH_MS
    for expected in (200, MAX_FLUSH_MS):
        reply.append("x", ())
        chat._timer.stop()
        chat._on_tick()
        assert chat._timer.interval() == expected


def test_an_error_keeps_what_came(chat: ChatView, qtbot: QtBot) -> None:
    reply = chat.begin_reply()
    reply.append("Half a sen", ())
    reply.set_error("The engine <stopped>.", "Send it again.")
    settle(qtbot)
    assert reply.plain_text == "Half a sen"
    notice = next(label for label in reply.findChildren(QLabel) if "engine" in label.text())
    assert "&lt;stopped&gt;" in notice.text()
    assert "Send it again." in notice.text()
    assert notice.isVisible()
    assert button(reply, "Regenerate") is not None


def test_only_the_last_reply_can_be_regenerated(chat: ChatView, qtbot: QtBot) -> None:
    replies = []
    for _ in range(2):
        chat.add_user("Hi")
        replies.append(chat.begin_reply())
        replies[-1].append("Hello", ())
        replies[-1].flush()
        settle(qtbot)
        assert button(replies[-1], "Regenerate") is None, "it still grows"
        replies[-1].finish("Hello")
        settle(qtbot)
    assert button(replies[0], "Regenerate") is None
    with qtbot.waitSignal(chat.regenerate_requested):
        click(button(replies[1], "Regenerate"))
    chat.add_user("More")
    assert button(replies[1], "Regenerate") is None


def test_many_replies_from_the_store_come_up_one_by_one(chat: ChatView, qtbot: QtBot) -> None:
    replies = [chat.begin_reply() for _ in range(30)]
    for number, reply in enumerate(replies):
        reply.append(f"# {number}\n\n" + LONG, ())
        reply.finish(f"# {number}\n\n" + LONG)
    assert not any(reply.body.toPlainText() for reply in replies)
    chat._on_tick()
    assert replies[-1].body.toPlainText(), "what the user sees first comes first"
    assert not replies[0].body.toPlainText()
    qtbot.waitUntil(lambda: bool(replies[0].body.toPlainText()), timeout=10_000)
    value, maximum = bar_of(chat)
    assert value == maximum


def test_clear_forgets_everything_and_what_comes_late(chat: ChatView, qtbot: QtBot) -> None:
    chat.show_welcome("Welcome", "Ask something.")
    chat.add_user("Hi")
    reply = chat.begin_reply()
    reply.append("Hello", ())
    welcome = next(label for label in chat.findChildren(QLabel) if label.text() == "Welcome")
    assert not welcome.isVisible()
    chat.clear()
    reply.append("late", ())
    assert not chat._timer.isActive()
    settle(qtbot)
    assert welcome.isVisible()
    assert shown(chat) == []


# ------------------------------------------------------------------------------------- scrolling


def grow(chat: ChatView, reply: ReplyView, qtbot: QtBot) -> None:
    before = bar_of(chat)[1]
    reply.append(LONG, ())
    reply.flush()
    qtbot.waitUntil(lambda: bar_of(chat)[1] > before)


def test_the_view_follows_the_end_only_when_it_is_there(chat: ChatView, qtbot: QtBot) -> None:
    reply = chat.begin_reply()
    grow(chat, reply, qtbot)
    assert bar_of(chat)[0] == bar_of(chat)[1]
    to_end = next(b for b in chat.findChildren(QToolButton) if "Latest" in b.text())
    assert not to_end.isVisible()
    chat.findChild(QScrollArea).verticalScrollBar().setValue(100)
    grow(chat, reply, qtbot)
    assert bar_of(chat)[0] == 100
    assert to_end.isVisible()
    click(to_end)
    assert bar_of(chat)[0] == bar_of(chat)[1]
    grow(chat, reply, qtbot)
    assert bar_of(chat)[0] == bar_of(chat)[1]
    chat.findChild(QScrollArea).verticalScrollBar().setValue(0)
    chat.add_user("And now?")
    qtbot.waitUntil(lambda: bar_of(chat)[0] == bar_of(chat)[1])


def test_the_column_keeps_its_width_when_the_bar_appears(chat: ChatView, qtbot: QtBot) -> None:
    reply = chat.begin_reply()
    reply.append("short", ())
    reply.flush()
    settle(qtbot)
    width = reply.width()
    grow(chat, reply, qtbot)
    assert reply.width() == width
    chat.resize(1500, 500)
    qtbot.waitUntil(lambda: reply.width() == COLUMN_PX)


def test_a_message_is_as_high_as_its_text_and_leaves_the_wheel_alone(
    chat: ChatView, qtbot: QtBot
) -> None:
    reply = chat.begin_reply()
    reply.append(LONG + "```\ncode\n```", ())
    reply.finish(LONG + "```\ncode\n```")
    reply.flush()
    body = reply.body
    qtbot.waitUntil(lambda: body.height() > 500)
    assert body.height() >= body.document().size().height()
    assert body.verticalScrollBar().maximum() == 0
    wheel = QWheelEvent(
        QPointF(5, 5),
        QPointF(5, 5),
        QPoint(0, -120),
        QPoint(0, -120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.ControlModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(body.viewport(), wheel)
    assert not wheel.isAccepted()
