"""The conversation: messages, their states, when they are written, and where the view scrolls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton, QScrollArea, QToolButton

from gui.chat_help import (
    LONG,
    begin_reply,
    button,
    click,
    committed,
    finished,
    list_in,
    say,
    settle,
    token,
    unfold_of,
    wheel,
)
from paceline.gui.chat.markdown.found import phrase
from paceline.gui.chat.view import FLUSH_MS, MAX_FLUSH_MS, PAUSE_RATIO, WritingPace
from paceline.gui.kit.announcer import Announcer
from paceline.gui.look.colours import LIGHT
from paceline.gui.look.current import look
from paceline.gui.look.scale import COLUMNS

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from paceline.gui.chat.messages.reply_view import ReplyView
    from paceline.gui.chat.view import ChatView


def bar_of(chat: ChatView) -> tuple[int, int]:
    bar = chat.findChild(QScrollArea).verticalScrollBar()
    return bar.value(), bar.maximum()


# ------------------------------------------------------------------------------------ messages


def test_what_the_user_wrote_is_shown_as_typed(chat: ChatView, qtbot: QtBot) -> None:
    text = "**no** <b>markup</b>\n  and   blanks\n[x](http://a.org)"
    bubble, large = say(chat, text), say(chat, "many words " * 40)
    settle(qtbot)
    assert bubble.isVisible()
    assert bubble.text == bubble.view.toPlainText() == text
    assert bubble.view.content.marks == []
    assert bubble.view.width() < large.view.width() < large.width(), "as wide as its text"
    assert bubble.view.mapTo(bubble, QPoint(0, 0)).x() > 20, "at the right"


def test_a_reply_shows_status_then_text_then_figures(chat: ChatView, qtbot: QtBot) -> None:
    reply = begin_reply(chat)
    reply.set_status("Reading the prompt… 40 %")
    settle(qtbot)
    status = next(label for label in reply.findChildren(QLabel) if "prompt" in label.text())
    assert status.isVisible()
    reply.append(committed("Hello **wor", token(5), token(11), step=1, n_drafted=2))
    assert reply.text == "Hello **wor"
    qtbot.waitUntil(lambda: not status.isVisible())
    assert reply.plain_text == "Hello **wor"
    assert button(reply, "Copy") is None
    reply.finish("Hello **world**")
    assert reply.plain_text == "Hello world"
    reply.set_stats("<b>41.2 t/s</b> <em>1.91×</em>", "more", tokens_per_s=41.2)
    stats = next(label for label in reply.findChildren(QLabel) if "41.2" in label.text())
    assert LIGHT.accent in stats.text()
    line = stats.parentWidget()
    assert isinstance(line, QPushButton)
    assert line.toolTip() == "41.2 t/s 1.91×\nmore"
    settle(qtbot)
    assert line.isVisible()
    with qtbot.waitSignal(chat.run_requested) as caught:
        line.click()
    assert caught.args == [reply.message_id]


def test_slow_writing_makes_the_timer_slower(
    chat: ChatView, monkeypatch: pytest.MonkeyPatch
) -> None:
    reply = begin_reply(chat)
    now = 0.0
    writing_s = 0.01

    def write(_text: str) -> None:
        nonlocal now
        now += writing_s

    monkeypatch.setattr("paceline.gui.chat.view.perf_counter", lambda: now)
    (announcer,) = chat.findChildren(Announcer)
    monkeypatch.setattr(announcer, "update", write)
    (pace,) = chat.findChildren(WritingPace)
    assert pace.timer.interval() == FLUSH_MS
    for spent_s, expected in ((0.01, round(10 * PAUSE_RATIO)), (10.0, MAX_FLUSH_MS)):
        writing_s = spent_s
        reply.append(committed("x"))
        pace.timer.stop()
        pace.write()
        assert pace.timer.interval() == expected
    reply.append(committed("x"))
    assert pace.timer.interval() == MAX_FLUSH_MS, "it has just been busy"
    pace.timer.stop()
    now += 1.0
    reply.append(committed("x"))
    assert pace.timer.interval() == 0, "it has rested, so the first words need not wait"


def test_an_error_keeps_what_came(chat: ChatView, qtbot: QtBot) -> None:
    reply = begin_reply(chat)
    reply.append(committed("Half a sen"))
    reply.set_error("The engine <stopped>.", "Send it again.")
    reply.set_note("Two messages were left out.")
    settle(qtbot)
    assert reply.plain_text == "Half a sen"
    labels = reply.findChildren(QLabel)
    notice = next(label for label in labels if "engine" in label.text())
    assert "&lt;stopped&gt;" in notice.text()
    assert "Send it again." in notice.text()
    assert notice.isVisible()
    assert button(reply, "Regenerate") is not None
    assert "failed" in reply.accessibleName()
    note = next(label for label in labels if "left out" in label.text())
    assert note.isVisible()
    reply.set_note("")
    assert not note.isVisible()


def test_what_comes_late_for_a_message_that_is_gone_is_ignored(
    chat: ChatView, qtbot: QtBot
) -> None:
    welcome = QLabel("Welcome")
    chat.set_welcome(welcome)
    say(chat, "Hi")
    reply = begin_reply(chat)
    reply.append(committed("Hello"))
    assert not welcome.isVisible()
    chat.show_path(())
    reply.append(committed("late"))
    settle(qtbot)
    assert welcome.isVisible()
    assert not list_in(chat).items
    assert chat.reply_view(reply.message_id) is None


# ------------------------------------------------------------------------------------- scrolling


def grow(chat: ChatView, reply: ReplyView, qtbot: QtBot) -> None:
    before = bar_of(chat)[1]
    reply.append(committed(LONG))
    reply.flush()
    qtbot.waitUntil(lambda: bar_of(chat)[1] > before)


def test_the_view_follows_the_end_only_when_it_is_there(chat: ChatView, qtbot: QtBot) -> None:
    reply = begin_reply(chat)
    grow(chat, reply, qtbot)
    assert bar_of(chat)[0] == bar_of(chat)[1]
    to_end = next(b for b in chat.findChildren(QToolButton) if "Latest" in b.text())
    assert not to_end.isVisible()
    chat.findChild(QScrollArea).verticalScrollBar().setValue(100)
    grow(chat, reply, qtbot)
    assert bar_of(chat)[0] == 100
    assert to_end.isVisible()
    click(to_end)
    qtbot.waitUntil(lambda: bar_of(chat)[0] == bar_of(chat)[1])
    grow(chat, reply, qtbot)
    assert bar_of(chat)[0] == bar_of(chat)[1]
    chat.findChild(QScrollArea).verticalScrollBar().setValue(0)
    say(chat, "And now?")
    qtbot.waitUntil(lambda: bar_of(chat)[0] == bar_of(chat)[1])


def test_messages_are_as_wide_and_as_far_apart_as_is_chosen(chat: ChatView, qtbot: QtBot) -> None:
    reply = begin_reply(chat)
    reply.append(committed("short"))
    reply.flush()
    settle(qtbot)
    width = reply.width()
    grow(chat, reply, qtbot)
    assert reply.width() == width, "the bar has its room before it appears"
    reply = finished(chat, "short")
    chat.resize(1500, 500)
    qtbot.waitUntil(lambda: reply.width() == COLUMNS["normal"])
    top = reply.y()
    look.set_chat_width("narrow")
    assert reply.width() == COLUMNS["narrow"]
    look.set_density("compact")
    assert reply.y() < top
    look.set_chat_width("full")
    assert 1400 < reply.width() < 1500


def test_a_message_is_as_high_as_its_text_and_leaves_the_wheel_alone(
    chat: ChatView, qtbot: QtBot
) -> None:
    body = finished(chat, LONG + "```\ncode\n```").body
    qtbot.waitUntil(lambda: body.height() > 500)
    assert body.height() >= body.document().size().height()
    assert body.verticalScrollBar().maximum() == 0
    control = Qt.KeyboardModifier.ControlModifier
    assert not wheel(body, QPoint(5, 5), 0, -120, modifiers=control)


def test_a_long_question_is_folded_until_it_is_asked_for(chat: ChatView) -> None:
    text = "\n".join(f"line {i}" for i in range(310))
    bubble = say(chat, text)
    assert "line 15" in bubble.view.toPlainText()
    assert "line 16" not in bubble.view.toPlainText()
    assert unfold_of(bubble).text() == "Show all 310 lines"
    assert bubble.plain_text == text, "a copy has all"
    assert unfold_of(bubble).focusPolicy() & Qt.FocusPolicy.TabFocus
    QTest.keyClick(unfold_of(bubble), Qt.Key.Key_Space)
    assert "line 309" in bubble.view.toPlainText()
    assert unfold_of(bubble).text() == "Show less"
    unfold_of(bubble).click()
    assert "line 16" not in bubble.view.toPlainText()
    short = say(chat, "line 1\nline 2")
    assert not unfold_of(short).isVisible()
    found = say(chat, text)
    found.mark(phrase("line"))
    assert "line 300" not in found.view.toPlainText()
    found.mark(phrase("line"), 300)
    assert "line 300" in found.view.toPlainText(), "what a search leads to is shown"
